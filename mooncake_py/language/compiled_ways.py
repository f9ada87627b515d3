"""How a function runs that may be compiled: as one region, or by its derived form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.elsewhere import Elsewhere, InParts
from mooncake_py.errors import MooncakeError
from mooncake_py.frontend.load import Derived, derive, instantiate

__all__ = ["compiled_calls", "either", "through"]


@cache
def compiled_calls() -> Any:
    """Return the module that runs a function as one compiled region, which few programs need."""
    from mooncake_py.compiler.native import site

    return site


def through(f: FunctionType) -> Callable[..., Any]:
    """Return what runs a function as `call_function` does, at each call anew."""

    def run(*args: Any, _mk_ctx: Any, **kwargs: Any) -> Any:
        return _mk_ctx.call_function(f, args, kwargs)

    return run


def either(f: FunctionType, derived: Derived) -> Callable[..., Any]:
    """Return the same, but for what is found out at the first call and holds as `derived` does."""
    forms: dict[bool, Callable[..., Any]] = {}
    site = compiled_calls().site_of(f)
    if site is None:
        return derived_form(f, derived, in_parts=False)
    call, paces = site.call, site.paces

    def run(*args: Any, _mk_ctx: Any, **kwargs: Any) -> Any:
        own = paces[type(_mk_ctx)]
        if own.rest and True in forms and not site.loops:
            own.rest -= 1
            return forms[True](*args, _mk_ctx=_mk_ctx, **kwargs)
        y: Any = call(_mk_ctx, f, args, kwargs)
        timed = y if type(y) is pace.Pace else None
        if y is not InParts and y is not Elsewhere and timed is None:
            return y
        in_parts = y is not Elsewhere
        form = forms.get(in_parts)
        if form is None:
            form = forms[in_parts] = derived_form(f, derived, in_parts)
        if timed is None:
            return form(*args, _mk_ctx=_mk_ctx, **kwargs)
        begin = pace.clock()
        result = form(*args, _mk_ctx=_mk_ctx, **kwargs)
        timed.took_plainly(pace.clock() - begin)
        return result

    return run


def derived_form(f: FunctionType, like: Derived, in_parts: bool) -> Callable[..., Any]:
    """Return a derived form of a function, or what derives it at each call.

    Parameters
    ----------
    like : Derived
        The form of which all assumptions are known to hold.
    """
    try:
        found = derive(f.__code__, f.__globals__, in_parts)
    except MooncakeError:
        return through(f)
    if found is not like and (found.asked or not assumptions(found) <= assumptions(like)):
        return through(f)
    return instantiate(found, f)


def assumptions(derived: Derived) -> set[str]:
    """Return the names of the globals that a form assumes."""
    return {name for name, _ in (*derived.assumed, *derived.assumed_weakly)}
