"""Operators and functions of every pair of kinds of operands: the value, its type, derivatives.

What compiled code computes is compared with the plain call to the signs of zeros, and with the
derivative of code that is not compiled.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import MooncakeError, jvp, vjp
from tests.programs.comparing import function_of

pytestmark = [pytest.mark.plain, pytest.mark.filterwarnings("ignore")]

FLOATS = [-0.0, 0.0, 1.0, -2.0, 2.5]
COMPLEX = [complex(-0.0, -0.0), complex(0.0, -0.0), 1 + 0j, complex(-2.0, -0.0), complex(-0.0, 2.5)]
ARRAYS = {
    "b": np.array([True, False, True, False, True]), "i": np.array([0, 2, -3, 1, 2]),
    "f": np.array(FLOATS, np.float32), "d": np.array(FLOATS),
    "F": np.array(COMPLEX, np.complex64), "D": np.array(COMPLEX),
}  # fmt: skip


class Operand(NamedTuple):
    """How an operand is written, and what the argument may be; a literal takes none."""

    text: str
    values: list[Any]


OPERANDS = {
    **{f"array {k}": Operand("{}", [a, a[::-1].copy()]) for k, a in ARRAYS.items()},
    **{
        f"element {k}": Operand("{}[0]", [np.roll(a, r) for r in range(5)])
        for k, a in ARRAYS.items()
    },
    "int": Operand("{}", [2, 0, -3]), "float": Operand("{}", FLOATS),
    "complex": Operand("{}", COMPLEX),
    **{
        text: Operand(text, [0.5])
        for text in ("True", "2", "(-1)", "2.5", "0.0", "(-0.0)", "1j", "(1.5-2j)")
    },
}  # fmt: skip
BINARY = """
{x} + {y}|{x} - {y}|{x} * {y}|{x} / {y}|{x} ** {y}|{x} // {y}|{x} % {y}|{x} == {y}|{x} < {y}
{x} * {y} * -1 + {y}|np.add({x}, {y})|np.multiply({x}, {y})|np.divide({x}, {y})
np.dot({x}, {y})|np.inner({x}, {y})|np.vdot({x}, {y})|{x}.dot({y})|np.arctan2({x}, {y})
np.maximum({x}, {y})|np.where(np.arange(5) > 2, {x}, {y})|np.array([{x}, {y}])|max({x}, {y})
divmod({x}, {y})|np.clip({x}, {y}, 3)|complex({x}, {y})|np.copysign({x}, {y})
"""
UNARY = """
-{x}|abs({x})|{x} ** 1|{x} ** 2|{x} ** 3|{x} ** 4|{x} ** -1|{x} ** -2|1 - {x}|0 - {x}|2 * {x}
{x} / 2|1 / {x}|{x}.real|{x}.imag|{x}.conjugate()|{x}.conj()|np.abs({x})|np.angle({x})
np.sqrt({x})|np.sqrt({x} * 1j)|np.log({x} * (1 + 0j))|np.exp({x})|np.conj({x})|np.sum({x})
np.cumsum({x})|np.real({x})|np.imag({x})
np.square({x})|{x}.sum()|np.mean({x})|1.0 * {x}|float({x})|complex({x})
"""


def texts(table: str) -> list[str]:
    return [text for line in table.split("\n") for text in line.split("|") if text]


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield all expressions of all operands; of those with one operand the other is not read."""
    yield from product(texts(UNARY), OPERANDS, ["2"])
    yield from product(texts(BINARY), OPERANDS, OPERANDS)


SEEN = [
    ("{x} * {y}", "array D", "array d"), ("{x} * {y}", "1j", "element d"),
    ("{x} / {y}", "array D", "array D"), ("{x} ** 2", "array b", "2"),
    ("np.vdot({x}, {y})", "array d", "float"), ("np.dot({x}, {y})", "array f", "2.5"),
    ("{x}.dot({y})", "element D", "2"), ("np.sqrt({x})", "array D", "2"),
]  # fmt: skip
MORE = [
    ("{x} - {y}", "2", "array D"), ("{x} * {y}", "element d", "1j"),
    ("{x} * {y} * -1 + {y}", "complex", "element d"), ("{x} / {y}", "array D", "2"),
    ("{x} ** -1", "array D", "2"), ("{x} ** 1", "element D", "2"), ("{x} ** 3", "complex", "2"),
    ("np.dot({x}, {y})", "element d", "0.0"), ("np.vdot({x}, {y})", "element d", "0.0"),
    ("np.inner({x}, {y})", "(-0.0)", "array f"), ("{x}.conj()", "complex", "2"),
    ("{x}.imag", "element d", "2"), ("np.cumsum({x})", "array d", "2"),
]  # fmt: skip
"""What was wrong once."""


def same(a: Any, b: Any, *, digits: float = 1e-13) -> bool:
    """Return whether two results have one type and, up to the last bits, one value.

    0.0 and -0.0 are two.
    """
    if type(a) is not type(b):
        return False
    if type(a) in (tuple, list):
        return len(a) == len(b) and all(map(same, a, b))
    p, q = np.asarray(a), np.asarray(b)
    if p.dtype != q.dtype or p.shape != q.shape or p.strides != q.strides:
        return False
    if p.dtype.kind == "c":
        return same(np.real(p), np.real(q)) and same(np.imag(p), np.imag(q))
    if p.dtype.kind != "f":
        return np.array_equal(p, q)
    close = np.allclose(p, q, 1e-6 if p.dtype == np.float32 else digits, 0.0, equal_nan=True)
    return close and np.array_equal(np.signbit(p) & ~np.isnan(p), np.signbit(q) & ~np.isnan(q))


def seed(y: Any) -> Any:
    """Return a cotangent of an output, None where it has none."""
    if (
        not isinstance(y, (float, complex, np.ndarray, np.inexact))
        or np.asarray(y).dtype.kind not in "fc"
    ):
        return None
    d = np.asarray(1.0 - 0.5j if np.iscomplexobj(y) else 1.0) * np.ones_like(y)
    return d if isinstance(y, np.ndarray) else type(y)(d.item())


def agree(found: Any, expected: Any) -> bool:
    """Return whether gradients are of the same types and close to one another."""
    for p, q in zip(found, expected, strict=True):
        own, other = np.asarray(p), np.asarray(q)
        if other.dtype.kind not in "fc":
            continue
        if type(p) is not type(q) or own.dtype != other.dtype:
            return False
        if not np.allclose(own, other, 1e-5, 1e-12, equal_nan=True):
            return False
    return True


def outcome(f: Any, *args: Any) -> Any:
    """Return the result of a call, or the exception that it raises."""
    try:
        return f(*copy.deepcopy(args))
    except Exception as error:
        return error


def check(case: tuple[str, str, str]) -> None:
    """Check one expression for some values of its operands."""
    text, x, y = case
    expression = text.format(x=OPERANDS[x].text.format("x"), y=OPERANDS[y].text.format("y"))
    try:
        f = function_of(f"import numpy as np\ndef f(x, y):\n    return {expression}\n", f"<{case}>")
    except SyntaxError:  # `2.dot`
        return
    with np.errstate(all="ignore"):
        for args in list(product(OPERANDS[x].values, OPERANDS[y].values))[:10]:
            expected = outcome(f, *args)
            found = outcome(lambda *a: vjp(f, *a, compile=True), *args)
            what = f"{expression} of {args}: {expected!r}, compiled {found!r}"
            if isinstance(found, MooncakeError):
                continue
            if isinstance(expected, Exception) or isinstance(found, Exception):
                assert type(found) is type(expected), what
                continue
            value, pullback = found
            assert same(value, expected), what
            d = seed(expected)
            if d is not None and not is_at_an_edge(text, args):
                plain = outcome(lambda *a, d=d: vjp(f, *a)[1](d), *args)
                if not isinstance(plain, MooncakeError):
                    assert agree(pullback(d), plain), (what, plain)


def is_at_an_edge(text: str, args: tuple[Any, ...]) -> bool:
    """Return True where there is no derivative, and what is given instead may differ."""
    return any(name in text for name in ("abs", "maximum", "max(", "clip", "copysign", "%"))


@pytest.mark.parametrize(
    "case", [*SEEN, *[pytest.param(case, marks=pytest.mark.slow) for case in MORE]], ids=str
)
def test_what_was_wrong_once(case: tuple[str, str, str]) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_pairs_of_kinds(part: int) -> None:
    for case in random.Random(part).sample(list(cases()), 120):
        check(case)


def test_tangents_have_the_types_of_values() -> None:
    def f(x: Any) -> Any:
        return 1j * x[0]

    x = np.array([-1.0, 2.0])
    y, dy = jvp(f, (x,), (x,), compile=True)
    assert (type(y), type(dy)) == (complex, complex)
    assert same(y, f(x))
    assert same(dy, f(x))
