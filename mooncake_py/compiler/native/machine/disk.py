"""Files between processes, in the user's cache directory.

The directory is ``MOONCAKE_CACHE_DIR`` if that is set, else where the platform keeps caches.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mooncake_py.compiler.native.machine.leaving import writing
from mooncake_py.errors import MooncakeWarning

__all__ = ["PREFIX", "cleared", "files", "folder", "is_open", "place_for", "write"]

PREFIX = "region_"


def folder() -> Path:
    """Return the directory, which need not exist."""
    own = os.environ.get("MOONCAKE_CACHE_DIR")
    if own:
        return Path(own).expanduser().absolute()
    name = "mooncake_py"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / name / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / name
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name


def place_for(name: str) -> Path | None:
    """Return the file of a name, None if it is impossible or unsafe to keep anything."""
    try:
        path = folder() / f"{PREFIX}{name}"
        if is_open(path.parent):
            warnings.warn(
                f"compiled functions are not kept: everyone may write to {path.parent}, and so run "
                "code in this process;\n  fix:   set MOONCAKE_CACHE_DIR to a directory of your own",
                MooncakeWarning,
                stacklevel=3,
            )
            return None
    except (OSError, RuntimeError):  # no home
        return None
    return path


def is_open(place: Path) -> bool:
    """Return whether every user of the machine may write to a directory."""
    return sys.platform != "win32" and place.exists() and bool(place.stat().st_mode & stat.S_IWOTH)


def write(path: Path, data: bytes) -> None:
    """Write a file at once: another process sees all of it or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with writing():
        number, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=path.parent)
        try:
            with open(number, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def files() -> Iterator[Path]:
    """Yield the files that exist, including unfinished ones."""
    if folder().is_dir():
        yield from sorted(path for path in folder().iterdir() if path.name.startswith(PREFIX))


def cleared() -> int:
    """Remove all files; return how many bytes they took."""
    freed = 0
    for path in list(files()):
        with suppress(OSError):  # another process was quicker
            size = path.stat().st_size
            path.unlink()
            freed += size
    with suppress(OSError):  # not empty: files of others stay
        folder().rmdir()
    return freed
