"""Iterators of NumPy over the memory of arrays, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B007, B905, C416, E741

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import MissingRuleError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


@programs(X)
def nditer_read(x):
    t = 0.0
    for v in np.nditer(x):
        t = t + v * v
    return float(t)


@programs(X)
def nditer_rw(x):
    y = x.copy()
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v * v
    return y.sum()


@programs(X)
def nditer_rw2(x):
    y = x * 2
    for v in np.nditer(y, op_flags=["readwrite"]):
        v *= v
    return y.sum()


@programs(M)
def nditer_ext(m):
    y = m.copy()
    for v in np.nditer(y, flags=["external_loop"], op_flags=["readwrite"]):
        v[...] = v * v
    return y.sum()


@programs(M)
def nditer_multi(m):
    it = np.nditer(m, flags=["multi_index"])
    t = 0.0
    for v in it:
        t += m[it.multi_index] * it.multi_index[0]
    return t


@programs(M)
def nditer_multi2(m):
    it = np.nditer(m, flags=["multi_index"])
    t = 0.0
    while not it.finished:
        t += it[0] * it[0] * (1 + it.multi_index[1])
        it.iternext()
    return float(t)


@programs(X)
def nditer_two(x):
    t = 0.0
    for a, b in np.nditer([x, x[::-1]]):
        t = t + a * b * b
    return float(t)


@programs(X)
def nditer_alloc(x):
    it = np.nditer([x, None])
    for a, b in it:
        b[...] = a * a
    return it.operands[1].sum()


@programs(X)
def nditer_const_active(x):
    y = np.zeros(3)
    for i, v in enumerate(np.nditer(y, op_flags=["writeonly"])):
        v[...] = x[i] ** 2
    return y.sum()


@programs(M)
def nditer_bcast(m):
    t = 0.0
    for a, b in np.nditer([m, m[0]]):
        t = t + a * b
    return float(t)


@programs(M)
def nditer_findex(m):
    it = np.nditer(m, flags=["f_index"])
    return float(sum(v * it.index for v in it))


@programs(M)
def nditer_c_index(m):
    t = 0.0
    it = np.nditer(m, flags=["c_index"], order="F")
    for v in it:
        t += v * v * it.index
    return float(t)


@programs(M)
def ndenum(m):
    return sum((v * v * (i + 2 * j) for (i, j), v in np.ndenumerate(m)))


@programs(M)
def ndenum_write(m):
    a = m.copy()
    for (i, j), v in np.ndenumerate(m):
        a[i, j] = v * v * a[0, 0]
    return a.sum()


@programs(M)
def ndidx(m):
    t = 0.0
    for i in np.ndindex(m.shape):
        t += m[i] ** 2
    return t


@programs(M)
def ndidx2(m):
    t = 0.0
    for i in np.ndindex(2, 3):
        t += m[i] ** 2
    return t


@programs(M)
def it_const_becomes_active(m):
    y = np.zeros(6)
    t = 0.0
    for v in np.nditer(y):
        y[:] = m.ravel()
        t = t + v * v
    return float(t)


@programs(M)
def it_keep(m):
    y = m.copy()
    l = [v for v in np.nditer(y)]
    y *= 2
    return float(sum(v * v for v in l))


@programs(M)
def it_ext2(m):
    t = 0.0
    for a, b in np.nditer([m, m * m], flags=["external_loop"]):
        t += (a * b).sum()
    return t


@programs(M)
def it_ext_T(m):
    t = 0.0
    for v in np.nditer(m.T, flags=["external_loop"], order="C"):
        t += (v * np.arange(len(v))).sum()
    return t


@programs(M)
def it_order(m):
    return float(sum((i * v for i, v in enumerate(np.nditer(m, order="F")))))


@programs(M)
def it_neg(m):
    return float(sum((i * v for i, v in enumerate(np.nditer(m[::-1, ::-1])))))


@programs(M)
def it_reduce(m):
    s = np.zeros(2)
    it = np.nditer(
        [m, s], flags=["reduce_ok"], op_flags=[["readonly"], ["readwrite"]], op_axes=[None, [0, -1]]
    )
    with it:
        for a, b in it:
            b[...] += a * a
    return s.prod()


@programs(M)
def it_outer(m):
    a, b = (m[0], m[1])
    it = np.nditer([a, b, None], flags=["external_loop"], op_axes=[[0, -1], [-1, 0], None])
    with it:
        for x, y, z in it:
            z[...] = x * y
        r = it.operands[2]
    return (r * np.arange(9).reshape(3, 3)).sum()


@programs(M)
def it_setitem(m):
    y = m.copy()
    it = np.nditer(y, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        it[0] = it[0] ** 2 * it.multi_index[1]
        it.iternext()
    return y.sum()


@programs(M)
def it_reset(m):
    it = np.nditer(m)
    t = 0.0
    for v in it:
        t += v
    it.reset()
    for v in it:
        t += v * v
    return float(t)


@programs(M)
def it_len(m):
    it = np.nditer([m, m])
    return m.sum() * len(it) * it.itersize * it.nop


@programs(M)
def it_readonly_error(m):
    try:
        for v in np.nditer(m):
            v[...] = 2.0
    except ValueError:
        return m.sum()
    return 0.0


@programs(M)
def it_value(m):
    it = np.nditer(m, flags=["c_index"])
    next(it)
    next(it)
    return float(it.value * it.index)


@programs(M)
def it_0d(m):
    y = np.array(m[0, 0])
    for v in np.nditer(y, op_flags=["readwrite"]):
        v[...] = v * v
    return float(y)


@programs(M)
def it_mixed_int(m):
    return float(sum((a * b for a, b in np.nditer([m[0], np.arange(3)]))))


@programs(M)
def it_empty(m):
    return float(sum(v for v in np.nditer(m[:0], flags=["zerosize_ok"]))) + m[0, 0]


@programs(M)
def it_break(m):
    y = m.copy()
    for v in np.nditer(y, op_flags=["readwrite"]):
        v *= 3
        if v > 1:
            break
    return (y * y).sum()


@programs(M)
def it_2d_slices(m):
    y = m.copy()
    for v in np.nditer(y[:, 1:], op_flags=["readwrite"], flags=["external_loop"], order="C"):
        v[:] = v * v + y[0, 0]
    return (y * y).sum()


@programs(M)
def it_unpack(m):
    it = np.nditer([m[0], m[1], None])
    with it:
        for a, b, c in it:
            np.multiply(a, b, out=c)
        return it.operands[2].prod()


@programs(M)
def it_enum(m):
    o = np.empty_like(m)
    for v, w in np.nditer([m, o], op_flags=[["readonly"], ["writeonly"]]):
        w[...] = math.sin(v)
    return o.sum()


@programs(M)
def it_float(m):
    return sum(float(v) ** 2 for v in np.nditer(m)) + sum(v.item() for v in np.nditer(m))


@programs(M)
def bc_next(m):
    b = np.broadcast(m, m[0])
    a = next(b)
    t = 0.0
    for u, v in b:
        t += u * v * v
    return t * a[0] + len(list(b))


@programs(M)
def bc_const(m):
    y = np.zeros(3)
    t = 0.0
    for u, v in np.broadcast(y, 2.0):
        y[:] = m[0]
        t += u * v
    return float(t)


@programs(M)
def bc_zip(m):
    return sum((u * v for (u, v), k in zip(np.broadcast(m, m[:1]), range(4))))


@programs(M)
def bc_0d(m):
    return sum((u * v for u, v in np.broadcast(m[0, 0], m[1])))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


REFUSED = {
    "buffered": lambda x: sum(v for v in np.nditer(x, flags=["buffered"])),
    "op_dtypes": lambda x: sum(v for v in np.nditer(x, op_dtypes=["float32"], casting="unsafe")),
    "nested_iters": lambda x: sum(v for v in np.nested_iters(x, [[0]])[0]),
    "remove_axis": lambda x: np.nditer(x, flags=["multi_index"]).remove_axis(0) or x[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_iteration_over_copies_is_refused(name):
    with pytest.raises(MissingRuleError, match=name) as caught:
        grad(REFUSED[name])(X.copy())
    assert caught.value.where is not None


def test_iterator_has_the_attributes_of_the_original():
    def look(x):
        it = np.nditer([x, x[0]], flags=["multi_index"], order="C")
        seen = [it.shape, it.itersize, it.nop, len(it), it.ndim, it.has_index, it.has_multi_index]
        seen += [it.finished, it.iterindex, it.multi_index, [d.str for d in it.dtypes]]
        seen += [[it.multi_index for _ in it], it.finished]
        return x.sum(), seen

    _, seen = value_and_grad(look, has_aux=True)(M)[0]
    assert seen == look(M)[1]


def test_operands_are_those_that_were_given():
    m = np.ma.array(np.arange(3.0), mask=[False, True, False])

    def f(x):
        y = x * m
        steps = np.nditer([y, x])
        return sum([a * b for a, b in steps]) + np.sum(steps.operands[0]) + np.nditer(y)[0]

    x = np.array([0.7, -1.3, 2.1])
    value, dx = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(dx, [0.0, -2.6, 10.4])  # NumPy keeps x under a mask


@pytest.mark.parametrize("how", ["readwrite", "writeonly"])
@pytest.mark.parametrize(
    "differentiate", [lambda f: f, grad, lambda f: lambda x: jvp(f, (x,), (x,))]
)
def test_numbers_are_not_written_to(differentiate, how):
    def f(x):
        y = x[0] * 1.0
        for v in np.nditer(y, op_flags=[how]):
            v[...] = 3.0
        return y

    with pytest.raises(TypeError, match="flagged as writeable"):
        differentiate(f)(np.array([2.0, 3.0]))
