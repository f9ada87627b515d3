"""Object code between processes: files in the user's cache directory, no more than `MOST` bytes.

Each begins with a digest of the rest: what was cut off, or changed, is as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

import mooncake_py
from mooncake_py.compiler.native.machine import disk
from mooncake_py.compiler.native.machine.levels import Level
from mooncake_py.compiler.native.machine.library import host, llvm, version

__all__ = ["Object", "is_kept", "keep", "kept", "key_of", "lock_of"]

MOST = 256 * 2**20
"""Bytes of all files; the oldest go where there are more."""

DIGEST = 32
SUFFIX = ".o"
Object = tuple[bytes, tuple[str, ...]]
"""Code, and the names that it calls."""


def key_of(text: str, level: Level) -> str:
    """Return a key for a source and everything that its code depends on."""
    made = (
        mooncake_py.__version__, version(), llvm().llvm_version_info, np.__version__,
        platform.python_implementation(), host(), repr(level), text,
    )  # fmt: skip
    return hashlib.sha256(repr(made).encode()).hexdigest()[:40]


def path_of(key: str) -> Path | None:
    """Return the file of a key, None if nothing may be kept."""
    return disk.place_for(f"{key}{SUFFIX}")


def lock_of(key: str) -> Path | None:
    """Return the file that says who makes a text, None if nothing may be kept."""
    return disk.place_for(f"{key}.lock")


def is_kept(key: str) -> bool:
    """Return whether something was kept, which need not be good."""
    path = path_of(key)
    return path is not None and path.exists()


def kept(key: str) -> Object | None:
    """Return code kept by this process or another one, None if there is no valid one."""
    path = path_of(key)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    rest = data[DIGEST:]
    if hashlib.sha256(rest).digest() != data[:DIGEST]:
        return None
    with suppress(OSError):
        os.utime(path)  # the oldest are those that were not used for the longest time
    head, _, code = rest.partition(b"\n")
    return code, tuple(json.loads(head))


def keep(key: str, found: Object) -> None:
    """Keep object code, if that is possible and safe."""
    path = path_of(key)
    if path is None:
        return
    code, names = found
    rest = json.dumps(names).encode() + b"\n" + code
    with suppress(OSError):
        disk.write(path, hashlib.sha256(rest).digest() + rest)
        bound(path.parent)


def bound(folder: Path) -> None:
    """Remove the oldest files where all of them take too much."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        if path.name.startswith(disk.PREFIX) and path.suffix == SUFFIX:
            with suppress(OSError):  # another process was quicker
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
    for path in superfluous(found):
        with suppress(OSError):
            path.unlink()


def superfluous(files: Iterable[tuple[float, int, Path]]) -> list[Path]:
    """Return the files that are too many: of times, sizes and files."""
    room, found = MOST, []
    for _, size, path in sorted(files, reverse=True):
        room -= size
        if room < 0:
            found.append(path)
    return found
