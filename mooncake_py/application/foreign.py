"""Operands that are neither numbers nor arrays, found before a rule of NumPy runs.

NumPy asks such an operand first: its class may take the call over, or convert it, or the call runs
its operators.  So a rule raises `Met` before it does anything, and the language answers what runs.
The rules of the most frequent kinds look where they meet another type than that of a number or an
array; the others look at all their arguments first.
"""

from __future__ import annotations

from numbers import Number
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import runs_python
from mooncake_py.containers import effects
from mooncake_py.diagnostics.refusals import names
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.modules import DISPATCHER, is_of_solvers, module_of
from mooncake_py.rules.joining import JOINS
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.methods import ANSWERED
from mooncake_py.runtime.numpy_operands import (
    PLAIN,
    Conversion,
    is_foreign,
    is_foreign_class,
    sight_of,
    takes_over,
)
from mooncake_py.tangents.subclasses import Met, is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "AS_ARRAYS", "MASKS", "asks", "flat", "is_compiled", "is_dispatching", "is_mask", "is_of_numpy",
    "is_other", "is_users_array", "may_write", "meet", "plain_operand", "require_mask",
    "require_plain", "ufunc_of",
]  # fmt: skip

AS_ARRAYS = frozenset({np.asarray, np.asanyarray})
OF_PYTHON = frozenset({"", "bisection", "operators", "python_builtins"})
"""The rules for functions of Python's, in terms of which no function of NumPy is replaced."""
OF_SCIPY = "mooncake_py.integrations.scipy."
"""The rules for SciPy."""
LOOKING = frozenset({np.isscalar, np.iterable})
"""Functions of NumPy that look at the class of an operand, and convert nothing."""
BOTH = (BuiltinFunctionType, MethodDescriptorType)
CYTHON = frozenset({"cython_function_or_method", "fused_cython_function"})
DISPATCHING = frozenset({"_Function", "MultiUFunc"})


def ufunc_of(f: Any, args: Any = ()) -> tuple[np.ufunc | None, str, Any]:
    """Return the ufunc that a call is of, the name of its method, and the arguments.

    ``np.ufunc.at`` takes the ufunc as its first argument.
    """
    if isinstance(f, np.ufunc):
        return f, "__call__", args
    if type(f) in BOTH:
        owner = getattr(f, "__self__", None)
        if isinstance(owner, np.ufunc):
            return owner, f.__name__, args
        if getattr(f, "__objclass__", None) is np.ufunc and args and type(args[0]) is np.ufunc:
            return args[0], f.__name__, args[1:]
    return None, "", args


def is_of_numpy(f: Any) -> bool:
    """Return whether a function asks its operands as those of NumPy do."""
    if isinstance(f, np.ufunc) or type(f) is DISPATCHER:
        return True
    if type(f) is BuiltinFunctionType:
        return isinstance(f.__self__, (np.ufunc, ndarray)) or is_in(f, "numpy", "scipy")
    if type(f) is MethodDescriptorType:
        return f.__objclass__ in (ndarray, np.ufunc)
    if type(f) is not FunctionType:
        return is_compiled(f) or is_dispatching(f)
    if is_in(f, "numpy", "scipy"):
        return True
    module = module_of(f)  # parts of overlays
    if module.startswith(OF_SCIPY):
        return not is_of_solvers(f)
    other, _, family = module.partition("mooncake_py.rules.")
    return not other and family not in OF_PYTHON


def is_compiled(f: Any) -> bool:
    """Return whether a function is one of SciPy in machine code."""
    return is_fortran(f) or (
        (type(f) is BuiltinFunctionType or type(f).__name__ in CYTHON) and is_in(f, "scipy")
    )


def is_dispatching(f: Any) -> bool:
    """Return whether a function is one of `scipy.fft`, or of several ufuncs of `scipy.special`.

    Those are objects, which convert the arguments and call others.
    """
    return type(f).__name__ in DISPATCHING and is_in(f, "scipy")


def is_fortran(f: Any) -> bool:
    """Return whether a function is a wrapper of Fortran, of BLAS for example."""
    return type(f).__name__ == "fortran"


def may_write(f: Any) -> bool:
    """Return whether a function is one of SciPy in machine code that may write to arguments.

    Wrappers of Fortran write to the memory of an object that is not an array, even if they are told
    not to.
    """
    return is_fortran(f) or (type(f) is BuiltinFunctionType and is_in(f, "scipy"))


def is_in(f: Any, *packages: str) -> bool:
    module = module_of(f)
    return module.partition(".")[0] in packages and not module.startswith("numpy.random")


def require_plain(f: Any, value: Any) -> None:
    """Raise `Met` if a function computes elements, and NumPy would ask an operand of it first."""
    if not is_foreign(value):
        return
    asked = is_of_numpy(f) and any(is_other(v) or is_users_array(v) for v in flat(value))
    if asked or (f is abs and is_users_array(value)):
        raise Met


def plain_operand(ctx: Mode, f: Any, value: Any) -> Any:
    """Return an operand unless NumPy would ask it first, as in :func:`require_plain`.

    A function of the user's converts it unseen, which would lose the derivative of what it holds.
    One of Python's runs a method of it, as is asked afterwards.
    """
    require_plain(f, value)
    if is_other(value) and f not in ANSWERED and ctx.contains_active(value):
        raise unsupported(
            ctx,
            f"{names(f)[0]} is called with an object of {type(value).__name__} that holds active "
            "data",
            why="its rule is for arrays and numbers",
            fix="make an array or a number of the object, and call the function with that",
        )
    return value


def meet(f: Any, args: Any, kwargs: Any) -> None:
    """Raise `Met` if NumPy would ask an argument before it runs a function."""
    if type(f) is MethodDescriptorType and args and not isinstance(args[0], f.__objclass__):
        f(*map(unwrapped, args), **unwrapped(kwargs))  # raises
    values = (*args, *kwargs.values())
    if kwargs and "where" in kwargs and is_of_numpy(f):
        require_mask(kwargs["where"])
    if not any(map(is_foreign, values)):
        return
    if args and type(args[0]) is np.flatiter:
        if f in JOINS:
            f(args[0].base.copy().flat)  # raises: it looks for operands in it, up to its end
        if f in AS_ARRAYS and kwargs.get("copy"):
            raise Met
    if not is_of_numpy(f):
        if is_drawing(f) and effects.would_write(values, effects.READING):
            raise Met
        return
    if any(asks(f, v) or is_users_array(v) for v in flat(values)):
        raise Met


def require_mask(where: Any) -> None:
    """Raise `Met` if NumPy would convert an argument `where` first, or raise an error."""
    if not is_mask(where):
        raise Met


def is_mask(where: Any) -> bool:
    """Return whether an argument `where` is made of booleans, or left out."""
    return where.dtype.kind == "b" if type(where) is ndarray else type(where) in MASKS


MASKS = frozenset({bool, np.bool_, type(np._NoValue)})  # type: ignore[attr-defined]


def is_drawing(f: Any) -> bool:
    """Return whether a function is a method of one of NumPy's generators of random numbers."""
    return module_of(f).startswith("numpy.random")


def is_users_array(value: Any) -> bool:
    """Return whether a value is of a subclass of ndarray that has methods in Python."""
    return is_instance(value) and runs_python(value)


def asks(f: Any, value: Any) -> bool:
    """Return whether an argument has a say in what a function of NumPy does.

    Of a ufunc all arguments are operands; another function may take callables and options.
    """
    if not is_other(value) or f in LOOKING:
        return False
    if ufunc_of(f)[0] is not None or f is np.ufunc.at:
        return True
    how = sight_of(value).conversion
    in_python = type(f) is FunctionType or is_compiled(f) or is_dispatching(f)
    if takes_over(value):  # functions in Python use operators, as of a LinearOperator or Polynomial
        return not in_python or how is not Conversion.OBJECT
    if effects.would_write((value,), effects.READING):  # once for each time that NumPy reads it
        return True
    if how is Conversion.NUMBER:
        return computes_otherwise(value)
    if how in (Conversion.METHOD, Conversion.INTERFACE) or isinstance(value, Number):
        return True
    if how is Conversion.BUFFER and may_write(f):
        return True
    if in_python:  # of SciPy, some of which take sparse matrices
        return False
    return hasattr(type(value), "__array_priority__") or hasattr(type(value), "shape")


def computes_otherwise(value: Any) -> bool:
    """Return whether a class of numbers defines operators or conversions of its own in Python."""
    for cls in type(value).__mro__:
        if cls.__module__ == "builtins":
            return False
        if any(n.startswith("__") and type(m) is FunctionType for n, m in cls.__dict__.items()):
            return True
    return False


def is_other(value: Any) -> bool:
    """Return whether an operand is foreign and no instance of a subclass of ndarray.

    Those, and iterators over arrays, are looked at where something is active.
    """
    t = type(value)
    return is_foreign_class(t) and not issubclass(t, (ndarray, np.flatiter))


def flat(value: Any) -> Any:
    """Yield a value, or the items of a sequence at any depth."""
    t = type(value)
    if t is not list and t is not tuple:
        yield value
    elif not PLAIN.issuperset(map(type, value)):
        for part in value:
            yield from flat(part)
