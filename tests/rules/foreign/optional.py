"""Libraries that may not be installed; None in the place of such a one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["pd", "sparse", "xr"]


def library(name: str) -> Any:
    return import_module(name) if find_spec(name.partition(".")[0]) else None


pd, xr, sparse = library("pandas"), library("xarray"), library("scipy.sparse")
