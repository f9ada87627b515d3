"""Which operand's method an operator of NumPy's arrays and scalars runs: NumPy's rules.

An array gives the operation up where the other operand says so: its class has ``__array_ufunc__ =
None``, or none and a higher ``__array_priority__``.  Then Python asks the other operand.  Otherwise
a ufunc runs, which a class with ``__array_ufunc__`` takes over; NumPy makes arrays of the others,
and of objects that it does not know elements, whose operators it runs in compiled code.  A scalar
computes with numbers by itself, after the same question, and is an array next to anything else.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import call_seen
from mooncake_py.containers import effects
from mooncake_py.containers.sequences import readable
from mooncake_py.language import object_arrays, subclass_operators
from mooncake_py.language.elements import as_array
from mooncake_py.language.foreign_operands import as_input
from mooncake_py.runtime.active import Active, innermost, plain_class
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.exact_numbers import exact
from mooncake_py.runtime.numpy_operands import MISSING, Conversion, sight_of
from mooncake_py.runtime.operators import DIVMOD, BinaryOperator
from mooncake_py.runtime.slots import owner_of_sequence, slot_of
from mooncake_py.runtime.values import NUMBERS, SEQUENCES
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["compare", "compute", "inplace", "of_arrays", "of_scalars"]

SCALARS = NUMBERS | {str, bytes, np.str_, np.bytes_, np.datetime64, np.timedelta64, np.void}
OF_ARRAY, OF_SCALAR = 0.0, -1_000_000.0  # priorities
EXTENDED = (np.longdouble, np.clongdouble)


# Who takes the operation.


def gives_up(ctx: Mode, op: BinaryOperator, slot: type, a: Any, b: Any) -> bool:
    """Return whether the slot of an array or a scalar leaves ``a op b`` to Python."""
    return slot_of(plain_class(b), op) is not slot and defers(ctx, a, b)


def gives_up_in_place(ctx: Mode, op: BinaryOperator, x: Any, v: Any) -> bool:
    """Return whether an array leaves ``x op= v`` to Python, which then computes ``x op v``."""
    own = in_class(ndarray, op.inplace_method)
    return in_class(plain_class(v), op.inplace_method) is not own and defers(ctx, x, v, True)


def defers(ctx: Mode, a: Any, b: Any, in_place: bool = False) -> bool:
    """Return whether an array or a scalar `a` defers to `b`."""
    ta, tb = plain_class(a), plain_class(b)
    if ta is tb or tb is ndarray or tb in SCALARS:
        return False
    method = getattr(tb, "__array_ufunc__", MISSING)
    if method is not MISSING:
        return method is None and not in_place
    if issubclass(tb, ta):
        return False
    return priority(ctx, a) < priority(ctx, b)


def priority(ctx: Mode, value: Any) -> float:
    """Return the priority of an operand."""
    cls = plain_class(value)
    if cls is ndarray:
        return OF_ARRAY
    if cls in SCALARS or cls in (list, tuple, dict, set, frozenset, type(None)):
        return OF_SCALAR
    try:
        found = ctx.getattr(value, "__array_priority__")
    except AttributeError:
        return OF_SCALAR
    try:
        return float(innermost(found))
    except (TypeError, ValueError):
        return OF_SCALAR


# Scalars.


def of_scalars(ctx: Mode, op: BinaryOperator, owner: type, a: Any, b: Any) -> Any:
    """Ask the slot of a class of scalars."""
    ta, tb = plain_class(a), plain_class(b)
    other = b if ta is owner or (tb is not owner and issubclass(ta, owner)) else a
    cls = plain_class(other)
    if cls not in SCALARS and gives_up(ctx, op, owner, a, b):
        return NotImplemented
    if owner is not np.generic:
        kind = plain_class(exact(other)) if issubclass(cls, np.generic) else cls
        if kind in NUMBERS:
            if is_left_to(owner, op.method, kind):
                return NotImplemented
            if promotes(owner, kind):
                left = gives_up(ctx, op, np.generic, a, b)
                return NotImplemented if left else by_ufunc(ctx, op, a, b)
            return compute(ctx, op, exact(a), exact(b))
        if owner in EXTENDED and not issubclass(cls, ndarray):
            return NotImplemented
    if op.name == "add" and issubclass(cls, (str, bytes)) and other is a:
        return NotImplemented
    if op.name == "mul" and owner_of_sequence(cls, op, op.method, op.reflected) is not None:
        return NotImplemented  # Python repeats it, or says that it cannot
    if cls not in SCALARS and gives_up(ctx, op, np.generic, a, b):
        return NotImplemented
    return beside_another(ctx, op, a, b, other)


def beside_another(ctx: Mode, op: BinaryOperator, a: Any, b: Any, other: Any) -> Any:
    """Run an operator of a scalar and something else, one of the operands."""
    sight = sight_of(other)
    if is_known(other) or is_instance(other) or sight.ufuncs is not MISSING:
        return by_ufunc(ctx, op, a, b)
    if sight.conversion is Conversion.OBJECT:  # which is asked by the scalar's number
        return compute(ctx, op, of_python(ctx, a), of_python(ctx, b))
    if not wraps_results(other):
        array = as_operand(ctx, op, other)
        a, b = (array if v is other else v for v in (a, b))
    return by_ufunc(ctx, op, a, b)


@functools.lru_cache(maxsize=512)
def is_left_to(owner: type, method: str, kind: type) -> bool:
    """Return whether scalars of a class leave an operation with plain numbers to these."""
    try:
        with np.errstate(all="ignore"):
            return getattr(owner, method)(owner(1), kind(1)) is NotImplemented
    except TypeError:  # as for remainders of complex numbers
        return False


@functools.lru_cache(maxsize=512)
def promotes(owner: type, kind: type) -> bool:
    """Return whether scalars of a class and plain numbers compute with a third kind of number."""
    return type(owner(1) + kind(1)) is not owner


# Arrays.


def of_arrays(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Ask the slot of arrays."""
    return NotImplemented if gives_up(ctx, op, ndarray, a, b) else by_ufunc(ctx, op, a, b)


def by_ufunc(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run the ufunc of an operator on operands of any type."""
    a, b = (v.view(ndarray) if issubclass(type(v), np.memmap) else v for v in (a, b))
    sights = [sight_of(v) for v in (a, b)]
    if any(sight.ufuncs is not MISSING for sight in sights) or is_instance(a) or is_instance(b):
        return as_classes_have_it(ctx, op, a, b)
    if op.name != "matmul" and any(sight.conversion is Conversion.OBJECT for sight in sights):
        return on_objects(ctx, op, a, b)
    if wraps_results(a) or wraps_results(b) or is_counted(ctx, (a, b)):
        return unseen(ctx, op, a, b)
    p, q = (as_operand(ctx, op, v) for v in (a, b))
    if not (is_known(p) and is_known(q)):
        return unseen(ctx, op, p, q)
    if type(p) is ndarray or type(q) is ndarray:
        return compute(ctx, op, p, q)
    return ctx.call(op.ufunc, p, q)  # the last bit may be another one than of scalars


def as_classes_have_it(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run a ufunc of which an operand is an array of a class, or of a class that takes over."""
    ctx.watches = True
    if subclass_operators.overriding((a, b), "__array_ufunc__"):
        return subclass_operators.operate(ctx, op, a, b)
    if any(sight_of(v).conversion is Conversion.OBJECT for v in (a, b)):
        ctx.refuse_if_active(op.function, (a, b))  # NumPy asks it once for each element
    a, b = (v if is_instance(v) or wraps_results(v) else as_operand(ctx, op, v) for v in (a, b))
    if ctx.contains_active(a) or ctx.contains_active(b):
        return subclass_operators.operate(ctx, op, a, b)
    function = op.ufunc if op is DIVMOD else op.function
    return call_seen(ctx, function, (a, b), {})


def on_objects(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run a ufunc for which NumPy makes elements of an operand, and runs their operators."""
    a, b = (of_python(ctx, v) for v in (a, b))
    if not is_array(a) and not is_array(b):
        return compute(ctx, op, a, b)
    if op is DIVMOD:  # two arrays of results
        return unseen(ctx, op, a, b)
    return object_arrays.binary(ctx, op.name, a, b)


def of_python(ctx: Mode, value: Any) -> Any:
    """Return a scalar as the element that it is of an array of objects."""
    if type(value) is Active:
        return ctx.call(ndarray.item, ctx.call(np.asarray, value))
    return value.item() if issubclass(type(value), np.generic) else value


def is_array(value: Any) -> bool:
    """Return whether NumPy makes an array with elements of an operand."""
    return issubclass(type(value), ndarray) or sight_of(value).conversion in MADE_ARRAYS


MADE_ARRAYS = (Conversion.METHOD, Conversion.INTERFACE, Conversion.BUFFER, Conversion.SEQUENCE)


def as_operand(ctx: Mode, op: BinaryOperator, value: Any) -> Any:
    """Return the array or number that NumPy makes of an operand."""
    if is_known(value):
        return value
    if type(value) is np.flatiter:
        return readable(ctx, op.ufunc, value)
    made = as_input(ctx, op.ufunc, value)
    return ctx.call(np.array, made) if type(made) in SEQUENCES else made


def unseen(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run a ufunc itself, if no derivative is lost by that."""
    y = call_seen(ctx, op.ufunc, (innermost(a), innermost(b)), {})
    ctx.refuse_if_active(op.function, (a, b))
    return y


def is_counted(ctx: Mode, operands: Any) -> bool:
    """Return whether NumPy's reading of a constant operand changes something, each time.

    It is refused together with active data: the engine does not read it as often.
    """
    others = [v for v in operands if not is_known(v)]
    if not effects.would_write(others, effects.READING):
        return False
    if any(map(ctx.contains_active, operands)):
        effects.refuse_writers(ctx, others, effects.READING)
    return True


def wraps_results(value: Any) -> bool:
    """Return whether an operand has ``__array_wrap__``, by which NumPy wraps its results."""
    return sight_of(value).conversion in MADE_ARRAYS and hasattr(type(value), "__array_wrap__")


def is_known(value: Any) -> bool:
    """Return whether the operators of a context compute with a value."""
    t = type(value)
    return t is ndarray or t is Active or t in NUMBERS


def compute(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run an operator on numbers and arrays."""
    if op is DIVMOD:
        return ctx.call(divmod, a, b)
    if type(a) in NUMBERS and type(b) in NUMBERS:
        return op.function(a, b)
    return getattr(ctx, op.name)(a, b)


# Comparisons.


def compare(ctx: Mode, name: str, a: Any, b: Any) -> Any:
    """Run the method of a comparison of an array or a scalar, which may be NotImplemented."""
    if is_asked_as_object(a, b):
        return NotImplemented if defers(ctx, a, b) else compared(ctx, name, of_python(ctx, a), b)
    if not is_instance(a) and not subclass_operators.takes_part(b):
        effects.refuse_writers(ctx, (b,), effects.COMPARING)  # whose methods it calls unseen
        return getattr(plain_class(a), name)(innermost(a), innermost(as_array(ctx, b)))
    if defers(ctx, a, b):
        return NotImplemented
    if issubclass(type(a), ndarray):
        return subclass_operators.compare(ctx, name, a, b)
    return compared(ctx, name, ctx.call(np.asarray, a), b)


def is_asked_as_object(a: Any, b: Any) -> bool:
    """Return whether a scalar's number asks an object that NumPy does not know."""
    if not issubclass(plain_class(a), np.generic):
        return False
    sight = sight_of(b)
    return sight.ufuncs is MISSING and sight.conversion is Conversion.OBJECT


def compared(ctx: Mode, name: str, a: Any, b: Any) -> Any:
    """Compare an operand that stands for a scalar, by Python's rules again."""
    return getattr(ctx, name.strip("_"))(a, b)


# In place.


def inplace(ctx: Mode, op: BinaryOperator, x: ndarray, v: Any) -> Any:
    """Run ``x op= v`` for an array and return it; NotImplemented if it leaves that to Python."""
    if gives_up_in_place(ctx, op, x, v):
        return NotImplemented
    if subclass_operators.overriding((x, v), "__array_ufunc__"):
        return subclass_operators.inplace(ctx, op, x, v)
    conversion = sight_of(v).conversion
    if conversion is Conversion.OBJECT and x.dtype.kind != "O":
        getattr(ndarray, op.inplace_method)(x, innermost(v))  # raises: results are objects
    if is_counted(ctx, (v,)):
        if ctx.contains_active(x):
            effects.refuse_writers(ctx, (v,), effects.READING)
        y = unseen(ctx, op, x, v)
        ctx.assign(x, Ellipsis, y.astype(x.dtype))
        return x
    if not is_instance(v):
        v = as_operand(ctx, op, v)
    if is_instance(x) or is_instance(v):
        return subclass_operators.inplace(ctx, op, x, v)
    ctx.inplace_plainly(op, x, v)
    return x
