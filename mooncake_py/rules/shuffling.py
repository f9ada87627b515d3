"""Order at random: shuffle, permutation, choice.

The same draws that shuffle an array shuffle its positions, and these are then an index: values
move by indexing, and the generator moves on as in the primal.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator, RandomState

from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.inplace import refuse_overlaps
from mooncake_py.tangents.memory import has_overlaps

__all__: list[str] = []


# NumPy's generators, new and old.


@overlay(Generator.shuffle)
def shuffle(self: Generator, x: Any, axis: int = 0) -> None:
    if isinstance(x, ndarray):
        rows = np.moveaxis(x, axis, 0)
        put_in_order(rows, shuffled(self, len(rows)))
    else:
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        x[:] = [x[i] for i in shuffled(self, len(x)).tolist()]


@overlay(RandomState.shuffle)
def legacy_shuffle(self: RandomState, x: Any) -> None:
    order = shuffled(self, len(x))
    if isinstance(x, ndarray):
        put_in_order(x, order)
    else:
        x[:] = [x[i] for i in order.tolist()]


def put_in_order(rows: ndarray, order: ndarray) -> None:
    """Put the rows of an array into an order, swap by swap if they share memory."""
    if not has_overlaps(rows):
        rows[...] = rows[order]
        return
    for i, j in swaps_to(order):
        row = rows[j].copy()
        rows[j] = rows[i]
        rows[i] = row


def swaps_to(order: ndarray) -> list[tuple[int, int]]:
    """Return the swaps, from the last place to the first, by which rows get into an order."""
    now = list(range(len(order)))  # which row is at a place
    where = now.copy()  # the places of rows
    swaps = []
    for i, row in reversed(list(enumerate(order.tolist()))):
        j = where[row]
        if i != j:
            swaps.append((i, j))
            now[j], where[now[i]] = now[i], j
    return swaps


@overlay(random.Random.shuffle)
def python_shuffle(self: random.Random, x: Any) -> None:
    """Swap element by element, as the original: rows of an array are not permuted."""
    for i, j in swaps(self, len(x)):
        x[i], x[j] = x[j], x[i]


@overlay(random.Random.choice)
def python_choice(self: random.Random, seq: Any) -> Any:
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[python_chosen(self, len(seq))]


@overlay(random.Random.choices)
def python_choices(
    self: random.Random,
    population: Any,
    weights: Any = None,
    *,
    cum_weights: Any = None,
    k: int = 1,
) -> list[Any]:
    picked = python_chosen_several(self, len(population), weights, cum_weights, k)
    return [population[i] for i in picked]


@overlay(Generator.permutation)
def permutation(self: Generator, x: Any, axis: int = 0) -> Any:
    if isinstance(x, (int, np.integer)):
        return shuffled(self, x, "permutation")
    values = np.asarray(x)
    rows = np.moveaxis(values, axis, 0)
    found = rows[shuffled(self, len(rows))]
    return found if axis == 0 else np.moveaxis(found, 0, axis)


@overlay(RandomState.permutation)
def legacy_permutation(self: RandomState, x: Any) -> Any:
    if isinstance(x, (int, np.integer)):
        return shuffled(self, x, "permutation")
    rows = np.asarray(x)
    return rows[shuffled(self, len(rows))]


@overlay(Generator.permuted)
def permuted(self: Generator, x: Any, *, axis: Any = None, out: Any = None) -> Any:
    values = np.asarray(x)
    result = np.reshape(values, -1)[permuted_positions(self, like(values), axis)]
    if out is None:
        return result
    refuse_overlaps(out)
    out[...] = result
    return out


@overlay(Generator.choice)
def choice(
    self: Generator,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Any:
    if isinstance(a, (int, np.integer)):
        return chosen(self, a, size, replace, p, shuffle=shuffle)
    values = np.asarray(a)
    if values.ndim == 0:
        return chosen(self, a, size, replace, p, shuffle=shuffle)  # an int, or it raises
    picked = chosen(self, values.shape[axis], size, replace, p, shuffle=shuffle)
    return returned(np.take(values, picked, axis), picked)


@overlay(RandomState.choice)
def legacy_choice(
    self: RandomState, a: Any, size: Any = None, replace: bool = True, p: Any = None
) -> Any:
    if isinstance(a, (int, np.integer)):
        return chosen(self, a, size, replace, p)
    values = np.asarray(a)
    if values.ndim != 1:
        return chosen(self, values, size, replace, p)  # an int, or it raises
    picked = chosen(self, len(values), size, replace, p)
    return returned(values[picked], picked)


def returned(y: Any, picked: Any) -> Any:
    """Return the picked items; of ``size=()`` NumPy returns an array, of None a number."""
    return np.asarray(y) if isinstance(picked, ndarray) else y


def shuffled(generator: Any, n: Any, method: str = "shuffle") -> ndarray:
    """Return the positions 0 to n - 1 as the generator orders them."""
    if method == "permutation":
        return generator.permutation(n)
    order = np.arange(n)
    generator.shuffle(order)
    return order


def swaps(generator: random.Random, n: int) -> list[tuple[int, int]]:
    """Return the swaps that shuffling a list of length `n` makes."""
    recorder = RecordedSwaps(range(n))
    generator.shuffle(recorder)
    return list(zip(recorder.writes[::2], recorder.writes[1::2], strict=True))


class RecordedSwaps(list[int]):
    """A list that notes where it is written; each swap makes two writes."""

    def __init__(self, items: Iterable[int]) -> None:
        super().__init__(items)
        self.writes: list[int] = []

    def __setitem__(self, i: Any, value: Any) -> None:
        super().__setitem__(i, value)
        self.writes.append(i)


def like(x: ndarray) -> ndarray:
    """Return the flat positions in an array laid out as `x`, in whose order `permuted` goes."""
    positions = np.empty_like(x, np.intp)
    positions[...] = np.arange(x.size).reshape(x.shape)
    return positions


def permuted_positions(generator: Generator, positions: ndarray, axis: Any) -> ndarray:
    """Return the positions that `permuted` puts in place of others."""
    return generator.permuted(positions, axis=axis)


def chosen(generator: Any, n: Any, size: Any, replace: bool, p: Any, **options: Any) -> Any:
    """Return the positions that `choice` picks."""
    return generator.choice(n, size, replace, p, **options)


def python_chosen(generator: random.Random, n: int) -> int:
    """Return the position that `choice` picks."""
    return generator.choice(range(n))


def python_chosen_several(
    generator: random.Random, n: int, weights: Any, cum_weights: Any, k: int
) -> list[int]:
    """Return the positions that `choices` picks."""
    return generator.choices(range(n), weights, cum_weights=cum_weights, k=k)


zero_derivative(
    shuffled, swaps, swaps_to, like, permuted_positions, chosen,
    python_chosen, python_chosen_several,
    because="draws without parameters that have a derivative",
)  # fmt: skip
