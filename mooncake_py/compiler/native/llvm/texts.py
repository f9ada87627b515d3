"""Handwritten LLVM functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Helper", "declaration", "declared"]

MALLOC = (
    "declare noalias ptr @mc_malloc(i64) nounwind "
    'allockind("alloc,uninitialized") allocsize(0) "alloc-family"="mc"'
)
FREE = 'declare void @mc_free(ptr allocptr) nounwind allockind("free") "alloc-family"="mc"'
"""Memory: null where there is none."""

KNOWN = {
    "mc_malloc": MALLOC,
    "mc_free": FREE,
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "llvm.abs.i64": "declare i64 @llvm.abs.i64(i64, i1)",
    "llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
    "llvm.smul.with.overflow.i64": "declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)",
    "llvm.pow.f64": "declare double @llvm.pow.f64(double, double)",
    "llvm.exp.f64": "declare double @llvm.exp.f64(double)",
    "llvm.exp2.f64": "declare double @llvm.exp2.f64(double)",
    "llvm.log2.f64": "declare double @llvm.log2.f64(double)",
    "llvm.fabs.f64": "declare double @llvm.fabs.f64(double)",
    "llvm.floor.f64": "declare double @llvm.floor.f64(double)",
    "llvm.sqrt.f64": "declare double @llvm.sqrt.f64(double)",
    "llvm.copysign.f64": "declare double @llvm.copysign.f64(double, double)",
}


def declaration(name: str) -> str:
    """Return the declaration of a function."""
    return KNOWN[name]


def declared(*names: str) -> dict[str, str]:
    """Return the declarations of functions."""
    return {name: KNOWN[name] for name in names}


@dataclass(frozen=True)
class Helper:
    """A function.

    Attributes
    ----------
    text : str
    declares : mapping of str to str
        The declarations of what it calls, by name.
    calls : tuple of str
        The helpers that it calls.
    """

    text: str
    declares: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    calls: tuple[str, ...] = ()
