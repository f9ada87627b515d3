"""Functions that read a sequence of three numbers, and the sequences whose methods write."""

import array
import collections
import csv
import functools
import heapq
import io
import itertools
import json
import math
import operator
import random
import statistics
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.programs.unseen.states import Write

ONES = np.ones(3)
Reader = Callable[[Any], Any]


class Counting:
    """What the sequences have in common."""

    def __init__(self, write: Write) -> None:
        self.write = write


class Three(Counting):
    """An iterator."""

    left = 3

    def __iter__(self) -> Iterator[float]:
        return self

    def __next__(self) -> float:
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.write()
        return 1.0


class Iterable(Counting):
    """An object that has an iterator of the user's."""

    def __iter__(self) -> Iterator[float]:
        return Three(self.write)

    def __len__(self) -> int:
        return 3


class Iterating(Iterable):
    """A sequence that has an iterator of the user's."""

    def __getitem__(self, i: int) -> float:
        if i > 2:
            raise IndexError
        return 1.0


class Sequence(Counting):
    """A sequence that writes whenever it is asked."""

    def __len__(self) -> int:
        self.write()
        return 3

    def __getitem__(self, i: int) -> float:
        if i > 2:
            raise IndexError
        self.write()
        return 1.0


SEQUENCES = [Three, Iterable, Iterating, Sequence]

OF_PYTHON: dict[str, Reader] = {
    f.__name__: f
    for f in (list, tuple, sum, max, min, sorted, any, all, set, frozenset, reversed, len, iter,
              dict.fromkeys, collections.deque, collections.Counter, math.fsum, math.prod,
              statistics.mean, statistics.fmean, statistics.stdev, statistics.median,
              statistics.harmonic_mean, random.choice, operator.length_hint)
}  # fmt: skip
OF_PYTHON |= {
    "zip": lambda o: list(zip(o, o, strict=True)),
    "map": lambda o: list(map(float, o)),
    "filter": lambda o: list(filter(None, o)),
    "enumerate": lambda o: list(enumerate(o)),
    "chain": lambda o: list(itertools.chain(o, o)),
    "accumulate": lambda o: list(itertools.accumulate(o)),
    "array": lambda o: array.array("d", o),
    "join": lambda o: ",".join(map(str, o)),
    "unpacked": lambda o: [*o],
    "as arguments": lambda o: max(*o),
    "reduce": lambda o: functools.reduce(operator.add, o),
    "extend": lambda o: [].extend(o),
    "largest": lambda o: heapq.nlargest(2, o),
    "pack": lambda o: struct.pack("3d", *o),
    "writerow": lambda o: csv.writer(io.StringIO()).writerow(o),
    "dumps": lambda o: json.dumps(list(o)),
    "choices": lambda o: random.choices(o, k=2),
    "sample": lambda o: random.sample(o, 2),
}
OF_NUMPY: dict[str, Reader] = {
    f.__name__: f
    for f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.sum, np.mean, np.max,
              np.stack, np.hstack, np.vstack, np.sin, np.exp, np.cumsum, np.linalg.norm, np.shape,
              np.size, np.ndim, np.histogram, np.atleast_1d, np.ravel, np.std, np.median, np.sort,
              np.argmax, np.unique, np.diff, np.fft.fft, np.diag, np.nanmax, np.roots, np.block,
              np.asmatrix, np.ma.array, np.float64, np.isnan, np.copy, np.zeros_like)
}  # fmt: skip
OF_NUMPY |= {
    "fromiter": lambda o: np.fromiter(o, float),
    "concatenate": lambda o: np.concatenate([np.ones(1), o]),
    "dot": lambda o: np.dot(o, ONES),
    "np.add": lambda o: np.add(o, 1.0),
    "+": lambda o: o + ONES,
    "*": lambda o: ONES * o,
    "**": lambda o: ONES**o,
    "@": lambda o: ONES @ o,
    "//": lambda o: ONES // o,
    "<": lambda o: np.less(ONES, o),
    "where": lambda o: np.where(ONES > 0, o, 1.0),
    "setitem": lambda o: np.zeros(3).__setitem__(slice(None), o),
    "row": lambda o: np.zeros((2, 3)).__setitem__(0, o),
    "outer": lambda o: np.outer(o, ONES),
    "copyto": lambda o: np.copyto(np.zeros(3), o),
    "full": lambda o: np.full(3, o),
    "interp": lambda o: np.interp(0.5, [1, 2, 3], o),
    "polyval": lambda o: np.polyval(o, 2.0),
    "einsum": lambda o: np.einsum("i,i", o, ONES),
    "allclose": lambda o: np.allclose(o, 1.0),
    "meshgrid": lambda o: np.meshgrid(o, o),
    "broadcast_to": lambda o: np.broadcast_to(o, (2, 3)),
    "savetxt": lambda o: np.savetxt(io.StringIO(), o),
    "index": lambda o: ONES[o],
    "select": lambda o: np.select([ONES > 0], [o]),
    "apply_along_axis": lambda o: np.apply_along_axis(lambda v: v.sum(), 0, o),
    "convolve": lambda o: np.convolve(o, np.ones(2)),
    "pad": lambda o: np.pad(o, 1),
    "clip": lambda o: np.clip(o, 0, 1),
    "tile": lambda o: np.tile(o, 2),
    "reshape": lambda o: np.reshape(o, (3, 1)),
    "c_": lambda o: np.c_[o, o],
    "nested": lambda o: np.array([[1.0, 1.0, 1.0], o]),
    "two": lambda o: np.array([o, o]),
    "objects": lambda o: np.array([(1.0, o)], dtype=object),
    "rng.choice": lambda o: np.random.default_rng(0).choice(o),
    "rng.permutation": lambda o: np.random.default_rng(0).permutation(o),
    "Polynomial": lambda o: np.polynomial.Polynomial(o),
    "solve": lambda o: np.linalg.solve(np.eye(3), o),
    "quantile": lambda o: np.quantile(o, 0.5),
    "put": lambda o: np.put(np.zeros(3), [0, 1, 2], o),
    "searchsorted": lambda o: np.searchsorted(o, 1.0),
    "isin": lambda o: np.isin(1.0, o),
    "add.at": lambda o: np.add.at(np.zeros(3), [0, 1, 2], o),
    "add.reduce": lambda o: np.add.reduce(o),
    "multiply.outer": lambda o: np.multiply.outer(o, o),
}
READERS = OF_PYTHON | OF_NUMPY
"""From a name to a function that reads a sequence, natively in part."""
