"""Folders of tests in parts, each of which another process runs in a few minutes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from mooncake_py.rooms import ROOMS

__all__ = ["ENGINE", "ROOT", "Part", "parts_of", "run"]

ROOT = Path(__file__).parents[2]
SHARES = {"compiler": 4, "language": 4, "rules": 3}
"""In how many parts a large folder is run."""
SUMMARY = "short test summary info"


class Part(NamedTuple):
    """A share of the tests below a path of the folder of tests."""

    path: str
    share: int = 1
    of: int = 1

    def __str__(self) -> str:
        return self.path if self.of == 1 else f"{self.path}-{self.share}of{self.of}"

    @property
    def paths(self) -> list[str]:
        return sorted(map(str, (ROOT / "tests").glob(self.path)))

    @property
    def marks(self) -> str:
        """Which of the tests run: of the engine more than the fast ones."""
        return "not slow or thorough" if self.path in {*ENGINE, "programs"} else "not slow"


def engine_folders() -> list[str]:
    """Return the folders in which the rooms of the engine are tested."""
    rooms = sorted({room.partition(".")[0] for room in ROOMS})
    return [room for room in rooms if (ROOT / "tests" / room).is_dir()]


ENGINE = engine_folders()


def parts_of(*paths: str) -> list[Part]:
    """Return the parts that some paths are run in."""
    return [Part(path, k + 1, n) for path in paths for n in [SHARES.get(path, 1)] for k in range(n)]


def run(part: Part, plugin: str) -> str | None:
    """Run a part with a plugin of pytest; return what failed, all of it, or None."""
    command = [
        sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider",
        "-m", part.marks, "--share", f"{part.share}/{part.of}",
        "-W", "ignore::pytest.PytestUnraisableExceptionWarning",  # generators that are closed
        "-p", plugin, "--ignore=tests/modes/debug", *part.paths,
    ]  # fmt: skip
    path = os.pathsep.join([str(ROOT), *sys.path[1:]])
    whole_messages = {"CI": "true"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path, **whole_messages},
    )  # fmt: skip
    if done.returncode == 0:
        return None
    before, _, summary = done.stdout.rpartition(SUMMARY)
    return summary if before else done.stdout + done.stderr
