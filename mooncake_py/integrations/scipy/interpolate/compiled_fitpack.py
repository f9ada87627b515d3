"""The compiled FITPACK: Fortran up to SciPy 1.17, a port to C since SciPy 1.18."""

from __future__ import annotations

from typing import Any

import scipy.interpolate._fitpack_impl as plain

__all__: list[str] = []

IS_PORT: bool = not hasattr(plain, "dfitpack")
compiled: Any = vars(plain)["_fitpack" if IS_PORT else "dfitpack"]
