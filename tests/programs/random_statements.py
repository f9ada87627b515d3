"""Random statements on slices, elements, broadcast arrays and products, all over a few arrays.

The odd ones have arrays of other types, of no or one element or of no axes, read-only ones and
such whose elements share memory among their operands, and shapes that do not fit.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

from tests.programs.totals import as_method, total

__all__ = ["STATE", "TAIL", "arguments", "random_text", "special_arguments"]

ROWS = (
    "x[1:4]", "x[:3]", "x[::-2]", "m[0]", "m[2, ::-1]", "m[:, 1]", "y[2:]", "w[1:4]", "z", "t[1]",
    "e[0]", "e[k]",
)  # fmt: skip
SQUARES = ("m", "m[::-1]", "m[:, ::-1]", "u[0]", "u[1]", "t", "v", "d['v']", "e[2]", "d[3]")
VIEWED_ROWS = ("np.flip(x[1:4])", "np.flip(z)", "np.flip(m[:, 1])", "np.flip(y[::2])")
VIEWED_SQUARES = ("m.T", "np.flip(m)", "u[1].T", "np.fliplr(v)", "np.transpose(t)", "v.T")
GATHERED_ROWS = (
    "x[j]", "w[h]", "m[j - 1, 1]", "y[j]", "m[1][j - 2]", "z[j % 3]", "x[(0, 2, 2),]",
    "m[(0, 1, 0), (1, 2, 1)]", "t[1, (2, 0, 2)]",
)  # fmt: skip
GATHERED_SQUARES = ("m[j - 1]", "v[j // 2]", "v[:, (2, 0, 2)]")
MORE_SQUARES = VIEWED_SQUARES + GATHERED_SQUARES
COLUMNS = ("m[:, 2, None]", "x[:3, None]", "w[2:, None]", "m[:, :1]", "t[:, 1:2]")
NUMBERS = ("x[0]", "x[j[k]]", "w[3]", "m[1, 2]", "0.5", "2.0", "a", "u[1, 0, 2]", "y[k]", "t[k, 1]",
           "d['a']", "e[-1]")  # fmt: skip
PLACES = ("x[k]", "m[k, 1]", "u[k, 0, k]", "w[2]", "a", "v[k, k]", "c")
FUNCTIONS = ("np.sin", "np.tanh", "np.arctan", "np.negative")
SCALAR_FUNCTIONS = ("np.sin", "math.cos", "np.tanh", "math.atan", "int", "math.sqrt", "np.sqrt")
SCALAR_PAIRS = ("np.minimum", "np.maximum", "math.atan2", "np.hypot", "np.add", "math.hypot")
PAIRS = (
    "np.minimum", "np.maximum", "np.hypot", "np.arctan2", "np.add", "np.subtract", "np.multiply",
    "np.logaddexp", "np.copysign", "np.fmax", "np.minimum",
)  # fmt: skip
EMPTY = ("x[:0]", "w[5:]", "m[:0, 0]", "x[3:2]", "y[2:2]", "m[1, :0]")
ONES = ("x[4:]", "w[:1]", "m[0, :1]", "m[1:2, 1]", "y[-1:]")
OTHER_TYPES = ("SINGLE", "WHOLE", "COMPLEX", "BOOLS", "q", "ZERO_D")
OF_SHARED_MEMORY = ("r", "r[1]", "b", "x[1:4][::-1]", "m.T[::-1]", "o[:, 1]", "o")
UNFIT = ("x", "w[:4]", "u", "m[:2]", "m[0, 0, 0]", "x[9]")
OF_NAMES = (
    "v = m + v - 1.0", "v = v - m + v", "v = m - v * 2.0", "z = z + z + z", "z = 0.5 * (v[0] - z)",
    "v = -(-m)", "y = x + w + 1.0", "y = w - y * x", "y = np.maximum(x, y) + w", "y = x + 1.0",
    "v = v - v[::-1] - m", "y = 0.5 * (y + y[::-1] - x)",
    "v = m + 0.5; v *= w[3]", "v = 2.0 * v; v = -(-v); v += m * v",
    "p = m * 0.5; n = np.tanh(p * v); z = z * 0.5 + np.mean(p, axis=0); v = n + 1.0",
    "p = m * 0.5; n = m - p * v; a = a + np.tanh(np.sum(p * m)); v = n + p + 0.5",
)  # fmt: skip
OF_INDICES = ("j[1] = 1 - j[1]", "h[:2] = h[1::-1]")
SPLIT = re.compile(r"( \S?= )")  # what stands before the value of an assignment, and after it
POLES = ("np.sqrt", "np.cbrt", "np.log", "np.arcsin")
DATA = (
    "SINGLE = np.array([0.5, -1.25, 2.0], np.float32)\nWHOLE = np.array([1, -2, 3])\n"
    "COMPLEX = np.array([1.0 + 0.5j, -0.25j, 2.0])\nBOOLS = WHOLE > 0\nZERO_D = np.array(0.75)\n\n"
)
HEAD = (
    "def f(x, w, m):\n    y = x * w\n    z = w[:3] * 1.0\n    t = m.T\n    v = np.ones((3, 3))\n"
    "    u = np.zeros((2, 3, 3))\n    a = x[4]\n    c = float(w[1])\n"
    "    d = {'v': v, 'a': a, 3: t}\n    e = [z, m[1], v, c]\n"
    "    j = np.array([3, 0, 3])\n    h = np.array([True, False, True, True, False])\n"
)
ODD_HEAD = (
    "    q = x[2, ...]\n    r = np.broadcast_to(w[:3], (3, 3))\n"
    "    b = np.lib.stride_tricks.sliding_window_view(x, 3)\n"
    "    o = np.lib.stride_tricks.as_strided(np.ones(5), (3, 3), (8, 8))\n"
)
LOOP = "    for k in range(2):\n"
TAIL = (
    "    s = np.sum(np.sin(x) * w) + np.sum(np.sin(m) * t) + np.sum(np.cos(u) * np.sin(v))\n"
    "    return s + np.sum(np.sin(y)) + np.sum(np.cos(z)) + a + c\n"
)


STATE = "    return x, w, m, y, z, v, u, a, c\n"


def random_text(seed: int, size: int = 6, odd: bool = False, tail: str = TAIL) -> str:
    """Return the text of a function ``f(x, w, m)`` of arrays of 5, 5 and 3 by 3 elements."""
    random = Random(seed)
    statement = _odd_statement if odd else _statement
    lines = [" " * 8 + statement(random) + "\n" for _ in range(size)]
    head = DATA + HEAD + ODD_HEAD if odd else HEAD
    return "import math\nimport numpy as np\n" + head + LOOP + "".join(lines) + tail


def _odd_statement(random: Random) -> str:
    if random.random() < 0.15:
        return random.choice(OF_NAMES)
    text = _statement(random)
    kind = random.random()
    if kind < 0.05:
        return _exchanged(random, text, ROWS, EMPTY, 1.0)
    if kind < 0.1:
        return _exchanged(random, text, ROWS, ONES, random.choice((1.0, 0.4)))
    if kind < 0.15:
        return _exchanged(random, text, ROWS + SQUARES, OF_SHARED_MEMORY, 0.2)
    if kind < 0.3 and SPLIT.search(text):
        target, operator, value = SPLIT.split(text, maxsplit=1)
        return target + operator + _exchanged(random, value, SQUARES, ("r", "b", "m.T[::-1]"), 0.4)
    if kind < 0.4 and SPLIT.search(text):
        target, operator, value = SPLIT.split(text, maxsplit=1)
        value = _exchanged(random, value, ROWS, OTHER_TYPES, 0.5)
        return target + operator + value
    if kind < 0.43:
        return _exchanged(random, text, ROWS + SQUARES + NUMBERS, UNFIT, 0.2)
    if kind < 0.8 and SPLIT.search(text):
        target, operator, value = SPLIT.split(text, maxsplit=1)
        value = _exchanged(random, value, FUNCTIONS, POLES, 0.5)
        value = _exchanged(random, value, ROWS, ("u[1]", "u[0, 1]"), 0.2)
        return target + operator + _exchanged(random, value, NUMBERS, ("0.0",), 0.3)
    return text


def _exchanged(
    random: Random, text: str, old: tuple[str, ...], new: tuple[str, ...], share: float
) -> str:
    """Return a text with other operands in the place of some."""
    longest_first = sorted(old, key=len, reverse=True)
    pattern = rf"(?<![\w.])({'|'.join(map(re.escape, longest_first))})(?![\w\[.])"
    return re.sub(
        pattern, lambda found: random.choice(new) if random.random() < share else found[0], text
    )


def _statement(random: Random) -> str:
    if random.random() < 0.2:
        return _output(random)
    if random.random() < 0.08:
        return random.choice(OF_INDICES)
    square = random.random() < 0.5
    if random.random() < 0.3:
        value = random.choice((_sum(random), _scalar(random, 2)))
        return f"{random.choice(PLACES)} {random.choice(('=', '+=', '-=', '*='))} {value}"
    target = random.choice(SQUARES if square else ROWS)
    operator = random.choice(("=", "+=", "-=", "*=", "/=", "=", "+="))
    value = _square(random, 2) if square and random.random() < 0.8 else _row(random, 2)
    if random.random() < 0.15:
        value = _number(random)
    if random.random() < 0.15:
        target = random.choice(("z", "v") if not square else ("v",))
    if operator == "/=":
        value = f"(np.tanh({value}) + 3.0)"
    elif operator == "=" and "[" not in target:
        target += "[...]" if random.random() < 0.8 else ""
        if "[" not in target:
            value = _square(random, 2) if target == "v" or target == "t" else _row(random, 2)
            target = "v" if target == "t" else target
            if target not in ("v", "z"):
                target += "[...]"
    return f"{target} {operator} {value}"


def _output(random: Random) -> str:
    square = random.random() < 0.5
    target = random.choice((*SQUARES, "v") if square else (*ROWS[:-1], "z", "z"))
    target = target + "[...]" if random.random() < 0.1 and "[" not in target else target
    value = _square if square else _row
    kind = random.random()
    if kind < 0.15:
        function = random.choice((*FUNCTIONS, "np.square", "np.abs"))
        operands = [target if random.random() < 0.4 else value(random, 1)]
    else:
        function = random.choice(PAIRS)
        operands = [value(random, 1), random.choice((value, _row, _number))(random, 1)]
        if kind < 0.7:
            operands[random.random() < 0.3] = target
        if random.random() < 0.1:
            function, operands[1] = "np.divide", f"(({operands[1]}) ** 2 + 2.0)"
    return f"{function}({', '.join(operands)}, out={target})"


def _sum(random: Random) -> str:
    summand = random.choice((_row, _square))(random, 2)
    found = f"np.sum({summand}, axis=0)" if random.random() < 0.05 else total(random, summand)
    text = f"np.tanh({found} * 0.2)"
    more = f" * {random.choice(NUMBERS)} + {_number(random)}"
    return text if random.random() < 0.5 else text + more


def _scalar(random: Random, depth: int) -> str:
    """Return a bounded expression of numbers and elements."""
    kind = random.random()
    if depth == 0 or kind < 0.1:
        return random.choice((*NUMBERS, *PLACES, "c", "2"))
    a, b = _scalar(random, depth - 1), _scalar(random, depth - 1)
    if kind < 0.3:
        return f"{random.choice(SCALAR_FUNCTIONS)}({a})"
    if kind < 0.45:
        return f"np.tanh({random.choice(SCALAR_PAIRS)}({a}, {b}))"
    if kind < 0.6:
        return f"({a}) / (({b}) ** 2 + 2.0)"
    if kind < 0.65:
        return f"-({a})"
    return f"0.5 * ({a}) {random.choice('+-*')} ({b})"


def _number(random: Random, depth: int = 0) -> str:
    if random.random() < 0.3:
        left, right = random.choice(ROWS), random.choice(ROWS + VIEWED_ROWS)
        return random.choice((
            f"({left} @ {right}) * 0.3", f"{left}.dot({right}) * 0.3",
            f"{total(random, f'{left} * {right}')} * 0.3", f"{total(random, left)} * 0.3",
        ))  # fmt: skip
    return f"{random.choice(NUMBERS)} * {random.choice(NUMBERS)} - {random.choice(NUMBERS)}"


def _row(random: Random, depth: int) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return random.choice(ROWS + VIEWED_ROWS + GATHERED_ROWS)
    if kind < 0.27:
        return random.choice(NUMBERS)
    if kind < 0.3:
        name = random.choice(ROWS)
        return f"{name} * {total(random, name)} * 0.3"
    if kind < 0.4:
        return f"{random.choice(FUNCTIONS)}({_row(random, depth - 1)} * {random.choice(ROWS)})"
    if kind < 0.45:
        return _reduced(random, _square(random, depth - 1))
    if kind < 0.5:
        return f"{random.choice(SQUARES + VIEWED_SQUARES)} @ {random.choice(ROWS + VIEWED_ROWS)}"
    if kind < 0.6:
        return f"-({_row(random, depth - 1)})"
    if kind < 0.72:
        return _call(random, _row(random, depth - 1), _row(random, depth - 1))
    return _pair(random, _row(random, depth - 1), _row(random, depth - 1))


def _square(random: Random, depth: int) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return random.choice((*SQUARES, *SQUARES, *MORE_SQUARES, *COLUMNS, *ROWS))
    if kind < 0.3:
        return f"np.outer({random.choice(ROWS)}, {random.choice(ROWS)})"
    if kind < 0.4:
        return f"{random.choice(SQUARES)} @ {random.choice(SQUARES)}"
    if kind < 0.5:
        inner = f"{_square(random, depth - 1)} * {random.choice(SQUARES)}"
        return f"{random.choice(FUNCTIONS)}({inner})"
    if kind < 0.57:
        return _reduced(random, _square(random, depth - 1), ", keepdims=True")
    other = random.choice((_square, _row))
    if kind < 0.65:
        return _call(random, _square(random, depth - 1), other(random, depth - 1))
    return _pair(random, _square(random, depth - 1), other(random, depth - 1))


def _reduced(random: Random, square: str, more: str = "") -> str:
    """Return a reduction of an expression of two axes, or of three, along axes."""
    function = random.choice(("np.sum", "np.mean", "np.max", "np.min"))
    if random.random() < 0.15:
        return f"{function}(u * ({square}), axis={random.choice(((0, 1), (0, -1)))}{more})"
    if more or random.random() < 0.8:
        return as_method(random, function, square, f"axis={random.choice((0, 1, -1))}{more}")
    return as_method(random, function, square, f"{random.choice((0, 1))}")


def _call(random: Random, left: str, right: str) -> str:
    kind = random.random()
    if kind < 0.15:
        return f"np.power({left}, {random.choice((2, 3))})"
    if kind < 0.3:
        return f"np.divide({left}, ({right}) ** 2 + 2.0)"
    if kind < 0.5:
        chosen = random.choice(
            ((left, right), (right, "0.0"), ("a", left), (_number(random), right))
        )
        test = f"({left}) {random.choice(('<', '<=', '>', '>=', '!='))} {random.choice(ROWS)}"
        return f"np.where({test}, {chosen[0]}, {chosen[1]})"
    pair = (left, right) if kind < 0.9 else (right, left)
    return f"{random.choice(PAIRS)}({', '.join(pair)})"


def _pair(random: Random, left: str, right: str) -> str:
    operator = random.choice("+-*/+-*")
    if operator == "/":
        right = f"(({right}) ** 2 + 2.0)"
    return f"({left}) {operator} ({right})"


def arguments(seed: int) -> tuple[Any, ...]:
    """Return the arguments of such a function."""
    import numpy as np

    random = np.random.default_rng(seed)
    return random.normal(size=5), random.normal(size=5), random.normal(size=(3, 3))


def special_arguments(seed: int, finite: bool = True) -> tuple[Any, ...]:
    """Return arguments with zeros, ties and tiny numbers, infinities and NaN if they may be."""
    import numpy as np

    random = np.random.default_rng(seed)
    values = [0.0, -0.0, 1e-310, 0.5, 0.5, 1.0]
    if not finite:
        values += [np.inf, -np.inf, np.nan, 1e200]
    found = arguments(seed)
    for a in found:
        special = random.random(a.shape) < 0.15
        a[special] = random.choice(values, size=a.shape)[special]
    return found
