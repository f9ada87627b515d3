"""Regions that run uncompiled, one node at a time: what compiled ones are compared with.

With MOONCAKE_TEST_LLVM in the environment LLVM compiles them all the same, at its quick level: text
that is wrong ends the process, and `pytest -x` shows in which test.  With MOONCAKE_TEST_NUMPY they
run as text of NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.form import LLVM, NUMPY, Compiler
from mooncake_py.compiler.native.machine.built import Work
from mooncake_py.compiler.native.machine.levels import QUICK
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack
from mooncake_py.compiler.native.regions.region import FLOAT, FLOAT32
from mooncake_py.compiler.regions.ir import Block
from tests.support.interpreted_numbers import Left
from tests.support.interpreter import STACK, TOP, ZEROS, Interpreter, Scope

__all__ = ["INTERPRETED", "PLAIN", "QUICKLY", "Plain"]


class Plain:
    """Takes up functions as `llvm.printer.Printer` does, and prints nothing."""

    text = "interpreted"

    def __init__(self, kinds: Mapping[str, str], arrays: Mapping[str, int]) -> None:
        self.kinds = kinds
        self.functions: dict[str, Callable[..., Any]] = {}

    def count(self, body: Block, inputs: Sequence[str]) -> None:
        """Take nothing up: the stack grows."""

    def forward(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Take up ``forward(S, *inputs) -> (ok, S, p, *results)``."""
        run = Interpreter(self.kinds).block(body)

        def forward(stack: Any, *given: Any) -> tuple[Any, ...]:
            scope = self.scope(inputs, given, stack, 0)
            try:
                run(scope)
            except Left:
                return False, scope[STACK], 1, *[None] * len(results)
            return True, scope[STACK], scope[TOP], *[scope[name] for name in results]

        self.functions["forward"] = np.errstate(all="ignore")(forward)

    def reverse(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Take up ``reverse(S, p, *inputs) -> results``."""
        run = Interpreter(self.kinds, asks=False).block(body)

        def reverse(stack: Any, top: int, *given: Any) -> tuple[Any, ...]:
            scope = self.scope(inputs, given, stack, top)
            try:
                run(scope)
            except Left as error:
                raise LeftOnTheWayBack("an operation on the way back") from error
            return tuple([scope[name] for name in results])

        self.functions["reverse"] = np.errstate(all="ignore")(reverse)

    def scope(self, names: Sequence[str], given: Sequence[Any], stack: Any, top: int) -> Scope:
        """Return the initial values of names: arrays, and numbers of Python."""
        found = Scope(self.kinds, stack, top)
        for name, value in zip(names, given, strict=True):
            found[name] = value if isinstance(value, np.ndarray) else self.number(name, value)
        return found

    def number(self, name: str, value: Any) -> Any:
        """Return a number of the kind of a name."""
        kind = self.kinds.get(name, FLOAT)
        return np.float32(value) if kind == FLOAT32 else type(ZEROS[kind])(value)


def interpreted(printer: Plain) -> dict[str, Callable[..., Any]]:
    """Return the functions that were taken up; they give no warnings."""
    return printer.functions


def built_quickly(printer: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed, at the quick level."""
    work = Work(printer)
    return work.entries(work.kept(QUICK) or work.made(QUICK))[0]


PLAIN = Compiler(Plain, interpreted)
"""Interprets, whatever the environment says."""

QUICKLY = Compiler(LLVM.printer, built_quickly)
"""LLVM, at its quick level."""

INTERPRETED = (
    QUICKLY
    if os.environ.get("MOONCAKE_TEST_LLVM")
    else NUMPY
    if os.environ.get("MOONCAKE_TEST_NUMPY")
    else PLAIN
)
"""What regions of tests run by."""
