"""Random statements on what masks pick, among random statements on arrays.

Masks are kept in names, and changed, or written in the index, of all axes or the leading one.
"""

from __future__ import annotations

import re
from random import Random

from tests.programs.random_statements import HEAD, LOOP, TAIL, random_text

__all__ = ["masked_text"]

NAMED = (
    "    g = m > 0.1\n    d = np.array([True, False, True])\n    e = np.array([False, True])\n"
    "    l = np.ones(5)\n    i = h\n"
)
MASKS = {
    "xwyl": ("h", "h", "~h", "h & (x > 0.0)", "x > 0.1", "w < y", "x == x", "y > 9.0", "l >= x"),
    "mvt": ("g", "~g", "g.T", "m > 0.2", "v <= t", "t < m", "g & (v > m)"),
    "mvtz": ("d", "~d", "z > 0.3", "d | (z < 0.1)"),
    "u": ("e", "~e", "u > 0.0", "u != u"),
}
"""The masks of arrays of some names."""
PICKED = re.compile(r"(?<![\w.])[a-z]\[[deghi]\]")
CHANGES = (
    "h[:2] = h[1::-1]", "g[0] = ~g[1]", "g[...] = v > 0.2", "d[1] = not d[1]", "e[:] = e[::-1]",
    "h[...] = x > w", "l = x * h", "l[h] = 0.0", "g = m < v",
    "i = h if k == 0 else h[::-1]", "i = h[::-1] if k == 0 else h",
)  # fmt: skip
FUNCTIONS = ("np.sin", "np.tanh", "np.arctan", "np.cbrt", "np.square")
NUMBERS = ("0.5", "a", "w[3]", "2.0", "c", "m[0, 1]", "(x[1] * w[2] - a)", "(x @ w)", "0.0")
ROWS = ("z", "m[1]", "v[:, 0]", "z[::-1]", "np.mean(v, axis=0)")


def masked_text(seed: int, size: int = 6, odd: bool = False, tail: str = TAIL) -> str:
    """Return the text of a function like those of `random_text`, more than half of it by masks."""
    random = Random(f"masks {seed}")
    head, _, rest = random_text(seed, max(size // 3, 1), odd, tail).partition(LOOP)
    lines = [" " * 8 + statement(random, odd) + "\n" for _ in range(size)]
    if seed % 5 == 2:
        views = Random(f"views of what masks pick {seed}")
        lines = [viewed(views, line) for line in lines]
    text = head.replace(HEAD, HEAD + NAMED) + LOOP
    for line in rest.splitlines(keepends=True):
        if line.startswith(" " * 8) or not lines:
            text += line
        while lines and (random.random() < 0.6 or not line.startswith(" " * 8)):
            text += lines.pop()
        if not line.startswith(" " * 8) and line not in text:
            text += line
    return text


def statement(random: Random, odd: bool) -> str:
    """Return a write by a mask, or a statement that reads by one or changes one."""
    if random.random() < 0.15:
        return random.choice(CHANGES)
    names = random.choice(("xwyl", "xwyl", "mvt", "mvtz", "u"))
    target, mask = random.choice(names), random.choice(MASKS[names])
    if random.random() < 0.1:
        return f"a = a * 0.5 + np.tanh(np.sum({value(random, names, mask, 2, odd)}))"
    right = value(random, names, mask, 2, odd)
    operator = random.choice(("=", "=", "=", "+=", "-=", "*=", "/="))
    if operator == "/=":
        right = f"(np.tanh({right}) + 3.0)"
    if random.random() < 0.1:
        right = f"{random.choice(NUMBERS)} * 0.5 + {random.choice(NUMBERS)}"
    return f"{target}[{mask}] {operator} {right}"


def viewed(random: Random, line: str) -> str:
    """Return a statement that reads some of what masks pick through a view."""
    target, operator, right = line.partition("= ")
    return target + operator + PICKED.sub(
        lambda found: f"np.flip({found[0]})" if random.random() < 0.3 else found[0], right
    )  # fmt: skip


def value(random: Random, names: str, mask: str, depth: int, odd: bool) -> str:
    """Return an expression of what a mask picks."""
    kind = random.random()
    if depth == 0 or kind < 0.15:
        if odd and random.random() < 0.15:
            return random.choice(("x[:2]", "z", "x[4:]", "w", "SINGLE", "x[j]"))
        if "z" in names and random.random() < 0.3:
            return random.choice(ROWS)
        if random.random() < 0.1:
            return random.choice(NUMBERS)
        name = random.choice(names.replace("z", ""))
        if mask == "h" and random.random() < 0.3:
            mask = "i"  # another name of it, or as many elements elsewhere
        mask = mask if random.random() < 0.9 or not odd else random.choice(MASKS[names])
        return f"{name}[{mask}]"
    inner = value(random, names, mask, depth - 1, odd)
    if kind < 0.35:
        return f"{random.choice(FUNCTIONS)}({inner})"
    if kind < 0.45:
        return f"({inner}) ** {random.choice((2, 3))}"
    if kind < 0.5 and "x" in names:
        return f"np.sum(x[x > 0.1] ** {random.choice((-1.5, 0.5, -1, 2.5))})"
    if kind < 0.55:
        return f"-({inner})"
    other = value(random, names, mask, depth - 1, odd)
    if kind < 0.65:
        return f"np.{random.choice(('minimum', 'maximum', 'hypot', 'arctan2'))}({inner}, {other})"
    if kind < 0.7:
        return f"np.where({inner} > {other}, {inner}, {random.choice((other, '0.5'))})"
    if kind < 0.8:
        return f"({inner}) / (({other}) ** 2 + 2.0)"
    return f"0.5 * ({inner}) {random.choice('+-*')} ({other})"
