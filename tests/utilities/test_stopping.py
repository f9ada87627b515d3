"""Values through which no derivative flows."""

from __future__ import annotations

import dataclasses
import queue
import sys
import threading
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad, stop_gradient, value_and_grad, vjp
from tests.support.carriers import CARRIERS, read_from
from tests.support.pairs import rotating
from tests.utilities.support import WAYS

pytestmark = pytest.mark.without_modes("the derivative left out is none of the function", "inside")

X = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("x", "way"), rotating([2.0, X, 2.0 - 1j, np.float32(2.0), np.array(2.0)], WAYS, times=2)
)
def test_product_with_itself(way: Any, x: Any) -> None:
    np.testing.assert_allclose(way(lambda x: np.sum(stop_gradient(x) * x).real, x), np.conj(x))


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_memory_in_use(way: Any) -> None:
    def f(u: np.ndarray) -> Any:
        u *= 3.0
        old = stop_gradient(u)
        u[0] = u[1] * old[0]
        old[1] = 100.0
        u[2] = stop_gradient(u[2])
        return np.sum(u)

    np.testing.assert_allclose(way(f, X.copy()), [0.0, 3.0 * (1 + 3.0), 0.0])


def test_active_data_written_into_a_stopped_copy_is_active() -> None:
    def f(x: np.ndarray) -> Any:
        y = stop_gradient(x)
        y[0] = x[1]
        return np.sum(y * y)

    np.testing.assert_allclose(grad(f)(X), [0.0, 2 * X[1], 0.0])


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    k: float


class Model:
    __slots__ = ("parts", "w")

    def __init__(self, w: np.ndarray) -> None:
        self.w = w
        self.parts = [1.0, {"k": 2.0}, (3.0, Frozen(w[1:], 4.0))]

    def total(self) -> Any:
        first, second, (third, frozen) = self.parts
        return np.sum(self.w) * first * second["k"] * third * frozen.k * np.sum(frozen.w)


@pytest.mark.parametrize("way", WAYS[:2], ids=lambda w: w.__name__)
def test_structures(way: Any) -> None:
    g = way(lambda m: stop_gradient(m).total() * m.parts[0], Model(X.copy()))
    np.testing.assert_array_equal(g.w, np.zeros(3))
    assert g.parts[0] == Model(X).total()
    assert g.parts[1] == {"k": 0.0}
    assert g.parts[2][0] == g.parts[2][1].k == 0.0


def test_plain_and_derived_calls_copy_alike() -> None:
    def f(d: dict[str, Any]) -> Any:
        e = stop_gradient(d)
        e["w"][0] = 10.0
        e["v"][1] = 20.0
        e["l"].append(d["l"][0])
        return np.sum(d["w"]) + np.sum(e["w"]) + np.sum(e["v"]) + len(d["l"]) + len(e["l"])

    def arguments() -> dict[str, Any]:
        w = X.copy()
        return {"w": w, "v": w[1:], "l": [1.0]}

    value, g = value_and_grad(f)(arguments())
    assert value == f(arguments())
    np.testing.assert_array_equal(g["w"], np.ones(3))


def test_closures() -> None:
    def f(x: float) -> float:
        def line(t: float) -> float:
            return x * t

        return stop_gradient(line)(x) + line(3.0)

    assert grad(f)(2.0) == 2.0 + 3.0


@pytest.mark.parametrize(
    "hide",
    [lambda x: {x}, lambda x: iter([x]), lambda x: np.array([x, None], dtype=object)],
    ids=["set", "iterator", "array of objects"],
)
def test_what_cannot_be_reached_is_an_error(hide: Any) -> None:
    with pytest.raises((DerivativeDropError, TypeError)):
        grad(lambda x: len(list(stop_gradient(hide(x)))) * x)(2.0)


def test_number_in_a_set_is_an_error_that_says_so() -> None:
    with pytest.raises(DerivativeDropError, match="cannot reach all numbers in a set"):
        grad(lambda x: sum(stop_gradient({x})) * x)(2.0)


def test_text_of_a_stopped_number_may_be_read_back() -> None:
    assert grad(lambda x: float(str(stop_gradient(x))) * x)(2.5) == 2.5


class Guarded:
    def __init__(self) -> None:
        self.w = X.copy()
        self.lock = threading.Lock()
        self.file = sys.__stdout__
        self.queue: queue.Queue[Any] = queue.Queue()


@pytest.mark.without_modes("a lock and a queue have no tangent")
def test_what_cannot_be_copied_is_shared() -> None:
    guarded = Guarded()
    copy = stop_gradient(guarded)
    assert copy.lock is guarded.lock
    assert copy.file is guarded.file
    assert copy.queue is not guarded.queue
    assert copy.w is not guarded.w
    (g,) = vjp(lambda m: np.sum(m.w * stop_gradient(m).w), guarded)[1](1.0)
    np.testing.assert_array_equal(g.w, X)


def test_generator_of_active_numbers_is_an_error_that_says_so() -> None:
    with pytest.raises(DerivativeDropError, match="cannot reach all numbers in a generator"):
        grad(lambda x: sum(stop_gradient(v for v in x)))(X)


COPIED = {
    "array of a subclass", "cached_property", "cell", "exception", "made dataclass", "masked array",
    "method of a list", "named tuple", "partial", "poly1d", "recarray", "records in records",
    "structured array",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CARRIERS))
def test_of_carriers_of_any_kind(name: str) -> None:
    f = read_from(name, lambda make, v: stop_gradient(make(v)))
    if name in COPIED:
        make, read = CARRIERS[name]
        assert read(stop_gradient(make(2.0))) == 2.0
        np.testing.assert_allclose(grad(f)(np.array([2.0, 3.0])), [0.0, 4.0])
    else:
        with pytest.raises(DerivativeDropError, match="stop_gradient cannot reach all numbers in"):
            grad(f)(np.array([2.0, 3.0]))


def test_integers_and_text_pass() -> None:
    assert stop_gradient(3) == 3
    assert stop_gradient("a") == "a"
    assert stop_gradient(None) is None
    np.testing.assert_array_equal(stop_gradient(np.arange(3)), np.arange(3))
    assert stop_gradient(np.asfortranarray(np.ones((2, 3)))).flags.f_contiguous
