"""Settings of debug mode and compilation, and the contexts of differentiated calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from mooncake_py.boundary.apart import guard
from mooncake_py.diagnostics.meter import Meter, reporter
from mooncake_py.diagnostics.options import require_flag
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.inner import InnerContext
from mooncake_py.runtime.allowance import allowance
from mooncake_py.runtime.compilation import Compile, require_setting, using
from mooncake_py.runtime.enclosing import enclosing

__all__ = ["Settings", "compile_mode", "compiling", "debug_mode", "new_context", "settings"]


class Settings(NamedTuple):
    """The checks of debug mode other than rules and memory; see :func:`debug_mode`."""

    check_finite: bool = True
    compare_fused: bool = True


_current: ContextVar[Settings | None] = ContextVar("mooncake_py.debug_mode", default=None)


@contextmanager
def debug_mode(*, check_finite: bool = True, compare_fused: bool = True) -> Iterator[None]:
    """Turn debug mode on, in which derivatives within this block check each step.

    A derivative returns the same result, or raises an error that says what is wrong; it takes many
    times as long.

    Parameters
    ----------
    check_finite : bool
        If true, an adjoint that turns finite cotangents into nan or infinity raises an error.
    compare_fused : bool
        If true, compare loops and statements that run as one entry with their parts: values bit for
        bit, cotangents and tangents up to rounding.

    Raises
    ------
    InvalidRuleError
        If a rule violates the contract of rules.
    DifferentResultError
        If an operation, or a loop or statement that runs as one entry, differs from the plain one.
    UntrackedWriteError
        If memory has changed through a write that the engine did not see.
    NonFiniteDerivativeError
        If an adjoint turns finite cotangents into nan or infinity.

    Notes
    -----
    The block affects only the thread or task that runs it.  For a single derivative use
    ``value_and_grad(f, debug=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import debug_mode, grad
    >>> with debug_mode():
    ...     grad(np.sum)(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    require_flag("check_finite", check_finite)
    require_flag("compare_fused", compare_fused)
    token = _current.set(Settings(check_finite, compare_fused))
    try:
        with using(False):
            yield
    finally:
        _current.reset(token)


def settings(debug: bool = False) -> Settings | None:
    """Return the current settings, None outside of debug mode; `debug` turns it on."""
    current = _current.get()
    return Settings() if debug and current is None else current


@contextmanager
def compile_mode(
    compile: Compile = True, *, compile_timeout: float | None = None
) -> Iterator[None]:
    """Turn compilation on or off for derivatives within this block.

    Parameters
    ----------
    compile : bool or "auto"
        If false, compile nothing within the block.  "auto" lets derivatives run as without
        compilation until a thread has compiled what they run, and where that is slower.
    compile_timeout : float, optional
        How many seconds are waited at most, from the beginning of the block, for what is compiled;
        then derivatives run as with "auto".

    Warns
    -----
    MooncakeWarning
        Once, if there is no compiler; nothing is compiled then.

    Notes
    -----
    The block affects only the thread or task that runs it.  For a single derivative use
    ``grad(f, compile=True)``, which precedes the block; debug mode compiles nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import compile_mode, grad
    >>> with compile_mode(False):
    ...     grad(np.sum)(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    with compiling(compile, compile_timeout=compile_timeout):
        yield


def compiling(
    compile: Compile | None, debug: bool = False, compile_timeout: float | None = None
) -> using:
    """Return a context manager that turns compilation on or off; None keeps the outer setting.

    Debug mode compiles nothing.
    """
    if compile is None and not debug and compile_timeout is None:
        return AS_BEFORE
    require_setting(compile, compile_timeout)
    return using(compile if settings(debug) is None else False, compile_timeout)


AS_BEFORE = using(None)


def new_context(
    chosen: Settings | None, f: Any, args: Any, kwargs: Any, *, follows: bool = False
) -> ReverseContext:
    """Return the context of a call ``f(*args, **kwargs)`` that is about to be differentiated.

    In debug mode everything that the call can reach is remembered as it is now.  Pass None for
    `f` if it is the arguments only that must be as they were in the end.  Whether an outer
    derivative `follows` it is said by :class:`~mooncake_py.modes.reverse.inner.InnerContext`.
    """
    ctx = _context(chosen, f, args, kwargs, follows)
    guard(ctx)
    given = allowance()
    if given is not None and not ctx.outers:  # what is inside belongs to a pass of what is outside
        # Only where memory is limited.
        from mooncake_py.recomputation.budget import Budget

        ctx.budget = Budget(given, (args, kwargs))
    to = reporter.get()
    if to is not None and not ctx.outers:  # derivatives inside are not reported
        ctx.meter = meter = Meter(to, ctx.tape)
        ctx.record = meter.recording(ctx.record)
    return ctx


def _context(
    chosen: Settings | None, f: Any, args: Any, kwargs: Any, follows: bool
) -> ReverseContext:
    outer = enclosing()
    if chosen is None:
        return ReverseContext() if outer is None else InnerContext(outer, follows)
    # Here, as importing what only debug mode needs takes a tenth of the time of the package.
    from mooncake_py.modes.debug.context import DebugContext, InnerDebugContext

    watched = chosen, f, args, kwargs
    return DebugContext(*watched) if outer is None else InnerDebugContext(*watched, outer, follows)
