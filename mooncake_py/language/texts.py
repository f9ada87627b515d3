"""Turning values into text: ``__format__``, ``__str__`` and ``__repr__`` of classes run derived."""

from __future__ import annotations

import codecs
import io
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.seen_calls import call_checked, run_seen
from mooncake_py.containers import effects
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import module_of
from mooncake_py.runtime import silence
from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.numerals import remembered
from mooncake_py.runtime.slots import type_name
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["CODING", "formatted", "run_format", "run_print", "run_text", "text_of"]

CONVERSIONS = {"r": repr, "s": str, "a": ascii}
METHODS = {str: ("__str__", "__repr__"), repr: ("__repr__",), ascii: ("__repr__",)}


def text_of(ctx: Mode, function: Any, value: Any) -> str:
    """Run ``str(value)``, ``repr(value)`` or ``ascii(value)``."""
    return remembered(ctx, shown(ctx, function, value), value)


def shown(ctx: Mode, function: Any, value: Any) -> str:
    """Return the text of a value for people to read."""
    t = type(value)
    if t is Active or t in INERT or (is_instance(value) and module_of(t).startswith("numpy")):
        return function(value)
    for name in METHODS[function]:
        method = derivable(value, name)
        if method is not None:
            result = ctx.call(method, value)
            if not isinstance(result, str):
                raise TypeError(f"{name} returned non-string (type {type_name(type(result))})")
            return ascii(result)[1:-1] if function is ascii else result
        if getattr(t, name) is not getattr(object, name):
            break
    return natively(ctx, function, value)


def natively(ctx: Mode, function: Any, value: Any, *spec: str) -> str:
    """Return the text that compiled code, or NumPy, makes of a value."""
    effects.refuse_writers(ctx, (value,), effects.PRINTING)
    run = partial(function, unwrapped(value), *spec)
    formatter = np.get_printoptions()["formatter"]
    if formatter:
        return run_seen(ctx, function, (value, formatter), run)
    return call_checked(ctx, lambda _: run(), value)


def formatted(ctx: Mode, value: Any, spec: str) -> str:
    """Run ``format(value, spec)``."""
    t = type(value)
    if t is Active or t in INERT:
        return format(value, spec)
    method = derivable(value, "__format__")
    if method is not None:
        result = ctx.call(method, value, spec)
        if not isinstance(result, str):
            name = type_name(plain_class(result))
            raise TypeError(f"__format__ must return a str, not {name}")
        return result
    if t.__format__ is object.__format__ and not spec:
        return text_of(ctx, str, value)
    return remembered(ctx, natively(ctx, format, value, spec), value)


CODING = frozenset({"decode", "encode"})


def error_handlers(names: Any) -> list[Any]:
    """Return the functions that programs have registered for errors of encodings, by name."""
    found = []
    for name in names:
        if type(name) is str and name.isidentifier():
            with suppress(LookupError):
                found.append(codecs.lookup_error(name))
    return found


# Handlers.


def run_text(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``str(x)``, ``repr(x)``, ``ascii(x)``."""
    if len(args) == 1 and not kwargs:
        return text_of(ctx, f, args[0])
    values = (*args, *kwargs.values())
    run = partial(f, *map(unwrapped, args), **unwrapped(kwargs))
    return run_seen(ctx, f, (*values, *error_handlers(values)), run)


def run_format(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``format(x, spec)``."""
    value, *spec = args
    return formatted(ctx, value, *(spec or ("",)))


def is_of_user(file: Any) -> bool:
    """Return whether a file is an object with methods that the user has written."""
    write = derivable(file, "write")
    return (
        write is not None
        and not is_native_module(module_of(write))
        and not is_library(write.__code__.co_filename)
    )


def print_nowhere(texts: list[str], kwargs: Any) -> None:
    """Run a `print` again, for its errors only: a separator may not be a string."""
    print(*texts, **{**unwrapped(kwargs), "file": io.StringIO(), "flush": False})


def run_print(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``print(...)``."""
    file = kwargs.get("file")
    if file is None and is_of_user(sys.stdout):
        file = sys.stdout
    stream = sys.stdout if file is None else file
    is_muted = silence.is_muted(stream)
    silence.hear(stream)
    if file is None:  # for people: nothing in it is remembered
        texts = [shown(ctx, str, unwrapped(a)) for a in args]
        return print_nowhere(texts, kwargs) if is_muted else print(*texts, **unwrapped(kwargs))
    texts = [text_of(ctx, str, a) for a in args]
    if is_muted:
        return print_nowhere(texts, kwargs)
    if derivable(file, "write") is None:
        return print(*texts, **unwrapped(kwargs))
    separator, end = kwargs.get("sep"), kwargs.get("end")
    for position, text in enumerate(texts):
        if position:
            ctx.method(file, "write", " " if separator is None else separator)
        ctx.method(file, "write", text)
    ctx.method(file, "write", "\n" if end is None else end)
    if kwargs.get("flush"):
        ctx.method(file, "flush")
    return None
