"""Generators and decorators in all their states against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, E501, E701, E702, PT018, SIM105, UP034
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false
# pyright: reportCallIssue=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false, reportOptionalMemberAccess=false
# pyright: reportPossiblyUnbound=false, reportUndefinedVariable=false, reportReturnType=false

from __future__ import annotations

import contextlib
import functools
import inspect

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.5, -0.5, 2.5])


@programs(X)
def gen_send_throw(a):
    log = []
    def g():
        t = 0.0
        while True:
            try:
                v = yield t
                t += v * a[0]
            except KeyError as e:
                t *= e.args[0]
            finally:
                log.append(t)
    it = g(); next(it)
    it.send(a[1]); r = it.throw(KeyError(a[2])); it.send(a[0]); it.close()
    return r + sum(log)


@programs(X)
def gen_return_value(a):
    def inner():
        yield a[0]
        return a[1] * a[2]
    def outer():
        r = yield from inner()
        yield r * 2
        return r
    it = outer(); s = next(it) + next(it)
    try: next(it)
    except StopIteration as e: s *= e.value
    return s


@programs(X)
def gen_interleaved(a):
    buf = np.zeros(3)
    def g(k):
        for i in range(3):
            buf[i] += a[i] * k
            yield buf[i] * 1.0
            buf[i] *= buf[i]
    p, q = g(1.0), g(a[0])
    t = 0.0
    for u, v in zip(p, q): t += u * v
    return t + buf.sum()


@programs(X)
def gen_partly(a):
    def g():
        b = a * 1.0
        for i in range(3):
            b[i] = b[i - 1] * b[i]
            yield b
    it = g(); x = next(it)[0]; y = next(it)[1]
    return x * y


@programs(X)
def genexp_passed(a):
    def use(it): return sum(v * v for v in it)
    return use(v * a[0] for v in a) + use(a[i] for i in range(2)) + use((v for v in a))


@programs(X)
def genexp_in_func_default(a):
    def f(it=(v * 2 for v in a)): return list(it)
    return f()[0] * sum(f()) + a[1] if not f() else 0.0


@programs(X)
def gen_recursive(a):
    def walk(t):
        if isinstance(t, (list, tuple)):
            for s in t: yield from walk(s)
        else: yield t * a[0]
    return sum(walk([a[0], (a[1], [a[2], 3.0]), []]))


@programs(X)
def gen_ctx_exc(a):
    log = []
    @contextlib.contextmanager
    def m(v):
        try: yield v * v
        except ValueError as e: log.append(e.args[0] * v)
        finally: log.append(v)
    with m(a[0]) as p:
        raise ValueError(p * a[1])
    try:
        with m(a[2]) as q: raise KeyError(q)
    except KeyError as e: log.append(e.args[0])
    return sum(log)


@programs(X)
def gen_class_iter_next(a):
    class It:
        def __init__(s): s.i = 0; s.acc = 1.0
        def __iter__(s): return s
        def __next__(s):
            if s.i == 3: raise StopIteration
            s.acc = s.acc * a[s.i]; s.i += 1
            return s.acc
    return sum(It()) + sum(v for v in It()) + next(It()) * [*It()][1]


@programs(X)
def gen_stopiter_inside(a):
    def g():
        yield a[0]
        raise StopIteration(a[1])
    try: list(g())
    except RuntimeError as e: return e.__cause__.value * a[2]


@programs(X)
def gen_close_generatorexit(a):
    r = []
    def g():
        try: yield a[0]
        except GeneratorExit: r.append(a[1] * a[2]); raise
    it = g(); next(it); it.close()
    return r[0]


@programs(X)
def gen_finally_gc(a):
    r = []
    def g():
        try: yield a[0]
        finally: r.append(a[1])
    it = g(); t = next(it); del it
    return t * (r[0] if r else 1.0)


@programs(X)
def async_gen_like_coroutine(a):
    def co():
        total = 0.0
        while (v := (yield)) is not None: total += v * v
        return total
    def driver():
        r = yield from co(); res.append(r)
    res = []
    d = driver(); next(d)
    for v in a: d.send(v)
    try: d.send(None)
    except StopIteration: pass
    return res[0]


@programs(2.0)
def deco_contextdecorator(x):
    class T(contextlib.ContextDecorator):
        n = 0.0
        def __enter__(s): T.n += x; return s
        def __exit__(s, *e): T.n *= 2
    @T()
    def f(v): return v * T.n
    @contextlib.contextmanager
    def m():
        T.n += 1; yield
    @m()
    def g(v): return v * T.n
    return f(x) * g(x)


@programs(2.0)
def deco_property_full(x):
    class C:
        def __init__(s): s._v = x
        @property
        def v(s): return s._v * 2
        @v.setter
        def v(s, n): s._v = n * x
        @v.deleter
        def v(s): s._v = 0.5
        w = property(lambda s: s._v ** 2, lambda s, n: setattr(s, "_v", n))
    c = C(); r = c.v; c.v = 3 * x; r *= c.v; c.w = x; r += c.w; del c.v
    c.v += x
    return r * c.v


@programs(2.0)
def deco_signature(x):
    def check(f):
        sig = inspect.signature(f)
        @functools.wraps(f)
        def w(*a, **k):
            b = sig.bind(*a, **k); b.apply_defaults()
            return f(*b.args, **b.kwargs) * len(b.arguments)
        return w
    @check
    def f(a, b=2.0, *, c=x): return a * b * c
    return f(x) + f(x, b=x)


@programs(2.0)
def deco_code_inspect(x):
    def d(f):
        assert f.__code__.co_varnames[0] == "v" and f.__name__ == "g" and f.__qualname__.endswith("g")
        assert f.__code__.co_argcount == 1 and f.__module__ == __name__ and f.__doc__ == "D."
        return f
    @d
    def g(v):
        "D."
        return v * x
    return g(x) * g.__closure__[0].cell_contents


@programs(2.0)
def func_attributes(x):
    def f(): return f.k * x
    f.k = x
    f.__defaults__ = None
    f.__name__ = "zz"; f.__doc__ = "ww"
    return f() * len(f.__name__ + f.__doc__) + f.__dict__["k"]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
