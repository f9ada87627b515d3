"""Functions of every kind, each with arguments, that must run the same when rewritten.

What is unusual about their style is the point of them.

Here: operators, assignments, names.
"""
# fmt: off
# ruff: noqa: B007, B018, C416, E501, E702, E731, F821, F842, I001
# ruff: noqa: ISC001, RUF021
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUndefinedVariable=false, reportUnboundVariable=false

from __future__ import annotations

import math
import os.path
import numpy as np

from tests.frontend.cases import case, tell


counter = 0


def bump():
    global counter
    counter += 1
    return counter


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


@case(2.0)
def statements_that_are_tried(x):
    class Box:
        rate = property(lambda self: tell(0.5))

        def __init__(self, v):
            self.v = v
            self.items = [v, v + 1.0]

    box = Box(x)
    y = box.v * x + box.rate * x
    box.v -= box.rate * y
    box.items[0] = (box.items[1] * x
                    - box.v)
    box.items[1] += box.items[0] * box.v
    z: float = (x * y
                + box.v)
    a = b = (z * box.rate
             - y)
    box.total = a * b - box.items[0] * box.items[1]
    return (box.total * x
            - z)
