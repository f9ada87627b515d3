"""Random programs with objects: compiled as without, also where objects change between calls."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.modes.reverse.test_whole_structures import same
from tests.programs.comparing import function_of

pytestmark = pytest.mark.plain

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


def program(draw: random.Random) -> dict[str, Any]:
    """Return the scope of a random program."""
    lines = ["y = 0.1"]
    for _ in range(draw.randint(2, 5)):
        e, f = draw.choice(NUMBERS), draw.choice(NUMBERS)
        lines.append(draw.choice(STATEMENTS).format(e=e, f=f))
    body = "".join(f"    {line}\n" for line in lines)
    text = f"{CLASSES}\nG = Part(0.7, 0.3)\n\ndef f(o):\n{body}    return y * 1.0\n"
    return function_of(text, f"<objects {hash(text)}>").__globals__


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


SABOTAGES = (
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


def state(value: Any, met: dict[int, int]) -> Any:
    """Return the contents of an object, to be compared; repeated parts by their numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, (float, int, str, type(None))):
        return type(value), value
    if id(value) in met:
        return met[id(value)]
    met[id(value)] = len(met)
    if isinstance(value, (list, tuple)):
        return type(value), [state(part, met) for part in value]
    if isinstance(value, dict):
        return [(key, state(part, met)) for key, part in value.items()]
    if hasattr(value, "__slots__"):
        names = [name for name in value.__slots__ if hasattr(value, name)]
        return type(value), [(name, state(getattr(value, name), met)) for name in names]
    return type(value), [
        (n, state(part, met)) for n, part in getattr(value, "__dict__", {}).items()
    ]


def outcome(f: Any, o: Any) -> Any:
    try:
        return f(o)
    except Exception as error:
        return type(error)


def compare(scope: dict[str, Any], o: Any, text: str) -> None:
    """Compare both ways, and what they leave."""
    f = scope["f"]
    before = state([o, scope["G"]], {})
    expected = outcome(value_and_grad(f), o)
    found = outcome(value_and_grad(f, compile=True), o)
    assert state([o, scope["G"]], {}) == before, text
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, text
        return
    rtol = 1e-5 if o.u.dtype == np.float32 else 1e-9
    assert found[0] == pytest.approx(expected[0], rel=rtol, abs=1e-12), text
    same(found[1], expected[1], {}, rtol)


def run(seed: int) -> None:
    """Run one program on some objects, and on objects that are changed."""
    draw = random.Random(seed)
    scope = program(draw)
    for k in range(4):
        o = made(scope, seed * 100 + k % 2)
        compare(scope, o, f"seed {seed}, object {k}")
    for k in range(4):
        o = made(scope, seed * 100)
        number = draw.randrange(len(SABOTAGES))
        try:
            SABOTAGES[number](o, scope)
        except (AttributeError, TypeError):  # of an object with slots
            continue
        compare(scope, o, f"seed {seed}, change {number}, object {k}")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore")
def test_programs_agree(seed):
    run(seed)
