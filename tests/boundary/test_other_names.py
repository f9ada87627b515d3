"""Objects of arguments that a pullback copies, and that are known elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest

from mooncake_py import value_and_grad, vjp
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.runtime.identities import Identities, identity_of, originals_now

pytestmark = pytest.mark.without_modes("of pullbacks")


class Node:
    def __init__(self, v: Any) -> None:
        self.v = v


class Registered:
    """Each instance is known to the class."""

    all: list[Any] = []
    live: WeakSet[Any] = WeakSet()
    by_name: dict[str, Any] = {}
    settings = {"scale": 2.0}

    def __init__(self, v: Any) -> None:
        self.v = v

    def total(self) -> Any:
        return sum(other.v for other in self.all) * self.v

    def scaled(self) -> Any:
        return self.v * self.settings["scale"]


@pytest.fixture
def registered() -> Any:
    one, other = Registered(1.3), Registered(0.7)
    Registered.all[:] = one, other
    Registered.live.update((one, other))
    Registered.by_name.update(a=one, b=other)
    yield one
    for holder in (Registered.all, Registered.live, Registered.by_name):
        holder.clear()


REGISTRIES: dict[str, Callable[[Any], Any]] = {
    "list": lambda r: sum(q.v for q in Registered.all) * r.v,
    "weak set": lambda r: sum(q.v for q in Registered.live) * r.v,
    "dict": lambda r: Registered.by_name["a"].v * r.v,
    "by the instance": lambda r: sum(q.v for q in r.all) * r.v,
    "by a method": lambda r: r.total(),
    "by getattr": lambda r: getattr(Registered, "all")[0].v * r.v,  # noqa: B009
    "by the type": lambda r: len(type(r).all) * r.v,
}


@pytest.mark.parametrize("name", REGISTRIES)
def test_registries_of_a_class_are_refused(name: str, registered: Any) -> None:
    with pytest.raises(SharedArgumentsError, match="holds objects of the arguments"):
        vjp(REGISTRIES[name], registered)
    value, _ = value_and_grad(REGISTRIES[name])(registered)
    np.testing.assert_allclose(value, REGISTRIES[name](registered))


def test_other_attributes_of_a_class_are_read(registered: Any) -> None:
    y, pullback = vjp(lambda r: r.scaled() + Registered.settings["scale"], registered)
    np.testing.assert_allclose((y, pullback(1.0)[0].v), (4.6, 2.0))


def test_a_pullback_that_waits_refuses_nothing_elsewhere(registered: Any) -> None:
    _, pullback = vjp(lambda r: r.v**2, registered)
    y, g = value_and_grad(REGISTRIES["list"])(registered)
    np.testing.assert_allclose((y, g.v, pullback(1.0)[0].v), (2.6, 3.3, 2.6))


def nodes() -> list[Node]:
    return [Node(1.3), Node(0.7)]


def test_ids_are_those_of_the_arguments() -> None:
    found = nodes()
    weights = {id(found[0]): 2.0, id(found[1]): 3.0}
    graph = {"nodes": found, "weights": weights}

    def captured(ns: Any) -> Any:
        return sum(weights.get(id(n), 100.0) * n.v for n in ns)

    def passed(g: Any) -> Any:
        return sum(g["weights"].get(i, 100.0) * n.v for i, n in zip(map(id, g["nodes"]), g["nodes"], strict=True))  # fmt: skip  # noqa: E501

    for f, argument in ((captured, found), (passed, graph)):
        y, pullback = vjp(f, argument)
        np.testing.assert_allclose(y, 4.7)
        for _ in range(2):  # the second one runs the function again
            (g,) = pullback(1.0)
            ns = g["nodes"] if f is passed else g
            np.testing.assert_allclose([n.v for n in ns], [2.0, 3.0])


def test_captured_keys_that_copies_would_not_find_are_refused() -> None:
    found = nodes()
    weights = dict(zip(found, (2.0, 3.0), strict=True))
    chosen = {found[0]}
    programs: list[Callable[[Any], Any]] = [
        lambda ns: sum(weights.get(n, 100.0) * n.v for n in ns),
        lambda ns: sum(n.v for n in ns if n in chosen),
        lambda ns: sum({"w": weights}["w"][n] * n.v for n in ns),
    ]
    for f in programs:
        with pytest.raises(SharedArgumentsError, match="finds an object of its arguments, a Node"):
            vjp(f, found)
        np.testing.assert_allclose(value_and_grad(f)(found)[0], f(found))
    assert vjp(lambda ns: ns[0].v * 2.0, found)[0] == 2.6


def test_keys_with_a_value_of_their_own_are_found() -> None:
    class Key(Node):
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Key)

    key = Key(1.3)
    weights = {key: 2.0}
    y, pullback = vjp(lambda k: weights[k] * k.v, key)
    np.testing.assert_allclose((y, pullback(1.0)[0].v), (2.6, 2.0))


def test_identities_follow_copies_of_copies() -> None:
    first, second, third = Node(1.0), Node(1.0), Node(1.0)
    one = Identities([(first, second)], [], whole=True)
    two = Identities([(second, third), (first, first)], [], whole=True)
    assert identity_of(third) == identity_of(second) == id(first)
    assert not originals_now()
    two.enter()
    assert originals_now() == {id(second): second}
    two.leave()
    del one, two
    assert identity_of(third) == id(third)
