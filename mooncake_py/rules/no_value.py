"""NumPy's marker for an argument that was not given."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

__all__ = ["NoValue", "given"]

NoValue: Any = signature(np.sum).parameters["initial"].default


def given(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not NoValue}
