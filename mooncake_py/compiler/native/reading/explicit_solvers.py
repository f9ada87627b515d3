"""`solve_ivp` by explicit methods, read with the functions that it calls: see `explicit_steps`.

A call stays a node if the text of the steps has not its options, or a function is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from mooncake_py.compiler.native.building.findings import Again, TooMuch
from mooncake_py.compiler.native.building.values import (
    Array,
    Function,
    Known,
    Number,
    Object,
    Partial,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Const

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.reader import FunctionReader

__all__ = ["is_text", "read", "stepped"]

STEPS = "mooncake_py.compiler.native.reading.explicit_steps"
PARAMETERS = (
    "fun", "t_span", "y0", "method", "t_eval", "dense_output", "events", "vectorized", "args",
)  # fmt: skip
SERVED = frozenset({*PARAMETERS, "rtol", "atol", "max_step"})
TIGHT = 1e-6
"""The relative tolerance from which on sizes of steps have no derivative, as elsewhere."""
LEAST = 100 * float(np.finfo(float).eps)
NONE = Known(None)


def is_text(f: Any) -> TypeGuard[FunctionType]:
    """Return True for a function that is there to be read."""
    return type(f) is FunctionType and f.__globals__.get("__name__") == STEPS


def stepped(
    r: FunctionReader, args: Sequence[Value], given: Mapping[str, Value]
) -> Sequence[Value] | None:
    """Return the arguments of the steps, None for what is left to a node."""
    if r.b.place in r.findings.unread_solvers or len(args) > len(PARAMETERS):
        return None
    own = {**dict(zip(PARAMETERS, args, strict=False)), **given}
    method = tableau(own.get("method", Known("RK45")))
    event = only_event(own.get("events", NONE))
    if method is None or event is None or not own.keys() <= SERVED or not is_vector(own.get("y0")):
        return None
    times, further = own.get("t_eval", NONE), own.get("args", NONE)
    is_timed = isinstance(times, Array) and times.kind == FLOAT and len(times.shape) == 1
    numbers = known_number(own, "rtol", 1e-3), known_number(own, "atol", 1e-6)
    longest = known_number(own, "max_step", np.inf)
    direction = direction_of(r, event)
    if (
        not (is_timed or times == NONE)
        or not (further == NONE or isinstance(further, Tuple))
        or python_of(own.get("vectorized", Known(False))) is not False
        or not (numbers[0] >= LEAST and numbers[1] > 0 and longest > 0)
        or direction is None
    ):
        return None
    rest = further if isinstance(further, Tuple) else Tuple(())
    options = [constant(v) for v in (*numbers, longest)]
    is_steady = Known(numbers[0] <= TIGHT)
    return [
        own["fun"], own["t_span"], own["y0"], times, event, direction, rest, *options, is_steady,
        *method,
    ]  # fmt: skip


def read(r: FunctionReader, arguments: Sequence[Value]) -> Sequence[Value]:
    """Read the steps, or find out that the call must be a node."""
    from mooncake_py.compiler.native.reading import explicit_steps  # SciPy is there

    place, r.b.is_exact = r.b.place, False
    try:
        found = r.inlined(explicit_steps.solved, arguments, {})
    except TooMuch:
        raise
    except Unfit as error:
        r.findings.unread_solvers.add(place)
        raise Again from error
    assert isinstance(found, Tuple)
    return found.items


def tableau(method: Value) -> Sequence[Value] | None:
    """Return the order and the coefficients of a method, None for one that is not compiled."""
    from scipy.integrate import RK23, RK45

    for cls in (RK23, RK45):
        name = method.value if isinstance(method, Known) else None
        if name is cls or (type(name) is str and name == cls.__name__):
            matrix = np.zeros((cls.n_stages + 1, cls.n_stages))
            matrix[:-1, : cls.A.shape[1]] = cls.A
            matrix[-1] = cls.B
            parts = matrix, cls.C, cls.E, cls.P
            return [constant(cls.error_estimator_order), *map(constants, parts)]
    return None


def constants(a: Any) -> Value:
    """Return numbers, at any depth."""
    return Tuple(tuple(map(constants, a))) if np.ndim(a) else constant(a)


def constant(x: Any) -> Value:
    """Return a number."""
    return Number(Const(x), "int") if type(x) is int else Number(Const(float(x)), "float")


def is_vector(y0: Value | None) -> bool:
    """Return True for real numbers in a row."""
    if isinstance(y0, Array):
        return y0.kind in (FLOAT, INT) and len(y0.shape) == 1
    return isinstance(y0, Tuple) and all(
        isinstance(x, Number) and x.kind in (FLOAT, INT) for x in y0.items
    )


def known_number(own: Mapping[str, Value], name: str, default: float) -> float:
    """Return an option, nan for one that is not known."""
    found = python_of(own[name]) if name in own else default
    return float(found) if isinstance(found, int | float) else np.nan


def only_event(events: Value) -> Value | None:
    """Return the one event, or that there is none; None for several."""
    if isinstance(events, Tuple):
        return events.items[0] if len(events.items) == 1 else None
    return events


def direction_of(r: FunctionReader, event: Value) -> Value | None:
    """Return the direction of an event, None where it ends the solution or is not known."""
    found = [attribute(r, event, name) for name in ("direction", "terminal")]
    if UNKNOWN in found or found[1]:
        return None
    return constant(float(found[0]))


def attribute(r: FunctionReader, event: Value, name: str) -> Any:
    """Return an attribute of an event, zero if it has none."""
    match event:
        case Known(value=None) | Partial():
            return 0
        case Function():
            found = r.of_functions.get(event, {}).get(name)
        case Object():
            found = r.attribute(event, name) if r.has_attribute(event, name) else None
        case _:  # one that others may give attributes
            return UNKNOWN
    known = 0 if found is None else python_of(found)
    return known if isinstance(known, int | float) else UNKNOWN
