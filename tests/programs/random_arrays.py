"""Random loops that bind names to arrays, and read and write rows."""

from __future__ import annotations

import re
from random import Random

from tests.programs.random_slices import apart
from tests.programs.totals import total

__all__ = ["random_loop_on_arrays"]

HEAD = (
    "import math\nimport numpy as np\n\n"
    "def logistic(q, c):\n    return c * q * (1.0 - q)\n\n"
    "def mixed(q, r):\n    d = q * r\n    return np.tanh(d) + 0.5 * r\n\n"
    "def f(x, y, m, a):\n"
    "    n = len(x)\n    s = 0.5\n    t = a\n    k = 1\n    z = np.ones(n)\n    b = m * 0.5\n"
    "    c = m.T\n    order = np.array([3, 0, 5, 1, 2, 4])\n"
)
TAIL = (
    "    z *= 1.5\n    x[1:] += 0.1 * u[1:]\n    w[:2] *= 0.5\n    u[0] = 0.3 * v[1]\n"
    "    total = np.sum(np.sin(u) * y) + np.sum(v * v) + np.sum(np.cos(w)) + np.sum(z * x)\n"
    "    total = total + np.sum(np.sin(m)) + np.sum(b * b) + 0.3 * s + np.sin(t)\n"
    "    return total + 0.1 * i + 0.01 * k + (1.0 if u is v else 0.0) + 0.1 * len(u)\n"
)
NAMES = ("u", "v", "w")
STARTS = ("x", "y", "x * 1.0", "m[1]", "m[:, 2]", "y[::-1]", "np.ones(n)", "x + y", "b[2]")


def random_loop_on_arrays(seed: int) -> str:
    """Return the text of a function ``f(x, y, m, a)``; see `slice_arguments`."""
    random = Random(seed)
    head = HEAD + "".join(f"    {name} = {random.choice(STARTS)}\n" for name in NAMES)
    head = apart(head, seed)
    first = random.choice(("range(1, n)", "range(n)", "range(n - 1, 0, -1)", "range(0, n, 2)",
                           "reversed(range(1, n))", "range(5)"))  # fmt: skip
    lines = [f"for i in {first}:", *block(random, ["i"], random.randint(1, 5))]
    if seed % 3 == 1:
        lines = [with_saved_result(line, seed) for line in lines]
    text = head + "".join(f"    {line}\n" for line in lines) + TAIL
    return re.sub(r"\bb\b", "p0", text)  # as the engine calls a factor that is computed


def with_saved_result(line: str, seed: int) -> str:
    """Return a statement that saves what it binds, in place of one that copies."""
    forms = (
        r"np.tanh(\1)", r"x / (2.5 + \1 ** 2)", r"\1 / np.sum(np.exp(0.1 * \1))",
        r"np.exp(-\1 * \1)",
    )  # fmt: skip
    form = forms[seed // 3 % len(forms)]
    line = re.sub(r"(?<== )(\w+)\.copy\(\)$", form, line)
    return re.sub(r"(?<== )np\.copy\((\w+)\)$", form, line)


def block(random: Random, counters: list[str], size: int) -> list[str]:
    return [f"    {line}" for _ in range(size) for line in statement(random, counters)]


def statement(random: Random, counters: list[str]) -> list[str]:
    kind = random.random()
    if kind < 0.10 and "j" not in counters:
        bounds = random.choice(("range(2)", "range(i)", "range(i, n)", "range(order[i % n] % 3)"))
        return [f"for j in {bounds}:", *block(random, [*counters, "j"], random.randint(1, 3))]
    if kind < 0.17:
        test = random.choice(("i % 2", "i > 2", f"{number(random, counters)} > s", "t < 0.4"))
        other = ["else:", *block(random, counters, 1)] if random.random() < 0.4 else []
        jump = random.choice(("continue", "break", "", "", "", ""))
        body = block(random, counters, random.randint(1, 2))
        return [f"if {test}:", *body, *([f"    {jump}"] if jump else []), *other]
    if kind < 0.20:
        return [random.choice(("k = (k + i) % n", "k = i", "k = n - 1 - i"))]
    if kind < 0.30:
        value = random.choice((
            total(random, vector(random, counters, 1)), f"{name(random)} @ {name(random)}",
            f"np.dot({name(random)}, {row(random, counters)})", number(random, counters),
            total(random, f"{name(random)} * {row(random, counters)}"), total(random, name(random)),
            f"{name(random)}.dot({row(random, counters)})",
        ))  # fmt: skip
        target = random.choice(("s", "t", f"x[{at(random, counters)}]"))
        return [f"{target} {random.choice(('=', '+=', '*='))} 0.2 * {value}"]
    if kind < 0.37:
        return exchange(random, counters)
    if kind < 0.43:
        return temporary(random, counters)
    if kind < 0.50:
        return changed(random, counters)
    if kind < 0.56:
        return matrix(random, counters)
    if kind < 0.66:
        target = random.choice((row(random, counters), row(random, counters), "z[1:]", "z"))
        if random.random() < 0.2 and target != "z[1:]":
            return [f"{target} {random.choice(('+=', '-='))} {name(random)}"]
        if random.random() < 0.2 and target != "z[1:]":
            return [f"{target} = {row(random, counters)}" if target != "z" else "z += 0.1"]
        operator = random.choice(("+=", "-=", "*=") if target == "z" else ("=", "+=", "-=", "*="))
        value = "0.3 * x[1:]" if target == "z[1:]" else f"0.4 * {vector(random, counters, 2)}"
        return [f"{target} {operator} {value}"]
    target = random.choice(NAMES)
    if kind < 0.69:
        return [f"{target} {random.choice(('+=', '*='))} 0.3 * {vector(random, counters, 1)}"]
    value = vector(random, counters, 3)
    if random.random() < 0.3:
        value = random.choice((
            f"m @ {name(random)}", f"np.tanh(b @ {name(random)})", f"{name(random)} @ c",
            f"logistic({name(random)}, {number(random, counters)})",
            f"mixed({name(random)}, {name(random)})", f"logistic({row(random, counters)}, 0.3)",
            f"mixed({row(random, counters)}, y)",
            f"0.2 * (m @ {name(random)} + {name(random)})",
            f"{name(random)} * {total(random, f'{name(random)} * {name(random)}')}",
            f"{name(random)} - {total(random, name(random))} * {row(random, counters)}",
        ))  # fmt: skip
        return [f"{target} = 0.4 * {value}" if random.random() < 0.5 else f"{target} = {value}"]
    return [f"{target} = 0.5 * {value}"]


def exchange(random: Random, counters: list[str]) -> list[str]:
    """Return statements that bind names to arrays which have names."""
    a, b = random.sample(NAMES, 2)
    return [random.choice((
        f"{a}, {b} = {b}, {a}", f"{a} = {b}",
        f"{a}, {b} = {b}, 0.5 * {vector(random, counters, 2)}",
        f"{a} = {random.choice(('x', 'y', 'z'))}", f"{a}, s = {b} * 0.5, s + 0.1",
        f"{a} = {b} = 0.3 * {vector(random, counters, 1)}",
    ))]  # fmt: skip


def temporary(random: Random, counters: list[str]) -> list[str]:
    """Return statements with a name that nothing else reads."""
    own = f"h{random.randrange(10**6)}"
    value = random.choice((
        row(random, counters), f"{name(random)} * {row(random, counters)}",
        f"m.dot({name(random)})",
        f"0.5 * {vector(random, counters, 2)}", f"{row(random, counters)} @ b", name(random),
    ))  # fmt: skip
    use = random.choice((
        f"{random.choice(NAMES)} = 0.3 * {own} * {own}", f"s += np.sum({own}) * 0.1",
        f"{row(random, counters)} += 0.2 * {own}", f"z += {own} * 0.1",
        f"{random.choice(NAMES)} = np.tanh({own} + {name(random)})", f"t = 0.1 * ({own} @ x)",
        f"{random.choice(NAMES)} = {own} - 0.5 * logistic({own}, t)", f"{own} *= 2.0",
    ))  # fmt: skip
    if random.random() < 0.15:
        return [f"{own} = m[k]", f"k = (k + {random.choice('12i')}) % n", use]
    return [f"{own} = {value}", use]


def changed(random: Random, counters: list[str]) -> list[str]:
    """Return statements that bind a name to a new array, change parts of it, and give it away."""
    own = random.choice((*NAMES, f"g{random.randrange(10**6)}"))
    value = random.choice((
        f"{name(random)}.copy()", f"np.copy({name(random)})", f"{row(random, counters)}.copy()",
        f"0.5 * {vector(random, counters, 1)}", f"x * {name(random)}", f"m @ {name(random)}",
    ))  # fmt: skip
    lines = [f"{own} = {value}"]
    for _ in range(random.randint(1, 3)):
        other = random.choice((*NAMES, own))
        lines.append(random.choice((
            f"{own}[1:-1] = {other}[2:] - 0.4 * {other}[:-2]", f"{own}[0] = 0.5 * {other}[-1]",
            f"{own}[{at(random, counters)}] += 0.3 * {number(random, counters)}",
            f"{own}[-1] = 0.25", f"{own}[::2] *= {other}[1::2]", f"{own} *= {other}[0]",
            f"{own}[1:] += {other}[:-1] * x[1:]", f"{own} += 0.1 * {other}",
            f"s += 0.1 * {own}[{at(random, counters)}] * {other}[1]",
            f"s = 0.5 * s + 0.1 * np.sum({own}[1:] * {other}[:-1])",
            f"{own}[2:4] = {other}[order[1]] * {number(random, counters)}",
            f"x[{at(random, counters)}] += 0.2 * {own}[2]", f"{own}[:] = np.sin({other})",
            f"{own}[::-1][1:3] = 0.3" if random.random() < 0.1 else f"{own} -= 0.2 * {own}[::-1]",
        )))  # fmt: skip
    if random.random() < 0.15 and "j" not in counters:
        again = f"{own} = {random.choice((*NAMES, 'x', 'y'))}"
        lines += ["for j in range(2):", f"    {own} *= 0.8", f"    {again}"]
    last = random.choice((
        f"{random.choice(NAMES)} = {own}", f"s += np.sum({own}) * 0.1", f"z += 0.1 * {own}",
        f"{random.choice(NAMES)} = {random.choice(NAMES)} + 0.5 * {own}",
        f"{random.choice(NAMES)} = {random.choice(NAMES)} + {own}",
        f"{random.choice(NAMES)} = x - {random.choice(NAMES)} + {random.choice(NAMES)}",
    ))  # fmt: skip
    return [*lines, last]


def matrix(random: Random, counters: list[str]) -> list[str]:
    u, v = name(random), name(random)
    if random.random() < 0.15:
        here = row(random, counters)
        return [f"{here} *= 0.6", f"{here} += {u}"]
    return [random.choice((
        f"b = 0.5 * b + 0.1 * np.outer({u}, {v})", "b = 0.4 * (b @ m)", f"b = b * {u}",
        f"b = np.sin(b) * {number(random, counters)}", "b += 0.1 * m", f"b = m * {u} - b",
        "b = 0.3 * m @ b", "m[:, :] = 0.2 * m @ b",
        f"m[1:, 1:] -= 0.1 * np.outer({u}[1:], {v}[1:])", "m[:, :] = 0.3 * b[:, :]",
    ))]  # fmt: skip


def vector(random: Random, counters: list[str], depth: int) -> str:
    """Return an expression of six elements."""
    if depth == 0 or random.random() < 0.2:
        return random.choice((name(random), name(random), row(random, counters), "x", "y", "z"))
    inner = vector(random, counters, depth - 1)
    kind = random.random()
    if kind < 0.2:
        return f"{random.choice(('np.sin', 'np.tanh', 'np.exp', 'np.cos'))}(0.5 * {inner})"
    if kind < 0.28:
        return f"({inner}) ** 2"
    if kind < 0.36:
        return f"({inner} / (2.5 + {number(random, counters)} ** 2))"
    if kind < 0.42:
        return f"(-{inner})"
    if kind < 0.6:
        return f"({factor(random, counters)} {random.choice('+-*')} {inner})"
    other = vector(random, counters, depth - 1)
    if kind < 0.66:
        return f"np.{random.choice(('hypot', 'arctan2', 'multiply'))}({inner}, {other})"
    return f"({inner} {random.choice('+-*')} {other})"


def factor(random: Random, counters: list[str]) -> str:
    """Return a number, or one that is computed in another way than arrays are."""
    found = number(random, counters)
    if random.random() < 0.75:
        return found
    return random.choice((
        f"math.exp(-{found} * {found})", f"max({found}, 0.3)", f"abs({found})", "0.5 ** i",
        f"(1.5 + {found} * {found}) ** 0.5", f"(0.3 + abs({found})) ** a", f"float({found})",
        f"({name(random)} @ {row(random, counters)} + 9.0) ** -0.5", "(1 - 0.9 ** (i + 1))",
    ))  # fmt: skip


def number(random: Random, counters: list[str]) -> str:
    if random.random() < 0.4:
        return f"{random.choice(('x', 'y'))}[{at(random, counters)}]"
    return random.choice(("s", "t", "a", "0.7", "2", random.choice(counters)))


def name(random: Random) -> str:
    return random.choice(NAMES)


def row(random: Random, counters: list[str]) -> str:
    return f"{random.choice(('m', 'm', 'c'))}[{at(random, counters)}]"


def at(random: Random, counters: list[str]) -> str:
    c = random.choice((*counters, "k"))
    return random.choice((c, c, f"{c} - 1", "0", "-1", f"order[{c}]"))
