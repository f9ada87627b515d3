"""Cases for functions that read constants from files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    x = draw(2, 2)
    return [Case(scaled_by_file, (x,), covers=(np.load,))]


def scaled_by_file(x: np.ndarray) -> Any:
    buffer = io.BytesIO()
    np.save(buffer, np.array([1.5, 2.5]))
    buffer.seek(0)
    return x * np.load(buffer)
