"""Cached functions that are called for objects which equal others, by names or by numbers."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are those of the test")

X = np.array([1.0, 1.0, 0.3])
MODES: dict[str, Callable[..., Any]] = {
    "reverse": lambda f: value_and_grad(f)(X),
    "forward": lambda f: value_and_grad(f, mode="forward")(X),
    "debug": lambda f: value_and_grad(f, debug=True)(X),
    "vjp": lambda f: (lambda y, pullback: (y, pullback(1.0)[0]))(*vjp(f, X)),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(X),
}
Named = namedtuple("Named", "h n")


@dataclass(frozen=True)
class Frozen:
    h: Any
    n: Any


@dataclass(frozen=True)
class Partly:
    h: Any = field(compare=False)
    n: Any = 1


class Own:
    def __init__(self, h: Any, n: Any) -> None:
        self.h, self.n = h, n


class ByName(Own):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByName) and self.n == other.n

    def __hash__(self) -> int:
        return hash(self.n)


class ByIdentity(Own):
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class ByKey(Own):
    @property
    def key(self) -> Any:
        return type(self).__name__, self.n

    def made(self) -> Any:
        return self.key

    def __eq__(self, other: Any) -> bool:
        return self.made() == other.made()

    def __hash__(self) -> int:
        return hash(self.made())


class ByNumber(Own):
    def __eq__(self, other: Any) -> bool:
        return (self.h, self.n) == (other.h, other.n)

    def __hash__(self) -> int:
        return hash((self.h, self.n))


class Slotted:
    __slots__ = ("h", "n")

    def __init__(self, h: Any, n: Any) -> None:
        self.h, self.n = h, n

    def __eq__(self, other: Any) -> bool:
        return self.h == other.h

    def __hash__(self) -> int:
        return 1


class Node:
    """An object that compares by identity, with a number that others read by a method."""

    def __init__(self, h: Any) -> None:
        self.h = h

    def level(self) -> Any:
        return self.h


class ByNode(Own):
    def __eq__(self, other: Any) -> bool:
        return self.n.level() == other.n.level()

    def __hash__(self) -> int:
        return 1


class ByDefault(Own):
    @functools.cached_property
    def kept(self) -> Any:
        return self.h

    def __eq__(self, other: Any) -> bool:
        return self.kept == other.kept

    def __hash__(self) -> int:
        return 1


class ByBytes(Own):
    def __eq__(self, other: Any) -> bool:
        return self.h.tobytes() == other.h.tobytes()

    def __hash__(self) -> int:
        return 1


class BySomething(Own):
    def __eq__(self, other: Any) -> bool:
        return getattr(self, "h") == getattr(other, "h")  # noqa: B009

    def __hash__(self) -> int:
        return 1


def cached_twice(one: Callable[[Any], Any], other: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a program whose value tells how often a cached function runs."""

    def f(x: Any) -> Any:
        runs = [0]

        @functools.cache
        def energy(key: Any) -> Any:
            runs[0] += 1
            h = key[0] if isinstance(key, tuple) else key.h
            return np.sum(h) ** 2 * 1.5

        return (energy(one(x)) + 3.0 * energy(other(x))) * runs[0] + x[2]

    return f


# The two keys, and the gradient.
ONE = [12.0, 0.0, 1.0]  # the first result is used for both
OWN = [3.0, 9.0, 1.0]  # the second key has the derivative of its own number
FIRST: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], list[float]]] = {
    "tuple": (lambda x: (x[0], "a"), lambda x: (x[0], "a"), ONE),
    "tuple of another": (lambda x: (x[0], "a"), lambda x: (x[1], "a"), OWN),
    "nested tuple": (lambda x: (x[0], ("a", x[2])), lambda x: (x[0], ("a", x[2])), ONE),
    "named tuple": (lambda x: Named(x[0], 1), lambda x: Named(x[0], 1), ONE),
    "named tuple of another": (lambda x: Named(x[0], 1), lambda x: Named(x[1], 1), OWN),
    "named and plain": (lambda x: Named(x[0], 1), lambda x: (x[0], 1), ONE),
    "dataclass": (lambda x: Frozen(x[0], 1), lambda x: Frozen(x[0], 1), ONE),
    "dataclass of another": (lambda x: Frozen(x[0], 1), lambda x: Frozen(x[1], 1), OWN),
    "dataclass of a constant": (lambda x: Frozen(1.0, 1), lambda x: Frozen(x[1], 1), [0, 9, 1]),
    "made alike": (lambda x: Frozen(x[0] * 2 - 1, 1), lambda x: Frozen(x[0] + x[0] - 1, 1),
                   [24.0, 0.0, 1.0]),
    "field that is not compared": (lambda x: Partly(x[0]), lambda x: Partly(x[1]), ONE),
    "name": (lambda x: ByName(x[0], "a"), lambda x: ByName(x[1], "a"), ONE),
    "name of another number": (lambda x: ByName(x[0], "a"), lambda x: ByName(x[2], "a"), ONE),
    "name and a constant": (lambda x: ByName(x[0], "a"), lambda x: ByName(5.0, "a"), ONE),
    "name of an array": (lambda x: ByName(x[:1], "a"), lambda x: ByName(x[1:], "a"), ONE),
    "name in a tuple": (lambda x: (x[0], ByName(x[0], 1)), lambda x: (x[0], ByName(x[1], 1)), ONE),
    "method of a key": (lambda x: ByKey(x[0], 1), lambda x: ByKey(x[2], 1), ONE),
    "number of one origin": (lambda x: ByNumber(x[0], 1), lambda x: ByNumber(x[0], 1), ONE),
}  # fmt: skip


@pytest.mark.parametrize(("name", "mode"), rotating(FIRST, MODES, times=2))
def test_the_cache_is_that_of_the_plain_call(name: str, mode: str) -> None:
    one, other, gradient = FIRST[name]
    f = cached_twice(one, other)
    value, found = MODES[mode](f)
    assert value == f(X)
    np.testing.assert_allclose(found, gradient, rtol=1e-12)


REFUSED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "numbers": (lambda x: ByNumber(x[0], 1), lambda x: ByNumber(x[1], 1)),
    "arrays": (lambda x: ByBytes(x[:1], 1), lambda x: ByBytes(x[1:2], 1)),
    "unknown": (lambda x: BySomething(x[0], 1), lambda x: BySomething(x[1], 1)),
    "slots": (lambda x: Slotted(x[0], 1), lambda x: Slotted(x[1], 1)),
    "node": (lambda x: ByNode(x[0], Node(x[0])), lambda x: ByNode(x[1], Node(x[1]))),
    "descriptor": (lambda x: ByDefault(x[0], 1), lambda x: ByDefault(x[1], 1)),
    "in a tuple": (lambda x: (x[0], ByNumber(x[0], 1)), lambda x: (x[0], ByNumber(x[1], 1))),
}


@pytest.mark.parametrize(("name", "mode"), rotating(REFUSED, MODES, times=2))
def test_code_that_compares_active_numbers_is_refused(name: str, mode: str) -> None:
    with pytest.raises(DerivativeDropError, match="active numbers in them have been compared"):
        MODES[mode](cached_twice(*REFUSED[name]))


@pytest.mark.parametrize("mode", MODES)
def test_an_object_that_changes_is_the_same_key(mode: str) -> None:
    def f(x: Any) -> Any:
        mesh = ByIdentity(x * 1.0, 1)
        power = functools.cache(lambda mesh: mesh.h.sum() ** 2)
        first = power(mesh)
        mesh.h[0] *= 3.0
        return first + power(mesh)

    value, found = MODES[mode](f)
    assert value == f(X)
    np.testing.assert_allclose(found, 4 * X.sum() * np.ones(3))


@pytest.mark.plain
def test_memoised_recursion_over_states_runs_once_for_each() -> None:
    runs = []

    def f(x: Any) -> Any:
        @functools.cache
        def value(state: Frozen) -> Any:
            runs.append(state.n)
            if state.n <= 1:
                return state.h
            return 0.5 * value(Frozen(state.h, state.n - 1)) + 0.5 * value(
                Frozen(state.h, state.n - 2)
            )

        y = value(Frozen(x[0], 18))
        assert len(runs) == 19
        return y

    np.testing.assert_allclose(value_and_grad(f)(X)[1], [1.0, 0.0, 0.0])


def test_methods_that_write_are_refused() -> None:
    seen: list[Any] = []

    class Counting(Own):
        def __eq__(self, other: Any) -> bool:
            seen.append(other)
            return True

        def __hash__(self) -> int:
            return 1

    with pytest.raises(DerivativeDropError, match="changes something"):
        value_and_grad(cached_twice(lambda x: Counting(x[0], 1), lambda x: Counting(x[1], 1)))(X)


@dataclass(frozen=True)
class Settings:
    by_name: Any = field(hash=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kept", [lambda v: {"h": v}, lambda v: {1, v}], ids=["dict", "set"])
def test_numbers_in_dicts_and_sets_that_are_compared_count(mode: str, kept: Any) -> None:
    @functools.cache
    def doubled(settings: Settings) -> Any:
        values = settings.by_name
        return 2 * (values["h"] if isinstance(values, dict) else max(values))

    def f(x: Any) -> Any:
        return doubled(Settings(kept(3 * x[0]))) + 10 * doubled(Settings(kept(3 * x[1])))

    value, gradient = MODES[mode](f)
    assert value == 66.0
    np.testing.assert_array_equal(gradient, [6.0, 60.0, 0.0])
