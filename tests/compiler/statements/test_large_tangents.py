"""Tangents that would be too large as one expression go operation by operation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.regions.ir import Let, Name, Op
from mooncake_py.compiler.statements.pushforward import in_one
from tests.programs.comparing import function_of


def test_results_that_are_read_twice_are_written_twice_up_to_a_size():
    def squares(count):
        names = ["v0", *(f"e{k}" for k in range(count))]
        return [Let(name, Op("mul", (Name(a), Name(a)))) for a, name in pairwise(names)]

    assert in_one(Name("e0"), squares(1)) == Op("mul", (Name("v0"), Name("v0")))
    with pytest.raises(NoPartial):
        in_one(Name("e59"), squares(60))


def test_nested_maxima():
    e = "x"
    for k in range(16):
        e = f"np.maximum({e} * 0.9, x * x * 0.{k % 9}5)"
    f = function_of(f"import numpy as np\ndef f(x):\n    return np.sum({e})\n", "<nested maxima>")
    x = np.linspace(0.3, 3.2, 10)
    t = np.cos(x)
    difference = (jvp(f, (x + 1e-6 * t,), (t,))[1] - jvp(f, (x - 1e-6 * t,), (t,))[1]) / 2e-6
    assert_allclose(t @ hvp(f, (x,), t), difference, rtol=1e-6)
