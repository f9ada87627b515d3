"""Errors that are raised when memory has been written, and that the user's code may catch.

NumPy raises a floating-point error, or a warning that is an error, when it has written everything:
then the derivative of the write is recorded before the error goes on.  If it has written a part of
the elements, or it is unknown which, the call refuses to go on after the error was caught.

    written = True
    try:
        op.inplace(x, v)
    except BaseException as error:
        written = has_written(ctx, error, x, v)
        raise
    finally:
        if written:
            ...  # record the derivative
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import Reporting
from mooncake_py.errors import DerivativeDropError
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import is_same_view

__all__ = [
    "has_assigned", "has_written", "is_of_settings", "late_error", "refuse_if_written",
    "refuse_part", "refuse_to_go_on", "unusual",
]  # fmt: skip

OF_FLOATS = " encountered in "
OF_NUMBERS = " encountered in cast"
NARROW = "efF"
NUMERIC = "biufc"
CALLING = frozenset({"call", "log"})
UNUSUAL = b"\xad"
CONVERTED_BEFORE = frozenset({bool, int, float, complex})


def has_written(ctx: Reporting, error: BaseException, o: ndarray, *operands: Any) -> bool:
    """Return whether a ufunc raised an error when it had written all of its output `o`.

    It has not where a number is too large for `o`, as numbers of Python are converted first.
    Where operands overlap the output, it writes to a copy first, most often: the call does not go
    on.  It does not after what comes from outside either, such as a KeyboardInterrupt, which may
    have come at any moment.
    """
    if isinstance(error, Exception) and (not is_of_settings(error) or OF_NUMBERS in str(error)):
        return False
    narrow = o.dtype.char in NARROW and not is_of_floats(error)  # a callback: when, is unknown
    if not isinstance(error, Exception) or narrow or any(overlaps(a, o) for a in operands):
        refuse_to_go_on(ctx, error)
        return False
    return True


def late_error(ctx: Reporting, error: Exception, o: Any, *operands: Any) -> Exception:
    """Return an error that a ufunc raised when it had written `o`; raise any other.

    Arithmetic on a number has written nothing.
    """
    if type(o) is not ndarray or not has_written(ctx, error, o, *operands):
        raise error
    return error


def overlaps(a: Any, o: ndarray) -> bool:
    """Return whether an operand shares memory with an output, other than element by element."""
    return type(a) is ndarray and np.may_share_memory(a, o) and not is_same_view(a, o)


def is_of_settings(error: Exception) -> bool:
    """Return whether an error comes from NumPy's settings of floating-point errors."""
    return is_of_floats(error) or is_of_callback(error)


def is_of_floats(error: BaseException) -> bool:
    """Return whether an error is a floating-point error or warning of NumPy."""
    if isinstance(error, FloatingPointError):
        return True
    return isinstance(error, RuntimeWarning) and OF_FLOATS in str(error)


def is_of_callback(error: Exception) -> bool:
    """Return whether an error was raised by what NumPy calls for a floating-point error."""
    if CALLING.isdisjoint(np.geterr().values()):
        return False
    traceback, file = error.__traceback__, PACKAGE
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        traceback = traceback.tb_next
    return not file.startswith(PACKAGE)


def has_assigned(ctx: Reporting, error: BaseException, o: ndarray, i: Any, v: Any) -> bool:
    """Return whether ``o[i] = v``, which raised an error, has written all elements.

    Numbers are converted before they are written; a sequence is converted on the way.
    """
    v = unwrapped(v)
    if not isinstance(error, Exception):
        return has_written(ctx, error, o)
    if type(v) in CONVERTED_BEFORE:
        return False
    if type(v) is list or type(v) is tuple or (type(v) is ndarray and v.dtype.kind not in NUMERIC):
        refuse_part(ctx, error, o, i, v)
        return False
    return is_of_settings(error)


def refuse_part(ctx: Reporting, error: BaseException, o: ndarray, i: Any, v: Any) -> None:
    """Let the call not go on after an error by which NumPy has written a part of ``o[i] = v``."""

    def assign(copy: ndarray) -> None:
        copy[i] = v

    refuse_if_written(ctx, error, assign, unusual(o))


def unusual(o: ndarray) -> ndarray:
    """Return an array like `o` of other numbers than anyone writes."""
    if o.dtype.hasobject:
        return o.copy("K")
    element = np.frombuffer(UNUSUAL * o.dtype.itemsize, o.dtype)[0]
    return np.full_like(o, element, subok=False)


def refuse_if_written(
    ctx: Reporting, error: BaseException, native: Callable[[ndarray], Any], copy: ndarray
) -> None:
    """Let the call not go on after an error if ``native(copy)`` writes before it raises."""
    before = bits_of(copy)
    with suppress(Exception):
        native(copy)
    if bits_of(copy) != before:
        refuse_to_go_on(ctx, error)


def refuse_to_go_on(ctx: Reporting, error: BaseException) -> None:
    """Let the call fail if it goes on after an error: the derivative of a write would be lost.

    The error passes as it is: where no one catches it, nothing is wrong.
    """
    refusal = DerivativeDropError(
        f"{type(error).__name__} was caught, which was raised when memory had been written",
        where=ctx.user_location(),
        why="the derivative of the written values is not recorded",
        fix="test the values before the write, or let the operation return a new array",
    )
    refusal.__cause__ = error
    ctx.failed(refusal)
