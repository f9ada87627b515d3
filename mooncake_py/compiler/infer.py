"""Types of the numbers of a region: what comes out is of the type that the user's code would see.

Before: any block.  After: each `Assign` has the type of its value; where a name may be of two
types in the end, a flag tells of which it is, kept by ``Count(flag_of(name), Const(number))``
after each `Assign` to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mooncake_py.compiler.ir import (
    Assign,
    Block,
    Call,
    Const,
    Count,
    Expr,
    For,
    If,
    Let,
    Load,
    Name,
    Op,
    Region,
    Select,
    Statement,
    While,
    statements,
    with_blocks,
)
from mooncake_py.forms.number_functions import PAIRS

__all__ = ["FLAGS", "FLOAT", "FLOAT64", "INT", "MIXED", "Types", "flag_of", "infer"]

INT, FLOAT, FLOAT64 = "int", "float", "float64"
MIXED = "mixed"  # it depends on how often a loop runs, or on the branch that was taken
FLAGS = {INT: 0, FLOAT: 1, FLOAT64: 2}
Env = dict[str, str]


class Types(NamedTuple):
    """What is inferred for given inputs.

    Attributes
    ----------
    body : Block
        With types and flags.
    after : dict of str to str
        The types of what the region binds, after it.
    flagged : tuple of str
        The names of which a flag tells the type.
    """

    body: Block
    after: Env
    flagged: tuple[str, ...]


def infer(region: Region, kinds: Mapping[str, str]) -> Types | None:
    """Infer the types of a region, or return None where they cannot be told.

    Parameters
    ----------
    region : Region
        The functions that it calls are known.
    kinds : dict of str to str
        The types of the inputs that are numbers.
    """
    found = _Inference(region, kinds)
    flagged = tuple(sorted(
        name for name in region.bound if name not in region.like and found.after[name] == MIXED
    ))
    unsure = any(
        found.results[id(s)] == MIXED and s.target.name in flagged
        for s in statements(region.body) if isinstance(s, Assign) and isinstance(s.target, Name)
    )
    if found.makes_ints or unsure:
        return None
    first = tuple(
        Count(flag_of(name), Const(FLAGS[kinds[name]])) for name in flagged if name in kinds
    )
    return Types((*first, *found.annotated(region.body, frozenset(flagged))), found.after, flagged)


def flag_of(name: str) -> str:
    """Return the name of the flag that tells of which type a name is."""
    return f"k_{name}"


class _Inference:
    """Goes through a region until nothing new is found.

    Attributes
    ----------
    results : dict of int to str
        By the id of an `Assign` or a `Let`: the type of the value.
    makes_ints : bool
        Whether a function of NumPy may be called with ints alone, and make one.
    """

    makes_ints = False

    def __init__(self, region: Region, kinds: Mapping[str, str]) -> None:
        self.like = region.like
        self.results: dict[int, str] = {}
        while True:
            known = dict(self.results)
            self.after = self.run(region.body[:-1], dict(kinds))
            # A loop that does not run leaves what it binds as it was; that is looked at only where
            # it is certain that `for` runs, see `site`.
            self.after = self.repeated(region.loop, self.after) if isinstance(
                region.loop, For
            ) else self.run((region.loop,), self.after)
            if self.results == known:
                break

    def run(self, block: Block, env: Env) -> Env:
        """Return the types after a block."""
        for s in block:
            match s:
                case Assign() | Let():
                    result = self.result(s, env)
                    self.results[id(s)] = joined(self.results.get(id(s)), result)
                    if isinstance(s, Let):
                        env[s.name] = result
                    elif isinstance(s.target, Name):
                        env[s.target.name] = result
                case Count():
                    env[s.name] = INT
                case If():
                    env = joined_all(self.run(s.body, dict(env)), self.run(s.orelse, dict(env)))
                case For() | While():
                    env = joined_all(env, self.repeated(s, env))
        return env

    def repeated(self, loop: For | While, env: Env) -> Env:
        """Return the types after a loop that runs at least once."""
        counter = {loop.name: INT} if isinstance(loop, For) else {}
        while True:
            after = self.run(loop.body, {**env, **counter})
            again = joined_all(env, after)
            if again == env:
                return after
            env = again

    def result(self, s: Assign | Let, env: Env) -> str:
        """Return the type of the value of a statement; for tangents see `Region.like`."""
        if isinstance(s, Assign) and isinstance(s.target, Name) and s.target.name in self.like:
            return FLOAT
        return self.type_of(s.value, env)

    def type_of(self, e: Expr, env: Env) -> str:
        """Return the type of an expression."""
        match e:
            case Const(value=value):
                return FLOAT if type(value) is float else INT
            case Name(name=name):
                return env[name]
            case Load():
                return FLOAT64
            case Select(a=a, b=b):
                return joined(self.type_of(a, env), self.type_of(b, env))
            case Call(function=f, args=args):
                if f in PAIRS and not {FLOAT, FLOAT64} & {self.type_of(a, env) for a in args}:
                    self.makes_ints = True
                return FLOAT64 if type(f) is np.ufunc else FLOAT
            case Op(op="int"):
                return INT
            case Op(op=op, args=args):
                return combined(op, [self.type_of(a, env) for a in args])
        return INT

    def annotated(self, block: Block, flagged: frozenset[str]) -> Block:
        """Return a block with types and flags."""
        result: list[Statement] = []
        for s in block:
            if not isinstance(s, Assign):
                result.append(with_blocks(s, lambda inner: self.annotated(inner, flagged)))
                continue
            kind = self.results[id(s)]
            result.append(Assign(s.target, s.value, kind, place=s.place))
            if isinstance(s.target, Name) and s.target.name in flagged:
                flag = Const(FLAGS[kind], place=s.place)
                result.append(Count(flag_of(s.target.name), flag, place=s.place))
        return tuple(result)


def combined(op: str, kinds: list[str]) -> str:
    """Return the type of the result of an operator."""
    for kind in (FLOAT64, MIXED):
        if kind in kinds:
            return kind
    return FLOAT if op == "truediv" or FLOAT in kinds else INT


def joined(a: str | None, b: str) -> str:
    """Return what two types have in common, where either may be."""
    return b if a is None or a == b else MIXED


def joined_all(a: Env, b: Env) -> Env:
    """Return the types where either may be; a name that one side lacks is that of the other."""
    return {name: joined(a.get(name), b[name]) if name in b else a[name] for name in {**a, **b}}
