"""NumPy's functions that call back Python code, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import math
import re

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad
from mooncake_py.errors import MissingRuleError
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
def vec_count(x):
    calls = []

    def g(v):
        calls.append(v)
        return v * v

    np.vectorize(g)(x)
    return len(calls) * sum(calls)


@programs(X)
def vec_write(x):
    out = np.zeros(3)

    def g(i):
        out[i] = x[i] ** 2
        return out[i]

    r = np.vectorize(g)(np.arange(3))
    return r.sum() + out[1]


@programs(X)
def vec_int_out(x):
    return float(np.vectorize(lambda v: int(v > 0))(x).sum()) * x[0]


@programs(X)
def vec_scalar(x):
    return float(np.vectorize(cubed)(x[0]))


@programs(X)
def vec_cache(x):
    return np.vectorize(cubed, cache=True)(x).sum()


@programs(X)
def vec_closure_active(x):
    s = x[1] * 2
    return np.vectorize(lambda v: v * s)(np.arange(3)).sum()


@programs(X)
def vec_exc(x):

    def g(v):
        if v < 0:
            raise ValueError("neg")
        return v

    try:
        return np.vectorize(g)(x).sum()
    except ValueError:
        return x.sum() * 3


@programs(X)
def vec_partial_pos(x):
    import functools

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
def vec_method(x):

    class K:
        def __init__(self):
            self.a = x[0]

        @np.vectorize
        def m(self_):
            return self_

        def go(self, v):
            return v * self.a

    k = K()
    return np.vectorize(k.go)(x).sum()


@programs(X)
def vec_complex(x):
    return np.abs(np.vectorize(lambda v: v * 1j + v * v)(x)).sum()


FP = np.frompyfunc(cubed, 1, 1)


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


@programs(X)
def piecew(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: v**3]).sum()


@programs(X)
def piecew_default(x):
    return np.piecewise(x, [x < 0], [lambda v: v * v, lambda v: v**3]).sum()


@programs(X)
def piecew_const(x):
    return (np.piecewise(x, [x < 0, x > 0.5], [-1, lambda v: v * x[0], 2.0]) * x).sum()


@programs(X)
def piecew_args(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v, k: v * k, lambda v, k: v**k], 3.0).sum()


@programs(0.5)
def piecew_scalar(x):
    return float(np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: v**3]))


@programs(X)
def fromfn(x):
    return np.fromfunction(lambda i, j: i * x[0] + j * x[1] ** 2, (3, 4)).sum()


@programs(X)
def fromfn_idx(x):
    return np.fromfunction(lambda i: x[i] * i, (3,), dtype=int).sum()


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
def vec_writes_input(x):
    y = x * 2

    def g(a):
        y[:] = y * y
        return a * 3

    r = np.vectorize(g, otypes=[float])(y)
    return float(r.sum() + y.sum())


@programs(X)
def vec_writes_input2(x):
    y = x * 2

    def g(a):
        y[:] = y * 0.5
        return a * 3

    r = np.vectorize(g)(y)
    return float(r.sum() + y.sum())


@programs(X)
def vec_strout(x):
    r = np.vectorize(lambda v: "a" if v > 0 else "bbb")(x)
    return x[0] * len(r[1])


@programs(X)
def vec_str_otype(x):
    r = np.vectorize(lambda v: "a" if v > 0 else "bbb", otypes=["U"])(x)
    return x[0] * len(r[1]) + r.dtype.itemsize


@programs(X)
def vec_type(x):
    ty = []

    def g(a):
        ty.append(type(a).__name__)
        return a

    np.vectorize(g)(x)
    return x[0] * ("float" in ty) + x[1] * ("float64" in ty)


@programs(X)
def vec_obj(x):
    return x[0] * len(np.vectorize(lambda v: [1, 2], otypes=[object])(np.arange(2))[0])


@programs(X)
def vec_raise_through(x):

    def g(v):
        if v < -1:
            raise KeyError("neg")
        return v

    r = 0.0
    try:
        np.vectorize(g)(x)
    except KeyError as e:
        r = x[0] * len(e.args[0])
    return r


@programs(X, 2)
def vec_default_args(x, n):
    f = np.vectorize(lambda a, k: a**k)
    return f(x, n).sum() + f(x, k=3).sum()


@programs(X)
def vec_noargs(x):
    return np.vectorize(lambda: x[0] * 2)()


@programs(X)
def vec_nested(x):
    inner = np.vectorize(lambda v: v * v)
    return np.vectorize(lambda v: inner(np.array([v, 2 * v])).sum())(x).sum()


@programs(X)
def vec_attrs(x):
    f = np.vectorize(cubed)
    g = f.pyfunc
    return g(x[0]) * len(f.__name__)


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


@programs(X)
def vec_recursive(x):

    def fact(v):
        return 1.0 if v < 1 else v * fact(v - 1)

    return np.vectorize(fact)(x + 2).sum()


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


@programs(M)
def pw2(m):
    return np.piecewise(
        m,
        [m < -1, (m > 0) & (m < 0.5)],
        [lambda v: v**2, lambda v: v[::-1].cumsum(), lambda v: np.sin(v)],
    ).sum()


@programs(X)
def pw_list(x):
    return np.piecewise([x[0], x[1]], [True, False], [lambda v: v * v, 3.0]).sum()


@programs(X)
def ff2(x):
    return (np.fromfunction(lambda i, j: np.where(i == j, x[0], x[1] * i), (3, 3)) ** 2).sum()


W = np.zeros(3)


G = np.frompyfunc(lambda i: W[i], 1, 1)


G2 = np.frompyfunc(lambda i, j: W[i] * 0 + W[j], 2, 1)


@programs(X)
def fpy_builtin(x):
    return np.frompyfunc(math.factorial, 1, 1)(np.array([1, 2, 3])).astype(float).sum() * x[0]


@programs(X)
def aaa_again(x):
    W[:] = x
    return np.apply_along_axis(
        lambda r: W[int(r[0])] * r.sum(), 1, np.arange(6).reshape(3, 2) % 3
    ).sum()


@programs(X)
def pw(x):
    W[:] = x
    return np.piecewise(
        np.arange(3.0), [[True, False, True]], [lambda v: W[0] * v, lambda v: W[1]]
    ).sum()


@programs(X)
def ff(x):
    W[:] = x
    return np.fromfunction(lambda i: W[i], (3,), dtype=int).sum()


@programs(X)
def sorted_const(x):
    W[:] = 0.0

    def key(i):
        W[i] = x[i]
        return -i

    sorted([0, 1, 2], key=key)
    return W.sum()


@programs(X)
def vec_partial(x):
    W[:] = x
    return np.vectorize(functools.partial(lambda k, i: W[i] * k, 2.0))([0, 1, 2]).sum()


@programs(X)
def vec_builtin(x):
    W[:] = x
    return np.vectorize(W.__getitem__)([0, 1, 2]).sum() + np.vectorize(W.item)([0, 1]).sum()


@programs(X)
def vec_class(x):

    class C:
        def __init__(self):
            self.n = 0.0

        def __call__(self, v):
            self.n += v
            return self.n * v

    c = C()
    return np.vectorize(c, otypes=[float])(x).sum() + c.n


@programs(X)
def histogram(x):
    return np.histogram(x, bins=2, weights=x)[0].prod()


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


# Ufuncs that call Python code return arrays of objects, in which no derivative is.

state = np.zeros(3)
element_of_state = np.frompyfunc(lambda i: state[i], 1, 1)
first_element = np.frompyfunc(lambda i, j: state[i], 2, 1)
REFUSED = {
    "call": lambda x: np.frompyfunc(lambda v: v * v, 1, 1)(x).astype(float).sum(),
    "constant": lambda x: element_of_state(np.arange(3)).astype(float).sum(),
    "outer": lambda x: first_element.outer([0, 1], [1, 2]).astype(float).sum(),
    "map": lambda x: float(sum(map(element_of_state, [0, 1, 2]))),
    "cached": lambda x: np.frompyfunc(functools.cache(element_of_state), 1, 1)(np.arange(3))[0],
    "bound": lambda x: np.frompyfunc(state.item, 1, 1)(np.arange(3))[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_ufuncs_made_of_python_are_refused(name):
    def f(x):
        state[:] = x
        return REFUSED[name](x)

    with pytest.raises(MissingRuleError, match=re.escape("np.vectorize(f, otypes=[float])")):
        grad(f)(X.copy())


def test_exception_of_a_callback_passes_and_restores():
    def f(x):
        x[0] = 9.0

        def root(v):
            x[1] = 8.0
            if v > 5:
                raise KeyError("large")
            return v

        return np.vectorize(root)(x).sum()

    x = X.copy()
    with pytest.raises(KeyError, match="large"):
        grad(f)(x)
    np.testing.assert_array_equal(x, X, strict=True)


def test_swallowed_refusal_in_a_callback_is_raised_at_the_end():
    def hides(v):
        try:
            return float(np.frombuffer(v.tobytes())[0])
        except Exception:
            return 0.0

    with pytest.raises(MooncakeError):
        grad(lambda x: np.apply_along_axis(hides, 0, x))(X.copy())
