"""Which form a statement runs by: the last one, the one before it, or one that is looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp
from mooncake_py.compiler.statements import site
from mooncake_py.compiler.statements.push import Push
from mooncake_py.compiler.statements.site import StatementSite

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)


def layers(weights: Any, x: Any) -> Any:
    for w in weights:  # x is constant in the first pass
        x = np.tanh(x @ w + 0.1)
    return np.sum((x - 0.5) ** 2) / x.size


def parts(v: Any) -> Any:
    total = 0.0
    for k in range(6):
        part = v[k] if k % 3 == 0 else v if k % 3 == 1 else v[:, None]
        total = total + np.sum(part * 2.0 + part * part)
    return total


WEIGHTS = [np.linspace(-1.0, 1.0, 9).reshape(3, 3) * k for k in (0.5, 0.7, 0.9)]


@pytest.fixture
def looked_up(monkeypatch):
    """List the sites that look a form up, in reverse and in forward mode."""
    found: list[Any] = []

    def listing(owner: Any, name: str, site_of: Any) -> None:
        method = getattr(owner, name)

        def listed(self: Any, *args: Any) -> Any:
            found.append(site_of(self))
            return method(self, *args)

        monkeypatch.setattr(owner, name, listed)

    listing(StatementSite, "looked_up", lambda found: found)
    listing(Push, "form", lambda push: push.site)
    return found


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_two_forms_that_take_turns_are_not_looked_up_again(looked_up):
    derivative = grad(layers)
    first = derivative(WEIGHTS, X)
    derivative(WEIGHTS, X)
    looked_up.clear()
    again = derivative(WEIGHTS, X)
    assert looked_up == []
    for a, b in zip(first, again, strict=True):
        assert_allclose(a, b, rtol=0.0, atol=0.0)


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_two_forms_take_turns_in_forward_mode(looked_up):
    along = [np.ones((3, 3)) for _ in WEIGHTS]
    for _ in range(2):
        jvp(layers, (WEIGHTS, X), (along, None))
    looked_up.clear()
    jvp(layers, (WEIGHTS, X), (along, None))
    assert looked_up == []


def test_derivatives_are_those_of_differences_whichever_form_runs():
    along = [np.cos(k + w) for k, w in enumerate(WEIGHTS)]
    h = 1e-6
    ahead = layers([w + h * d for w, d in zip(WEIGHTS, along, strict=True)], X)
    behind = layers([w - h * d for w, d in zip(WEIGHTS, along, strict=True)], X)
    expected = (ahead - behind) / (2 * h)
    for _ in range(3):
        gradient = grad(layers)(WEIGHTS, X)
        found = sum(np.sum(g * d) for g, d in zip(gradient, along, strict=True))
        assert_allclose(found, expected, rtol=1e-8)
        assert_allclose(jvp(layers, (WEIGHTS, X), (along, None))[1], expected, rtol=1e-8)


def test_three_kinds_in_turn_have_a_form_each():
    v = np.array([0.3, -0.7, 1.1])
    v = np.concatenate([v, v])
    expected = 4 * (2.0 + 2 * v)
    expected[0] += 2.0 + 2 * v[0]
    expected[3] += 2.0 + 2 * v[3]
    for _ in range(2):
        assert_allclose(grad(parts)(v), expected, rtol=1e-12)
        assert_allclose(jvp(parts, (v,), (np.ones(6),))[1], np.sum(expected), rtol=1e-12)


def test_an_array_that_fits_neither_form_is_looked_up():
    derivative = grad(layers)
    for _ in range(2):
        derivative(WEIGHTS, X)
    single = [w.astype(np.float32) for w in WEIGHTS]
    found = derivative(single, X.astype(np.float32))
    for a, b in zip(found, derivative(WEIGHTS, X), strict=True):
        assert a.dtype == np.float32
        assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
@pytest.mark.parametrize("count", ["size", "ndim"])
def test_a_count_of_an_array_is_part_of_a_statement(looked_up, count):
    def mean(x: Any) -> Any:
        if count == "size":
            return np.sum((x - 0.5) ** 2) / x.size
        return np.sum((x - 0.5) ** 2) / x.ndim

    for _ in range(2):
        found = grad(mean)(X)
    assert_allclose(found, (2 * X - 1.0) / getattr(X, count), rtol=1e-12)
    looked_up.clear()
    grad(mean)(X)
    assert looked_up == []


def test_what_runs_does_not_depend_on_earlier_calls():
    def f(a, b):
        return ((a - 0.3) * b).sum() / b.mean() + (b * 0.7).sum() * 0.1

    x = np.linspace(0.1, 1.7, 7)
    first = grad(f, argnums=(0, 1))(x, x)
    for _ in range(20):  # of two shapes there is no form
        grad(f, argnums=(0, 1))(np.ones((2, 7)), x)
    again = grad(f, argnums=(0, 1))(x, x)
    for a, b in zip(first, again, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_values_without_a_form_are_known_again(monkeypatch):
    def f(a, b):
        return np.sum(a * a) + np.sum(b * b)

    x, y = np.ones((2, 7)), np.ones(7)
    grad(f)(x, y)
    found = []
    monkeypatch.setattr(site, "kinds_of", lambda *args: found.append(args))
    grad(f)(x, y)
    assert found == []


def taking_turns(s):
    values = [s, 2, 0.5, np.float64(1.5), True, Shift(s)]
    total = 0.0
    for k in range(12):
        x = values[k % 6]
        total = total + sum_of(x * 0.5 + x)
    return total


class Shift:
    """A number with operators of its own."""

    def __init__(self, x):
        self.x = x

    def __mul__(self, other):
        return Shift(self.x * other)

    def __add__(self, other):
        return self.x + 2.0 * other.x


def sum_of(x):
    return x * x


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_types_that_take_turns_are_not_looked_up_again(looked_up):
    derivative = grad(taking_turns)
    first = derivative(0.7)
    looked_up.clear()
    assert derivative(0.7) == first
    assert looked_up == []
    step = 1e-6
    slope = (taking_turns(0.7 + step) - taking_turns(0.7 - step)) / (2 * step)
    assert_allclose(first, slope, rtol=1e-8)
    assert_allclose(jvp(taking_turns, (0.7,), (1.0,))[1], slope, rtol=1e-8)


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_arrays_that_take_turns_with_what_has_no_form_are_not_looked_up_again(looked_up):
    def f(parts: Any) -> Any:
        total = 0.0
        for part in parts:
            total = total + np.mean(part**2 + 0.5)
        return total

    parts = [np.array(0.5), X, np.array(1.5), X[0] - 1.0, X + 1.0]
    first = grad(f)(parts)
    looked_up.clear()
    for a, b, part in zip(first, grad(f)(parts), parts, strict=True):
        assert_allclose(a, 2 * part / part.size, rtol=1e-12)
        assert_allclose(b, a, rtol=0.0, atol=0.0)
    assert looked_up == []


class Filter:
    """An object with an attribute that runs code: it cannot be read before its turn."""

    def __init__(self, gain: Any) -> None:
        self._gain = gain

    @property
    def gain(self) -> Any:
        return self._gain


@pytest.mark.plain
@pytest.mark.without_modes("derivatives within others look up other forms")
def test_what_cannot_be_read_before_its_turn_is_known_again(looked_up):
    def f(gain: Any, p: Any) -> Any:
        own = Filter(gain)
        for _ in range(4):
            p = p @ own.gain @ p.T + own.gain
        return np.sum(p)

    gain, p = 0.1 * np.arange(9.0).reshape(3, 3), 0.2 * np.eye(3)
    first = grad(f)(gain, p)
    looked_up.clear()
    assert_allclose(grad(f)(gain, p), first, rtol=0.0, atol=0.0)
    assert looked_up == []
    h = 1e-6
    along = np.cos(np.arange(9.0)).reshape(3, 3)
    slope = (f(gain + h * along, p) - f(gain - h * along, p)) / (2 * h)
    assert_allclose(np.sum(first * along), slope, rtol=1e-7)
