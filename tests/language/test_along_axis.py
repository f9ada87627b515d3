"""`np.apply_along_axis` and `np.apply_over_axes`, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


@programs(M)
def aaa(m):
    return np.apply_along_axis(lambda r: (r * r).sum(), 1, m).prod()


@programs(M)
def aaa0(m):
    return (np.apply_along_axis(lambda r: np.cumsum(r) * r, 0, m) ** 2).sum()


@programs(M)
def aaa_args(m):
    return (np.apply_along_axis(lambda r, k, p=1: r * k + p, 1, m, 3.0, p=m[0, 0]) ** 2).sum()


@programs(M)
def aaa_scalar(m):
    return np.apply_along_axis(lambda r: r[0] * r[-1], 0, m).sum()


@programs(M)
def aaa_sort(m):
    return (np.apply_along_axis(np.sort, 1, m) * np.arange(6).reshape(2, 3)).sum()


@programs(M)
def aaa_mat(m):
    return (np.apply_along_axis(lambda r: np.outer(r, r), 1, m) ** 2).sum()


@programs(M)
def aaa_write(m):
    a = m.copy()

    def g(r):
        r[0] = r[1] * r[2]
        return r.sum()

    return np.apply_along_axis(g, 1, a).sum() + (a**2).sum()


@programs(M)
def aaa_list(m):
    return np.apply_along_axis(lambda r: [r[0], r[1] * 2], 1, m).sum()


@programs(M)
def aoa(m):
    return np.apply_over_axes(np.sum, m * m, [0, 1]).item()


@programs(M)
def aoa_fn(m):
    return (np.apply_over_axes(lambda a, ax: np.sum(a * a, ax), m, [0]) ** 2).sum()


@programs(M)
def aaa_lists(m):
    return np.apply_along_axis(lambda r: r.sum(), -1, m.tolist()).prod()


@programs(M)
def aaa_vec(m):
    return np.apply_along_axis(lambda r: r.prod(), 0, m[0])


@programs(M)
def aaa_1d(m):
    return np.apply_along_axis(lambda r: r * r[0], 0, m[0]).sum()


@programs(M)
def aaa_int_first(m):
    return np.apply_along_axis(lambda r: 0 if r[0] > 0.5 else r[1], 1, m).sum() * m[0, 0]


@programs(M)
def aaa_tuple(m):
    return np.apply_along_axis(lambda r: (r[0], r[1]), 1, m).sum()


@programs(M)
def aaa_3d(m):
    t = np.stack([m, m * m, m + 1])
    return (np.apply_along_axis(lambda r: np.outer(r, r)[:2], 1, t) ** 2)[0].sum()


@programs(M)
def aaa_builtin(m):
    return (
        np.apply_along_axis(max, 1, m).sum()
        + np.apply_along_axis(sum, 0, m).prod()
        + np.apply_along_axis(len, 1, m).sum()
    )


@programs(M)
def aaa_conv(m):
    return (np.apply_along_axis(np.convolve, 1, m, [1.0, 2.0], mode="same") ** 2).sum()


@programs(M)
def aoa2(m):
    return (np.apply_over_axes(np.mean, m, (0,)) ** 2).sum() + np.apply_over_axes(
        np.max, m, [1]
    ).sum()


W = np.zeros(3)


@programs(X)
def aaa_again(x):
    W[:] = x
    return np.apply_along_axis(
        lambda r: W[int(r[0])] * r.sum(), 1, np.arange(6).reshape(3, 2) % 3
    ).sum()


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
