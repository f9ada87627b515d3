"""Control flow: loops, exceptions, managers, generators, patterns; see `programs`.

What is unusual about their style is the point of them.
"""
# fmt: off
# ruff: noqa: B905, C400, C416, F841
# ruff: noqa: RET503, RUF059, SIM117
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUndefinedVariable=false, reportUnboundVariable=false

from __future__ import annotations

import contextlib
import math

from tests.frontend.cases import case, tell
from tests.frontend.definition_programs import Base


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


@case([1, 2, 3], 1)
def arithmetic_in_brackets_over_lines(v, i):
    y = (v[i + 1] * 2
         + v[-i])
    v[i - 1] += (v[~i]
                 * y)
    return v, y


@case(4)
def loops_over_numbers_and_attributes(n):
    class Box: ...

    box, other = Box(), Box()
    box.v, box.w, other.v = 1.0, 2.0, 3.0
    for _ in range(n):
        box.v += box.w * other.v
    return vars(box), vars(other)
