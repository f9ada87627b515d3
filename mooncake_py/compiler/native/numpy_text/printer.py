"""Prints the sweeps of a region as Python: see `Printer`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mooncake_py.compiler.native.numpy_text.blocks import Blocks
from mooncake_py.compiler.native.numpy_text.first_additions import with_first_additions
from mooncake_py.compiler.native.numpy_text.helpers import LEAVING, Saved
from mooncake_py.compiler.native.numpy_text.lengths import Lengths
from mooncake_py.compiler.native.numpy_text.scalars import Texts
from mooncake_py.compiler.native.regions.mentions import all_bound
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import FLOAT32
from mooncake_py.compiler.regions.ir import Block
from mooncake_py.runtime import float_flags
from mooncake_py.runtime.quiet import Quiet, Raising

__all__ = ["Printer", "built"]


class Printer:
    """Prints sweeps, with statements of NumPy for operations on whole arrays.

    The way back is printed as it is where all is finite; and once more, when that is first needed,
    so that a zero cotangent stays zero next to infinite numbers.

    Parameters
    ----------
    kinds : mapping of str to str
    arrays : mapping of str to int

    Attributes
    ----------
    restored : list of int
        The places of the arrays that the way back writes, among what it takes.
    """

    def __init__(self, kinds: Mapping[str, str], arrays: Mapping[str, int]) -> None:
        if FLOAT32 in kinds.values():
            raise CannotCompile("float32 in text of NumPy")
        self.kinds = kinds
        self.arrays = arrays
        self.texts = Texts()
        self.lengths = Lengths()
        self.parts: dict[str, str] = {}
        self.restored: list[int] = []
        self.carefully: Callable[[], str] | None = None

    @property
    def text(self) -> str:
        """All that is printed."""
        return "\n".join(self.parts.values())

    def count(self, body: Block, inputs: Sequence[str]) -> None:
        """Take nothing up: lists grow."""

    def forward(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``forward(S, *inputs) -> results``."""
        self.lengths.read(body, self.arrays, {*inputs})
        self.parts["forward"] = self._function("forward", body, inputs, results)

    def reverse(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``reverse(S, *inputs) -> results``."""
        body = with_first_additions(body, self.kinds, results)
        self.lengths.read_arrays(body)
        written = all_bound(body)
        self.restored = [k for k, n in enumerate(inputs) if n in self.arrays and n in written]
        self.parts["reverse"] = self._function("reverse", body, inputs, results)
        self.carefully = lambda: self._function("carefully", body, inputs, results)

    def _function(
        self, name: str, body: Block, inputs: Sequence[str], results: Sequence[str]
    ) -> str:
        """Return the text of a function."""
        blocks = Blocks(
            self.texts,
            self.kinds,
            self.arrays,
            lengths=self.lengths,
            careful=name == "carefully",
            in_reverse=name != "forward",
        )
        lines = blocks.function(body, inputs, results)
        parameters = ", ".join(["S", *map(blocks.scalars.name, inputs)])
        return "\n".join([f"def {name}({parameters}):", *lines, ""])


def built(printer: Printer) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed."""
    found = {name: made(printer, text) for name, text in printer.parts.items()}
    forward = as_forward(found["forward"])
    if printer.carefully is None:
        return {"forward": forward}
    reverse = found["reverse"]
    return {
        "forward": forward,
        "reverse": as_reverse(reverse, printer),
        "quick": as_quick(reverse, printer.restored),
    }


def made(printer: Printer, text: str) -> Callable[..., Any]:
    """Return a function of its text."""
    scope = printer.texts.scope
    exec(compile(text, "<NumPy text>", "exec"), scope)
    return scope[text[4 : text.index("(")]]


def as_forward(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``forward(S, *inputs) -> (ok, S, p, *results)``.

    It is left where NumPy would warn: then that warns, at the user's line, which runs instead.
    Of Python's floats, which stand for NumPy's there, the flags of the processor tell.
    """

    def forward(spare: Any, *given: Any) -> tuple[Any, ...]:
        stack = spare.again() if type(spare) is Saved else Saved()
        float_flags.clear()
        try:
            with Raising():
                results = run(stack, *given)
        except LEAVING:
            return False, stack, 1
        return not float_flags.are_raised(), stack, len(stack), *results

    return forward


def as_quick(run: Callable[..., Any], restored: Sequence[int]) -> Callable[..., Any]:
    """Return ``reverse(S, p, *inputs) -> results``, or None where that is not right."""

    def quick(stack: Saved, _: int, *given: Any) -> tuple[Any, ...] | None:
        try:
            with Quiet():
                results = run(Saved(stack), *given)
                is_right = all_finite(results) and all_finite(given[k] for k in restored)
        except LEAVING:
            return None
        return results if is_right else None

    return quick


def as_reverse(run: Callable[..., Any], printer: Printer) -> Callable[..., Any]:
    """Return ``reverse(S, p, *inputs, zeros) -> results``.

    Of what is to be put back, no copies are taken of the arrays at the places `zeros`, which hold
    nothing but that.
    """
    quick, restored = as_quick(run, printer.restored), printer.restored

    @cache
    def carefully() -> Callable[..., Any]:
        assert printer.carefully is not None
        return made(printer, printer.carefully())

    def reverse(
        stack: Saved, top: int, *given: Any, zeros: Collection[int] = ()
    ) -> tuple[Any, ...]:
        before = [0 if k in zeros else given[k].copy() for k in restored]
        results = quick(stack, top, *given)
        if results is not None:
            return results
        for k, a in zip(restored, before, strict=True):
            given[k][...] = a
        with Quiet():
            return carefully()(Saved(stack), *given)

    return reverse


def all_finite(values: Iterable[Any]) -> bool:
    """Return True if all numbers are finite, and those in arrays."""
    for v in values:
        total = np.add.reduce(v, axis=None) if isinstance(v, np.ndarray) else v
        if not math.isfinite(total):
            return False
    return True
