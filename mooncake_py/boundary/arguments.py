"""The arguments of differentiation: find them, and make them active."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from numbers import Number
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.lift import is_differentiable
from mooncake_py.application.walker import Walker
from mooncake_py.boundary.foreign_arrays import foreign_array, held_foreign_array, to_numpy
from mooncake_py.by_identity import answers_itself
from mooncake_py.diagnostics.pages import with_page_about
from mooncake_py.diagnostics.places import users_function
from mooncake_py.errors import (
    InvalidTangentError,
    NonDifferentiableArgumentError,
    file_and_line,
)
from mooncake_py.modules import package_of
from mooncake_py.runtime.values import FLOAT64, take_usual_dtype
from mooncake_py.tangents import CoDual, Dual
from mooncake_py.words import with_article

__all__ = [
    "ArgNums", "Call", "choose_arguments", "name_of", "require_callable", "require_direction",
    "require_plain", "take_usual_dtypes",
]  # fmt: skip

ArgNums = int | str | tuple[int | str, ...]


def require_callable(f: Any) -> None:
    """Raise if the function to differentiate is not callable."""
    if not callable(f):
        raise NonDifferentiableArgumentError(
            f"cannot differentiate {f!r}: it is not a function",
            fix="pass the function itself, grad(f)(x), not its result, grad(f(x))",
        )


def require_plain(
    f: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any] | None = None
) -> None:
    """Raise if an argument is a value paired with a tangent, as rules take them."""
    for i, value in (*enumerate(args), *(kwargs or {}).items()):
        if type(value) in PAIRS:
            kind = type(value).__name__
            raise NonDifferentiableArgumentError(
                f"cannot differentiate {name_of(f)}: its argument {i} is a {kind}",
                why=f"a {kind} pairs a value with a derivative, as rules take and return them; "
                "grad, vjp,\njvp and the like make these themselves",
                fix="pass the value: x.primal; or call the rule: "
                "build_rrule(f)(CoDual(f, NoFData()), x)",
            )


PAIRS = frozenset({CoDual, Dual})


def take_usual_dtypes(*values: Any) -> None:
    """Give arrays, constant ones too, NumPy's instances of their dtypes."""
    for value in values:
        if type(value) is ndarray and value.dtype is not FLOAT64:
            take_usual_dtype(value)


def require_direction(primals: Any, tangents: Any) -> None:
    """Raise if there is not one tangent for each argument."""
    if not issubclass(type(primals), tuple) or not issubclass(type(tangents), tuple):
        raise InvalidTangentError(
            "jvp takes a tuple of primals and a tuple of tangents",
            fix="jvp(f, (x,), (dx,)) for a function of one argument, or a list of such tuples\n"
            "of tangents for several directions",
        )
    if len(primals) != len(tangents):
        raise InvalidTangentError(
            f"{len(primals)} primals but {len(tangents)} tangents",
            fix="give one tangent for each argument, None for zero",
        )


class Call(NamedTuple):
    """A call of a function; `chosen` are the positions and keywords that are differentiated.

    The `copies` among the arguments are for this call alone: nothing need restore them.
    """

    f: Callable[..., Any]
    chosen: Sequence[int | str]
    has_aux: bool
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    copies: Sequence[ndarray] = ()

    def argument(self, key: int | str) -> Any:
        """Return an argument, by position or keyword."""
        return self.args[key] if isinstance(key, int) else self.kwargs[key]

    def lift(self, walker: Walker) -> tuple[tuple[Any, ...], dict[str, Any], list[Any]]:
        """Return the arguments, the chosen ones replaced by a walker, and their trees.

        The chosen ones must have a derivative.
        """
        args, kwargs = list(self.args), self.kwargs
        trees: list[Any] = []
        for key in self.chosen:
            original = self.argument(key)
            try:
                value, tree = walker.visit(original)
            except InvalidTangentError as error:
                raise refused(self.f, key, error) from error
            if not is_differentiable(tree):
                raise not_differentiable(self.f, key, original)
            trees.append(tree)
            if isinstance(key, int):
                args[key] = value
            else:
                kwargs = {**kwargs, key: value}
        return tuple(args), kwargs, trees

    def gradients(self, trees: Iterable[Any]) -> tuple[Any, ...]:
        """Return the gradients of the chosen arguments, from their trees."""
        memo: dict[int, Any] = {}
        pairs = zip(self.chosen, trees, strict=True)
        return tuple([gradient_of(self.argument(key), tree, memo) for key, tree in pairs])


def choose_arguments(
    f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[int | str]:
    """Return for each of `argnums` the position or the keyword under which it was passed."""
    take_usual_dtypes(*args, *kwargs.values())
    if kwargs or not PAIRS.isdisjoint(map(type, args)):
        require_plain(f, args, kwargs)
    if type(argnums) is int and 0 <= argnums < len(args):
        return [argnums]
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if wanted and all(type(name) is int and 0 <= name < len(args) for name in wanted):
        return [*wanted]
    require_argnums(f, argnums)
    return [locate_argument(f, name, args, kwargs) for name in wanted]


def require_argnums(f: Any, argnums: Any) -> None:
    """Raise if `argnums` can name no arguments."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if wanted and all(isinstance(name, str) or is_position(name) for name in wanted):
        return
    if isinstance(argnums, list):
        fix = f"use a tuple: argnums={tuple(argnums)!r}"
    elif isinstance(argnums, (ndarray, float, complex, np.generic)):
        fix = "pass the arguments to the function that this returns, grad(f)(x), not grad(f, x);\n"
        fix += "argnums is a position (an int), a name, or a tuple of these"
    else:
        fix = "use a position (an int), a name, or a tuple of these"
    raise NonDifferentiableArgumentError(
        f"argnums={argnums!r} does not name arguments of {name_of(f)}", fix=fix
    )


def is_position(name: Any) -> bool:
    """Return whether a value is an int, also one of NumPy, and neither a bool nor an array."""
    if type(name) is int:  # asking for a protocol takes 5 us
        return True
    return isinstance(name, SupportsIndex) and not isinstance(name, (bool, np.bool_, ndarray))


def locate_argument(
    f: Callable[..., Any],
    wanted: SupportsIndex | str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> int | str:
    """Find one argument among those passed."""
    if isinstance(wanted, str):
        if wanted in kwargs:
            return wanted
        names = parameter_names(f)
        if wanted in names and names.index(wanted) < len(args):
            return names.index(wanted)
        raise not_passed(f, f"argnums names the argument {wanted!r}", names, args, kwargs)
    wanted = operator.index(wanted)
    if not -len(args) <= wanted < len(args):
        names = parameter_names(f)
        if 0 <= wanted < len(names):
            if names[wanted] in kwargs:
                return names[wanted]
            what = f"argnums={wanted} names the argument {names[wanted]!r}"
            raise not_passed(f, what, names, args, kwargs)
        raise NonDifferentiableArgumentError(
            f"argnums={wanted} is out of range: {name_of(f)} was called with "
            f"{counted(len(args), 'positional argument')}",
            fix="pass the argument, or choose other argnums: a position in this call, or a name",
        )
    return wanted % len(args)


def not_passed(
    f: Any, what: str, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> NonDifferentiableArgumentError:
    """Return the error for an argument that has to be in the call."""
    beside = f" and the keywords {sorted(kwargs)}" if kwargs else ""
    return NonDifferentiableArgumentError(
        f"{what}, which was not passed to {name_of(f)}",
        why=f"it was called with {counted(len(args), 'positional argument')}{beside}; "
        f"its parameters are {names}",
        fix="pass the argument, even if it has a default, or choose other argnums",
    )


def counted(count: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def parameter_names(f: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters of a function."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def not_differentiable(
    f: Callable[..., Any], key: int | str, value: Any
) -> NonDifferentiableArgumentError:
    """Return the error for an argument without a derivative."""
    label = label_of(f, key) or "x"
    why = "only float and complex values have derivatives"
    foreign = held_foreign_array(value)
    if foreign is not None:
        kind = (
            described(foreign)
            if foreign is value
            else (f"{with_article(type(value).__name__)} that holds {described(foreign)}")
        )
        why = "derivatives are with respect to NumPy arrays, numbers, and containers of these"
        array = to_numpy(foreign, label if foreign is value else "x")
        fix = with_page_about(f"pass the array: {array}", foreign)
    else:
        kind, fix = described_constant(value), with_floats(value, label) or OTHER_ARGNUMS
    return NonDifferentiableArgumentError(
        f"cannot take the gradient of {name_of(f)} with respect to {describe(f, key)}: "
        f"it is {kind}",
        why=why,
        fix=fix,
    )


OTHER_ARGNUMS = "choose other argnums"


def described_constant(value: Any) -> str:
    """Return a description of an argument without a derivative."""
    if issubclass(type(value), ndarray):
        return f"an array of dtype {value.dtype}"
    if isinstance(value, (int, bool, str, np.generic, type(None))):
        return f"{value!r} of type {type(value).__name__}"
    if isinstance(value, (float, complex)):
        plain = "float" if isinstance(value, float) else "complex"
        return f"{with_article(type(value).__name__)}, an instance of a subclass of {plain}"
    if isinstance(value, Sized) and not len(value):
        return f"an empty {type(value).__name__}"
    return f"{with_article(type(value).__name__)} without floats"


def with_floats(value: Any, label: str) -> str:
    """Return how to pass an argument as floats, "" if that is not possible."""
    if isinstance(value, (bool, int)):
        return f"pass a float: {float(value)}"
    if isinstance(value, (ndarray, np.generic)):
        if value.dtype.kind == "m":
            return f"pass floats: {label} / np.timedelta64(1, 's')"
        return f"pass floats: {label}.astype(float)" if value.dtype.kind in "biu" else ""
    if isinstance(value, (float, complex)):
        plain = "float" if isinstance(value, float) else "complex"
        return f"pass a number of Python's own: {plain}({label})"
    if issubclass(type(value), dict):
        floats = f"{{key: float(value) for key, value in {label}.items()}}"
        return f"pass floats: {floats}" if are_numbers(value.values()) else ""
    if issubclass(type(value), (list, tuple, range)):
        kind = "tuple" if issubclass(type(value), tuple) else "list"
        return f"pass floats: {kind}(map(float, {label}))" if are_numbers(value) else ""
    return f"pass a float: float({label})" if isinstance(value, Number) else ""


def are_numbers(values: Collection[Any]) -> bool:
    """Return whether there are values, and all of them are numbers."""
    return len(values) > 0 and all(isinstance(value, Number) for value in values)


def described(value: Any) -> str:
    """Return the type of an array of another package, with the package."""
    return f"{with_article(type(value).__name__)} of {package_of(type(value))}"


def refuse_foreign(f: Callable[..., Any], key: int | str, value: Any) -> None:
    """Raise if an argument to differentiate with respect to is an array of another package."""
    if foreign_array(value):
        raise not_differentiable(f, key, value)


def refused(
    f: Callable[..., Any], key: int | str, error: InvalidTangentError
) -> NonDifferentiableArgumentError:
    """Return the error for an argument that is or holds something that cannot be lifted."""
    return NonDifferentiableArgumentError(
        f"cannot take the gradient of {name_of(f)} with respect to {describe(f, key)}: "
        f"{error.what}",
        why=error.why,
        fix=error.fix,
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
    f = users_function(f)
    if isinstance(f, functools.partial):
        return f"a partial of {name_of(f.func)}"
    if answers_itself(f, "__getattribute__", "__getattr__"):
        return with_article(type(f).__name__)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if name is None:
        return with_article(type(f).__name__) if answers_itself(f, "__repr__") else repr(f)
    code = getattr(f, "__code__", None)
    if code is None or not name.endswith("<lambda>"):
        return name
    place = file_and_line(code.co_filename, code.co_firstlineno)
    return f"the lambda at {os.path.basename(place)}"
