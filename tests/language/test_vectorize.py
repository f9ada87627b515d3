"""`np.vectorize` in all its uses, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


def cubed(v):
    return v**3 + 2 * v


VOUT = np.vectorize(cubed)


VOT = np.vectorize(cubed, otypes=[float])


@programs(X)
def vec_inside(x):
    f = np.vectorize(lambda v: v * math.sin(v))
    return f(x).sum()


@programs(X)
def vec_outside(x):
    return VOUT(x).sum()


@programs(X)
def vec_otypes(x):
    return (VOT(x) * x).sum()


@programs(X)
def vec_otypes_str(x):
    return (np.vectorize(cubed, "d")(x) * x).sum()


@programs(X)
def vec_branch(x):
    return np.vectorize(lambda v: v * v if v > 0 else -v)(x).sum()


@programs(X, 2.0)
def vec_two(x, s):
    return np.vectorize(lambda a, b: a * b + b * b)(x, s).sum()


@programs(X, M)
def vec_broadcast(x, m):
    return np.vectorize(lambda a, b: a * b * b)(x, m).sum()


@programs(X)
def vec_excluded(x):

    def poly(c, v):
        r = 0.0
        for k in c:
            r = r * v + k
        return r

    f = np.vectorize(poly, excluded=[0])
    return f([1.0, 2.0, x[0]], x).sum()


@programs(X)
def vec_excluded_name(x):

    def poly(v, c):
        return c[0] * v + c[1] * v * v

    f = np.vectorize(poly, excluded={"c"})
    return f(x, c=x).sum()


@programs(X)
def vec_kwargs(x):
    f = np.vectorize(lambda a, b=2.0: a * b)
    return f(x, b=x[::-1]).sum()


@programs(X)
def vec_kwonly(x):
    f = np.vectorize(lambda a, b=2.0: a * b)
    return f(a=x).sum()


@programs(X)
def vec_signature(x):
    f = np.vectorize(lambda u, v: (u * v).sum(), signature="(n),(n)->()")
    return f(np.stack([x, 2 * x]), x).sum()


@programs(M)
def vec_signature_out(m):
    f = np.vectorize(lambda u: np.cumsum(u) * u, signature="(n)->(n)")
    return (f(m) ** 2).sum()


@programs(X)
def vec_deco(x):

    @np.vectorize
    def g(v):
        return v * v

    return g(x).sum()


@programs(X)
def vec_deco2(x):

    @np.vectorize(otypes=[float])
    def g(v):
        return v * v

    return g(x).sum()


@programs(X)
def vec_multi(x):
    f = np.vectorize(lambda v: (v * v, v**3))
    a, b = f(x)
    return a.sum() + 2 * b.sum()


@programs(X)
def vec_int_out(x):
    return float(np.vectorize(lambda v: int(v > 0))(x).sum()) * x[0]


@programs(X)
def vec_scalar(x):
    return float(np.vectorize(cubed)(x[0]))


@programs(X)
def vec_partial_pos(x):

    return np.vectorize(functools.partial(lambda a, b: a * b * b, 2.0))(x).sum()


@programs(X)
def vec_math(x):
    return np.vectorize(math.exp)(x).sum()


@programs(X)
def vec_strs(x):
    return (np.vectorize(len)(np.array(["a", "bb", "ccc"])) * x).sum()


@programs(X)
def vec_2dint_first(x):
    return np.vectorize(lambda i: 0 if i == 0 else x[i])(np.arange(3)).sum() * x[0]


@programs(X)
def vec_empty_ot(x):
    return np.vectorize(cubed, otypes=[float])(x[:0]).sum() + x[0]


@programs(X)
def vec_complex(x):
    return np.abs(np.vectorize(lambda v: v * 1j + v * v)(x)).sum()


@programs(M)
def vec_forder(m):
    log = []

    def g(v):
        log.append(v)
        return v * v

    r = np.vectorize(g, otypes=[float])(m.T)
    return float((r * np.arange(6).reshape(3, 2)).sum() + sum((i * v for i, v in enumerate(log))))


@programs(M)
def vec_bcast_order(m):
    log = []

    def g(a, b):
        log.append(a * b)
        return a

    r = np.vectorize(g, otypes=[float])(m.T, m[:, 0])
    return float(sum((i * v for i, v in enumerate(log))) + r.ravel("K")[1])


@programs(X)
def vec_neg(x):
    log = []

    def g(a):
        log.append(a)
        return a

    np.vectorize(g, otypes=[float])(x[::-1])
    return sum((i * v for i, v in enumerate(log)))


@programs(X)
def vec_strout(x):
    r = np.vectorize(lambda v: "a" if v > 0 else "bbb")(x)
    return x[0] * len(r[1])


@programs(X)
def vec_str_otype(x):
    r = np.vectorize(lambda v: "a" if v > 0 else "bbb", otypes=["U"])(x)
    return x[0] * len(r[1]) + r.dtype.itemsize


@programs(X)
def vec_obj(x):
    return x[0] * len(np.vectorize(lambda v: [1, 2], otypes=[object])(np.arange(2))[0])


@programs(X, 2)
def vec_default_args(x, n):
    f = np.vectorize(lambda a, k: a**k)
    return f(x, n).sum() + f(x, k=3).sum()


@programs(X)
def vec_noargs(x):
    return np.vectorize(lambda: x[0] * 2)()


@programs(X)
def vec_sig2(x):
    f = np.vectorize(lambda a, b: (a.sum() * b, a * b), signature="(n),()->(),(n)")
    u, v = f(np.outer(x, x), x)
    return u.sum() * v[0, 1] + v.sum()


@programs(X)
def vec_sig_otypes(x):
    f = np.vectorize(np.linalg.norm, signature="(n)->()", otypes=[float])
    return f(np.outer(x, x)).sum()


@programs(X)
def vec_where(x):
    f = np.vectorize(lambda t: x[0] if t > 0 else x[1] * t)
    return f(np.linspace(-1, 1, 5)).sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
