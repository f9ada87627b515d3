"""Random loops that append arrays to lists and read them, in addition to `random_arrays`."""

from __future__ import annotations

from random import Random

from tests.programs.random_arrays import HEAD, NAMES, STARTS, TAIL, name, number, row, statement
from tests.programs.random_arrays import vector as expression

__all__ = ["random_loop_with_appends"]

LISTS = ("p", "q")
KINDS = (
    "[u, w]", "[x.copy(), u]", "[v, u * 0.5]", "[x.copy(), m[1]]", "[y, y]", "[np.ones(n), y]",
    "[m[:, 1], w]", "[v, x]",
)  # fmt: skip
OWN = (
    "def turned(q):\n    r = 0.5 * q[1]\n"
    "    return np.array([r, -np.sin(q[0]), q[5] * r, q[2], 0.3, q[4] - q[3]])\n\ndef f("
)
OWN_TAIL = (
    "    p[-1][1] += 0.5\n    q[len(q) // 2] *= 0.3\n    p[0][2:] = 0.2 * x[2:]\n"
    "    same = 0.1 * sum([h is u for h in p]) + 0.03 * sum([h is p[-1] for h in q])\n"
)
LAST = (
    "    for k_, h in enumerate(p):\n        total = total + np.sum(np.cos(h)) * (1 + k_ % 3)\n"
    "    for h in reversed(q):\n        total = total + np.sum(h * y) * 0.3\n"
    "    total = total + 0.2 * np.sum(np.array(p)[:, 1:] ** 2) + same + 0.01 * len(q)\n"
    "    return total"
)


def random_loop_with_appends(seed: int) -> str:
    """Return the text of a function ``f(x, y, m, a)``; see `slice_arguments`."""
    random = Random(seed)
    head = HEAD.replace("def f(", OWN)
    head += "".join(f"    {name} = {random.choice(STARTS)}\n" for name in NAMES)
    head += f"    p = {random.choice(KINDS)}\n"
    head += f"    q = {'p' if random.random() < 0.1 else random.choice(KINDS)}\n"
    first = random.choice(("range(1, n)", "range(n)", "range(5)", "range(n - 1, 0, -1)",
                           "range(0, n, 2)"))  # fmt: skip
    lines: list[str] = []
    for _ in range(random.randint(1, 4)):
        own = random.random() < 0.7
        lines += on_lists(random, ["i"]) if own else statement(random, ["i"])
    body = "".join(f"        {line}\n" for line in lines)
    return f"{head}    for i in {first}:\n{body}{OWN_TAIL}{TAIL.replace('    return total', LAST)}"


def on_lists(random: Random, counters: list[str]) -> list[str]:
    """Return statements that append to lists, or read them."""
    kind = random.random()
    if kind < 0.1 and "j" not in counters:
        return ["for j in range(2):", *within(random, [*counters, "j"])]
    if kind < 0.2:
        test = random.choice(("i % 2", "t > 0.3", f"{number(random, counters)} > s", "len(x) > 9"))
        jump = random.choice(("continue", "break", "", ""))
        return [f"if {test}:", *within(random, counters), *([f"    {jump}"] if jump else [])]
    if kind < 0.6:
        return [f"{random.choice(LISTS)}.append({appended(random, counters)})"]
    if kind < 0.7:
        return changed(random, counters)
    return read(random, counters)


def within(random: Random, counters: list[str]) -> list[str]:
    """Return statements on lists of a block."""
    return [
        f"    {line}" for _ in range(random.randint(1, 2)) for line in on_lists(random, counters)
    ]


def appended(random: Random, counters: list[str]) -> str:
    """Return the appended item: a name, a copy, a new array, an item, or a view."""
    u, h, c = name(random), item(random, counters), number(random, counters)
    if random.random() < 0.12:
        return random.choice((
            "x", "z", row(random, counters), f"np.ravel({u})", f"{u}[::-1]", f"{u}[1:]",
            "np.zeros(n)", f"{h}.T",
        ))  # fmt: skip
    return random.choice((
        u, u, f"{u}.copy()", f"np.copy({u})", f"{row(random, counters)}.copy()", h,
        f"0.5 * {expression(random, counters, 2)}", f"{h} + 0.1 * np.sin({h})", f"0.3 * (m @ {h})",
        f"logistic({h}, {c})", f"mixed({u}, {h})", f"np.array([{c}, {u}[1], s, t, 0.5, {u}[0]])",
        f"np.roll({h}, 1)", f"np.cumsum({u}) * {c}", f"{u} if i % 2 else 0.5 * {h}",
        f"{h} - {c} * {row(random, counters)}", f"np.clip({h}, -0.4, 0.4)", f"{h}.copy()",
        f"-{h}", f"turned({u} + 0.1 * {h})", f"{h} + 0.1 * turned({h})",
    ))  # fmt: skip


def changed(random: Random, counters: list[str]) -> list[str]:
    """Return statements that append what is changed in place before or afterwards."""
    own, u = random.choice((*NAMES, f"g{random.randrange(10**6)}")), name(random)
    lines = [f"{own} = {random.choice((f'{u}.copy()', f'0.5 * {u}', u, item(random, counters)))}"]
    change = random.choice((f"{own}[1:] += 0.3 * {u}[:-1]", f"{own} *= 0.8", f"{own}[0] = 0.2 * t"))
    append = f"{random.choice(LISTS)}.append({own}{random.choice(('', '', '.copy()', ' * 0.7'))})"
    return [*lines, *random.choice(([append, change], [change, append], [append, append]))]


def read(random: Random, counters: list[str]) -> list[str]:
    """Return statements that read items."""
    u, h, g = random.choice(NAMES), item(random, counters), item(random, counters)
    own, to = f"h{random.randrange(10**6)}", random.choice(LISTS)
    if random.random() < 0.12:
        return random.choice((
            [f"{h} *= 0.9"], [f"{to}[0] = {u}"], [f"s += 0.1 * {h}[2]"], [f"{to}.pop(0)"],
        ))  # fmt: skip
    return random.choice((
        [f"{u} = {h}"], [f"{u} = 0.4 * {h} * {g}"], [f"{u} = {h} - 0.2 * {name(random)}"],
        [f"s = 0.5 * s + 0.1 * np.sum({h} * {name(random)})"], [f"t = 0.1 * ({h} @ {g})"],
        [f"{row(random, counters)} += 0.1 * {h}"], [f"z += 0.2 * {h}"], [f"{u} += 0.1 * {h}"],
        [f"{own} = {h}", f"{to}.append(0.3 * {own} * {g})", f"s += {own}[1] * 0.1"],
        [f"{own} = {h}", f"{own} = {own} + 0.1 * {g}", f"{to}.append({own})"],
        [f"{u} = 0.5 * turned({h} - 0.2 * {g})"],
        [f"{u} = np.tanh(b @ {h})"], [f"{u} = np.hypot({h}, {g}) * 0.5"],
    ))  # fmt: skip


def item(random: Random, counters: list[str]) -> str:
    """Return an item of a list."""
    at = random.choice(("-1", "-1", "-1", "0", "i % 2", f"len({random.choice(LISTS)}) - 1"))
    return f"{random.choice(LISTS)}[{'-1' if 'len' in at and random.random() < 0.8 else at}]"
