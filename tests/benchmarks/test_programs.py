"""The programs of `benchmarks.programs` differentiate, as differences say."""

import copy

import numpy as np
import pytest

from benchmarks.programs.measure import all_programs, forward
from benchmarks.programs.program import Program
from mooncake_py import flatten, grad, jvp, value_and_grad

pytest.importorskip("scipy")
PROGRAMS = dict(all_programs())
STEPS = (1e-3, 1e-4, 1e-5, 1e-6)  # of which one works: solvers have noise


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_match_differences(name: str) -> None:
    program: Program = PROGRAMS[name]
    args = program.arguments()
    expected = program.run(*copy.deepcopy(args))
    value, _ = value_and_grad(program.run, argnums=program.argnums)(*copy.deepcopy(args))
    assert value == expected
    assert forward(program)(*copy.deepcopy(args))[0] == expected

    vector, unflatten = flatten(tuple(args[k] for k in program.argnums))

    def of_vector(v: np.ndarray) -> float:
        full = list(copy.deepcopy(args))
        for k, a in zip(program.argnums, unflatten(v), strict=True):
            full[k] = a
        return program.run(*full)

    numbers = np.random.default_rng(0)
    along = numbers.choice([-1.0, 1.0], len(vector)) * np.where(vector == 0, 0.01, abs(vector))
    slope = grad(of_vector)(vector) @ along

    def central(h: float) -> float:
        return (of_vector(vector + h * along) - of_vector(vector - h * along)) / (2 * h)

    found = [(4 * central(h / 2) - central(h)) / 3 for h in STEPS]
    assert min(abs(slope - d) for d in found) <= 1e-5 * max(abs(slope), 1e-5 * abs(value))
    assert jvp(of_vector, (vector,), (along,))[1] == pytest.approx(slope, rel=1e-9)
