"""Cases for functions that apply a Python function many times."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        Case(np.apply_along_axis, (np.cumsum, 0, draw(3, 2)), label="same"),
        Case(np.apply_along_axis, (np.prod, 1, draw(3, 2)), label="fewer"),
        Case(np.apply_along_axis, (np.diag, -1, draw(2, 3)), label="more"),
        Case(np.apply_along_axis, (np.sum, 0, draw(3)), label="vector"),
    ]
