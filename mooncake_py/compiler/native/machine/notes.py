"""Findings about functions that processes leave for later ones: small files next to object code.

A note is only about time: which way is faster, what could not be read.  One that is wrong makes a
derivative slower, and nothing else.  It is kept for a month, so that what was found out on a busy
machine does not stay.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mooncake_py
from mooncake_py.compiler.native.machine import disk
from mooncake_py.rooms import PACKAGE

__all__ = ["digest", "note", "noted"]

clock: Callable[[], float] = time.time
"""Tests replace it."""

MOST = 2000  # notes; the oldest go where there are more
AGE = 30 * 86400.0  # seconds that they hold
SUFFIX = ".note"


def digest(*parts: Any) -> str:
    """Return a key of parts that their strings describe fully, of the machine and this package."""
    return hashlib.sha256(repr((circumstances(), parts)).encode()).hexdigest()[:40]


@cache
def circumstances() -> tuple[Any, ...]:
    """Return the other data that a note depends on: package, machine, and code generator."""
    return (
        mooncake_py.__version__, sources(), np.__version__, sys.version, platform.machine(),
        platform.node(), os.cpu_count(),
    )  # fmt: skip


def sources() -> str:
    """Return a digest of the files of this package that read and compile."""
    found = hashlib.sha256()
    for path in sorted(Path(PACKAGE, "compiler").rglob("*.py")):
        with suppress(OSError):
            status = path.stat()
            found.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return found.hexdigest()


def noted(key: str) -> Any:
    """Return the note under a key, None if there is none, or no valid one."""
    path = disk.place_for(f"{key}{SUFFIX}")
    if path is None:
        return None
    try:
        if clock() - path.stat().st_mtime > AGE:
            return None
        found = json.loads(path.read_text())
        return found["what"] if found["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(key: str, what: Any) -> None:
    """Note something under a key, if that is possible and safe."""
    path = disk.place_for(f"{key}{SUFFIX}")
    if path is None:
        return
    with suppress(OSError):
        disk.write(path, json.dumps({"key": key, "what": what}).encode())
        bound(path.parent)


def bound(folder: Path) -> None:
    """Remove the oldest notes where there are too many."""
    found = [path for path in folder.iterdir() if path.suffix == SUFFIX]
    if len(found) <= MOST:
        return
    ages: list[tuple[float, Path]] = []
    for path in found:
        with suppress(OSError):  # another process was quicker
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages, reverse=True)[MOST // 2 :]:
        with suppress(OSError):
            path.unlink()
