"""Ints as sums, and what is known of their ranges."""

from __future__ import annotations

from mooncake_py.compiler.ir import Const, Length, Name, Op
from mooncake_py.compiler.native.regions.linear import Ranges, linear, minus, plus, times

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
