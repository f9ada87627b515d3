"""Folders of the tests of the engine."""

from __future__ import annotations

from pathlib import Path

from mooncake_py.rooms import ROOMS

__all__ = ["ROOT", "engine_folders", "marks_of"]

ROOT = Path(__file__).parents[2]


def engine_folders() -> list[str]:
    """Return the folders in which the rooms of the engine are tested."""
    rooms = sorted({room.partition(".")[0] for room in ROOMS})
    return [str(folder) for room in rooms if (folder := ROOT / "tests" / room).is_dir()]


def marks_of(part: str) -> str:
    """Return which tests of a part run in other modes: of the engine more than the fast ones."""
    return "not slow or thorough" if part in ("engine", "programs") else "not slow"
