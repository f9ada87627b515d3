"""Operations that would lose a derivative without an error, refused in every mode.

Only float and complex arrays and numbers hold derivatives.  Each operation asks here

- when active data went in and something else came out (:func:`output`, :func:`element`),
- before active data is written into an array (:func:`holds`),
- before a constant is written, or returned by compiled code, that may have been made of active
  data before: from text (:func:`numerals.refuse_assigned`), or by methods of objects
  (:func:`constant`),
- where an array reads the bytes of another one (:func:`refuse_other_bytes`).

Integers and booleans are step functions, whose derivative is zero.  Text is allowed but remembered,
because only numbers read from it again would be wrong.  Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.places import current_place
from mooncake_py.diagnostics.refusals import names
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError, InvalidRuleError, MooncakeError
from mooncake_py.rules import creation, python_builtins
from mooncake_py.runtime import numerals, objects
from mooncake_py.runtime.active import Active, innermost, is_itself, whole_from
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

NUMERIC = INERT | {ndarray, Active}

__all__ = [
    "computed", "constant", "element", "holds", "output",
    "quotient", "read_as_bytes", "refuse_other_bytes", "reporter", "step", "whole",
]  # fmt: skip

INEXACT = (float, complex, np.inexact)
STEPS = frozenset("biu")
LARGE = 2.0**52
ROUNDING = frozenset({
    np.floor, np.ceil, np.rint, np.trunc, np.round, np.around, ndarray.round,
    python_builtins.rounded,
})  # fmt: skip
TO_OBJECTS = frozenset({ndarray.astype, np.astype, np.asarray, creation.convert})
TEXT = frozenset("SUT")
NO_LIST = "use an array of dtype float, or a list"


def output(ctx: Mode, rule: Any, y: Any, operands: Any) -> Any:
    """Return an output of a rule on active data that holds no derivative; raise if it should.

    Integers that are made of floats are steps, those that are read from their bytes are not.
    """
    if y is None and rule.by_user:
        raise ctx.failed(no_output(ctx, rule))
    for a in operands:
        if type(a) is ndarray and a.dtype.kind not in "fcVO" and ctx.find(a) is not None:
            raise ctx.failed(read_as_bytes(a.dtype))
    if isinstance(y, (ndarray, np.generic)):
        kind, made = y.dtype.kind, f"elements of dtype {y.dtype}"
    elif type(y) is tuple:  # a record of Python
        kind, made = "V", "a tuple of numbers"
    elif y is None or type(y) in INERT:
        return y
    else:  # what a class of the operands has made
        kind, made = "other", with_article(type(y).__name__)
    if kind in TEXT:
        ctx.written(y)
    elif kind == "O" and is_converted(rule, operands):
        objects.mark(ctx)
        return objects.laid_out(objects.as_objects(ctx, operands[0]), np.asarray(y))
    elif kind in "iu":
        whole(ctx, y, operands)
    elif kind == "V" and any(type(a) is ndarray and overlap(y, a) for a in operands):
        return y  # a view of records, whose fields are known by their memory
    elif kind not in STEPS:
        raise dropped(
            ctx,
            f"{names(rule.functions[0])[0]} makes {made} from active data",
            why="only float and complex arrays hold derivatives",
            fix="keep the dtype float or complex, or use a list",
        )
    return y


def whole(ctx: Reporting, y: Any, operands: Any) -> Any:
    """Return ints made of active data, unless some are those numbers: see `is_itself`."""
    if type(y) is int:
        if any(type(x) is Active and is_itself(x, y) for x in operands):
            raise ctx.failed(of_bits(ctx))
        return y
    ints = np.asarray(innermost(y))
    for x in operands if ints.size else ():
        primal = numbers_of(x) if type(x) in (list, tuple) else innermost(x)
        if isinstance(primal, (ndarray, float, np.floating)) and is_in(primal, ints):
            raise ctx.failed(of_bits(ctx))
    return y


def numbers_of(sequence: Any) -> ndarray:
    """Return the numbers of a sequence of numbers and arrays, in order."""
    parts = [
        numbers_of(v) if type(v) in (list, tuple) else np.ravel(innermost(v)) for v in sequence
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def is_in(primal: Any, ints: ndarray) -> bool:
    """Return whether numbers that are too large to be rounded are among ints, at their places."""
    found = np.asarray(primal)
    if found.dtype.kind != "f" or found.size not in (1, ints.size):
        return False
    limit = whole_from(primal)
    if ints.max() < limit and ints.min() > -limit:
        return False
    found = found.reshape(ints.shape if found.size == ints.size else ())
    return bool(np.any((np.abs(found) >= limit) & (ints == found) & np.isfinite(found)))


def step(ctx: Mode, f: Any, y: Any, args: Any) -> Any:
    """Return the output of a function without a derivative, unless it had nothing to round."""
    if f in ROUNDING:
        if type(y) is np.float64 and type(args[0]) is Active and -LARGE < y < LARGE:
            return y  # of a number that has digits to round
        return whole(ctx, y, [x for x in args if type(x) is Active or ctx.contains_active(x)])
    if f is np.floor_divide and ctx.contains_active(args):
        return quotient(ctx, y, *args[:2])
    return y


def quotient(ctx: Reporting, q: Any, a: Any, b: Any) -> Any:
    """Return ``a // b`` of which one is active, unless it is the quotient to all its digits."""
    kind = type(q)
    if kind is float or kind is np.float64:
        if -LARGE < q < LARGE:
            return q
    elif not isinstance(q, (np.floating, ndarray)):
        return q
    with np.errstate(all="ignore"):
        exact = np.true_divide(unwrapped(a), unwrapped(b))
    return whole(ctx, q, (exact,))


def of_bits(ctx: Reporting) -> DerivativeDropError:
    """Return the error for ints that are active numbers."""
    return DerivativeDropError(
        "an int that is an active number to all its digits would drop the derivative",
        where=ctx.user_location(),
        why="floats of this size are ints: nothing is rounded, and an int carries no derivative.\n"
        "Packages that compute with the bits of numbers, such as mpmath, make such ints",
        fix="compute with floats, or register a rule for the function that makes the int",
    )


def no_output(ctx: Reporting, rule: Any) -> InvalidRuleError:
    """Return the error for a function that changes its arguments instead of returning a result."""
    return InvalidRuleError(
        f"{rule.name} returned None, and its rule is by {rule.declaration}",
        where=ctx.user_location(),
        why="such a rule is for a function that returns numbers or arrays and changes nothing:\n"
        f"its writes would have no derivative; the rule is declared at {rule.origin}",
        fix="if it writes into its arguments, declare it by overlay, in Python, or by "
        "rrule.register(f, mutates=...);\notherwise let it return its results",
    )


def is_converted(rule: Any, operands: Any) -> bool:
    """Return whether a function has converted an array, whose elements may become objects."""
    return bool(operands) and type(operands[0]) is ndarray and rule.functions[0] in TO_OBJECTS


def element(ctx: Reporting, o: ndarray, y: Any) -> Any:
    """Raise for what was read from an active array and can hold no derivative: a record."""
    raise dropped(
        ctx,
        f"elements of dtype {o.dtype} are read from memory that holds active data",
        why=f"a value of type {type(y).__name__} carries no derivative",
        fix="read one field at a time, as an array: a['field'][i]",
    )


def holds(ctx: Tracking, o: ndarray, v: Any = None) -> bool:
    """Return whether an array holds the derivative of an active value that is about to be written.

    The value is None if it is known later only.
    """
    kind = o.dtype.kind
    if kind in "fc":
        return True
    if kind in TEXT and v is not None:
        ctx.written(np.asarray(unwrapped(v)).astype(o.dtype))
    elif kind in "iu" and v is not None:
        whole(ctx, np.asarray(unwrapped(v)).astype(o.dtype), (v,))
    elif kind not in STEPS:
        raise dropped(
            ctx,
            f"an active value was written into an array of dtype {o.dtype}",
            why="only float and complex arrays hold derivatives",
            fix="write to one field at a time: a['field'][i] = v" if o.dtype.names else NO_LIST,
        )
    return False


def constant(ctx: Tracking, f: Any, args: Any, y: Any) -> Any:
    """Return the output of compiled code for arguments without derivatives, or raise.

    It may have read numbers from text, or run methods of objects in an array.
    """
    if ctx.numerals is not None:
        numerals.checked(ctx, f, args, y)
    return computed(ctx, f, args, y)


def computed(ctx: Tracking, f: Any, args: Any, y: Any) -> Any:
    """Do the same for functions that read no text, such as ufuncs.

    An array of objects may be moved about, as its objects pass by reference.  A result that is
    none of them was computed by a method, unseen, which is right as long as nothing active went in.
    """
    if ctx.objects:
        require_moved(ctx, f, args, y)
    if (y.dtype.kind not in "OV") if type(y) is ndarray else type(y) in INERT:
        return y
    records = [a for a in args if issubclass(type(a), np.void)]
    if any(map(ctx.contains_active, records)) and not any(map(partial(overlap, y), records)):
        raise dropped(
            ctx,
            f"{names(f)[0]} copies a record that holds active data",
            why="only float and complex arrays hold derivatives",
            fix="read its fields, or write it to an array of records: cells[0] = record",
        )
    arrays = [a for a in args if type(a) is ndarray and a.dtype.kind == "O"]
    if type(f) is np.ufunc and (others := [a for a in args if type(a) not in NUMERIC]):
        arrays.append(np.fromiter(others, object))  # of which it makes arrays of objects
    if arrays and not identities(y) <= {i for a in arrays for i in identities(a)}:
        ctx.refuse_if_active(f, args)
    return y


def require_moved(ctx: Tracking, f: Any, args: Any, y: Any) -> None:
    """Raise if numbers were made of an array of objects that holds something active."""
    numbers = y.dtype.kind in "fc" if type(y) is ndarray else isinstance(y, INEXACT)
    if not numbers:
        return
    for a in args:
        of_objects = type(a) is ndarray and a.dtype.kind == "O"
        if of_objects and not any(y is part for part in a.ravel().tolist()):
            ctx.refuse_if_active(f, (a,))


def overlap(y: Any, a: Any) -> bool:
    """Return whether a result is a view of an operand, an array or a record."""
    return type(y) is ndarray and np.may_share_memory(y, a)


def identities(value: Any) -> set[int]:
    """Return the identities of the objects of an array, or of a single one."""
    return set(map(id, value.ravel().tolist())) if type(value) is ndarray else {id(value)}


Reporter = Callable[[MooncakeError], MooncakeError]


def reporter(ctx: Reporting) -> Reporter:
    """Return a function that notes errors in a context, for parts that must not refer to it."""
    reference = ref(ctx)

    def report(error: MooncakeError) -> MooncakeError:
        alive = reference()
        return error if alive is None else alive.failed(error)

    return report


def refuse_other_bytes(report: Reporter, dtype: np.dtype[Any], of_owner: np.dtype[Any]) -> None:
    """Raise if an array of a dtype reads the bytes of active floats of its owner otherwise."""
    if dtype.kind in "fc" and of_owner.kind in "fc":
        sizes = [d.itemsize // 2 if d.kind == "c" else d.itemsize for d in (dtype, of_owner)]
        allowed = sizes[0] == sizes[1]
    else:  # fields, records of floats, floats in a block of bytes
        allowed = dtype.kind in "fcV"
    if not allowed:
        raise report(read_as_bytes(dtype))


def read_as_bytes(dtype: np.dtype[Any]) -> DerivativeDropError:
    """Return the error for bytes of floats that are read as something else."""
    return DerivativeDropError(
        f"memory that holds active floats is seen through an array of dtype {dtype}",
        where=current_place()[0],
        why="the bytes of a number are not a smooth function of it",
        fix="convert the values: a.astype(dtype)",
    )
