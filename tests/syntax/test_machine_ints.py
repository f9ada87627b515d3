"""Tests of ints that would wrap around in compiled code."""

from __future__ import annotations

import ast
import textwrap

import numpy as np
import pytest

from mooncake_py.syntax.machine_ints import guarded
from mooncake_py.syntax.names import Names


def with_tests(text, ints=(), bits=()):
    """Return the expressions that are tested in a function, and the function with the tests."""
    (node,) = ast.parse(textwrap.dedent(text)).body
    before = ast.dump(node)
    new = guarded(node, Names({}, {"x", "n", "s"}), ints, dict(bits))
    assert ast.dump(node) == before
    tests = [n for n in ast.walk(new) if isinstance(n, ast.Raise)]
    found = [t.exc.args[0].value.partition(" is an int")[0] for t in tests]
    assert (new is node) == (not found)
    return found, new


def called(node, *args):
    scope = {}
    module = ast.fix_missing_locations(ast.Module([node], []))
    exec(compile(module, "<test>", "exec"), scope)
    return scope[node.name](*args)


X = np.ones(3)
FACTORIAL = """
def f(n):
    p = 1
    for k in range(1, n):
        p *= k
    return p
"""
GENERATOR = """
def f(s, n):
    for _ in range(n):
        s = (s * 6364136223846793005 + 1) % 2**32
    return s
"""
FIBONACCI = """
def f(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
"""


@pytest.mark.parametrize(
    ("text", "ints", "expected", "fits", "exceeds"),
    [
        (FACTORIAL, (), ["p * k"], (21,), (22,)),
        (FIBONACCI, (), ["a + b"], (91,), (93,)),
        (GENERATOR, (), ["s * 6364136223846793005"], (1, 1), (2, 1)),
        ("def f(n):\n return 3 * 2**n", {"n"}, ["3 * 2 ** n"], (61,), (62,)),
        ("def f(n):\n return 1 << n", {"n"}, ["1 << n"], (62,), (63,)),
        ("def f(n):\n return -1 * n**5", {"n"}, ["-1 * n ** 5"], (6000,), (7000,)),
        ("def f(x, n):\n return x * 10**n", {"n"}, ["10 ** n"], (0.5, 18), (0.5, 19)),
        ("def f(n):\n return 2**n", {"n"}, ["2 ** n"], (0,), (-1,)),
        ("def f(x, n):\n return 2.5 * len(x)**n", {"n"}, ["len(x) ** n"], ("ab", 0), ("ab", -1)),
        ("def f(x, n):\n return 1.5 * x.size**-n", {"n"}, ["x.size ** (-n)"], (X, 0), (X, 2)),
        ("def f(x, n):\n k = x.shape[0]\n k **= n\n return k", {"n"}, ["k ** n"], (X, 1), (X, -1)),
    ],
)
def test_what_does_not_fit_raises(text, ints, expected, fits, exceeds):
    found, node = with_tests(text, ints)
    assert found == expected
    plain = ast.parse(textwrap.dedent(text)).body[0]
    assert called(node, *fits) == called(plain, *fits)
    with pytest.raises(OverflowError, match="an int of 64 bits in compiled code"):
        called(node, *exceeds)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, n):\n return x**n * 2.0 ** n",
        "def f(n):\n return n * n + n**3",
        "def f(x, n):\n for i in range(n):\n  for j in range(n):\n   x[i * n + j] *= i * j",
        "def f(x, n):\n p = 1.0\n for k in range(n):\n  p *= x * k",
        "def f(x, n):\n c = 0\n for k in range(n):\n  c += 1\n return c",
        "def f(x, n):\n for k in range(n):\n  m = k * 2\n  x[m] = m * k",
        "def f(x):\n return x * 1e20 + 12345678901 * 0.5",
        "def f(n):\n return (n * 1103515245 + 12345) & 0x7FFFFFFF",
        "def f(x, n):\n return x.size * len(x) * x.shape[-1] + x.ndim**2",
        "def f(x, n):\n return x[0] ** -1 * x.mean ** n * g(x) ** n * x.shape[n] ** 2",
    ],
)
def test_what_needs_no_test(text):
    assert with_tests(text, {"n"})[0] == []


def test_only_what_runs_for_certain_is_tested():
    assert with_tests("def f(n):\n return 2**n if n < 60 else 0", {"n"})[0] == []
    assert with_tests("def f(n):\n if n < 60:\n  return 2**n\n return 0", {"n"})[0] == ["2 ** n"]


@pytest.mark.parametrize(
    ("text", "bits", "expected"),
    [
        ("def f(x, n):\n return x * (n * n)", 48, ["n * n"]),
        ("def f(x, n):\n return x * (n * n)", 24, []),
        ("def f(x, n):\n m = n * n\n return m * n", 24, ["m * n"]),
        ("def f(x, n):\n return x * (n << 62)", 0, ["n << 62"]),
        ("def f(x, n):\n return x * (n * 2**61)", 0, ["n * 2 ** 61"]),
        ("def f(x, n):\n for i in range(n):\n  x[i] = i * n * 2", 32, ["i * n * 2"]),
        ("def f(x, n):\n return n + n", 64, ["n + n"]),
        ("def f(x, n):\n return n % 10 * n", 32, []),
    ],
)
def test_sizes_in_a_call(text, bits, expected):
    assert with_tests(text, {"n"}, {"n": bits} if bits else {})[0] == expected
