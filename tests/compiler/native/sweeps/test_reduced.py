"""Derivatives of operations along axes, kept whole: sweeps, tangents, differences and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.lowering.lower import lowered
from mooncake_py.compiler.native.reading.reader import read_function
from mooncake_py.compiler.native.sweeps.tangent import tangent
from mooncake_py.compiler.regions.ir import Reduce, statements
from tests.compiler.native.sweeping import check, check_second, finished, outputs, pulled
from tests.programs.comparing import function_of

rng = np.random.default_rng(8)
ARGUMENTS = rng.standard_normal(5), rng.standard_normal((4, 5)), rng.standard_normal((5, 3))

BODIES = {
    "sum": "return np.sum(np.sin(x) * x) * x[0]",
    "sum along axes": "t = np.sum(A * A, axis=1, keepdims=True); return A.sum(axis=0) * x, t * A",
    "sum that stays": "s = A.sum(axis=0); s[1:] *= s[:-1]; return np.sum(s * x) + s[2]",
    "sum again and again": """
s = 0.0
for i in range(4):
    t = np.sum(A[i] * x)
    s += t * t
    x[i] = t
return s""",
    "dot": "return x @ x, (A @ x) ** 2, (A @ B) @ (B.T @ x)",
    "dot of expressions": "return np.exp(x) @ x, (A * A) @ np.sin(B)",
    "dot in a loop": """
y = x
for i in range(3):
    y = np.tanh(A[:4] @ y) @ A
return y""",
    "trace": "return np.trace(A[:, 1:]) * x",
    "einsum": "return np.einsum('ij,jk,k->i', A, B, B[0])",
    "mean and deviation": "return np.mean(A, axis=1), np.std(x), np.var(A, axis=0)",
    "norm": "return np.linalg.norm(A) * x",
    "of Python": "return sum(x) * max(x) - min(x)",
    "max": "return np.max(x) * x[0], np.min(A, axis=0) * x, A.max(axis=1)",
    "max along several axes": "T = A[:, :, None] * B; return T.max(axis=(0, 2)) * x",
    "max in a loop": """
s = 0.0
for i in range(4):
    m = np.max(A[i] * x)
    x[:] = x * m
    s += m
return s""",
    "softmax": """
e = np.exp(A - np.max(A, axis=1, keepdims=True))
return e / e.sum(axis=1, keepdims=True)""",
    "cumulative": "return np.cumsum(x * x) * x, A.cumsum(axis=0), np.cumsum(A, axis=1)",
    "places": "k = np.argmax(x); return x[k] * x, A[:, k] * 2.0, A[np.argmin(A, axis=0), 1]",
    "picked": "return x[x > 0].sum() * x, np.sum(A[A > 0.1] ** 2)",
}


def made(text: str) -> tuple[Any, dict[str, Any]]:
    """Return a region, with its operations whole, and what it is given."""
    lines = text.strip().split("\n") if text.startswith("\n") else text.split("; ")
    body = "".join(f"    {line}\n" for line in lines)
    f = function_of(f"import numpy as np\ndef f(x, A, B):\n{body}", f"<reduced {text}>")
    types: Any = [type_of(a) for a in ARGUMENTS]
    region = read_function(f, types).region
    return region, dict(zip(region.inputs, [a.copy() for a in ARGUMENTS], strict=True))


@pytest.mark.parametrize("name", BODIES)
def test_sweeps_and_tangents(name: str) -> None:
    region, given = made(BODIES[name])
    assert any(isinstance(s, Reduce) for s in statements(region.body))
    check(region, given, " ".join(region.inputs))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BODIES)
def test_second_order(name: str) -> None:
    region, given = made(BODIES[name])
    check_second(region, given, " ".join(region.inputs))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BODIES)
def test_loops_have_the_same_derivatives(name: str) -> None:
    region, given = made(BODIES[name])
    ends = outputs(region, finished(region, given))
    wanted = {n: np.cos(1.0 + np.arange(np.size(v))).reshape(np.shape(v)) for n, v in ends.items()}
    found = [pulled(r, given, wanted, set(region.inputs)) for r in (region, lowered(region))]
    for n in region.inputs:
        assert_allclose(found[0][n], found[1][n], rtol=1e-11, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BODIES)
def test_tangents_may_become_loops_too(name: str) -> None:
    region, given = made(BODIES[name])
    moved, names = tangent(region, active_parts(region.body, set(region.inputs), {}))
    both = given | {names[n]: np.cos(v) for n, v in given.items()}
    ways = [outputs(r, finished(r, both)) for r in (moved, lowered(moved))]
    for n in ways[0]:
        assert_allclose(ways[0][n], ways[1][n], rtol=1e-11, atol=1e-12)


def test_ties_share_what_an_extremum_receives() -> None:
    region, given = made("return np.max(x)")
    x, *others = region.inputs
    given[x] = np.array([1.0, 2.0, 0.0, 2.0, -1.0])
    wanted = {n: np.zeros_like(given[n]) for n in (x, *others)} | {region.results[0]: 3.0}
    assert pulled(region, given, wanted, {x})[x].tolist() == [0.0, 1.5, 0.0, 1.5, 0.0]


def test_ties_in_some_rows_only() -> None:
    region, given = made("return np.sum(np.max(A, axis=1) * 3.0)")
    name = region.inputs[1]
    given[name] = np.array([[1.0, 2.0, 0.0], [2.0, -1.0, 2.0]])
    wanted = {n: np.zeros_like(given[n]) for n in region.inputs} | {region.results[0]: 1.0}
    found = pulled(region, given, wanted, {name})[name]
    assert found.tolist() == [[0.0, 3.0, 0.0], [1.5, 0.0, 1.5]]


def test_products_of_all_elements_have_no_derivative_here() -> None:
    region, given = made("return np.prod(x)")
    with pytest.raises(NoPartial):
        check(region, given, region.inputs[0])
