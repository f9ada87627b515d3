"""Operators of ints and bools as Numba compiles them: in 64 bits.

`mooncake_py.syntax.promotions` puts calls of these functions into jitted functions.  A result that
exceeds 64 bits, which would wrap around in compiled code, is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.syntax.nodes import BINARY, INPLACE, UNARY
from mooncake_py.syntax.promotions import PREFIX

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]

SIGNED, UNSIGNED = range(-(2**63), 2**63), range(2**64)
BITWISE = frozenset({"and_", "or_", "xor"})
INTS: Any = (int, np.integer, np.bool_)
WIDE: Any = (int, np.int64)
TRUTHS = (bool, np.bool_)
MESSAGE = (
    "the result of {} of {!r} and {!r} is not an int of 64 bits{}, as in compiled code, where it "
    "would wrap around; compute it with floats, or in a jitted function of its own: that runs "
    "compiled where only constants go in"
)
JOINED = (
    "{}v of v of {}, one of several values: the type in which compiled code keeps them decides "
    "whether the result wraps around there; write np.int64(v)"
)
UNARY_SIGNS = {"neg": "-", "invert": "~", "pos": "+"}
INNER = (
    "the result of {} of arrays of {} and {}, within an expression, exceeds their dtype: compiled "
    "code computes the elements in 64 bits there; convert the arrays by astype(np.int64)"
)

# Ints.


def computed(name: str, a: Any, b: Any) -> Any:
    """Return the result of an operator on two ints or bools.

    That of two unsigned ints is unsigned, which is kept for the next operation.
    """
    op = getattr(operator, name)
    if name in BITWISE and isinstance(a, TRUTHS) and isinstance(b, TRUTHS):
        return op(np.bool_(a), np.bool_(b))
    unsigned = isinstance(a, np.unsignedinteger) and isinstance(b, np.unsignedinteger)
    y = op(int(a), int(b))
    if type(y) is not int or y not in (UNSIGNED if unsigned else SIGNED):
        kind = " without a sign" if unsigned else ""
        raise OverflowError(MESSAGE.format(name.rstrip("_"), int(a), int(b), kind))
    return np.uint64(y) if unsigned else y


def beside(a: Any, other: Any) -> Any:
    """Return an operand as it is used if the other is not an int, or one of the two is an array."""
    if issubclass(type(other), ndarray):
        return a
    if issubclass(type(a), ndarray):
        is_wide = isinstance(other, WIDE) and not isinstance(other, bool)
        return widened(a) if is_wide else a
    return a.item() if isinstance(a, (np.integer, np.bool_)) else a


def widened(a: Any) -> Any:
    """Return an array or a scalar of ints as it is computed with an int of 64 bits."""
    if a.dtype.kind == "u" and a.dtype.itemsize == 8:
        return a.astype(np.float64)
    return a.astype(np.int64) if a.dtype.kind in "iu" else a


def run_binary(operators: Any, name: str, a: Any, b: Any) -> Any:
    """Run an operator, of those of a context or of the module `operator`."""
    if isinstance(a, INTS) and isinstance(b, INTS):
        return computed(name, a, b)
    return getattr(operators, name)(beside(a, b), beside(b, a))


def run_inner(operators: Any, name: str, a: Any, b: Any) -> Any:
    """Run an operator in an expression that Numba compiles to one loop, with elements in 64 bits.

    The result would be that of NumPy if it had a name.
    """
    y = run_binary(operators, name, a, b)
    if all(issubclass(type(v), ndarray) and v.dtype.kind in "biu" for v in (a, b, y)):
        wide = getattr(operator, name)(a.astype(np.int64), b.astype(np.int64))
        truths = name in BITWISE and y.dtype.kind == "b"
        if not truths and (y.dtype.kind == "b" or y.dtype.itemsize < 8) and (y != wide).any():
            raise OverflowError(INNER.format(name.rstrip("_"), a.dtype, b.dtype))
    return y


def run_inplace(operators: Any, name: str, a: Any, b: Any) -> Any:
    """Run an operator that changes an array, and is the binary one on numbers."""
    if issubclass(type(a), ndarray):
        return getattr(operators, name)(a, b)
    return run_binary(operators, BINARY_OF[name], a, b)


def run_unary(operators: Any, name: str, a: Any) -> Any:
    """Run an operator on a value: a bool is an int, except for ``~``.

    Compiled code negates in the bits that there are; the result has 64.
    """
    if isinstance(a, TRUTHS):
        return not a if name == "invert" else getattr(operator, name)(int(a))
    if isinstance(a, np.integer):
        with np.errstate(over="ignore"):
            y = getattr(operator, name)(a)
        return np.uint64(y) if isinstance(a, np.unsignedinteger) else int(y)
    return getattr(operators, name)(a)


def run_joined(operators: Any, name: str, a: Any) -> Any:
    """Run an operator on one of several values, which compiled code converts to one type.

    That may have more bits than this one.
    """
    y = run_unary(operators, name, a)
    if isinstance(a, np.integer) and int(y) != getattr(operator, name)(int(a)):
        raise OverflowError(JOINED.format(UNARY_SIGNS[name], a.dtype))
    return y


# Functions.


def as_int(a: Any) -> Any:
    """Return ``int(a)`` of a constant: of unsigned ints without a sign, too."""
    return np.uint64(a) if isinstance(a, np.unsignedinteger) else int(a)


def wide(a: Any) -> Any:
    """Return an int of few bits as one of 64, and other values as they are."""
    return int(a) if isinstance(a, np.integer) else a


def run_wide(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run `wide`."""
    return wide(*args)


def total(a: Any) -> Any:
    """Return ``sum(a)`` of a constant."""
    is_vector = issubclass(type(a), ndarray) and a.ndim == 1 and a.dtype.kind in "biu"
    return sum(a.tolist()) if is_vector else sum(a)


def arguments(f: np.ufunc, args: tuple[Any, ...]) -> list[Any]:
    """Return arguments of a universal function in the types in which Numba computes it.

    It has no floats of 16 bits.
    """
    if has_halves(f) and all(map(is_small, args)):
        return [a.astype(np.int16) if issubclass(type(a), ndarray) else np.int16(a) for a in args]
    if len(args) == 2:
        a, b = args
        pairs = (a, b), (b, a)
        return [
            widened(one)
            if isinstance(one, (np.integer, ndarray))
            and isinstance(two, WIDE)
            and not isinstance(two, bool)
            else one
            for one, two in pairs
        ]
    return list(args)


def is_small(a: Any) -> bool:
    """Return True for ints of 8 bits and bools, and arrays of them."""
    if isinstance(a, bool):
        return True
    return isinstance(a, (np.generic, ndarray)) and a.dtype.kind in "biu" and a.dtype.itemsize == 1


def has_halves(f: np.ufunc) -> bool:
    """Return True for a function of floats, of which that of 8 bits has 16."""
    return f.types[0].endswith("->e")


BINARY_OF = dict(zip(INPLACE.values(), BINARY.values(), strict=True))

FUNCTIONS: dict[str, tuple[Callable[..., Any], Handler]] = {}


def handled(run: Callable[..., Any], name: str, prefix: str = "") -> None:
    """Make the function of an operator, and its handler."""

    def function(*args: Any) -> Any:
        return run(operator, name, *args)

    def handler(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        return run(ctx, name, *args)

    FUNCTIONS[prefix + name.rstrip("_")] = function, handler


def run_conversion(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``int`` or ``sum``."""
    (a,) = args
    constant = isinstance(a, np.generic) or (issubclass(type(a), ndarray) and a.dtype.kind in "biu")
    return f(a) if constant else ctx.call(int if f is as_int else sum, a)


def run_ufunc(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a universal function, which is the first argument."""
    return ctx.call(args[0], *arguments(args[0], args[1:]))


def ufunc(f: np.ufunc, *args: Any) -> Any:
    """Return the result of a universal function of constants."""
    return f(*arguments(f, args))


for _name in BINARY.values():
    handled(run_binary, _name)
    handled(run_inner, _name, "inner_")
for _name in INPLACE.values():
    handled(run_inplace, _name)
for _name in UNARY.values():
    handled(run_unary, _name)
    handled(run_joined, _name, "joined_")
FUNCTIONS |= {
    "int": (as_int, run_conversion),
    "wide": (wide, run_wide),
    "sum": (total, run_conversion),
    "ufunc": (ufunc, run_ufunc),
}

HANDLERS: dict[Any, Handler] = dict(FUNCTIONS.values())
globals().update({PREFIX + name: function for name, (function, _) in FUNCTIONS.items()})
