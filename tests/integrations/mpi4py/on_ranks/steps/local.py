"""Steps in which every rank computes by itself, in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from tests.integrations.mpi4py.on_ranks.steps.state import State, table_of

__all__ = ["LOCAL", "Bound", "Local"]


def mix_real(state: State, rank: int) -> None:
    x, y = state["x"], state["y"]
    x += 0.4 * np.sin(y) * (1.0 + 0.1 * rank)
    y[1:] *= 0.5 + np.cos(x[:-1])


def smooth_real(state: State, rank: int) -> None:
    x = state["x"]
    for _ in range(2):
        x[1:-1] += 0.25 * (x[2:] - 2.0 * x[1:-1] + x[:-2])
    x[0] -= 0.1 * (rank + 1) * x[-1] ** 2


def mix_complex(state: State, rank: int) -> None:
    z, v = state["z"], state["v"]
    z *= np.exp(1j * (v.real - 0.2 * rank))
    v[::2] += 0.3 * np.conj(z[::2]) * z[::2]
    v /= 1.0 + np.abs(v) ** 2


def complex_to_real(state: State, rank: int) -> None:
    x, z = state["x"], state["z"]
    x += 0.3 * (z * np.conj(z)).real / (1.0 + rank)
    np.sin(x, out=x)


def real_to_complex(state: State, rank: int) -> None:
    y, v = state["y"], state["v"]
    v.real[:] = np.tanh(y + v.imag)
    v.imag[1:3] *= y[:2] + 0.1 * rank


def mix_single(state: State, rank: int) -> None:
    s, t = state["s"], state["t"]
    s += np.float32(0.5) * np.cos(t)
    t[1:] *= s[:-1] - np.float32(0.1 * rank)


def single_to_real(state: State, rank: int) -> None:
    state["x"][:4] += 0.2 * state["s"][:4] * state["t"][2:6]
    state["s"][:3] = np.sin(state["y"][:3] + rank)


def fill_table(state: State, rank: int) -> None:
    u = table_of(state)
    u[1:3, :] += 0.3 * state["x"][:5] * u[0:2, :]
    u[:, 2] = np.sin(u[:, 1] * u[:, 3] + 0.1 * rank)


def read_table(state: State, rank: int) -> None:
    u = table_of(state)
    state["y"][:4] += 0.3 * u[:, 4] * u[:, 0]
    state["x"][:5] -= 0.2 * u[3] ** 2
    u[::2] *= 0.9 - 0.05 * rank


LOCAL = {
    "real": [mix_real, smooth_real],
    "complex": [mix_complex, complex_to_real, real_to_complex],
    "single": [mix_single, single_to_real],
    "table": [fill_table, read_table],
}
"""What a rank can do by itself, by the arrays that it needs; all are nonlinear."""


@dataclass(frozen=True)
class Local:
    """Each rank changes its own arrays."""

    change: Callable[[State, int], None]

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        self.change(state, comm.rank)

    def on_all(self, states: Sequence[State]) -> None:
        for rank, state in enumerate(states):
            self.change(state, rank)


@dataclass(frozen=True)
class Bound:
    """Bring what is large near three: without it, products of products overflow."""

    names: tuple[str, ...]

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        self.bound(state)

    def on_all(self, states: Sequence[State]) -> None:
        for state in states:
            self.bound(state)

    def bound(self, state: State) -> None:
        for name in self.names:
            values = state[name]
            values /= np.sqrt(1.0 + 0.1 * np.abs(values) ** 2)
