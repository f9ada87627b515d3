"""Idioms of arrays in ordinary code, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B007, B008, B009, C400, C420, E741, F841

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, value_and_grad
from tests.support.directions import check_jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def ndenumerate(a):
    t = 0.0
    for i, v in np.ndenumerate(a):
        t += v * v
    return t


@programs(X)
def flat_next(a):
    it = iter(a.flat)
    return next(it) * next(it)


@programs(X)
def flat_next2(a):
    it = a.flat
    return next(it) * next(it)


@programs(X)
def flat_list(a):
    return sum(list(a.flat))


@programs(X)
def flat_sum(a):
    return sum(a.flat)


@programs(X)
def tolist(a):
    return sum(v * v for v in a.tolist())


@programs(X)
def piecewise(a):
    return np.sum(np.piecewise(a, [a < 0, a >= 0], [lambda v: -v, lambda v: v * v]))


@programs(X)
def fromfunction(a):
    return np.sum(np.fromfunction(lambda i: i * a, (3,)))


@programs(X)
def fromiter(a):
    return np.sum(np.fromiter((v * v for v in a), float))


@programs(X)
def select(a):
    return np.sum(np.select([a < 0, a > 0.5], [a * 2, a * 3], a))


@programs(X)
def setarr(a):
    return sum(set(a))


@programs(X)
def dictkeys(a):
    return sum({v: 1 for v in a})


@programs(X)
def reversed_array(a):
    return next(reversed(a)) * next(iter(reversed(a[:1])))


@programs(X)
def stepwise(a):
    b = np.array([v * 2 for v in a])
    c = np.array([[v, v * v] for v in a])
    return np.sum(b) * np.sum(c)


@programs(X)
def nested_list_arr(a):
    return np.sum(np.array([[a[0], 1.0], [2.0, a[1]]]) @ np.array([a[1], a[2]]))


@programs(X)
def asarr_tuple(a):
    return (
        np.sum(np.asarray((a[0], a[1])) ** 2)
        + np.sum(np.stack([a, a * 2]))
        + np.sum(np.array([a, a]))
    )


@programs(X)
def npfunc_list(a):
    return (
        np.sum([a[0], a[1]])
        + np.mean([v * v for v in a])
        + np.dot([a[0], 1.0], [2.0, a[1]])
        + np.linalg.norm([a[0], a[1]])
    )


@programs(X)
def npmax(a):
    return (
        np.max([a[0], a[1]])
        + np.maximum(a[0], 0.1)
        + np.sum(np.where([True, False], [a[0], a[1]], 0.0))
    )


@programs(X)
def full(a):
    return (
        np.sum(np.full(3, a[0]))
        + np.sum(np.full((2,), a[1] * 2))
        + np.sum(np.linspace(0, a[2], 3))
        + np.sum(np.arange(0.0, 2.0) * a[0])
    )


@programs(X)
def arange_active(a):
    return np.sum(np.arange(a[0], 3.0))


@programs(X)
def fill(a):
    b = np.zeros(3)
    b.fill(a[0])
    b.flat = a[1]
    b[1:] = [a[2], a[0]]
    return np.sum(b * b)


@programs(X)
def put(a):
    b = np.zeros(3)
    np.put(b, [0], a[0])
    b.put([1], a[1] * 2)
    np.copyto(b[2:], a[2:])
    return np.sum(b * b)


@programs(X)
def itemset(a):
    b = np.zeros(3)
    operator.setitem(b, 0, a[0])
    b.__setitem__(1, a[1] * 3)
    return np.sum(b) + a.__getitem__(2)


@programs(X)
def outkw(a):
    b = np.empty(3)
    np.multiply(a, 2, out=b)
    np.sum(a, out=b[:1].reshape(()))
    return np.sum(b)


@programs(X)
def cumout(a):
    b = np.zeros(3)
    np.cumsum(a, out=b)
    np.add.reduce(a, out=b[0:1].reshape(()))
    return np.sum(b * b)


@programs(X)
def outint(a):
    b = np.zeros(3)
    np.floor(a, out=b)
    return np.sum(b * a)


@programs(X)
def matout(a):
    b = np.zeros(3)
    np.dot(np.outer(a, a), a, out=b)
    return np.sum(b)


@programs(X)
def clipout(a):
    np.clip(a, -1, 0.5, out=a)
    return np.sum(a * a)


@programs(X)
def takeout(a):
    b = np.zeros(2)
    np.take(a, [0, 2], out=b)
    return np.sum(b * b)


@programs(X)
def inactive_buffer(a):
    p_ = np.ones(3)
    t = 0.0
    for k in range(3):
        t = t + np.sum(a * p_)
        np.multiply(p_, 2.0, out=p_)
        p_.sort()
        p_.fill(k + 1.0)
    return t


@programs(X)
def rng_inplace(a):
    b = np.ones(3)
    y = np.sum(a * b)
    np.random.default_rng(0).random(out=b)
    return y + np.sum(a * b)


@programs(X)
def list_of_views(a):
    v = [a[:1], a[1:]]
    v[0] *= 2
    v[1] += v[0]
    return np.sum(a * a)


@programs(X)
def dict_views(a):
    d = dict(enumerate(a))
    return (
        sum(d.values()) * len(d.keys())
        + sum((k * v for k, v in d.items()))
        + sum(map(operator.mul, d.values(), d.values()))
    )


@programs(X)
def dictviewarr(a):
    d = {"a": a[0], "b": a[1]}
    return np.sum(np.array(list(d.values()))) + np.sum(np.fromiter(d.values(), float))


@programs(X)
def argm(a):
    return a[np.argmax(a)] * a[np.argsort(a)][0] * a[a > 0].sum()


@programs(X)
def boundm(a):
    f = a.sum
    g = a.dot
    h = a.copy
    i = a.__getitem__
    return f() + g(a) + h()[0] + i(1)


@programs(X)
def getter_str(a):
    return getattr(a, "sum")() + getattr(a, "T")[0] + a.real[0] + np.ndarray.sum(a)


@programs(2.0)
def arrproto(x):

    class T:
        def __init__(s, v):
            s.v = v

        def __array__(s, dtype=None, copy=None):
            return np.array([1.0, 2.0]) * s.v

    return np.sum(np.asarray(T(x)))


@programs(X)
def rng_shuffle(a):
    q = np.array([1.0, 2.0, 3.0])
    y = np.sum(a * q)
    np.random.default_rng(0).shuffle(q)
    return y + np.sum(q * a)


@programs(X)
def rng_shuffle_active(a):
    b = a * 2
    np.random.default_rng(0).shuffle(b)
    return b[0] * 3 + b[1]


@programs(X)
def rows(a):
    m = np.outer(a, a)
    for r in m:
        r *= 2
        r[0] += a[0]
    return np.sum(m * m)


@programs(X)
def swap_elems(a):
    a[0], a[2] = (a[2], a[0] * 3)
    return a[0] * 2 + a[2]


@programs(X)
def mem_overlap(a):
    b = a[::-1]
    b[:] = a
    a += b
    return np.sum(a * a * [1.0, 2.0, 3.0])


@programs(X)
def ufunc_self(a):
    np.multiply(a, a[::-1], out=a)
    np.add(a[1:], a[:-1], out=a[1:])
    return np.sum(a * [1.0, 2.0, 3.0])


@programs(X)
def where_out(a):
    b = np.full(3, 2.0)
    np.sqrt(np.abs(a), out=b, where=a > 0)
    np.divide(a, b, out=b, where=b > 1)
    return np.sum(b * b)


@programs(X)
def inactive_then_active(a):
    b = np.zeros(3)
    v = b[1:]
    w = v[::-1]
    b[1] = a[0] * a[1]
    return np.sum(w) * np.sum(v) + b.sum()


@programs(X)
def closure_arr(a):
    b = np.zeros(3)

    def f(i):
        b[i] = a[i] * 2
        return b

    def g():
        return np.sum(b * b)

    f(0)
    f(1)
    return g()


@programs(X)
def gen_arr(a):
    b = np.zeros(3)
    list((b.__setitem__(i, v) for i, v in enumerate(a)))
    return np.sum(b * b)


@programs(X)
def mapset(a):
    b = np.zeros(3)
    list(map(b.__setitem__, range(3), a))
    return np.sum(b * b)


@programs(2.0)
def complexarg(x):
    z = np.exp(1j * x)
    w = z * np.conj(z) + z.real
    return float(w.real) + np.angle(z) + abs(z**2)


@programs(X)
def castint(a):
    return np.sum(a * a.astype(int)) + np.sum(a * np.round(a))


@programs(X)
def castf32(a):
    return float(np.sum((a.astype(np.float32).astype(float) * 0 + a) ** 2))


@programs(X)
def default_np(a, w=np.array([1.0, 2.0, 3.0])):
    w *= a
    y = np.sum(w)
    w /= a
    return y * np.sum(w)


@programs(X)
def type_switch(a):
    t = 0
    for v in a:
        t = t + v if v > 0 else t - v
    return t


@programs(X)
def readonly_arg(a):
    return np.sum(np.broadcast_to(a, (2, 3)) * 2)


@programs(X)
def intermediate_del(a):
    b = a * 2
    c = b * b
    del b
    b = None
    d = c[1:]
    del c
    return np.sum(d * d)


@programs(X)
def id_reuse(a):
    t = 0.0
    for k in range(30):
        b = a * k
        t = t + np.sum(b * b)
        del b
        c = np.ones(3)
        c[0] = k
        t = t + c[0] * a[0]
    return t


@programs(X)
def weak(a):
    l = []
    for k in range(3):
        v = a[k : k + 1]
        v *= 2
        l.append(v)
    return l[0][0] * l[1][0] + l[2][0]


@programs(X)
def assert_np(a):
    np.testing.assert_allclose(a, a)
    assert np.all(np.isfinite(a))
    np.testing.assert_array_equal(a.shape, (3,))
    return np.sum(a * a)


@programs(X)
def printarr(a):
    s = str(a) + repr(a) + np.array2string(a) + f"{a}"
    return np.sum(a)


@programs(X)
def scalar_reshaped_to_no_axes(a):
    return np.sum(a * a).reshape(())


@programs(X)
def ranges_as_operands(a):
    b = a - range(3) + range(3) / (a + 3.0) + a[0] * range(1, 4)
    a += range(3)
    a *= range(1, 4)
    a[1:] -= range(2)
    return np.sum(a * b) + range(3) @ a


@programs(X)
def ranges_in_functions(a):
    y = np.where(a > range(3), a, range(3)) + np.hypot(a, range(1, 4))
    return np.dot(y, range(3)) + np.concatenate([a, range(2)]).sum() * np.interp(a[0], range(3), a)


@programs(X)
def a_loop_that_makes_integers_floats(a):
    x = np.arange(3)
    y = np.zeros_like(x)
    for c in a:
        y = y * x + c
    return np.sum(y) + np.polyval(a, [1, 2]).sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()


@pytest.mark.parametrize(
    "f", [ranges_as_operands, ranges_in_functions, a_loop_that_makes_integers_floats]
)
def test_tangent(f: Any) -> None:
    check_jvp(f, X)
    with debug_mode():
        np.testing.assert_allclose(grad(f)(X.copy()), grad(f)(X.copy()))


@pytest.mark.parametrize(
    "convert",
    [np.asarray, np.array, np.ravel, np.flatiter.__array__, lambda flat: np.array(flat, float)],
)
def test_arrays_of_flat_iterators_share_memory_as_in_numpy(convert):
    def f(x):
        a = x * 1.0
        convert(a.flat)[1] = 9.0 * x[0, 0]
        return np.sum(a * a)

    x = np.arange(1.0, 7.0).reshape(2, 3)
    value, g = value_and_grad(f)(x)
    assert value == f(x)
    shared = value > 100.0
    np.testing.assert_allclose(g, 2 * x + [[162.0, -4.0, 0.0], [0.0] * 3] if shared else 2 * x)


def test_arrays_of_strided_flat_iterators_cannot_be_written():
    def f(x):
        np.asarray((x * 1.0).T.flat)[1] = 9.0
        return 0.0

    for run in (f, value_and_grad(f)):
        with pytest.raises(ValueError, match="read-only"):
            run(np.ones((2, 3)))
