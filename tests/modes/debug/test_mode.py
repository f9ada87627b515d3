"""Turning debug mode on and off, and what it leaves as it is."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    debug_mode,
    elementwise,
    from_vjp,
    grad,
    linear,
    rrule,
    value_and_grad,
    vjp,
    zero_codual,
)
from mooncake_py.errors import NonFiniteDerivativeError
from mooncake_py.modes.debug.context import DebugContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import Settings, new_context, settings
from tests.support.folders import ENGINE, Part, parts_of, run

X = np.array([0.5, -1.0, 2.0])


def roots(x):
    return np.sum(np.sqrt(x))


def fails(x: Any, **options: Any) -> bool:
    try:
        grad(roots, **options)(x)
    except NonFiniteDerivativeError:
        return True
    return False


def test_the_block_turns_it_on() -> None:
    assert not fails(np.zeros(2))
    with debug_mode():
        assert fails(np.zeros(2))
        with debug_mode(check_finite=False):
            assert not fails(np.zeros(2))
            assert not fails(np.zeros(2), debug=True), "what was chosen outside holds"
        assert fails(np.zeros(2))
    assert not fails(np.zeros(2))


def test_an_exception_turns_it_off() -> None:
    with pytest.raises(KeyError), debug_mode():
        raise KeyError
    assert settings() is None


def test_it_decorates_functions() -> None:
    assert debug_mode()(fails)(np.zeros(2))


def test_other_threads_are_not_in_it() -> None:
    found: list[Any] = []
    with debug_mode():
        thread = threading.Thread(target=lambda: found.append(settings()))
        thread.start()
        thread.join()
    assert found == [None]


def test_without_it_contexts_are_plain() -> None:
    assert type(new_context(settings(), None, (), {})) is ReverseContext
    assert type(new_context(settings(debug=True), None, (), {})) is DebugContext
    assert settings(debug=True) == Settings(check_finite=True)


def test_every_derivative_takes_it() -> None:
    x = np.zeros(2)
    with pytest.raises(NonFiniteDerivativeError):
        value_and_grad(roots, debug=True)(x)
    with pytest.raises(NonFiniteDerivativeError):
        grad(roots, 0, False, True)(x)
    y, pullback = vjp(np.sqrt, x, debug=True)
    np.testing.assert_array_equal(y, 0)
    for _ in range(2):
        with pytest.raises(NonFiniteDerivativeError):
            pullback(np.ones(2))
    with debug_mode():
        _, pullback = rrule(CoDual(roots, NoFData()), CoDual(x, np.zeros(2)))
    with pytest.raises(NonFiniteDerivativeError):
        pullback(1.0)


def test_derivatives_keep_it_when_pickled() -> None:
    again = pickle.loads(pickle.dumps(grad(np.linalg.norm, debug=True)))
    with pytest.raises(NonFiniteDerivativeError):
        again(np.array([np.inf, 1.0]))


def test_aux_and_values_are_the_same() -> None:
    def f(x, scale=2.0):
        x *= scale
        return np.sum(x * x), x

    x = X.copy()
    plain = value_and_grad(f, has_aux=True)(x, scale=3.0)
    checked = value_and_grad(f, has_aux=True, debug=True)(x, scale=3.0)
    assert plain[0][0] == checked[0][0]
    np.testing.assert_array_equal(plain[0][1], checked[0][1])
    np.testing.assert_array_equal(plain[1], checked[1])
    np.testing.assert_array_equal(x, X)


@pytest.mark.thorough
def test_shared_lists_in_threads() -> None:
    shared = [1.0, 2.0]

    def f(items):
        for _ in range(200):
            items[0] = items[0] * 1.001
        return items[0] * items[1]

    expected = grad(f)(shared)
    results: list[Any] = []

    def work():
        results.extend(grad(f, debug=True)(shared) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [expected] * 12
    assert shared == [1.0, 2.0]


# Adjoints that raise say whose they are.


def by_pullback(x):
    return 2 * x


@from_vjp(by_pullback)
def by_pullback_rule(x):
    def pullback(dy):
        raise KeyError("mine")

    return 2 * x, pullback


def by_adjoint(x):
    return 2 * x


@linear(by_adjoint)
def by_adjoint_adjoint(dy, x):
    raise KeyError("mine")


def by_partial(x):
    return 2 * x


def raising_partial(x, y):
    raise KeyError("mine")


elementwise(by_partial, raising_partial)


def by_hand(x):
    return 2 * x


@rrule.register(by_hand, mutates=())
def by_hand_rule(_, x):
    def pullback(_):
        if x is not None:
            raise KeyError("mine")
        return NoRData(), NoRData()

    return zero_codual(2 * x.primal), pullback


@pytest.mark.parametrize(
    ("f", "plain"),
    [
        (by_pullback, "the adjoint of tests.modes.debug.test_mode.by_pullback, run at "),
        (by_hand, "the adjoint of tests.modes.debug.test_mode.by_hand, run at "),
        (by_adjoint, "the adjoint of tests.modes.debug.test_mode.by_adjoint; debug=True names"),
        (by_partial, "an adjoint; debug=True names the line"),
    ],
)
def test_notes_of_adjoints_that_raise(f: Any, plain: str) -> None:
    x = X.copy()
    with pytest.raises(KeyError, match="mine") as caught:
        grad(lambda x: np.sum(f(x)))(x)
    (note,) = caught.value.__notes__
    assert plain in note
    assert note.count("test_mode.py") == ("run at" in plain)
    with pytest.raises(KeyError, match="mine") as caught:
        grad(lambda x: np.sum(f(x)), debug=True)(x)
    (note,) = caught.value.__notes__
    assert f"the adjoint of tests.modes.debug.test_mode.{f.__name__}, run at " in note
    assert f"{__file__}:" in note
    np.testing.assert_array_equal(x, X)


# Everything that is right passes in debug mode.


OTHERS = ("programs", "rules", "testing", "utilities", "test_interface.py")


@pytest.mark.slow
@pytest.mark.parametrize("part", parts_of(*ENGINE, *OTHERS), ids=str)
def test_the_other_tests_pass_in_debug_mode(part: Part) -> None:
    failed = run(part, "tests.support.debug_everywhere")
    assert failed is None, failed
