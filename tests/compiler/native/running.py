"""An interpreter of regions and of their sweeps, one node at a time: slow, and simple."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import (
    Alloc,
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
    Pop,
    Push,
    Select,
    Statement,
    Target,
    While,
)

__all__ = ["Left", "Machine"]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": max, "min": min, "abs": abs, "int": int, "float": float, "round": round,
    "range": range, "not": operator.not_, "times": lambda a, b: 0.0 if a == 0.0 else a * b,
}  # fmt: skip
DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_}


class Left(Exception):
    """A check failed: the region was left."""


class Stop(Exception):
    """A ``break``."""


class Machine:
    """Runs blocks.

    Parameters
    ----------
    scope : dict
        Numbers and arrays by name, read and written.
    stack : list
        What was pushed.  What a loop over counters pops it pops in the order in which such a
        loop pushed it.
    """

    def __init__(self, scope: dict[str, Any], stack: list[float]) -> None:
        self.scope = scope
        self.stack = stack
        self.block_of_pops: list[float] | None = None

    def run(self, block: Block) -> None:
        """Run statements."""
        with np.errstate(all="ignore"):
            self.block(block)

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        value = self.value
        match s:
            case Assign(target=target):
                self.store(target, value(s.value))
            case Let(name=name) | Count(name=name):
                self.scope[name] = value(s.value)
            case Bump(target=target):
                more = value(s.value)
                self.store(target, value(target) + more)
            case Push(value=Name(name=name)):  # a name may have no value yet
                self.stack.append(self.scope.get(name, 0.0))
            case Push():
                self.stack.append(value(s.value))
            case Check(test=test):
                if not value(test):
                    raise Left
            case Alloc():
                shape = tuple(map(value, s.shape))
                nothing = 0 if s.zero else {"float": np.nan, "int": 12345678, "bool": True}[s.kind]
                self.scope[s.name] = np.full(shape, nothing, DTYPES[s.kind])
            case Grow():
                a = self.scope[s.name]
                if a.size < value(s.least):
                    more = np.full(value(s.least) + 3, 12345678, a.dtype)
                    more[: a.size] = a
                    self.scope[s.name] = more
            case If():
                self.block(s.body if value(s.test) else s.orelse)
            case For() | While():
                self.repeat(s)
            case ForAll():
                self.all(s)
            case Break():
                raise Stop
            case _:
                raise TypeError(s)

    def repeat(self, s: For | While) -> None:
        try:
            if isinstance(s, While):
                while self.value(s.test):
                    self.block(s.body)
                return
            assert isinstance(s.range, Op)
            for k in range(*[int(self.value(e)) for e in s.range.args]):
                self.scope[s.name] = k
                self.block(s.body)
        except Stop:
            pass

    def all(self, s: ForAll) -> None:
        extents = [self.value(e) for e in s.extents]
        pops = any(isinstance(x, Assign | Count) and has_pop(x.value) for x in s.body)
        if pops:
            size = int(np.prod(extents))
            self.block_of_pops = self.stack[len(self.stack) - size :]
            del self.stack[len(self.stack) - size :]
        for place in np.ndindex(*extents):
            self.scope.update(zip(s.counters, place, strict=True))
            self.block(s.body)
        for counter in s.counters:
            self.scope.pop(counter, None)
        if pops:
            assert not self.block_of_pops
            self.block_of_pops = None

    def store(self, target: Target, value: Any) -> None:
        if isinstance(target, Name):
            self.scope[target.name] = value
        else:
            index = tuple(map(self.value, target.index))
            assert all(i >= 0 for i in index)
            self.scope[target.array][index] = value

    def value(self, e: Expr) -> Any:
        match e:
            case Const(value=value):
                return np.float64(value) if isinstance(value, float) else value
            case Name(name=name):
                return self.scope[name]
            case Load(array=array, index=index):
                where = tuple(map(self.value, index))
                assert all(i >= 0 for i in where)
                return self.scope[array][where]
            case Length(array=array, axis=axis):
                return self.scope[array].shape[axis]
            case Pop():
                return self.stack.pop() if self.block_of_pops is None else self.block_of_pops.pop(0)
            case Call(function=f, args=args):
                try:
                    return f(*map(self.value, args))
                except (ValueError, OverflowError):  # of math, which Numba does not raise
                    return np.nan
            case Select(test=test, a=a, b=b):
                return self.value(a) if self.value(test) else self.value(b)
            case Compare(ops=ops, args=args):
                given = list(map(self.value, args))
                return all(
                    getattr(operator, op)(a, b)
                    for op, a, b in zip(ops, given, given[1:], strict=False)
                )
            case Op(op="and" | "or" as op, args=args):
                join = all if op == "and" else any
                return join(self.value(a) for a in args)
            case Op(op=op, args=args):
                f = FUNCTIONS.get(op) or getattr(operator, op)
                return f(*map(self.value, args))
        raise TypeError(e)


def has_pop(e: Expr) -> bool:
    """Return True for what is popped, as it is or as a bool."""
    return isinstance(e, Pop) or (isinstance(e, Compare) and isinstance(e.args[0], Pop))
