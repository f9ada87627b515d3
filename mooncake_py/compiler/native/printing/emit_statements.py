"""Print statements as Python, for plain Python and for Numba alike: see `emit`."""

from __future__ import annotations

from itertools import groupby, islice, takewhile

from mooncake_py.compiler.native.printing.emit_expressions import NUMPY_NAMES, Expressions
from mooncake_py.compiler.native.printing.loops import nested
from mooncake_py.compiler.native.printing.saved import (
    STACK,
    TOP,
    as_slot,
    is_lasting,
    on_stack,
    popped_by,
    pushes_of,
    sized,
    with_slots,
)
from mooncake_py.compiler.native.regions.contractions import Contraction, Window
from mooncake_py.compiler.native.regions.helpers import LARGE, add_product, strided
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT32
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Break,
    Bump,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Length,
    Let,
    Load,
    Name,
    Op,
    Push,
    Statement,
    Target,
    While,
    statements,
    walk,
)
from mooncake_py.compiler.regions.simplify import added

__all__ = ["DTYPES", "INDENT", "Statements"]

INDENT = "    "
DTYPES = {kind: f"np.{name}" for kind, name in NUMPY_NAMES.items()}


class Statements:
    """Prints the statements of one function.

    Parameters
    ----------
    expressions : Expressions
    measured : set of Length
        The lengths that are read.
    made : frozenset of str
        The arrays that are made.
    failure : str
        What is returned where a check fails.
    grows : bool
        Whether the stack may be too small.
    is_count : bool
        Whether of what is pushed only the size counts.
    """

    def __init__(
        self,
        expressions: Expressions,
        measured: list[Length],
        made: frozenset[str],
        failure: str,
        *,
        grows: bool = False,
        is_count: bool = False,
    ) -> None:
        self.expressions = expressions
        self.measured = measured
        self.failure = failure
        self.grows = grows
        self.is_count = is_count
        self.made = made
        self.known: frozenset[Expr] = frozenset()
        self.free = 0  # numbers for which there is room on the stack

    def block(self, block: Block) -> list[str]:
        """Return the lines of a block, indented."""
        return [INDENT + line for line in self.body(block) or ["pass"]]

    def body(self, block: Block) -> list[str]:
        """Return the lines of a block; checks that follow one another leave at one place."""
        found: list[str] = []
        known, place = self.known, 0
        for is_check, group in groupby(block, lambda s: isinstance(s, Check)):
            if is_check:
                tests = [s.test for s in group if isinstance(s, Check)]
                found += self.checked(tests)
                place += len(tests)
                continue
            for s in group:
                found += self.room_ahead(block, place)
                found += self.lines(s)
                place += 1
        self.known = known
        return found

    def checked(self, tests: list[Expr]) -> list[str]:
        """Return the lines that leave the function unless tests hold, but for those that do."""
        new = [test for test in dict.fromkeys(tests) if test not in self.known]
        if not new:
            return []
        self.known |= {test for test in new if is_lasting(test, self.made)}
        test = new[0] if len(new) == 1 else Op("and", tuple(new))
        return [f"if not ({self.expressions.text(test)}):", INDENT + self.failure]

    def lines(self, s: Statement) -> list[str]:
        """Return the lines of a statement."""
        before: list[str] = []
        count = popped_by(s)
        if count:
            before, slots = self.popped(count)
            s = with_slots(s, slots)
        return [*before, *self.statement(s)]

    def statement(self, s: Statement) -> list[str]:
        """Return the lines of a statement that pops nothing."""
        text = self.expressions.text
        match s:
            case Assign(target=target, value=value):
                return [self.assigned(target, value)]
            case Let(name=name, value=value) | Count(name=name, value=value):
                return [self.assigned(Name(name), value)]
            case Bump(target=target, value=value):
                return [self.bumped(target, value)]
            case Push():
                return self.pushed(s)
            case Check(test=test):
                return self.checked([test])
            case Alloc():
                return self.allocated(s)
            case Grow():
                return self.grown(s)
            case Apply():
                return self.applied(s)
            case ForAll():
                return self.for_all(s)
            case For(name=name, range=steps, body=body):
                return [f"for {text(Name(name))} in {self.range(steps)}:", *self.passes(body)]
            case While(test=test, body=body):
                # Numba does not find the types of what a loop without a test binds.
                condition = "0 < 1" if test == Const(True) else text(test)
                return [f"while {condition}:", *self.passes(body)]
            case If(test=test, body=body, orelse=orelse):
                return self.branches(self.expressions.as_kind(test, BOOL), body, orelse)
            case Break():
                return ["break"]
        raise TypeError(s)

    def passes(self, block: Block) -> list[str]:
        """Return the lines of the body of a loop, each pass of which makes room for itself."""
        free, self.free = self.free, 0
        lines = self.block(block)
        self.free = 0 if any(isinstance(s, Push) for s in statements(block)) else free
        return lines

    def branches(self, test: str, body: Block, orelse: Block) -> list[str]:
        """Return the lines of a branch."""
        free = self.free
        lines = [f"if {test}:", *self.block(body)]
        least, self.free = self.free, free
        if orelse:
            lines += ["else:", *self.block(orelse)]
        self.free = min(least, self.free)
        return lines

    # Assignments.

    def assigned(self, target: Target, value: Expr) -> str:
        """Return the line that stores a value."""
        if isinstance(value, Op) and value.op in ("add", "sub") and value.args[0] == target:
            return self.bumped(target, value.args[1], value.op)
        kind = self.expressions.kind(target)
        return f"{self.expressions.text(target)} = {self.expressions.as_kind(value, kind)}"

    def bumped(self, target: Target, value: Expr, op: str = "add") -> str:
        """Return the line that adds a value, or subtracts it."""
        if isinstance(value, Op) and value.op == "neg":
            value, op = value.args[0], {"add": "sub", "sub": "add"}[op]
        sign = {"add": "+=", "sub": "-="}[op]
        own = self.expressions.kind(target) == FLOAT32 and isinstance(target, Name)
        text = self.expressions.as_kind(value, FLOAT32) if own else self.expressions.promoted(value)
        return f"{self.expressions.text(target)} {sign} {text}"

    def allocated(self, s: Alloc) -> list[str]:
        """Return the lines that make an array and measure it."""
        text = self.expressions.text
        shape = ", ".join(map(text, s.shape)) + ("," if len(s.shape) == 1 else "")
        name = text(Name(s.name))
        make = "np.zeros" if s.zero else "np.empty"
        return [f"{name} = {make}(({shape}), {DTYPES[s.kind]})", *self.lengths(s.name)]

    def grown(self, s: Grow) -> list[str]:
        """Return the lines that make room in an array and measure it again."""
        name, least = self.expressions.text(Name(s.name)), self.expressions.text(s.least)
        more = [f"{name} = grow({name}, {least})", *self.lengths(s.name)]
        return [f"if {least} > {name}.size:", *(INDENT + line for line in more)]

    def applied(self, s: Apply) -> list[str]:
        """Return the lines that compute an array; the way back does not ask how that went."""
        arrays = ", ".join([self.expressions.text(Name(a)) for a in (s.target, *s.operands)])
        call = f"{self.expressions.name_of(s.function)}({arrays})"
        return [f"if not {call}:", INDENT + self.failure] if self.failure else [call]

    def lengths(self, array: str) -> list[str]:
        """Return the lines that name the lengths of an array that are read."""
        text = self.expressions.text
        return [
            f"{text(n)} = {text(Name(array))}.shape[{n.axis}]"
            for n in self.measured
            if n.array == array
        ]

    # Loops.

    def range(self, steps: Expr) -> str:
        """Return the text of a range."""
        if isinstance(steps, Op) and steps.args[2] == Const(1):
            lo, hi, _ = steps.args
            steps = Op("range", (hi,) if lo == Const(0) else (lo, hi))
        return self.expressions.text(steps)

    def for_all(self, s: ForAll) -> list[str]:
        """Return the lines of loops over counters; the stack moves once."""
        pushes = sum(isinstance(inner, Push) for inner in statements(s.body))
        pops = sum(map(popped_by, statements(s.body)))
        if not pushes and not pops:
            return self.nest(s)
        if pushes and pops:
            raise TypeError(s)
        size = sized(pushes + pops, s.extents)
        if self.is_count:
            return self.moved(size)
        nest = self.nest(on_stack(s, pushes + pops))
        if pops:
            return [*self.moved(size, "-="), *nest]
        self.free = 0
        return [*self.room(size), *nest, *self.moved(size)]

    def nest(self, s: ForAll) -> list[str]:
        """Return the lines of loops over counters."""
        lines: list[str] = []
        for loop in nested(s, self.expressions.kind):
            if isinstance(loop, Contraction):
                lines += self.contraction(loop)
            else:
                lines += self.loops(loop) if isinstance(loop, ForAll) else self.lines(loop)
        return lines

    def contraction(self, c: Contraction) -> list[str]:
        """Return the lines of a product of matrices: by BLAS, or else by loops."""
        text = self.expressions.text
        sizes = [c.extents[counter] for counter in c.order]
        # For each int or truth that is written down Numba compiles a function of its own.
        lengths = [f"int({text(n)})" if isinstance(n, Const) else text(n) for n in sizes]
        parts = [*(self.window(w, c) for w in c.windows), *lengths]
        parts += ["-1.0" if c.is_negative else "1.0", f"bool({int(c.is_guarded)})"]
        call = f"{self.expressions.name_of(add_product)}({', '.join(parts)})"
        loops = [
            line
            for s in c.loops
            for line in (self.loops(s) if isinstance(s, ForAll) else self.lines(s))
        ]
        test = text(Compare(("gt",), (sized(1, tuple(sizes)), Const(LARGE))))
        return [f"if not ({test} and {call}):", *(INDENT + line for line in loops)]

    def window(self, w: Window, c: Contraction) -> str:
        """Return the text of a part of an array: of rows in one piece, if they are all there."""
        text = self.expressions.text
        parts: list[str] = []
        for i in w.axes:
            if not isinstance(i, tuple):
                parts.append(text(i))
                continue
            first, n = i[0], c.extents[i[1]]
            begin = "" if first == ZERO else text(first)
            parts.append(f"{begin}:{text(added(first, n))}")
        if isinstance(w.axes[-1], tuple) and w.axes[-1][0] == ZERO:
            parts.pop()
        part = f"{text(Name(w.array))}[{', '.join(parts)}]{'.T' if w.is_transposed else ''}"
        return f"{self.expressions.name_of(strided)}({part})"

    def loops(self, s: ForAll) -> list[str]:
        """Return the lines of loops over counters, unchanged.

        A range takes Numba a hundred instructions more.
        """
        text = self.expressions.text
        lines: list[str] = []
        for inner in s.body:
            lines += self.loops(inner) if isinstance(inner, ForAll) else self.lines(inner)
        for counter, extent in zip(reversed(s.counters), reversed(s.extents), strict=True):
            k, n = text(Name(counter)), text(extent)
            if any(isinstance(part, Load) for part in walk(extent)):  # the loop may write it
                lines = [f"for {k} in range({n}):", *(INDENT + line for line in lines)]
            else:
                inner = [INDENT + line for line in (*lines, f"{k} += 1")]
                lines = [f"{k} = 0", f"while {k} < {n}:", *inner]
        return lines

    # The stack.

    def pushed(self, s: Push) -> list[str]:
        """Return the lines that save a number."""
        if self.is_count:
            return self.moved(Const(1))
        self.free -= 1
        return [self.assigned(Load(STACK, (Name(TOP),)), as_slot(s)), *self.moved(Const(1))]

    def room_ahead(self, block: Block, place: int) -> list[str]:
        """Return the lines that make room at once for what is pushed before the next loop.

        They stand where the statement at a place of the block needs it.
        """
        if not self.grows or self.free >= (pushes_of(block[place]) or 0):
            return []
        counts = takewhile(lambda n: n is not None, map(pushes_of, islice(block, place, None)))
        self.free = sum(n for n in counts if n is not None)
        return self.room(Const(self.free))

    def room(self, size: Expr) -> list[str]:
        """Return the lines that make room for numbers."""
        if not self.grows:
            return []
        top = self.expressions.text(added(Name(TOP), size))
        return [f"if {top} > S.size:", f"{INDENT}S = grow(S, {top})"]

    def moved(self, size: Expr, sign: str = "+=") -> list[str]:
        """Return the line that moves the top of the stack."""
        return [f"{self.expressions.text(Name(TOP))} {sign} {self.expressions.text(size)}"]

    def popped(self, count: int) -> tuple[list[str], list[Expr]]:
        """Return the lines before a statement that takes numbers, and where it finds each."""
        places = [added(Name(TOP), Const(k)) for k in reversed(range(count))]
        return self.moved(Const(count), "-="), places
