"""Less common constructs of the language, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B028, B905, E741, RET504, RUF021, UP042

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import functools
import itertools
import math
import numbers
import random
import re
import threading

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def max_get(a):
    d = dict(zip("xyz", a))
    k = max(d, key=d.get)
    return d[k] * 2 + sorted(d.items(), key=lambda kv: kv[1])[0][1]


@programs(2.0)
def numchecks(x):
    return x * (
        2
        if isinstance(x, numbers.Real)
        and isinstance(x, (float, int))
        and np.isscalar(x)
        and (np.ndim(x) == 0)
        and (x.__class__ is float)
        and math.isclose(x, x)
        and (not x.is_integer())
        or True
        else 1
    )


@programs(np.float64(2.0))
def npchecks(x):
    return x * (
        2
        if isinstance(x, np.floating)
        and x.dtype == np.float64
        and (x.ndim == 0)
        and (x.shape == ())
        and (x.size == 1)
        and (np.result_type(x) == np.float64)
        else 1
    )


@programs(X)
def bound_in_dict(a):
    l = []
    t = {"p": l.append, "q": l.pop}
    t["p"](a[0] * a[1])
    return t["q"]()


@programs(X)
def partial_bound(a):
    l = []
    functools.partial(l.append, a[0] * a[1])()
    return l[0]


@programs(2.0)
def dict_sub(x):

    class D(dict):
        def __getattr__(s, k):
            return s[k]

        def __setattr__(s, k, v):
            s[k] = v

    d = D(a=x)
    d.b = d.a * x
    d.update(c=d.b * 2)
    return d.c * d.a + d.get("b")


@programs({"a": 2.0})
def dict_arg_sub(d):
    for k in list(d):
        d[k + "2"] = d[k] ** 2
    return d["a2"] * d["a"]


@programs(2.0)
def copy_obj(x):

    class T:
        def __init__(s, v):
            s.v = v

        def __copy__(s):
            return T(s.v * 2)

        def __deepcopy__(s, m):
            return T(s.v * 3)

    return copy.copy(T(x)).v * copy.deepcopy([T(x)])[0].v


@programs(2.0)
def replace_np(x):
    P2 = collections.namedtuple("P2", "a b", defaults=[5.0])
    return P2(x).a * P2(x).b


@programs(2.0)
def enumflag(x):

    class E(enum.IntEnum):
        A = 1
        B = 2

    class S(str, enum.Enum):
        A = "a"

    return x * E.A + x * x * E.B.value + (x if S.A == "a" else 0)


@programs(2.0)
def regex(x):
    m = re.match("(\\d+)", "12a")
    return x * int(m.group(1))


@programs(2.0)
def logging_calls(x):
    import logging

    logging.getLogger("q").debug("v %s", x)
    return x * x


@programs(2.0)
def warnings_calls(x):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"v {x}")
    return x * x


@programs(2.0)
def with_lock(x):
    l = threading.Lock()
    with l:
        return x * x


@programs(2.0)
def with_reentrant_lock(x):
    l = threading.RLock()
    with l:
        y = x * x
    return y


@programs(X)
def npctx(a):
    with np.errstate(all="ignore"), np.printoptions(precision=2):
        return np.sum(np.log(a)) if False else np.sum(a * a)


@programs(2.0)
def delitem_slices(x):
    l = [x, x * 2, x * 3, x * 4]
    del l[::2]
    l[0:0] = [x * x]
    l[len(l) :] = (v for v in (x,))
    return sum((v * k for k, v in enumerate(l, 1)))


@programs([1.0, 2.0, 3.0])
def star_assign_list(l):
    l[0], *l[1:] = (l[1] * 2, l[0], l[2])
    return l[0] * l[1] + l[2]


@programs(2.0)
def dict_comp_nested(x):
    d = {i: {j: x * i * j for j in range(3)} for i in range(3)}
    return d[2][1] * d[1][2]


@programs(2.0)
def lam_star(x):
    return (lambda *a, k=x, **kw: sum(a) * k * kw["z"])(x, 1.0, z=x)


@programs(2.0)
def try_nested(x):
    t = 0.0
    for k in range(4):
        try:
            if k == 1:
                continue
            if k == 3:
                break
            t += x * k
        except Exception:
            pass
        else:
            t *= x
        finally:
            t += x
    return t


@programs(2.0)
def with_ret(x):

    @contextlib.contextmanager
    def c(v):
        l = [v]
        try:
            yield l
        finally:
            l.append(1)

    with c(x) as l:
        l[0] *= x
        return l[0] * x


@programs(2.0)
def cm_class_dec(x):

    class C(contextlib.ContextDecorator):
        def __enter__(s):
            return s

        def __exit__(s, *e):
            return False

    @C()
    def f(v):
        return v * v

    return f(x)


@programs(2.0)
def gen_class(x):

    class T:
        def __iter__(s):
            yield x
            yield (x * x)

    return sum(T()) + sum(v * v for v in T()) + dict(enumerate(T()))[1]


@programs(2.0)
def chain_from(x):
    return sum(itertools.chain.from_iterable([[x, x * x], (x,)])) + sum(map(sum, [[x], [x, 1.0]]))


@programs(2.0)
def zip_longest(x):
    return sum((a * b for a, b in itertools.zip_longest([x, x], [x * x], fillvalue=x)))


@programs(2.0)
def reduce_init(x):
    return functools.reduce(lambda d, k: {**d, k: x * len(d)}, "abc", {})["c"]


@programs(X)
def itertools_count(a):
    return (
        sum((v * k for v, k in zip(a, itertools.count(1))))
        + sum((v for v, _ in zip(itertools.cycle(a), range(5))))
        + sum(itertools.repeat(a[0], 3))
    )


@programs(X)
def exec_time_import(a):
    from math import sin as s

    import numpy.linalg as la

    return la.norm(a) * s(a[0])


@programs(X)
def rnd_shuffle_list(a):
    l = [a[0], a[1], a[2]]
    random.Random(3).shuffle(l)
    return l[0] * 2 + l[1]


@programs(X)
def rnd_sample(a):
    l = [a[0], a[1], a[2]]
    return random.Random(3).sample(l, 2)[0] * 2 + random.Random(1).choices(l, k=2)[0]


@programs(X)
def maplist(a):
    l = []
    list(map(l.append, a))
    return l[0] * l[1]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()
