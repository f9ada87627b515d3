"""Cases for functions that add up by bins."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        Case(np.bincount, ([0, 2, 2, 1, 0], draw(5)), label="weights"),
        Case(np.bincount, (np.array([1, 1]), draw(2), 4), label="minlength"),
        Case(np.bincount, ([0, 2, 2],), label="counts"),
    ]
