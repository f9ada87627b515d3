"""Arguments and the objects that other names lead to: whether they are one is asked in many ways.

A derivative may run its function on copies of its arguments; the program must not notice.
"""

import collections
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import SharedArgumentsError, checkpoint, jvp, value_and_grad, vjp, zero_tangent
from tests.support.pairs import rotating


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


class ByIdentity(Node):
    """An object whose class says in Python that it equals only itself."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


@dataclass
class Edge:
    node: Any


class Pair(NamedTuple):
    node: Any
    weight: float


MADE: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "object": (lambda: Node(3.0), lambda o: o.value),
    "by identity": (lambda: ByIdentity(3.0), lambda o: o.value),
    "list": (lambda: [3.0, 1.0], lambda o: o[0]),
    "dict": (lambda: {"a": 3.0}, lambda o: o["a"]),
    "array": (lambda: np.array([3.0, 1.0]), lambda o: o[0]),
}
IDENTITY: dict[str, Callable[[Any, Any], Any]] = {
    "is": lambda z, h: z is h.one,
    "is not": lambda z, h: z is not h.one,
    "chain": lambda z, h: h.one is z is h.several[1],
    "of operator": lambda z, h: operator.is_(z, h.one),
    "item": lambda z, h: h.several[1] is z,
    "of any": lambda z, h: any(v is z for v in h.several),
    "kept": lambda z, h: [v for v in h.several if v is not z],
    "id": lambda z, h: id(z) == id(h.one),
    "by id": lambda z, h: h.by_id.get(id(z), 0.0),
}
EQUALITY: dict[str, Callable[[Any, Any], Any]] = {
    "in": lambda z, h: z in h.several,
    "not in": lambda z, h: z not in tuple(h.several),
    "in values": lambda z, h: z in {"a": h.one}.values(),
    "contains": lambda z, h: operator.contains(h.several, z),
    "in a deque": lambda z, h: z in collections.deque(h.several),
    "index": lambda z, h: h.several.index(z),
    "count": lambda z, h: h.several.count(z),
    "remove": lambda z, h: (h.several.remove(z), len(h.several))[1],
    "index of a tuple": lambda z, h: tuple(h.several).index(z),
    "count of a tuple": lambda z, h: tuple(h.several).count(z),
    "index of a deque": lambda z, h: collections.deque(h.several).index(z),
    "index of operator": lambda z, h: operator.indexOf(h.several, z),
    "count of operator": lambda z, h: operator.countOf(h.several, z),
    "equal": lambda z, h: z == h.one,
    "not equal": lambda z, h: z != h.one,
    "lists": lambda z, h: [1, (z, [z])] == [1, (h.one, [h.one])],
    "dicts": lambda z, h: {"a": z} != {"a": h.one},
    "deques": lambda z, h: collections.deque([z]) == collections.deque([h.one]),
    "dataclasses": lambda z, h: Edge(z) == Edge(h.one),
    "sought dataclass": lambda z, h: [Edge(h.several[0]), Edge(h.one)].index(Edge(z)),
    "named tuples": lambda z, h: Pair(z, 1.0) == Pair(h.one, 1.0),
}
HASHES: dict[str, Callable[[Any, Any], Any]] = {
    "hash": lambda z, h: hash(z) == hash(h.one),
}


class Holder:
    """What other names than the argument lead to."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self.one = made()
        self.several = [made(), self.one]
        if type(self.one) in (list, dict):
            self.several[0].clear()
        self.by_id = {id(self.one): 2.0}


def of_pullback(f: Any, o: Any) -> Any:
    y, pullback = vjp(f, o)
    pullback(1.0)
    return y


DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, o: value_and_grad(f)(o)[0],
    "vjp": of_pullback,
    "jvp": lambda f, o: jvp(f, (o,), (zero_tangent(o),))[0],
    "debug": lambda f, o: value_and_grad(f, debug=True)(o)[0],
    "checkpoint": lambda f, o: of_pullback(lambda o: checkpoint(f, o) * 1.0, o),
    "inner": lambda f, o: value_and_grad(lambda x: vjp(f, o)[0] * x)(1.0)[0],
}


def cases() -> Iterator[tuple[str, str]]:
    for of in MADE:
        for table in (IDENTITY, *(() if of == "array" else (EQUALITY,))):
            yield from ((of, name) for name in table)
    yield from (("object", name) for name in HASHES)


def check(of: str, name: str, mode: str) -> None:
    made, read = MADE[of]
    asked = {**IDENTITY, **EQUALITY, **HASHES}[name]
    holder = Holder(made)

    def f(z: Any, holder: Holder = holder) -> Any:
        answer = asked(z, holder)
        return read(z) * (1.0 + (len(answer) if isinstance(answer, list) else answer))

    expected = f(holder.one)
    if name == "remove":
        holder.several.append(holder.one)
    assert DERIVATIVES[mode](f, holder.one) == expected, mode


@pytest.mark.parametrize(
    ("of", "name", "mode"), [(*case, mode) for case, mode in rotating(cases(), DERIVATIVES)]
)
def test_programs(of: str, name: str, mode: str) -> None:
    check(of, name, mode)


def test_the_derivative_is_that_of_the_argument() -> None:
    nodes = [Node(2.0), Node(3.0)]

    def f(z: Any) -> Any:
        return z.value * nodes[nodes.index(z)].value

    y, pullback = vjp(f, nodes[1])
    assert (y, pullback(1.0)[0].value) == (9.0, 3.0)


@pytest.mark.without_modes("what vjp refuses is the subject")
@pytest.mark.parametrize("cls", [Node, ByIdentity])
def test_keys_are_refused(cls: Any) -> None:
    node = cls(3.0)
    weights = {node: 2.0}
    with pytest.raises(SharedArgumentsError, match="in a dict"):
        vjp(lambda z: z.value * weights[z], node)
    assert value_and_grad(lambda z: z.value * weights[z])(node)[0] == 6.0


def test_objects_made_within_are_others() -> None:
    node = Node(3.0)

    def f(z: Any) -> Any:
        other = Node(z.value)
        return z.value * (1.0 if other is z or other in [z, node] else 2.0)

    assert of_pullback(f, node) == 6.0
