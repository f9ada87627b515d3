"""Derivatives are pickled whenever their functions are, and run in processes and threads."""

from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from tests import pickled

X = np.array([0.3, -1.2, 0.7, 2.0])

FUNCTIONS = {
    "function": functools.partial(pickled.energy, steps=3),
    "object": pickled.Weighted(2.0),
    "method": pickled.Weighted(2.0).cubed,
    "ufunc of numpy": np.sum,
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_agree(name, protocol):
    f = FUNCTIONS[name]
    for derivative in (value_and_grad(f), grad(f), value_and_grad(f, argnums=(0,))):
        expected = derivative(X.copy())
        for twin in (
            pickle.loads(pickle.dumps(derivative, protocol)), copy.deepcopy(derivative),
        ):
            got = twin(X.copy())
            assert type(got) is type(expected)
            assert repr(got) == repr(expected)


def test_options_are_kept():
    g = pickle.loads(pickle.dumps(grad(pickled.energy, "u")))
    np.testing.assert_array_equal(g(u=X.copy(), steps=3), pickled.energy_gradient(X.copy(), 3))


def test_derivative_of_what_cannot_be_pickled_cannot_either():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(grad(lambda x: x))


def test_it_is_like_the_function():
    g = value_and_grad(pickled.energy)
    assert inspect.signature(g) == inspect.signature(pickled.energy)
    assert g.__name__ == "energy"
    assert g.__module__ == pickled.__name__
    assert repr(g) == "<value and gradient of energy with respect to 0>"
    assert repr(grad(pickled.energy, ("u",))) == "<gradient of energy with respect to ('u',)>"


def test_it_is_a_method_in_a_class():
    class Model:
        scale = 3.0

        @functools.partial(grad, argnums=1)
        def slope(self, x):
            return self.scale * x * x

    assert Model().slope(2.0) == 12.0
    assert Model.slope(Model(), 2.0) == 12.0


def test_threads():
    starts = [X * k for k in range(1, 9)]
    expected = [grad(pickled.energy)(x, 5) for x in starts]
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(grad(pickled.energy), starts, [5] * 8))
    np.testing.assert_array_equal(got, expected)


def test_processes():
    starts = [X * k for k in range(1, 5)]
    expected = [grad(pickled.energy)(x, 5) for x in starts]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        got = list(pool.map(grad(pickled.energy), starts, [5] * 4))
    np.testing.assert_array_equal(got, expected)
    with spawn.Pool(2) as pool:
        results = pool.starmap(value_and_grad(pickled.energy), [(x, 5) for x in starts])
    np.testing.assert_array_equal([g for _, g in results], expected)
