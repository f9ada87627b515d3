"""Functions of each number and array in a structure."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from mooncake_py import flatten, grad, tree_leaves, tree_map
from tests.utilities.support import WAYS
from tests.utilities.test_flattening import Model, Slotted, assert_same, structure

Pair = namedtuple("Pair", "first second")


def test_leaves_are_in_the_order_of_flatten() -> None:
    params = structure()
    leaves = tree_leaves(params)
    assert leaves[0] is params["layers"][0].weights
    real = [a for a in leaves if not np.iscomplexobj(a)]
    assert len(real) == len(leaves) - 2
    np.testing.assert_array_equal(
        flatten(params)[0], np.concatenate([flatten(leaf)[0] for leaf in leaves])
    )


def test_a_structure_like_the_first() -> None:
    params = structure()
    assert_same(tree_map(lambda leaf: leaf, params), params)
    doubled = tree_map(lambda a, b: a + b, params, params)
    np.testing.assert_array_equal(flatten(doubled)[0], 2.0 * flatten(params)[0])


def test_a_step_along_the_gradient_of_objects() -> None:
    params = {"model": Model(3.0), "slots": Slotted(), "pair": Pair(1.0, np.ones(2)), "n": 3}

    def loss(p: Any) -> Any:
        return p["model"](np.array([1.0, 10.0])) * p["slots"].secret() + np.sum(p["pair"].second)

    moved = tree_map(lambda x, dx: x - 0.1 * dx, params, grad(loss)(params))
    assert type(moved["model"]) is Model
    assert moved["model"].calls == 0
    np.testing.assert_allclose(moved["model"].w, [1.0 - 0.1 * 12.0, 2.0 - 0.1 * 120.0])
    np.testing.assert_allclose(moved["pair"].second, [0.9, 0.9])
    assert moved["n"] == 3
    assert params["model"].scale == 3.0


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_inside_derivatives(way: Any) -> None:
    def f(x: Any) -> Any:
        params = {"a": x, "b": [x[0], 2.0]}
        squares = tree_map(lambda u, v: u * v, params, params)
        return sum(np.sum(leaf) for leaf in tree_leaves(squares))

    np.testing.assert_allclose(way(f, np.array([1.0, 3.0])), [4.0, 6.0])


def test_structures_that_differ() -> None:
    with pytest.raises(ValueError, match=r"nothing at \['a'\]\[1\]"):
        tree_map(lambda a, b: a, {"a": [1.0, 2.0]}, {"a": [1.0]})
    with pytest.raises(ValueError, match=r"nothing at \.w of"):
        tree_map(lambda a, b: a, Model(1.0), {"w": 1.0, "scale": 2.0})
    with pytest.raises(TypeError, match="tree_leaves does not look into a matrix"):
        tree_leaves(np.ones(2).view(np.matrix))
