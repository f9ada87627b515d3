"""Ints as sums, and what is known of their ranges."""

from __future__ import annotations

import math

from mooncake_py.compiler.native.regions.linear import LARGE, Ranges, linear, minus, plus, times
from mooncake_py.compiler.regions.ir import Const, Length, Name, Op

n, i, j = Length("x", 0), Name("i"), Name("j")
ONE, TWO = Const(1), Const(2)


def test_equal_sums_are_equal_expressions():
    assert minus(minus(n, ONE), ONE) == minus(n, TWO)
    assert plus(times(TWO, i), n) == plus(n, plus(i, i))
    assert minus(plus(n, i), plus(i, n)) == Const(0)
    assert linear(Op("neg", (minus(n, i),))) == linear(minus(i, n))


def test_ranges_of_counters_prove_bounds():
    ranges = Ranges()
    ranges.counters["i"] = Const(1), minus(n, ONE)
    ranges.counters["j"] = Const(0), minus(i, ONE)
    assert ranges.is_natural(minus(i, ONE))
    assert not ranges.is_natural(minus(i, TWO))
    assert ranges.is_below(i, n)
    assert ranges.is_below(j, minus(n, ONE))
    assert not ranges.is_below(plus(i, ONE), n)
    assert ranges.is_natural(minus(i, plus(j, ONE)))
    assert not ranges.is_natural(Name("k"))
    ranges.natural.add("k")
    assert ranges.is_natural(Name("k"))


def test_what_ints_do_not_exceed():
    ranges = Ranges()
    ranges.counters["i"] = Const(-9), minus(n, ONE)
    ranges.sizes["k"] = 5
    k = Name("k")
    assert ranges.size(minus(times(TWO, k), Const(7))) == 17
    assert ranges.size(plus(i, ONE)) == LARGE + 2
    assert ranges.size(times(k, times(k, i))) == 25 * (LARGE + 1)
    assert ranges.size(Op("floordiv", (k, j))) == ranges.size(Op("mod", (j, k))) == 5
    assert ranges.size(plus(k, j)) == math.inf
    assert ranges.size(minus(plus(k, j), j)) == 5
