"""Fields of structured arrays: those of floats are active, the others are data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, grad, hvp, jvp
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


def sets_attributes(x):
    r = np.zeros(3, KIND).view(np.recarray)
    r.mass = x * x
    r.count = [1, 2, 3]
    r.v[:] = 2.0 * x
    r.v += 1.0
    return np.sum(r.mass * r.count) + np.sum(r.v**2 * r.mass)


def sets_attributes_of_a_record(x):
    r = np.rec.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)])
    r[0].a = x[0] * x[1]
    first = r[1]
    first.a = x[2]
    return r.a[0] * r[1].a * r[0].b


def sets_fields_by_offset(x):
    p = np.zeros(3, KIND)
    p.setfield(x * x, "f8", 0)
    return np.sum(p.getfield(np.dtype("f8"), 0) * x)


@pytest.mark.parametrize(
    "f",
    [
        sets_attributes,
        sets_attributes_of_a_record,
        sets_fields_by_offset,
    ],
)
def test_attributes_of_record_arrays(f):
    step = 1e-6 * np.eye(3)
    slopes = np.array([(f(X + d) - f(X - d)) / 2e-6 for d in step])
    assert_allclose(grad(f)(X), slopes, rtol=1e-7)
    assert_allclose(grad(f, debug=True)(X), slopes, rtol=1e-7)
    assert_allclose(jvp(f, (X,), (np.ones(3),))[1], np.sum(slopes), rtol=1e-7)
    assert_allclose(grad(lambda x: checkpoint(f, x) * 1.0)(X), slopes, rtol=1e-7)
