"""What a call hands out, as aux or as output: intact copies, though the end undoes all changes."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import threading
from array import array
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.boundary.outgoing import independent
from mooncake_py.errors import DerivativeDropError
from mooncake_py.modes.reverse.context import ReverseContext

X = np.array([0.3, -1.2, 0.7])


class Report:
    kind = "plain"

    def __init__(self, worst: Any, **more: Any) -> None:
        self.worst = worst
        self.__dict__.update(more)

    def doubled(self) -> Any:
        return 2 * self.worst


class Slotted:
    __slots__ = ("__hidden", "open", "unset")

    def __init__(self, hidden: Any) -> None:
        self.__hidden = hidden
        self.open = [hidden]

    def hidden(self) -> Any:
        return self.__hidden


class Both(Slotted):
    def __init__(self, hidden: Any) -> None:
        super().__init__(hidden)
        self.extra = hidden * 2


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    x: Any


class Pair(NamedTuple):
    left: Any
    right: Any


class Bag(list):
    pass


class Table(dict):
    pass


class Level(enum.Enum):
    LOW = 1.0


class Failure(Exception):
    def __init__(self, text: str, size: Any) -> None:
        super().__init__(text, size)
        self.size = size


def aux_of(make: Any, x: Any = X) -> Any:
    """Return the auxiliary output of `make` for an argument that the call then overwrites."""

    def f(x: Any) -> Any:
        x *= 2
        return np.sum(x), make(x)

    x = x.copy()
    (_, aux), g = value_and_grad(f, has_aux=True)(x)
    np.testing.assert_array_equal(g, 2.0)
    np.testing.assert_array_equal(x, X)
    return aux


def plain(value: Any, expected: float) -> None:
    """Check that a value is a number of NumPy's or Python's own."""
    assert type(value) in (float, np.float64)
    assert value == pytest.approx(expected)


def test_object_keeps_its_attributes():
    report = aux_of(lambda x: Report(x[0], all=x, parts={"one": [x[1]]}))
    assert type(report) is Report
    plain(report.worst, 0.6)
    plain(report.doubled(), 1.2)
    plain(report.parts["one"][0], -2.4)
    np.testing.assert_array_equal(report.all, 2 * X)
    assert report.kind == "plain"


def test_object_as_part_of_an_output_of_vjp():
    (y, report), pullback = vjp(lambda x: (x * 3, Report(x[0])), X)
    np.testing.assert_allclose(y, 3 * X)
    plain(report.worst, 0.3)
    np.testing.assert_array_equal(pullback((np.ones(3), None))[0], 3.0)
    plain(report.worst, 0.3)
    np.testing.assert_allclose(y, 3 * X)


@pytest.mark.parametrize("cls", [Slotted, Both])
def test_slots_and_private_names(cls):
    s = aux_of(lambda x: cls(x[0]))
    plain(s.hidden(), 0.6)
    plain(s.open[0], 0.6)
    assert not hasattr(s, "unset")
    if cls is Both:
        plain(s.extra, 1.2)


def test_dataclasses_and_namedtuples():
    point, fixed, pair = aux_of(lambda x: (Point(x[0]), Fixed(x[1]), Pair(x[2], right=x)))
    assert type(point) is Point
    plain(point.x, 0.6)
    assert point.y == []
    assert type(fixed) is Fixed
    plain(fixed.x, -2.4)
    assert type(pair) is Pair
    plain(pair.left, 1.4)
    np.testing.assert_array_equal(pair.right, 2 * X)


def fill(container: Any, add: str, *values: Any) -> Any:
    for value in values:
        getattr(container, add)(value)
    return container


def test_containers_of_every_kind():
    aux = aux_of(
        lambda x: {
            "list": fill([], "append", x[0]),
            "set": fill(set(), "add", x[0], 1),
            "frozen": frozenset([x[0]]),
            "deque": fill(collections.deque(maxlen=2), "append", x[0], x[1], x[2]),
            "ordered": fill(collections.OrderedDict(), "update", {"b": x[0]}, {"a": x[1]}),
            "default": fill(collections.defaultdict(list), "update", {"k": x[0]}),
            "bag": fill(Bag(), "append", x[0]),
            "table": fill(Table(), "update", {"k": x[0]}),
            "user": fill(collections.UserDict(), "update", {"k": x[0]}),
        }
    )
    plain(aux["list"][0], 0.6)
    assert aux["set"] == {0.6, 1}
    assert all(type(v) in (np.float64, int) for v in aux["set"])
    assert aux["frozen"] == frozenset([0.6])
    assert type(next(iter(aux["frozen"]))) is np.float64
    assert list(aux["deque"]) == [-2.4, 1.4]
    assert aux["deque"].maxlen == 2
    assert list(aux["ordered"].items()) == [("b", 0.6), ("a", -2.4)]
    aux["ordered"].move_to_end("b")
    assert aux["default"]["other"] == []
    plain(aux["default"]["k"], 0.6)
    assert type(aux["bag"]) is Bag
    plain(aux["bag"][0], 0.6)
    assert type(aux["table"]) is Table
    plain(aux["table"]["k"], 0.6)
    plain(aux["user"]["k"], 0.6)


def test_sharing_and_cycles_are_kept():
    def make(x):
        shared = [x[0]]
        node = Report(shared, also=shared, array=x, again=x)
        node.own = node
        shared.append(node)
        around: Any = ([],)
        around[0].append(around)
        return node, shared, around

    node, shared, around = aux_of(make)
    assert node.worst is node.also is shared
    assert shared[1] is node is node.own
    assert node.array is node.again
    assert around[0][0] is around
    plain(shared[0], 0.6)


def test_object_of_the_caller_is_handed_out_as_it_was_at_the_end():
    state = Report(1.0, steps=[])

    def f(x):
        state.worst = x * 2
        state.steps.append(x)
        return x * x, state

    (_, aux), g = value_and_grad(f, has_aux=True)(3.0)
    assert g == 6.0
    assert aux is not state
    assert (aux.worst, aux.steps) == (6.0, [3.0])
    assert type(aux.worst) is float
    assert (state.worst, state.steps) == (1.0, [])


def test_what_cannot_be_copied_stays_the_same_object():
    lock, generator, sentinel = threading.Lock(), np.random.default_rng(0), object()
    fixed = (lock, generator, sentinel, Report, np, len, test_sharing_and_cycles_are_kept,
             Level.LOW, "text", None, slice(1), np.dtype(float), (1, "a"))  # fmt: skip
    aux = aux_of(lambda x: (*fixed, x[0]))
    for got, expected in zip(aux, fixed, strict=False):
        assert got is expected
    plain(aux[-1], 0.6)


def test_functions_that_captured_active_values():
    def make(x):
        first = x[0]

        def inner(n, scale=x[1]):
            return first * scale if n == 0 else inner(n - 1)

        return inner, Report(x[2]).doubled, functools.partial(max, x[0]), lambda: 5

    inner, method, partial, constant = aux_of(make)
    plain(inner(2), 0.6 * -2.4)
    plain(method(), 2.8)
    plain(partial(-1.0), 0.6)
    assert constant() == 5


def test_exception_as_a_value():
    error = aux_of(lambda x: Failure("too large", x[0]))
    assert type(error) is Failure
    assert error.args[0] == "too large"
    plain(error.args[1], 0.6)
    plain(error.size, 0.6)


def test_no_code_of_the_class_runs():
    class Guarded:
        made = 0

        def __new__(cls, *args: Any) -> Any:
            cls.made += 1
            return super().__new__(cls)

        def __init__(self, value: Any) -> None:
            object.__setattr__(self, "value", value)

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(name)

        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError

    guarded = Guarded(X)
    new = independent(ReverseContext(), guarded)
    assert Guarded.made == 1
    assert type(new) is Guarded
    assert new.value is not X
    np.testing.assert_array_equal(new.value, X)


def test_history_filled_inside_is_empty_again_and_has_aux_hands_it_out():
    history: list[Any] = []

    def recorded(x):
        history.append(np.sum(x))
        return np.sum(x * x), history

    (_, aux), _ = value_and_grad(recorded, has_aux=True)(X.copy())
    assert history == []
    assert aux == [pytest.approx(np.sum(X))]
    assert type(aux[0]) is np.float64
    grad(lambda x: recorded(x)[0])(X.copy())
    assert history == []


def own_generator(x):
    yield x
    yield 2 * x


@pytest.mark.parametrize(
    "hand_out",
    [
        own_generator,
        lambda x: (x * i for i in range(3)),
        lambda x: map(x.__mul__, [1, 2]),
        lambda x: zip([x], [1], strict=True),
        lambda x: enumerate([x]),
        lambda x: iter([x]),
        lambda x: itertools.chain([x], [x]),
        lambda x: {"a": x}.values(),
        lambda x: {"a": [x]}.items(),
        lambda x: {x: 1}.keys(),
    ],
)
def test_an_iterator_over_active_values_cannot_leave(hand_out):
    with pytest.raises(DerivativeDropError, match="leaves the differentiated call") as caught:
        value_and_grad(lambda x: (x * x, {"held": hand_out(x)}), has_aux=True)(2.0)
    assert caught.value.where is not None
    (_, aux), g = value_and_grad(lambda x: (x * x, list(hand_out(x))), has_aux=True)(2.0)
    assert g == 4.0
    assert "float" in repr(type(aux[0])) or type(aux[0]) is tuple


def test_an_iterator_over_constants_may_leave():
    (_, aux), _ = value_and_grad(lambda x: (x, iter([1.0, 2.0])), has_aux=True)(2.0)
    assert list(aux) == [1.0, 2.0]


def test_functions_hand_out_numbers_from_defaults_and_attributes():
    def f(x):
        def plain(*, v=x * 3):
            return v

        plain.attached = [x]  # type: ignore[attr-defined]
        return x * x, (plain, lambda v=x: v)

    (_, (plain, other)), _ = value_and_grad(f, has_aux=True)(2.0)
    assert [type(v) for v in (plain(), plain.attached[0], other())] == [float] * 3
    assert (plain(), plain.attached, other()) == (6.0, [2.0], 2.0)


class Tagged(bytearray):
    pass


@pytest.mark.parametrize("held", [bytearray(b"ab"), Tagged(b"ab"), array("d", [97.0, 98.0])])
def test_bytes_that_the_call_changed_leave_as_they_were_then(held: Any) -> None:
    def changes(x):
        held.append(7)
        held[0] = 9
        return x * 2.0, [held, held]

    before = bytes(held)
    value, (first, second) = vjp(changes, 1.5)[0]
    (_, aux), _ = value_and_grad(changes, has_aux=True)(1.5)
    assert bytes(held) == before
    assert value == 3.0
    for found in (first, aux[0]):
        assert list(found) == [9, 98, 7]
        assert type(found) is type(held)
    assert first is second


def test_an_argument_of_bytes_is_returned_as_it_was_at_the_end() -> None:
    given = bytearray(b"ab")
    (_, found), _ = vjp(lambda x, b: (x, b.append(7) or b), 1.5, given)
    assert (found, given) == (bytearray(b"ab\x07"), bytearray(b"ab"))


def test_the_masked_constant_is_one_object():
    x = np.ones(2)
    y, _ = vjp(lambda x: np.ma.masked_array(x, [True, False])[0], x)
    assert y is np.ma.masked
    seen, _ = vjp(lambda x, m: [m is np.ma.masked, x[0]], x, np.ma.masked)
    assert seen[0]
    first = value_and_grad(lambda x: np.ma.masked_array(x, [True, False])[0])
    assert first(x)[0] is np.ma.masked
    assert jvp(first, (x,), (x,))[0][0] is np.ma.masked

    def value_is_masked(x):
        value, gradient = first(x)
        return np.sum(gradient) + (value is np.ma.masked)

    assert value_and_grad(value_is_masked)(x)[0] == 1.0
    assert jvp(value_is_masked, (x,), (x,))[0] == 1.0
