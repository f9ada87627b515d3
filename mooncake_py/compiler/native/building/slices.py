"""Slices, as indices and as values."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.regions.ir import Expr

__all__ = ["Slice"]


@dataclass(frozen=True)
class Slice:
    """``start:stop:step``, None where nothing stands."""

    start: Expr | None
    stop: Expr | None
    step: int
