"""`test_rule` finds the rule itself: registered, declared, or derived from source."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mooncake_py.errors import RuleTestError
from mooncake_py.rules import registry
from mooncake_py.rules.rrule import rrule
from mooncake_py.tangents import CoDual, NoFData, NoRData
from mooncake_py.testing import test_rule

X = np.random.default_rng(20240504).uniform(0.5, 1.5, size=(3, 4))


def total_cube(x):
    return float(np.sum(x**3))


def register_with_factor(factor: float) -> None:
    @rrule.register(total_cube, mutates=(), replace=True)
    def total_cube_rrule(_, x):
        def total_cube_pullback(dy):
            x.increment(dy * factor * x.primal**2)
            return NoRData(), NoRData()

        return CoDual(total_cube(x.primal), NoFData()), total_cube_pullback


@pytest.fixture
def unregister() -> Iterator[None]:
    yield
    registry._rules.pop(total_cube, None)


@pytest.mark.usefixtures("unregister")
def test_registered_rule_is_the_one_that_is_checked() -> None:
    register_with_factor(3.0)
    test_rule(total_cube, X, dtypes=False)
    register_with_factor(2.0)
    with pytest.raises(RuleTestError, match=r"total_cube: check 'derivative' failed at args\[0\]"):
        test_rule(total_cube, X)


def test_declared_rules() -> None:
    test_rule(np.sin, X)
    test_rule(np.multiply, X, X[0])
    test_rule(np.linalg.solve, X[:, :3] + 3 * np.eye(3), X[:, 3])


def relax(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def accumulate_in(items, scale):
    items.append(scale * items[-1])
    return items[0] * items[-1]


def scaled_by(w: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    def scaled(x):
        return x * w

    return scaled


def test_derived_rules() -> None:
    test_rule(relax, X[0].copy(), 3)
    test_rule(accumulate_in, [2.0, 3.0], 1.5)


def test_derived_rule_of_a_closure() -> None:
    test_rule(scaled_by(X[0]), X[1])


class Box:
    pass


@pytest.mark.thorough
def test_functions_that_fill_or_empty_containers() -> None:
    def fill_list(items, x):
        items.append(x * 2.0)
        items.append(float(x[0, 0]))

    def fill_dict(table, x):
        table["x"] = x * x

    def fill_object(box, x):
        box.parts = [x * x]

    def replace_in_object(box, x):
        del box.parts
        box.other = x * 3.0

    box = Box()
    box.parts = X  # pyright: ignore[reportAttributeAccessIssue]
    test_rule(fill_list, [], X)
    test_rule(fill_dict, {}, X)
    test_rule(fill_object, Box(), X)
    test_rule(replace_in_object, box, X)
    test_rule(lambda items: items.pop() * 2.0, [X, X * 2.0])
    test_rule(lambda table: table.clear(), {"x": X})
