"""Where the numbers are from that a cached function is given, or that a dict is read at.

Two equal numbers have one derivative if the same operations made them of the same numbers.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.containers.equality import UNKNOWN, Compared
from mooncake_py.rules.kinds import Like, Rule
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.mode_of import is_forward
from mooncake_py.runtime.pulls import STATES
from mooncake_py.runtime.users_code import is_own
from mooncake_py.tangents.bits import bits_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["NOTHING", "have_one_origin", "origins_of"]

NOTHING = object()
RECENT = 32  # entries of the tape that are looked through for where a number is from
DEEP = 8  # numbers that are made of one another
PLAIN = frozenset({int, float, str, bool, np.float64})
SIMPLE = PLAIN | {Active, type(None), FunctionType, slice, type(Ellipsis), np.ufunc}
NUMBERS = (int, float, complex, np.number, ndarray)


class Origin(NamedTuple):
    """The entry of the tape that made a number."""

    position: int
    entry: tuple[Any, ...]
    context: Any
    parts: tuple[Any, ...]  # where the value is from, and each number in the entry after it


class Moving(NamedTuple):
    """A number of forward mode: where it and its tangent are from, or these themselves."""

    primal: Any
    tangent: Any
    context: Any


class Object(NamedTuple):
    """An object: where the numbers are from that its equality goes by."""

    value: Any
    parts: tuple[Any, ...]


def origins_of(value: Any, known: dict[int, Any] | None = None, depth: int = DEEP) -> Any:
    """Return where a number is from, as far as the last entries of the tape say so.

    Parameters
    ----------
    known : dict, optional
        What has been found, by the ids of numbers.
    """
    if type(value) is tuple or type(value) is list:
        return tuple([origins_of(part, known, depth) for part in value])
    if type(value) is Compared:
        return Object(value.value, origins_of(value.parts, known, depth))
    if type(value) is not Active:
        return NOTHING if value is UNKNOWN else None
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = found_origin(value, known, depth)
    return known[id(value)]


def found_origin(value: Active, known: dict[int, Any], depth: int) -> Any:
    """Return where an active number is from."""
    if is_forward(value.context):
        primal, tangent = (
            origins_of(part, known, depth) if type(part) is Active else part
            for part in (value.primal, value.grad)
        )
        return Moving(primal, tangent, value.context)
    tape = getattr(value.context, "tape", ())
    for position in range(len(tape) - 1, max(len(tape) - RECENT, 0) - 1, -1):
        entry = tape[position]
        if len(entry) > 2 and entry[1] is value:
            if depth == 0:
                return NOTHING
            parts = (value.primal, *entry[2:])
            within = tuple([origins_of(part, known, depth - 1) for part in parts])
            return Origin(position, entry, value.context, within)
    return NOTHING


def are_alike(a: Any, b: Any) -> bool:
    """Return whether two numbers, or tangents along several directions, are equal."""
    if type(a) is not type(b) or a is NOTHING:
        return False
    if type(a) in (Moving, Origin):
        return have_one_origin(a, b)
    if issubclass(type(a), NUMBERS):
        return bits_of(np.asarray(a)) == bits_of(np.asarray(b))
    rows = getattr(a, "rows", None)
    return a is b or (type(rows) is ndarray and bits_of(rows) == bits_of(b.rows))


def have_one_origin(new: Any, old: Any) -> bool:
    """Return whether two numbers are the same element, which has not been written between.

    In forward mode it is enough that they move alike.
    """
    if type(new) is Moving and type(old) is Moving:
        alike = are_alike(new.primal, old.primal) and are_alike(new.tangent, old.tangent)
        return alike and new.context is old.context
    if type(new) is Object and type(old) is Object:
        return new.value is old.value or have_one_origin(new.parts, old.parts)
    if type(new) is tuple and type(old) is tuple:
        return len(new) == len(old) and all(map(have_one_origin, new, old))
    if type(new) is not Origin or type(old) is not Origin:
        return new is None and old is None
    if new.entry is old.entry:
        return True
    if new.context is not old.context or not are_made_alike(new, old):
        return False
    a = new.entry
    read = {id(memory_of(new.context, part)) for part in a[2:]} - {id(None)}
    if not read and all(type(part) in SIMPLE for part in a[2:]):
        return True
    between = new.context.tape[old.position + 1 : new.position]
    return all(
        e[0] is a[0]
        or (e[0] in STATES and not issubclass(type(e[2]), ndarray))
        or is_apart(new.context, e, read)
        for e in between
    )


def are_made_alike(new: Origin, old: Origin) -> bool:
    """Return whether one operation made two numbers of the same numbers.

    The entry has its partial derivatives; what else it has computed with shows in the value.
    """
    a, b = new.entry, old.entry
    return (
        a[0] is b[0]
        and len(a) == len(b)
        and are_alike(unwrapped(a[1]), unwrapped(b[1]))
        and have_one_origin(new.parts[0], old.parts[0])
        and all(map(is_one, a[2:], b[2:], new.parts[1:], old.parts[1:]))
    )


def is_apart(ctx: Mode, entry: Any, memory: set[int]) -> bool:
    """Return whether an entry has surely nothing to do with some memory."""
    for part in entry:
        t = type(part)
        if t is tuple or t is list or t is dict:
            if not is_apart(ctx, part.values() if t is dict else part, memory):
                return False
        elif t not in SIMPLE and not is_constant(part):
            found = memory_of(ctx, part)
            if id(found) in memory or (found is None and not issubclass(t, ndarray)):
                return False
    return True


def is_constant(part: Any) -> bool:
    """Return whether a part of an entry is of a rule: its adjoint, or the form of a value."""
    t = type(part)
    return issubclass(t, (Rule, Like)) or (is_own(t) and callable(part))


def is_one(a: Any, b: Any, new: Any, old: Any) -> bool:
    """Return whether two parts of entries are the same; where they are from tells it of numbers."""
    if a is b or type(a) is not type(b):
        return a is b
    if type(a) is Active:
        return have_one_origin(new, old)
    if type(a) is tuple or type(a) is list:
        return len(a) == len(b) and all(map(is_one, a, b, new, old))
    return type(a) in PLAIN and repr(a) == repr(b)


def memory_of(ctx: Mode, part: Any) -> Any:
    """Return the memory that a part of an entry is about; None if there is none."""
    if issubclass(type(part), ndarray):
        part = ctx.find(part)
    return getattr(part, "memory", None) if type(part) is not Active else None
