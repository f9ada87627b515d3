"""Fields of structured arrays: those of floats are active, those beside them are data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp
from mooncake_py.errors import DerivativeDropError

X = np.array([0.5, 2.0, -1.5])
KIND = np.dtype([("mass", "f8"), ("count", "i8"), ("alive", "?"), ("v", "f8"), ("name", "U4")])


def particles(x):
    p = np.zeros(3, KIND)
    p["count"] = [1, 2, 4]
    p["alive"] = [True, False, True]
    p["mass"] = x * x
    p["v"][1:] = 2.0 * x[:-1]
    p["count"][1] += 2
    p["name"][0] = "a"
    total = 0.0
    for i in range(len(p)):
        if p["alive"][i] and p["name"][i] != "b":
            total += p["mass"][i] * p["count"][i]
    chosen = p["mass"][p["count"] == 4]
    p["count"][:] = p["count"][::-1].copy()
    return (
        total * p["v"].sum() + np.sum(chosen * chosen) / p["count"].sum() + max(p["count"]) * x[0]
    )


def given(p, x):
    p["mass"] *= x
    p["count"] += 1
    return np.sum(p["mass"] * p["count"] + p["v"])


def test_all_modes():
    v = np.array([1.0, -0.5, 0.25])
    step = 1e-6
    along = (particles(X + step * v) - particles(X - step * v)) / (2 * step)
    assert_allclose(grad(particles)(X) @ v, along, rtol=1e-8)
    assert_allclose(jvp(particles, (X,), (v,))[1], along, rtol=1e-8)
    both = jvp(particles, (X,), [(v,), (2.0 * v,)])[1]
    assert_allclose(both, [along, 2.0 * along], rtol=1e-8)
    second = (grad(particles)(X + step * v) - grad(particles)(X - step * v)) / (2 * step)
    assert_allclose(hvp(particles, (X,), v), second, rtol=1e-6)


def test_what_is_given_is_restored():
    p = np.zeros(3, KIND)
    p["mass"], p["count"], p["v"] = [1.0, 2.0, 3.0], [1, 2, 3], X
    before = p.copy()
    assert_allclose(grad(given, 1)(p, X), [2.0, 6.0, 12.0])
    assert_array_equal(p, before)
    assert_allclose(jvp(lambda x: given(p, x), (X,), (np.ones(3),))[1], 20.0)


def test_bytes_of_floats_are_not_read_as_ints():
    union = np.dtype({"names": ["x", "bits"], "formats": ["f8", "i8"], "offsets": [0, 0]})

    def f(x):
        p = np.zeros(3, union)
        p["x"] = x
        return np.sum(p["bits"] * x)

    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(DerivativeDropError):
            derivative()
