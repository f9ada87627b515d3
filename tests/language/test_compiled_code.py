"""Compiled code without a rule that is called with constants runs; what it wrote is recorded."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, checkpoint, debug_mode, grad, hvp
from tests.support.gradients import Program, Programs

spatial: Any = pytest.importorskip("scipy.spatial")
lapack: Any = pytest.importorskip("scipy.linalg.lapack")
sparse: Any = pytest.importorskip("scipy.sparse")
_sparsetools: Any = pytest.importorskip("scipy.sparse._sparsetools")

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
POINTS = np.random.default_rng(0).random((30, 3))
MATRIX = sparse.csr_matrix(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 0.5]]))
tree = spatial.cKDTree(POINTS)
triangles = spatial.Delaunay(POINTS[:, :2])
buffer = np.ones(3)


def add_product(v: Any, y: Any) -> None:
    """Add the product of a matrix and a vector to `y`, in compiled code."""
    _sparsetools.csr_matvec(3, 3, MATRIX.indptr, MATRIX.indices, MATRIX.data, v, y)


@programs(X)
def objects_that_hold_data(x):
    near, index = tree.query(POINTS[:3] + 0.01)
    own, _ = spatial.KDTree(POINTS[:9]).query(POINTS[:3], k=2)
    pairs = spatial.cKDTree(POINTS).query_pairs(0.2, output_type="ndarray")
    return np.sum(near * x**2) + np.sum(x[index % 3]) + own[:, 1] @ x * len(pairs)


@programs(X)
def factors(x):
    a, b = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]), np.ones(3)
    lu, pivots, info = lapack.dgetrf(a)
    y, info = lapack.dgetrs(lu, pivots, b)
    return np.sum(y * x**3) * (info + 1)


@programs(X)
def writes_to_what_was_used_before(x):
    y, v = np.ones(3), np.arange(3.0)
    s = np.sum(y * x)
    add_product(v, y)
    s = s * np.sum(y * x**2)
    add_product(v, y)
    return s + np.sum(y * np.sin(x))


@programs(X)
def writes_through_a_view(x):
    y = np.ones((3, 2))
    z = y * x[:, None]
    add_product(np.arange(3.0), y.T.copy()[0])
    column = np.asfortranarray(y)[:, 1]
    w = column * x
    add_product(np.arange(3.0), column)
    return np.sum(z * w[:, None]) + column @ x**2


@programs(X)
def writes_through_a_buffer(x):
    p = np.ones(3)
    y = np.sum(x * p)
    struct.pack_into("d", p.data, 8, 5.0)
    return y * np.sum(x * p)


@programs(X)
def writes_in_place_of_the_input(x):
    a = np.asfortranarray(np.eye(3) * 3.0 + 0.1)
    s = np.sum(a @ x)
    lapack.dgetrf(a, overwrite_a=True)
    return s * np.sum(a @ x**2)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def into_a_captured_buffer(x: Any) -> Any:
    s = np.sum(buffer * x)
    add_product(np.arange(3.0), buffer)
    return s * np.sum(buffer * x**2)


def test_what_it_wrote_is_undone() -> None:
    new = 1.0 + MATRIX @ np.arange(3.0)
    expected = np.sum(new * X**2) + np.sum(X) * 2 * new * X
    np.testing.assert_allclose(grad(into_a_captured_buffer)(X), expected)
    np.testing.assert_array_equal(buffer, 1.0)
    with debug_mode():
        np.testing.assert_allclose(grad(into_a_captured_buffer)(X), expected)
    hvp(into_a_captured_buffer, (X,), X)
    np.testing.assert_array_equal(buffer, 1.0)


def test_what_it_raises_passes() -> None:
    def f(x: Any) -> Any:
        try:
            tree.query(np.ones((2, 7)))
        except ValueError as error:
            return x[0] * len(str(error))

    with pytest.raises(ValueError) as caught:
        tree.query(np.ones((2, 7)))
    assert grad(f)(X)[0] == len(str(caught.value))


def test_a_checkpoint_draws_the_same_numbers_again() -> None:
    generator = np.random.RandomState(3)
    state = generator.get_state()

    def draw(x: Any) -> Any:
        return np.sum(x**2 * sparse.random(3, 1, 1.0, random_state=generator).toarray()[:, 0])

    gradient = grad(draw)(X)
    generator.set_state(state)
    np.testing.assert_array_equal(grad(lambda x: checkpoint(draw, x))(X), gradient)


# What is refused.

points = POINTS.copy()
over_points = spatial.cKDTree(points)


def of_points_that_became_active(x: Any) -> Any:
    points[0] = x
    return over_points.count_neighbors(tree, 0.2) * x[0]


def of_an_array_that_it_keeps_for_itself(x: Any) -> Any:
    words = np.ones(3)
    inflater = zlib.decompressobj(zdict=words)
    words[0] = x[0]
    return len(inflater.decompress(b"")) * x[0]


class Convertible:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((1, 3))


def that_calls_python(x: Any) -> Any:
    return triangles.find_simplex(Convertible()) * x[0]


REFUSED = {
    of_points_that_became_active: "called with .active cKDTree",
    of_an_array_that_it_keeps_for_itself: "has kept",
    that_calls_python: "calls Convertible.__array__",
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_would_be_lost_is_refused(f: Any) -> None:
    with pytest.raises(MissingRuleError, match=REFUSED[f]) as caught:
        grad(f)(X)
    assert caught.value.where is not None
