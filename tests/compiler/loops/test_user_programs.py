"""Programs as users write them: gradients.  Other modes: see `tests.programs.corpus`."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.user_programs import PROGRAMS

X = np.array([0.61, 0.23, 0.87, 0.42, 0.74, 0.35])
Y = np.array([0.52, 0.94, 0.31, 0.68, 0.17, 0.83])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    agrees(f, X, Y)


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_loops_are_one_entry(f, taken, printed):
    # A copy of the code has no history: other arguments may have told its loops to give up.
    fresh = FunctionType(f.__code__.replace(), f.__globals__, f.__name__)
    value_and_grad(fresh, (0, 1))(X.copy(), Y.copy())
    assert any(taken) or any(printed)
