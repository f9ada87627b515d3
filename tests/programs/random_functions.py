"""Random functions of numbers, vectors and matrices, such as are compiled whole.

Vectors have `N` elements or, in the middle, two less; helpers write in place, give back several
results, and are called within loops.
"""

from __future__ import annotations

import re
from random import Random

import numpy as np

__all__ = ["N", "function_arguments", "random_function", "with_list", "with_object"]

N = 5
HEAD = """
import math
import numpy as np

G = 0.75
W = np.array([0.5, -1.0, 0.25, 1.5, -0.75])

def smooth(u, rate):
    d = np.zeros_like(u)
    d[1:-1] = rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return d

def scale(u, a, power=2):
    for i in range(len(u)):
        u[i] *= a
        if u[i] > 2.0:
            u[i] = u[i] / power
    return u

def both(a, b):
    if a > b:
        return a - b, a * 0.5
    return math.sin(a), b

def found(u, a):
    for i in range(len(u)):
        if u[i] * a > 0.5:
            return u[i] * i
        while 1.0 < u[i] < 1e6:
            u[i] *= 0.5
            if u[i] * a < 0.3:
                return a
    return a * 0.5

def pushed(u, a):
    u[1] = 0.8 * u[1] + 0.1 * a
    u[0] *= 0.9
    return 0.5 * u[1]

def shrunk(u):
    for i in range(len(u)):
        u[i] *= 0.5
    return u[0] > 0

def energy(u, m):
    s = 0.0
    for i, row in enumerate(m):
        s += u[i] * (row @ u)
    return s
"""
TAIL = (
    "    return np.sum(x * x) + a * b + np.sum(m * m) * 0.1 + np.sum(v * W) + np.mean(w) + pair[0]"
)
FULL = (
    "x", "y", "v", "w", "m[0]", "m[:, 1]", "m[i % 5]", "W", "x[::-1]", "np.flip(v)", "m.T[2]",
    "m[-1]", "x[c]", "smooth(v, 0.1)", "m @ x", "y @ m", "np.sum(m, axis=0)", "np.mean(m, axis=1)",
    "np.where(x > y, v, w)", "np.minimum(v, w)", "np.maximum(x, 0.1)", "np.abs(y)",
    "np.diagonal(m)", "np.cumsum(v)", "np.clip(w, -0.5, a)", "np.roll(x, k)", "np.max(m, axis=0)",
    "np.concatenate((x[:2], y[2:]))", "np.array([a, b, x[0], 1.0, v[1]])", "np.min(m, axis=1)",
    "np.interp(x, np.linspace(-1.0, 1.0, 5), v)", "m[c, c - 1]", "x[c - 3]", "m[..., k]", "m[k, c]",
    "np.einsum('ij,j->i', m, x)", "np.concatenate((x, v)).reshape(2, -1)[k]",
    "m[c[:1], [0, 1, 2, 3, -1]]", "np.round(x * y)", "(c ** 2 * 0.1 + x)",
)  # fmt: skip
INNER = (
    "x[1:-1]", "x[2:]", "x[:-2]", "y[1:4]", "v[2:]", "w[:3]", "m[1, 2:]", "m[1:4, 0]", "x[k:k + 3]",
    "y[3:0:-1]", "v[1:-1]", "np.diff(x[:4])",
)  # fmt: skip
WHOLE = (
    "m", "m.T", "np.outer(x, y)", "x[:, None] * w", "v", "m * m", "np.outer(v, v)",
    "0.3 * m @ m.T", "np.einsum('ij,kj->ik', m, 0.2 * m)", "m[:, 1:] @ (m[1:] * 0.5)",
    "m[::-1] @ np.sin(m)",
)  # fmt: skip
SCALARS = (
    "a", "b", "x[0]", "y[-1]", "m[1, k]", "x[i % 5]", "v[c[1]]", "G", "0.5", "2", "float(k)",
    "W[k]",
    "np.sum(v)", "x @ y", "np.dot(v, w)", "v.sum()", "np.mean(m)", "np.linalg.norm(x)", "len(x)",
    "math.sin(a)", "math.exp(-a * a)", "abs(b)", "max(a, b)", "min(a, 0.5)", "energy(v, m)",
    "found(w * 1.0, a)",
    "np.tanh(a)", "np.sqrt(np.abs(b) + 1.0)", "(a if a > b else b * b)", "float(n) / 3",
    "int(a) * 0.1", "np.max(v)", "np.min(m)", "x[np.argmax(y)]", "np.prod(v[:3])", "sum(x)",
    "max(a, 0)", "min(1, b, k)", "round(a) * 0.1", "2 ** k * 0.1", "n ** (k + 1) * 0.01",
    "(-1) ** i * b", "round(b * b + i)", "m.trace() * 0.1", "np.round(a, 1)",
    "(2 + k) ** 5 * 0.001", "x[x > 0.3].sum()", "len(v[v < 0]) * 0.2", "np.sum(m[m > 0.5] ** 2)",
    "np.maximum(c, k + 1)[1] * 0.1", "np.isfinite(v).sum() * 0.1",
    "np.flatnonzero(w > 0).sum() * 0.1", "np.einsum('ij,j,i', m, x, y) * 0.1",
    "np.count_nonzero(v > 0.2) * 0.3", "max(y)", "x[np.searchsorted(np.arange(4) * 0.5, a)]",
)  # fmt: skip
TESTS = (
    "a > b", "x[0] < y[0]", "k == 1", "i % 2 == 0", "a > 0 and b < 1", "not a > 0.5", "n > 3",
    "np.logical_and(a > b, x[0] > 0)", "bool(k)", "np.any(x > 1.0)", "np.all(m < 3.0)",
    "0.0 < a < 1.0", "v[1] >= 0.0 or k > 0", "k > 0 and 1 // k > 0 and energy(v, m) > 0",
    "i > 5 and x[i - 5] > 0",
)  # fmt: skip

OTHERS = (
    "v, w = w, v", "a, b = b, a", "pair_0 = a * 0.5; pair = pair[1], pair[0] + pair_0",
    "a, b = both(a, b)", "scale(v, 0.5 + 0.1 * a)",
    "w = scale(w, b, 3)", "x[0], y[1] = y[1], x[0]", "k = (k + 1) % 2",
    "np.sin(v, out=w)",
    "u = x[1:3]; u[0] = u[1] * 0.5", "old = v; v = v * 0.9; a = a + np.sum(old * v)",
    "z = m[k]; z *= 0.5", "s, t = x[1], m[0, 0]; a += s * t",
    "m[2] = m[1] - m[0, ::-1]", "np.dot(m, m.T * 0.2, out=m)",
    "m[k:, k:] -= 0.1 * (m[k:, :2] @ m[k:, :2].T)", "m = 0.4 * m @ m",
    "m[k:, k] = m[k, k:]", "m[k + 1:, k] = m[k, k + 1:]", "m = np.triu(m) + np.tril(m.T, -k)",
    "y = np.linalg.solve(m @ m.T + 4.0 * np.eye(n), y)",
    "m -= 0.1 * np.linalg.inv(np.eye(n) + m.T @ m)",
    "m = np.linalg.cholesky(np.eye(n) + m @ m.T)", "b += 0.1 * np.linalg.det(np.eye(n) + m @ m.T)",
    "a += 0.1 * np.trace(m)", "m -= 0.2 * np.eye(n, k=k)",
    "x[c] = 0.5 * y", "v[c - 2] += 0.1 * w * v", "m[c, k] *= 0.5", "m[..., k] -= 0.1 * x",
    "g = y > 0; h = v[g]; v[g] = h * x[g][::-1]", "x[y > 0] += v[y > 0] * w[c][y > 0]",
    "m[x > 0] *= 0.5", "m[:, v > 0.1] -= 0.1", "m[m > 1.0] = m[m > 1.0] / (1.0 + m[m > 1.0].sum())",
    "us = [x, w]; us[0] *= 0.9; us[1] += us[0] * b; a += us[1][k]",
    "m[c[1:3]] = 0.3 * v", "m[c, c[k]] = x[c] + 0.1 * m[k, ...]", "v[[k, -1]] = w[[2, k]] * 0.5",
    "h = v\nfor e in range(3):\n    h = 0.5 * h[1:] + a * h[:-1]\na += 0.1 * h.sum()",
    "a = 0.3 * (x[0] * pushed(x, 0.9) + x[0])", "b += 0.1 * (v[1] + pushed(v, a) * v[1])",
    "m[0] = 0.2 * (x * pushed(w, 0.5) + w)", "v = 0.4 * (w + 1.0) * pushed(w, b) + 0.1 * w",
    "for e, (f, g) in enumerate(zip(v, w[::-1])):\n    a += 0.02 * f * g * e\na += 0.01 * e",
    "a += 0.1 * (x[k] % 0.7) - 0.1 * (y[k] // np.float64(0.4)) * b",
    "h = m\nfor e in range(1, -1, -1):\n    h = b * h[e:, k:]\na += 0.1 * h[0, e]",
)  # fmt: skip


UNFIT = (
    "log.append(i)", "d = {'a': a, 'x': x}; a = 0.5 * d['a'] + d['x'][1]", "b += [a, b][k] * 0.1",
    "y = np.array([e * 0.5 for e in x])", "f'{a}'", "log.append(x); x = log.pop()",
    "a += 0.1 * r", "b -= 0.1 * q", "a = 0.5 * a + j", "b += s * 0.1", "a *= t", "b = u[1] + h",
    "if b > 0.3 and shrunk(w): a = 0.9 * a",
    "v = w", "x = m[k]", "w = 0.5 * v", "del s", "k = 1 - k", "b = 0", "a = np.float64(a)",
)  # fmt: skip
"""Statements that are not compiled, or that let names mean something else; `NameError` for some."""
CAUGHT = """try:
    a = a / (1 // (k - k))
except ZeroDivisionError:
    a = 0.5 * a"""

# Vectors psi and phi of complex numbers.
WAVES = (
    "psi", "phi", "np.conj(psi)", "np.exp(1j * x)", "(x + 1j * v)", "psi[::-1]", "np.sqrt(phi + 2)",
    "m @ phi",
    "np.where(x > y, psi, phi)", "x", "np.sin(phi)", "np.log(psi + 3.0)",
)  # fmt: skip
AMPLITUDES = (
    "psi[0]", "phi[-1]", "(a + 1j)", "1j", "0.5", "b", "psi[k]", "np.sum(phi)", "psi @ phi",
    "complex(a, b)",
    "np.vdot(psi, phi)",
)  # fmt: skip
ON_WAVES = (
    "psi, phi = phi, psi", "a += 0.1 * psi[k].imag", "v = v + 0.1 * np.abs(phi)",
    "w = (psi * np.conj(phi)).real",
    "psi[np.abs(psi) > 1.0] = 0.5j", "psi[x > 0.3] *= 0.5j", "psi.real[1:] = 0.5 * psi.imag[:-1]",
    "s = psi[1]; psi[i % 5] = phi[k] / (2.0 + a * 1j); a += 0.1 * abs(s)",
    "b = 0.1 * np.abs(psi[i % 5])",
    "psi[1:-1] += 0.1j * (psi[2:] - 2 * psi[1:-1] + psi[:-2])", "x[:] = np.angle(phi) * 0.1",
    "phi /= 2 + x",
    "psi, phi = 0.5 * (psi - phi), psi", "psi = phi * 1.0; phi[k] = 0.5j",
    "w = (1j * x).imag; x[k] += 0.1", "phi = (psi - 0.0) ** 1; psi *= 0.5",
)  # fmt: skip


class Writer:
    """Writes one function.

    Parameters
    ----------
    seed : int
    mixed : bool
        Whether with statements that cannot be compiled.
    has_waves : bool
        Whether with complex vectors.
    """

    def __init__(self, seed: int, mixed: bool = False, has_waves: bool = False) -> None:
        self.has_waves = has_waves
        self.random = Random(seed)
        self.mixed = mixed
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0

    def pick(self, choices: tuple[str, ...]) -> str:
        return self.random.choice(choices)

    def write(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def scalar(self) -> str:
        a, b = self.pick(SCALARS), self.pick(SCALARS)
        form = self.random.randrange(7)
        if form < 3:
            return a
        return (f"{a} + {b}", f"{a} * {b}", f"{a} - 0.3 * {b}", f"{a} / ({b} * {b} + 1.5)")[
            form - 3
        ]

    def vector(self, of: tuple[str, ...], depth: int = 2) -> str:
        form = self.random.randrange(9 if depth else 2)
        if form < 2:
            return self.pick(of)
        inner = self.vector(of, depth - 1)
        if form == 2:
            return f"np.{self.pick(('sin', 'tanh', 'cos', 'square', 'arctan'))}({inner})"
        if form == 3:
            return f"({inner} * {self.pick(SCALARS)})"
        if form == 4:
            return f"({inner} / ({self.vector(of, depth - 1)} ** 2 + 2.0))"
        op = self.pick((" + ", " - ", " * "))
        return f"({inner}{op}{self.vector(of, depth - 1)})"

    def statement(self) -> None:
        if self.mixed and self.random.random() < (0.15 if self.depth < 3 else 0.05):
            for line in self.pick((*UNFIT, CAUGHT)).splitlines():
                self.write(line)
            return
        form = self.random.randrange(30 if self.has_waves else 20)
        if form >= 25:
            self.write(self.pick(ON_WAVES))
        elif form >= 20:
            wave = f"{self.pick(WAVES)} {self.pick(('+', '-', '*'))} {self.pick(WAVES)}"
            factor = self.pick(AMPLITUDES)
            targets = "psi[:] =", "phi =", "psi +=", "phi -=", "psi[k:k + 3] = phi[:3] +"
            target = self.pick(targets)
            end = "[1:4]" if "k:" in target else ""
            self.write(f"{target} 0.2 * (({wave}) * {factor}){end}")
        elif form < 3:
            self.write(f"{self.pick(('x', 'v', 'y', 'w'))}[:] = 0.5 * {self.vector(FULL)}")
        elif form < 5:
            target = self.pick(("x[1:-1]", "y[2:]", "v[:3]", "m[1, 2:]", "m[2:, 3]", "w[k:k + 3]"))
            self.write(f"{target} {self.pick(('=', '+=', '-=', '*='))} 0.4 * {self.vector(INNER)}")
        elif form < 7:
            op = self.pick(("+=", "-=", "*="))
            self.write(f"{self.pick(('x', 'v', 'm[k]', 'm[:, k]'))} {op} 0.3 * {self.vector(FULL)}")
        elif form < 8:
            value = f"0.2 * ({self.pick(WHOLE)} - {self.pick(WHOLE)} * m)"
            self.write(f"m {self.pick(('=', '+=', '-='))} {value}")
        elif form < 11:
            self.write(
                f"{self.pick(('a', 'b'))} {self.pick(('=', '=', '+=', '*='))} {self.scalar()}"
            )
        elif form < 13:
            target = self.pick(("x[i % 5]", "m[k, 1]", "v[-1]", "y[c[2]]", "m[i % 5, i % 3]"))
            self.write(f"{target} {self.pick(('=', '+=', '*='))} 0.5 * ({self.scalar()})")
        elif form < 14:
            mask = self.pick(("x > 0.3", "y < v", "np.abs(v) > 1.0"))
            picked = f"0.5 * y[{mask}] + np.sin(w[{mask}])"
            value = self.pick((self.pick(SCALARS), picked))
            self.write(f"{self.pick(('x', 'w'))}[{mask}] {self.pick(('=', '*='))} {value}")
        elif form < 15:
            self.write(f"{self.pick(('v', 'w'))} = 0.5 * {self.vector(FULL)}")
        elif form < 16:
            for line in self.pick(OTHERS).splitlines():
                self.write(line)
        elif form < 18:
            self.branch()
        else:
            self.loop()

    def block(self, most: int) -> None:
        self.depth += 1
        for _ in range(self.random.randrange(1, most + 1)):
            self.statement()
        self.depth -= 1

    def branch(self) -> None:
        if self.depth > 3:
            return self.write("a *= 0.5")
        self.write(f"if {self.pick(TESTS)}:")
        self.block(2)
        if self.loops and self.random.random() < 0.2:
            self.write("    " + self.pick(("break", "continue", "return np.sum(x * v) * a")))
        elif self.random.random() < 0.5:
            self.write("else:")
            self.block(2)
        return None

    def loop(self) -> None:
        if self.loops > 1:
            return self.write("b *= 0.5")
        form = self.random.randrange(5)
        if form < 3:
            head = self.pick(
                ("range(3)", "range(1, n - 1)", "range(n - 1, 0, -1)", "range(0, n, 2)")
            )
            self.write(f"for {'ij'[self.loops]} in {head}:")
        elif form == 3:
            self.write(self.pick(("for r, q in zip(x, y):", "for q, r in enumerate(v, start=2):")))
            self.write("    a += 0.05 * r * q")
        else:
            self.write(f"t{self.depth} = 0")
            self.write(f"while t{self.depth} < 3:")
            self.write(f"    t{self.depth} += 1")
        self.loops += 1
        self.block(4)
        self.loops -= 1
        if form < 4 and self.random.random() < 0.15:
            self.write("else:")
            self.block(2)
        return None


def random_function(seed: int, mixed: bool = False, has_waves: bool = False) -> str:
    """Return the text of a module with a function ``f(x, y, m, a, c, n, k)``.

    If it is mixed, it cannot be compiled whole, but perhaps its loops can.
    """
    writer = Writer(seed, mixed, has_waves)
    if has_waves:
        writer.write("psi, phi = x + 1j * y, (0.5 - 0.25j) * y")
    first = "i = 1", "b = 0.5", "v = x * 1.0", "w = np.ones(n)", "pair = (a, 0.5)", "ls = [0.5] * n"
    for line in (*first, *("log = []",) * mixed):
        writer.write(line)
    for _ in range(writer.random.randrange(2, 9)):
        if mixed and writer.random.random() < 0.5:
            writer.loop()
        writer.statement()
    tail = f"{TAIL} + np.sum(np.abs(psi) ** 2 * y) + abs(phi[k])" if has_waves else TAIL
    return HEAD + "\ndef f(x, y, m, a, c, n, k):\n" + "\n".join(writer.lines) + f"\n{tail}\n"


LISTED = (
    "ls[k] *= 0.5 + 0.1 * float(a)", "ls[i % 5] = 0.3 * ls[k - 1] + float(x[k])", "x[k] += ls[-1]",
    "for e in ls:\n    a += 0.1 * e", "zs = ls; zs[1] = 0.5 * zs[k]", "a = 0.5 * sum(ls)",
    "v = 0.5 * np.array(ls)", "b = b + ls[k] * max(ls)", "ls[0], ls[i % 5] = ls[2], ls[0]",
    "s = ls[1]; ls[1] = 0.7; a += s", "w = w * ls[k] + 0.1 * np.asarray(ls)", "ls[-1] -= GS[k]",
    "for e, (f, g) in enumerate(zip(ls, v)):\n    ls[e] = math.sin(f) * ls[k]\n    a += f * g",
    "if ls[k] > 0.3:\n    ls[k] = 0.5 * ls[k - 1] ** 2", "GS[1] = ls[0] * GS[0]",
    "out.append(float(a))", "out.append(ls[k]); a += 0.1 * out[-1]", "os[k % 2] *= os[-1] * 0.5",
    "os.append(x[k] * ls[0])", "for e in out:\n    b += 0.01 * e", "out += [ls[k]]",
    "os = [b, ls[0]]; os.append(a); a += os[k]", "a += 0.1 * len(gained(ls, k, out))",
    "b = 0.1 * sum(gained(ls, k, []))", "v[k] += 0.1 * np.sum(np.array(out))",
    "for e in range(3):\n    os.append(os[-1] * 0.9 + 0.1 * ls[e])",
    "GS.append(0.1 * ls[k])", "GS.append(float(a)); b = 0.2 * GS[-1] + 0.1 * sum(GS)",
    "b = 0.1 * sum([e * a for e in ls])", "mixed(ls, k)", "a += mixed(GS, 1) * ls[k]",
)  # fmt: skip
"""Statements on lists of floats, passed and global, and on lists that grow."""
LISTS = """GS = [0.5, -0.25]

def mixed(us, at):
    for e in range(len(us) - 1):
        us[e] += 0.3 * us[e + 1]
    us[at] = -0.5 * us[at]
    return us[at - 1]

def gained(us, at, also):
    more = []
    for u in us:
        if u > 0.2:
            more.append(u * us[at])
            also.append(u - at)
    return more

"""


def with_list(text: str, seed: int) -> str:
    """Return a random function with statements on lists, also on one passed last, ``ls``."""
    random = Random(seed)
    head, body = text.split("def f(x, y, m, a, c, n, k):\n")
    *lines, tail = body.replace("    ls = [0.5] * n\n", "").rstrip("\n").split("\n")
    for _ in range(random.randrange(2, 8)):
        at = random.randrange(len(lines))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        if at + 1 < len(lines) and lines[at + 1].startswith(indent + " "):
            indent = lines[at + 1][: len(lines[at + 1]) - len(lines[at + 1].lstrip())]
        more = [indent + line for line in random.choice(LISTED).split("\n")]
        lines[at + 1 : at + 1] = more
    first = "    out, os = [], [0.5, 1.0 * a]"
    last = f"{tail} + sum(ls) * GS[0] + ls[1] * GS[1] + len(out) + sum(out) * os[-1]"
    body = "\n".join([first, *lines, last])
    return f"{head}{LISTS}def f(x, y, m, a, c, n, k, ls):\n{body}\n"


BOX = """
class Box:
    def __init__(self, x, a, m):
        self.x = x
        self.a = a
        self.m = m

"""
HELD = "x", "a", "v", "b", "pair", "m"


def with_object(text: str, is_made: bool) -> str:
    """Return a random function whose variables are attributes of an object.

    If it is made within what is compiled, else it is passed to that.
    """
    head, body = text.split("def f(x, y, m, a, c, n, k):\n")
    for name in HELD:
        body = re.sub(rf"(?<![\w.]){name}(?!\w)", f"o.{name}", body)
    run = ["o = Box(x, a, m)", "s = g(o, y, c, n, k)", "return s + o.a + np.sum(o.x) * o.b"]
    if not is_made:
        run = ["try:", *(f"    {line}" for line in run), "finally:", "    pass"]
    f = "".join(f"    {line}\n" for line in run)
    return f"{head}{BOX}def g(o, y, c, n, k):\n{body}\ndef f(x, y, m, a, c, n, k):\n{f}"


def function_arguments(seed: int, is_narrow: bool = False) -> tuple[object, ...]:
    """Return arguments; some of those that have a derivative may be of float32."""
    rng = np.random.default_rng(seed)
    x, y, m = (0.7 * rng.standard_normal(shape) for shape in (N, N, (N, N)))
    a, c, k = float(rng.standard_normal()), rng.integers(0, N, N), int(rng.integers(0, 2))
    if not is_narrow:
        return x, y, m, a, c, N, k
    arrays = [v.astype(np.float32) if rng.integers(2) else v for v in (x, y, m)]
    return *arrays, np.float32(a) if rng.integers(2) else a, c, N, k
