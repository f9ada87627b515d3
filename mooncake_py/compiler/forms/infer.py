"""Type inference: the numbers of a region get the types that the user's code would see.

Before: any block.  After: each `Assign` has the type of its value; where a name may be of two
types in the end, a flag tells of which it is, kept by ``Count(flag_of(name), Const(number))``
after each `Assign` to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.compiler.derivatives.declared import SMALL
from mooncake_py.compiler.derivatives.number_functions import MAKE_INTS
from mooncake_py.compiler.regions.flat import TO_FLOATS, TO_INTS
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Compare,
    Const,
    Count,
    End,
    Expr,
    For,
    If,
    Let,
    Load,
    Name,
    Op,
    Select,
    Statement,
    While,
    parts_of,
    statements,
    walk,
    with_blocks,
)
from mooncake_py.compiler.regions.region import Region

__all__ = [
    "FLAGS",
    "FLOAT",
    "FLOAT64",
    "INT",
    "INT32",
    "INT64",
    "MIXED",
    "Types",
    "flag_of",
    "infer",
]

INT, FLOAT, FLOAT64 = "int", "float", "float64"
INT64, INT32 = "int64", "int32"
BOOL, NUMPY_BOOL, NONE, TEXT = "bool", "bool_", "None", "str"
ITEMS = {FLOAT64: FLOAT, INT64: INT, INT32: INT, NUMPY_BOOL: BOOL}
OF_NUMPY = frozenset({INT64, INT32})  # ints, as elements of arrays are
TOLD = frozenset({BOOL, NUMPY_BOOL, NONE, TEXT})  # what tests ask, and nothing computes with
ALONE = OF_NUMPY | TOLD  # a name of such a type has no other one
MIXED = "mixed"  # it depends on how often a loop runs, or on the branch that was taken
FLAGS = {INT: 0, FLOAT: 1, FLOAT64: 2}
COMPENSATES = sys.version_info >= (3, 12)
"""Whether the builtin `sum` compensates rounding errors of Python's floats."""
Kinds = frozenset[str]
Env = dict[str, Kinds]
NO_KINDS: Kinds = frozenset()
ONE_INT, ONE_FLOAT, ONE_FLOAT64 = (frozenset({kind}) for kind in (INT, FLOAT, FLOAT64))


CONSTANTS: dict[type, Kinds] = {float: ONE_FLOAT, bool: frozenset({BOOL})}


class Types(NamedTuple):
    """The types inferred for given inputs.

    Attributes
    ----------
    body : Block
        With types and flags.
    after : dict of str to str
        The types of what the region binds, after it.
    flagged : tuple of str
        The results of which a flag tells the type.
    appended : dict of str to str
        The types of what is appended to lists whose items are not known.
    """

    body: Block
    after: dict[str, str]
    flagged: tuple[str, ...]
    appended: dict[str, str]


def infer(region: Region, kinds: Mapping[str, str]) -> Types | None:
    """Infer the types of a region, or return None where they cannot be told.

    Parameters
    ----------
    region : Region
        The functions that it calls are known.
    kinds : dict of str to str
        The types of the inputs that are numbers, and of the items of lists.
    """
    found = _Inference(region, kinds)
    after = {name: only(types) for name, types in found.after.items()}
    if not after.keys() >= region.bound.keys() - region.like.keys():
        return None  # a name that is bound in a branch which is never taken
    results = tuple(
        sorted(name for name in region.bound if name not in region.like and after[name] == MIXED)
    )
    flagged = found.sources(region.body, set(results))
    mixes = any(  # a list keeps what is stored as it is
        array not in region.like and found.results[id(s)] != {kinds[array]}
        for array, s in stores(region)
        if array in kinds
    )
    unclear = any(after[name] == MIXED for name in region.counts) or any(
        map(is_unclear, found.after.values())
    )
    if COMPENSATES and any(FLOAT in found.results[id(s)] for s in sums_of(region)):
        return None
    unclear |= any(  # one that is now a number, now a truth
        name_of(s) in flagged and not FLAGS.keys() >= found.results[id(s)]
        for s in statements(region.body)
        if isinstance(s, Assign | Let)
    )
    unknown = region.grown - kinds.keys()
    appended = {array: found.appended(region, array) for array in unknown}
    if found.is_unclear or unclear or mixes or not FLAGS.keys() >= set(appended.values()):
        return None
    first = tuple(
        Count(flag_of(name), Const(FLAGS[kinds[name]])) for name in sorted(flagged) if name in kinds
    )
    return Types((*first, *found.annotated(region.body, flagged)), after, results, appended)


def flag_of(name: str) -> str:
    """Return the name of the flag that tells of which type a name is."""
    return f"k_{name}"


class _Inference:
    """Goes through a region until nothing new is found.

    Attributes
    ----------
    results : dict of int to Kinds
        By the id of an `Assign` or a `Let`: the types that the value may have.
    read : dict of int to Env
        By the same: the types of the names that the value is made of.
    items : dict of str to Kinds
        The types of the items of lists.
    after : dict of str to Kinds
        By name, after the region.
    is_unclear : bool
        Whether an operation may be one of ints alone of which another type comes out than here.
    """

    is_unclear = False

    def __init__(self, region: Region, kinds: Mapping[str, str]) -> None:
        self.like = region.like
        self.results: dict[int, Kinds] = {}
        self.read: dict[int, Env] = {}
        given = {name: frozenset({kind}) for name, kind in kinds.items()}
        self.items = {name: given[name] for name in region.arrays if name in given}
        while True:
            known = dict(self.results)
            env = self.run(region.body[:-1], given)
            loop = region.loop
            # Where `for` does not run at all, the region is not tried: see `site`.
            self.after = (
                self.repeated(loop, env) if isinstance(loop, For) else (self.run((loop,), env))
            )
            if self.results == known:
                break

    def run(self, block: Block, env: Env) -> Env:
        """Return the types after a block."""
        for s in block:
            match s:
                case Assign() | Let():
                    result = self.result(s, env)
                    self.results[id(s)] = self.results.get(id(s), NO_KINDS) | result
                    names = {e.name: env[e.name] for e in walk(s.value) if isinstance(e, Name)}
                    self.read[id(s)] = joined(self.read.get(id(s), {}), names)
                    if isinstance(s, Let):
                        env[s.name] = result
                    elif isinstance(s.target, Name):
                        env[s.target.name] = result
                case Count():
                    env[s.name] = self.type_of_count(s.value, env)
                case If():
                    env = joined(self.run(s.body, dict(env)), self.run(s.orelse, dict(env)))
                case For() | While():
                    env = joined(env, self.repeated(s, env))
        return env

    def type_of_count(self, e: Expr, env: Env) -> Kinds:
        """Return the type of an int: an element may be one of NumPy."""
        if isinstance(e, Load):
            return self.items.get(e.array, ONE_INT)
        return env[e.name] if isinstance(e, Name) else ONE_INT

    def repeated(self, loop: For | While, env: Env) -> Env:
        """Return the types after a loop that runs at least once."""
        counter = {loop.name: ONE_INT} if isinstance(loop, For) else {}
        while True:
            after = self.run(loop.body, {**env, **counter})
            again = joined(env, after)
            if again == env:
                return after
            env = again

    def appended(self, region: Region, array: str) -> str:
        """Return the type of the floats that are appended to a list, or of the ints without any.

        Ints are told from floats in the end.  For tangents see `Region`.
        """
        own = region.like.get(array, array)
        found = NO_KINDS.union(*[self.results[id(s)] for a, s in stores(region) if a == own])
        return only(found - ONE_INT or found)

    def result(self, s: Assign | Let, env: Env) -> Kinds:
        """Return the types that the value of a statement may have; for tangents see `Region`."""
        if isinstance(s, Assign) and isinstance(s.target, Name) and s.target.name in self.like:
            return ONE_FLOAT
        if isinstance(s, Assign) and isinstance(s.target, Load):
            self.look_at_index(s.target, env)
        found = self.types_of(s.value, env)
        self.is_unclear |= is_unclear(found)
        return found

    def look_at_index(self, element: Load, env: Env) -> None:
        """Note an index that may be a truth, which is a mask to NumPy."""
        self.is_unclear |= any(not TOLD.isdisjoint(self.types_of(i, env)) for i in element.index)

    def types_of(self, e: Expr, env: Env) -> Kinds:
        """Return the types that the value of an expression may have."""
        match e:
            case Const(value=value):
                return CONSTANTS.get(type(value), ONE_INT)
            case Name(name=name):
                self.is_unclear |= is_unclear(env[name])
                return env[name]
            case Load(array=array):
                self.look_at_index(e, env)
                return self.items.get(array, ONE_FLOAT64)
            case Select(a=a, b=b):
                return self.types_of(a, env) | self.types_of(b, env)
            case Call(function=f, args=args):
                kinds = [self.types_of(a, env) for a in args]
                if any(f is flat for flat in TO_INTS):
                    self.is_unclear |= not OF_NUMPY.isdisjoint(kinds[0])
                    return ONE_INT
                self.is_unclear |= makes_ints(f) and may_be_ints(kinds)
                self.is_unclear |= not all(map(TOLD.isdisjoint, kinds))
                return ONE_FLOAT64 if type(f) is np.ufunc else ONE_FLOAT
            case Compare(args=args):
                return self.type_of_test([self.types_of(a, env) for a in args])
            case Op(op="int"):
                return ONE_INT
            case Op(op="float"):
                return ONE_FLOAT
            case Op(op="item", args=(a,)):
                return frozenset(ITEMS.get(kind, kind) for kind in self.types_of(a, env))
            case Op(op=op, args=args):
                kinds = [self.types_of(a, env) for a in args]
                if op == "pow" and may_be_ints(kinds):
                    self.is_unclear |= not is_small(args[1])
                found = combined(op, kinds)
                self.is_unclear |= not ALONE.isdisjoint(found)
                return ONE_INT if op == "round" else found
        return ONE_INT

    def type_of_test(self, kinds: list[Kinds]) -> Kinds:
        """Return the type of a comparison: that of NumPy if an operand is one of NumPy."""
        of_numpy = OF_NUMPY | {FLOAT64}
        if any(of_numpy.issuperset(kind) for kind in kinds):
            return frozenset({NUMPY_BOOL})
        self.is_unclear |= not all(map(of_numpy.isdisjoint, kinds))
        return frozenset({BOOL})

    def sources(self, body: Block, flagged: set[str]) -> set[str]:
        """Return names with all those of several types that decide of which types they are."""
        found = set(flagged)
        while True:
            more = {
                name
                for s in statements(body)
                if isinstance(s, Assign | Let)
                if name_of(s) in found and len(self.results[id(s)]) > 1
                for name, kinds in self.read[id(s)].items()
                if len(kinds) > 1
            }
            if more <= found:
                return found
            found |= more

    def annotated(self, block: Block, flagged: set[str]) -> Block:
        """Return a block with types and flags."""
        result: list[Statement] = []
        for s in block:
            if not isinstance(s, Assign | Let):
                result.append(with_blocks(s, lambda inner: self.annotated(inner, flagged)))
                continue
            name = name_of(s)
            flag = self.flag(s, s.value) if name in flagged else None
            if isinstance(s, Assign):
                kind = only(self.results[id(s)])
                s = Assign(s.target, s.value, kind, place=s.place)
            if flag is not None:  # first, as it may read what the name is bound to before
                result.append(Count(flag_of(name), flag, place=s.place))
            result.append(s)
        return tuple(result)

    def flag(self, s: Assign | Let, e: Expr) -> Expr:
        """Return the flag of the value of an expression: the largest of its operands, mostly."""
        kinds = self.types_of(e, self.read[id(s)])
        if len(kinds) == 1:
            return Const(FLAGS[only(kinds)], place=s.place)
        match e:
            case Name(name=name):
                return Name(flag_of(name), place=s.place)
            case Select(test=test, a=a, b=b):
                return Select(test, self.flag(s, a), self.flag(s, b), place=s.place)
        least = (Const(FLAGS[FLOAT]),) if isinstance(e, Op) and e.op == "truediv" else ()
        parts = [self.flag(s, part) for part in parts_of(e)]
        flags = tuple(dict.fromkeys((*least, *parts)))
        return flags[0] if len(flags) == 1 else Op("max", flags, place=s.place)


def is_unclear(kinds: Kinds) -> bool:
    """Return True if a value may be of a type that must be the only one, or of another one."""
    return len(kinds) > 1 and not ALONE.isdisjoint(kinds)


def may_be_ints(kinds: list[Kinds]) -> bool:
    """Return True if all operands may be ints."""
    return not any({INT, INT64, INT32}.isdisjoint(kind) for kind in kinds)


def makes_ints(f: Any) -> bool:
    """Return True if a function of NumPy makes ints of ints."""
    return f in MAKE_INTS or any(f is flat for flat in TO_FLOATS)


def is_small(exponent: Expr) -> bool:
    """Return True for an exponent with which powers of ints are ints."""
    return isinstance(exponent, Const) and exponent.value in SMALL


def name_of(s: Assign | Let) -> str:
    """Return the name that a statement binds; an empty text for an element."""
    if isinstance(s, Let):
        return s.name
    return s.target.name if isinstance(s.target, Name) else ""


def stores(region: Region) -> Iterator[tuple[str, Assign]]:
    """Yield the assignments to elements and to ends, each after its array."""
    for s in statements(region.body):
        if isinstance(s, Assign) and isinstance(s.target, Load | End):
            yield s.target.array, s


def sums_of(region: Region) -> Iterator[Assign]:
    """Yield the assignments to names of sums."""
    for s in statements(region.body):
        if isinstance(s, Assign) and isinstance(s.target, Name) and s.target.name in region.sums:
            yield s


def combined(op: str, kinds: list[Kinds]) -> Kinds:
    """Return the types that the result of an operator may have."""
    found = set()
    for choice in product(*kinds):
        if not TOLD.isdisjoint(choice):
            found.add(BOOL)
            continue
        of_numpy = not OF_NUMPY.isdisjoint(choice)
        if FLOAT64 in choice or (of_numpy and (op == "truediv" or FLOAT in choice)):
            found.add(FLOAT64)
        elif of_numpy:
            found.add(INT64)
        else:
            found.add(FLOAT if op == "truediv" or FLOAT in choice else INT)
    return frozenset(found)


def joined(a: Env, b: Env) -> Env:
    """Return the types where either may be; a name that one side lacks is that of the other."""
    return {name: a.get(name, NO_KINDS) | b.get(name, NO_KINDS) for name in {**a, **b}}


def of_operand(kinds: Kinds) -> str:
    """Return the type of a number next to slices: there is one of floats."""
    return FLOAT if kinds <= {FLOAT, FLOAT64} else only(kinds)


def only(kinds: Kinds) -> str:
    """Return the type where there is one, else `MIXED`."""
    return next(iter(kinds)) if len(kinds) == 1 else MIXED
