"""A program: the text of a function ``f``, the memory it starts from and its arguments."""

from __future__ import annotations

import functools
import linecache
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mooncake_py import grad, jvp, value_and_grad, vjp

__all__ = ["Program", "defined", "scope_of"]

Bases = dict[str, Any]
TOOLS = {  # what the programs use
    "OrderedDict": OrderedDict, "dataclass": dataclass, "deque": deque, "functools": functools,
    "grad": grad, "jvp": jvp, "value_and_grad": value_and_grad, "vjp": vjp,
}  # fmt: skip


@dataclass(frozen=True)
class Program:
    """What is needed to run a function and to differentiate it.

    Attributes
    ----------
    source : str
        Text that defines ``f``.  It may use ``np``, ``math``, and the dtypes ``F32`` and ``C64``.
    bases : dict of str to float or ndarray
        Numbers and blocks of memory from which the arguments are made.
    arguments : tuple of str
        One expression over the names of the bases for each argument; two of them may share
        memory.
    argnums : tuple of int
        The arguments with respect to which the derivative is taken.
    """

    source: str
    bases: Bases
    arguments: tuple[str, ...]
    argnums: tuple[int, ...]

    def build(self, bases: Bases) -> list[Any]:
        """Return the arguments made from copies of the given bases."""
        return [eval(a, {"np": np}, dict(bases)) for a in self.arguments]

    def with_source(self, source: str) -> Program:
        """Return the same program with another text."""
        return replace(self, source=source)

    def __str__(self) -> str:
        rows = [f"{name} = {_literal(value)}" for name, value in self.bases.items()]
        call = f"value_and_grad(f, {self.argnums})({', '.join(self.arguments)})"
        return "\n".join([self.source.rstrip(), "", *rows, call])


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        text = np.array2string(value, separator=", ", precision=17)
        options = "" if value.dtype.kind == "c" or value.dtype == float else f", np.{value.dtype}"
        return f"np.array({text}{options}{_order(value)})"
    return repr(value)


def _order(value: np.ndarray) -> str:
    return "" if value.flags.c_contiguous else ", order='F'"


def scope_of(*, exact: bool = False) -> dict[str, Any]:
    """Return the names that programs find in their module."""
    return {
        "__name__": "program",
        "np": np,
        "math": math,
        **TOOLS,
        "F32": np.float64 if exact else np.float32,
        "C64": np.complex128 if exact else np.complex64,
    }


@contextmanager
def defined(source: str, *, exact: bool = False) -> Iterator[Callable[..., Any]]:
    """Give the function ``f`` that a text defines; the text is known to `linecache` meanwhile.

    With `exact`, ``F32`` and ``C64`` mean double precision, for differences that need digits.
    """
    name = f"<program {id(source):x}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    namespace = scope_of(exact=exact)
    try:
        exec(compile(source, name, "exec", dont_inherit=True), namespace)
        yield namespace["f"]
    finally:
        linecache.cache.pop(name, None)
