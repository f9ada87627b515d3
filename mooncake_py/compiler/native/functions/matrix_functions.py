"""Functions of `scipy.linalg`."""

from __future__ import annotations

from mooncake_py.compiler.native.building.arguments import Reader

__all__ = ["MATRICES"]

MATRICES: dict[str, Reader] = {}
