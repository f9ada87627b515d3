"""The programs of `benchmarks.programs` differentiate, as differences say."""

import copy

import numpy as np
import pytest

from benchmarks.programs.measure import all_programs, ones_like
from benchmarks.programs.program import Program
from mooncake_py import jvp, value_and_grad

PROGRAMS = dict(all_programs())


def moved(value, by):
    """Return an argument, each of its numbers moved by the same."""
    if isinstance(value, dict):
        return {key: moved(part, by) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([moved(part, by) for part in value])
    return value + by


def total(tangent) -> float:
    """Return the sum of all numbers of a gradient."""
    if isinstance(tangent, dict):
        return sum(map(total, tangent.values()))
    if isinstance(tangent, (list, tuple)):
        return sum(map(total, tangent))
    return float(np.sum(tangent))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_match_differences(name: str) -> None:
    program: Program = PROGRAMS[name]
    args = program.arguments()
    expected = program.run(*copy.deepcopy(args))
    value, gradients = value_and_grad(program.run, argnums=program.argnums)(*copy.deepcopy(args))
    assert value == expected
    slope = sum(map(total, gradients))

    def at(step: float) -> float:
        new = [moved(a, step) if k in program.argnums else a for k, a in enumerate(args)]
        return float(program.run(*copy.deepcopy(new)))

    h = 1e-6
    assert slope == pytest.approx((at(h) - at(-h)) / (2 * h), rel=1e-4, abs=1e-6)

    def of_active(*active):
        full = list(copy.deepcopy(args))
        for k, a in zip(program.argnums, active, strict=True):
            full[k] = a
        return program.run(*full)

    primals = tuple(args[k] for k in program.argnums)
    assert jvp(of_active, primals, tuple(map(ones_like, primals)))[1] == pytest.approx(slope)
