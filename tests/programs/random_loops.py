"""Random loops over numbers, elements, attributes and items, nested, with branches and ints."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np

__all__ = ["CHANGES", "change_functions", "loop_arguments", "random_loop"]

VECTORS = ("x", "y", "v", "b")
FIELDS = ("o.p", "o.q", "r.p")
LISTS = {  # and what makes a number of the type of the items
    "np.tanh": ("[v[j] * 0.7 for j in range(n)]", "[x[j] for j in range(n)]", "[v[0], *b[1:]]"),
    "math.atan": ("[a * 0.5, 0.25, a, 0.75, a * a, -0.0]", "[0.5] * n", "[a] * n"),
    "abs": ("[a, y[1], 0.25, 1, s, t]", "[x[0], 0.25] * 3"),
}
CHANGES = 10
WHOLE = ("i", "k", "j")
ORDERS = (
    "np.array([3, 0, 5, -1, 2, 4])", "[3, 0, 5, -1, 2, 4]", "(2, 2, 1, 0, 4, 5)",
    "np.array([1, 3, 5, 0, 2, 4], np.int32)", "np.arange(12)[::-2] // 2",
)  # fmt: skip
CONDITIONS = ("<", ">", "<=", ">=", "!=")
FUNCTIONS = ("np.sin", "math.cos", "np.tanh", "math.atan", "np.exp", "np.abs", "np.square")
PAIRS = (
    "np.minimum", "np.maximum", "math.atan2", "np.add", "np.multiply", "np.subtract",
    "math.copysign", "np.minimum", "math.hypot", "np.hypot", "np.arctan2", "np.logaddexp",
)  # fmt: skip
HEAD = (
    "import math\nfrom types import SimpleNamespace\nimport numpy as np\n"
    "STEP = 0.5\nTABLE = [0.5, 1.5, 0.75]\n"
    "TYPES = {'int': 1, 'float': 2, 'float64': 3, 'int64': 4, 'int32': 5}\n\n"
    "class Plain:\n    step = 0.25\n    q = 1.0\n\n"
    "    def __init__(self, p, q):\n        self.p = p\n        self.q = q\n\n"
    "class Slotted:\n    __slots__ = ('p', 'q')\n    step = 0.25\n    __init__ = Plain.__init__\n\n"
    "class Halved(Plain):\n    @property\n    def p(self):\n        return self.held\n\n"
    "    @p.setter\n    def p(self, value):\n        self.held = 0.5 * value\n\n"
    "def limited(u, top=0.9):\n"
    "    if u > top:\n        return top\n"
    "    if u < -STEP:\n        u = math.tanh(u)\n        return u * STEP\n"
    "    return u\n\n"
    "def blend(u, v, *, weight=0.25):\n"
    "    w = u - v\n    w *= weight\n    return v + limited(w) * w\n\n"
    "def at(z, k, u):\n    return z[k] * u - z[k - 1]\n\n"
    "def turned(u, v):\n"
    "    if u * v < 0.1:\n        return v, 0.5 * u\n"
    "    return np.sin(u), blend(u, v, weight=STEP)\n\n"
    "def relax(z, k, u, share=0.3):\n    z[k] = 0.5 * z[k] + share * u\n\n"
    "def ramp(u):\n    if u < 0.2:\n        return STEP * u\n    return u * u\n\n"
    "def mixed(u, v):\n    if u > v: return 1\n    w = v\n    w -= ramp(u)\n    return w\n\n"
    "def bent(u, v, /):\n    w = u - v\n    if w > 0.0:\n        w *= STEP\n    elif v > 0.5:\n"
    "        return ramp(w) + 1\n    else:\n        pass\n    w = math.sin(w) * np.tanh(v)\n"
    "    return w\n\n"
    "def powers(u, z, k):\n    r = 0.25\n    for e in range(k % 4):\n"
    "        if z[e] > 0.7:\n            continue\n        r = r * u + z[e - k]\n"
    "        if r > 2.0:\n            break\n    return r\n\n"
    "def near(z, u):\n    m = 0\n    for q in range(1, len(z)):\n"
    "        if abs(z[q] - u) < abs(z[m] - u):\n            m = q\n    return z[m] * u\n\n"
    "def settled(u, z):\n    c = 0\n    while abs(u) > 0.1 and c < 3:\n"
    "        u = 0.5 * u * TABLE[c] - 0.3 * z[c] * z[c + 1]\n        c += 1\n"
    "    return u + 0.1 * z[c]\n\n"
    "def twice(g, u):\n    return g(0.5 * g(u))\n\n"
    "def f(x, y, m, a):\n    NESTED\n"
    "    n = len(x)\n    v = x[::-1]\n    b = np.zeros(n)\n    s = S0\n    t = a * 0.5\n    k = 1\n"
    "    c = m.T\n    w = W0\n    o = O0(a * 1.5, S0)\n    r = R0\n"
    "    q = Q0\n    p = P0\n    order = INDICES\n    e = order[1]\n"
    "    g = SimpleNamespace(r=SimpleNamespace(c=a, d=S0), vec=v)\n"
    "    flag, mode, none, done, told = FLAG, 'fast', None, False, []\n"
)
NESTED = """
    def local(u, share=0.25):
        if u > t:
            t_ = u - t
            return share * t_ + a
        return np.tanh(u) * w + 0.1 * t

    def picked(z, k, t):
        u = STEP * t
        return local(u, 0.5) + z[k]

"""
TAIL = (
    "    ends = s, t, w, i, o.p, o.q, r.p\n"
    "    types = sum([TYPES[type(end).__name__] * 4 ** k_ for k_, end in enumerate(ends)])\n"
    "    types += len(told) + 3 * done + 2 * (type(done) is bool)\n"
    "    types += 7 * TYPES[type(e).__name__]\n"
    "    types += sum([TYPES[type(item).__name__] * k_ for k_, item in enumerate([*q, *p])])\n"
    "    w += np.tanh(o.p * o.q - r.p) + np.sin(q[1]) * q[2] + q[3] * p[4] + sum(q) + sum(p)\n"
    "    sums = np.sum(np.sin(x) * y) + np.sum(np.cos(m)) + np.sum(b * x)\n"
    "    return sums + s * 0.3 + np.sin(t) + w + types + 0.1 * i + 0.01 * k + e\n"
)


def random_loop(seed: int) -> str:
    """Return the text of a function ``f(x, y, m, a)``, whose value tells types and ints too."""
    random = Random(seed)
    starts = [random.choice(("0", "0.0", "x[0]", "a", "y[1]", "1")) for _ in range(2)]
    first = random.choice(("range(1, n)", "range(n)", "range(n - 1, 0, -1)", "range(0, n, 2)",
                           "reversed(range(1, n))"))  # fmt: skip
    lines = [f"for i in {first}:", *_block(random, ["i"], random.randint(1, 4))]
    if random.random() < 0.3:
        second = ["for i in range(n - 2, -1, -1):", *_block(random, ["i"], random.randint(1, 2))]
        lines += second
    typed = random.choice(("np.tanh", "np.tanh", "math.atan", "math.atan", "abs"))
    if random.random() < 0.4:
        lines = [re.sub(r"\b[qp]\[", "b[", line) for line in lines]
    if random.random() < 0.9:  # else it may be of another type than the items
        lines = [
            re.sub(r"^( *[qp]\[[^=,]*\] [-+*/]?=) (.*)", rf"\1 {typed}(\2)", line) for line in lines
        ]
    head = HEAD.replace("S0", starts[0]).replace("W0", starts[1])
    kinds = [
        "Halved" if random.random() < 0.06 else random.choice(("Plain", "Slotted"))
        for _ in range(2)
    ]
    other = "o" if random.random() < 0.25 else f"{kinds[1]}({starts[0]}, a)"
    nested = random.random() < 0.3
    head = head.replace("NESTED", NESTED if nested else "")
    if not nested:
        lines = [line.replace("local(", "ramp(").replace("picked(", "at(") for line in lines]
    head = head.replace("O0", kinds[0]).replace("R0", other)
    head = head.replace("Q0", random.choice(LISTS[typed]))
    head = head.replace("FLAG", random.choice(("False", "False", "0", "None", "True")))
    head = head.replace("INDICES", random.choice(ORDERS))
    head = head.replace("P0", random.choice((*LISTS[typed], "q")))
    if seed % 4 == 3:
        lines = [over_parts(line) for line in lines]
    if seed % 8 == 5:
        lines.insert(1, "    w = ramp(0.5 * w)")  # reads what it captures
    text = head + "".join(f"    {line}\n" for line in lines) + TAIL
    if seed % 8 == 2:
        text = with_dicts(text)
    if seed % 8 == 6:
        text = with_growing_lists(text, Random(seed))
    if seed % 8 == 4:
        text = with_sums(text, Random(seed))
    if seed % 8 == 0:
        text = with_imported_functions(text)
    return with_functions_passed(text, seed % 8 == 5) if seed % 4 == 1 else text


def with_dicts(text: str) -> str:
    """Return a program whose objects are dicts."""
    text = re.sub(r"\b([or]) = (?:Plain|Slotted|Halved)\((.*), (.*)\)\n",
                  r"\1 = {'p': \2, 'q': \3}\n", text)  # fmt: skip
    return re.sub(r"\b([or])\.(p|q)\b", r"\1['\2']", text).replace("o.step", "STEP")


SUMS = (
    "sum(0.2 * v_ for v_ in x)", "sum([v_ * y[k_] for k_, v_ in enumerate(x) if k_ != i])",
    "sum(x[i] * u_ for u_ in q)", "max([0.3 * v_ for v_ in y])", "sum(0.1 * t for t in v)",
    "sum(0.1 * limited(x[k_] * s) for k_ in range(i))", "[v_ * w for v_ in b][i]",
    "sum(0.1 * sum(m[k_, j_] for j_ in range(k_)) for k_ in range(3))",
    "sum(u_ * 0.1 for u_, w_ in zip(y, q) if u_ > w_)", "sum([0.5 * k_ for k_ in order])",
)  # fmt: skip


def with_sums(text: str, random: Random) -> str:
    """Return a program with sums and comprehensions in the place of constants."""
    head, loops, tail = text.partition("    for i in ")
    parts = re.split(r"\b(?:STEP|0\.3)\b", tail.partition("    ends = ")[0])
    body = parts[0] + "".join(random.choice(SUMS) + part for part in parts[1:])
    return head + loops + body + tail[tail.index("    ends = ") :]


def with_imported_functions(text: str) -> str:
    """Return a program that calls functions of modules by names of their own."""
    imports = ""
    for module, name in (("math", "math"), ("numpy", "np")):
        found = sorted(set(re.findall(rf"\b{name}\.(\w+)(?=\()", text)) - {"abs", "sum", "array"})
        imports += f"from {module} import {', '.join(found)}\n" if found else ""
        text = re.sub(rf"\b{name}\.({'|'.join(found) or ' '})(?=\()", r"\1", text)
    return imports + text


def with_growing_lists(text: str, random: Random) -> str:
    """Return a program that appends some of its numbers to a list, and reads the last ones."""
    head, loops, tail = text.partition("    for i in ")
    start = random.choice(("[]", "[]", "[a]", "[x[0], y[1]]", "[0.25, a]", "[None, 'a']", "q"))
    if start == "q" and re.search(r"in .*\bq\b", loops + tail.partition("    ends = ")[0]):
        start = "[b[0]]"  # a loop over what it appends to never ends
    reads = start not in ("[]", "[None, 'a']")
    appended = random.choice((r"\1grown.append(\3)", r"\1\2 = \3\n\1grown.append(\2)"))
    lines = []
    for line in (loops + tail).split("\n"):
        if random.random() < 0.6:
            line = re.sub(r"^( {8,})([stw]) = (?!.* = )(.*)$", appended, line)
        if reads and random.random() < 0.5 and line.startswith(" " * 8):
            line = re.sub(r"\b(STEP|2)\b(?![.])", "grown[-1]", line)
        lines.append(line)
    body = "\n".join(lines)
    ends = f"    w += sum([np.sin(g) * k_ for k_, g in enumerate(grown[{0 if reads else 2}:])])\n"
    types = (
        "    types += sum([TYPES.get(type(g).__name__, 6) * k_ for k_, g in enumerate(grown)])\n"
    )
    last = "    w += np.tanh(o.p"
    return f"{head}    grown = {start}\n{body.replace(last, ends + types + last)}"


def with_functions_passed(text: str, captures: bool) -> str:
    """Return a program whose loops call parameters, which capture active numbers or nothing."""
    definitions = text[text.index("def limited") : text.index("def f(")]
    names = ", ".join(re.findall(r"^def (\w+)", definitions, re.MULTILINE))
    made, given = "", names
    if captures:
        body = "".join(f"    {line}\n" for line in definitions.splitlines())
        made = f"def made(STEP, TABLE):\n{body}    return {names}\n\n"
        given = "*made(0.5 * a, [0.5, a, TABLE[2]])"
    text = text.replace("def f(x, y, m, a):", f"{made}def within(x, y, m, a, {names}):")
    return f"{text}\ndef f(x, y, m, a):\n    return within(x, y, m, a, {given})\n"


def over_parts(line: str) -> str:
    """Return the head of a loop over parts of what it was to run over; other lines stay."""
    if not line.lstrip().startswith("for "):
        return line
    line = re.sub(r"\b([xyvbq])(?=[),:])", r"\1[1:]", line)
    return re.sub(r"in reversed\((.*)\):$", r"in list(reversed(\1)):", line)


def loop_arguments(seed: int) -> list[Any]:
    """Return vectors of 6 elements, a matrix, and a number."""
    random = np.random.default_rng(seed)
    return [random.uniform(0.3, 0.9, 6), random.uniform(-1, 1, 6),
            random.uniform(-1, 1, (6, 6)), float(random.uniform(0.2, 0.8))]  # fmt: skip


def change_functions(scope: dict[str, Any], seed: int) -> None:
    """Change one thing that the functions which loops call are made of; all stay alive."""
    kind = seed % CHANGES
    scope["before"] = dict(scope)
    if kind == 0:
        scope["STEP"] = 0.7
    elif kind == 1:
        scope["limited"].__defaults__ = (0.3,)
        scope["relax"].__defaults__ = (0.6,)
    elif kind == 2:
        scope["blend"].__kwdefaults__["weight"] = 0.6
    elif kind == 3:
        scope["limited"].__code__ = (lambda u, top=0.9: 0.5 * u * top).__code__
    elif kind == 4:
        scope["limited"] = lambda u: 0.25 * u
    elif kind == 7:
        scope["abs"] = lambda u: 0.5 * u
    elif kind == 8:
        scope["Plain"].step = 0.75
    elif kind == 9:
        scope["Halved"].step = 0.6
    elif kind == 5:
        scope["TABLE"] = [0.25, 0.5, 2.0]
    else:
        scope["turned"], scope["at"] = (lambda u, v: (v, u)), (lambda z, k, u: z[k] + u)


def _block(random: Random, counters: list[str], size: int) -> list[str]:
    lines: list[str] = []
    for _ in range(size):
        lines += ["    " + line for line in _statement(random, counters)]
    return lines


def _statement(random: Random, counters: list[str]) -> list[str]:
    kind = random.random()
    if kind < 0.04:
        jump = random.choice(("continue", "break"))
        test = f"{_number(random, counters)} {random.choice('<>')} {_number(random, counters)}"
        return [f"if {test}:", *_block(random, counters, random.randint(0, 1)), f"    {jump}"]
    if kind < 0.07 and "u" not in counters:
        test = f"u < {random.choice(('n', '3', 'i', 'k'))}"
        if random.random() < 0.5:
            test += f" and {_number(random, counters)} < {_number(random, counters)}"
        body = _block(random, [*counters, "u"], random.randint(1, 2))
        return ["u = -1", f"while {test}:", "    u += 1", *body]
    if kind < 0.15 and "j" not in counters:
        bounds = random.choice(("range(2)", "range(i)", "range(i, n)", "range(k)", "range(len(y))",
                                "range(i - 1, -1, -1)", "range(int(abs(y[i]) * 3))",
                                "reversed(range(i))", "range(order[i] % 3)",
                                "range(order[k], n)",
                                "range(max(0, i - 1), min(n, i + 2))"))  # fmt: skip
        head = f"for j in {bounds}:"
        if random.random() < 0.25:
            head = random.choice((
                "for j, s in enumerate(v):", "for j, t in enumerate(x):",
                "for j, w in enumerate(b):", "for j, w in enumerate(q):",
                "for j, (s, t) in enumerate(zip(x, q)):", "for j, e in enumerate(order):",
            ))  # fmt: skip
        return [head, *_block(random, [*counters, "j"], random.randint(1, 3))]
    if kind < 0.19 and "z" not in counters:
        names = random.choice((
            ("t", "x"), ("t", "v"), ("s", "y"), ("w, s", "zip(x, v)"), ("t", "q"),
            ("w, s", "zip(q, v, strict=True)"), ("e", "order"), ("e, s", "zip(order, x)"),
        ))  # fmt: skip
        body = _block(random, [*counters, "z"], random.randint(1, 2))
        return [f"for {names[0]} in {names[1]}:", *(re.sub(r"\bz\b", "i", line) for line in body)]
    if kind < 0.21:
        test = random.choice((
            "flag", "mode == 'fast'", "none is None and s != 0.0", "not done", "none is not None",
            "done or mode != 'fast'", "o.step is None",
        ))  # fmt: skip
        body = random.choice((["    told.extend((i,))"], ["    done = True"], None))
        if random.random() < 0.3:
            left, right = _number(random, counters), _number(random, counters)
            return [f"done = {left} > {right}", "if done:", *_block(random, counters, 1)]
        return [f"if {test}:", *(body or _block(random, counters, 1))]
    if kind < 0.24:
        left, right = _number(random, counters), _number(random, counters)
        test = f"{_tested(random, left)} {random.choice(CONDITIONS)} {right}"
        if random.random() < 0.3:
            test += f" {random.choice(('and', 'or'))} {random.choice(counters)} % 2 == 0"
        elif random.random() < 0.2:
            test = random.choice((
                f"math.sqrt(abs({left})) < {right}", f"max({left}, {right}) > s",
                f"abs({left}) ** 1.5 > abs({right}) or {test}", f"round({left}) == 1",
            ))  # fmt: skip
        body = _block(random, counters, random.randint(1, 2))
        other = ["else:", *_block(random, counters, 1)] if random.random() < 0.5 else []
        return [f"if {test}:", *body, *other]
    if kind < 0.29:
        left, right = random.choice((("s", "t"), ("t", "w"), ("w", "s"), ("x[i]", "y[i]")))
        u, v = _number(random, counters), _number(random, counters)
        return [random.choice((
            f"{left}, {right} = turned({u}, 0.5 * {v})", f"relax({random.choice('xyv')}, i, {u})",
            f"{left} = blend(v={v}, u={u})", f"{left} = picked({random.choice('xyv')}, i, {u})",
            f"{left} = settled({u}, {random.choice('xyv')})",
        ))]  # fmt: skip
    if kind < 0.30:
        element = _element(random, counters)
        value = f"{_bounded(random, counters)} * {random.choice('xyv')}[e]"
        return [f"e = order[{random.choice(counters)}]", f"{element} = {value}"]
    if kind < 0.34:
        bounded = "u" in counters  # else `while u < k` may run for ever
        return [random.choice((
            "k = (k + i) % n", "k = i", f"k = int(abs({_number(random, counters)}) * 3) % n",
            "k = (k + 1) % n" if bounded else "k += 1", "k = k * 2 % 5", "k = n - 1 - i",
        ))]  # fmt: skip
    if kind < 0.40:
        left, right = random.choice((
            ("s", "t"), ("t", "w"), ("w", "s"), ("o.p", "o.q"), ("r.p", "o.p"),
        ))  # fmt: skip
        if random.random() < 0.4:
            left, right = _element(random, counters), _element(random, counters)
        return [f"{left}, {right} = {_bounded(random, counters)}, {_bounded(random, counters)}"]
    if kind < 0.60:
        target = random.choice(("s", "t", "w", *FIELDS))
    else:
        target = _element(random, counters)
    operator = random.choice(("=", "=", "+=", "-=", "*=", "/=", "%=", "= s ="))
    if random.random() < 0.08:
        return [f"{target} = {random.choice(('0.0', '0', '1.5', 'a', _number(random, counters)))}"]
    value = _bounded(random, counters)
    return [f"{target} {operator} {f'(2.0 + {value})' if operator in ('/=', '%=') else value}"]


def _bounded(random: Random, counters: list[str]) -> str:
    """Return an expression of moderate size."""
    if random.random() < 0.15:
        return f"{random.choice(('s', 't', 'w', 'a', *counters))} * {_element(random, counters)}"
    if random.random() < 0.5:
        return f"0.3 * {_expression(random, counters, 2)}"
    return f"np.tanh({_expression(random, counters, 2)})"


def _expression(random: Random, counters: list[str], depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return _number(random, counters)
    kind = random.random()
    inner = _expression(random, counters, depth - 1)
    if kind < 0.04:
        return f"ramp({inner})"
    if kind < 0.2:
        return f"{random.choice(FUNCTIONS)}(0.5 * {inner})"
    if kind < 0.3:
        return f"({inner}) ** 2"
    if kind < 0.4:
        return f"({inner} / (2.0 + {_number(random, counters)} ** 2))"
    if kind < 0.44:
        return f"(-{inner})"
    if kind < 0.46:
        return f"{random.choice(('limited', 'abs'))}({inner})"
    if kind < 0.475:
        vector = random.choice(VECTORS)
        return random.choice((
            f"powers({inner}, {vector}, {random.choice(counters)})", f"near({vector}, {inner})",
            f"settled({inner}, {vector})", f"local({inner})",
            f"picked({vector}, {random.choice(counters)}, {inner})", f"twice(ramp, {inner})",
        ))  # fmt: skip
    other = _expression(random, counters, depth - 1)
    if kind < 0.50:
        left, right = _number(random, counters), _number(random, counters)
        test = f"{_tested(random, left)} {random.choice(CONDITIONS)} {right}"
        return f"({inner} if {test} else {other})"
    if kind < 0.52:
        return f"{random.choice(('max', 'min'))}({inner}, {other}, {_number(random, counters)})"
    if kind < 0.55:
        return f"{random.choice(('min', 'max', 'blend', 'blend'))}({inner}, {other})"
    if kind < 0.57:
        return random.choice((
            f"abs({inner}) ** 1.5", f"(0.5 + abs({inner})) ** {other}", f"(2.0 + {inner}) ** -1",
            f"({inner}) % 0.7", f"{_number(random, counters)} % (2.0 + abs({other}))",
            f"({inner}) // 0.3", f"{other} * float({inner})", f"0.3 * round({inner})",
            f"math.floor({inner}) * {other}", f"np.floor({inner})", f"(+{inner}) ** k",
        ))  # fmt: skip
    if kind < 0.58:
        return f"at({random.choice(VECTORS)}, {random.choice(counters)}, {inner})"
    if kind < 0.66:
        return f"{random.choice(PAIRS)}({inner}, {other})"
    if kind < 0.70:
        return f"{random.choice(('bent', 'bent', 'mixed'))}({inner}, {other})"
    return f"({inner} {random.choice('+-*')} {other})"


def _tested(random: Random, number: str) -> str:
    """Return the operand of a test: a number, or the result of a function of NumPy for it."""
    if random.random() < 0.8:
        return number
    return random.choice((f"np.sqrt(abs({number}))", f"np.abs({number})", f"np.sin({number})"))


def _number(random: Random, counters: list[str]) -> str:
    if random.random() < 0.55:
        return _element(random, counters)
    if random.random() < 0.2:
        return random.choice((*FIELDS, "o.step", random.choice(("g.r.c", "g.r.d"))))
    data = f"(0.5 * order[{random.choice(counters)}])"
    shape = random.choice(("x.shape[0]", "m.shape[1]", "len(b)"))
    names = (
        "s", "t", "w", "a", "STEP", "0.7", data, "2", "math.pi", random.choice(counters), shape,
    )  # fmt: skip
    return random.choice(names)


def _element(random: Random, counters: list[str]) -> str:
    index = _index(random, counters)
    if random.random() < 0.22:
        return f"{random.choice('qp')}[{index}]"
    if random.random() < 0.3:
        comma = random.choice((", ", ", ", "]["))
        return f"{random.choice('mc')}[{index}{comma}{_index(random, counters)}]"
    if random.random() < 0.08:
        return f"g.vec[{index}]"
    return f"{random.choice(VECTORS)}[{index}]"


def _index(random: Random, counters: list[str]) -> str:
    counter = random.choice((*counters, *counters, "k"))
    return random.choice((
        counter, counter, f"{counter} - 1", f"n - 1 - {counter}" if counter != "k" else "k % n",
        "0", "-1", f"({counter} + 1) % n", f"order[{counter}]",
        random.choice(("e", f"order[{counter} - 1] - 1", "order[k]")),
    ))  # fmt: skip
