"""Code outside of the derivative's sight, and the watch over it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    DerivativeDropError,
    NoRData,
    UntrackedWriteError,
    checkpoint,
    checkpointed,
    from_vjp,
    grad,
    hessian,
    ignore_derivatives,
    increment,
    jvp,
    rrule,
    value_and_grad,
    vjp,
    zero_codual,
)
from tests.utilities.support import WAYS

pytestmark = pytest.mark.without_modes("the derivative left out is none of the function", "inside")

X = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
@pytest.mark.parametrize("x", [2.0, X], ids=["float", "array"])
def test_values_and_functions(way: Any, x: Any) -> None:
    np.testing.assert_allclose(way(lambda x: np.sum(ignore_derivatives(x) * x), x), x)
    np.testing.assert_allclose(way(lambda x: np.sum(ignore_derivatives(lambda: x) * x), x), x)
    np.testing.assert_allclose(
        way(lambda x: np.sum(ignore_derivatives(np.exp, x) * x), x), np.exp(x)
    )


def test_plain_call() -> None:
    assert ignore_derivatives(math.hypot, 3.0, 4.0) == 5.0
    assert ignore_derivatives(2.0) == 2.0
    assert ignore_derivatives(lambda x, *, k: x * k, 2.0, k=3.0) == 6.0


FACTOR: Any = 1.0
FACTORS: dict[str, Any] = {"first": 1.0, "rest": ()}


def test_active_globals() -> None:
    def f(x: float) -> Any:
        global FACTOR
        FACTOR = FACTORS["first"] = x
        FACTORS["rest"] = (x, 2.0)
        seen = ignore_derivatives(lambda: (type(FACTOR), type(FACTORS["first"]), FACTORS["rest"]))
        assert seen == (float, float, (3.0, 2.0))
        return FACTOR * FACTORS["first"] * FACTORS["rest"][0]

    assert grad(f)(3.0) == 27.0
    assert (FACTOR, FACTORS) == (1.0, {"first": 1.0, "rest": ()})


@pytest.mark.parametrize("debug", [False, True])
def test_log_that_stays(debug: bool) -> None:
    history: list[Any] = []
    counts = {"calls": 0}
    trace = np.zeros(3)

    class Logger:
        lines = 0

        def write(self, i: int, value: float) -> None:
            self.lines += 1
            counts["calls"] += 1
            trace[i] = value

    logger = Logger()

    def f(x: np.ndarray) -> Any:
        total = 1.0
        n = 0

        def log() -> None:
            nonlocal n
            n += 1
            history.append((n, float(total), x.sum()))

        for i in range(3):
            x *= 2.0
            total = total * x[0]
            ignore_derivatives(log)
            ignore_derivatives(logger.write, i, total)
        return total

    g = grad(f, debug=debug)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(g, [3 * 64.0, 0.0])
    assert history == [(1, 2.0, 6.0), (2, 8.0, 12.0), (3, 64.0, 24.0)]
    assert logger.lines == counts["calls"] == 3
    np.testing.assert_array_equal(trace, [2.0, 8.0, 64.0])


def test_compiled_function_without_a_rule() -> None:
    assert grad(lambda x: x * ignore_derivatives(math.nextafter, x, 10.0))(2.0) == math.nextafter(
        2.0, 10.0
    )


def test_numbers_in_containers_and_objects_are_plain_there_and_active_again_after() -> None:
    class Box:
        def __init__(self, v: float) -> None:
            self.v = v

    seen: list[Any] = []

    def f(x: float) -> float:
        box = Box(x * 2.0)
        parts = {"a": [x, (x, 1.0)]}
        ignore_derivatives(
            lambda: seen.extend(map(type, [box.v, *parts["a"][:1], parts["a"][1][0], x]))
        )
        ignore_derivatives(seen.append, [x])
        return box.v * parts["a"][0] * parts["a"][1][0]

    assert grad(f)(3.0) == 6.0 * 9.0
    assert seen[:4] == [float] * 4
    assert seen[4] == [3.0]


def test_defaults_are_plain_there() -> None:
    seen: list[float] = []

    def f(x: float) -> float:
        g = lambda v=x, *, w=2.0 * x: seen.append(float(v) + float(w))  # noqa: E731
        ignore_derivatives(g)
        return g.__defaults__[0] * x

    assert grad(f)(3.0) == 6.0
    assert seen == [9.0]


# What may not be changed.


def write_active(x: np.ndarray) -> Any:
    y = x * x
    ignore_derivatives(y.fill, 0.0)
    return np.sum(y)


CONSTANT = np.array([1.0, 2.0, 3.0])


def write_operand(x: np.ndarray) -> Any:
    y = x * CONSTANT
    ignore_derivatives(CONSTANT.__setitem__, 0, 7.0)
    return np.sum(y)


def write_through_a_view(x: np.ndarray) -> Any:
    y = x * CONSTANT
    v = CONSTANT[1:]

    def scale() -> None:
        v[...] *= 2.0

    ignore_derivatives(scale)
    return np.sum(y)


def write_logged_array(x: np.ndarray) -> Any:
    CONSTANT[0] = 5.0
    ignore_derivatives(CONSTANT.fill, 1.0)
    return np.sum(x)


NOTES: list[Any] = [0.0]


def write_logged_list(x: np.ndarray) -> Any:
    NOTES.append(1.0)
    ignore_derivatives(NOTES.clear)
    return np.sum(x)


def write_active_element(x: np.ndarray) -> Any:
    parts = [x[0], x[1]]
    ignore_derivatives(parts.__setitem__, 0, 1.0)
    return parts[0]


class Holder:
    w: Any = None


def write_active_attribute(x: np.ndarray) -> Any:
    h = Holder()
    h.w = x
    ignore_derivatives(setattr, h, "w", 1.0)
    return h.w


def write_captured_variable(x: np.ndarray) -> Any:
    s = x[0] * 2.0

    def reset() -> None:
        nonlocal s
        s = 0.0

    ignore_derivatives(reset)
    return s


def helper() -> None:
    CONSTANT[1] = 8.0


def write_two_calls_down(x: np.ndarray) -> Any:
    y = x * CONSTANT
    ignore_derivatives(lambda: helper())
    return np.sum(y)


WRITERS = [
    write_active, write_operand, write_through_a_view, write_logged_array, write_logged_list,
    write_active_element, write_active_attribute, write_captured_variable, write_two_calls_down,
]  # fmt: skip


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("f", WRITERS)
def test_change_that_matters_is_an_error_and_undone(f: Any, debug: bool) -> None:
    x = X.copy()
    with pytest.raises(
        UntrackedWriteError, match="changed data that the derivative depends on"
    ) as e:
        value_and_grad(f, debug=debug)(x)
    assert "test_ignoring.py" in str(e.value)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(CONSTANT, [1.0, 2.0, 3.0])
    assert NOTES == [0.0]


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (write_operand, "has computed with it"),
        (write_logged_list, "has changed it too"),
        (write_active_element, "held active values"),
    ],
)
def test_error_says_why(f: Any, why: str) -> None:
    with pytest.raises(UntrackedWriteError, match=why):
        grad(f)(X.copy())


def test_swallowed_error_is_raised_in_the_end() -> None:
    def f(x: np.ndarray) -> Any:
        try:
            return write_active(x)
        except RuntimeError:
            return np.sum(x)

    with pytest.raises(UntrackedWriteError):
        grad(f)(X)


class Weights:
    def __init__(self, values: list[int]) -> None:
        self.values = values


def weighted(x: np.ndarray, weights: Weights) -> Any:
    return np.sum(x * weights.values)


@from_vjp(weighted)
def weighted_with_pullback(x: np.ndarray, weights: Weights) -> Any:
    return weighted(x, weights), lambda dy: dy * np.array(weights.values, float)


def otherwise_weighted(x: np.ndarray, weights: Weights) -> Any:
    return np.sum(x * weights.values)


@rrule.register(otherwise_weighted)
def otherwise_weighted_rrule(_: Any, x: Any, weights: Any) -> Any:
    def otherwise_weighted_pullback(dy: float) -> Any:
        increment(x, dy * np.array(weights.primal.values))
        return NoRData(), NoRData(), NoRData()

    return zero_codual(otherwise_weighted(x.primal, weights.primal)), otherwise_weighted_pullback


@pytest.mark.parametrize("f", [weighted, otherwise_weighted])
@pytest.mark.parametrize(
    "change",
    [lambda w: w.values.clear(), lambda w: setattr(w, "values", [0, 0, 0])],
    ids=["inside", "attribute"],
)
@pytest.mark.without_modes("the rule is for arguments of one shape", "other", "forward")
@pytest.mark.parametrize("debug", [False, True])
def test_object_that_the_pullback_of_a_rule_reads(f: Any, change: Any, debug: bool) -> None:
    weights = Weights([1, 2, 3])

    def changing(x: np.ndarray) -> Any:
        y = f(x, weights)
        ignore_derivatives(change, weights)
        return y

    np.testing.assert_array_equal(grad(lambda x: f(x, weights))(X), [1, 2, 3])
    with pytest.raises(UntrackedWriteError):
        grad(changing, debug=debug)(X)
    assert weights.values == [1, 2, 3]


# How it ends.


@pytest.mark.parametrize("debug", [False, True])
def test_exception_passes(debug: bool) -> None:
    kept: list[Any] = []

    def f(x: float) -> float:
        box = [x]

        def fail() -> None:
            raise KeyError(box[0])

        try:
            ignore_derivatives(fail)
        except KeyError as error:
            ignore_derivatives(kept.append, error.args)
        return box[0] * box[0]

    assert grad(f, debug=debug)(3.0) == 6.0
    assert kept == [(3.0,)]
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: ignore_derivatives(lambda: 1 / 0) * x, debug=debug)(2.0)


def test_iterator_is_refused() -> None:
    with pytest.raises(DerivativeDropError, match="returned a generator") as caught:
        grad(lambda x: sum(ignore_derivatives(lambda: (x * i for i in range(3)))))(2.0)
    assert "return a list" in str(caught.value)


def test_returned_object_is_a_constant_copy() -> None:
    def f(x: np.ndarray) -> Any:
        d = {"x": x, "k": x[0]}
        e = ignore_derivatives(lambda: d)
        e["x"][0] = 100.0
        return np.sum(d["x"] * e["x"]) + e["k"] * d["k"]

    x = X.copy()
    np.testing.assert_allclose(grad(f)(x), [100.0 + 1.0, -2.0, 3.0])
    np.testing.assert_array_equal(x, X)


@pytest.mark.without_modes("what is recorded captured an active number")
def test_derivative_within_is_that_of_plain_numbers() -> None:
    def f(x: float) -> float:
        return x * ignore_derivatives(lambda: grad(lambda t: t * t * x)(x))

    assert grad(f)(3.0) == 2 * 3.0 * 3.0


def test_within_an_inner_derivative() -> None:
    def f(x: np.ndarray) -> Any:
        y = x * 2.0

        def inner(t: float) -> Any:
            ignore_derivatives(lambda: y.sum())
            return t * t * ignore_derivatives(y).sum()

        return np.sum(y) * grad(inner)(3.0)

    np.testing.assert_allclose(grad(f)(X), np.full(3, 2.0 * 6.0 * 2.0 * X.sum()))

    def writes(x: np.ndarray) -> Any:
        y = x * 2.0
        z = y * y
        grad(lambda t: (ignore_derivatives(y.fill, 0.0), t)[1])(1.0)
        return z.sum()

    with pytest.raises(UntrackedWriteError):
        grad(writes)(X)


def test_pullback_does_not_run_it_again() -> None:
    history: list[float] = []

    def f(x: float) -> float:
        ignore_derivatives(history.append, x)
        return x * x

    _, pullback = vjp(f, 3.0)
    assert history == [3.0]
    assert pullback(1.0) == (6.0,)
    assert pullback(1.0) == (6.0,)
    assert history == [3.0]


@pytest.mark.thorough
def test_in_a_long_loop() -> None:
    history: list[float] = []

    def f(x: float) -> float:
        for _ in range(2000):
            x = 0.999 * x + 0.001 * x * x
            ignore_derivatives(history.append, x)
        return x

    expected = f(0.5)
    assert len(history) == 2000
    history.clear()
    value, _ = value_and_grad(f)(0.5)
    assert value == expected
    assert len(history) == 2000


WAYS_TO_RUN_AGAIN: dict[str, Any] = {
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x) * 1.0)(2.0),
    "inner gradient": lambda f: grad(lambda x: grad(f)(x))(2.0),
    "inner pullback": lambda f: grad(lambda x: vjp(f, x)[1](1.0)[0])(2.0),
    "inner directions": lambda f: grad(lambda x: jvp(f, (x,), (1.0,))[1])(2.0),
    "both": lambda f: grad(lambda x: grad(lambda z: checkpoint(f, z) * 1.0)(x))(2.0),
    "nested": lambda f: grad(lambda x: checkpoint(lambda x: checkpoint(f, x), x) * 1.0)(2.0),
    "forward": lambda f: jvp(grad(f), (2.0,), (1.0,)),
    "hessian": lambda f: hessian(f)(2.0),
    "debug": lambda f: grad(lambda x: grad(f)(x), debug=True)(2.0),
}


@pytest.mark.parametrize("name", WAYS_TO_RUN_AGAIN)
def test_functions_run_once_where_parts_run_again(name: str) -> None:
    log: list[float] = []

    def count(x: float) -> float:
        log.append(x)
        return float(len(log))

    def f(x: float) -> float:
        first = ignore_derivatives(count, x)
        return first * x**3 + ignore_derivatives(count, 2.0 * x) * x

    def plain(x: float) -> float:
        return x**3 + 2.0 * x

    np.testing.assert_allclose(WAYS_TO_RUN_AGAIN[name](f), WAYS_TO_RUN_AGAIN[name](plain))
    assert log == [2.0, 4.0]


def test_steps_of_a_checkpointed_loop_log_once() -> None:
    log: list[int] = []

    def f(x: float) -> float:
        for i in checkpointed(range(6)):
            x = x * x * 0.5
            ignore_derivatives(log.append, i)
        return x

    assert grad(f)(2.0) == pytest.approx(64.0)
    assert log == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("of", ["array", "list"])
def test_functions_run_again_that_fill_what_the_part_has_made(of: str) -> None:
    weights = np.array([2.0, 3.0])

    def fill(into: Any) -> None:
        into[:] = weights.tolist() if of == "list" else weights

    def f(x: Any) -> Any:
        made: Any = [0.0, 0.0] if of == "list" else ignore_derivatives(np.zeros, 2)
        ignore_derivatives(fill, made)
        return (made[0] * x**2 + made[1] * x) * 1.0

    assert grad(lambda x: checkpoint(f, x) * 1.0)(2.0) == 11.0
    assert grad(lambda x: grad(f)(x))(2.0) == 4.0
