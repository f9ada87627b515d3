"""Debug mode finds writes that the engine has not seen, and names what was written."""

from __future__ import annotations

import ctypes
import functools
import math
import re
from collections import deque
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    NoRData,
    debug_mode,
    elementwise,
    grad,
    increment,
    rrule,
    value_and_grad,
    vjp,
    zero_codual,
    zero_derivative,
)
from mooncake_py.errors import MissingRuleError, UntrackedWriteError

X = np.array([0.5, -1.0, 2.0])
cache = np.zeros(4)
history: list[Any] = [1.0]


class Box:
    total = 0

    def __init__(self, value: Any) -> None:
        self.value = value


box = Box(3.0)


def poke(address: int, value: float) -> None:
    """Write to memory as compiled code does that was given a pointer."""
    number = ctypes.c_double(value)
    ctypes.memmove(address, ctypes.byref(number), 8)


def address(a: Any) -> int:
    return a.ctypes.data


def poke_into(target: Any, value: float) -> None:
    poke(address(target.value if isinstance(target, Box) else target), value)


def poke_cache(x: Any) -> None:
    poke(address(cache), 5.0)


def forget_history(x: Any) -> None:
    history[0] = 2.0


def count(x: Any) -> None:
    Box.total += 1


def relabel(x: Any) -> None:
    box.value = 4.0


def rebind(x: Any) -> None:
    globals()["flag"] = 1


def fill(items: Any) -> None:
    items.append(7.0)


def set_key(d: Any) -> None:
    d["new"] = 1.0


flag = 0
zero_derivative(
    poke, address, poke_into, poke_cache, forget_history, count, relabel, rebind, fill, set_key,
    because="says so",
)  # fmt: skip


@pytest.fixture(autouse=True)
def restored() -> Any:
    yield
    cache[...] = 0
    history[:] = [1.0]
    Box.total = 0
    box.value = 3.0
    globals()["flag"] = 0


def message_of(f: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(UntrackedWriteError) as caught:
        grad(f, debug=True, **kwargs)(*args)
    assert isinstance(caught.value, RuntimeError)
    return str(caught.value)


# Rules for functions that change no memory.


def test_declared_function_that_writes_into_its_argument() -> None:
    def f(x):
        poke_into(x, 9.0)
        return np.sum(x * x)

    x = X.copy()
    text = message_of(f, x)
    assert "poke_into changed its arguments" in text
    assert "argument 0[0] is 9.0, and was 0.5 before the call" in text
    assert re.search(r"where: .*test_memory\.py:\d+:\d+ in .*f\n +\| poke_into\(x, 9\.0\)", text)
    assert re.search(r"declared at .*test_memory\.py:\d+", text)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("write", "state", "path"),
    [
        (lambda s: poke_into(s, 2.0), Box(np.ones(3)), r"argument 0\.value\[0\] is 2\.0"),
        (lambda s: fill(s), [1.0, 2.0], r"argument 0\[2\] is 7\.0, and was not there"),
        (lambda s: fill(s), deque([1.0]), r"argument 0\[1\] is 7\.0"),
        (lambda s: set_key(s), {"a": 1.0}, r"argument 0\['new'\] is 1\.0, and was not there"),
    ],
)
def test_declared_function_that_changes_an_object(write: Any, state: Any, path: str) -> None:
    def f(x, state):
        write(state)
        return np.sum(x)

    assert re.search(path, message_of(f, X.copy(), state))


def test_function_of_a_rule_that_writes_into_an_array() -> None:
    def normalised(x):
        x /= np.sum(x)
        return x * 2.0

    elementwise(normalised, 2.0)
    text = message_of(lambda x: np.sum(normalised(x)), np.array([1.0, 3.0]))
    assert "argument 0[0] is 0.25, and was 1.0 before the call" in text


def test_output_arguments_may_be_written() -> None:
    def f(x):
        y = np.empty(3)
        np.multiply(x, x, y)
        np.add(y, x, out=y)
        np.exp(y, out=x)
        np.floor(x, out=y[::-1])
        return np.sum(x) + np.sum(y)

    x = X.copy()
    np.testing.assert_allclose(grad(f, debug=True)(x), (2 * X + 1) * np.exp(X * X + X))


# Everything within reach is as it was before.


@pytest.mark.parametrize(
    ("write", "path"),
    [
        (poke_cache, r"global 'cache' of .*\[0\] is 5\.0, and was 0\.0"),
        (forget_history, r"global 'history' of .*\[0\] is 2\.0, and was 1\.0"),
        (count, r"\.total is \d, and was \d"),
        (relabel, r"global 'box' of .*\.value is 4\.0, and was 3\.0"),
        (rebind, r"global 'flag' of .* is 1, and was 0"),
    ],
)
def test_untracked_write_to_a_global(write: Any, path: str) -> None:
    # The functions are looked up at run time, so that the checked call itself names the globals.
    def reads():
        return cache, history, Box, box, flag

    def f(x):
        write(x)
        reads()
        return np.sum(x)

    assert re.search(path, message_of(f, X.copy()))


def test_untracked_write_to_an_argument() -> None:
    def f(x, state):
        poke(address(state.value), 2.0)
        return np.sum(x)

    text = message_of(f, X.copy(), Box(np.ones(3)))
    assert "argument 1 ('state').value[0] is 2.0, and was 1.0 before the call" in text
    assert "pointer" in text


def test_write_to_a_captured_array() -> None:
    captured = Box(np.ones(2))

    def f(x):
        poke(address(captured.value), 3.0)
        return np.sum(x)

    text = message_of(f, X.copy())
    assert re.search(r"captured variable 'captured' of .*\.value\[0\] is 3\.0, and was 1\.0", text)


def test_write_beside_a_view_is_found_in_its_owner() -> None:
    whole = np.ones(5)

    def f(s, x):
        poke(address(x) - 8, 3.0)
        return s * np.sum(x)

    assert "argument 1 ('x').base[0] is 3.0, and was 1.0" in message_of(f, 1.0, whole[1:])


def test_an_operand_that_was_overwritten() -> None:
    def f(x):
        t = x * 1.0
        y = t * t
        poke(address(t), 30.0)
        return np.sum(y)

    text = message_of(f, X.copy())
    assert "an operand of multiply was overwritten" in text
    assert "| y = t * t" in text
    assert not np.allclose(grad(f)(X.copy()), 2 * X), "silently wrong without debug mode"


def test_an_operand_that_was_overwritten_between_the_passes() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    y, pullback = vjp(lambda x: x * weights, X, debug=True)
    weights[0] = 10.0
    with pytest.raises(UntrackedWriteError, match="an operand of multiply was overwritten"):
        pullback(np.ones(3))
    weights[0] = 1.0
    np.testing.assert_array_equal(pullback(np.ones(3))[0], weights)
    np.testing.assert_array_equal(y, X * weights)


def test_hand_written_rule_that_writes_elsewhere() -> None:
    def twice(x):
        cache[1] = 8.0
        return 2 * x

    @rrule.register(twice, mutates=())
    def rule(_, x):
        out = zero_codual(twice(x.primal))

        def pullback(_):
            increment(x, 2 * out.fdata)
            return NoRData(), NoRData()

        return out, pullback

    assert re.search(
        r"global 'cache' of .*\[1\] is 8\.0",
        message_of(lambda x: np.sum(twice(x)) + cache[0], X.copy()),
    )


# After an exception.


def test_untracked_write_before_an_exception_chains_it() -> None:
    def f(x, a):
        poke(address(a), 2.0)
        raise KeyError("the user's own")

    with pytest.raises(UntrackedWriteError, match=r"argument 1 \('a'\)\[0\]") as caught:
        grad(f, debug=True)(X.copy(), np.ones(2))
    assert isinstance(caught.value.__cause__, KeyError)


def test_exception_passes_if_all_is_restored() -> None:
    def f(x, items):
        x *= 2
        items.append(x)
        raise KeyError("the user's own")

    x, items = X.copy(), [1.0]
    with debug_mode(), pytest.raises(KeyError, match="the user's own"):
        grad(f, (0, 1))(x, items)
    np.testing.assert_array_equal(x, X)
    assert items == [1.0]


def test_missing_rule_after_an_untracked_write() -> None:
    def f(x, a):
        poke(address(a), 2.0)
        return np.frombuffer(x)

    with pytest.raises(UntrackedWriteError) as caught:
        grad(f, debug=True)(X.copy(), np.ones(2))
    assert isinstance(caught.value.__cause__, MissingRuleError)


# What is right passes.


class Node:
    __slots__ = ("children", "label", "weight")

    def __init__(self, weight: float, *children: Node) -> None:
        self.weight = weight
        self.children = list(children)
        self.label = "node"


def visit(node: Node, x: Any) -> Any:
    node.label = "visited"
    node.weight = node.weight * 2
    return node.weight * x[0] + sum(visit(child, x) for child in node.children)


def test_changes_of_all_kinds_that_are_tracked() -> None:
    root = Node(1.0, Node(2.0), Node(3.0, Node(4.0)))
    root.children.append(root.children[0])
    with np.errstate(invalid="ignore"):
        odd = np.array([np.nan, -0.0, np.inf])

    def f(x, table):
        global flag
        flag += 1
        cache[1:3] = x[:2]
        history.append(x)
        history[0] = x[1]
        box.value = x
        Box.total += 1
        table["a"][::2] *= 3
        table.setdefault("b", {1, 2}).add(3)
        table["odd"][...] = 0.0
        del table["c"]
        x += cache[:3]
        return visit(root, x) + np.sum(history[0] * x) + np.sum(table["a"])

    table = {"a": np.arange(4.0), "c": (1, [2.0]), "odd": odd}
    x = X.copy()
    value, g = value_and_grad(f, (0, 1), debug=True)(x, table)
    plain, expected = value_and_grad(f, (0, 1))(x, table)
    assert value == plain
    np.testing.assert_array_equal(g[0], expected[0])
    np.testing.assert_array_equal(g[1]["a"], expected[1]["a"])
    assert flag == 0
    assert history == [1.0]
    assert root.label == "node"


masked = np.ma.masked_array([1.0, 2.0, np.nan], mask=[0, 1, 0])
records = np.zeros(2, dtype=[("a", float), ("b", object)])
objects = np.array([1.0, [2.0], None], dtype=object)


class Cached:
    @functools.cached_property
    def size(self) -> float:
        return 2.0

    @property
    def double(self) -> float:
        return 2 * self.size

    @staticmethod
    def plus(x: Any) -> Any:
        return x + masked.shape[0]

    @classmethod
    def make(cls) -> Cached:
        return cls()


cached = Cached()
partly = functools.partial(np.add, 1.0)


def test_things_of_all_kinds_within_reach() -> None:
    def f(x, table):
        del table["gone"]
        table["gone"] = 1.0
        return (
            np.sum(partly(x)) * cached.size + cached.double + Cached.plus(x[0])
            + Cached.make().size + len(masked) + len(records) + len(objects)
            + math.tau * len(subprocess_like.__name__)
        )  # fmt: skip

    table = {"gone": 2.0, "kept": {3, 4}, (1, 2): frozenset({5})}
    g = grad(f, debug=True)(X.copy(), table)
    np.testing.assert_array_equal(g, grad(f)(X.copy(), table))
    assert list(table) == ["gone", "kept", (1, 2)]
    assert "size" not in vars(cached)


def subprocess_like() -> None:
    """Stand for a function that is named and never called."""


def test_change_of_an_array_of_objects() -> None:
    def change(x):
        objects[1] = None

    zero_derivative(change)

    def f(x):
        change(x)
        return np.sum(x) + len(objects)

    try:
        assert re.search(r"\.flat\[1\] is None, and was \[2\.0\]", message_of(f, X.copy()))
    finally:
        objects[1] = [2.0]


def test_large_operands_are_compared_by_samples() -> None:
    large = np.ones(300_000)

    def f(x, a):
        y = x[0] * a
        poke(address(a), 2.0)
        return y[0]

    with pytest.raises(UntrackedWriteError, match="an operand of multiply was overwritten"):
        grad(f, debug=True)(X.copy(), large)
    large[0] = 1.0
    assert grad(lambda x, a: np.sum(x[0] * a.reshape(3, -1).T), debug=True)(X, large)[0] == 3e5
