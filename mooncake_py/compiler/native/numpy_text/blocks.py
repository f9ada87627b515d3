"""Blocks of statements as lines of Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.lowering.lower import as_loops
from mooncake_py.compiler.native.numpy_text.defining import Defining
from mooncake_py.compiler.native.numpy_text.elements import with_elements_read_once
from mooncake_py.compiler.native.numpy_text.helpers import SYSTEMS, Leave, grown
from mooncake_py.compiler.native.numpy_text.lengths import Lengths, is_store
from mooncake_py.compiler.native.numpy_text.orders import (
    adds_to_elements,
    arrays_read,
    asked_always,
    passes_in_any_order,
)
from mooncake_py.compiler.native.numpy_text.rebound import written_whole
from mooncake_py.compiler.native.numpy_text.scalars import Scalars, Texts
from mooncake_py.compiler.native.numpy_text.stored import stored_at_once
from mooncake_py.compiler.native.numpy_text.vectors import OneByOne
from mooncake_py.compiler.native.numpy_text.views import Axes, Loops
from mooncake_py.compiler.native.numpy_text.wholes import Wholes
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import (
    all_mentioned,
    bound_by,
    expressions_in,
    names_in,
    unused,
)
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
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
    Places,
    Pop,
    Push,
    Reduce,
    Statement,
    While,
    blocks_of,
    statements,
    walk,
)

__all__ = ["Blocks"]

INDENT = "    "
EXACT = 1.25 * 2.0**62  # see `operations.require_exact`
DTYPES = {FLOAT: "", INT: ", np.int64", BOOL: ", np.bool_"}


class Blocks:
    """Prints the statements of one function.

    Attributes
    ----------
    lines : list
        Of text, and where arrays are bound the indentation, these, and what is made of them.
    pending : dict of str to Alloc
        Arrays that are yet to be made, where they are first mentioned.
    lengths : Lengths
    own : set of str
        The arrays that the present block makes.
    rest : Block
        What comes after the present statement in its block.
    asked : set of Expr
        The tests that were asked before the loops in which they stand.
    counters : set of str
        Of the loops around, as far as nothing else binds them.
    writes : Counter
        How many statements bind names and write arrays.
    inputs : frozenset of str
    reads : Counter
        How often names and arrays are read, or given back.
    rebound : frozenset of str
        The arrays that are new ones wherever they are written, so that names may share them.
    """

    def __init__(
        self,
        texts: Texts,
        kinds: Mapping[str, str],
        arrays: Mapping[str, int],
        *,
        lengths: Lengths,
        careful: bool,
        in_reverse: bool,
    ) -> None:
        self.lengths = lengths
        self.scalars = Scalars(texts, careful=careful, in_reverse=in_reverse)
        self.kinds = dict(kinds)
        self.arrays = dict(arrays)
        self.defining = Defining(self.scalars, self.kinds, self.arrays)
        self.fresh = unused("e", kinds)
        self.lines: list[str | tuple[str, str, Callable[[str], list[str]]]] = []
        self.depth = 1
        self.pending: dict[str, Alloc] = {}
        self.writes: Counter[str] = Counter()
        self.asked: set[Expr] = set()
        self.own: set[str] = set()
        self.rest: Block = ()
        self.counters: set[str] = set()
        self.inputs: frozenset[str] = frozenset()
        self.reads: Counter[str] = Counter()
        self.rebound: frozenset[str] = frozenset()

    # Functions.

    def function(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> list[str]:
        """Return the lines of a function."""
        for s in statements(body):
            if not isinstance(s, Alloc):
                self.writes.update(bound_by(s))
        self.inputs = frozenset(inputs)
        self.defining.begin(self.inputs, self.writes)
        self.rebound = written_whole(self, body)
        parts = [p for s in statements(body) for e in expressions_in(s) for p in walk(e)]
        self.reads = Counter([part_of(p) for p in parts if isinstance(p, Name | Load)])
        self.reads.update([*results, *(p.array for p in parts if isinstance(p, Length))])
        if any(isinstance(s, Push) for s in statements(body)):
            self.line("push, save = S.append, S.save")
        if any(isinstance(part, Pop) for part in parts):
            self.line("pop = S.pop")
        given = [name for name in inputs if name in self.arrays]
        for name in given:
            self.later(name, self.defining.lengths)
        for name in inputs:
            if name in self.arrays:
                self.later(name, self.defining.elements)
            elif self.kinds.get(name, FLOAT) == FLOAT:
                self.line(f"{self.scalars.name(name)} = float({self.scalars.name(name)})")
        self.unbound(body, inputs, results)
        self.block(body)
        self.materialize(results)
        for name in given:
            self.later(name, self.defining.put_back)
        found = "".join(f"{self.given_back(name, inputs)}, " for name in results)
        self.line(f"return ({found})")
        return self.finished()

    def given_back(self, name: str, inputs: Sequence[str]) -> str:
        """Return a result: a new array in the order of rows, which nothing else has."""
        text = self.scalars.name(name)
        if name in self.rebound:
            return f"{text}.copy()"
        return f"np.ascontiguousarray({text})" if name in {*self.arrays} - {*inputs} else text

    def unbound(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Bind numbers that may be read before they are bound, as machine code does."""
        inner = [s for s in statements(body) if isinstance(s, ForAll | Reduce | Places)]
        known = {*inputs, *self.arrays}.union(*[s.counters for s in inner])
        for s in body:
            if blocks_of(s) and not isinstance(s, ForAll):
                break
            known.update(bound_by(s))
        bound = [n for s in statements(body) for n in bound_by(s) if not isinstance(s, Let)]
        for name in dict.fromkeys([*bound, *results]):
            if name not in known:
                zero = {INT: "0", BOOL: "False"}.get(self.kinds.get(name, FLOAT), "0.0")
                self.line(f"{self.scalars.name(name)} = {zero}")

    def finished(self) -> list[str]:
        """Return the lines, with the lengths and the memory of arrays where these are wanted."""
        self.defining.end(line for line in self.lines if isinstance(line, str))
        found: list[str] = []
        for line in self.lines:
            if isinstance(line, str):
                found.append(line)
                continue
            indent, array, made = line
            found += [indent + text for text in made(array)]
        return found

    def line(self, text: str) -> None:
        """Print a line."""
        self.lines.append(INDENT * self.depth + text)

    def defined(self, array: str) -> None:
        """Note that an array is bound here."""
        self.later(array, self.defining.lengths)
        self.later(array, self.defining.memory)

    def later(self, array: str, made: Callable[[str], list[str]]) -> None:
        """Note what is made of an array here, once it is known what is wanted of it."""
        self.lines.append((INDENT * self.depth, array, made))

    # Arrays that are yet to be made.

    def materialize(self, arrays: Iterable[str]) -> None:
        """Make arrays that are yet to be made."""
        for name in sorted(self.pending.keys() & set(arrays)):
            self.new(self.pending.pop(name))

    def new(self, s: Alloc) -> None:
        """Make an array."""
        how = "zeros" if s.zero else "empty"
        shape = "".join(f"{self.scalars.text(n)}, " for n in s.shape)
        self.line(f"{self.scalars.name(s.name)} = np.{how}(({shape}){DTYPES[s.kind]})")
        self.defined(s.name)

    def settled(self, array: str) -> None:
        """Note that an array needs not be made: it is bound to another one."""
        self.pending.pop(array, None)

    def may_bind(self, array: str, *, zero: bool = False) -> bool:
        """Return True for an array that is yet to be made, of zeros if something is added."""
        found = self.pending.get(array)
        return found is not None and (found.zero or not zero)

    def bind(self, array: str, text: str) -> None:
        """Bind an array that is yet to be made to what is computed."""
        self.settled(array)
        self.line(f"{self.scalars.name(array)} = {text}")
        self.defined(array)

    def stays(self, array: str) -> bool:
        """Return True for an array that is new in each pass, and that nothing writes any more."""
        return array in self.own and not any(
            array in bound_by(inner) for inner in statements(self.rest)
        )

    def is_written_once(self, array: str) -> bool:
        """Return True for an array to which one statement writes."""
        return self.writes[array] == 1

    def is_whole(self, loops: Loops, target: Load, counters: Axes | None = None) -> bool:
        """Return True if a statement writes all of an array, in order."""
        made, axes = self.pending.get(target.array), len(target.index)
        shape = [Length(target.array, axis) for axis in range(axes)] if made is None else made.shape
        if axes != len(shape):
            return False
        counters = loops.counters if counters is None else counters
        own = [i.name for i in target.index if isinstance(i, Name) and i.name in counters]
        if len(own) != len(target.index) or [k for k in counters if k in own] != own:
            return False
        lengths = [loops.extents[k] for k in own]
        return all(
            self.lengths.same(n, m) or n == Length(target.array, axis)
            for axis, (n, m) in enumerate(zip(lengths, shape, strict=True))
        )

    def parts_read_next(self) -> Iterator[Load]:
        """Yield the elements that later statements of the block read or write for certain."""
        for s in self.rest:
            inner = s.body if isinstance(s, ForAll) else (s,)
            while len(inner) == 1 and isinstance(inner[0], For):
                inner = inner[0].body
            for part in inner:
                if not blocks_of(part):
                    target = getattr(part, "target", None)
                    for e in (*expressions_in(part), *([target] if target is not None else [])):
                        if not isinstance(e, str):
                            yield from (load for load in walk(e) if isinstance(load, Load))

    # Statements.

    def block(self, block: Block) -> None:
        """Print statements."""
        outer, self.own = (self.own, self.rest), {s.name for s in block if isinstance(s, Alloc)}
        for k, s in enumerate(block):
            self.rest = block[k + 1 :]
            for check in () if self.scalars.in_reverse else self.lengths.before.get(id(s), ()):
                self.statement(check)
                self.asked.add(check.test)
            if isinstance(s, Alloc):
                self.materialize(all_mentioned(s) - {s.name})
                self.pending[s.name] = s
            elif isinstance(s, ForAll | Reduce | Places):
                self.whole(s)
            elif isinstance(s, For) and self.at_once(s):
                pass
            else:
                self.materialize(all_mentioned(s))
                self.statement(s)
        self.own, self.rest = outer

    def nested(self, block: Block) -> None:
        """Print a block within."""
        self.depth += 1
        start = len(self.lines)
        outer, self.pending = self.pending, {}
        block = stored_at_once(block, self.kinds, self.reads)
        self.block(with_elements_read_once(block, self.kinds, self.fresh))
        self.pending = outer
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    def whole(self, s: ForAll | Reduce | Places) -> None:
        """Print a statement for all indices, at once if NumPy can."""
        if not self.printed(s):
            if not self.scalars.in_reverse:  # it would take long, and sums in another order
                raise CannotCompile("element by element what NumPy does at once")
            if isinstance(s, ForAll):
                self.one_by_one(s)
            else:
                self.materialize(all_mentioned(s))
                self.block(as_loops(s, self.kinds, self.arrays))

    def printed(self, s: ForAll | Reduce | Places) -> bool:
        """Print a statement for all indices, if NumPy can do it at once."""
        start, pending = len(self.lines), dict(self.pending)
        inner = s.body if isinstance(s, ForAll) else (s,)
        self.materialize(name for part in inner for name in arrays_read(part))
        self.materialize(names_in(s.extents))
        wholes = Wholes(self, s)
        try:
            if isinstance(s, Reduce):
                wholes.reduce()
            elif isinstance(s, Places):
                wholes.places()
            else:
                wholes.for_all(s.body)
        except OneByOne:
            del self.lines[start:]
            self.pending = pending
            return False
        return True

    def at_once(self, s: For) -> bool:
        """Print a loop as a statement for all indices, where passes may run in any order."""
        counters: list[str] = []
        extents: list[Expr] = []
        body: Block = (s,)
        while len(body) == 1 and isinstance(body[0], For):
            n = passes_in_any_order(body[0])
            if n is None or names_in((n,)) & {*counters}:
                return False
            counters.append(body[0].name)
            extents.append(n)
            body = body[0].body
        if not self.are_apart(body):
            return False
        return self.printed(ForAll(tuple(counters), tuple(extents), body, place=s.place))

    def are_apart(self, body: Block) -> bool:
        """Return True if the passes of a loop ask, or add to what they do not read."""
        if all(isinstance(s, Check) for s in body):
            return True
        if not self.scalars.in_reverse:  # where the order of sums counts
            return adds_to_elements(body)
        read: set[str] = set()
        written: set[str] = set()
        for s in body:
            if isinstance(s, Bump):
                written.add(part_of(s.target))
                read |= names_in((s.value, *(getattr(s.target, "index", ()))))
            elif isinstance(s, Let):
                read |= names_in((s.value,))
            else:
                return False
        return written.isdisjoint(read)

    def one_by_one(self, s: ForAll) -> None:
        """Print loops over numbers."""
        parts = [p for b in s.body for e in expressions_in(b) for p in walk(e)]
        if any(isinstance(b, Push) for b in s.body) or any(isinstance(p, Pop) for p in parts):
            raise CannotCompile("what is saved in loops in text of NumPy")
        self.materialize(all_mentioned(s))
        for k, n in zip(s.counters, s.extents, strict=True):
            self.line(f"for {self.scalars.name(k)} in range({self.scalars.text(n)}):")
            self.depth += 1
        for b in s.body:
            self.statement(b)
        self.depth -= len(s.counters)

    def statement(self, s: Statement) -> None:
        """Print a statement on numbers, or with blocks."""
        text = self.scalars.text
        match s:
            case Assign(target=target, value=value):
                self.assigned(target, value)
            case Let(name=name, value=value) | Count(name=name, value=value):
                self.assigned(Name(name), value)
            case Bump(target=target, value=Op(op="neg", args=(value,))):
                self.line(f"{text(target)} -= {text(value)}")
            case Bump(target=target, value=value):
                self.line(f"{text(target)} += {text(value)}")
            case Push(value=value):
                self.line(f"push({text(value)})")
            case Check(test=test):
                if not self.is_known(test):
                    self.line(f"if not {text(test)}: raise {self.scalars.texts.function(Leave)}")
            case Grow(name=name, least=least):
                f = self.scalars.texts.function(grown)
                array = self.scalars.name(name)
                self.line(f"{array} = {f}({array}, {text(least)})")
                self.defined(name)
            case Apply(function=f, target=target, operands=operands):
                if f not in SYSTEMS:
                    raise CannotCompile("a function of matrices in text of NumPy")
                names = ", ".join(map(self.scalars.name, (target, *operands)))
                call = f"{self.scalars.texts.function(SYSTEMS[f])}({names})"
                self.line(f"if not {call}: raise {self.scalars.texts.function(Leave)}")
            case For(name=name, range=Op(args=bounds), body=body):
                steps = ", ".join(map(text, bounds))
                asked = self.ask_before(s)
                self.line(f"for {self.scalars.name(name)} in range({steps}):")
                is_own = self.writes[name] == 1
                self.counters |= {name} if is_own else set()
                outer, self.scalars.extents = self.scalars.extents, self.defining.extents(s)
                self.nested(body)
                self.scalars.extents = outer
                self.counters.discard(name)
                self.asked -= asked
            case While(test=test, body=body):
                self.line(f"while {text(test)}:")
                self.nested(body)
            case If(test=test, body=body, orelse=orelse):
                self.line(f"if {text(test)}:")
                self.nested(body)
                if orelse:
                    self.line("else:")
                    self.nested(orelse)
            case Break():
                self.line("break")
            case _:
                raise CannotCompile(f"{type(s).__name__} in text of NumPy")

    def ask_before(self, loop: For) -> set[Expr]:
        """Ask before a loop all tests that no pass changes; return those not asked before.

        It leaves where such a test fails though there is no pass: that is right, too.
        """
        bound = {loop.name}
        for s in statements(loop.body):
            bound.update(() if is_store(s) else bound_by(s))
        asked: set[Expr] = set()
        for s in asked_always(loop.body):
            if s.test in self.asked or not bound.isdisjoint(names_in((s.test,))):
                continue
            if not any(isinstance(part, Load) for part in walk(s.test)):
                self.statement(s)
                self.asked.add(s.test)
                asked.add(s.test)
        return asked

    def is_known(self, test: Expr) -> bool:
        """Return True for what was asked before, or what ints of Python need not be asked."""
        if test in self.asked:
            return True
        match test:
            case Compare(ops=("ne",), args=(Const(value=a), Const(value=b))):
                return a != b
            case Compare(ops=("lt",), args=(Op(op="abs", args=(size,)), Const(value=limit))):
                return limit == EXACT and names_in((size,)) <= self.counters
        return False

    def assigned(self, target: Any, value: Expr) -> None:
        """Print an assignment of a number, unless it is a copy that nobody reads."""
        is_copy = isinstance(target, Name) and isinstance(value, Name | Const)
        if is_copy and not self.reads[target.name]:
            return
        text = self.scalars.text(value)
        kind = self.kinds.get(part_of(target), FLOAT)
        own = kind_of(value, self.kinds)
        if kind == FLOAT and own != FLOAT and not isinstance(value, Pop):
            text = (
                repr(float(value.value))
                if isinstance(value, Const) and value.value is not None
                else f"float({text})"
            )
        elif kind == INT and own == BOOL:
            text = f"int({text})"
        self.line(f"{self.scalars.text(target)} = {text}")
