"""Random programs with objects, and changes of these objects and of their classes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from tests.programs.comparing import function_of

__all__ = ["CHANGES", "changed", "has_each", "made", "program"]

CLASSES = """\
__name__ = "programs"
import numpy as np

class Part:
    weight = 1.5

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.unread = None

    def product(self):
        return self.a * self.b

    def scaled(self, k):
        self.a = self.a * k
        return self.a + self.weight

    @property
    def total(self):
        return self.a + self.b

class Other(Part):
    weight = 0.5

    def product(self):
        return self.a - self.b

class Slotted:
    __slots__ = ("a", "b", "weight")

    def __init__(self, a, b):
        self.a, self.b, self.weight = a, b, 2.0

    def product(self):
        return self.a * self.b * 0.5

    def scaled(self, k):
        return self.a * k

    @property
    def total(self):
        return self.a - self.b

class Whole:
    def __init__(self, p, q, r, u, n, mode, flag):
        self.p, self.q, self.n, self.mode, self.flag, self.u = p, q, n, mode, flag, u
        self.parts, self.table, self.pair = [p, r], {"a": 0.5, "b": q}, (0.25, r)
"""
NUMBERS = (
    "o.p.a", "o.q.b", "o.p.weight", "o.q.total", "o.parts[0].a", "o.parts[1].product()",
    "o.table['a']", "o.table['b'].b", "o.pair[0]", "o.pair[1].a", "o.u[0]", "np.sum(o.u)",
    "o.p.product()", "o.q.scaled(0.5)", "o.parts[1].scaled(y)", "o.n", "o.u[-1]",
    "G.a", "G.product()", "len(o.parts)", "o.parts[0].total",
)  # fmt: skip
STATEMENTS = (
    "y = y + {e}", "y = y * 0.5 + {e}", "o.p.a = {e} * 0.5", "o.q.b = o.q.b + 0.1 * {e}",
    "o.u[0] = {e} * 0.25", "o.u[1:] *= 0.5", "o.parts[1].a = {e}", "o.u = o.u * 0.5 + {e}",
    "if {e} > 0.3:\n        y = y + {f}\n    else:\n        o.p.b = {f} * 0.25",
    "for k in range(o.n):\n        y = y * 0.5 + {e}\n        o.q.a = o.q.a * 0.5 + 0.1 * y",
    "if o.mode == 'fast':\n        y = y + {e}",
    "if o.flag is None:\n        y = y - {e}\n    else:\n        y = y + o.flag",
    "for part in o.parts:\n        y = y + part.product() * {e}",
    "keep = o.p\n    keep.b = keep.b * 0.9\n    y = y + o.parts[0].b",
    "v = o.u\n    v[0] = v[0] * 0.9\n    y = y + o.u[0]",
    "for name, x in o.table.items():\n        if name == 'a':\n            y = y + x",
    "if isinstance(o.p, Other):\n        y = y * 0.9",
    "if hasattr(o, 'more'):\n        y = y + o.more",
)  # fmt: skip


EACH = (
    "y = y + o.p.a * o.q.b + o.table['a'] * o.pair[0] + np.sum(o.u)",
    "y = y + o.parts[1].product() * o.u[0] + G.product() + o.p.weight + o.q.total",
    "for k in range(o.n):\n        y = y * 0.5 + o.q.a",
    "if o.mode == 'fast':\n        y = y + 0.3",
    "if o.flag is None:\n        y = y - 0.1\n    else:\n        y = y + o.flag",
    "if hasattr(o, 'more'):\n        y = y + o.more",
    "o.p.a = y * 0.5",
    "y = y + o.parts[0].a + o.q.a",
)
"""Statements that each change shows in."""


def program(seed: int) -> dict[str, Any]:
    """Return the scope of a random program."""
    draw = random.Random(seed)
    lines = ["y = 0.1"]
    for _ in range(draw.randint(2, 5)):
        e, f = draw.choice(NUMBERS), draw.choice(NUMBERS)
        lines.append(draw.choice(STATEMENTS).format(e=e, f=f))
    if has_each(seed):
        lines[1:] = EACH
    body = "".join(f"    {line}\n" for line in lines)
    text = f"{CLASSES}\nG = Part(0.7, 0.3)\n\ndef f(o):\n{body}    return y * 1.0\n"
    return function_of(text, f"<objects {seed}>").__globals__


def made(scope: dict[str, Any], seed: int) -> Any:
    """Return an object for a program."""
    draw = random.Random(seed)
    kinds = [scope[name] for name in ("Part", "Part", "Other", "Slotted")]
    p, q, r = [draw.choice(kinds)(draw.random(), draw.random()) for _ in range(3)]
    if draw.random() < 0.3:
        q = p
    if draw.random() < 0.3:
        r = q
    u = np.array([draw.random() for _ in range(3)])
    mode, flag = draw.choice(["fast", "slow"]), draw.choice([None, 0.5])
    return scope["Whole"](p, q, r, u, draw.randint(0, 3), mode, flag)


CHANGES = (
    lambda o, g: delattr(o, "flag"),
    lambda o, g: delattr(o.p, "b"),
    lambda o, g: setattr(o, "more", 0.75),
    lambda o, g: setattr(o.p, "a", 2),
    lambda o, g: setattr(o.q, "b", np.float64(0.5)),
    lambda o, g: setattr(o, "u", np.arange(4.0)),
    lambda o, g: setattr(o, "u", np.ones(3, "f")),
    lambda o, g: setattr(o, "u", np.ones(6)[::2]),
    lambda o, g: setattr(o, "q", o.p),
    lambda o, g: setattr(o, "parts", [o.p, o.p]),
    lambda o, g: setattr(o, "parts", [o.q, o.p]),
    lambda o, g: o.parts.append(g["Part"](0.1, 0.2)),
    lambda o, g: o.parts.pop(),
    lambda o, g: setattr(o, "parts", tuple(o.parts)),
    lambda o, g: o.table.update(c=1.0),
    lambda o, g: o.table.update(a=None),
    lambda o, g: o.table.update(b=o.p),
    lambda o, g: setattr(o, "pair", (1, o.p)),
    lambda o, g: setattr(o, "mode", "fast" if o.mode == "slow" else "slow"),
    lambda o, g: setattr(o, "flag", 1.5),
    lambda o, g: setattr(o, "n", o.n + 1),
    lambda o, g: setattr(o, "n", 2.0),
    lambda o, g: setattr(o, "__class__", type("Sub", (type(o),), {})),
    lambda o, g: setattr(o.p, "__class__", g["Other" if type(o.p) is g["Part"] else "Part"]),
    lambda o, g: setattr(o.p, "product", lambda: 0.125),
    lambda o, g: setattr(o.p, "weight", 3.0),
    lambda o, g: setattr(g["Part"], "weight", 2.5),
    lambda o, g: setattr(g["Part"], "weight", 2),
    lambda o, g: setattr(g["Part"], "product", lambda self: self.a * 7.0),
    lambda o, g: setattr(g["Other"], "scaled", lambda self, k: self.a * k * k),
    lambda o, g: setattr(g["Part"], "a", property(lambda self: 0.3, lambda self, v: None)),
    lambda o, g: g.update(G=g["Part"](0.2, 0.9)),
    lambda o, g: g.update(G=o.p),
    lambda o, g: setattr(g["G"], "a", 3),
)  # fmt: skip


def has_each(seed: int) -> bool:
    """Return whether the program with a seed is one that every change shows in."""
    return seed % 8 == 0


@contextmanager
def changed(scope: dict[str, Any], seed: int, number: int) -> Iterator[tuple[Any, ...]]:
    """Give the arguments of a program after a change; what it changes in the module is put back."""
    classes = [scope["Part"], scope["Other"], type(scope["G"])]
    held = [dict(vars(cls)) for cls in classes]
    globals_, own = dict(scope), dict(vars(scope["G"]))
    g = scope["G"]
    try:
        o = made(scope, seed)
        with suppress(AttributeError, TypeError):  # of an object with slots
            CHANGES[number](o, scope)
        yield (o,)
    finally:
        for cls, before in zip(classes, held, strict=True):
            for name in {*vars(cls)} - {*before}:
                delattr(cls, name)
            for name in ("weight", "product", "scaled"):
                if name in before and before[name] is not vars(cls).get(name):
                    setattr(cls, name, before[name])
        scope.update(globals_)
        vars(g).clear()
        vars(g).update(own)
