"""Calls of NumPy's functions with foreign operands: who takes the call, in the order of NumPy.

An operand whose class has ``__array_ufunc__`` or ``__array_function__`` runs its own code as part
of the program.  One that NumPy converts becomes an array first; ``__array__`` runs as part of the
program.  Of anything else NumPy makes an array of objects, whose elements' operators run.  What no
one of these describes is refused by a message that names the operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from numbers import Number
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import (
    asks,
    flat,
    is_compiled,
    is_mask,
    is_other,
    is_users_array,
    ufunc_of,
)
from mooncake_py.application.native_writes import WRITERS
from mooncake_py.application.out_argument import named_out
from mooncake_py.application.seen_calls import reaches_active, run_seen
from mooncake_py.containers.sequences import items_of
from mooncake_py.diagnostics.native_modules import data_taken_out, is_constant_library
from mooncake_py.diagnostics.places import is_library
from mooncake_py.diagnostics.refusals import names
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.errors import MissingRuleError
from mooncake_py.language.elements import as_element, converts_itself, require_number
from mooncake_py.modules import module_of, package_of
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import BilinearRule, ElementwiseRule, LinearRule
from mooncake_py.runtime import buffers, numerals
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.exact_numbers import exact
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.numpy_operands import MISSING, Conversion, Sight, sight_of
from mooncake_py.runtime.watched import watch_array
from mooncake_py.tangents.subclasses import plain_parts
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "MAKING", "as_input", "as_inputs", "as_options", "as_whole", "is_constant", "is_users",
    "refusal", "require_known", "run_constant",
]  # fmt: skip

NUMBERS: tuple[Any, ...] = (float, complex, int)
JOINING = frozenset({
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block,
    np.select, np.choose, np.lexsort, np.linalg.multi_dot,
})  # fmt: skip
CONVERTING_TWICE = frozenset({np.dot, np.inner, np.vdot, np.correlate, ndarray.dot})
"""Functions that find the dtype of their result first, for which NumPy converts all operands."""
COMPUTING = (BilinearRule, ElementwiseRule, LinearRule)


# Constants.


def is_constant(ctx: Mode, f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether the plain call will do: nothing is active, written, or code of the user's."""
    values = (*args, *kwargs.values())
    if any(map(ctx.contains_active, values)) or f in WRITERS:
        return False
    _, method, _ = ufunc_of(f, args)
    if method == "at" or named_out(f, args, kwargs)[1].get("out") is not None:
        return False
    if any(is_users(v) for v in flat(values) if is_other(v)):
        return False
    arrays = [v for v in flat(values) if is_users_array(v)]
    return not (arrays and reaches_active(ctx, arrays))


def is_users(value: Any) -> bool:
    """Return whether a class has methods in Python that are part of the user's program."""
    for cls in type(value).__mro__:
        for part in cls.__dict__.values():
            if type(part) is FunctionType:
                return not is_library(part.__code__.co_filename)
    return callable(value) and not isinstance(value, type)


def run_constant(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the plain call, of constants."""
    values = (*args, *kwargs.values())
    refuse_endless(ctx, f, kwargs)
    y = watch_array(ctx, run_seen(ctx, f, values, partial(f, *args, **kwargs)))
    return numerals.checked(ctx, f, values, y)


def refuse_endless(ctx: Reporting, f: Any, kwargs: Any) -> None:
    """Raise if the class of a mask runs ufuncs in a library, which calls NumPy with the mask again.

    The plain call ends in a RecursionError; under the limit that derivatives raise, the process
    would end.
    """
    mask = kwargs.get("where")
    if mask is None or not is_other(mask) or is_users(mask):
        return
    if sight_of(mask).ufuncs not in (MISSING, None):
        raise refusal(ctx, f, mask)


# Conversion.


def as_inputs(ctx: Mode, f: Any, values: Any) -> Any:
    """Return arguments with arrays for what NumPy converts, in sequences too."""
    if f in CONVERTING_TWICE:
        for value in values:
            as_input(ctx, f, value)
    if f in JOINING:
        return tuple([as_joined(ctx, f, v) for v in values])
    return tuple([as_input(ctx, f, v) for v in values])


def as_joined(ctx: Mode, f: Any, value: Any) -> Any:
    """Return a sequence of arrays, of each of which NumPy makes an array by itself."""
    t = type(value)
    if t is not list and t is not tuple:
        return as_input(ctx, f, value)
    convert = as_joined if f is np.block else as_input
    return t([convert(ctx, f, part) for part in value])


def as_input(ctx: Mode, f: Any, value: Any) -> Any:
    """Return an argument as the array that NumPy makes of it, where it makes one.

    What becomes an element of an array of objects stays as it is.
    """
    t = type(value)
    if t is list or t is tuple:
        parts = [as_item(ctx, f, part) for part in value]
        changed = any(new is not old for new, old in zip(parts, value, strict=True))
        return t(parts) if changed else value
    if issubclass(t, (np.generic, str, bytes)):
        return exact(value)
    if not is_other(value) or isinstance(value, (str, bytes)):
        return value
    if is_compiled(f) and isinstance(value, Number):
        return number_of(ctx, value)
    convert = CONVERSIONS.get(sight_of(value).conversion)
    return value if convert is None else convert(ctx, f, value)


def as_item(ctx: Mode, f: Any, value: Any) -> Any:
    """Return an item of a sequence likewise: of one without axes the number that it stores."""
    made = as_input(ctx, f, value)
    if not isinstance(made, ndarray) or made.ndim:
        return made
    if converts_itself(value, made.dtype):
        if made.dtype.kind != "f":  # the dtype of the whole decides
            raise refusal(ctx, f, value)
        return as_element(ctx, made.dtype, value)
    require_number(made.dtype, value)
    return made


def as_options(ctx: Mode, f: Any, kwargs: Any) -> dict[str, Any]:
    """Convert keyword arguments likewise, a mask to booleans.

    Of a ufunc the others must be numbers.
    """
    for name, v in kwargs.items():
        if v is np.ma.masked and name != "out":
            raise unsupported(
                ctx,
                f"{names(f)[0]} is called with {name}=np.ma.masked together with active data",
                why="NumPy converts that constant to nan, with a warning, or refuses it",
                fix="give a number: np.nan, or the value that masked elements stand for",
            )
    all_convert = not isinstance(ufunc_of(f)[0], np.ufunc)
    options = {
        name: as_input(ctx, f, v)
        if name not in ("out", "where") and (all_convert or isinstance(v, NUMBERS))
        else v
        for name, v in kwargs.items()
    }
    if "where" in options:
        options["where"] = as_mask(ctx, f, options["where"])
    return options


def as_mask(ctx: Mode, f: Any, value: Any) -> Any:
    """Convert an argument `where` to bools as NumPy does, which accepts no ints."""
    if is_mask(value):
        return value
    if is_by_method(value):
        value = array_by_method(ctx, f, value, np.dtype(bool))
    mask = unwrapped(plain_parts(as_input(ctx, f, value)))
    np.logical_not(False, where=mask, out=np.empty(np.shape(mask), bool))  # raises if it is none
    return np.asarray(mask, bool)


def scalar_of(ctx: Mode, f: Any, value: Any) -> Any:
    """Return the scalar that NumPy makes of an instance of a subclass of a number of Python.

    It asks ``__float__``, unlike Python, and takes the precision for that of the number.
    """
    plain: Any = exact(value)
    kind = type(plain)
    if derivable(value, f"__{kind.__name__}__") is not None:
        plain = ctx.call(kind, value)
    return ctx.call(np.asarray(exact(value)).dtype.type, plain)


def number_of(ctx: Mode, value: Any) -> Any:
    """Return the number that compiled code takes an object for: that of a float it reads itself."""
    return exact(value) if isinstance(value, NUMBERS) else ctx.call(float, value)


def array_by_method(ctx: Mode, f: Any, value: Any, *dtype: Any, **copy: Any) -> Any:
    """Return the array that ``__array__`` gives."""
    if not is_users(value) and not ctx.contains_active(value):
        return np.asarray(value)
    made = ctx.method(value, "__array__", *dtype, **copy)
    if not isinstance(made, ndarray):
        raise ValueError("object __array__ method not producing an array")
    return made


MAKING = {
    np.array: True,
    **dict.fromkeys((np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)),
}  # fmt: skip
"""Functions that make an array of an object, and whether they ask it for a copy."""


def as_whole(ctx: Mode, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of a function that makes an array, with what ``__array__`` gives.

    The method is told the dtype, and to make the copy itself if it can: NumPy makes none then.
    """
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    asked = () if dtype is None else (np.dtype(dtype),)
    value, *rest = args
    if type(value) in (list, tuple):
        return (items_by_method(ctx, f, value, asked), *rest), kwargs
    if not is_by_method(value):
        return args, kwargs
    copy = kwargs.get("copy", MAKING[f])
    if copy is not None and takes_copy(value):
        made = array_by_method(ctx, f, value, *asked, copy=copy)
        return (made, *rest), kwargs | {"copy": None}
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return (array_by_method(ctx, f, value, *asked), *rest), kwargs


def items_by_method(ctx: Mode, f: Any, value: Any, asked: tuple[Any, ...]) -> Any:
    """Return a sequence with what ``__array__`` gives for items, if it is told a dtype."""
    t = type(value)
    if t is list or t is tuple:
        return t([items_by_method(ctx, f, part, asked) for part in value]) if asked else value
    if not is_by_method(value):
        return value
    made = array_by_method(ctx, f, value, *asked)
    return made if made.ndim else value


def is_by_method(value: Any) -> bool:
    """Return whether NumPy calls ``__array__`` of an object."""
    return is_other(value) and sight_of(value).conversion is Conversion.METHOD


def takes_copy(value: Any) -> bool:
    """Return whether the method has a parameter `copy`, as from NumPy 2 on."""
    method = getattr(type(value), "__array__", None)
    try:
        parameters = inspect.signature(method or value.__array__).parameters
    except (TypeError, ValueError):
        return False
    return "copy" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def array_of_memory(ctx: Mode, f: Any, value: Any) -> Any:
    """Return an array over the memory of an object."""
    if isinstance(value, buffers.BUFFERS):
        buffers.refuse_read(ctx, value)
    elif ctx.contains_active(value):  # of which the engine would not know
        if hasattr(value, "__array__"):
            return array_by_method(ctx, f, value)
        raise refusal(ctx, f, value)
    if isinstance(f, np.ufunc):
        return np.array(value)  # the adjoint may read it when its memory has changed
    return watch_array(ctx, np.asarray(value))


def array_of_items(ctx: Mode, f: Any, value: Any) -> Any:
    """Return the items of an object that has a length; the object itself if it has none."""
    items = items_of(ctx, value)
    return value if items is None else [as_input(ctx, f, part) for part in items]


CONVERSIONS: dict[Conversion, Callable[[Any, Any, Any], Any]] = {
    Conversion.NUMBER: scalar_of,
    Conversion.METHOD: array_by_method,
    Conversion.INTERFACE: array_of_memory,
    Conversion.BUFFER: array_of_memory,
    Conversion.SEQUENCE: array_of_items,
}


# Refusals.


def require_known(ctx: Reporting, f: Any, values: Any) -> None:
    """Raise if an argument that NumPy could not convert would reach the rule of a function."""
    computes = isinstance(registry.find(f), COMPUTING)
    for value in flat(tuple(values)):
        if is_other(value) and (computes or asks(f, value)):
            raise refusal(ctx, f, value)


def refusal(ctx: Reporting, f: Any, value: Any) -> MissingRuleError:
    """Return the error for a call in which an operand takes part in a way that no rule knows."""
    kind = type(value)
    name = kind.__qualname__
    module = package_of(kind)
    full = name if module in ("builtins", "__main__") else f"{module}.{name}"
    return unsupported(
        ctx,
        f"{names(f)[0]} is called with {with_article(full)} together with active data",
        why=f"{how(value, sight_of(value))}; the rule is for arrays and numbers",
        fix=taken_out(value),
    )


def how(value: Any, sight: Sight) -> str:
    """Return a description of NumPy's treatment of an operand."""
    name = type(value).__name__
    if sight.ufuncs is not MISSING:
        return f"NumPy leaves the call to the __array_ufunc__ of {name}"
    if sight.functions is not MISSING:
        return f"NumPy leaves the call to the __array_function__ of {name}"
    return f"NumPy makes an array of objects of {name}, and runs methods of these"


def taken_out(value: Any) -> str:
    """Return how to pass the data of an object to NumPy."""
    kind = type(value)
    if is_constant_library(module_of(kind)):
        return data_taken_out(kind.__module__)
    for name, suffix in (("to_numpy", "()"), ("toarray", "()"), ("values", "")):
        if hasattr(kind, name):
            return f"pass its array to NumPy: operand.{name}{suffix}"
    if isinstance(value, Active) or hasattr(kind, "__array__"):
        return "pass its array to NumPy: np.asarray(operand)"
    return "use operators, as in a * b, or pass numbers and arrays"
