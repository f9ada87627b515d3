"""Calls of which all arguments are known: Python runs them once, while the function is read.

    "{}_{}".format(name, 2)     a text
    math.comb(n, 2)             an int, where n is written down
    date(2020, 1, 31).year      an int

Only functions that read nothing but their arguments, and change nothing: see `PURE`.
"""

from __future__ import annotations

import ast
import cmath
import datetime
import decimal
import enum
import fractions
import logging
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.building.values import Known, Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.reading import texts
from mooncake_py.compiler.native.reading.constants import UNKNOWN, is_data, python_of, value_of
from mooncake_py.runtime.attribute_lookup import in_class

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["attribute", "called", "formatted", "item", "may_have", "method", "set_of"]

BUILTIN = (
    abs, ascii, bin, bool, bytes, chr, complex, dict, divmod, enumerate, float, format, frozenset,
    hex, int, len, list, max, min, oct, ord, pow, range, repr, reversed, round, set, slice, sorted,
    str, sum, tuple, zip,
)  # fmt: skip
FUNCTIONS = (
    *(f for m in (math, cmath) for name, f in vars(m).items() if callable(f) and name[0] != "_"),
    operator.index, datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    datetime.date.fromisoformat, datetime.datetime.fromisoformat, datetime.datetime.strptime,
    fractions.Fraction, decimal.Decimal, np.finfo, np.iinfo, re.findall, re.split,
    re.sub, re.escape,
)  # fmt: skip
PURE = frozenset([*BUILTIN, *FUNCTIONS])
LAZY = frozenset([enumerate, reversed, zip, range])
HOLD = frozenset({
    str, bytes, int, float, datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    fractions.Fraction, decimal.Decimal, range,
})  # fmt: skip
"""Types whose methods and attributes are known where their object is."""
ORDERLESS = frozenset([len, sorted, min, max, set, frozenset, bool])
"""Functions of sets that give the same for any order of the items."""
OF_PATTERNS = frozenset({"findall", "split", "sub"})
OF_SETS = frozenset({"union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"})
OF_MEMBERS = {name: in_class(enum.Enum, name) for name in ("name", "value")}
LIMITS = np.finfo, np.iinfo
SETS = frozenset([set, frozenset])
CHANGING = frozenset({
    "today", "now", "utcnow", "fromtimestamp", "timestamp", "astimezone",
    "encode", "decode",  # by codecs, and handlers of errors, that a program may register
})  # fmt: skip
FEW = 8  # items of a text for which loops are read pass by pass
MOST = 1 << 16  # items of what is computed while a function is read


def called(
    r: ExpressionReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]
) -> Value | None:
    """Return the result of a call of a pure function whose arguments are all known, else None."""
    if f is print:
        raise Unfit("`print`, which compiled code does not run: print outside", r.b.place)
    if f not in PURE:
        return None
    known, named = [*map(python_of, args)], {k: python_of(v) for k, v in given.items()}
    if any(v is UNKNOWN for v in (*known, *named.values())):
        return None
    if any(type(v) in SETS for v in known) and f not in ORDERLESS:
        return None
    if f in (list, tuple) and len(args) == 1 and isinstance(args[0], Tuple):
        return None  # the reader keeps where a list is made
    is_coded = f in (str, bytes) and (len(known) > 1 or bool(named))  # see `CHANGING`
    if is_coded or not is_short_call(f, known):
        return None
    try:
        found: Any = f(*known, **named)
        if f in LAZY and f is not range:
            found = tuple(found)
    except Exception as error:
        raise Unfit(f"a call that raises {type(error).__name__}", r.b.place) from None
    if type(found) in LIMITS:
        return Known(found)
    return value_of(found)


def is_short_call(f: Any, known: Sequence[Any]) -> bool:
    """Return False for what may take long."""
    sizes = [v for v in known if type(v) is int] + [len(v) for v in known if hasattr(v, "__len__")]
    if f is range:
        return True
    if f in (math.factorial, math.comb, math.perm, pow, math.pow):
        return all(abs(n) <= MOST for n in sizes) and (f is not pow or len(known) == 2)
    return all(n <= MOST for n in sizes) or f in (abs, float, int, str, len, bool, round)


def method(
    r: ExpressionReader,
    base: Value,
    name: str,
    args: Sequence[Value],
    given: Mapping[str, Value],
) -> Value | None:
    """Return the result of a method of what is known, None where not all arguments are."""
    found = pattern_or(base)
    known, named = [*map(python_of, args)], {k: python_of(v) for k, v in given.items()}
    if any(v is UNKNOWN for v in (*known, *named.values())):
        return None
    if any(type(v) in SETS for v in known) and type(found) not in SETS:
        return None
    try:
        return value_of(getattr(found, name)(*known, **named))
    except Exception as error:
        raise Unfit(f"a call that raises {type(error).__name__}", r.b.place) from None


def may_have(base: Value, name: str) -> bool:
    """Return True for what is known, or a class, of which a method reads nothing else."""
    found = pattern_or(base)
    if type(found) is re.Pattern:
        return name in OF_PATTERNS
    if found is UNKNOWN or name[0] == "_" or name in CHANGING:
        return False
    if type(found) is tuple:
        return name in ("count", "index")
    if type(found) in SETS:
        return name in OF_SETS
    return type(found) in HOLD or (type(found) is type and found in HOLD)


def pattern_or(base: Value) -> Any:
    """Return a regular expression, or what else is known."""
    if isinstance(base, Known) and type(base.value) is re.Pattern:
        return base.value
    return python_of(base)


def attribute(r: ExpressionReader, base: Known, name: str) -> Value | None:
    """Return an attribute of an object that is known, None where it is none of these."""
    found = base.value
    if issubclass(type(found), logging.Logger | logging.LoggerAdapter):
        raise Unfit("logging, which compiled code does not do: log outside", r.b.place)
    if issubclass(type(found), enum.Enum) and name in OF_MEMBERS:
        return of_member(r, found, name)
    if name[0] == "_" or not (type(found) in HOLD or type(found) in LIMITS):
        return None
    value = getattr(found, name, UNKNOWN)
    return value_of(value) if is_data(value) else None


def of_member(r: ExpressionReader, member: enum.Enum, name: str) -> Value | None:
    """Return the name or the value of a member of an enumeration, None for what may change."""
    own = r.scope.of_class(type(member), name)
    if own is not OF_MEMBERS[name]:
        raise Unfit(f"the attribute {name}, which the enumeration defines", r.b.place)
    return value_of(member._name_ if name == "name" else member._value_)


def set_of(r: ExpressionReader, items: Sequence[Value]) -> Value:
    """Read ``{x, y}``, of items that are known."""
    known = [*map(python_of, items)]
    try:
        found = set(known)
    except TypeError:
        found = {UNKNOWN}
    if UNKNOWN in found:
        raise Unfit("a set of items known only when it runs: use a tuple", r.b.place)
    return Known(found)


def item(r: ExpressionReader, base: Known, node: ast.expr) -> Value:
    """Read an item of a text or such, or a slice of it."""
    parts = [node.lower, node.upper, node.step] if isinstance(node, ast.Slice) else [node]
    values = [Known(None) if part is None else r.value(part) for part in parts]
    known = [*map(python_of, values)]
    for found, value in zip(known, values, strict=True):
        if found is UNKNOWN and isinstance(value, Number) and len(base.value) <= FEW:
            r.unroll(value.e)
            r.pin(value.e)
    if type(base.value) is str and known == [UNKNOWN] and not isinstance(node, ast.Slice):
        return texts.character(r, base.value, values[0])  # type: ignore[arg-type]
    if any(found is UNKNOWN for found in known):
        raise Unfit("an item of a text at an index that is known only when it runs", r.b.place)
    try:
        value = value_of(base.value[slice(*known) if isinstance(node, ast.Slice) else known[0]])
    except Exception as error:
        raise Unfit(f"an item that raises {type(error).__name__}", r.b.place) from None
    if value is None:
        raise Unfit(f"an item of an object of type {type(base.value).__name__}", r.b.place)
    return value


def formatted(r: ExpressionReader, node: ast.JoinedStr) -> Value:
    """Read ``f"..."``, of values that are known."""
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        read = r.value(part.value)
        value = python_of(read)
        if value is UNKNOWN and isinstance(read, Number):
            r.unroll(read.e)
            r.pin(read.e)
        spec = "" if part.format_spec is None else python_of(r.value(part.format_spec))
        if value is UNKNOWN or spec is UNKNOWN:
            raise Unfit(
                "a text that is made of a number which is known only when it runs", r.b.place
            )
        convert = {115: str, 114: repr, 97: ascii}.get(part.conversion)
        try:
            parts.append(format(convert(value) if convert else value, spec))
        except Exception as error:
            raise Unfit(f"a text that raises {type(error).__name__}", r.b.place) from None
    return Known("".join(parts))
