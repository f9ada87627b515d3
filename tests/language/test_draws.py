"""Draws of the module `random`, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: E741, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import random

import numpy as np
import pytest

from mooncake_py import checkpoint, value_and_grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
L = [0.3, -1.2, 0.7]


@programs(X)
def rshuf(x):
    l = list(x)
    random.seed(3)
    random.shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(X)
def rshuf_obj(x):
    l = list(x)
    random.Random(3).shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(L)
def rshuf_arg(l):
    random.Random(5).shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(X)
def rshuf_arr(x):
    y = x.copy()
    random.Random(3).shuffle(y)
    return y[0] * 2 + y[1] * 3 * y[2]


@programs(X)
def rchoice(x):
    random.seed(3)
    return random.choice(list(x)) * random.choice(x)


@programs(X)
def rchoices(x):
    random.seed(3)
    a = random.choices(list(x), k=2)
    return a[0] * a[1]


@programs(X)
def rchoices_w(x):
    random.seed(3)
    a = random.choices([1.0, 2.0, 3.0], weights=list(x * x), k=2)
    return a[0] * x[0]


@programs(X)
def rsample(x):
    random.seed(3)
    a = random.sample(list(x), 2)
    return a[0] * a[1] ** 2


@programs(X)
def runif(x):
    random.seed(3)
    return random.uniform(0, 1) * x[0] + random.gauss(0, 1) * x[1]


@programs(X)
def runif_act(x):
    random.seed(3)
    return random.uniform(x[0], x[1])


@programs(X)
def rgauss_act(x):
    random.seed(3)
    return random.gauss(x[0], x[2])


@programs(X)
def rexpo(x):
    random.seed(3)
    return random.expovariate(x[2])


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


OWN = random.Random(5)
DRAWS = {
    "sample": lambda x: x[random.sample(range(3), 2)[0]],
    "triangular": lambda x: x[0] * random.triangular(0, 1),
    "expovariate": lambda x: x[0] * random.expovariate(1.0),
    "betavariate": lambda x: x[0] * random.betavariate(1.0, 2.0),
    "randbytes": lambda x: x[0] * random.randbytes(1)[0],
    "sample of a generator": lambda x: x[OWN.sample(range(3), 2)[0]],
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_second_runs_draw_the_same_by_functions_in_python(draw) -> None:
    def f(x):
        return draw(x) + x[1] * random.random()

    def seeded(run):
        random.seed(3)
        OWN.seed(4)
        return run(X), random.getstate(), OWN.getstate()

    value, *states = seeded(f)
    found, *after = seeded(value_and_grad(lambda x: checkpoint(f, x)))
    assert found[0] == value
    assert found[1] @ X == pytest.approx(value)
    assert after == states
