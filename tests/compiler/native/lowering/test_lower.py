"""Operations on whole arrays: kept by the reader, and the same as loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.lowering.lower import lowered
from mooncake_py.compiler.native.reading.reader import read_function
from mooncake_py.compiler.regions.ir import Places, Reduce, statements
from tests.programs.comparing import function_of
from tests.support.interpreted import PLAIN

rng = np.random.default_rng(4)
x = rng.standard_normal(7)
A = rng.standard_normal((4, 5))
T = rng.integers(-2, 3, (3, 4, 2)).astype(float)  # with ties
ints = rng.integers(-2, 3, (3, 4))
one = rng.standard_normal((3, 1))
narrow = A.astype(np.float32)

CASES = {
    "sum": ("np.sum(A) + A.sum(axis=0)[2] + A.sum(axis=1, keepdims=True)[1, 0]", ["sum"] * 3),
    "sum along several axes": ("np.sum(T, axis=(0, 2))[1]", ["sum"]),
    "sum along an axis of one": ("np.sum(one, axis=1)[2] + np.sum(one[:1])", ["sum"] * 2),
    "sum of float32": ("float(np.sum(narrow)) + float(narrow.sum(axis=0)[1])", ["sum"] * 2),
    "sum of products": ("np.sum(x * x)", ["sum"]),
    "inner": ("x @ x + (A @ x[:5])[1] + (x[:4] @ A)[2]", ["inner"] * 3),
    "dot": ("np.dot(x, x) + np.dot(A, x[:5])[1]", ["dot"] * 2),
    "dot of float32": (
        "float(narrow[0] @ narrow[1]) + float((narrow @ narrow[2])[1])",
        ["inner"] * 2,
    ),
    "matmul": ("(A @ A.T)[1, 2]", ["matmul"]),
    "matmul of float32": ("float((narrow @ narrow.T)[0, 1])", ["matmul"]),
    "trace": ("np.trace(A[:, :4])", ["trace"]),
    "einsum": ("np.einsum('ij,j->i', A, x[:5])[1] + np.einsum('i,i', x, x)", ["einsum"] * 2),
    "mean": ("np.mean(A) + A.mean(axis=1)[2]", ["sum"] * 2),
    "norm": ("np.linalg.norm(A)", ["dot"]),
    "of Python": ("sum(x) + max(x) - min(x)", ["total", "argmax", "argmin"]),
    "prod": ("np.prod(x) + A.prod(axis=0)[1]", ["prod"] * 2),
    "max": ("np.max(A) + np.min(A, axis=0)[3] + T.max(axis=(0, 2))[1]", ["max", "min", "max"]),
    "max of ints": ("float(np.max(ints) - ints.min(axis=1)[2])", ["max", "min"]),
    "max of float32": ("float(narrow.max()) + float(narrow.min(axis=1)[1])", ["max", "min"]),
    "places of extrema": (
        "x[np.argmax(x)] + float(np.argmin(T)) + float(T.argmax(axis=1)[2, 1])",
        ["argmax", "argmin", "argmax"],
    ),
    "cumulative": (
        "np.cumsum(x)[3] + A.cumsum(axis=0)[2, 1] + np.cumprod(A, axis=1)[1, 4]",
        ["cumsum", "cumsum", "cumprod"],
    ),
    "truths": ("float(np.any(x > 1)) + float((x > -9).all())", ["any", "all"]),
    "counts": (
        "float(np.count_nonzero(ints)) + float((ints > 0).sum()) + float(ints.sum())",
        ["count", "sum", "sum"],
    ),
    "places": ("x[x > 0][1] + A[A > 0][3] + float(np.nonzero(ints)[1][2])", ["places"] * 3),
    "places along an axis of one": ("one[one > 0].sum()", ["places", "sum"]),
}  # fmt: skip


def made(text):
    names = "x, A, T, ints, one, narrow"
    f = function_of(f"import numpy as np\ndef f({names}):\n    return {text}\n", f"<whole {text}>")
    args = (x, A, T, ints, one, narrow)
    types: Any = [type_of(a) for a in args]
    return f, args, read_function(f, types).region


def run(region, args):
    printer = PLAIN.printer(region.kinds, region.arrays)
    printer.forward(region.body, region.inputs, region.results)
    functions = PLAIN.built(printer)
    ok, _, _, *results = functions["forward"](np.empty(0), *[a.copy() for a in args])
    assert ok
    return results[0]


@pytest.mark.parametrize("case", CASES)
def test_whole_operations_and_their_loops_agree(case):
    text, expected = CASES[case]
    f, args, region = made(text)
    wholes = [s for s in statements(region.body) if isinstance(s, Reduce | Places)]
    assert [s.op if isinstance(s, Reduce) else "places" for s in wholes] == expected
    value = f(*args)
    rtol = 1e-5 if "float32" in case else 1e-13
    np.testing.assert_allclose(run(region, args), value, rtol=rtol)
    loops = lowered(region)
    assert not any(isinstance(s, Reduce | Places) for s in statements(loops.body))
    np.testing.assert_allclose(run(loops, args), value, rtol=rtol)
    assert lowered(loops) is loops


def test_names_of_loops_are_new():
    _, _, region = made("np.max(A, axis=0)[1] + np.cumsum(x)[2] + np.sum(x)")
    loops = lowered(region)
    assert loops.kinds.items() >= region.kinds.items()
