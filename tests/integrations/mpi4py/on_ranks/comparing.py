"""Compare derivatives of random programs on all ranks with those of one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.integrations.mpi4py import over
from tests.integrations.mpi4py.on_ranks.steps.program import Program
from tests.integrations.mpi4py.on_ranks.steps.state import State, initial_state

__all__ = ["WAYS", "compare"]

WAYS = ("gradient", "debug", "tangent", "product")


@dataclass
class Outcome:
    """What one rank has of a program: numbers, and arrays like those that it begins with."""

    value: float
    arrays: State


def on_rank(program: Program, way: str, comm: MPI.Intracomm, **options: Any) -> Outcome:
    """Return one rank's part of a derivative."""

    def f(state: State) -> float:
        return program.on_rank(comm, state)

    state, direction = program.initial(comm.rank), direction_of(program, comm.rank)
    before = {name: values.copy() for name, values in state.items()}
    if way == "plain":
        value = f(state)
        return Outcome(value, state)
    if way in ("gradient", "debug"):
        value, gradient = value_and_grad(f, comm=comm, debug=way == "debug", **options)(state)
        outcome = Outcome(value, gradient)
    else:
        with over(comm):
            if way == "tangent":
                outcome = Outcome(jvp(f, (state,), (direction,), **options)[1], {})
            else:
                outcome = Outcome(0.0, hvp(f, (state,), direction, **options))
    for name, values in before.items():
        np.testing.assert_array_equal(state[name], values, err_msg=f"{name} was changed")
    return outcome


def in_one_process(program: Program, way: str, size: int) -> list[Outcome]:
    """Return the parts of all ranks, computed without communication."""
    states = [program.initial(rank) for rank in range(size)]
    directions = [direction_of(program, rank) for rank in range(size)]

    def total(states: list[State]) -> float:
        return sum(program.on_all(states))

    if way == "plain":
        values = program.on_all(states)
        return [Outcome(v, state) for v, state in zip(values, states, strict=True)]
    if way == "tangent":
        _, tangents = jvp(program.on_all, (states,), (directions,))
        return [Outcome(tangent, {}) for tangent in tangents]
    if way == "product":
        return [Outcome(0.0, arrays) for arrays in hvp(total, (states,), directions)]
    value, gradients = value_and_grad(total)(states)
    return [Outcome(value, gradient) for gradient in gradients]


def direction_of(program: Program, rank: int) -> State:
    """Return a tangent of a rank's arrays."""
    return initial_state(program.seed + 1, rank)


def compare(
    comm: MPI.Intracomm, programs: Sequence[Program], ways: Sequence[str], **options: Any
) -> None:
    """Run the programs in these ways; each rank then checks some of them against one process.

    Raises
    ------
    AssertionError
        With the steps of the program, on the rank that checked it.
    """
    runs = [(program, way) for program in programs for way in ways]
    outcomes = [on_rank(program, way, comm, **options) for program, way in runs]
    everything = comm.allgather(outcomes)  # in order of ranks
    for k in range(comm.rank, len(runs), comm.size):
        program, way = runs[k]
        expected = in_one_process(program, way, comm.size)
        try:
            for rank, here in enumerate(everything):
                agree(here[k], expected[rank], program.tolerance, largest(expected))
        except AssertionError as error:
            error.add_note(f"{way} of the program of seed {program.seed}:\n{program.text()}")
            raise


def agree(got: Outcome, expected: Outcome, tolerance: float, scale: float) -> None:
    """Compare what one rank has; rounding is relative to the largest numbers of all ranks."""
    np.testing.assert_allclose(got.value, expected.value, rtol=tolerance, atol=tolerance * scale)
    assert got.arrays.keys() == expected.arrays.keys()
    for name, values in expected.arrays.items():
        limit = np.finfo(np.float32).eps * 100 if values.dtype == np.float32 else 0.0
        atol = max(tolerance, limit) * scale
        np.testing.assert_allclose(got.arrays[name], values, rtol=0.0, atol=atol, err_msg=name)
        assert got.arrays[name].dtype == values.dtype


def largest(outcomes: Sequence[Outcome]) -> float:
    """Return the largest absolute value of all."""
    numbers = [abs(outcome.value) for outcome in outcomes]
    arrays = [values for outcome in outcomes for values in outcome.arrays.values()]
    return float(max(1.0, *numbers, *(np.max(np.abs(values)) for values in arrays)))
