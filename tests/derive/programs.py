"""Functions of every kind, each with arguments, that must run the same when rewritten.

What is unusual about their style is the point of them.
"""
# fmt: off
# ruff: noqa: B007, B018, B905, C400, C408, C416, E501, E702, E731, F821, F841, F842, I001
# ruff: noqa: ISC001, RET503, RUF021, RUF059, SIM117, UP050
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUndefinedVariable=false, reportUnboundVariable=false

from __future__ import annotations

import contextlib
import functools
import math
import os.path
from dataclasses import dataclass
from typing import Any

import numpy as np

CASES: list[tuple[Any, tuple[Any, ...]]] = []
counter = 0
log: list[Any] = []


def case(*args):
    def add(f):
        CASES.append((f, args))
        return f

    return add


def tell(value):
    log.append(value)
    return value


def bump():
    global counter
    counter += 1
    return counter


def failing(x):
    return x / 0


@case(7, 3)
def every_operator(a, b):
    r = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b]
    m = np.eye(2) @ np.ones(2)
    return r, m.tolist(), -a, +a, ~a, not a, a < b <= 9 != a, a and b or 0, 1 + 2j - 3, -2**2


@case(7, 3)
def every_inplace_operator(a, b):
    r = []
    x = a; x += b; r.append(x)
    x = a; x -= b; r.append(x)
    x = a; x *= b; r.append(x)
    x = a; x /= b; r.append(x)
    x = a; x //= b; r.append(x)
    x = a; x %= b; r.append(x)
    x = a; x **= b; r.append(x)
    x = a; x <<= b; r.append(x)
    x = a; x >>= b; r.append(x)
    x = a; x &= b; r.append(x)
    x = a; x |= b; r.append(x)
    x = a; x ^= b; r.append(x)
    x = np.eye(2); x @= 2 * np.eye(2); r.append(x.tolist())
    return r


@case(np.arange(24.0).reshape(4, 6))
def slices(u):
    lo, hi = 1, 3
    v = u[1:-1, ::2].copy()
    u[lo:hi, 1:] += 1.0
    u[..., None][0, 0] = 9.0
    u[-1] = u[0, ::-1]
    del lo
    w = u[hi:, hi - 1 : hi + 1 : 1]
    w[True, 0:1] = -1.0
    return v, u[:, [0, 2]], u[u > 3.0], w, u[(0, slice(1, hi))], u[*(1, 2)], u[0:0], u[np.s_[1:2]]


@case({"a": 1, "b": [1, 2, 3]})
def deletion(d):
    class Box: ...

    box = Box()
    box.x, box.y = 1, 2
    x = y = 0
    del d["a"], d["b"][1:], box.x, (x, [y])
    try:
        x
    except UnboundLocalError as error:
        return d, vars(box), str(error), "error" in dir(box)


@case([1, 2, 3, 4])
def targets(v):
    a = b = [0, 0]
    (a[0], *b), c = v[:3], v[3]
    i, v[i] = 2, "here"
    first, *rest = v
    a, v[0] = v[0], a
    x = y[0], z = (y := [1, 2])
    [p, (q, r)] = 1, "st"
    d: int = 3
    v[1]: int = d
    nothing: str
    tell(v)[0]: int
    s, t = *v[:1], 5
    return a, b, c, i, v, first, rest, x, y, z, p, q, r, s, t


@case([0] * 9)
def order_of_plain_assignment(v):
    global counter
    counter = 0
    v[counter] = bump()
    v[bump()], v[bump()] = bump(), bump()
    v[tell(0)] = tell("value")
    k = 0
    v[k] = (k := 6)
    at = 7

    def move():
        nonlocal at
        at = 8
        return "moved"

    v[at] = move()
    return v, k


@case()
def order_of_augmented_assignment():
    class Traced(dict):
        def __getitem__(self, key):
            tell(("get", key))
            return super().__getitem__(key)

        def __setitem__(self, key, value):
            tell(("set", key, value))
            super().__setitem__(key, value)

    d = Traced(a=1)
    tell(d)[tell("a")] += tell(2)
    d["a"] += 3

    def change():
        d["a"] = 100
        return 1

    d["a"] += change()
    holder = type("Holder", (), {})()
    holder.x = 1

    def change_attribute():
        holder.x = 50
        return 2

    holder.x += change_attribute()
    tell(holder).x *= tell(4)
    holder.x -= 1
    return d, holder.x


@case(5)
def closures(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    scale = lambda x, s=n * 2: x * s + total
    for i in range(n):
        add(i)
    return total, scale(3), [f(1) for f in (lambda x: x + n, lambda x: x - n)], add.__qualname__


@case(4)
def nonlocal_counter_is_no_static_int(n):
    def make_text():
        nonlocal k
        k = "text"

    for k in range(n):
        pass
    make_text()
    return k + "!"


@case(6)
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@case(6)
def recursion_of_nested(n):
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


@case(5)
def generators(n):
    def squares(k):
        for i in range(k):
            got = yield i * i
            if got:
                yield got + 1

    def chained(k):
        result = yield from squares(k)
        yield result
        yield from [7, 8]
        return "done"

    g = chained(n)
    out = [next(g), g.send(10), next(g)]
    out += list(g)
    return out, list(x + 1 for x in squares(n) if x % 2)


@case(3)
def itself_a_generator(n):
    try:
        for i in range(n):
            yield (yield i)
    finally:
        tell("closed")


@case([3, 1, 2])
def comprehensions(v):
    x = "outer"
    a = [x * 2 for x in v if x > 1]
    b = {x: y for x, y in zip(v, a)}
    c = {(x, y) for x in range(2) for y in range(x + 1)}
    d = [[i + j for j in range(i)] for i in range(3)]
    e = sum(q for q in v)
    f = [first for first, *_ in ("ab", "cd")]
    h = [(last := i) for i in v]
    return a, b, sorted(c), d, e, f, x, last, [x for x in [y * 2 for y in v]]


@case(0)
@case(2)
def try_and_finally(d):
    out = []
    try:
        out.append(1 / d)
    except ZeroDivisionError as error:
        out.append(str(error))
    else:
        out.append("fine")
    finally:
        out.append("finally")
    with contextlib.suppress(KeyError):
        {}["missing"]
    try:
        raise ValueError("again") from None
    except (ValueError, TypeError):
        return out
    finally:
        tell("left")


@case([1, 2])
def exception_groups(v):
    out = []
    try:
        raise ExceptionGroup("many", [ValueError(1), KeyError(v[0])])
    except* ValueError as group:
        out.append(len(group.exceptions))
    except* KeyError as group:
        out.append(group.exceptions[0].args)
    return out


@case()
def managers():
    class Manager:
        def __init__(self, value):
            self.value = value

        def __enter__(self):
            tell(("enter", self.value))
            return self.value

        def __exit__(self, *error):
            tell(("exit", self.value, error[0] and error[0].__name__))
            return True

    box = {}
    with Manager((1, [2, 3])) as (a, (b, *c)), Manager(a + 1) as box["k"], Manager(box["k"]) as d:
        box["in"] = a, b, c, d
    with Manager(1):
        with Manager("ab") as (x, y, z):
            tell("never")
    return box


@case(10)
def early_return_and_break(n):
    for i in range(n):
        if i == 3:
            continue
        for j in range(i):
            if j * i > 8:
                break
        else:
            continue
        while True:
            n -= 1
            if n < 5:
                return i, j, n
    return None


@case("abc")
def starred_calls(s):
    def f(*args, **kwargs):
        return args, sorted(kwargs.items())

    pairs = dict(k=1)
    return f(*s, 0, *range(2), z=3, **pairs), [*s, *s], {*s} == set(s), {**pairs, "j": 2}, (*s, 1)


@case(1, 2)
def signature(a, b=5, /, c=6, *rest, d=7, e: int = 8, **more) -> int:
    """Document, and survive rewriting."""
    return a, b, c, rest, d, e, more


class Base:
    def __init__(self, x):
        self.__x = x
        self._Other__y = 1

    def value(self, k=1):
        return self.__x * k

    @property
    def double(self):
        return 2 * self.__x

    @double.setter
    def double(self, v):
        self.__x = v / 2

    @classmethod
    def make(cls, x):
        return cls(x)

    @staticmethod
    def helper(__private, **kw):
        return __private, kw


class _Derived(Base):
    def __init__(self, x):
        super().__init__(x)
        self.__x = "own"
        self.__x += "!"

    def value(self, k=2):
        def inner():
            return super(_Derived, self).value(3), __class__.__name__

        return super().value(k) + 1, inner(), self.__x, [self.__x for _ in range(2)]

    def remove(self):
        del self.__x
        __local = 3
        return sorted(vars(self)), __local, self.helper(1, __k=2), super().double


@case(4)
def classes(x):
    o = _Derived.make(x)
    out = [o.value(), o.double]
    o.double = 10
    o.double += 2
    return out, o.value(5), o.remove(), Base.value(o)


@case(3)
def class_body(n):
    base = Base
    holder = type("Holder", (), {"_Local__secret": 5})

    @functools.total_ordering
    class Local(base, metaclass=type):
        __private = n * 2
        size: int = n + 1
        table = [i * 2 for i in range(3)]
        a = b = size - 1
        (first, second), third = table[:2], table[2]
        for index in range(2):
            index + 1
        secret = holder.__secret

        def __init__(self, v=n):
            super().__init__(v)
            self.v = v + self.__private

        def __eq__(self, other):
            return self.v == other.v

        def __lt__(self, other):
            return self.v < other.v

        class Inner:
            x = n * 7

    names = sorted(k for k in vars(Local) if not k.startswith("__"))
    return Local() <= Local(5), Local().v, Local.Inner.x, names, Local.__qualname__


@case(3)
def decorated(n):
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args):
            return 2 * f(*args)

        return wrapper

    def plus(k):
        return lambda f: lambda *args: f(*args) + k

    @twice
    @plus(n + 1)
    def inner(x, y=n * n):
        return x + y

    return inner(1), inner(1, 2)


@case({"kind": "circle", "r": 2})
@case({"kind": "square", "side": 3, "more": 1})
@case([1, 2, 3])
@case((1, "b"))
@case(math.pi)
@case(42)
@case(Base(3))
def matching(value):
    match value:
        case {"kind": "circle", "r": r}:
            return math.pi * r**2
        case {"kind": str(kind), **rest}:
            return kind, rest
        case [first, *others] if len(others) > 1:
            return first + others[0]
        case (int(a), "b" as b):
            return a * 2, b
        case math.pi:
            return "pi"
        case Base(double=d):
            return d + 1
        case int() | float() as number:
            return number - 1
        case _:
            return None


@case([5, 6])
def walrus(v):
    if (n := len(v)) > 1 and (m := n * 2):
        return [y := 1, y**2], n, m, (lambda z: (w := z) + w)(3)


@case(3)
def format_strings(n):
    width = 8
    return f"{n + 1!r:>{width * 2}} {n=} {'a' 'b'} {n / 7:.{n}f} {{}} {[i for i in range(n)]}"


@case(3)
def static_ints(n):
    k = 0
    for i in range(n):
        for j in range(i + 1):
            k += i * 10 + j - 1
        i += 1
        k = -k % 7
    for x in range(2):
        pass
    x = "a"
    x += "b"
    return k, i, x, [x * 2 for x in range(3)], [x * 2 for x in "ab"], len("abc") - 1


@case(3)
def shadowed_builtins(n):
    range = lambda k: ["r"] * k
    out = []
    for i in range(n):
        out.append(i + "x")

    def len(_):
        return "len"

    return out, len(out) + "!", [r + "y" for r in range(2)]


@case(2.0)
def modules(x):
    from math import floor as down
    import os.path as path
    return np.sin(x), np.linalg.norm(np.ones(4) * x), math.e * x, os.path.join("a", "b"), (
        down(x), path.basename("a/b"), np.ndarray.sum(np.ones(2)), np.random.default_rng(0).random())


@case()
def own_globals():
    return globals()["__name__"], globals() is np.__dict__, "case" in globals()


@case(3)
def global_statement(n):
    global counter
    counter = n
    counter += 2
    del counter
    counter = n * 2
    return counter


@case(3)
def function_attributes(n):
    def f(a, *, b=n + 1):
        "Doc."
        return a

    f.cache = {}
    f.cache["k"] = n
    return f.__doc__, f.__kwdefaults__, f.cache, f.__name__, f.__qualname__, f.__defaults__


@case([3, 1, 2])
def callbacks(v):
    return sorted(v, key=lambda t: -t), list(map(lambda a, b: a * b, v, v)), functools.reduce(lambda a, b: a - b, v)


@case([[1, 2], [3, 4]])
def loop_targets(m):
    out = {}
    for a, (out["b"]) in m:
        out[a] = out["b"]
    for out["c"] in m:
        pass
    for (x, *y), z in zip(m, "ab"):
        out[z] = x, y
    for i, [a, b] in enumerate(m):
        out[i] = a - b
    return out


@dataclass
class Point:
    x: float
    y: float = 1.0

    def shifted(self, by):
        return Point(self.x + by, y=self.y - by)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __iadd__(self, other):
        self.x += other.x
        return self


@case(Point(1.0))
def special_methods(p):
    q = p
    q += p.shifted(2)
    p.x -= 0.5
    return p + q, p is q


@case(3)
def conditional_definitions(n):
    if n > 2:
        def f(x): return x + 1
    else:
        f = None
    assert f is not None, "no f"
    return f(n) if f else ..., (lambda: (yield))


# From here on: functions that fail, whose tracebacks must name the same lines.


@case(1, None)
def fails_in_operator(a, b):
    c = a * 2
    return (
        c
        + a
        + b
    )


@case([1])
def fails_in_chain(v):
    return (
        v
        .copy()
        .missing(1,
                 2)
        .other()
    )


@case([1])
def fails_in_attribute(v):
    return (v.
            append
            .nothing)


@case([1])
def fails_in_store(v):
    v[
        5
    ] = (
        1 +
        2
    )


@case(object())
def fails_in_attribute_store(o):
    (
        o
        .x
    ) = 1


@case([1])
def fails_in_unpacking(v):
    (
        a,
        b,
    ) = \
        v


@case(3)
def fails_in_loop(n):
    for i in range(n):
        for a, b in [
            (1, 2),
            (1,),
        ]:
            pass


@case(0)
def fails_deep(n):
    def inner(k):
        return failing(
            k
        )

    return [inner(x) for x in [
        n]]


@case("a")
def fails_in_augmented(s):
    d = {"k": 1}
    d[
        "k"
    ] += len(
        s
    ) + (
        s
    )


@case("a")
def fails_in_augmented_with_calls(s):
    d = {"k": 1}
    d[
        "none"
    ] += tell(
        s
    )


@case(2)
def fails_in_imported_call(x):
    return math.sqrt(
        x
    ) + (
        math.
        sqrt(
            -x
        )
    )


@case(2)
def fails_in_starred_call(x):
    return (
        "a"
        .join(
            *[x]
        )
    )


@case(2)
def fails_in_handler(x):
    try:
        x.missing
    except AttributeError as e:
        raise KeyError(
            x
        ) from e
    finally:
        x = 0


@case(2)
def fails_in_manager(x):
    with contextlib.nullcontext(x) as y, \
            open as z:
        pass


@case(2)
def fails_in_nested_decorator(x):
    @tell
    @failing
    def f():
        pass


@case(2)
def fails_in_assert(x):
    assert x == 2
    assert x + 1 == \
        2, f"{x}"


@case(None)
def fails_in_unary(x):
    return [
        1,
        -x,
    ]


@case((1, 2))
def fails_in_subscript(x):
    return x[0] + x[
        1:][
        7
    ]


@case(2)
def fails_in_generator_expression(n):
    return sum(
        1 / (i - 1)
        for i in range(n)
    )


@case(2)
def fails_in_class_body(n):
    class A:
        x = 1
        y = (x
             + "a")


@case(0)
def fails_on_missing_argument(n):
    return failing()


@case(0)
def fails_on_unbound(n):
    if n:
        q = 1
    n += q
    return n
