"""Errors for functions without a rule: the public name, and a fix that works."""
# ruff: noqa: E731

from __future__ import annotations

import array
import collections
import concurrent.futures
import functools
import math
import pickle
import struct
import threading
import zlib
from typing import Any

import numpy as np
import pytest

from mooncake_py import from_vjp, grad, ignore_derivatives
from mooncake_py.diagnostics.public_names import public_name
from mooncake_py.errors import MissingRuleError

X = np.array([0.3, -1.2, 0.7])

REFUSED = {
    "struct.pack": (lambda x: struct.pack("d", x[0])[0], "@from_vjp(struct.pack)"),
    "pickle.dumps": (lambda x: pickle.loads(pickle.dumps(x))[0], "copy.deepcopy"),
    "memoryview": (lambda x: memoryview(x)[0], "index the array itself"),
    "array.array": (lambda x: array.array("d", x)[0], "a list or a NumPy array"),
    "numpy.ndarray.tobytes": (lambda x: np.frombuffer(x.tobytes())[0], "index the array itself"),
    "numpy.ndarray.view": (lambda x: x.view(np.int64)[0] * 1.0, "z.real and z.imag"),
    "numpy.frompyfunc": (lambda x: np.frompyfunc(abs, 1, 1)(x)[0], "a loop"),
    "threading.Thread.start": (
        lambda x: threading.Thread(target=x.sort).start() or x[0],
        "not threads or processes in a derivative",
    ),
}


def refused(f, x=X):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(x.copy())
    error = caught.value
    assert error.where is not None
    assert error.where.file == __file__
    return error


@pytest.mark.parametrize("name", REFUSED)
def test_name_and_mend(name):
    f, fix = REFUSED[name]
    if name == "numpy.frompyfunc":
        f = lambda x: np.frompyfunc(lambda v: v, 1, 1)(x)[0]
    error = refused(f)
    assert error.what == f"no rule for {name}"
    assert fix in error.fix


def test_the_mend_for_what_frompyfunc_made_is_python():
    sine = np.frompyfunc(math.sin, 1, 1)
    fix = refused(lambda x: np.sum(sine(x))).fix
    assert "use np.vectorize(f, otypes=[float])" in fix
    assert "declare a rule for that function\n    def call(x):" in fix
    assert "(vectorized)" not in fix


def test_functions_of_scipy():
    special = pytest.importorskip("scipy.special")
    linalg = pytest.importorskip("scipy.linalg")
    error = refused(lambda x: special.keip(x).sum())
    assert error.what == "no rule for scipy.special.keip"
    assert "elementwise(scipy.special.keip, lambda x, out: ...)" in error.fix
    error = refused(lambda x: special.elliprc(x, x).sum())
    assert "elementwise(scipy.special.elliprc, lambda x, y, out: ..., lambda x, y, out: ...)" in (
        error.fix
    )
    error = refused(lambda x: linalg.rq(np.diag(x * x) + 1.0)[0].sum())
    assert error.what == "no rule for scipy.linalg.rq"
    assert "dgerqf" in error.why


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (functools.reduce, "functools.reduce"),
        (np.linalg.norm, "numpy.linalg.norm"),
        (np.ndarray.sum, "numpy.ndarray.sum"),
        (np.ndarray, "numpy.ndarray"),
        (np.add, "numpy.add"),
        (collections.deque.append, "collections.deque.append"),
        (len, "len"),
        (np.linalg._umath_linalg.eigvals, None),
        (lambda x: x, None),
    ],
)
def test_public_name(f, name):
    assert public_name(f) == name


class Holder:
    def __init__(self, a):
        self.a = a


def compiled(p, x):
    return np.asarray(p["a"] if isinstance(p, dict) else p.a) * x


@from_vjp(compiled)
def compiled_rule(p, x):
    a = p["a"] if isinstance(p, dict) else p.a
    return a * x, lambda dy: (None, dy * a)


@pytest.mark.parametrize("hold", [Holder, lambda a: {"a": a}, lambda a: [Holder(a)][0]])
def test_active_parts_of_an_argument_that_a_rule_cannot_reach(hold):
    with pytest.raises(MissingRuleError, match="no derivative with respect to argument 0"):
        grad(lambda x: np.sum(compiled(hold(2 * x), x)))(X)
    constant = hold(np.ones(3))
    np.testing.assert_array_equal(grad(lambda x: np.sum(compiled(constant, x)))(X), np.ones(3))


POINTS = np.random.default_rng(3).normal(size=(7, 2))


def lengths(found: Any, points: Any) -> Any:
    corners = points[found]
    return np.sum((corners[:, 0] - corners[:, 1]) ** 2)


@pytest.mark.parametrize(
    ("kind", "indices"),
    [("ConvexHull", "simplices"), ("Delaunay", "simplices"), ("Voronoi", "ridge_points")],
)
def test_the_mend_for_triangulations_serves(kind, indices):
    make = getattr(pytest.importorskip("scipy.spatial"), kind)
    with pytest.raises(
        MissingRuleError, match=rf"ignore_derivatives\({kind}, points\)\n.*{indices}"
    ):
        grad(lambda points: lengths(getattr(make(points), indices), points))(POINTS)

    def f(points):
        found = ignore_derivatives(make, points)
        return lengths(getattr(found, indices), points)

    indices_of = getattr(make(POINTS), indices)
    expected = grad(lambda points: lengths(indices_of, points))(POINTS)
    for mode in ("reverse", "forward"):
        np.testing.assert_allclose(grad(f, mode=mode)(POINTS), expected)


def test_the_mend_for_bytes_that_are_keys_serves():
    def f(x, key):
        return np.sum(x) * {key(x): 3.0}[key(x)]

    with pytest.raises(MissingRuleError, match=r"key only, ignore_derivatives\(x\.tobytes\)"):
        grad(f)(X, lambda x: x.tobytes())
    for mode in ("reverse", "forward"):
        g = grad(f, mode=mode)(X, lambda x: ignore_derivatives(x.tobytes))
        np.testing.assert_array_equal(g, [3.0, 3.0, 3.0])


def test_threads_and_processes_are_not_advised_to_have_rules():
    def starts(x):
        thread = threading.Thread(target=x.sort)
        thread.start()
        return x[0]

    def maps(x):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return sum(pool.map(np.sin, x))

    for f in (starts, maps):
        with pytest.raises(MissingRuleError) as caught:
            grad(f)(np.ones(2))
        assert "not threads or processes in a derivative" in caught.value.fix
        assert "from_vjp" not in caught.value.fix


def test_a_function_has_the_name_of_its_own_module():
    import zipfile  # which has the function too, and comes first

    assert zipfile.crc32 is zlib.crc32  # pyright: ignore[reportAttributeAccessIssue]
    assert public_name(zlib.crc32) == "zlib.crc32"
