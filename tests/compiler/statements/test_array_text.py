"""The text of expressions on arrays: what is quicker and has the very same result."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, Name, Op
from mooncake_py.compiler.statements.array_text import FORWARDS, ArrayText
from mooncake_py.compiler.statements.contractions import adjoints_of
from mooncake_py.compiler.statements.reductions import Along
from tests.support.pairs import pairwise

FIRST_AXIS: Any = Const(Along(0, False))  # type: ignore[arg-type]
TWO_AXES: Any = Const(Along((0, 1), True))  # type: ignore[arg-type]
A, B, S = Name("a"), Name("b"), Name("s")  # two vectors and a number


def writer() -> ArrayText:
    return ArrayText({}, (), {"a", "b", "m"}, {"a": 1, "b": 1, "m": 2}, {"n"})


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (Op("mul", (A, Const(1.5))), "a * c_1_5"),
        (Op("sub", (Const(1), Op("mul", (A, S)))), "c_1_0 - a * s"),
        (Op("add", (Const(-0.0), A)), "c_m0_0 + a"),
        (Op("add", (Const(1e-5), Call(np.sin, (A,)))), "c_1em05 + np_sin(a)"),
        (Op("mul", (S, Const(1.5))), "s * 1.5"),
        (Op("truediv", (A, Name("n"))), "a / array(float(n))"),
        (Op("truediv", (S, Name("n"))), "s / n"),
        (Op("pow", (A, Const(2))), "a ** 2"),
        (Op("mul", (A, Const((1 << 53) + 1))), "a * 9007199254740993"),
        (Op("mul", (Call(math.sin, (A,)), Const(1.5))), "f_sin(a) * 1.5"),
        (Call(np.dot, (A, Op("neg", (B,)))), "a.dot(-b)"),
        (Call(np.dot, (S, A)), "f_dot(s, a)"),
        (Op("matmul", (A, B)),
         "a.dot(b) if a.strides in FORWARDS and b.strides in FORWARDS else a @ b"),
        (Op("matmul", (Name("m"), B)), "m @ b"),
        (Call(np.sum, (A,)), "np_add.reduce(a, axis=None)"),
        (Call(np.sum, (S,)), "f_sum(s)"),
        (Call(np.max, (A, TWO_AXES)),
         "np_maximum.reduce(a, axis=(0, 1), keepdims=True)"),
        (Call(np.min, (A, FIRST_AXIS)), "np_minimum.reduce(a, axis=0)"),
        (Call(np.mean, (A, FIRST_AXIS)), "f_mean(a, axis=0)"),
    ],
)  # fmt: skip
def test_text(e: Expr, text: str) -> None:
    assert writer().text(e) == text


AXES = [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("side", "axes", "f"), pairwise([0, 1], AXES, [np.matmul, np.dot, np.outer])
)
def test_adjoints_of_products_are_one_call_of_blas(f: Any, axes: Any, side: int) -> None:
    adjoint = adjoints_of(Call(f, (A, B)))[side]
    random = np.random.default_rng(1)
    shapes = {(1, 1): ((4,), (4,)), (1, 2): ((4,), (4, 3)), (2, 1): ((5, 4), (4,))}
    a, b = map(random.standard_normal, shapes.get(axes, ((5, 4), (4, 3))))
    d = random.standard_normal(np.shape(f(a, b)))
    factors = (Name("like_a"), B) if side == 0 else (A, Name("like_b"))
    text = ArrayText({}, (), {"a", "b", "d"}, dict(zip("ab", axes, strict=True)))
    written = text.text(Call(adjoint, (Name("d"), *factors)))
    if (axes == (1, 1)) is (f is np.outer):
        found = eval(written, {"a": a, "b": b, "d": d})
        expected = adjoint(d, a, b)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert ".dot(" in written
    else:
        assert written.startswith("f_")


def test_results_of_operations_on_arrays_are_arrays() -> None:
    text = writer()
    assert text.lines(Let("t", Op("mul", (A, S)))) == ["t = a * s"]
    assert text.lines(Let("u", Op("add", (Name("t"), Const(2.0))))) == ["u = t + c_2_0"]
    assert text.lines(Let("n", Call(np.sum, (A,)))) == ["n = np_add.reduce(a, axis=None)"]
    assert text.lines(Let("w", Op("add", (Name("n"), Const(2.0))))) == ["w = n + 2.0"]


def test_constants_are_what_is_written() -> None:
    text = writer()
    values = [0.0, -0.0, 1.5, 15, 1e22, -1e22, 1e-22, math.inf, -math.inf]
    names = [text.text(Op("add", (A, Const(v)))).partition(" + ")[2] for v in values]
    found = [text.scope[name] for name in names]
    assert [repr(float(c)) for c in found] == [repr(float(v)) for v in values]
    assert {(c.dtype, c.shape) for c in found} == {(np.dtype(float), ())}


@pytest.mark.parametrize("n", [0, 1, 2, 7, 33, 200])
def test_what_stands_for_something_has_its_bits(n: int) -> None:
    random = np.random.default_rng(n)
    numbers = random.standard_normal((2, 3 * n + 3, 2))
    views = [slice(None, n), slice(n), slice(0, 2 * n, 2), slice(n + 1, 1, -1), slice(0, 3 * n, 3)]
    for i, j in itertools.product(views, views):
        a, b = numbers[0, i, 0], numbers[1, j, 1]
        if len(a) == len(b):
            assert a.dot(b) == np.dot(a, b)
            assert a.dot(b.copy()) == np.dot(a, b.copy())
            if {a.strides, b.strides} <= FORWARDS:
                assert a.dot(b) == a @ b
        for f, ufunc in ((np.sum, np.add), (np.max, np.maximum), (np.min, np.minimum)):
            m = numbers[:, i]
            if f is np.sum or m.size:
                assert f(m) == ufunc.reduce(m, axis=None)
                np.testing.assert_array_equal(f(m, axis=(0, 2)), ufunc.reduce(m, axis=(0, 2)))
        np.testing.assert_array_equal(a * np.array(1.1), a * 1.1)
