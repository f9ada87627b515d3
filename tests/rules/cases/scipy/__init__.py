"""Cases for SciPy, a module for each of its parts; none where SciPy is not installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from tests.rules.cases import Case

__all__ = ["PARTS", "cases"]

ALL = (
    "fft", "interpolate", "linalg", "ndimage", "signal", "sparse", "sparse_linalg", "spatial",
    "spatial_transform", "special", "stats", "trees", "wrappers",
)  # fmt: skip
PARTS = ALL if find_spec("scipy") else ()


def cases() -> list[Case]:
    """Return the cases of all parts."""
    modules = [import_module(f"{__name__}.{part}") for part in PARTS]
    return [case for module in modules for case in module.cases()]
