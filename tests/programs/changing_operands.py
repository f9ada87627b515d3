"""One random statement, in a function that is called in a row with operands of other kinds.

What is recorded as one entry is made for what the operands were: their shapes, types and layouts.
"""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np

__all__ = ["HEAD", "arguments", "random_calls"]

HEAD = """import numpy as np
def unaligned(v):
    a = np.zeros(v.size, [("flag", "i1"), ("value", "f8")])["value"]
    a[...] = v
    return a
def read_only(v):
    v.flags.writeable = False
    return v
"""
COMMON = ("{0}[:3] * 1.0", "{0}.reshape(3, 3) * 1.0", "{0}[:1] * 1.0", "{0}[2:5]", "{0}[4]")
ARRAYS = (
    *COMMON, "{0}[5:2:-1]", "{0}[1:7:2]", "{0}[None, :3] * 1.0", "{0}[:3, None] * 1.0",
    "{0}[:1, None] * 1.0", "({0}.reshape(3, 3) * 1.0).T", "{0}.reshape(3, 3)",
    "np.asfortranarray({0}.reshape(3, 3) * 1.0)", "({0}.reshape(3, 3) * 1.0)[::-1]",
    "({0}[:3] * 1.0).astype(np.float32)", "({0}[:3] * 1.0).astype('>f8')", "np.array({0}[0])",
    "np.broadcast_to({0}[:1], (3,))", "np.broadcast_to({0}[:3], (3, 3))", "{0}[:0] * 1.0",
    "{0}.reshape(1, 3, 3) * np.ones((2, 1, 1))", "{0}[:3] * (1.0 + 0.5j)", "unaligned({0}[:3])",
    "({0}[:3] * 1.0).astype(np.longdouble)", "read_only({0}[:3] * 1.0)",
)  # fmt: skip
NUMBERS = (
    "{0}[4]", "float({0}[4])", "np.float32({0}[3])", "np.sum({0}[:2])", "{0}[5] * (1.0 - 2.0j)",
    "3", "True", "1.7", "np.int64(2)", "np.int32(2)", "np.True_", "np.float32(1.5)",
    "np.float16(0.5)", "np.longdouble(1.25)",
)  # fmt: skip
CONSTANTS = (
    "np.arange(1, 4)",
    "np.arange(3) > 0",
    "np.array([1, 2, 3], np.uint8)",
    "[1.0, 2.0, 3.0]",
    "np.array([1.0, np.inf, 2.0])",
)
OUTPUTS = (*COMMON[:2], *ARRAYS)
INDICES = {
    "i": ("1", "0", "np.int64(1)", "slice(0, 2)", "-1", "True", "np.array([0, 1])", "[0, 2]",
          "None", "np.int32(1)", "...", "np.array(1)"),
    "j": ("0", "1", "slice(None)", "np.uint8(1)", "np.True_"),
    "k": ("0", "slice(1, 3)", "np.array([True, False, True])", "1", "(0, 1)", "(1,)"),
}  # fmt: skip
NAMES = ("a", "b", "c")
PARTS = (*NAMES, "a[0]", "b[:1]", "c[-1]", "a[1:]", "b[:-1]", "a[::-1]", "b[k]", "c[i]", "a[:, 0]",
         "b[0, :]", "a[i, j]", "b[j, i]")  # fmt: skip
FUNCTIONS = ("np.sin", "np.tanh", "np.exp", "-", "np.abs", "np.square", "np.cos")
PAIRS = ("np.maximum", "np.minimum", "np.hypot", "np.arctan2", "np.add", "np.multiply", "np.fmin")


def arguments() -> tuple[Any, Any]:
    """Return the arguments of such a program, vectors of nine elements."""
    x = np.linspace(0.3, 1.9, 9) * np.where(np.arange(9) % 4 == 3, -1, 1)
    return x, x[::-1] * 0.7


def random_calls(seed: int) -> str | None:
    """Return the text of a function ``f(x, c)``; None if nearly all operands raise."""
    random = Random(seed)
    text = HEAD + _site(random)
    namespace: dict[str, Any] = {}
    exec(compile(text, "<site>", "exec"), namespace)
    operands = _Operands(random)
    calls: list[dict[str, str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in range(60):
            given = operands.varied(calls, trial)
            if _serves(namespace, given):
                calls.append(given)
            if len(calls) == 6:
                break
    if len(calls) < 2:
        return None
    lines = ["def f(x, c):", "    t = 0.0"]
    for n, given in enumerate([*calls, calls[0]]):
        keywords = ", ".join(f"{name}={value}" for name, value in given.items())
        lines.append(f"    y = site({keywords})")
        lines.append(f"    t = t + {n + 1}.0 * np.sum(np.sin(np.real(y)) + np.cos(np.imag(y)))")
    return text + "\n".join([*lines, "    return np.float64(t)"]) + "\n"


def _serves(namespace: dict[str, Any], given: dict[str, str]) -> bool:
    x, c = arguments()
    try:
        values = {name: eval(text, {**namespace, "x": x, "c": c}) for name, text in given.items()}
        return bool(np.isfinite(np.sum(np.sin(namespace["site"](**values)))))
    except Exception:
        return False


class _Operands:
    """Draws operands that are mostly those of an earlier call."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.numbers = 0.8 if random.random() < 0.25 else 0.15
        self.base = self.fresh()

    def fresh(self) -> dict[str, str]:
        return {name: self.drawn(name) for name in ("o", *NAMES)} | {
            name: self.random.choice(choices[:2]) for name, choices in INDICES.items()
        }

    def varied(self, calls: list[dict[str, str]], trial: int) -> dict[str, str]:
        """Return operands like those of a call, one or more of them other ones."""
        if not calls and trial % 7 == 6:
            self.base = self.fresh()
        given = dict(self.random.choice(calls) if calls else self.base)
        for name in self.random.sample(list(given), self.random.choice((1, 1, 2, 3))):
            given[name] = self.drawn(name)
        return given

    def drawn(self, name: str) -> str:
        choice = self.random.choice
        if name in INDICES:
            return choice(INDICES[name])
        if name == "o":
            return f"({choice(OUTPUTS)}) * 1.0".format(choice("xxc"))
        if self.random.random() < self.numbers:
            return choice(NUMBERS).format(choice("xxc"))
        kinds = COMMON if self.random.random() < 0.5 else ARRAYS
        return choice(CONSTANTS if self.random.random() < 0.1 else kinds).format(choice("xxc"))


def _site(random: Random) -> str:
    """Return the text of the function that is called: one statement, mostly."""
    parts = NAMES if random.random() < 0.4 else PARTS
    value = _expression(random, random.choice((1, 2, 2, 3)), parts)
    kind = random.random()
    if kind < 0.4:
        body = f"    return {value}\n"
    elif kind < 0.5:
        body = f"    o[...] = {value}\n    return o\n"
    elif kind < 0.62:
        index = random.choice(("1:", ":2", "i", "::2", "0", "i, j", "-1"))
        body = f"    o[{index}] {random.choice(('', '+', '-', '*', '/'))}= {value}\n    return o\n"
    elif kind < 0.72:
        body = f"    o {random.choice('+-*')}= {value}\n    return o\n"
    elif kind < 0.82:
        first = "o" if random.random() < 0.4 else _expression(random, 1, parts)
        second = _expression(random, 1, parts)
        body = f"    {random.choice(PAIRS)}({first}, {second}, out=o)\n    return o\n"
    elif kind < 0.93:
        body = (
            "    s = b[0] * 1.0\n    for q in range(3):\n        s += a[q] * b[q]\n"
            f"        o[q] = s * c[q] {random.choice('+-*')} a[q]\n    return s + np.sum(o)\n"
        )
    else:
        more = _expression(random, 1, parts)
        body = f"    y = {value}\n    y {random.choice('+-*')}= {more}\n    return y + o\n"
    return "def site(o, a, b, c, i, j, k):\n" + body


def _expression(random: Random, depth: int, parts: tuple[str, ...]) -> str:
    """Return the text of an expression."""

    def inner() -> str:
        return _expression(random, depth - 1, parts)

    kind = random.random()
    if depth == 0 or kind < 0.12:
        return random.choice(parts) if random.random() < 0.9 else random.choice(("2", "0.5"))
    if kind < 0.45:
        return f"({inner()} {random.choice('+-*')} {inner()})"
    if kind < 0.55:
        return f"({inner()} / ({inner()} ** 2 + 2.0))"
    if kind < 0.63:
        return f"{random.choice(FUNCTIONS)}({inner()})"
    if kind < 0.70:
        return f"{random.choice(PAIRS)}({inner()}, {inner()})"
    if kind < 0.85:
        return f"({random.choice(parts)} @ {random.choice(parts)})"
    if kind < 0.95:
        product = random.choice(("dot", "outer"))
        return f"np.{product}({random.choice(parts)}, {random.choice(parts)})"
    return f"np.sum({inner()})"
