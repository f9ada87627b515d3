"""A solver's approximations, such as a Hessian: numbers whose derivative is not known.

Fields of a result share memory as in the plain call: a solution may be a row of a simplex.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import SolverError
from mooncake_py.overriding import override
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import address, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.solvers.start import Solved

__all__ = ["approximated"]

Fields = dict[str, Any]


class Approximations(Iterates):
    """Fields of the result of one run of a solver; `stored` are their names."""

    def __init__(self, ctx: Mode, run: Solved | None) -> None:
        super().__init__(ctx, "")
        self.run = run
        self.copies: dict[int, tuple[ndarray, ndarray]] = {}  # by the id, with what it is of

    @override
    def error(self) -> SolverError:
        return SolverError(
            "approximations by a solver have no derivative",
            where=self.where,
            why=f"of its result, the output depends on {' or '.join(self.stored)}",
            fix="compute it from the solution, by `jacobian` or `hessian` of your function, or "
            "hold it constant by stop_gradient",
        )

    @override
    def mark(self, value: Any) -> Any:
        if type(value) is not ndarray or value.dtype.kind not in "fc":
            return super().mark(value)
        if self.run is not None and self.run.knows(value):
            return value
        if id(value) not in self.copies:
            self.copies[id(value)] = value, self.copied(value)
        return self.copies[id(value)][1]

    def copied(self, a: ndarray) -> ndarray:
        """Return a copy of an array, or the part of a copy of that which owns its memory."""
        o = owner(a)
        is_alike = type(o) is ndarray and o.dtype == a.dtype and o.flags.c_contiguous
        if o is a or not is_alike or min(a.strides, default=0) < 0:
            return super().mark(a)
        start = (address(a) - address(o)) // o.itemsize
        return self.ctx.call(part_of, self.mark(o), start, a.shape, a.strides)

    def with_known(self, old: Any, value: Any) -> Any:
        """Return a value with its derivative, in the memory that it shares with other fields."""
        if type(old) is not ndarray or id(owner(old)) not in self.copies:
            return value
        place = self.mark(old)
        self.ctx.assign(place, Ellipsis, value)
        return place


def part_of(whole: ndarray, start: int, shape: Any, strides: Any) -> ndarray:
    """Return a view of memory in the order of C."""
    return np.lib.stride_tricks.as_strided(whole.reshape(-1)[start:], shape, strides)


def approximated(
    ctx: Mode, fields: Fields, known: Fields | None = None, run: Solved | None = None, old: Any = ()
) -> Fields:
    """Return fields of a solver's result with numbers of which the derivatives are not known.

    The `known` fields, which were `old`, share memory with them if they have done so.  What the
    program has itself, by its `run`, has its own derivative.
    """
    marks = Approximations(ctx, run)
    marks.stored = list(fields)

    def marked(value: Any) -> Any:
        held = getattr(value, "__dict__", None)
        if not isinstance(held, dict):
            return marks.mark(value)
        new = copy.copy(value)
        vars(new).update({key: marks.mark(part) for key, part in held.items()})
        return new

    found = {name: marked(value) for name, value in fields.items()}
    for name, value in (known or {}).items():
        found[name] = marks.with_known(old.get(name), value)
    return found
