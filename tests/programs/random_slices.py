"""Random loops of which statements are on slices, elements and numbers together."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np

from tests.programs.totals import total

__all__ = ["apart", "random_loop_on_slices", "slice_arguments"]

HEAD = (
    "import math\nimport numpy as np\n\n"
    "def f(x, y, m, a):\n"
    "    n = len(x)\n    v = x[::-1]\n    b = np.zeros(n)\n    s = S0\n    t = a * 0.5\n    k = 1\n"
    "    c = m.T\n    w = W0\n    data = np.arange(6.0)\n    g = x * 0.5\n"
    "    order = np.array([3, 0, 5, 1, 2, 4])\n    z = V0\n"
)
TAIL = (
    "    b *= 0.5\n    z[1:] -= 0.1 * x[1:]\n"
    "    sums = np.sum(np.sin(x) * y) + np.sum(np.cos(m)) + np.sum(b * x) + np.sum(np.sin(z))\n"
    "    types = sum([{'int': 1, 'float': 2, 'float64': 3}[type(end).__name__] * 4 ** k_\n"
    "                 for k_, end in enumerate((s, t, w, k))])\n"
    "    return sums + s * 0.3 + np.sin(t) + w + types + 0.1 * i + 0.01 * k\n"
)
VECTORS = ("x", "y", "v", "b", "z")
MATRICES = ("m", "c")
FUNCTIONS = ("np.sin", "np.tanh", "np.exp", "np.cos")
PAIRS = ("np.arctan2", "np.hypot", "np.add", "np.multiply")
PIECES = {  # of so many elements, given a counter
    "i": (":{c}", "n - {c}:", "-{c}:", ":-(n - {c})"),
    "rest": ("{c}:", ":n - {c}", "{c}:n", "::-1", "{c}:None"),
    "inner": ("1:-1", ":-2", "2:", "1:n - 1"),
    "all": (":", "::-1", "0:n", "None:"),
}


def random_loop_on_slices(seed: int) -> str:
    """Return the text of a function ``f(x, y, m, a)``, whose value tells types and ints too."""
    random = Random(seed)
    starts = [random.choice(("0.0", "x[0]", "a", "y[1]", "1.5", "1")) for _ in range(2)]
    head = HEAD.replace("S0", starts[0]).replace("W0", starts[1])
    head = head.replace("V0", random.choice(("np.ones(n)", "y.copy()", "x", "m[1]", "m[:, 2]")))
    head = apart(head, seed)
    first = random.choice(("range(1, n)", "range(n)", "range(n - 1, 0, -1)", "range(0, n, 2)",
                           "reversed(range(1, n))", "range(5)"))  # fmt: skip
    lines = [f"for i in {first}:", *block(random, ["i"], random.randint(1, 4))]
    return head + "".join(f"    {line}\n" for line in lines) + TAIL


def apart(text: str, seed: int) -> str:
    """Return a text with copies in place of views, except for one seed in four."""
    if seed % 4 == 3:
        return text
    return re.sub(r"(?m)^(    [a-z] = )(?!np|y\.copy)(.*[\]T]|x|y)$", r"\1(\2).copy()", text)


def slice_arguments(seed: int) -> list[Any]:
    """Return vectors of 6 elements, a matrix, and a number."""
    random = np.random.default_rng(seed)
    return [random.uniform(0.3, 0.9, 6), random.uniform(-1, 1, 6),
            random.uniform(-1, 1, (6, 6)), float(random.uniform(0.2, 0.8))]  # fmt: skip


def block(random: Random, counters: list[str], size: int) -> list[str]:
    lines: list[str] = []
    for _ in range(size):
        lines += ["    " + line for line in statement(random, counters)]
    return lines


def statement(random: Random, counters: list[str]) -> list[str]:
    kind = random.random()
    if kind < 0.14 and "j" not in counters:
        bounds = random.choice(("range(2)", "range(i)", "range(i, n)", "range(k)",
                                "range(i - 1, -1, -1)", "range(order[i % n] % 3)"))  # fmt: skip
        return [f"for j in {bounds}:", *block(random, [*counters, "j"], random.randint(1, 3))]
    if kind < 0.20:
        test = random.choice((
            f"{number(random, counters)} < {number(random, counters)}", "i % 2", "i > 2",
            f"{number(random, counters)} > s",
        ))  # fmt: skip
        jump = random.choice(("continue", "break", "", "", "", ""))
        other = ["else:", *block(random, counters, 1)] if random.random() < 0.4 else []
        body = block(random, counters, random.randint(1, 2))
        return [f"if {test}:", *body, *([f"    {jump}"] if jump else []), *other]
    if kind < 0.24:
        return [random.choice(("k = (k + i) % n", "k = i", "k = (k + 1) % n", "k = n - 1 - i"))]
    if kind < 0.45:
        target = random.choice(("s", "t", "w", element(random, counters)))
        operator = random.choice(("=", "=", "+=", "-=", "*="))
        value = scalar(random, counters, 2)
        return [f"{target} {operator} 0.3 * {value}"]
    if kind < 0.60:
        target = random.choice(("s", "t", "w", element(random, counters)))
        operator = random.choice(("=", "+=", "-=", "*=", "/="))
        value = number_of_slices(random, counters)
        if operator == "/=":
            return [f"{target} /= (2.0 + {value} ** 2)" if "*" not in value else
                    f"{target} /= 2.5"]  # fmt: skip
        return [f"{target} {operator} {value}"]
    if kind < 0.68:
        return matrix_statement(random, counters)
    if kind < 0.74:
        return with_a_name(random, counters)
    length = random.choice(list(PIECES))
    target = piece(random, counters, length, True)
    operator = random.choice(("=", "=", "+=", "-=", "*=", "/="))
    if operator == "=" and random.random() < 0.25:
        return [f"{target} = {piece(random, counters, length)}"]
    value = vector(random, counters, length, 2)
    if operator == "/=":
        return [f"{target} /= 1.5 + 0.1 * {value}"]
    return [f"{target} {operator} {random.choice(('0.3', 't', 's * 0.2'))} * {value}"]


def with_a_name(random: Random, counters: list[str]) -> list[str]:
    """Return statements that name a slice, of floats or of ints by which elements are taken."""
    name, c = f"h{random.randrange(10**6)}", random.choice(counters)
    left, right = random.choice(VECTORS), random.choice(VECTORS)
    if random.random() < 0.5:
        length = random.choice(list(PIECES))
        other = piece(random, counters, length)
        viewed = piece(random, counters, length).removeprefix("np.flip(").removesuffix(")")
        first = f"{name} = {viewed}"
        return [first, random.choice((
            f"{piece(random, counters, length, True)} += 0.2 * {name} * {name}",
            f"{piece(random, counters, length, True)} = 0.4 * np.flip({name})",
            f"{element(random, counters)} = 0.1 * np.sum({name} * {other})",
            f"s = {name} @ {name} * 0.2",
        ))]  # fmt: skip
    return [f"{name} = order[{c}:]", random.choice((
        f"{element(random, counters)} -= 0.1 * ({left}[{c}:] @ {right}[{name}])",
        f"{left}[{c}:] = 0.5 * {right}[{name}]",
        f"{left}[{c}:] *= {right}[{name}] * {left}[order[: n - {c}]]",
        f"{left}[{c}:] -= 0.2 * m[{c}, {name}] * c[order[{c}:], 1]",
        f"t = 0.3 * np.sum({right}[order[2 * {c} :]] - {left}[{name}][0])",
    ))]  # fmt: skip


def matrix_statement(random: Random, counters: list[str]) -> list[str]:
    c = random.choice(counters)
    m, p = random.choice(MATRICES), random.choice(MATRICES)
    v = random.choice(VECTORS)
    u = random.choice(VECTORS)
    return [random.choice((
        f"{m}[{c}:, {c}:] -= 0.1 * np.outer({v}[{c}:], {u}[{c}:])",
        f"{m}[{c}, :] *= 0.5",
        f"{m}[:, {c}] += 0.2 * {v}[:] * {p}[{c}, :]",
        f"{m}[1:, {c}] = {v}[1:] @ {p}[1:, 1:]",
        f"{v}[:] = 0.2 * ({m}[:, :] @ {u}[:])",
        f"{m}[{c}:, :{c}] = 0.5 * {p}[{c}:, :{c}] + 0.1 * {p}[{c}:, 0, None] * {p}[1, :{c}]",
        f"{v}[:{c}] += 0.1 * np.sum({m}[:, :{c}] * {p}[:, :{c}], axis=0)",
        f"{m}[:, :] = 0.4 * {p}[:, :].T",
        f"{v}[1:] -= 0.1 * ({m}[{c}, 1:] @ {p}[1:, 1:])",
        f"{m}[{c}, 1:] = {m}[{c}, :-1]",
        f"{v}[{c}:] = np.mean({m}[{c}:, :], axis=1) * {u}[{c}:]",
        f"{v}[:] = {u}[:] * {total(random, f'{u}[:] * {v}[:]')} * 0.2",
        f"{v}[{c}:] += ({m}[{c}:, :] * {u}[:]).sum(axis=1) * 0.1",
        f"{m}[{c}, :] -= 0.1 * {m}[{c}, :].max() * {total(random, f'{m}[{c}, :]')}",
    ))]  # fmt: skip


def number_of_slices(random: Random, counters: list[str]) -> str:
    """Return a number that comes out of slices."""
    if random.random() < 0.08:
        return f"np.sum(data[{random.choice(counters)} :])"
    length = random.choice(list(PIECES))
    left, right = piece(random, counters, length), piece(random, counters, length)
    found = random.choice((
        f"np.dot({left}, {right})", f"{left} @ {right}",
        total(random, vector(random, counters, length, 2)), f"({left}).dot({right})",
        f"np.dot(np.flip({left}), {right})",
        f"np.sum(0.5 * {left} * {right} - {number(random, counters)})",
    ))  # fmt: skip
    if random.random() < 0.6:
        left = number(random, counters)
        return random.choice((
            f"({left} - {found}) / (2.0 + {number(random, counters)} ** 2)", f"0.2 * {found}",
            f"{left} * {found}", f"({found} + {left}) * {number(random, counters)}", f"-{found}",
            f"np.tanh({found})",
        ))  # fmt: skip
    return found


def vector(random: Random, counters: list[str], length: str, depth: int) -> str:
    """Return an expression of slices of one length."""
    if depth == 0 or random.random() < 0.25:
        return piece(random, counters, length)
    inner = vector(random, counters, length, depth - 1)
    kind = random.random()
    if kind < 0.15:
        return f"{random.choice(FUNCTIONS)}(0.5 * {inner})"
    if kind < 0.22:
        return f"({inner}) ** 2"
    if kind < 0.3:
        return f"({inner} / (2.5 + {number(random, counters)}))"
    if kind < 0.36:
        return f"(-{inner})"
    if kind < 0.5:
        return f"({factor(random, counters)} {random.choice('+-*')} {inner})"
    other = vector(random, counters, length, depth - 1)
    if kind < 0.56:
        return f"{random.choice(PAIRS)}({inner}, {other})"
    if kind < 0.6:
        return f"({inner} / (2.5 + {other}))"
    return f"({inner} {random.choice('+-*')} {other})"


def scalar(random: Random, counters: list[str], depth: int) -> str:
    """Return an expression of numbers and elements."""
    if depth == 0 or random.random() < 0.3:
        return number(random, counters)
    inner, other = (scalar(random, counters, depth - 1) for _ in range(2))
    return random.choice((
        f"({inner} {random.choice('+-*')} {other})", f"math.sin({inner})", f"np.tanh({inner})",
        f"({inner} / (2.0 + {number(random, counters)} ** 2))",
    ))  # fmt: skip


def factor(random: Random, counters: list[str]) -> str:
    """Return a number, or one that is computed in another way than arrays are."""
    found = number(random, counters)
    if random.random() < 0.75:
        return found
    left, right = (piece(random, counters, "all") for _ in range(2))
    return random.choice((
        f"math.exp(-{found} * {found})", f"max({found}, 0.3)", f"abs({found})", "0.5 ** i",
        f"(1.5 + {found} * {found}) ** 0.5", f"(0.3 + abs({found})) ** a", f"float({found})",
        f"(0.1 * ({left} @ {right}) + 9.0) ** -0.5", "(1 - 0.9 ** (i + 1))",
    ))  # fmt: skip


def number(random: Random, counters: list[str]) -> str:
    if random.random() < 0.5:
        return element(random, counters)
    return random.choice(("s", "t", "w", "a", "0.7", "2", random.choice(counters)))


def element(random: Random, counters: list[str]) -> str:
    if random.random() < 0.35:
        return f"{random.choice(MATRICES)}[{at(random, counters)}, {at(random, counters)}]"
    return f"{random.choice(VECTORS)}[{at(random, counters)}]"


def at(random: Random, counters: list[str]) -> str:
    c = random.choice((*counters, "k"))
    return random.choice((c, c, f"{c} - 1", f"n - 1 - {c}" if c != "k" else "k % n", "0", "-1",
                          f"order[{c}]"))  # fmt: skip


def piece(random: Random, counters: list[str], length: str, is_target: bool = False) -> str:
    """Return a slice of a vector, a row or a column."""
    c = random.choice((*counters, *counters, "k")) if length in ("i", "rest") else "i"
    c = counters[0] if length in ("i", "rest") and random.random() < 0.7 else c
    texts = [text for text in PIECES[length] if not (length == "rest" and text == "::-1")]
    text = random.choice(texts).format(c=c)
    kind = random.random()
    if length == "all" and kind < 0.2 and not is_target:
        return random.choice((*VECTORS, "g", "data"))
    if kind < 0.6:
        found = f"{random.choice(VECTORS)}[{text}]"
    elif kind < 0.8:
        found = f"{random.choice(MATRICES)}[{at(random, counters)}, {text}]"
    else:
        found = f"{random.choice(MATRICES)}[{text}, {at(random, counters)}]"
    return f"np.flip({found})" if not is_target and random.random() < 0.15 else found
