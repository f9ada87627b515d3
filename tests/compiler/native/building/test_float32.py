"""Arrays and numbers of float32 in compiled functions: their derivatives are those without."""

from __future__ import annotations

import copy
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.compiler.native.form import Compiler
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32
from mooncake_py.compiler.regions.ir import Assign, Compare, Const, Expr, Name, Op
from tests.programs.comparing import function_of
from tests.support.interpreted import PLAIN, QUICKLY

pytestmark = pytest.mark.plain

rng = np.random.default_rng(1)


def narrow(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


# x, y, A and s of float32; z of float64, d a number of NumPy and a one of Python.
ARGUMENTS = (
    narrow(5), narrow(5), narrow(5, 5), rng.standard_normal(5), np.float32(0.7), 0.3,
    np.float64(0.4),
)  # fmt: skip
EXPRESSIONS = [
    "np.sum(x * y)",
    "np.sum(x * a) + np.sum(2 * x)",
    "np.sum(x * d)",
    "np.sum(x * s) + np.sum(z * s)",
    "np.sum(x * z)",
    "s * a",
    "s * d",
    "float(s) * a + np.float64(s) * np.float32(a)",
    "np.sum(0.1 * x**2 + x) + x[0] ** 2 + x[1] ** 3",
    "np.sum(x**-2) + np.sum(np.abs(x) ** 1.5) + np.sum(np.abs(x) ** s) + np.sum(2.0**x)",
    "np.sum(np.sin(x) * np.exp(y)) + math.sin(x[0]) * s",
    "np.sum(np.hypot(x, y) + np.arctan2(y, x) + np.sqrt(np.abs(x) + 1))",
    "np.sum(np.where(x > 0.1, x, 0.5) + np.where(x > y, x * a, y))",
    "np.sum(np.maximum(x, 0.1) + np.minimum(x, y)) + np.sum((x > 0) * y)",
    "x @ y + np.sum(A @ x) + np.sum(A @ z) + np.sum(np.outer(x, y) * A)",
    "np.sum(np.outer(x, z)) + np.linalg.norm(x)",
    "np.sum((A @ A.T) * z) + np.sum(A @ np.outer(z, z))",
    "np.mean(x) + np.mean(A, axis=0)[1] + np.sum(np.sum(A, axis=1) * x)",
    "np.std(x) + np.var(A, axis=0).sum()",
    "np.count_nonzero(x > 0.1) * s",
    "np.max(x) * a + np.sum(np.clip(x, -0.5, a)) + np.sum(np.diff(x) * z[1:])",
    "np.sum(np.stack((x, y)) * z) + np.sum(np.roll(x, 1)) + np.sum(np.triu(A) * x)",
    "max(s, x[0]) * 2 + abs(s)",
    "max(s, 0.1)",
    "min(x[0], a) * x[1]",
    "(s if s > a else a) * 2.0",
    "np.sum(x * (s if s > a else a))",
    "np.sum(x.astype(np.float64) * z) + np.sum(z.astype(np.float32) * x)",
    "np.sum(np.full(5, s) * x + np.zeros(5, dtype=np.float32) + np.ones(5, np.float32))",
]
PROGRAMS = {
    "sum": """
        t = 0.0
        for i in range(len(x)):
            t += x[i] * x[i]
        return t * a
    """,
    "sum_from_int": """
        t = 0
        for i in range(len(x)):
            t = t + x[i] * y[i]
        return t
    """,
    "recurrence": """
        t = 0.1
        for i in range(len(x)):
            t = 0.9 * t + x[i]
        return t
    """,
    "no_pass": """
        t = 0.1
        for i in range(0):
            t += x[i]
        return t * 0.3
    """,
    "to_float64": """
        t = 0.1
        for i in range(3):
            t += z[i] * x[i]
        return t * 0.3
    """,
    "stencil": """
        for _ in range(4):
            x[1:-1] = x[1:-1] + a * (x[2:] - 2 * x[1:-1] + x[:-2])
        return np.sum(x * x)
    """,
    "until": """
        e = 1.0
        i = 0
        while e > 0.2 and i < 4:
            x[:] = x * 0.5
            e = np.abs(x[0])
            i += 1
        return np.sum(x) * e
    """,
    "masks": """
        x[x < 0.1] = a
        x[x > 0.4] *= s
        return np.sum(x * y)
    """,
    "both_widths": """
        z[:] = x * a
        x[1:] += z[1:] * 0.5
        x[0] = z[1]
        return np.sum(x) * np.sum(z * z)
    """,
    "factorization": """
        A[:] = A * 0.1
        for i in range(5):
            A[i, i] += 3.0
        for i in range(5):
            for j in range(i):
                A[i, j] -= A[i, :j] @ A[:j, j]
                A[i, j] /= A[j, j]
            for j in range(i, 5):
                A[i, j] -= A[i, :i] @ A[:i, j]
        return np.sum(A)
    """,
    "new_array": """
        x *= 2
        y[0] = x[1]
        u = np.zeros_like(x)
        u[1:] = x[:-1]
        return np.sum(u * y) + s
    """,
}


def function(body: str, name: str) -> Any:
    lines = [line[4:] if line.startswith("        ") else line for line in body.splitlines()]
    text = "\n".join(["def f(x, y, A, z, s, a, d):", *lines])
    return function_of(f"import math\nimport numpy as np\n\n{text}\n", f"<{name}>")


def parts(value: Any) -> list[Any]:
    return [p for v in value for p in parts(v)] if isinstance(value, tuple) else [value]


def same(f: Any, of: Any, tried: list[bool]) -> None:
    """Compare a derivative that is compiled with one that is not, and its types."""
    results: list[Any] = []
    for how in ({}, {"compile": True}):
        tried.clear()
        given = copy.deepcopy(ARGUMENTS)
        with catch_warnings():
            simplefilter("ignore")
            results.append(parts(of(f, how)(*given)))
        for a, b in zip(ARGUMENTS, given, strict=True):
            np.testing.assert_array_equal(a, b)
    assert tried
    assert all(tried)
    for a, b in zip(*results, strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert_allclose(b, a, rtol=1e-5, atol=1e-5 * (1 + np.max(np.abs(a))))


def check(f: Any, tried: list[bool]) -> None:
    """Compare gradients, tangents and second derivatives."""
    along = tuple(np.cos(v) if isinstance(v, np.ndarray) else type(v)(0.5) for v in ARGUMENTS)

    def second(f: Any, how: Any) -> Any:
        def gradient(x: Any, A: Any, rest: Any) -> Any:
            return grad(f, (0, 2))(x, rest[1], A, *rest[3:])

        return lambda *given: jvp(
            lambda x, A: gradient(x, A, given), (given[0], given[2]), (along[0], along[2]), **how
        )

    same(f, lambda f, how: value_and_grad(f, tuple(range(7)), **how), tried)
    same(f, lambda f, how: value_and_grad(f, (0, 5), **how), tried)
    same(f, lambda f, how: lambda *given: jvp(f, given, along, **how), tried)
    same(f, second, tried)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str, tried: list[bool]) -> None:
    check(function(f"    return {text}", text), tried)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, tried: list[bool]) -> None:
    check(function(PROGRAMS[name], name), tried)


def test_float_of_python_is_as_wide_as_what_it_is_beside(tried: list[bool]) -> None:
    def above(x, limit):
        return np.sum((x > limit) * x) + np.sum((x > 0.1) * x)

    x = np.array([0.1, 0.3], np.float32)  # above 0.1 as a float64
    value, _ = value_and_grad(above, compile=True)(x, 0.1)
    assert value == np.float32(0.3) * 2
    assert tried == [True]


@pytest.mark.parametrize("way", [PLAIN, QUICKLY], ids=["interpreted", "compiled"])
def test_numbers_that_are_written_are_as_wide_as_what_they_are_beside(way: Compiler) -> None:
    if way is QUICKLY:
        pytest.importorskip("llvmlite")
    s, a = Name("s"), Name("a")
    cases: list[tuple[Expr, str, Any]] = [
        (Compare(("gt",), (s, Const(0.1))), BOOL, False),
        (Op("mul", (Const(0.1), s)), FLOAT32, float(np.float32(0.1) * np.float32(0.1))),
        (Op("mul", (a, s)), FLOAT, 0.3 * float(np.float32(0.1))),
        (Op("float", (s,)), FLOAT, float(np.float32(0.1))),
    ]
    names = [f"r{k}" for k in range(len(cases))]
    kinds = {name: kind for name, (_, kind, _) in zip(names, cases, strict=True)}
    printer = way.printer(kinds | {"s": FLOAT32, "a": FLOAT}, {})
    body = tuple([Assign(Name(n), e) for n, (e, *_) in zip(names, cases, strict=True)])
    printer.forward(body, ["s", "a"], names)
    found = way.built(printer)["forward"](np.empty(0), np.float32(0.1), 0.3)[3:]
    assert list(found) == [value for *_, value in cases]


def test_sums_are_of_float64(tried: list[bool]) -> None:
    x = np.full(20_000, 0.1, np.float32)
    value, g = value_and_grad(lambda x: np.sum(x * x), compile=True)(x)
    exact = 20_000 * float(np.float32(0.1)) ** 2
    assert value == pytest.approx(exact, rel=1e-7)
    assert type(value) is np.float32
    assert g.dtype == np.float32
    assert tried == [True]


def test_sum_from_float64_is_refused(tried: list[bool]) -> None:
    def total(x, z, flag):
        t = 0.5
        if flag > 0:
            t = x[0]
        else:
            t = z[0]
        return t * 2

    x, z = np.ones(2, np.float32), np.ones(2)
    assert value_and_grad(total, (0, 1), compile=True)(x, z, 1)[0] == 2.0
    assert tried == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["recurrence", "masks", "both_widths"])
def test_by_llvm(name: str) -> None:
    pytest.importorskip("llvmlite")
    f = function(PROGRAMS[name], name)
    results = [
        value_and_grad(f, (0, 2, 3, 4, 5), compile=compile)(*copy.deepcopy(ARGUMENTS))
        for compile in (False, True)
    ]
    for a, b in zip(*map(parts, results), strict=True):
        assert type(a) is type(b)
        assert_allclose(b, a, rtol=1e-5, atol=1e-5)
