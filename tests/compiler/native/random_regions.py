"""Random regions, as text: loops, branches, ints bound again, temporaries, loops over elements."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions.region import NativeRegion
from tests.compiler.native.writing import region

__all__ = ["INPUTS", "SIZE", "random_region", "random_values"]

INPUTS = "x:1 y:1 m:2 z:1 a b s n:int k:int l:int f:bool idx:int:1 mask:bool:1"
SIZE = 6
"""The length of each axis, if nothing else is said."""
ODD = (0.0, -0.0, 1e-310, -1e-200, 1e200, -1.7e308, np.inf, -np.inf, np.nan, 1.0, -2.0)
"""Floats at which formulas fail."""
INDENT = "    "


def random_values(seed: int, length: int = SIZE, *, odd: bool = False) -> dict[str, Any]:
    """Return values for the inputs.

    Parameters
    ----------
    odd : bool
        Whether half of the floats are zero, infinite, nan, very small or very large.
    """
    rng = np.random.default_rng(seed)
    arrays = {name: rng.normal(size=length) for name in "xyz"}
    numbers = {name: np.float64(rng.normal()) for name in "abs"}
    ints = {name: int(rng.integers(0, length)) for name in "nkl"}
    matrix = {"m": rng.normal(size=(length, length))}
    others = {
        "f": bool(rng.integers(2)),
        "idx": rng.integers(0, length, length),
        "mask": rng.integers(0, 2, length).astype(bool),
    }
    if odd:
        numbers = {n: np.float64(made_odd(rng, np.array(v))) for n, v in numbers.items()}
        arrays = {n: made_odd(rng, v) for n, v in arrays.items()}
        matrix = {"m": made_odd(rng, matrix["m"])}
    return arrays | numbers | ints | matrix | others


def made_odd(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Return an array in which about half of the numbers are odd ones."""
    return np.where(rng.random(values.shape) < 0.5, rng.choice(ODD, values.shape), values)


def random_region(
    seed: int, size: int = 8, length: int = SIZE, *, hard: bool = False
) -> tuple[str, NativeRegion]:
    """Return the text of a region of so many statements, and the region.

    Parameters
    ----------
    length : int
        That of each axis: at least 6.
    hard : bool
        Whether loops may have no pass, or a step of zero, which fails.
    """
    return _Writer(random.Random(seed), size, length, hard=hard).region()


class _Writer:
    def __init__(self, rng: random.Random, size: int, length: int, *, hard: bool) -> None:
        self.rng = rng
        self.length = length
        self.hard = hard
        self.left = size
        self.count = 0
        self.loops = 0
        self.floats = ["a", "b", "s"]
        self.ints = ["n", "k", "l"]
        self.counters: list[str] = []
        self.flags = ["f"]
        self.vectors = ["x", "y", "z"]

    def region(self) -> tuple[str, NativeRegion]:
        lines = self.block(0, top=True)
        results = [*self.rng.sample(["a", "s", "k"], 2)]
        results += [n for n in (*self.floats, *self.vectors) if n[0] in "tw" and self.chance(0.5)]
        text = "\n".join(lines)
        return text, region(text, INPUTS, " ".join(results))

    # Choices.

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # Expressions.

    def index(self, counters: tuple[str, ...] = ()) -> str:
        """Return an index below the size."""
        pick = self.rng.random()
        known = (*counters, *self.counters)
        if pick < 0.5 and known:
            return self.rng.choice(known)
        if pick < 0.6:
            return str(self.rng.randrange(self.length))
        if pick < 0.75:
            return f"idx[{self.index(counters)}]" if self.chance(0.7) else "idx[2]"
        one = self.rng.choice([*self.ints, *known])
        other = self.rng.choice([*self.ints, *known, "3"])
        found = f"({one} + {other})" if self.chance(0.6) else f"abs({one})"
        return f"{found} % {self.length}"

    def leaf(self, counters: tuple[str, ...] = (), without: str = "") -> str:
        """Return a float that is read."""
        pick = self.rng.random()
        floats = [name for name in self.floats if name != without]
        vectors = [name for name in self.vectors if name != without]
        if pick < 0.3:
            return self.rng.choice(floats)
        if pick < 0.75:
            return f"{self.rng.choice(vectors)}[{self.index(counters)}]"
        if pick < 0.9 and without != "m":
            return f"m[{self.index(counters)}, {self.index(counters)}]"
        if pick < 0.95:
            return f"float({self.rng.choice([*self.ints, *counters])})"
        return f"{self.rng.uniform(-1.5, 1.5):.2f}"

    def float(self, depth: int, counters: tuple[str, ...] = (), without: str = "") -> str:
        """Return an expression that is a float."""
        if depth <= 0 or self.chance(0.15):
            return self.leaf(counters, without)
        a = self.float(depth - 1, counters, without)
        b = self.float(depth - 1, counters, without)
        forms = [
            f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"{a} * {b}", f"{a} / (1.5 + {b} * {b})",
            f"np.sin({a})", f"np.tanh({a})", f"np.exp(-abs({a}))", f"np.sqrt({a} * {a} + 0.5)",
            f"({a} if {self.test(counters, without)} else {b})", f"max({a}, {b})", f"-{a}",
            f"np.maximum({a}, {b})", f"abs({a}) ** 1.5", f"({a}) ** 2", f"np.hypot({a}, {b} + 3.0)",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def test(self, counters: tuple[str, ...] = (), without: str = "") -> str:
        """Return a test."""
        pick = self.rng.random()
        if pick < 0.4:
            return f"{self.leaf(counters, without)} > {self.leaf(counters, without)}"
        if pick < 0.6:
            ints = [*self.ints, *counters, *self.counters]
            return f"{self.rng.choice(ints)} % 2 == {self.rng.choice(ints)} % 2"
        if pick < 0.75:
            return self.rng.choice(self.flags)
        return f"mask[{self.index(counters)}]"

    # Statements.

    def block(self, depth: int, *, top: bool = False) -> list[str]:
        """Return the lines of a block; what is bound within ends with it."""
        scopes = self.floats, self.ints, self.flags, self.vectors
        before = [list(scope) for scope in scopes]
        lines = self.statement(depth)
        while self.left > 0 and (top or self.chance(0.75)):
            lines += self.statement(depth)
        if not top:
            for scope, old in zip(scopes, before, strict=True):
                scope[:] = old
        return lines

    def indented(self, depth: int) -> list[str]:
        return [INDENT + line for line in self.block(depth + 1)]

    def statement(self, depth: int) -> list[str]:
        self.left -= 1
        kinds: list[Any] = [
            self.name, self.element, self.element, self.count_of, self.elementwise,
            self.elementwise, self.sum, self.flag, self.data, self.temporary,
        ]  # fmt: skip
        if depth < 3:
            kinds += [self.loop, self.loop, self.branch, self.passes]
        if self.loops and depth < 4:
            kinds += [self.stop]
        return self.rng.choice(kinds)(depth)

    def name(self, depth: int) -> list[str]:
        old = self.rng.choice(self.floats)
        if self.chance(0.4):
            new = self.fresh("t")
            value = self.float(2)
            self.floats.append(new)
            return [f"{new} = {value}"]
        return [f"{old} = {self.float(3)}" if self.chance(0.6) else f"{old} += {self.float(2)}"]

    def element(self, depth: int) -> list[str]:
        place = f"{self.rng.choice(self.vectors)}[{self.index()}]"
        if self.chance(0.2):
            place = f"m[{self.index()}, {self.index()}]"
        return [f"{place} {self.rng.choice(['=', '+=', '*=', '-='])} np.sin({self.float(2)})"]

    def count_of(self, depth: int) -> list[str]:
        ints = [*self.ints, *self.counters]
        total = f"({self.rng.choice(ints)} * 2 + {self.rng.choice([*ints, '1'])})"
        value = f"{total} % {self.length + 1}"
        if self.chance(0.15):
            value = f"int(abs({self.leaf()})) % 5"
        if self.chance(0.3):
            value = f"idx[{self.index()}] + 0"
        if self.chance(0.4):
            self.ints.append(self.fresh("c"))
            return [f"{self.ints[-1]} = {value}"]
        return [f"{self.rng.choice(self.ints)} = {value}"]

    def flag(self, depth: int) -> list[str]:
        value = self.test()
        if self.chance(0.5):
            self.flags.append(self.fresh("g"))
            return [f"{self.flags[-1]} = {value}"]
        return [f"{self.rng.choice(self.flags)} = {value}"]

    def data(self, depth: int) -> list[str]:
        if self.chance(0.5):
            q = self.fresh("q")
            other = f"({q} + {self.rng.choice(self.ints)}) % {self.length}"
            value = self.rng.choice([q, other])
            if self.chance(0.5):
                return [f"with all({q}={self.length}): idx[{q}] = {value}"]
            return [f"with all({q}={self.length}): mask[{q}] = {self.leaf((q,))} > 0.2"]
        return [f"idx[{self.index()}] = {self.index()}"]

    def elementwise(self, depth: int) -> list[str]:
        i, j = self.fresh("q"), self.fresh("q")
        if self.chance(0.3):
            value = self.float(2, (i, j), "m")
            own = f"m[{i}, {j}]"
            head = f"with all({i}={self.length}, {j}={self.length}): "
        else:
            target = self.rng.choice(self.vectors)
            value = self.float(3, (i,), target)
            own = f"{target}[{i}]"
            head = f"with all({i}={self.rng.choice([str(self.length), 'len(y)', 'n', '4'])}): "
            if head.endswith("=n): ") and "n" in self.counters:
                head = f"with all({i}={self.length}): "
        forms = [
            f"np.sin({value})", f"{own} * np.sin({value})", f"{own} + {value}",
            f"np.exp(-abs({own})) * {value}", f"np.sqrt({own} * {own} + 0.1)",
            f"{value} if {self.test((i,), own.split('[')[0])} else {own}",
        ]  # fmt: skip
        return [f"{head}{own} = {self.rng.choice(forms)}"]

    def sum(self, depth: int) -> list[str]:
        i, j = self.fresh("q"), self.fresh("q")
        if self.chance(0.5):
            target = self.rng.choice(self.floats)
            place = target
        else:
            target = self.rng.choice(self.vectors)
            place = f"{target}[{self.rng.choice([i, j, '2'])}]"
            if self.chance(0.3):
                place = f"{target}[idx[{i}]]"
        value = self.float(2, (i, j), target)
        sign = self.rng.choice("+-")
        ends = [str(self.length)] * 2
        if self.hard:
            ends[1] = self.rng.choice([ends[1], "4", "n", "len(y)"])
        head = f"with all({i}={ends[0]}, {j}={ends[1]}): "
        return [f"{head}{place} = {place} {sign} 0.1 * {value}"]

    def temporary(self, depth: int) -> list[str]:
        name, q = self.fresh("w"), self.fresh("q")
        extent = str(self.length)
        lines = []
        if self.chance(0.4):
            extent = self.fresh("c")
            lines.append(f"{extent} = {self.length} + {self.rng.choice([*self.ints, '0'])} % 3")
        if self.chance(0.5):
            lines.append(f"{name} = zeros({extent})")
        else:
            value = self.float(2, (q,) if extent == str(self.length) else ())
            fill = f"with all({q}={extent}): {name}[{q}] = {value} + float({q})"
            lines += [f"{name} = empty({extent})", fill]
        self.vectors.append(name)
        return lines

    def loop(self, depth: int) -> list[str]:
        i = self.rng.choice(["i", "j", self.fresh("i"), "k"])  # the last is read elsewhere too
        steps = self.rng.choice([
            "3", "1, 5", "4, -1, -1", "0, n", "n, 6", "0, 6, 2", "5, 0, -2", "n, -1, -1",
            f"0, {self.rng.choice(self.ints)} % 4", f"0, 6, 1 + {self.rng.choice(self.ints)} % 3",
        ])  # fmt: skip
        if self.hard and self.chance(0.3):
            one, other = self.rng.choice(self.ints), self.rng.choice(self.ints)
            steps = self.rng.choice([
                f"0, 6, {one} % 4", f"{one} % 3, {other} % 3, 1 + {one} % 2",
                f"{one} % 3, {other} % 3, -1 - {other} % 2", f"4 + {one} % 3, 6, 1 + {other} % 2",
            ])  # fmt: skip
        if i in self.counters or any("," not in steps and c in steps for c in self.counters):
            i = self.fresh("i")
        counters = list(self.counters)
        self.counters += [i] if i != "k" else []
        self.loops += 1
        body = self.indented(depth)
        self.loops -= 1
        self.counters = counters
        if "n" in steps and "%" not in steps:
            steps = steps.replace("n", "n % 6")
        return [f"for {i} in range({steps}):", *body]

    def passes(self, depth: int) -> list[str]:
        c = self.fresh("c")
        self.counters.append(c)
        self.loops += 1
        body = self.indented(depth)
        self.loops -= 1
        self.counters.pop()
        test = f"{c} < 4" if self.chance(0.5) else f"{c} < 4 and {self.test()}"
        return [f"{c} = 0", f"while {test}:", f"{INDENT}{c} = {c} + 1", *body]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.test()}:", *self.indented(depth)]
        return lines if self.chance(0.4) else [*lines, "else:", *self.indented(depth)]

    def stop(self, depth: int) -> list[str]:
        lines = [f"if {self.test()}:"]
        if self.chance(0.5):
            lines += self.indented(depth)
        return [*lines, f"{INDENT}break"]
