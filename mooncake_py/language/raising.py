"""``raise``, and exceptions that are thrown into generators: Python makes instances of classes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.effects import refuse_writers
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language.delegation import takes
from mooncake_py.language.iteration import run_generator_method
from mooncake_py.runtime.methods import python_method

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["raised", "require_bound", "run_throw", "splitting"]


set_cause: Any = vars(BaseException)["__cause__"].__set__


def raised(ctx: Language, error: Any, *causes: Any) -> Any:
    """Return the exception that ``raise error``, or ``raise error from cause``, raises."""
    error = instance(ctx, error)
    if causes and isinstance(error, BaseException):
        cause = instance(ctx, causes[0])
        if cause is not None and not isinstance(cause, BaseException):
            raise TypeError("exception causes must derive from BaseException")
        set_cause(error, cause)
    return error


def splitting(ctx: Mode, types: Any) -> Any:
    """Return the types of ``except*``; refuse a group that splits itself by code out of sight."""
    groups = [sys.exc_info()[1]]
    for group in groups:
        if isinstance(group, BaseExceptionGroup):
            groups += group.exceptions
            for name in SPLITTING:
                method = python_method(type(group), name)
                if method is not None and ctx.contains_active(method):
                    raise dropped(
                        ctx,
                        f"{type(group).__name__}.{name} reads active data, and except* calls it",
                        why="the interpreter calls it, not the program, and would compute with "
                        "plain numbers",
                        fix="catch the group by except, and split it by code of your own",
                    )
            refuse_writers(ctx, (group,), SPLITTING)
    return types


SPLITTING = ("split", "derive")


def require_bound(error: NameError, names: tuple[str, ...]) -> None:
    """Raise an `UnboundLocalError` for a name among these that the failing frame did not find."""
    traceback = error.__traceback__
    is_own = traceback is not None and traceback.tb_next is None
    if type(error) is not NameError or error.name not in names or not is_own:
        return
    new = UnboundLocalError(
        f"cannot access local variable {error.name!r} where it is not associated with a value"
    )
    try:
        raise new.with_traceback(traceback)
    finally:
        new.__context__ = error.__context__


def instance(ctx: Language, error: Any, *args: Any) -> Any:
    """Return the instance that Python makes of a class of exceptions; anything else as it is."""
    if not is_class(error):
        return error
    made = ctx.call(error, *args)
    if not isinstance(made, BaseException):
        wanted = "should have returned an instance of BaseException"
        raise TypeError(f"calling {error!r} {wanted}, not {type(made)!r}")
    return made


def is_class(error: Any) -> bool:
    """Return whether a value is a class of exceptions."""
    return isinstance(error, type) and issubclass(error, BaseException)


def run_throw(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``generator.throw(error)``, or that with a class, a value and a traceback."""
    if len(args) > 1 and is_class(args[1]) and not takes(args[0], "throw"):
        generator, cls, *rest = args
        value = rest[0] if rest else None
        if not isinstance(value, cls):
            given = value if isinstance(value, tuple) else () if value is None else (value,)
            value = instance(ctx, cls, *given)
        args = (generator, value) if not rest else (generator, type(value), value, *rest[1:])
    return run_generator_method(ctx, f, args, kwargs)
