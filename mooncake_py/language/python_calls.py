"""Calls of functions written in Python that have no rule: which are not derived."""

from __future__ import annotations

import io
import sys
from functools import partial
from inspect import signature
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mooncake_py.application import seen_calls
from mooncake_py.diagnostics.native_modules import is_constant_library, is_native_module
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.jitted import is_written_by_numba
from mooncake_py.language import (
    callbacks,
    constant_libraries,
    dispatch,
    generated_calls,
    masked_arrays,
    muted_streams,
    native_calls,
    stored_files,
    waiting,
)
from mooncake_py.language.class_statements import new_class
from mooncake_py.modules import module_of, package_of
from mooncake_py.runtime import activity, enclosing, frames, generated, numerals, silence

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["call", "runner"]


def call(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call a Python function: natively if its module has no part in derivatives."""
    run = runner(f)
    return ctx.call_function(f, args, kwargs) if run is None else run(ctx, f, args, kwargs)


def runner(f: FunctionType) -> Handler | None:
    """Return a function that calls a Python function that is never derived, or None."""
    if generated.has_no_source(f):
        return generated_calls.call_generated
    if enclosing.is_derivative(f):
        return enclosing.call_derivative
    if masked_arrays.are_its(f):
        return call_masked
    module = module_of(f)
    if is_constant_library(module):
        return constant_libraries.run
    if dispatch.NUMBA in sys.modules and is_written_by_numba(f):
        return dispatch.of_numba().call_library
    return call_native if is_native_module(module) else None


def call_masked(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy's own array classes, on constants as it is."""
    if masked_arrays.runs_as_it_is(ctx, f, args, kwargs):
        return numerals.checked(ctx, f, args, seen_calls.call_seen(ctx, f, args, kwargs))
    return ctx.call_function(f, args, kwargs)


def is_muted_stream(value: Any) -> bool:
    """Return whether a value is a stream that is silent now: of `gzip`, say, which is in Python."""
    t = type(value)  # those of `tempfile` pass on to one that is muted itself
    return issubclass(t, io.IOBase) and module_of(t) != "tempfile" and silence.is_muted(value)


def call_native(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call a function of the standard library that has no part in derivatives."""
    if f.__name__ == "__new__" and args and isinstance(args[0], type) and issubclass(args[0], type):
        return new_class(ctx, f, args, kwargs)
    if runs_code(f, args):
        raise missing_rule(ctx, f, args, OUT_OF_SIGHT)
    if f.__name__ in muted_streams.METHODS and args and is_muted_stream(args[0]):
        return muted_streams.use(ctx, MethodType(f, args[0]), args[1:], kwargs)
    if waiting.is_derived(f) or stored_files.is_of_writer(f):
        return ctx.call_function(f, args, kwargs)
    if stored_files.stores_files(ctx):
        stored_files.refuse_reading(ctx, f, args)
    root = package_of(f)
    if root == "logging":
        run = partial(native_calls.watched, ctx, args, frames.run_logging, f, args, kwargs)
        return seen_calls.run_logged(ctx, f, args, kwargs, run)
    if root == "traceback":
        run = partial(frames.run_traceback, f, args, kwargs)
        return seen_calls.run_seen(ctx, f, (*args, *kwargs.values()), run)
    if root == "json" and f.__name__ in ("dump", "dumps"):
        return stored_files.run_json(ctx, f, args, kwargs)
    if root == "json" and f.__name__ in ("load", "loads"):
        kwargs = {k: v if k == "cls" else callbacks.by_reference(ctx, v) for k, v in kwargs.items()}
    if root == "matplotlib" and f.__name__ in CLOSES:
        return f(*args, **kwargs)
    if f is signature:  # passes active defaults on as they are
        return f(*args, **kwargs)
    if root in TEXT:
        run = partial(f, *map(activity.unwrapped, args), **activity.unwrapped(kwargs))
        y = seen_calls.run_seen(ctx, f, (*args, *kwargs.values()), run)
        return numerals.remembered(ctx, y, (args, kwargs)) if type(y) is str else y
    values = (*args, *kwargs.values(), *([f] if f.__closure__ else []))
    keeps = root == "dataclasses" and f.__qualname__ in OF_CLASSES
    if keeps or not any(map(ctx.contains_active, values)):
        if waiting.is_about_processes(f):
            return f(*args, **kwargs)
        run = partial(native_calls.run, ctx, f, args, kwargs)
        return numerals.checked(ctx, f, args, seen_calls.run_seen(ctx, f, values, run))
    return ctx.call_function(f, args, kwargs)


def runs_code(f: FunctionType, args: Any) -> bool:
    """Return whether a function of the standard library would run user code in its own way."""
    if package_of(f) not in RUNS_CODE or waiting.runs_in_sight(f):
        return False
    return f.__name__ in STARTS or any(map(dispatch.calls_back, args))


TEXT = frozenset({"pprint", "string", "textwrap", "tqdm", "warnings"})
RUNS_CODE = frozenset({
    "atexit", "concurrent", "multiprocessing", "re", "signal", "threading", "timeit",
})  # fmt: skip
STARTS = frozenset({"start", "submit"})
OUT_OF_SIGHT = "it runs other code out of sight"
OF_CLASSES = frozenset({"dataclass", "dataclass.<locals>.wrap", "make_dataclass", "field"})
"""Functions of `dataclasses` that keep defaults by reference, in functions that they generate."""
CLOSES = frozenset({"close", "destroy", "destroy_all", "destroy_fig"})
"""Functions of matplotlib that close figures, which would be open again if that were undone."""
