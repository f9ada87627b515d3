"""The arguments to differentiate with respect to: finding them, making them active."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from mooncake_py.derive.crossing.lift import Lifter, is_differentiable
from mooncake_py.errors import InvalidTangentError, NonDifferentiableArgumentError

__all__ = ["ArgNums", "choose_arguments", "lift_chosen", "name_of", "require_callable"]

ArgNums = int | str | tuple[int | str, ...]


def require_callable(f: Any) -> None:
    """Raise if what is to be differentiated is not a function."""
    if not callable(f):
        raise NonDifferentiableArgumentError(
            f"cannot differentiate {f!r}: it is not a function",
            mend="pass the function itself, grad(f)(x), not its result, grad(f(x))",
        )


def choose_arguments(
    f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[int | str]:
    """Return for each of `argnums` the position or the keyword under which it was passed."""
    if type(argnums) is int and 0 <= argnums < len(args):
        return [argnums]
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if not wanted or not all(isinstance(name, (int, str)) for name in wanted):
        raise NonDifferentiableArgumentError(
            f"argnums={argnums!r} does not name arguments of {name_of(f)}",
            mend="use a position, a name, or a tuple of these",
        )
    return [locate_argument(f, name, args, kwargs) for name in wanted]


def locate_argument(
    f: Callable[..., Any], wanted: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int | str:
    """Find one argument among those passed."""
    if isinstance(wanted, str):
        if wanted in kwargs:
            return wanted
        names = parameter_names(f)
        if wanted in names and names.index(wanted) < len(args):
            return names.index(wanted)
        raise NonDifferentiableArgumentError(
            f"argnums names the argument {wanted!r}, which was not passed to {name_of(f)}",
            why=f"{name_of(f)} was called with {len(args)} positional arguments and the keywords "
            f"{sorted(kwargs)}; its parameters are {names}",
            mend="pass the argument, or choose other argnums",
        )
    if not -len(args) <= wanted < len(args):
        names = parameter_names(f)
        if 0 <= wanted < len(names) and names[wanted] in kwargs:
            return names[wanted]
        raise NonDifferentiableArgumentError(
            f"argnums={wanted} is out of range: {name_of(f)} was called with {len(args)} "
            "positional arguments",
            mend="choose other argnums, or name the argument: argnums='name'",
        )
    return wanted % len(args)


def parameter_names(f: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters of a function."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def lift_chosen(
    lifter: Lifter,
    f: Callable[..., Any],
    chosen: list[int | str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any], list[tuple[Any, Any]]]:
    """Make the chosen arguments active; return all arguments, and originals with mirrors."""
    positional, keywords = list(args), dict(kwargs)
    mirrors: dict[int | str, tuple[Any, Any]] = {}
    for key in dict.fromkeys(chosen):
        original = args[key] if isinstance(key, int) else kwargs[key]
        try:
            lifted, mirror = lifter.visit(original)
        except InvalidTangentError as error:
            raise refused(f, key, error) from error
        if not is_differentiable(mirror):
            raise not_differentiable(f, key, original)
        if isinstance(key, int):
            positional[key] = lifted
        else:
            keywords[key] = lifted
        mirrors[key] = original, mirror
    return tuple(positional), keywords, [mirrors[key] for key in chosen]


def not_differentiable(
    f: Callable[..., Any], key: int | str, value: Any
) -> NonDifferentiableArgumentError:
    """Return the error for an argument without a derivative."""
    label = label_of(f, key)
    kind = (
        f"an array of dtype {value.dtype}"
        if isinstance(value, ndarray)
        else f"{value!r} of type {type(value).__name__}"
        if isinstance(value, (int, bool, str, type(None)))
        else f"a {type(value).__name__} without floats"
    )
    mend = (
        f"pass floats: {label or 'x'}.astype(float)"
        if isinstance(value, ndarray)
        else f"pass a float: {float(value)}"
        if isinstance(value, int)
        else "choose other argnums"
    )
    return NonDifferentiableArgumentError(
        f"cannot take the gradient of {name_of(f)} with respect to {describe(f, key)}: "
        f"it is {kind}",
        why="only float and complex values have derivatives",
        mend=mend,
    )


def refused(
    f: Callable[..., Any], key: int | str, error: InvalidTangentError
) -> NonDifferentiableArgumentError:
    """Return the error for an argument that is or holds something that cannot be lifted."""
    return NonDifferentiableArgumentError(
        f"cannot take the gradient of {name_of(f)} with respect to {describe(f, key)}: "
        f"{error.what}",
        why=error.why,
        mend=error.mend,
    )


def label_of(f: Callable[..., Any], key: int | str) -> str | None:
    """Return the name of an argument, if it has one."""
    if isinstance(key, str):
        return key
    names = parameter_names(f)
    return names[key] if key < len(names) else None


def describe(f: Callable[..., Any], key: int | str) -> str:
    """Return position and name of an argument, for messages."""
    label = label_of(f, key)
    return f"argument {key}" + (f" ({label!r})" if isinstance(key, int) and label else "")


def name_of(f: Any) -> str:
    """Return a name for a callable, for messages."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    code = getattr(f, "__code__", None)
    if code is None or not name.endswith("<lambda>"):
        return name
    return f"the lambda at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
