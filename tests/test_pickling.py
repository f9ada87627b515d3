"""Derivatives are pickled whenever their functions are, and run in processes and threads."""

from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
import pydoc
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from mooncake_py import NoFData, NoRData, NoTangent, grad, value_and_grad
from mooncake_py.errors import Location, MooncakeError
from tests import pickled
from tests.support.pairs import rotating

X = np.array([0.3, -1.2, 0.7, 2.0])

FUNCTIONS = {
    "function": functools.partial(pickled.energy, steps=3),
    "object": pickled.Weighted(2.0),
    "method": pickled.Weighted(2.0).cubed,
    "ufunc of numpy": np.sum,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_agree(name, protocol):
    f = FUNCTIONS[name]
    for derivative in (value_and_grad(f), grad(f), value_and_grad(f, argnums=(0,))):
        expected = derivative(X.copy())
        for twin in (
            pickle.loads(pickle.dumps(derivative, protocol)),
            copy.deepcopy(derivative),
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


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_threads():
    starts = [X * k for k in range(1, 9)]
    expected = [grad(pickled.energy)(x, 5) for x in starts]
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(grad(pickled.energy), starts, [5] * 8))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.slow
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
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


def test_fork():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    if "jax" in sys.modules:
        pytest.skip("JAX has threads, of which a fork knows nothing")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.starmap(value_and_grad(pickled.energy), [(X * k, 5) for k in range(3)])
    expected = [grad(pickled.energy)(X * k, 5) for k in range(3)]
    np.testing.assert_array_equal([g for _, g in results], expected)


@pytest.mark.slow
def test_joblib():
    joblib = pytest.importorskip("joblib")
    jobs = [joblib.delayed(grad(lambda x, k: np.sum(x * x) * k))(X, k) for k in (1.0, 2.0)]
    np.testing.assert_array_equal(joblib.Parallel(2)(jobs), [2 * X, 4 * X])


def error_classes(base: type[MooncakeError] = MooncakeError) -> list[type[MooncakeError]]:
    found = [base]
    for inner in base.__subclasses__():
        found += error_classes(inner)
    return [c for c in found if c.__module__.startswith("mooncake_py.")]


@pytest.mark.parametrize(
    ("cls", "protocol"), rotating(error_classes(), range(pickle.HIGHEST_PROTOCOL + 1), times=2)
)
def test_errors(cls, protocol):
    where = Location("model.py", 3, "energy", 4, 9)
    error = cls("what", where=where, why="why", fix="fix")
    error.add_note("a note")
    assert type(cls.__new__(cls, *error.args)) is cls  # as other packages unpickle errors
    for twin in (
        pickle.loads(pickle.dumps(error, protocol)),
        copy.copy(error),
        copy.deepcopy(error),
    ):
        assert type(twin) is cls
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_results(protocol):
    for single in (NoTangent(), NoFData(), NoRData()):
        assert pickle.loads(pickle.dumps(single, protocol)) is single
        assert copy.deepcopy(single) is single
    model = pickled.Weighted(2.0)
    parts = model, X, {"k": 3.0, "n": 2}
    gradient = grad(lambda p: p[0](p[1]) * p[2]["k"])(parts)
    twin = pickle.loads(pickle.dumps(gradient, protocol))
    assert repr(twin) == repr(gradient)
    assert type(twin[0]) is pickled.Weighted
    assert twin[2]["n"] is NoTangent()


def test_partial_help_and_signature():
    g = functools.partial(grad(pickled.energy), steps=2)
    np.testing.assert_array_equal(g(X.copy()), grad(pickled.energy)(X.copy(), 2))
    assert str(inspect.signature(grad(pickled.energy))) == str(inspect.signature(pickled.energy))
    assert "energy(u: " in pydoc.plain(pydoc.render_doc(grad(pickled.energy)))
