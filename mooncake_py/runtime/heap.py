"""The memory that the C library keeps when arrays are freed.

glibc returns what is free at the end of its heap to the operating system as soon as it is twice as
large as the largest block that it has unmapped so far, and the next array touches it again page by
page, at up to 2 us for 4 kB.  A derivative has a few arrays more at a time than its function, and
may pay this for each: `jvp` of `shortest_paths`, 250, took 114,000 page faults, and three times as
long as without.  A program that has freed one array of 32 MB, the most that counts, pays no more;
so one block of that size is asked for once, and freed untouched.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

__all__ = ["keep_freed_memory"]

MOST = (32 << 20) - (64 << 10)  # glibc heeds no larger blocks


def keep_freed_memory() -> None:
    """Let glibc keep up to 64 MB of what is freed, unless its environment variables say else.

    Python's own blocks would count in `tracemalloc`.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # another C library, or none that can be loaded
        library = ctypes.CDLL(None)
        library.malloc.restype = ctypes.c_void_p
        library.malloc.argtypes = [ctypes.c_size_t]
        library.free.restype = None
        library.free.argtypes = [ctypes.c_void_p]
        library.free(library.malloc(MOST))
