"""From printed text to functions: in plain Python, or compiled by Numba.

What was compiled before, by this process or another one, comes from `disk`.
"""

from __future__ import annotations

import math
import platform
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

import mooncake_py
from mooncake_py.compiler.native.printing import disk
from mooncake_py.compiler.native.printing.called import (
    OPTIONS,
    CannotCompile,
    compilable,
    digest,
    fingerprint,
    instead,
    numba,
)
from mooncake_py.compiler.native.printing.emit import Printed, Printer
from mooncake_py.compiler.native.printing.emit_expressions import GLOBALS
from mooncake_py.compiler.native.printing.pipeline import pipeline
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["CannotCompile", "built", "interpreted"]

HELPERS = {"grow": helpers.grow}
HEAD = (
    '"""Functions of a region; mooncake_py gives them what they call when it loads them."""\n\n\n'
)

LOCK = RLock()
"""Filters of warnings are those of all threads."""


def interpreted(printer: Printer) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed, as plain Python runs them: slowly, for tests.

    They give no warnings, and functions of `math` no errors, as compiled ones do not.
    """
    called = {name: without_errors(f) for name, f in printer.scope.items()}
    scope = {**GLOBALS, **HELPERS, **called}
    exec(compile(printer.text, "<native region>", "exec"), scope)
    return {name: np.errstate(all="ignore")(scope[name]) for name in printer.functions}


def without_errors(f: Any) -> Any:
    """Return a function of `math` that is nan outside its domain; anything else as it is."""
    if getattr(f, "__module__", "") != "math":
        return f

    def of_any(*args: float) -> float:
        try:
            return f(*args)
        except (ValueError, OverflowError):
            return math.nan

    return of_any


def built(printer: Printer) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed, compiled.  Imports Numba.

    They take numbers of the kinds, and aligned C-contiguous arrays of these: nothing checks that
    what they are given is of the kinds that were printed.

    Raises
    ------
    CannotCompile
    """
    try:
        found = numba()
    except ImportError as error:
        raise CannotCompile(str(error)) from None
    if found.config.DISABLE_JIT:
        raise CannotCompile("NUMBA_DISABLE_JIT is set")
    called = {name: compilable(f) for name, f in (HELPERS | printer.scope).items()}
    key = key_of(printer, found.__version__)
    path = None if key is None else disk.stored(key, HEAD + printer.text)
    with LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Numba thinks of the text
        if path is not None:
            try:
                return compiled(printer, called, path)
            except found.core.errors.NumbaError as error:
                raise CannotCompile(reason(error)) from error
            except Exception:
                pass  # files that cannot be read or written
        try:
            return compiled(printer, called, None)
        except Exception as error:
            raise CannotCompile(reason(error)) from error


def compiled(
    printer: Printer, called: dict[str, Any], path: Path | None
) -> dict[str, Callable[..., Any]]:
    """Return the functions, with their machine code beside a file if there is one.

    Symbols of machine code are made of the names of functions, and are to differ in all files.
    """
    scope = {**GLOBALS, **called, "__name__": __name__}  # a module that other processes have
    exec(compile(HEAD + printer.text, str(path or "<native region>"), "exec"), scope)
    found: dict[str, Callable[..., Any]] = {}
    for name, printed in printer.functions.items():
        f = scope[name]
        f.__qualname__ = name if path is None else f"{name}_{path.stem}"
        options = {"cache": path is not None, "pipeline_class": pipeline(), **OPTIONS}
        scope[name] = dispatcher = numba().njit(**options)(f)
        found[name] = dispatcher.compile(signature(printed))
    return found


def signature(printed: Printed) -> tuple[Any, ...]:
    """Return the types of the parameters of a function, as Numba has them."""
    types = numba().types
    kinds = {
        FLOAT: types.float64, FLOAT32: types.float32, INT: types.int64, BOOL: types.boolean,
    }  # fmt: skip
    return tuple(
        [
            kinds[kind] if axes == 0 else types.Array(kinds[kind], axes, "C")
            for kind, axes in printed.types
        ]
    )


def key_of(printer: Printer, version: str) -> str | None:
    """Return what names a text with all that it calls; None where something cannot be named.

    Parameters
    ----------
    version : str
        Of Numba.
    """
    versions = mooncake_py.__version__, version, np.__version__, platform.python_version()
    parts = [*versions, printer.text, repr(OPTIONS)]
    for name, printed in printer.functions.items():
        parts += [name, repr(printed.types)]
    for name, f in (HELPERS | printer.scope).items():
        found = fingerprint(instead(f))
        if found is None:
            return None
        parts += [name, found]
    return digest("\0".join(parts))


def reason(error: Exception) -> str:
    """Return in one line why Numba refused a text."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    signature = [line for line in told if line.startswith(">>>")]
    return " ".join([*told[:1], *signature[:1]]) or type(error).__name__
