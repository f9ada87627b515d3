"""The general way, for all operands: each operation is a call of the context.

    a * x[i] + b      C.add(C.mul(V[0], C.getitem(V[1], V[2])), V[3])

It is the reference for all quick forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Name, Op
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.statement import Part, Place, Statement, View, position_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["Way", "comparing", "elsewhere", "general_way", "one_by_one", "text_of", "writing"]

Way = Callable[[Any, Any, Any], Any]
"""``way(C, F, V)`` with context, functions and values."""


def elsewhere(ctx: Language, functions: Any, values: Any) -> Any:
    """Do nothing, and say so."""
    return Elsewhere


def one_by_one(statement: Statement) -> Way:
    """Return a function that computes an expression operation by operation, generated lazily."""
    known: list[Way] = []

    def way(ctx: Language, functions: Any, values: Any) -> Any:
        if not known:
            text = f"def run(C, F, V):\n    return {text_of(statement.value, statement.layout)}\n"
            known.append(define(text, {"inf": math.inf})["run"])
        return known[0](ctx, functions, values)

    return way


def text_of(e: Expr, layout: tuple[Part, ...]) -> str:
    """Return the text of calls of the context that compute a value."""
    match e:
        case Const(value=value):
            return repr(value)
        case Name():
            part = layout[position_of(e)]
            return text_of_part(part)
        case Call(function=str(method), args=(of, *args)):
            given = [repr(method), *(text_of(a, layout) for a in args)]
            return f"C.method({text_of(of, layout)}, {', '.join(given)})"
        case Call(function=f, args=args):
            method = "call_one" if len(args) == 1 else "call"
            return f"C.{method}(F[{f}], {', '.join(text_of(a, layout) for a in args)})"
        case Op(op="int", args=(a,)):
            return f"C.call_one(int, {text_of(a, layout)})"
        case Op(op=op, args=args):
            return f"C.{op}({', '.join(text_of(a, layout) for a in args)})"
    raise TypeError(e)


def text_of_part(part: Part) -> str:
    """Return the text of calls of the context that read an operand."""
    if isinstance(part, int):
        return f"V[{part}]"
    if not isinstance(part, View):
        return f"C.getitem(V[{part[0]}], V[{part[1]}])"
    a = f"V[{part.base}]" if part.whole else text_of_part((part.base, part.at))
    f = part.function
    return f"C.getattr({a}, {f!r})" if isinstance(f, str) else f"C.call_one(F[{f}], {a})"


def general_way(statement: Statement) -> Way:
    """Return a function that runs a whole statement operation by operation."""
    e, target = statement.value, statement.target
    if target is None:
        return one_by_one(statement)
    if statement.into:
        assert isinstance(e, Call)
        args = [one_by_one(statement._replace(value=a)) for a in e.args]
        return writing_out(e.function, args, target)
    if not statement.augments:
        return writing(target, None, one_by_one(statement))
    assert isinstance(e, Op)
    return writing(target, f"i{e.op}", one_by_one(statement._replace(value=e.args[1])))


def comparing(op: str, left: Way, right: Way) -> Way:
    """Return a function that compares two values."""

    def compare(ctx: Language, functions: Any, values: Any) -> Any:
        return getattr(ctx, op)(left(ctx, functions, values), right(ctx, functions, values))

    return compare


def writing_out(function: int, args: list[Way], target: Place) -> Way:
    """Return a function that calls another one, which writes to a target by ``out=``."""

    def run(ctx: Language, functions: Any, values: Any) -> Any:
        given = [way(ctx, functions, values) for way in args]
        if isinstance(target, int):
            return ctx.call(functions[function], *given, out=values[target])
        o, i = target
        ctx.call(functions[function], *given, out=ctx.getitem(values[o], values[i]))
        return None

    return run


def writing(target: Place, method: str | None, value: Way) -> Way:
    """Return a function that computes a value and writes it, in place by a method if it is given.

    Parameters
    ----------
    target : Place
        Positions of what is written to and of the index; or of a name, which is changed in place
        if it is bound to an array.
    method : str or None
        Of the context: ``iadd`` and similar.
    value : callable
    """
    if isinstance(target, int):
        return rebinding(target, method, value)
    o, i = target

    def store(ctx: Language, functions: Any, values: Any) -> None:
        ctx.setitem(values[o], values[i], value(ctx, functions, values))

    return store if method is None else changing(o, i, method, value)


def changing(o: int, i: int, method: str, value: Way) -> Way:
    """Return a function that changes elements in place."""

    def change(ctx: Language, functions: Any, values: Any) -> None:
        if type(values[o]) is ndarray and are_plain(ctx, values):
            try:
                new = value(ctx, functions, values)
            except Exception:
                refuse_index(values[o], values[i])
                raise
            ctx.augitem(method, values[o], values[i], new)
            return
        old = ctx.getitem(values[o], values[i])  # first, as objects can tell
        new = getattr(ctx, method)(old, value(ctx, functions, values))
        ctx.storeback(values[o], values[i], new)

    return change


def refuse_index(array: ndarray, index: Any) -> None:
    """Raise the error of an index, if there is one: Python reads elements before it computes."""
    try:
        array[index]
    except Exception as error:
        error.__context__ = None
        raise


PLAIN = frozenset({ndarray, slice, tuple, list, str, type(None), type(Ellipsis)})


def are_plain(ctx: Language, values: Any) -> bool:
    """Return whether no operator on these values runs code of the user's."""
    numbers = ctx.numbers
    return all(type(v) in PLAIN or type(v) in numbers for v in values)


def rebinding(position: int, method: str | None, value: Way) -> Way:
    """Return a function that changes a value in place, or computes a new one of a number."""
    assert method is not None

    def run(ctx: Language, functions: Any, values: Any) -> Any:
        old = values[position]
        name = method[1:] if type(old) in ctx.numbers else method
        return getattr(ctx, name)(old, value(ctx, functions, values))

    return run
