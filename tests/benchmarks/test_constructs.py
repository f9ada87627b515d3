"""The loops of `benchmarks.constructs` differentiate, to the values of the plain loops."""

import copy

import numpy as np
import pytest

from benchmarks.constructs.construct import Construct, Loops, written
from benchmarks.constructs.functions import FUNCTIONS
from benchmarks.constructs.language import LANGUAGE, LOOPS
from benchmarks.constructs.measure import arguments
from mooncake_py import jvp, value_and_grad

FEW = 3


def args() -> tuple:
    *others, steps = arguments()
    return (*others, steps[:FEW])


def check(loops: Loops) -> None:
    f = loops.measured
    expected = f(*copy.deepcopy(args()))
    value, gradients = value_and_grad(f, argnums=(0, 1, 2, 3))(*args())
    assert value == expected
    tangents = (1.0, *map(np.ones_like, args()[1:4]), [0.0] * FEW)
    value, slope = jvp(f, args(), tangents)
    assert value == expected
    np.testing.assert_allclose(slope, sum(map(np.sum, gradients)), rtol=1e-10)


@pytest.mark.parametrize("construct", [*LANGUAGE, *LOOPS], ids=lambda each: each.name)
def test_constructs_of_the_language(construct: Construct) -> None:
    (loops,) = written([construct])
    check(loops)


@pytest.mark.slow
@pytest.mark.parametrize("construct", FUNCTIONS, ids=lambda each: each.name)
def test_functions(construct: Construct) -> None:
    (loops,) = written([construct])
    check(loops)


def test_names_are_unique() -> None:
    names = [each.name for each in (*LANGUAGE, *FUNCTIONS, *LOOPS)]
    assert len(names) == len(set(names))
