"""Objects under construction, and containers."""

from __future__ import annotations

from collections import defaultdict, deque

from mooncake_py import checkpoint, grad
from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


def g(x):
    return x * 2.0


class C:
    def __init__(self, x):
        self.x = x

    def step(self, s):
        return self.x * s


class C2:
    def __init__(self, x):
        self.x = x

    def step(self, s):
        return self.x * s

    def other(self, s):
        return self.x + s


@program
def checkpoint_in_init(s):
    def part(o, x):
        return o.x * x * x

    class A:
        def __init__(self, x):
            self.x = x
            self.y = checkpoint(part, self, x)
            self.x = x * 2.0
            self.z = checkpoint(part, self, x)

    t = 0.0
    for i in iter(range(2)):
        a = A(s)
        t = t + a.y + a.z
        a.x = 5.0
        t = t + checkpoint(part, a, s)
    return t


@program
def checkpoint_sees_unset(s):
    def part(o, x):
        return x * x * (2.0 if hasattr(o, "z") else 3.0)

    class A:
        def __init__(self, x):
            self.x = x
            self.y = checkpoint(part, self, x)
            self.w = g(x)
            self.z = x

    t = 0.0
    for i in iter(range(2)):
        t = t + A(s).y
    return t


@program
def checkpoint_sees_unset_outer(s):
    def part(o, x):
        return x * x * (2.0 if hasattr(o, "z") else 3.0)

    class B:
        def __init__(self, a, x):
            self.y = checkpoint(part, a, x)

    class A:
        def __init__(self, x):
            self.x = x
            self.b = B(self, x)
            self.z = x

    t = 0.0
    for i in iter(range(2)):
        t = t + A(s).b.y
    return t


@program
def inner_grad_sees_unset(s):
    class A:
        def __init__(self, x):
            self.x = x
            self.y = grad(lambda v: v**3 * (2.0 if hasattr(self, "z") else 3.0))(x)
            self.z = x

    t = 0.0
    for i in iter(range(2)):
        t = t + A(s).y
    return t


@program
def checkpoint_makes(s):
    def part(x):
        t = 0.0
        for i in iter(range(3)):
            a = C(x)
            a.x = a.x * 2.0
            t = t + a.step(x)
        return t

    return checkpoint(part, s) + checkpoint(part, s * 2.0)


KEPT = C2(1.0)
LIST = [1.0, 2.0]
DICT = {"a": 1.0, "b": 2.0}


@program.changes
def global_objects(s):
    for i in iter(range(3)):
        KEPT.x = KEPT.x * s
        KEPT.new = s
        LIST[0] = LIST[0] * s
        LIST.append(s)
        DICT["a"] = DICT["a"] + s
        DICT["c"] = s
        DICT["list"] = [s]
        DICT["list"].append(C2(s))
    return KEPT.x + LIST[0] + DICT["a"] + LIST[-1] + DICT["list"][1].x


@program
def aliases(s):
    a = C2(s)
    b = a
    for i in iter(range(3)):
        a.x = a.x * 2.0
        b.x = b.x + s
    items = [s]
    m = items
    items[0] = items[0] * 2.0
    m[0] = m[0] * items[0]
    return a.x + items[0]


@program
def list_errors(s):
    items = [s]
    items[3] = s
    return s


@program
def list_negative(s):
    items = [s, s, s]
    items[-1] = s * 2.0
    items[True] = s * 3.0
    return items[0] * items[1] * items[2]


@program
def tuple_write(s):
    t = (s, s)
    t[0] = s
    return s


@program
def key_error(s):
    d = {"a": s}
    return d["b"]


@program
def index_error_list(s):
    return [s][4]


@program
def dict_subclass(s):
    class D(dict):
        def __setitem__(self, k, v):
            dict.__setitem__(self, k, v * 2.0)

        def __missing__(self, k):
            return 7.0

    d = D()
    d["a"] = s
    e = defaultdict(lambda: 3.0)
    e["x"] = e["x"] + s
    return d["a"] * d["zz"] + e["x"] * e["y"]


@program
def dict_order(s):
    d = {"a": s, "b": s * 2.0}
    del d["a"]
    d["a"] = s * 3.0
    t = 0.0
    for i, k in enumerate(d):
        t = t + (i + 1.0) * d[k]
    return t


class List(list):
    def append(self, x):
        list.append(self, x * 2.0)


@program
def list_subclass(s):
    items = List()
    m = []
    for o in iter([items, m, items, m, deque(), set()]):
        if hasattr(o, "append"):
            o.append(s)
    return items[0] + m[0]
