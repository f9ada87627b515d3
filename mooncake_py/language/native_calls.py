"""Python functions of the standard library that run natively, such as the methods of a queue.

They change objects that they are given, and settings of the whole process.  The engine compares the
objects with what they held before, and records how to put both back.
"""

from __future__ import annotations

import _abc  # pyright: ignore[reportMissingImports] - what abstract classes keep
import contextvars
import ctypes
import gc
import os
import sys
import threading
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import foreign_memory, hooks, python_queues
from mooncake_py.containers.holders import Setting
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics import warned
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.language import draws
from mooncake_py.language.compiled_code import Watch
from mooncake_py.modules import draws_numbers, module_of, package_of
from mooncake_py.runtime.activity import INERT, holds_inert
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.referents import FILLED, Reached

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS", "LATER", "run", "watched"]

SHOWING = frozenset({"matplotlib", "pytest", "_pytest", "tqdm"})
"""Libraries whose output persists, and so does the state that they keep about it."""
OPAQUE = (type, ModuleType, FunctionType, MethodType, np.generic)


def run(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run a function on constants, and record what it changes of the objects that it is given."""
    if args and draws_numbers(type(args[0])):  # `sample`, and others that are in Python
        draws.note(args[0])
    given = [v for v in (*args, *kwargs.values()) if type(v) not in INERT]
    if not given or package_of(f) in SHOWING:
        return f(*args, **kwargs)
    return watched(ctx, given, f, *args, **kwargs)


def watched(ctx: Mode, given: Iterable[Any], run: Callable[..., Any], *args: Any, **kw: Any) -> Any:
    """Run a function, and record what it changes of the objects that it is `given`."""
    watch = Watch(ctx, reached_from(given))
    try:
        return run(*args, **kw)
    finally:
        watch.record_writes()


def reached_from(given: Iterable[Any]) -> Reached:
    """Return the arrays and containers that the library may change.

    These are the objects themselves, what containers hold, and the parts of objects of the library:
    a queue has a condition, which has a deque.
    """
    found = Reached()
    todo = [(value, True) for value in given]
    while todo:
        value, is_given = todo.pop()
        if type(value) in INERT or issubclass(type(value), OPAQUE) or id(value) in found.known:
            continue
        found.known[id(value)] = value
        if issubclass(type(value), ndarray):
            found.arrays.append(value)
        elif issubclass(type(value), FILLED):
            found.containers.append(value)
            if not holds_inert(value):
                parts = value.values() if issubclass(type(value), dict) else value
                todo += [(part, False) for part in parts]
        elif issubclass(type(value), tuple):
            todo += [(part, False) for part in value]
        elif is_given or is_native_module(module_of(type(value))):
            held = getattr(value, "__dict__", None)
            if type(held) is dict:
                todo.append((held, False))
    return found


# Settings of the process.


def setting(
    read: Callable[..., Any], write: Callable[..., Any], keys: int = 0, many: bool = False
) -> Handler:
    """Return the handler of a function that changes a setting.

    Parameters
    ----------
    read, write : callable
        They read it, and set what was read.
    keys : int
        How many arguments of the function say which setting it is; both take them first.
    many : bool
        Whether what is read are several arguments of `write`.
    """

    def run_setting(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            hooks.refuse_if_changing(ctx, value)
        Setting(read, write, args[:keys], many).record(ctx)
        return f(*args, **kwargs)

    return run_setting


def run_resize(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``ctypes.resize(o, size)``."""
    if args:
        foreign_memory.before_resize(ctx, args[0])
    f(*args, **kwargs)


def set_collecting(enabled: bool) -> None:
    """Switch the cyclic collector on or off."""
    (gc.enable if enabled else gc.disable)()


def run_filter(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run a function that changes the filters of warnings."""
    Setting(warned.filters_of_the_program, warned.restore_filters).record(ctx)
    warned.run_filter(f, args, kwargs)


def raising(handler_of: Callable[[Any], Any]) -> Handler:
    """Return a function that raises a signal, whose handler Python calls between instructions."""

    def run_raising(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
        for number in args:
            hooks.refuse_if_changing(ctx, handler_of(number))
        f(*args, **kwargs)

    return run_raising


def run_register(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``cls.register(other)`` of an abstract base class."""
    note(ctx, restore_registry, args[0], _abc._get_dump(args[0])[0])
    return f(*args, **kwargs)


def restore_registry(cls: type, old: Iterable[Any]) -> None:
    """Put back which classes are registered, and forget what was found since."""
    _abc._reset_registry(cls)
    for reference in old:
        if reference() is not None:
            _abc._abc_register(cls, reference())
    for base in cls.__mro__:
        if isinstance(base, ABCMeta):
            _abc._reset_caches(base)


def umask() -> int:
    """Return the mask of the process, which is read by setting it."""
    found = os.umask(0)
    os.umask(found)
    return found


def set_variable(key: str, value: str | None) -> None:
    """Set a variable of the environment, or take it away."""
    if value is not None:
        os.environ[key] = value
    else:
        os.environ.pop(key, None)


def restore_environment(before: dict[str, str]) -> None:
    """Set all variables of the environment that differ."""
    for key in os.environ.keys() | before.keys():
        if os.environ.get(key) != before.get(key):
            set_variable(key, before.get(key))


def value_in_context(variable: Any) -> Any:
    """Return the value of a context variable, or MISSING if it has none of its own here."""
    return contextvars.copy_context().get(variable, MISSING)


def set_in_context(variable: Any, value: Any) -> None:
    """Set a context variable to what it was, or take its value away.

    That takes the token of when it was set without having had a value.  If the program has used
    that one, its reset has been undone here, which has left another one.
    """
    if value is not MISSING:
        token = variable.set(value)
        if token.old_value is contextvars.Token.MISSING:
            TOKENS.kept[variable] = token
        return
    for token in (TOKENS.kept.pop(variable, None), TOKENS.first.pop(variable, None)):
        if token is not None:
            with suppress(RuntimeError, ValueError):  # used, or of another context
                variable.reset(token)
    if value_in_context(variable) is not MISSING:
        with suppress(LookupError):  # it has no default
            variable.set(contextvars.Context().run(variable.get))


class Tokens(threading.local):
    """For context variables that had no value, the tokens with which it is taken away again."""

    def __init__(self) -> None:
        self.first: dict[Any, Any] = {}  # by the program
        self.kept: dict[Any, Any] = {}  # as a reset by the program was undone


TOKENS = Tokens()


def set_context_variable(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``variable.set(value)`` or ``reset``; NumPy keeps in one when it raises."""
    try:
        token = setting(value_in_context, set_in_context, keys=1)(ctx, f, args, kwargs)
    finally:
        ctx.heed_settings()
    if token is not None and token.old_value is contextvars.Token.MISSING:
        TOKENS.first[args[0]] = token
    return token


def of_numpy(handler: Handler) -> Handler:
    """Return the handler of a function that changes how NumPy computes.

    All of this is one variable, which the reverse pass sets too: it is restored after that.
    """

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        known = getattr(ctx, "settings", MISSING)
        if known is None:
            before = np.geterr(), np.geterrcall(), np.getbufsize()
            setattr(ctx, "settings", partial(restore_numpy, *before))  # noqa: B010
        try:
            return handler(ctx, f, args, kwargs) if known is MISSING else f(*args, **kwargs)
        finally:
            ctx.heed_settings()

    return run


def restore_numpy(errors: Any, call: Any, size: int) -> None:
    """Set what :func:`of_numpy` has found."""
    np.seterr(**errors)
    np.seterrcall(call)
    np.setbufsize(size)


def on_arguments(run: Callable[..., Any]) -> Handler:
    """Return the handler that runs a function of the context and the arguments."""
    return lambda ctx, f, args, kwargs: run(ctx, *args, **kwargs)


def keeping(f: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that sets the keyword arguments that it gets as a dict."""
    return lambda options: f(**options)


ENVIRON = [  # its own methods; others are those of all mappings, in terms of these
    f
    for name, f in vars(type(os.environ)).items()
    if name in ("__setitem__", "__delitem__", "setdefault", "__ior__")
]
ENVIRONMENT = setting(lambda: dict(os.environ), restore_environment)
COLLECTING = setting(gc.isenabled, set_collecting)

HANDLERS: dict[Any, Handler] = {
    sys.setrecursionlimit: setting(sys.getrecursionlimit, sys.setrecursionlimit),
    sys.setswitchinterval: setting(sys.getswitchinterval, sys.setswitchinterval),
    sys.set_int_max_str_digits: setting(
        sys.get_int_max_str_digits, sys.set_int_max_str_digits
    ),
    ctypes.resize: run_resize,
    gc.enable: COLLECTING,
    gc.disable: COLLECTING,
    gc.set_threshold: setting(gc.get_threshold, gc.set_threshold, many=True),
    np.set_printoptions: setting(np.get_printoptions, keeping(np.set_printoptions)),
    np.seterr: of_numpy(setting(np.geterr, keeping(np.seterr))),
    np.seterrcall: of_numpy(setting(np.geterrcall, np.seterrcall)),
    np.setbufsize: of_numpy(setting(np.getbufsize, np.setbufsize)),
    os.chdir: setting(os.getcwd, os.chdir),
    os.umask: setting(umask, os.umask),
    **dict.fromkeys(ENVIRON, ENVIRONMENT),
    **dict.fromkeys(
        (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings), run_filter
    ),
    ABCMeta.register: run_register,
    contextvars.ContextVar.set: set_context_variable,
    contextvars.ContextVar.reset: set_context_variable,
}  # fmt: skip

# fmt: off
LATER: dict[str, Callable[[Any], dict[Any, Handler]]] = {
    "decimal": lambda m: {m.setcontext: setting(m.getcontext, m.setcontext)},
    "locale": lambda m: {m.setlocale: setting(m.setlocale, m.setlocale, keys=1)},
    "logging": lambda m: {m.disable: setting(lambda: m.root.manager.disable, m.disable)},
    "queue": lambda m: {
        m.Queue._put: on_arguments(python_queues.put_last),
        m.Queue._get: on_arguments(python_queues.get_first),
        m.LifoQueue._put: on_arguments(python_queues.put_last),
        m.LifoQueue._get: on_arguments(python_queues.get_last),
        m.PriorityQueue._put: on_arguments(python_queues.put_in_order),
        m.PriorityQueue._get: on_arguments(python_queues.get_least),
    },
    "signal": lambda m: {
        m.signal: setting(m.getsignal, m.signal, keys=1), m.raise_signal: raising(m.getsignal),
    },
    "socket": lambda m: {m.setdefaulttimeout: setting(m.getdefaulttimeout, m.setdefaulttimeout)},
}
# fmt: on
"""More handlers, by modules that are imported only by programs that use them."""
