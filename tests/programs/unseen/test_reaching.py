"""Python code that native code calls, and that reads active data: refused, or derived."""

import csv
import ctypes
import enum
import io
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, jvp, value_and_grad

X = np.array([0.7, 1.3])


def sequence(a: Any, log: list[Any]) -> Any:
    class Sequence:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, i: int) -> Any:
            if i > 1:
                raise IndexError
            log.append(1)
            return a[i]

    return Sequence()


def with_method(name: str, run: Callable[[], Any]) -> Any:
    return type("Hooked", (), {name: lambda self, *args: run()})()


def objects(name: str, a: Any) -> np.ndarray:
    return np.array([with_method(name, lambda: a[0]), 1.0][: 1 + (name == "__add__")], object)


def of_sequence(read: Callable[[Any], Any]) -> Callable[[Any, list[Any]], Any]:
    return lambda a, log: np.sum(read(sequence(a, log)))


def into(a: Any, log: list[Any]) -> Any:
    b = np.zeros(2)
    b[:] = sequence(a, log)
    return b.sum()


def in_place(a: Any, log: list[Any]) -> Any:
    b = np.ones(2)
    b += sequence(a, log)
    return b.sum()


def kind(a: Any, log: list[Any]) -> Any:
    class Kind(enum.Enum):
        A = 1

        @classmethod
        def _missing_(cls, value: object) -> Any:
            log.append(a[0])
            return cls.A

    Kind(7)
    return log[-1]


def lines(a: Any, log: list[Any]) -> Any:
    def step() -> str:
        log.append(a[0])
        return "a,b"

    found: Any = iter(step, None)
    next(csv.reader(itertools.islice(found, 3)))
    return log[-1]


def callback(a: Any, log: list[Any]) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_double)(lambda: float(a[0]))()


def index(a: Any, log: list[Any]) -> Any:
    def run() -> int:
        log.append(a[0])
        return 1

    return [1.0, 2.0][with_method("__index__", run)] * log[-1]


PROGRAMS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "array": of_sequence(np.array),
    "sum": of_sequence(np.sum),
    "sin": of_sequence(np.sin),
    "+": of_sequence(lambda s: s + np.ones(2)),
    "*": of_sequence(lambda s: np.ones(2) * s),
    "fsum": of_sequence(math.fsum),
    "choice": of_sequence(lambda s: random.Random(0).choice(s)),
    "permutation": of_sequence(lambda s: np.random.default_rng(0).permutation(s)),
    "objects": lambda a, log: (objects("__add__", a) + 1)[0],
    "sum of objects": lambda a, log: np.sum(objects("__add__", a)),
    "sin of objects": lambda a, log: np.sin(objects("sin", a))[0],
    "converters": lambda a, log: np.loadtxt(io.StringIO("1"), converters={0: lambda s: a[0]}).sum(),
    **{f.__name__: f for f in (into, in_place, kind, lines, callback, index)},
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_or_refused(name: str) -> None:
    def f(x: Any) -> Any:
        log: list[Any] = []
        y = PROGRAMS[name](x * 2.0, log)
        return y * x[1] * (1 + len(log))

    slopes = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    try:
        value, gradient = value_and_grad(f)(X)
        _, slope = jvp(f, (X,), (np.array([1.0, 0.0]),))
    except MooncakeError:
        assert name not in ("index", "fsum", "sin")
        return
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
    np.testing.assert_allclose(slope, slopes[0], rtol=1e-6)
