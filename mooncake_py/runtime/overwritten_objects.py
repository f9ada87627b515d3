"""What undoes a write to an array of objects or of records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.memory import undo_assign

__all__ = ["objects_overwritten"]


def objects_overwritten(o: ndarray, index: Any) -> tuple[Any, ...]:
    """Save the objects or the fields that a write to ``o[index]`` will overwrite.

    One object is kept as it is, whatever it is; one record would be a view of the array.
    """
    parts = index if type(index) is tuple else (index,)
    single = len(parts) == o.ndim and all(isinstance(i, (int, np.integer)) for i in parts)
    if single and o.dtype.kind == "O":
        return undo_assign, o, index, o[index]
    return undo_assign, o, index, o[index].copy()
