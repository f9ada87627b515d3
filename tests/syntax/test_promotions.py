"""Tests of the operators of jitted functions that are computed in 64 bits."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest

from mooncake_py.syntax.names import Names
from mooncake_py.syntax.narrow_values import Kinds, NarrowValues
from mooncake_py.syntax.promotions import promoted

KINDS = Kinds(frozenset({"u"}), frozenset({"x", "w"}))


def replaced_in(text, kinds=KINDS):
    """Return the calls in a function that stand for its operators."""
    node: Any = ast.parse(textwrap.dedent(text)).body[0]
    before = ast.dump(node)
    names = Names({"np": np, "TABLE": np.zeros(2, np.int32)}, {"u", "x", "w", "n", "s", "v", "m"})
    new = promoted(node, NarrowValues(node, names, {}, kinds))
    assert ast.dump(node) == before
    calls = [n for n in ast.walk(new) if isinstance(n, ast.Call)]
    found = [ast.unparse(c) for c in calls if ast.unparse(c).startswith("machine_")]
    assert (new is node) == (not found)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(w, u):\n return u[0] + u[1]", "machine_add(u[0], u[1])"),
        ("def f(w, u):\n return w * (u[0] + 1)", "machine_inner_add(u[0], 1)"),
        ("def f(w, u):\n for v in u:\n  s = v << n", "machine_lshift(v, n)"),
        ("def f(w, u):\n s = 0\n for v in u:\n  s += v", "machine_iadd(s, v)"),
        ("def f(x):\n return (x[0] > 0) + (x[1] > 0)", "machine_add(x[0] > 0, x[1] > 0)"),
        ("def f(x):\n m = x > 0\n return -m[0]", "machine_neg(m[0])"),
        ("def f(n):\n return np.int32(n) * 2", "machine_mul(np.int32(n), 2)"),
        ("def f(n):\n s = np.zeros(n, np.uint8)\n return s[0] - 1", "machine_sub(s[0], 1)"),
        ("def f(n):\n return TABLE[0] * n", "machine_mul(TABLE[0], n)"),
        ("def f(x):\n return np.isnan(x[0]) + 1", "machine_add(np.isnan(x[0]), 1)"),
        ("def f(x, u):\n return -max(u[0], 0)", "machine_neg(machine_wide(max(u[0], 0)))"),
        (
            "def f(x, u):\n return ~(u[0] if x else u[1])",
            "machine_joined_invert(u[0] if x else u[1])",
        ),
        ("def f(u):\n s = 0\n for v in u:\n  s = v\n return -s", "machine_joined_neg(s)"),
        ("def f(u):\n s = max(u[0], 0)\n return -s", "machine_neg(machine_wide(s))"),
        ("def f(n):\n return np.exp(bool(n))", "machine_ufunc(np.exp, bool(n))"),
        ("def f(u):\n return int(u[0])", "machine_int(u[0])"),
        ("def f(u):\n return np.multiply(u[0], 2)", "machine_ufunc(np.multiply, u[0], 2)"),
    ],
)
def test_what_numpy_computes_in_fewer_bits(text, expected):
    assert replaced_in(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, u):\n return x[u[0]] * x[u[1]] + 1",
        "def f(x, w):\n s = 0.0\n for v in x:\n  s += (v > 0) * w\n return s",
        "def f(u, x):\n return u[0] * x[0] + u[1] / u[0]",
        "def f(x, n):\n return n * n + x.shape[0] * len(x) + n * x[0]",
        "def f(u):\n return u.astype(np.float64) * 2 + u.size * 3",
    ],
)
def test_what_is_computed_alike_is_left(text):
    assert replaced_in(text) is None
