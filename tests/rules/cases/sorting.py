"""Cases for functions that order elements."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    x = draw(5, 4)
    holes = np.where(draw(5, 4, seed=1) > 1, np.nan, x)
    ties = np.array([[2.0, 1.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    return [
        *(Case(np.sort, (x,), {"axis": axis}, f"axis={axis}") for axis in (-1, 0, None)),
        Case(np.sort, (draw(5, dtype=complex),), label="complex"),
        Case(np.sort, (ties,), label="ties", interface_only=True),
        *(Case(np.partition, (x, 2), {"axis": axis}, f"axis={axis}") for axis in (-1, 0, None)),
        Case(np.partition, (draw(50), [7, 30]), label="two-places"),
        Case(np.partition, (ties, 1), label="ties", interface_only=True),
        *(Case(np.median, (x,), {"axis": axis}, f"axis={axis}") for axis in (None, 0, 1, (0, 1))),
        Case(np.median, (draw(3, 4, 5),), {"axis": (0, -1), "keepdims": True}, "keepdims"),
        *(Case(np.nanmedian, (x,), {"axis": axis}, f"axis={axis}") for axis in (None, 0, 1)),
        Case(np.nanmedian, (holes,), {"axis": 0, "keepdims": True}, "nan", interface_only=True),
        Case(np.median, (ties,), {"axis": 1}, "ties", interface_only=True),
    ]
