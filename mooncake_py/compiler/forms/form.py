"""The code that runs for a region, for given types, activity and memory of its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.adjoint import adjoint
from mooncake_py.compiler.derivatives.domains import guarded
from mooncake_py.compiler.derivatives.partials import NoPartial, can_be_called
from mooncake_py.compiler.derivatives.sweeps import Sweeps
from mooncake_py.compiler.forms.infer import INT, Types, flag_of, infer
from mooncake_py.compiler.forms.known_tests import with_known_tests
from mooncake_py.compiler.forms.quotients import with_quotients
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import (
    STEPS,
    Assign,
    Block,
    Bump,
    Call,
    Const,
    Count,
    Expr,
    For,
    If,
    Length,
    Load,
    Name,
    While,
    parts_of,
    rebuilt,
    statements,
    walk,
    with_blocks,
    with_test,
    with_value,
)
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.regions.simplify import expressions_of

__all__ = [
    "Form", "Pattern", "arrays_of", "bound_to", "inferred", "is_served",
    "lengths_of", "names_read", "specialise",
]  # fmt: skip


class Pattern(NamedTuple):
    """The key of a form; inputs that are numbers and arrays in their order.

    Attributes
    ----------
    functions : tuple of callable
    kinds : tuple of (str, bool)
        Of each number its type, and whether it is active.
    on : tuple of bool
        Of each array whether it is active.
    owners : tuple of int
        Of each array the first one that shares its memory.
    items : tuple of str
        Of each array that is a list the type of its items, else empty.
    """

    functions: tuple[Any, ...]
    kinds: tuple[tuple[str, bool], ...]
    on: tuple[bool, ...]
    owners: tuple[int, ...]
    items: tuple[str, ...] = ()


class Form(NamedTuple):
    """The sweeps of a region for one pattern of its inputs.

    Attributes
    ----------
    forward, reverse : callable
    text : str
    lengths : tuple of Length
        What `forward` takes after the inputs.
    results : tuple of str
        What `forward` returns after ``z``: the names that the region binds, and all its ints.
    types : tuple of str
        Their types; `MIXED` where a flag is returned behind them that tells.
    flags : tuple of str
        For each result the name whose flag it is, if its type is mixed.
    flagged : tuple of str
        The names that have a flag.
    steady : tuple of str
        The numbers and lengths among what is given that `reverse` takes.
    counts : tuple of str
        The bound ints that `reverse` takes, as they are in the end.
    read : tuple of str
        The arrays that `reverse` reads.
    shadows : tuple of str
        The active arrays.
    outputs, leaves : tuple of str
        The active names that the region binds, and those among its inputs.
    appended : dict of str to str
        Of each list that grows, and of which the types of the items are not known before, the type
        of what is appended.
    """

    forward: Any
    reverse: Any
    text: str
    lengths: tuple[Length, ...]
    results: tuple[str, ...]
    types: tuple[str, ...]
    flags: tuple[str, ...]
    flagged: tuple[str, ...]
    steady: tuple[str, ...]
    counts: tuple[str, ...]
    read: tuple[str, ...]
    shadows: tuple[str, ...]
    outputs: tuple[str, ...]
    leaves: tuple[str, ...]
    appended: Mapping[str, str] = MappingProxyType({})


class Special(NamedTuple):
    """A region whose functions and types are known.

    Attributes
    ----------
    region : Region
    types : Types
    given, active, fixed : set of str
        The inputs that are active, all that is, and what nothing changes.
    groups : dict of str to int
        For each array the first one that shares its memory.
    """

    region: Region
    types: Types
    given: set[str]
    active: set[str]
    fixed: set[str]
    groups: dict[str, int]


def specialise(region: Region, pattern: Pattern) -> Form | None:
    """Return the form of a region for a pattern, or None if there is none."""
    found = inferred(region, pattern)
    if found is None:
        return None
    try:
        sweeps = adjoint(found.types.body, found.active, found.fixed, found.region.counts)
    except NoPartial:
        return None
    return written(found, sweeps, Emitter())


def inferred(region: Region, pattern: Pattern) -> Special | None:
    """Return a region with what follows from a pattern, or None if it has no form."""
    if not is_served(region, pattern.functions):
        return None
    region = bound_to(region, pattern.functions)
    numbers = [name for name in region.inputs if name not in region.arrays]
    kinds = {name: kind for name, (kind, _) in zip(numbers, pattern.kinds, strict=True)}
    lists = zip(arrays_of(region), pattern.items, strict=False)
    kinds |= {name: kind for name, kind in lists if kind}
    steady = {name: kind for name, kind in kinds.items() if name not in region.bound}
    ints = region.counts | {name for name, kind in steady.items() if kind == INT}
    body = with_quotients(with_known_tests(region.body, steady), ints)
    region = replace(region, body=guarded(body))
    types = infer(region, kinds)
    groups = dict(zip(arrays_of(region), pattern.owners, strict=True))
    if types is None or not is_one_type(types.appended, groups):
        return None
    given = {name for name, (_, on) in zip(numbers, pattern.kinds, strict=True) if on}
    given |= {array for array, on in zip(arrays_of(region), pattern.on, strict=True) if on}
    active = active_parts(region.body, given, groups)
    return Special(region, types, given, active, fixed_parts(region, groups), groups)


def is_one_type(appended: Mapping[str, str], groups: Mapping[str, Any]) -> bool:
    """Return True if numbers of one type are appended to each list, by any of its names."""
    return len({(groups[name], kind) for name, kind in appended.items()}) == len(
        {groups[name] for name in appended}
    )


def is_served(region: Region, functions: Sequence[Any]) -> bool:
    """Return True if a region calls nothing but functions that can be called on floats."""
    return all(
        type(e.function) is not int or can_be_called(functions[e.function], len(e.args))
        for e in calls_of(region.body)
    )


def arrays_of(region: Region) -> list[str]:
    """Return the arrays of a region in the order of the inputs."""
    return [name for name in region.inputs if name in region.arrays]


def fixed_parts(region: Region, groups: Mapping[str, Any]) -> set[str]:
    """Return the inputs that nothing in a region changes, by any name of their memory."""
    changed = {groups[array] for array in region.written() | region.grown}
    numbers = {name for name in region.inputs if name not in region.arrays}
    arrays = {a for a in groups if groups[a] not in changed}
    return arrays | (numbers - region.bound.keys())


def written(special: Special, sweeps: Sweeps, emitter: Emitter) -> Form:
    """Return the form of a region whose sweeps are known."""
    region, types, given, active, *_ = special
    numbers = [name for name in region.inputs if name not in region.arrays]
    lengths = lengths_of(sweeps.forward)
    results = tuple(sorted((region.bound.keys() | region.counts) - region.arrays.keys()))
    outputs = tuple(name for name in results if name in active)
    leaves = tuple(name for name in numbers if name in given)
    arrays = arrays_of(region)
    shadows = tuple(array for array in arrays if array in active)
    loose = [name for name in sorted(region.counts) if name not in region.inputs]
    forward = (
        Assign(Name("z"), Const(0.0)),
        *(Count(name, Const(None if name in region.bound else 0)) for name in loose),
        *sweeps.forward,
    )
    inputs = [*region.inputs, *(length.name for length in lengths)]
    text = emitter.function(
        "forward",
        ["push", "push_int", STEPS, *inputs],
        forward,
        ["z", *results, *map(flag_of, types.flagged)],
    )
    initial = sorted(f"d_{name}" for name in active - region.arrays.keys() - set(outputs))
    reverse = (*(Assign(Name(name), Const(0.0)) for name in initial), *sweeps.reverse)
    needed = set(names_read(reverse))
    steady = tuple(
        name
        for name in (*numbers, *(length.name for length in lengths))
        if name in needed and name not in region.bound
    )
    counts = tuple(name for name in sorted(region.counts) if name in needed)
    read = tuple(array for array in arrays if array in needed)
    text += emitter.function(
        "reverse",
        ["pop", "pop_int", STEPS, *steady, *counts, *read, *(f"d_{a}" for a in shadows),
         *(f"d_{name}" for name in outputs)],
        reverse, [f"d_{name}" for name in leaves],
    )  # fmt: skip
    made = define(text, emitter.scope)
    own = [region.like.get(name, name) for name in results]
    return Form(
        made["forward"], made["reverse"], text, lengths, results,
        tuple(types.after[name] for name in own), tuple(own), types.flagged, steady, counts, read,
        shadows, outputs, leaves, types.appended,
    )  # fmt: skip


# Constructs made of blocks.


def expressions(block: Block) -> Iterator[Expr]:
    """Yield the expressions of a block, whole."""
    for s in statements(block):
        yield from expressions_of(s)
        if isinstance(s, Assign | Bump):
            yield s.target
        elif isinstance(s, For):
            yield s.range
        elif isinstance(s, While | If):
            yield s.test


def names_read(block: Block) -> Iterator[str]:
    """Yield the names, arrays and lengths that a block reads or writes."""
    for e in expressions(block):
        for part in walk(e):
            if isinstance(part, Name | Length):
                yield part.name
            elif isinstance(part, Load):
                yield part.array
    for s in statements(block):
        if isinstance(s, Count):
            yield s.name


def lengths_of(block: Block) -> tuple[Length, ...]:
    """Return the lengths that a block reads, each once."""
    found = {part for e in expressions(block) for part in walk(e) if isinstance(part, Length)}
    return tuple(sorted(found, key=lambda length: length.name))


def calls_of(block: Block) -> Iterator[Call]:
    """Yield the calls in a block."""
    for e in expressions(block):
        for part in walk(e):
            if isinstance(part, Call):
                yield part


def bound_to(region: Region, functions: Sequence[Any]) -> Region:
    """Return a region with functions in the place of their numbers."""

    def known(e: Expr) -> Expr:
        parts = parts_of(e)
        if parts:
            e = rebuilt(e, tuple(map(known, parts)))
        if isinstance(e, Call) and type(e.function) is int:
            return Call(functions[e.function], e.args, place=e.place)
        return e

    def bind(block: Block) -> Block:
        return tuple([with_test(with_value(with_blocks(s, bind), known), known) for s in block])

    return replace(region, body=bind(region.body)) if functions else region
