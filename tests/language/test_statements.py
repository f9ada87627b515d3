"""Every kind of target, call, loop, exception and scope against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B007, B012, B018, B023, C416, E501, E701, E702, E731, E741, E742, F722, F821, PIE804, RET503, RUF015, W291
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false
# pyright: reportCallIssue=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false, reportOptionalMemberAccess=false
# pyright: reportPossiblyUnbound=false, reportUndefinedVariable=false, reportReturnType=false

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.5, -0.5, 2.5])
LOG = []


def tell(v):
    LOG.append(v)
    return v


@programs(X)
def star_index(a):
    m = np.outer(a, a)
    idx = (1,)
    return m[*idx, 2] * m[0, *idx] + m[*idx, *idx]


@programs(X)
def star_index_store(a):
    m = np.zeros((3, 3)); idx = (1,)
    m[*idx, 0] = a[0] * 2
    m[0, *idx] += a[1]
    del idx
    return (m * m).sum()


@programs(2.0)
def star_calls(x):
    def f(*a, **k): return sum(a) * k.get("z", 1.0) + k.get("y", 0.0)
    return f(*(x, x), x, *[x * x], z=x, **{"y": x}, **{})


@programs(2.0)
def star_return(x):
    def f(): 
        t = (x, x * x)
        return *t, 3.0
    def g():
        yield *f(), x
    a, b, c = f()
    for i in *f(), a: b += i
    (d,) = g()
    return a * b * c + sum(d)


@programs(2.0)
def star_yield(x):
    def g():
        t = [x, x * x]
        r = yield *t, 1.0
        yield r
    it = g()
    t = next(it)
    return sum(t) * it.send(x)


@programs(X)
def walrus_comp_nested(a):
    total = 0.0
    m = [[(total := total + v * w) for v in a] for w in a]
    return total * m[1][1]


@programs(1.5)
def chained_once(x):
    n = []
    def mid(): n.append(1); return x * 2
    t = 1 < mid() < 4
    return x * len(n) if t else 0.0


@programs(1.5, 0.5)
def nested_cond(x, y):
    return (x if x > 5 else y * x if y < 0 else x / y if y < x else 7.0) * (y if y else x)


@programs(1.5)
def lambda_default(x):
    f = lambda a, b=x * 2, *, c=x, **k: a * b + c
    return f(x) + f(1.0, 3.0, c=x * x)


@programs(1.5)
def posonly(x):
    def f(a, b=x, /, c=1.0, *, d, e=x * x): return a + b * c - d * e
    return f(x, d=x) + f(1.0, 2.0, x, d=2.0, e=1.0)


@programs(1.5)
def annotated(x):
    y: float = x * 2
    z: "nonsense[" = y + x
    class C:
        a: float = x
        b: int
    q = [0.0]
    q[0]: float = z
    return z * C.a + q[0]


@programs(1.5)
def annotated_evaluated(x):
    got = []
    class C:
        a: got.append(1) = x
    def f(a: got.append(2) = x) -> got.append(3): return a
    return f() * len(got)


@programs(X)
def del_kinds(a):
    d = {"k": a[0], "l": a[1]}
    l = [*a, a[2] * 2]
    class O: pass
    o = O(); o.v = a[1]; o.w = a[2]
    del d["k"], l[1:3], o.v
    t = d["l"] * l[-1] + o.w
    try: o.v
    except AttributeError: t *= 2
    try: d["k"]
    except KeyError: t += a[0]
    del a
    return t


@programs(1.5)
def nonlocal_two(x):
    y = x
    def f():
        nonlocal y
        def g():
            nonlocal y
            y *= x
        g(); g()
        y += 1
    f(); f()
    return y


@programs(1.5)
def finally_continue(x):
    t = 0.0
    for i in range(4):
        try:
            if i == 2: continue
            t += x * i
        finally:
            t *= x
    return t


@programs(1.5)
def finally_break(x):
    t = x
    while True:
        try:
            t *= x
            if t > 10: raise ValueError(t)
        except ValueError as e:
            t = e.args[0] * 2
            break
        else:
            t += 1
        finally:
            t += x
    else:
        t = 0.0
    return t


@programs(1.5)
def try_return_places(x):
    def f(k):
        try:
            if k == 0: return x
            if k == 1: raise KeyError(x)
        except KeyError as e:
            return e.args[0] * 2
        else:
            return x * 3
        finally:
            if k == 3: return x * x * x
    return f(0) * f(1) + f(2) * f(3)


@programs(1.5)
def except_star(x):
    r = []
    try:
        raise ExceptionGroup("g", [ValueError(x), TypeError(x * x), ExceptionGroup("h", [ValueError(3 * x)])])
    except* ValueError as eg:
        for e in eg.exceptions:
            if isinstance(e, ExceptionGroup): r.append(e.exceptions[0].args[0])
            else: r.append(e.args[0])
    except* TypeError as eg:
        r.append(eg.exceptions[0].args[0])
    else: r.append(1000.0)
    finally: r.append(x)
    return sum(r)


@programs(1.5)
def except_star_naked(x):
    try:
        raise ValueError(x)
    except* ValueError as eg:
        y = eg.exceptions[0].args[0]
    return y * x


@programs(1.5)
def raise_from(x):
    try:
        try: raise KeyError(x)
        except KeyError as k: raise ValueError(x * 2) from k
    except ValueError as e:
        return e.args[0] * e.__cause__.args[0] * e.__context__.args[0]


@programs(1.5)
def context_attr(x):
    try:
        try: raise KeyError(x)
        finally: raise ValueError(x * 3)
    except ValueError as e:
        return e.__context__.args[0] * e.args[0]


@programs(1.5)
def with_several(x):
    log = []
    class M:
        def __init__(s, v, sw=False): s.v = v; s.sw = sw
        def __enter__(s): log.append(s.v); return s.v
        def __exit__(s, t, v, tb):
            log.append(s.v * 2)
            if v is not None: log.append(v.args[0])
            return s.sw
    with (M(x) as a, M(a * x, True) as b, M(1.0)):
        raise ValueError(x * x * x)
    return sum(log) + a * b


@programs(1.5)
def with_targets(x):
    @contextlib.contextmanager
    def m(v): yield v
    d = {}; l = [0, 0]
    with m((x, [x * x, 2.0])) as (d["a"], (l[0], *rest)), m(x) as l[1]:
        pass
    return d["a"] * l[0] * rest[0] + l[1]


@programs(X)
def loop_closure(a):
    fs = []
    for v in a: fs.append(lambda: v * v)
    gs = [lambda v=v: v for v in a]
    hs = [lambda: w for w in a]
    return sum(f() for f in fs) + gs[0]() * gs[1]() + hs[0]()


@programs(1.5)
def aug_once(x):
    n = []
    d = {"k": x}; l = [x, x]
    def D(): n.append("D"); return d
    def K(): n.append("K"); return "k"
    def V(): n.append("V"); return x
    D()[K()] += V()
    l[len(n) - 2] *= V()
    class O: pass
    o = O(); o.p = x
    def O_(): n.append("O"); return o
    O_().p **= V()
    O_().p -= 1.0
    return d["k"] * l[0] * l[1] + o.p * len(n)


@programs(1.5)
def aug_all_targets(x):
    class O: p = 2.0
    O.p += x
    o = O(); o.p *= x
    l = [[x, 1.0]]; l[0][0] /= 2; l[-1][1] -= x
    s = [1.0, 2.0, 3.0]; s[1:] += [x]
    s[:1] *= 2
    return O.p * o.p + l[0][0] * l[0][1] + sum(s)


@programs(X)
def nested_targets(a):
    class O: pass
    o = O(); l = [0] * 4
    (o.u, (l[0], *o.rest)), l[1:3], [*q] = (a[0], (a[1], a[2], a[0])), a[:2] * 2, a
    return o.u * l[0] * o.rest[0] + o.rest[1] * l[1] + l[2] + q[2]


@programs(X)
def for_targets(a):
    class O: pass
    o = O(); d = {}; t = 0.0
    for o.k, d["v"] in enumerate(a): t += o.k * d["v"]
    for (d["x"], *d["r"]) in [(a[0], 1.0, a[1]), (2.0, a[2])]: t += d["x"] * len(d["r"]) * d["r"][-1]
    for i, (p, [q, *r]) in enumerate([(a[0], a)]): t += p * q * sum(r)
    return t


@programs(1.5)
def shadowed_builtins(x):
    len = lambda v: v * x
    range = lambda n: [x, x * x]
    sum = lambda v: v[0] * v[1]
    print = max
    super = 3.0
    return len(2.0) + sum([i for i in range(3)]) + print(x, 1.0) * super


@programs(1.5, 2.5, 0.5)
def odd_names(ctx, self, np):
    def f(_mk): return _mk * ctx
    C = self; cls = np
    return f(self) + C * cls * ctx


@programs(1.5)
def dunder_class_cell(x):
    class A:
        def f(self): return x
    class B(A):
        def f(self):
            g = lambda: super(B, self).f()
            return super().f() * x + g() + [super(__class__, self).f() for _ in range(2)][0]
    return B().f()


@programs(X)
def cond_lambda_deco(a):
    @(lambda f: lambda v: f(v) * a[0])
    @(lambda f: lambda v: f(v) + a[1])
    def g(v): return v * v
    return g(a[2])


@programs(1.5)
def two_same_lambdas(x):
    f, g = lambda v: v * x, lambda v: v * x
    h = [lambda v: v + x, lambda v: v + x, lambda v: (lambda w: w * v)(x)]
    return f(2.0) + g(3.0) * h[0](x) * h[1](1.0) + h[2](x)


@programs(1.5)
def lambdas_everywhere(x):
    d = {"f": lambda: x, "g": (lambda k=lambda: x * x: k())}
    l = [(lambda i: lambda: x ** i)(i) for i in range(3)]
    return d["f"]() * d["g"]() + l[2]() + (lambda *a, **k: a[0] * k["z"])(x, z=x)


@programs(X)
def starred_assignment_single(a):
    *b, = a
    [*c] = b
    *d, e = a * 2
    f, *_ = a[::-1]
    return b[0] * c[1] + sum(d) + e * f


@programs(2.0)
def multi_target_chain(x):
    a = b, c = d = [x, x * x]
    d[0] = 5.0
    return a[0] * b + c


@programs(2.0)
def bool_ops(x):
    z = 0.0
    return (z or x) * (x and 3.0) + (not x) * x + (x or 1 / 0) + (z and 1 / 0)


@programs(2.0)
def return_in_with(x):
    @contextlib.contextmanager
    def m():
        try: yield x
        finally: LOG.append(1)
    with m() as v:
        for i in range(5):
            with m() as w:
                if i == 3: return v * w * i


@programs(2.0)
def lambda_yield(x):
    g = lambda: (yield x * x)
    it = g(); return next(it)


@programs(2.0)
def del_closure(x):
    y = x * x
    def f(): return y
    r = f()
    del y
    try: f()
    except NameError as e: r *= len(str(e))
    return r


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
