"""Active numbers written as text, and constants read from text later.

Text has no derivative, which is harmless unless the program reads a number back from text of an
active number; the derivative would then be lost without an error.  So a call keeps the numbers that
it has written as text, and checks for them in compiled code that reads numbers from text.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.refusals import names
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError
from mooncake_py.runtime.active import Active
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["Numerals", "checked", "refuse_assigned", "remembered", "written"]

NUMERAL = (  # a text, which `re` compiles when numbers are written
    r"0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?[pP][-+]?\d+"
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
)


class Numerals:
    """Magnitudes of the numbers that a call has written as text."""

    def __init__(self) -> None:
        self.exact: set[float] = set()
        # To six digits, by which a number is known that was cut or written in another format.
        self.rounded: set[float] = set()

    def add(self, text: str, whole: bool) -> None:
        """Remember the numbers in a text; `whole` numbers too, where nothing else is in it."""
        for token in re.findall(NUMERAL, text):
            if whole or not token.isdigit():
                value = magnitude(token)
                self.exact.add(value)
                self.rounded.add(six_digits(value))

    def holds(self, value: float) -> bool:
        """Return whether a number may be one of those written."""
        value = abs(value)
        if value in self.exact:
            return True
        short = six_digits(value)
        return short != value and short in self.rounded

    def in_text(self, text: str) -> bool:
        """Return whether a text contains one of the numbers."""
        return any(self.holds(magnitude(token)) for token in re.findall(NUMERAL, text))


def magnitude(token: str) -> float:
    return float.fromhex(token) if token[1:2] in "xX" and len(token) > 1 else float(token)


def six_digits(value: float) -> float:
    return float(f"{value:.5e}")


def remembered(ctx: Tracking, text: Any, values: Any) -> Any:
    """Return a text, having remembered the numbers in it if `values`, told in it, are active."""
    return ctx.written(text) if ctx.contains_active(values) else text


def written(ctx: Tracking, text: Any, *, whole: bool = False) -> Any:
    """Remember the numbers in a string, or in an array of strings, made of active values."""
    if ctx.numerals is None:
        ctx.numerals = Numerals()
    for part in texts(text):
        ctx.numerals.add(part, whole)
    return text


def checked(ctx: Tracking, f: Any, values: Any, result: Any) -> Any:
    """Return the result of compiled code, unless it is a number written before."""
    if (
        ctx.numerals is not None
        and any(given(ctx.numerals, v) for v in values)
        and any(map(ctx.numerals.holds, constants(ctx, result)))
    ):
        raise read_back(ctx, names(f)[0])
    return result


def refuse_assigned(ctx: Tracking, o: ndarray, v: Any) -> None:
    """Raise if an array would read such a number in a text that is written into it."""
    if ctx.numerals is not None and o.dtype.kind in "fc" and given(ctx.numerals, v):
        raise read_back(ctx, "an assignment to an array")


def given(numerals: Numerals, value: Any) -> bool:
    """Return whether a value is a source of text, or a text with such a number."""
    if isinstance(value, numbers.Number):  # also of the modules decimal and fractions
        return not isinstance(value, (int, float, complex, np.number))
    if hasattr(value, "readline") or hasattr(value, "__next__"):
        return True
    return any(map(numerals.in_text, texts(value)))


def read_back(ctx: Reporting, reading: str) -> DerivativeDropError:
    """Return the error for a number that is read from text."""
    return dropped(
        ctx,
        f"{reading} reads a number from text made from an active number",
        why="text has no derivative: a number read from it would be a constant",
        fix="compute with the number itself, or use stop_gradient(x) for a constant.\n"
        "If the text is unrelated and only looks the same, read it before the call",
    )


def texts(value: Any) -> Iterator[str]:
    """Yield the strings in a value: a single one, a list of them, or an array."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray)):
        yield value.decode("latin-1")
    elif type(value) in (list, tuple):
        for part in value:
            yield from texts(part)
    elif issubclass(type(value), ndarray) and plain(value).dtype.kind in "SUTO":
        for part in plain(value).ravel().tolist():
            yield from texts(part)


def constants(ctx: Tracking, value: Any) -> Iterator[float]:
    """Yield the real numbers without a derivative that are in a value."""
    if type(value) is Active or isinstance(value, (str, int)):
        return
    if isinstance(value, (complex, np.complexfloating)):
        yield from (float(value.real), float(value.imag))
    elif isinstance(value, numbers.Number):
        yield float(value)  # type: ignore[arg-type]
    elif issubclass(type(value), ndarray):
        if value.dtype.kind in "fc" and ctx.find(value) is None:
            plain: Any = np.asarray(value)  # not a matrix, which has no vectors
            for part in (plain.real, plain.imag):
                yield from part.ravel().tolist()
    elif issubclass(type(value), dict):
        for part in value.values():
            yield from constants(ctx, part)
    elif issubclass(type(value), (list, tuple)):
        for part in value:
            yield from constants(ctx, part)
