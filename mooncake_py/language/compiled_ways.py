"""How a function runs that may be compiled: as one region, or by its derived form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.elsewhere import Elsewhere, InParts
from mooncake_py.compiler.sites.trials import is_repeated
from mooncake_py.errors import MooncakeError
from mooncake_py.frontend.load import Derived, derive, instantiate

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["WATCHED", "compiled_calls", "either", "is_left", "through"]

WATCHED = 5
"""Calls by a way of a function that is left, of which some are timed."""


@cache
def compiled_calls() -> Any:
    """Return the module that runs a function as one compiled region, which few programs need."""
    from mooncake_py.compiler.native import site

    return site


def through(f: FunctionType) -> Callable[..., Any]:
    """Return a function that runs `f` as `call_function` does, deciding at each call."""

    def run(*args: Any, _mk_ctx: Any, **kwargs: Any) -> Any:
        return _mk_ctx.call_function(f, args, kwargs)

    return run


def either(ctx: Mode, way: Any, f: FunctionType, derived: Derived) -> Callable[..., Any]:
    """Return the same, except that findings of the first call are kept and hold as `derived` does.

    Parameters
    ----------
    way : Holding
        The way by which the function is called.  Once the function is left to run as it would
        without ``compile=True``, the way does no more than it would then.
    """
    ctx.entering(f)
    plain = instantiate(derived, f)
    site = compiled_calls().site_of(f)
    if site is None:
        return plain
    call, own = site.call, site.paces[type(ctx)]
    in_parts: Any = None
    left = 0

    def run(*args: Any, _mk_ctx: Any, **kwargs: Any) -> Any:
        nonlocal in_parts, left
        y: Any = call(_mk_ctx, f, args, kwargs)
        timed = y if type(y) is pace.Pace else None
        if timed is None and y is not InParts and y is not Elsewhere:
            return y
        form = plain
        if own.is_left:
            left += 1
            if left >= WATCHED:
                way.run = plain
        elif y is InParts or (timed is not None and timed.in_parts):
            form = in_parts = in_parts or derived_form(f, derived)
        if timed is None:
            return form(*args, _mk_ctx=_mk_ctx, **kwargs)
        begin = pace.clock()
        result = form(*args, _mk_ctx=_mk_ctx, **kwargs)
        timed.took_plainly(pace.clock() - begin)
        return result

    return run


def is_left(ctx: Mode, f: FunctionType) -> bool:
    """Return whether a function runs as it would without ``compile=True``."""
    site = compiled_calls().site_of(f)
    if site is None:
        return True
    own = site.paces[type(ctx)]
    if own.is_left and is_repeated(ctx):
        own.keep()
    return own.is_left


def derived_form(f: FunctionType, like: Derived) -> Callable[..., Any]:
    """Return the derived form of a function of which loops are tried, or one that remakes it.

    Parameters
    ----------
    like : Derived
        The form of which all assumptions are known to hold.
    """
    try:
        found = derive(f.__code__, f.__globals__, in_parts=True)
    except MooncakeError:
        return through(f)
    if not assumptions(found) <= assumptions(like):
        return through(f)
    return instantiate(found, f)


def assumptions(derived: Derived) -> set[str]:
    """Return the names of the globals that a form assumes."""
    return {name for name, _ in (*derived.assumed, *derived.assumed_weakly)}
