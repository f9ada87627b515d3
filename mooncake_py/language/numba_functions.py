"""Jitted functions: derived from their Python source, or run natively on constants."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.places import start_of
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.errors import MissingRuleError
from mooncake_py.jitted import cuts, difference, effects, is_jitted
from mooncake_py.language import numba_objects
from mooncake_py.language.draws import note
from mooncake_py.language.numba_generators import GENERATORS
from mooncake_py.rules import registry
from mooncake_py.runtime import activity, numerals
from mooncake_py.runtime.active import Active
from mooncake_py.syntax.jitted import python_for
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import is_writeable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call", "refuse_difference"]

NUMBERS = {np.integer: int, np.floating: float, np.complexfloating: complex}
LARGE = 10_000  # elements of an array that is not copied if that can be avoided
CONSTANT = activity.INERT - {type, ModuleType, np.ufunc}


def call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call what ``numba.njit`` made of a function: compiled, if all that goes in is constant."""
    values = (*args, *kwargs.values())
    arrays: list[ndarray] = []
    if (
        Active not in map(type, values)
        and not effects(f).unknown
        and all(is_constant(value, arrays) for value in values)
        and not ctx.contains_active((f.py_func, *values))
    ):
        compiled = run_compiled(ctx, f, args, kwargs, arrays)
        if compiled is not None:
            return numerals.checked(ctx, f, values, compiled[0])
    numba_objects.refuse_unreadable(ctx, f, values)
    refuse_difference(ctx, f, f.__name__)
    return call_python_of(ctx, f, args, kwargs)


def is_constant(value: Any, arrays: list[ndarray]) -> bool:
    """Return True if compiled code can change only the arrays of a value, which are listed.

    Functions are those that do nothing else.
    """
    t = type(value)
    if t is tuple:
        return all(is_constant(part, arrays) for part in value)
    if t is ndarray:
        arrays.append(value)
        return value.dtype.kind in "biufc"
    return t in CONSTANT or (is_jitted(value) and not any(effects(value)))


# Derived.


def refuse_difference(ctx: Mode, f: Any, name: str) -> None:
    """Raise if the Python of a jitted function does not mean what was compiled."""
    found = difference(f)
    if found is not None:
        what = f"{name} cannot be derived from its Python"
        where = ctx.user_location() or start_of(f.py_func.__code__)
        fix = with_page(found.fix, "numba")
        raise ctx.failed(MissingRuleError(what, where=where, why=found.why, fix=fix))


def call_python_of(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call the Python of a jitted function, and see to what its signature converts."""
    own = f.py_func
    names = own.__code__.co_varnames
    given = [*enumerate(args), *((names.index(n), v) for n, v in kwargs.items() if n in names)]
    for position, value in given:
        if cuts(f, position, value):
            raise made_int(ctx, f, f"makes argument {position} an int")
    python = own if registry.find(own) is not None else python_for(f, args, kwargs)
    y = ctx.call(python, *args, **kwargs)
    if cuts(f, None, y):
        raise made_int(ctx, f, "makes the result, or a part of it, an int")
    return as_returned(ctx, y)


def as_returned(ctx: Mode, y: Any) -> Any:
    """Return a result as compiled code returns it: with numbers of Python."""
    if type(y) is tuple:
        return tuple(as_returned(ctx, part) for part in y)
    if type(y) is np.bool_:
        return bool(y)
    own = next((own for kind, own in NUMBERS.items() if isinstance(y, kind)), None)
    return y if own is None else ctx.call(own, y)


def made_int(ctx: Mode, f: Any, what: str) -> Exception:
    """Return the error for a signature that drops a derivative."""
    return unsupported(
        ctx,
        f"{f.__name__} is compiled for ints only",
        why=f"its signature {what}, and the derivative would be lost",
        fix=with_page("leave the signature out, or write float64 in it", "numba"),
    )


# Compiled.


def run_compiled(
    ctx: Mode, f: Any, args: Any, kwargs: Any, arrays: list[ndarray]
) -> tuple[Any] | None:
    """Return the result of compiled code; its writes are recorded.

    None, with the arrays as they were, if it raises, or returns arrays that share memory: of such
    views Numba does not tell whose memory they are.
    """
    draws = effects(f).draws
    if draws:
        note(GENERATORS)
    elif any(a.size > LARGE for a in arrays):
        with suppress(Exception):  # Numba refuses to compile what writes into these
            y = f(*map(read_only, args), **{name: read_only(v) for name, v in kwargs.items()})
            return None if shares_memory(y, arrays) else (y,)
    before = [(a, a.copy()) for a in arrays if is_writeable(a)]
    try:
        y = f(*args, **kwargs)
    except Exception:
        restore(before)
        if draws:
            raise
        return None
    if shares_memory(y, arrays):
        restore(before)
        return None
    for a, old in before:
        if bits_of(a) != bits_of(old):
            new = a.copy()
            a[...] = old
            ctx.setitem(a, Ellipsis, new)
    return (y,)


def read_only(value: Any) -> Any:
    """Return a value with views of its arrays that must not be written."""
    if type(value) is tuple:
        return tuple(map(read_only, value))
    if type(value) is ndarray:
        value = value.view()
        value.flags.writeable = False
    return value


def restore(before: list[tuple[ndarray, ndarray]]) -> None:
    """Put back what was in some arrays."""
    for a, old in before:
        a[...] = old


def shares_memory(y: Any, arrays: list[ndarray]) -> bool:
    """Return True if an array in a result may share memory with another one, or an argument."""
    made = list(activity.within(y, is_array, set()))
    others = [*arrays, *made]
    return any(a is not b and np.may_share_memory(a, b) for a in made for b in others)


def is_array(value: Any) -> bool:
    return issubclass(type(value), ndarray)
