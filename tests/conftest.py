"""What all tests share."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def define(tmp_path: Path) -> Callable[[str], Any]:
    """Write text to a file of its own, run it, and return its function ``f``."""
    numbers = itertools.count()

    def define_f(text: str) -> Any:
        path = tmp_path / f"defined_{next(numbers)}.py"
        path.write_text(text)
        namespace: dict[str, Any] = {"__name__": path.stem}
        exec(compile(text, str(path), "exec", dont_inherit=True), namespace)
        return namespace["f"]

    return define_f


@pytest.fixture
def only_new_objects() -> None:
    """Let ``gc.collect()`` look at what a test makes, not at all that the session has made."""
    gc.freeze()
