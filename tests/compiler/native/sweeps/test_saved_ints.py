"""Ints that compiled code saves for the way back have all of their bits."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.form import LLVM
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import INTS, Count, Name, Pop, Push
from tests.support.interpreted import PLAIN

pytestmark = pytest.mark.plain


def powers_of_three(x):
    k, s = 1, 0.0
    for _ in range(38):
        k *= 3
        s += x * x * (k % 1000)
    return s


def negative(x):
    k, s = -1, 0.0
    for i in range(38):
        k *= -3
        s += x**2 * (k % 1000) + x * (k // 1000000007 % 77 + i)
    return s


def counters(x):
    s = 0.0
    for i in range(300000000, 300000020):
        for j in range(40000001, 40000003):
            k = i * j
            if k % 3 == 1:
                s += x * x * (k % 1007)
            else:
                s -= x * (k % 11)
    return s


def in_an_array(x):
    a = np.zeros(4, dtype=np.int64)
    a[0] = 1
    s = 0.0
    for i in range(38):
        a[0] = a[0] * 3
        a[i % 3 + 1] = a[0] + i
        s += x * x * (a[i % 3 + 1] % 1000)
    return s


def compared_with_floats(x):
    k, s = 2**53, 0.0
    for _ in range(20):
        k = k + 1
        if k == 9007199254740992.0:
            s += x
        if k > 9007199254741002.0:
            s += x * x
    return s


def beyond_64_bits(x):
    k, s = 1, 0.0
    for _ in range(60):
        k *= 3
        s += x * x * (k % 1000)
    return s


CASES = [powers_of_three, negative, counters, in_an_array, compared_with_floats, beyond_64_bits]


@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f, tried):
    x = 1.5
    ways = [
        (*value_and_grad(f, compile=way)(x), *jvp(f, (x,), (1.0,), compile=way),
         hvp(f, (x,), 1.0, compile=way))
        for way in (False, True)
    ]  # fmt: skip
    assert ways[1] == pytest.approx(ways[0], rel=1e-13)
    assert tried[0] == (f not in (compared_with_floats, beyond_64_bits))


@pytest.mark.parametrize("compiler", [PLAIN, LLVM], ids=["interpreted", "compiled"])
def test_an_int_comes_back_from_the_stack(compiler):
    if compiler is LLVM:
        pytest.importorskip("llvmlite")
    printer = compiler.printer({"k": INT, "n": INT, "x": FLOAT}, {})
    body = (Push(INTS, Name("k")), Count("k", Name("n")), Count("n", Pop(INTS)))
    printer.forward(body, ("k", "n"), ("n", "k"))
    forward = compiler.built(printer)["forward"]
    for k in (3**38, -(3**38) - 1, 2**53 + 1, 0, -1, 2**62 + 1, -(2**63), 0x7FF0_0000_0000_0001):
        assert forward(np.empty(2), k, 7)[3:] == (k, 7)
