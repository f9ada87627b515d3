"""Compiled functions with callbacks that only return decisions or text.

The engine derives the callback, so that it sees its reads and writes; the result of the callback
does not contribute to the derivative, and is passed to the compiled function as plain numbers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.users_code import is_of_library, is_written_in_python

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["HANDLERS", "by_reference", "plain"]


def plain(ctx: Language, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for compiled code to call: it runs derived and returns plain numbers."""

    def run_derived(*args: Any, **kwargs: Any) -> Any:
        return unwrapped(ctx.call(function, *args, **kwargs))

    return run_derived


def by_reference(ctx: Language, value: Any) -> Any:
    """Return a function for compiled code to call, which keeps its results; other values as is."""
    is_class = isinstance(value, type) and not is_of_library(value) and is_written_in_python(value)
    if not (is_class or isinstance(value, (FunctionType, MethodType, functools.partial))):
        return value
    return functools.partial(ctx.call, value)


def run_calling_back(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of which some arguments are callbacks."""

    def argument(value: Any) -> Any:
        return plain(ctx, value) if callable(value) else unwrapped(value)

    return f(*map(argument, args), **{name: argument(v) for name, v in kwargs.items()})


def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run natively; values pass by reference."""
    return f(*args, **kwargs)


HANDLERS = dict.fromkeys(
    (functools.cmp_to_key, re.sub, re.subn, re.Pattern.sub, re.Pattern.subn), run_calling_back
) | {
    type(functools.cmp_to_key(lambda a, b: 0)).__call__: run,
}
