"""Rules for the commonest calls of NumPy's functions that are written in Python.

Their source is derived, or a replacement of it, whatever the arguments are: some twenty operations
for each call.  Where all arguments are numbers and arrays that are finite, and the rest is as
`accepts` wants it, one entry takes their place.  The other way is the reference: debug mode goes by
it, and so do calls whose rules users have replaced, and results that are not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.errors import Location
from mooncake_py.rules import registry
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.rules.kinds import VjpRule

__all__ = [
    "SHORTCUTS",
    "VIEWS",
    "VIEWS_OF_CONTIGUOUS",
    "Shortcut",
    "are_finite",
    "are_floats",
    "shortcut",
]

F = TypeVar("F", bound=Callable[..., Any])


class Shortcut(VjpRule):
    """A rule by output and pullback for some calls of a function.

    Attributes
    ----------
    accepts : callable
        ``accepts(*args, **kwargs)`` returns whether the shortcut takes these, which are numbers and
        arrays without derivatives.  Nor does it take calls that do not fit its signature.
    wrt : tuple of int or None
        Positions of the arguments that may be active, any if None.
    """

    __slots__ = ("accepts", "wrt")

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        rule: Callable[..., Any],
        jvp: Callable[..., Any],
        accepts: Callable[..., bool],
        wrt: tuple[int, ...] | None,
    ) -> None:
        super().__init__(functions, origin, rule, (), jvp)
        self.accepts = accepts
        self.wrt = wrt

    def by_position(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments of a call, the arrays among them by their positions."""
        code: Any = getattr(self.rule, "__code__")  # noqa: B009
        names = code.co_varnames[: code.co_argcount]
        defaults = dict(zip(names[::-1], (self.rule.__defaults__ or ())[::-1], strict=False))
        last = max((names.index(n) for n, v in kwargs.items() if is_moved(n, v, names)), default=-1)
        if last < len(args):
            return args, kwargs
        kwargs, filled = dict(kwargs), list(args)
        for name in names[len(args) : last + 1]:
            if name not in kwargs and name not in defaults:
                break
            filled.append(kwargs.pop(name, defaults.get(name)))
        return filled, kwargs

    def takes(self, primals: Any, active: Any, kwargs: Any) -> bool:
        """Return whether it is for a call, of which some arguments are active: those not None."""
        if self.wrt is not None:
            for i, part in enumerate(active):
                if part is not None and i not in self.wrt:
                    return False
        try:
            return self.accepts(*primals, **kwargs) and are_finite(primals)
        except (TypeError, ValueError):
            return False


def is_moved(name: str, value: Any, names: Any) -> bool:
    """Return whether an argument is given by name, and is more than a number."""
    return name in names and type(value) not in NUMBERS


NUMBERS = frozenset({int, float, bool, str, type(None)})
SHORTCUTS: dict[Any, Shortcut] = {}


VIEWS = frozenset({
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.atleast_1d, np.atleast_2d,
    np.atleast_3d, np.broadcast_to, np.expand_dims, np.squeeze, np.moveaxis, np.rollaxis,
    np.swapaxes, np.transpose, np.matrix_transpose, np.flip, np.fliplr, np.flipud, np.rot90,
    np.diagonal, ndarray.squeeze, ndarray.swapaxes, ndarray.transpose, ndarray.diagonal,
    *filter(None, [getattr(np, "unstack", None)]),
})  # fmt: skip
"""Functions of one array that return views of it, or lists of these, except for odd arguments."""
VIEWS_OF_CONTIGUOUS = frozenset({np.reshape, np.ravel, ndarray.reshape, ndarray.ravel})
"""Functions that do so for an array in the order of C, and may copy any other."""


def shortcut(
    *functions: Hashable,
    accepts: Callable[..., bool],
    jvp: Callable[..., Any],
    wrt: tuple[int, ...] | None = None,
) -> Callable[[F], F]:
    """Declare a rule for some calls; decorates ``rule(*args, **kwargs) -> (output, pullback)``."""
    origin = registry.calling_location()

    def declare(rule: F) -> F:
        made = Shortcut(functions, origin, rule, jvp, accepts, wrt)
        SHORTCUTS.update(dict.fromkeys(functions, made))
        return rule

    return declare


def are_finite(values: Any) -> bool:
    """Return whether all numbers and arrays among some values, at any depth, are finite."""
    for value in values:
        t = type(value)
        if t is ndarray:
            if value.dtype.kind in "fc" and not surely_finite(value):
                return False
        elif t is float or t is np.float64:
            if not math.isfinite(value):
                return False
        elif issubclass(t, (list, tuple)) and not are_finite(value):
            return False
    return True


def are_floats(*values: Any) -> bool:
    """Return whether all are arrays of floats."""
    return all(type(value) is ndarray and value.dtype.kind == "f" for value in values)
