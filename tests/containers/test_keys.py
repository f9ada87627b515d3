"""Dicts read at objects that hold active numbers: the value must be that of these numbers."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import grad, jvp
from mooncake_py.errors import DerivativeDropError

TIED = np.array([2.0, 2.0])


class OwnDict(dict[Any, Any]):
    pass


@dataclass(frozen=True)
class Point:
    at: Any
    name: Any = field(default=0, compare=False)


class Pair(NamedTuple):
    at: Any
    n: int = 1


@dataclass(eq=False)
class Own:
    at: Any
    n: int = 1


class ByNumber(Own):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByNumber) and self.at == other.at

    def __hash__(self) -> int:
        return hash(self.at)


class ByName(Own):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByName) and self.n == other.n

    def __hash__(self) -> int:
        return self.n


BY_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "dataclass": Point,
    "named tuple": Pair,
    "tuple of dataclasses": lambda a: (Point(a), 1),
    "dataclass of a tuple": lambda a: Point((a, 3)),
    "frozenset": lambda a: frozenset([a]),
    "equality of its own": ByNumber,
    "tuple of these": lambda a: (1, ByNumber(a)),
}
BY_NAMES: dict[str, Callable[[Any], Any]] = {
    "dataclass": lambda a: Point(1, a),
    "equality of its own": ByName,
    "tuple of these": lambda a: (1, ByName(a)),
}
dicts = pytest.mark.parametrize("kind", [dict, OwnDict])


def remembering(kind: type, key: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that remembers three times each of two numbers, and adds them up."""

    def f(x: Any) -> Any:
        memory = kind()

        def tripled(v: Any) -> Any:
            if key(v) not in memory:
                memory[key(v)] = 3 * v
            return memory[key(v)]

        a, b = x[0], x[1]
        return tripled(a) + 10 * tripled(b)

    return f


@dicts
@pytest.mark.parametrize("key", BY_NUMBERS.values(), ids=BY_NUMBERS)
def test_keys_equal_by_other_numbers_are_refused(kind: type, key: Any) -> None:
    with pytest.raises(DerivativeDropError, match="for another one that is equal") as caught:
        grad(remembering(kind, key))(TIED)
    assert "was computed for another active number" in caught.value.why


@dicts
@pytest.mark.parametrize("key", BY_NUMBERS.values(), ids=BY_NUMBERS)
def test_keys_of_the_same_numbers_find_their_values(kind: type, key: Any) -> None:
    f = remembering(kind, key)
    x = np.array([2.0, 5.0])
    assert grad(f)(x).tolist() == [3.0, 30.0]
    assert jvp(f, (x,), (np.array([1.0, 0.5]),)) == (156.0, 18.0)


@dicts
@pytest.mark.parametrize("key", BY_NUMBERS.values(), ids=BY_NUMBERS)
def test_numbers_that_move_alike_are_one_in_forward_mode(kind: type, key: Any) -> None:
    f = remembering(kind, key)
    assert jvp(f, (TIED,), (np.ones(2),)) == (66.0, 33.0)
    with pytest.raises(DerivativeDropError, match="for another one that is equal"):
        jvp(f, (TIED,), (np.array([1.0, 0.0]),))


@dicts
@pytest.mark.parametrize("key", BY_NAMES.values(), ids=BY_NAMES)
def test_keys_equal_by_names_find_what_the_plain_call_finds(kind: type, key: Any) -> None:
    f = remembering(kind, key)
    assert f(TIED) == 66.0
    assert grad(f)(TIED).tolist() == [33.0, 0.0]


@pytest.mark.parametrize("key", BY_NUMBERS.values(), ids=BY_NUMBERS)
@pytest.mark.parametrize("read", [
    lambda memory, key: memory.get(key), lambda memory, key: memory.pop(key),
    lambda memory, key: memory.setdefault(key, 1.0),
])  # fmt: skip
def test_what_was_stored_before_the_call_is_refused(key: Any, read: Any) -> None:
    memory = {key(2.0): 4.0}
    with pytest.raises(DerivativeDropError, match="was computed before the call"):
        grad(lambda x: read(memory, key(x)) * x)(2.0)
    assert memory == {key(2.0): 4.0}


def test_a_class_of_the_function_compares_by_names_too() -> None:
    class Local(Own):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Local) and self.n == other.n

        def __hash__(self) -> int:
            return self.n

    f = remembering(dict, Local)
    assert grad(f)(TIED).tolist() == [33.0, 0.0]


def test_weak_references_are_equal_as_their_objects_are() -> None:
    def f(x: Any) -> Any:
        a, b = ByNumber(x[0]), ByNumber(x[1])
        memory = {weakref.ref(a): x[0]}
        return memory[weakref.ref(a)] * memory[weakref.ref(b)]

    def by_identity(x: Any) -> Any:
        a, b = Own(x[0]), Own(x[1])
        memory = {weakref.ref(a): x[0], weakref.ref(b): x[1]}
        return memory[weakref.ref(a)] * memory[weakref.ref(b)] ** 2

    with pytest.raises(DerivativeDropError, match="for another one that is equal"):
        grad(f)(TIED)
    assert grad(by_identity)(TIED).tolist() == [4.0, 8.0]


def test_ints_under_equal_keys_are_constants() -> None:
    numbers = {Point(2.0): 5}
    assert grad(lambda x: numbers[Point(x)] * x)(2.0) == 5.0


@pytest.mark.parametrize("key", BY_NUMBERS.values(), ids=BY_NUMBERS)
def test_an_element_read_twice_is_one_number_until_it_is_written(key: Any) -> None:
    def read_twice(x: Any) -> Any:
        memory = {key(x[0]): x[1]}
        return memory[key(x[0])]

    def written(x: Any) -> Any:
        memory = {key(x[0]): x[1]}
        x[0] = x[1]
        return memory[key(x[0])]

    assert grad(read_twice)(np.array([2.0, 5.0])).tolist() == [0.0, 1.0]
    with pytest.raises(DerivativeDropError, match="for another one that is equal"):
        grad(written)(TIED)
