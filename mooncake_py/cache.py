"""The disk cache of compiled regions: print its directory and size, or clear it.

    python -m mooncake_py.cache            where, and how much
    python -m mooncake_py.cache --clear    remove it

The directory is ``MOONCAKE_CACHE_DIR`` if that is set, else where the platform keeps caches.
It may be removed at any time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mooncake_py.compiler.native.machine import disk, objects

__all__ = ["description"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the directory and the size of the cache of compiled regions, or clear it."""
    parser = argparse.ArgumentParser(
        prog="python -m mooncake_py.cache", description="Compiled regions that are kept on disk."
    )
    parser.add_argument("--clear", action="store_true", help="remove them")
    if parser.parse_args(arguments).clear:
        print(f"{disk.folder()}: removed {megabytes(disk.cleared())}")
        return
    print(description())


def description() -> str:
    """Return the directory, and how much is in it."""
    files = list(disk.files())
    size = sum(path.stat().st_size for path in files)
    regions = sum(path.suffix == objects.SUFFIX for path in files)
    note = ", not used: everyone may write to it" if disk.is_open(disk.folder()) else ""
    return f"{disk.folder()}: {regions} regions, {megabytes(size)}{note}"


def megabytes(size: int) -> str:
    """Return a number of bytes as text."""
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
