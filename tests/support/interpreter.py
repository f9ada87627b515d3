"""An interpreter of regions and of their sweeps, which knows nothing of how they are printed.

Each node becomes a function of the scope, a dict of numbers and arrays.  Numbers are those of
Python, and `numpy.float32`; as in machine code nothing raises: undefined results are nan.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from mooncake_py.compiler.native.nodes.node import Outside
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.kinds import Known, kind_of, widest
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import (
    INTS,
    Alloc,
    Apply,
    Assign,
    Block,
    Break,
    Bump,
    Call,
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
    Select,
    Statement,
    Target,
    While,
    statements,
)
from tests.support import interpreted_wholes
from tests.support.interpreted_numbers import (
    MAKES,
    UNSAFE,
    WRONG,
    Left,
    converted,
    grown_array,
    whole,
    without_errors,
)

__all__ = ["STACK", "TOP", "ZEROS", "Interpreter", "Scope"]

STACK, TOP = ".S", ".p"
"""The stack in the scope, and how many numbers are on it."""
EMPTY = np.empty(0)
ZEROS: dict[str, Any] = {FLOAT: 0.0, FLOAT32: np.float32(0.0), INT: 0, BOOL: False}


class Scope(dict[str, Any]):
    """Numbers and arrays by name; unbound names are zero of their kind.

    Parameters
    ----------
    kinds : mapping of str to str
    stack : ndarray, optional
    top : int, optional
        How many numbers are on it.
    """

    def __init__(self, kinds: Mapping[str, str], stack: Any = EMPTY, top: int = 0) -> None:
        self.kinds = kinds
        self[STACK], self[TOP] = stack, top

    def __missing__(self, name: str) -> Any:
        return ZEROS[self.kinds.get(name, FLOAT)]


Run = Callable[[Scope], Any]

DTYPES = {FLOAT: np.float64, FLOAT32: np.float32, INT: np.int64, BOOL: np.bool_}
NOTHING: dict[str, Any] = {FLOAT: math.nan, FLOAT32: math.nan, INT: 12345678, BOOL: True}
"""What new memory holds."""


class Interpreter:
    """Makes functions of the scope of what stands in one region.

    Parameters
    ----------
    kinds : mapping of str to str
        Of names and arrays; those that are missing are floats.
    asks : bool
        Whether the region is left where a function of arrays fails: the way back does not ask.
    """

    def __init__(self, kinds: Mapping[str, str], *, asks: bool = True) -> None:
        self.kinds = kinds
        self.asks = asks
        self._known: Known = {}

    # Statements: each returns whether a loop ends.

    def block(self, block: Block) -> Run:
        """Return a function that runs statements."""
        steps = [self.statement(s) for s in block]
        if len(steps) == 1:
            return steps[0]

        def run(scope: Scope) -> bool:
            for step in steps:  # noqa: SIM110, which takes half as long again
                if step(scope):
                    return True
            return False

        return run

    def statement(self, s: Statement) -> Run:
        """Return a function that runs a statement."""
        match s:
            case Assign(target=target, value=value):
                return self.store(target, value)
            case Let(name=name, value=value) | Count(name=name, value=value):
                return self.store(Name(name), value)
            case Bump(target=target, value=value):
                return self.store(target, Op("add", (target, value)))  # type: ignore[arg-type]
            case Push():
                return self.push(s)
            case Check(test=test):
                return self.check(test)
            case Alloc():
                return self.new(s)
            case Grow():
                return self.grown(s)
            case Apply():
                return self.applied(s)
            case If():
                return self.branch(s)
            case For():
                return self.over_range(s)
            case While():
                return self.repeated(s)
            case ForAll():
                return self.over_all(s)
            case Reduce():
                return interpreted_wholes.reduction(self, s)
            case Places():
                return interpreted_wholes.places(self, s)
            case Break():
                return lambda scope: True
        raise TypeError(s)

    def store(self, target: Target, value: Expr) -> Run:
        """Return a function that stores a number of the kind of its target."""
        found = self.as_kind(value, self.kind(target))
        match target:
            case Name(name=name):

                def bind(scope: Scope) -> None:
                    scope[name] = found(scope)

                return bind
            case Load(array=array):
                where = self.place(target)

                def write(scope: Scope) -> None:
                    value = found(scope)
                    scope[array][where(scope)] = value

                return write
        raise TypeError(target)

    def push(self, s: Push) -> Run:
        """Return a function that saves a number; the stack grows."""
        found = self.as_kind(s.value, INT if s.stack == INTS else FLOAT)
        if s.stack == INTS:
            whole = found

            def bits(scope: Scope) -> float:
                return helpers.as_bits(whole(scope))

            found = bits

        def save(scope: Scope) -> None:
            stack, top = scope[STACK], scope[TOP]
            value = found(scope)
            if top >= stack.size:
                stack = scope[STACK] = grown_array(stack, top + 1)
            stack[top] = value
            scope[TOP] = top + 1

        return save

    def check(self, test: Expr) -> Run:
        """Return a function that leaves the region unless a test holds."""
        holds = self.as_kind(test, BOOL)

        def leave(scope: Scope) -> None:
            if not holds(scope):
                raise Left

        return leave

    def new(self, s: Alloc) -> Run:
        """Return a function that makes an array."""
        shape = [self.as_kind(n, INT) for n in s.shape]
        name, dtype, value = s.name, DTYPES[s.kind], 0 if s.zero else NOTHING[s.kind]

        def make(scope: Scope) -> None:
            lengths = tuple([n(scope) for n in shape])
            if min(lengths, default=0) < 0:
                raise Left
            scope[name] = np.full(lengths, value, dtype)

        return make

    def grown(self, s: Grow) -> Run:
        """Return a function that makes room in an array."""
        name, least = s.name, self.as_kind(s.least, INT)

        def make(scope: Scope) -> None:
            n, a = least(scope), scope[name]
            if n > a.size:
                scope[name] = grown_array(a, n)

        return make

    def applied(self, s: Apply) -> Run:
        """Return a function that computes an array from others."""

        def compute(scope: Scope) -> None:
            done = s.function(scope[s.target], *[scope[a] for a in s.operands])
            if not done and (self.asks or isinstance(s.function, Outside)):
                raise Left

        return compute

    def branch(self, s: If) -> Run:
        """Return a function that runs one of two blocks."""
        test = self.as_kind(s.test, BOOL)
        body, orelse = self.block(s.body), self.block(s.orelse)
        return lambda scope: body(scope) if test(scope) else orelse(scope)

    def over_range(self, s: For) -> Run:
        """Return a function that runs a loop over a range."""
        assert isinstance(s.range, Op)
        name, body = s.name, self.block(s.body)
        bounds = [self.as_kind(e, INT) for e in s.range.args]

        def loop(scope: Scope) -> None:
            lo, hi, step = [e(scope) for e in bounds]
            if step == 0:
                raise Left
            for k in range(lo, hi, step):
                scope[name] = k
                if body(scope):
                    return

        return loop

    def repeated(self, s: While) -> Run:
        """Return a function that runs a loop while a test holds."""
        test, body = self.as_kind(s.test, BOOL), self.block(s.body)

        def loop(scope: Scope) -> None:
            while test(scope):
                if body(scope):
                    return

        return loop

    def over_all(self, s: ForAll) -> Run:
        """Return a function that runs loops over counters; a pass finds its values on the stack."""
        extents = [self.as_kind(n, INT) for n in s.extents]
        body, names = self.block(s.body), s.counters
        taken = sum(map(pops_in, s.body))
        given = sum(isinstance(inner, Push) for inner in statements(s.body))
        assert not (taken and given)

        def loop(scope: Scope) -> None:
            lengths = [n(scope) for n in extents]
            first = scope[TOP] - math.prod(lengths) * taken
            if min(lengths) <= 0:
                return
            for k, at in enumerate(product(*map(range, lengths)), 1):
                scope.update(zip(names, at, strict=True))
                if taken:
                    scope[TOP] = first + k * taken
                body(scope)
            if taken:
                scope[TOP] = first

        return loop

    # Kinds.

    def kind(self, e: Any) -> str:
        """Return the kind of an expression."""
        return kind_of(e, self.kinds, self._known)

    def common(self, args: tuple[Expr, ...]) -> str:
        """Return the kind to which expressions are promoted."""
        return widest(args, self.kinds, self._known)

    def as_kind(self, e: Expr, kind: str) -> Run:
        """Return a function that computes an expression as a number of a kind."""
        if isinstance(e, Const):
            value = None if e.value is None else converted(e.value, kind)  # it is not read
            return lambda scope: value
        found = self.value(e)
        if self.kind(e) == kind:
            return found
        if kind == INT:
            return lambda scope: whole(found(scope))
        make = MAKES[kind]
        return lambda scope: make(found(scope))

    # Expressions: each is computed as a number of its kind.

    def value(self, e: Expr) -> Run:
        """Return a function that computes an expression."""
        match e:
            case Const():
                return self.as_kind(e, self.kind(e))
            case Name(name=name):
                return operator.itemgetter(name)
            case Load():
                return self.element(e)
            case Length(array=array, axis=axis):
                return lambda scope: scope[array].shape[axis]
            case Pop(stack=stack):
                return take_int if stack == INTS else take
            case Select():
                kind = self.kind(e)
                test = self.as_kind(e.test, BOOL)
                a, b = self.as_kind(e.a, kind), self.as_kind(e.b, kind)
                return lambda scope: a(scope) if test(scope) else b(scope)
            case Compare():
                return self.comparison(e)
            case Call():
                return self.called(e)
            case Op():
                return self.operation(e)
        raise TypeError(e)

    def place(self, e: Load) -> Run:
        """Return a function that computes the index of an element, which is never negative."""
        if len(e.index) == 1:
            (only,) = map(self.index, e.index)
            return only
        parts = [self.index(i) for i in e.index]
        return lambda scope: tuple([part(scope) for part in parts])

    def index(self, e: Expr) -> Run:
        """Return a function that computes an index along one axis."""
        found = self.as_kind(e, INT)

        def checked(scope: Scope) -> int:
            i = found(scope)
            if i < 0:
                raise IndexError(f"{i}: {e}")
            return i

        return checked

    def element(self, e: Load) -> Run:
        """Return a function that reads an element."""
        array, where = e.array, self.place(e)
        if self.kind(e) == FLOAT32:
            return lambda scope: scope[array][where(scope)]
        return lambda scope: scope[array].item(where(scope))

    def comparison(self, e: Compare) -> Run:
        """Return a function that computes a chain of comparisons."""
        kind = self.common(e.args)
        first, *others = [self.as_kind(a, kind) for a in e.args]
        pairs = [(getattr(operator, op), f) for op, f in zip(e.ops, others, strict=True)]
        if len(pairs) == 1:
            ((compare, other),) = pairs
            return lambda scope: bool(compare(first(scope), other(scope)))

        def holds(scope: Scope) -> bool:
            before = first(scope)
            for compare, f in pairs:
                value = f(scope)
                if not compare(before, value):
                    return False
                before = value
            return True

        return holds

    def called(self, e: Call) -> Run:
        """Return a function that computes a call."""
        f, kind = e.function, self.kind(e)
        if f in (np.power, np.float_power) and self.common(e.args) in REAL:
            return self.operation(Op("pow", e.args))
        narrow = type(f) is np.ufunc and self.common(e.args) == FLOAT32
        args = [self.as_kind(a, FLOAT32) if narrow else self.value(a) for a in e.args]
        if f is helpers.as_int:
            (only,) = args
            return lambda scope: helpers.as_int(only(scope))

        def compute(scope: Scope) -> Any:
            given = [a(scope) for a in args]
            try:
                found = f(*given)
            except WRONG:
                found = without_errors(f, given)
            return converted(found, kind)

        return compute

    def operation(self, e: Op) -> Run:
        """Return a function that computes an operator, or a builtin."""
        kind, op, args = self.kind(e), e.op, e.args
        match op:
            case "pos" | "float" | "float32" | "int":
                return self.as_kind(args[0], kind)
            case "bool" | "not":
                test = self.as_kind(args[0], BOOL)
                return test if op == "bool" else lambda scope: not test(scope)
            case "and" | "or":
                return self.logic(op, args, kind)
            case "times":
                return self.called(Call(helpers.times, args))
            case "min" | "max":
                first, *others = [self.as_kind(a, kind) for a in args]
                find = min if op == "min" else max
                return lambda scope: find(first(scope), *[a(scope) for a in others])
            case "neg" | "abs":
                only, f = self.as_kind(args[0], kind), getattr(operator, op)
                return lambda scope: f(only(scope))
        f = UNSAFE.get(op) or getattr(operator, op)
        a, b = [self.as_kind(a, kind) for a in args]
        return lambda scope: f(a(scope), b(scope))

    def logic(self, op: str, args: tuple[Expr, ...], kind: str) -> Run:
        """Return a function that computes ``a and b and ...``, or the same with ``or``."""
        *before, last = [self.as_kind(a, kind) for a in args]
        ends = op == "or"

        def decide(scope: Scope) -> Any:
            for a in before:
                value = a(scope)
                if bool(value) is ends:
                    return value
            return last(scope)

        return decide


# The stack.


def take(scope: Scope) -> float:
    """Return the number that was saved last."""
    top = scope[TOP] = scope[TOP] - 1
    return scope[STACK].item(top)


def take_int(scope: Scope) -> int:
    """Return the int that was saved last."""
    return helpers.as_int(take(scope))


def pops_in(s: Statement) -> int:
    """Return how many numbers a statement of loops over counters takes."""
    values = [getattr(s, part, None) for part in ("value", "test")]
    return sum(pops_of(e) for e in values if e is not None)


def pops_of(e: Any) -> int:
    """Return how many numbers an expression takes."""
    if isinstance(e, Pop):
        return 1
    parts = getattr(e, "args", ()) or getattr(e, "index", ())
    if isinstance(e, Select):
        parts = e.test, e.a, e.b
    return sum(map(pops_of, parts))
