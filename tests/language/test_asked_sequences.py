"""Objects are asked for iterators, items and lengths as often as in the plain call.

Each special method of the sequences logs its call in a list that the program has captured; the
program multiplies by how many calls there were.
"""

import bisect
import heapq
import itertools
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad
from tests.support.pairs import rotating

VALUES = (1.0, 2.0, 4.0)


class Logged:
    """What logs the calls of its special methods."""

    def __init__(self, log: list[str]) -> None:
        self.log = log


class Steps(Logged):
    """An iterator."""

    i = 0

    def __iter__(self) -> Any:
        self.log.append("iter of steps")
        return self

    def __next__(self) -> float:
        self.log.append("next")
        if self.i == len(VALUES):
            raise StopIteration
        self.i += 1
        return VALUES[self.i - 1]


class Sized(Logged):
    """A sequence without an iterator of its own."""

    def __len__(self) -> int:
        self.log.append("len")
        return len(VALUES)

    def __getitem__(self, i: int) -> float:
        self.log.append(f"item {i}")
        return VALUES[i]


class Iterating(Sized):
    """A sequence with an iterator of its own."""

    def __iter__(self) -> Any:
        self.log.append("iter")
        return Steps(self.log)


class Reversible(Iterating):
    """A sequence that says what is its reverse."""

    def __reversed__(self) -> Any:
        self.log.append("reversed")
        return Steps(self.log)


KINDS = [Steps, Sized, Iterating, Reversible]
READERS: dict[str, Callable[[Any], Any]] = {
    "reversed": reversed,
    "list reversed": lambda o: list(reversed(o)),
    "next reversed": lambda o: next(reversed(o)),
    "loop reversed": lambda o: [v for v in reversed(o)],  # noqa: C416
    "list iter": lambda o: list(iter(o)),
    "tuple iter": lambda o: tuple(iter(o)),
    "iter iter": lambda o: iter(iter(o)),
    "max iter": lambda o: max(iter(o)),
    "max key": lambda o: max(o, key=lambda v: -v),
    "sum": lambda o: sum(o, 1.0),
    "sum iter": lambda o: sum(iter(o)),
    "filter": lambda o: list(filter(None, o)),
    "takewhile": lambda o: list(itertools.takewhile(bool, o)),
    "accumulate": lambda o: list(itertools.accumulate(o)),
    "groups": lambda o: [list(group) for _, group in itertools.groupby(o)],
    "groups not read": lambda o: [key for key, _ in itertools.groupby(o, lambda v: v > 1.0)],
    "tee": lambda o: list(itertools.tee(o)[1]),
    "product": lambda o: list(itertools.product(o, o)),
    "combinations": lambda o: list(itertools.combinations(o, 2)),
    "permutations": lambda o: list(itertools.permutations(o, 2)),
    "slice": lambda o: [1.0, 2.0].__setitem__(slice(0, 1), o),
    "step": lambda o: [1.0] * 6 and [1.0, 2.0, 3.0].__setitem__(slice(None, None, 1), o),
    "extend": lambda o: [1.0].extend(o),
    "nlargest": lambda o: heapq.nlargest(1, o),
    "nsmallest": lambda o: heapq.nsmallest(2, o),
    "merge": lambda o: list(heapq.merge(o, o)),
    "bisect": lambda o: bisect.bisect(o, 2.0),
    "bisect_left": lambda o: bisect.bisect_left(o, 2.0, 0, 2),
    "mean": statistics.mean,
    "fmean": statistics.fmean,
    "mode": statistics.mode,
    "stdev": statistics.stdev,
    "pvariance": lambda o: statistics.pvariance(o, 1.0),
    "harmonic_mean": statistics.harmonic_mean,
    "weighted": lambda o: statistics.harmonic_mean(o, [1.0, 2.0, 3.0]),
    "weights": lambda o: statistics.harmonic_mean([1.0, 2.0, 3.0], o),
    "from_samples": statistics.NormalDist.from_samples,
    "fromiter": lambda o: np.fromiter(o, float),
}  # fmt: skip


def may_read(read: Callable[[Any], Any], kind: type[Logged]) -> bool:
    """Return whether a function accepts a sequence."""
    try:
        read(kind([]))
    except Exception:
        return False
    return True


CASES = [(n, kind) for n, read in READERS.items() for kind in KINDS if may_read(read, kind)]


def by_gradient(f: Any, x: float) -> tuple[Any, Any]:
    return value_and_grad(f)(x)


def in_forward_mode(f: Any, x: float) -> tuple[Any, Any]:
    return jvp(f, (x,), (1.0,))


def in_a_checkpoint(f: Any, x: float) -> tuple[Any, Any]:
    return value_and_grad(lambda x: checkpoint(f, x) * 1.0)(x)


def in_debug_mode(f: Any, x: float) -> tuple[Any, Any]:
    return value_and_grad(f, debug=True)(x)


def check(derivative: Any, name: str, kind: type[Logged]) -> None:
    plain: list[str] = []
    READERS[name](kind(plain))
    log: list[str] = []
    o = kind(log)
    seen: list[str] = []

    def f(x: float) -> float:
        READERS[name](o)
        seen[:] = log
        return x * (1.0 + len(log))

    y, slope = derivative(f, 3.0)
    assert (y, slope) == (3.0 * (1 + len(plain)), 1 + len(plain))
    assert log == seen == []
    assert vars(o) == {"log": log}


MODES = [by_gradient, in_forward_mode, in_a_checkpoint, in_debug_mode]


@pytest.mark.parametrize(
    ("name", "kind", "derivative"), [(*case, mode) for case, mode in rotating(CASES, MODES)]
)
def test_calls(name: str, kind: type[Logged], derivative: Any) -> None:
    check(derivative, name, kind)


def test_iterators_are_the_objects_that_the_class_returns() -> None:
    def f(x: float) -> float:
        steps = iter(Iterating([]))
        next(steps)
        return x * steps.i * (2.0 if iter(steps) is steps else 1.0)

    assert value_and_grad(f)(3.0) == (6.0, 2.0)


def test_values_of_sequences_are_active() -> None:
    class Scaled:
        def __init__(self, x: float) -> None:
            self.x = x

        def __len__(self) -> int:
            return 3

        def __getitem__(self, i: int) -> float:
            return (VALUES[i] + 0.0) * self.x

    def f(x: float) -> float:
        scaled: Any = Scaled(x)
        backwards: Iterable[float] = reversed(scaled)
        inserted = [*iter(scaled)]
        bisect.insort(inserted, 3.0 * x)
        return (
            statistics.stdev(scaled) + statistics.harmonic_mean(scaled, scaled)
            + sum(k * v for k, v in enumerate(backwards)) + inserted[2]
            + bisect.bisect(scaled, 3.0 * x) * x
        )  # fmt: skip

    y, slope = value_and_grad(f)(2.0)
    assert y == pytest.approx(f(2.0), rel=1e-14)
    assert slope == pytest.approx((f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6, rel=1e-8)
