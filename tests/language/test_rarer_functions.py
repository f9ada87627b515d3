"""Functions of NumPy that programs call less often, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: C417

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


@programs(X)
def fromit(x):
    return (np.fromiter((v * v for v in x), float) * x).sum()


@programs(X)
def fromit_count(x):
    return np.fromiter((v * v for v in x), dtype=np.float64, count=2).prod()


@programs(X)
def fromit_map(x):
    return (np.fromiter(map(lambda v: v * v, x), float, 3) * x).sum()


@programs(X)
def fromit_list(x):
    return np.fromiter([x[0], x[1] * 2], float).prod()


@programs(X)
def fromit_arr(x):
    return np.fromiter(x, float).prod()


@programs(X)
def fromit_const_write(x):
    out = np.zeros(3)

    def g():
        for i in range(3):
            out[i] = x[i] * x[i]
            yield i

    k = np.fromiter(g(), int)
    return (out * k).sum()


@programs(X)
def sel(x):
    return np.select([x < 0, x > 0.5], [x * x, x**3], default=x[0]).sum()


@programs(X)
def sel_nodef(x):
    return np.select([x < 0, x > 0.5], [x * x, 2.0]).sum()


@programs(X)
def cho(x):
    return np.choose([0, 1, 0], [x, x * x]).sum()


@programs(X)
def cho_m(x):
    return np.array([0, 1, 2]).choose([x, x * x, 3.0]).sum()


@programs(X)
def where1(x):
    return x[np.where(x > 0)].prod()


@programs(M)
def where1m(m):
    i, j = np.where(m > 0)
    return (m[i, j] * i).sum()


@programs(X)
def where1x(x):
    return x[np.where(x)[0]].prod()


@programs(X)
def swv(x):
    return np.lib.stride_tricks.sliding_window_view(x, 2).prod(axis=1).sum()


@programs(M)
def swv2(m):
    return (np.lib.stride_tricks.sliding_window_view(m, (2, 2)) ** 2).sum()


@programs(M)
def swv_ax(m):
    w = np.lib.stride_tricks.sliding_window_view(m, 2, axis=1)
    return (w.mean(axis=-1) ** 3).sum()


@programs(X)
def swv_w(x):
    y = x.copy()
    w = np.lib.stride_tricks.sliding_window_view(y, 2, writeable=True)
    w[0] = 2 * w[1]
    return (y**2).sum()


@programs(X)
def swv_fresh(x):
    w = np.lib.stride_tricks.sliding_window_view(x * x, 2)
    return (w[0] * w[1]).sum()


@programs(X)
def asstr(x):
    y = x * x
    w = np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8))
    return (w**2).sum()


@programs(X)
def bto(x):
    return (np.broadcast_to(x, (2, 3)) ** 2).sum()


@programs(X)
def barr(x):
    a, b = np.broadcast_arrays(x, x[:, None])
    return (a * b * b).sum()


@programs(X)
def flat_it(x):
    t = 0.0
    for v in x.reshape(3, 1).flat:
        t += v * v
    return t


@programs(X)
def np_bcast_obj(x):
    b = np.broadcast(x, x[:, None])
    t = 0.0
    for u, v in b:
        t += u * v
    return t


@programs(X)
def c_(x):
    return (np.r_[x, x**2, 1.0] * np.arange(7)).sum() + np.c_[x, x * x].prod()


@programs(X)
def interp_(x):
    return np.interp(0.5, [0, 1, 2], x)


@programs(X)
def poly1d_(x):
    return np.poly1d(x)(2.0)


@programs(X)
def poly1d_arr(x):
    return np.poly1d([1.0, 2.0, 3.0])(x).sum()


@programs(X)
def polyn(x):
    return np.polynomial.Polynomial(x)(0.7)


@programs(X)
def cheb(x):
    return np.polynomial.Chebyshev([1.0, 2.0, 3.0])(x).sum()


@programs(X)
def trapz_(x):
    return np.trapezoid(x * x, dx=0.1)


@programs(X)
def gradient_(x):
    return (np.gradient(x) ** 2).sum()


@programs(M)
def einsum_path(m):
    return np.einsum("ij,kj->", m, m, optimize=True)


@programs(X)
def ix(x):
    return np.outer(x, x)[np.ix_([0, 2], [1, 2])].sum()


@programs(X)
def vsplit(x):
    a, b, c = np.split(x, 3)
    return (a * b * c).sum()


@programs(X)
def errst(x):
    with np.errstate(all="ignore"):
        return np.sqrt(np.abs(x)).sum()


@programs(M)
def histw(m):
    return np.bincount([0, 1, 0], weights=m[0]).prod()


@programs(X)
def dgz(x):
    return (x * np.digitize(x, [0.0, 0.5])).sum()


@programs(X)
def lookfor_map_astype(x):
    return np.array(list(map(lambda v: v * v, x))).sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
