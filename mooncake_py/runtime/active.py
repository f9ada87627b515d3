"""Active scalars: floats and complex numbers through which a derivative flows.

A Python float has no address, so an active one is wrapped.  Inside rewritten code the context
handles the wrapper; outside (C callers such as ``functools.reduce``, comparisons, printing) its
operators call the context, and conversions that would keep only the number raise.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import DerivativeDropError
from mooncake_py.rooms import is_engine

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "WHOLE_FROM", "Active", "active_number", "innermost", "innermost_context", "part_of_real",
    "plain_class", "primal_of", "shared_number", "whole_from",
]  # fmt: skip


class Active:
    """A scalar on the tape, made by `active_number`."""

    __slots__ = ("context", "grad", "primal")

    primal: Any  # the value, of the type that the user's code would see
    grad: Any  # the cotangent accumulated on the reverse pass
    context: Mode  # the differentiated call that it belongs to

    active = True

    def protect(self) -> None:
        """Do nothing: a number cannot be overwritten."""

    def keep(self, value: Any) -> Any:
        """Return the number itself."""
        return value

    def take(self) -> Any:
        """Return the cotangent, or None where it is zero."""
        grad = self.grad
        return grad if grad else None

    def add(self, g: Any) -> None:
        """Add a cotangent."""
        self.grad = self.grad + g

    add_shared = add

    # isinstance(x, float) holds for an active float, in C code and match patterns too.
    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.primal.__class__  # a number of another level may be inside

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __hash__(self) -> int:
        return hash(self.primal)

    def __str__(self) -> str:
        return self.context.written(str(self.primal), whole=True)

    def __repr__(self) -> str:
        return self.context.written(repr(self.primal), whole=True)

    def __format__(self, spec: str) -> str:
        return self.context.written(format(self.primal, spec), whole=True)

    def __int__(self) -> int:
        return self._stepwise(int(self.primal))

    def __copy__(self) -> Active:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Active:
        return self

    def __round__(self, ndigits: int | None = None) -> Any:
        return self._stepwise(round(self.primal, ndigits))

    def __trunc__(self) -> int:
        return self._stepwise(self.primal.__trunc__())

    def __floor__(self) -> int:
        return self._stepwise(self.primal.__floor__())

    def __ceil__(self) -> int:
        return self._stepwise(self.primal.__ceil__())

    def _stepwise(self, y: Any) -> Any:
        if is_itself(self.primal, y):
            raise _dropped(self, "an int of all its digits")
        return y

    def __float__(self) -> float:
        if _is_compared(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return float(innermost(self))
        raise _dropped(self, "float() in compiled code")

    def __complex__(self) -> complex:
        raise _dropped(self, "complex() in compiled code")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise _dropped(self, "conversion to an array in compiled code")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _dropped(self, "pickling")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return innermost_context(self, inputs).call(function, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return innermost_context(self, args).call(function, *args, **kwargs)


# In the errors of CPython, an active number is what the user takes it for.
Active.__name__ = Active.__qualname__ = "float"


def active_number(primal: Any, context: Mode) -> Active:
    """Return a number of a differentiated call, with zero cotangent.

    A class without a constructor makes objects in half the time of one that has it in Python;
    generated code writes these lines where it needs them.  Measured: 120 -> 60 ns.
    """
    number = Active()
    number.primal = primal
    number.grad = 0.0
    number.context = context
    return number


def is_itself(primal: Any, y: Any) -> bool:
    """Return whether a rounded number is the one that it was made of: its derivative would be lost.

    The int of a number is a step function, with derivative zero.  It is none where neighbouring
    floats are one or more apart: nothing is rounded there.  Packages that compute with the bits of
    numbers go this way, as by ``int(math.frexp(x)[0] * 2**53)``.
    """
    if not isinstance(y, (int, float, np.floating)) or -WHOLE_FROM < y < WHOLE_FROM:
        return False
    primal = innermost(primal)
    if isinstance(primal, int) or y != primal:
        return False
    return bool(whole_from(primal) <= abs(y) < math.inf)


WHOLE_FROM = 2**10  # of the least precise floats


def whole_from(primal: Any) -> float:
    """Return the number from which on all floats of a type are ints."""
    if type(primal) is float or type(primal) is np.float64:
        return 2.0**52
    return 2.0 ** np.finfo(np.asarray(primal).dtype).nmant


def primal_of(value: Any) -> Any:
    """Return the number of an active scalar, and anything else unchanged."""
    return value.primal if type(value) is Active else value


def innermost(value: Any) -> Any:
    """Return the number of an active scalar, however deeply derivatives nest."""
    while type(value) is Active:
        value = primal_of(value)
    return value


def plain_class(value: Any) -> type:
    """Return the class of a value; of an active scalar that of its number, at any level."""
    return value.__class__ if type(value) is Active else type(value)


def _context(value: Active) -> Mode:
    """Return the context of a number, in its own thread: others meet it in shared containers."""
    if value.context.thread != get_ident():
        raise shared_number(value)
    return value.context


def shared_number(value: Active) -> DerivativeDropError:
    """Return the error for a number that another thread differentiates."""
    return DerivativeDropError(
        f"the number {value.primal!r} takes part in a derivative that another thread computes",
        where=current_place()[0],
        why="it is in a list, a dict or an object that is an argument there, and numbers in "
        "containers\nare replaced while a derivative runs, visibly to all threads",
        fix="give each thread a copy, for example by copy.deepcopy, or keep numbers in arrays",
    )


def _is_compared(frame: FrameType | None) -> bool:
    """Return whether a method of the user's runs that compiled code calls for a key of a dict.

    It returns an int or a bool, which have no derivative.
    """
    for _ in range(DEEP):
        if frame is None or is_engine(frame.f_code.co_filename):
            return False
        if frame.f_code.co_name in KEYS:
            return True
        frame = frame.f_back
    return False


KEYS = ("__hash__", "__eq__")
DEEP = 8


def _dropped(value: Active, what: str) -> DerivativeDropError:
    return _context(value).failed(
        DerivativeDropError(
            f"{what} would drop the derivative of an active value",
            where=value.context.user_location(),
            why=f"the value {value.primal!r} is active; compiled code keeps only its number",
            fix="compute with the value itself, or register a rule for the function called here",
        )
    )


def innermost_context(value: Active, others: Any) -> Mode:
    """Return the context of the innermost derivative among those of some operands."""
    ctx = _context(value)
    for other in others:
        if type(other) is Active and other.context.level > ctx.level:
            ctx = other.context
    return ctx


def _forward(name: str) -> Callable[[Active, Any], Any]:
    def method(self: Active, other: Any) -> Any:
        return getattr(innermost_context(self, (other,)), name)(self, other)

    return method


def _reflected(name: str) -> Callable[[Active, Any], Any]:
    def method(self: Active, other: Any) -> Any:
        return getattr(innermost_context(self, (other,)), name)(other, self)

    return method


def _divided(self: Active, other: Any) -> Any:
    return innermost_context(self, (other,)).call(divmod, self, other)


def _dividing(self: Active, other: Any) -> Any:
    return innermost_context(self, (other,)).call(divmod, other, self)


def _unary(name: str) -> Callable[[Active], Any]:
    def method(self: Active) -> Any:
        return getattr(_context(self), name)(self)

    return method


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Active, Any], Any]:
    def method(self: Active, other: Any) -> Any:
        return compare(self.primal, primal_of(other))

    return method


def _attribute(name: str) -> property:
    return property(lambda self: _context(self).scalar_attribute(self, name))


# One by one: with a `__getattr__` CPython 3.11 reads every attribute, those above too, by its
# slowest way.  Measured on float loops: 30 ns for each read, a tenth of a gradient.
for _name in {n for t in (float, complex, np.float64, np.complex128) for n in dir(t)}:
    if not _name.startswith("_") and not hasattr(Active, _name):
        setattr(Active, _name, _attribute(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Active, f"__{_name}__", _forward(_name))
    setattr(Active, f"__r{_name}__", _reflected(_name))
setattr(Active, "__divmod__", _divided)  # noqa: B010
setattr(Active, "__rdivmod__", _dividing)  # noqa: B010
for _name in ("neg", "pos"):
    setattr(Active, f"__{_name}__", _unary(_name))
setattr(Active, "__abs__", lambda self: _context(self).call(abs, self))  # noqa: B010
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Active, f"__{_name}__", _comparison(getattr(operator, _name)))

REAL_SCALARS = frozenset({float, np.float64})


def part_of_real(number: Active, name: str) -> Any:
    """Return ``x.real`` or ``x.imag`` of an active float; Ellipsis for anything else."""
    if name == "real":
        return number if type(innermost(number)) in REAL_SCALARS else Ellipsis
    if name == "imag":
        primal = innermost(number)
        return primal.imag if type(primal) in REAL_SCALARS else Ellipsis
    return Ellipsis
