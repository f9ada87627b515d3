"""Comparison with the plain operation: same value, type, dtype, shape and flags.

The plain operation runs on numbers, arrays and containers of these; functions get copies, because
some of them write, so no side effect happens twice.  Functions that draw random numbers, read files
or call user code are left out, and so are user functions, whose operations are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import DifferentResultError
from mooncake_py.modes.debug.summaries import summary
from mooncake_py.modules import package_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.quiet import Unheard
from mooncake_py.runtime.values import NUMBERS
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import Shadows, has_overlaps, is_writeable, owner, zeros_like_owner

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting

__all__ = ["Change", "compare"]

PLAIN = INERT | NUMBERS
WHOLE = 1 << 24  # bytes; functions of larger arrays are not run for comparison
CLOSE = 1e-9  # of values that a replacement computes in its own way
LARGE = 1 << 16  # bytes; a larger array is not copied for each write to it
MISSING = object()


class NotPlainError(Exception):
    """An operand is of a kind that the plain operation is not run on."""


def same(a: ndarray) -> ndarray:
    return a


def as_plain(value: Any, array: Callable[[ndarray], ndarray] = same) -> Any:
    """Return an operand as the plain call has it, with what `array` returns for its arrays."""
    while type(value) is Active:
        value = value.primal
    t = type(value)
    if t is ndarray:
        if value.dtype.hasobject:
            raise NotPlainError
        return array(value)
    if t is np.void and value.dtype.names is not None:  # a view, as an array is
        return as_plain(np.asarray(value), array)[()]
    if t is tuple or t is list:
        return t(as_plain(v, array) for v in value)
    if t is dict:
        return {as_plain(k, array): as_plain(v, array) for k, v in value.items()}
    if t not in PLAIN and not (issubclass(t, np.generic) and t.__module__ == "numpy"):
        raise NotPlainError  # a subclass may have methods of the user's
    if t is type and package_of(value) not in ("builtins", "numpy"):
        raise NotPlainError  # what it does may be code of the user's
    return value


class Copies:
    """Copies of arrays, with the very layout, that overlap as the arrays do."""

    def __init__(self) -> None:
        self.shadows = Shadows(copied)

    def __call__(self, a: ndarray) -> ndarray:
        if a.dtype.kind not in "biufcmMSUV" or has_overlaps(a) or owner(a).nbytes > WHOLE:
            raise NotPlainError
        try:
            copy = self.shadows.view(a)
        except ValueError as error:  # it reaches beyond the memory that it was made of
            raise NotPlainError from error
        if not is_writeable(a):
            copy = copy.view()
            copy.flags.writeable = False
        return copy


def copied(own: ndarray) -> ndarray:
    """Return a copy of an array that owns its memory, with the same strides."""
    copy = zeros_like_owner(own)
    copy[...] = own
    return copy


def run_plainly(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run an operation in silence; return the exception that it raises."""
    with Unheard():
        try:
            return f(*args, **kwargs)
        except Exception as error:
            return error


def compare(
    ctx: Reporting,
    name: str,
    f: Callable[..., Any],
    args: Any,
    kwargs: Any,
    y: Any,
    *,
    exactly: bool = True,
    pure: bool = True,
) -> None:
    """Raise if an operation that only computes gives another result when it is run plainly.

    Parameters
    ----------
    ctx : Mode
    name : str
        Of the operation, for the message.
    f : callable
    args, kwargs
        Of the operation, as the engine has them.
    y
        What the engine returned.
    exactly : bool
        Whether values must be equal bit for bit; otherwise they may be rounded differently.
    pure : bool
        Whether it writes to no operand for certain, and need not have copies.
    """
    if type(y) is str and np.get_printoptions()["formatter"]:
        return  # it would be called again
    try:
        array = same if pure else Copies()
        plain_args, plain_kwargs = as_plain(tuple(args), array), as_plain(kwargs, array)
        result = as_plain(y)
    except (NotPlainError, RecursionError):
        return
    expected = run_plainly(f, plain_args, plain_kwargs)
    if expected is NotImplemented:
        return
    found = difference(result, expected, exactly)
    if found is None and type(y) is ndarray:
        found = other_memory(result, args, expected, plain_args)
    if found is not None:
        raise ctx.failed(different(ctx, name, *found))


class Change:
    """A write to an array, made in a copy as well.

    Parameters
    ----------
    o : Any
        What is about to be changed.
    run : callable
        Makes the change in the array that it is given, on plain operands.
    operands : tuple
        The other operands.
    """

    def __init__(self, o: Any, run: Callable[..., Any], operands: tuple[Any, ...]) -> None:
        self.o = o
        self.expected = MISSING
        if type(o) is not ndarray or has_overlaps(o) or owner(o).nbytes > LARGE:
            return
        copies = Copies()  # operands may overlap with it
        try:
            scratch, *plain = as_plain((o, *operands), copies)
        except (NotPlainError, RecursionError):
            return
        error = run_plainly(run, (scratch, *plain), {})
        self.expected = error if isinstance(error, Exception) else scratch

    def check(self, ctx: Reporting, name: str) -> None:
        """Raise if the array does not hold what its copy does."""
        if self.expected is MISSING:
            return
        found = difference(self.o, self.expected, True, flags=False)
        if found is not None:
            raise ctx.failed(different(ctx, name, *found))


def difference(
    y: Any, expected: Any, exactly: bool, flags: bool = True
) -> tuple[str, str, str] | None:
    """Return the place of a difference, and both values in words; None if there is none."""
    if isinstance(expected, Exception):
        return "result", summary(y), f"{type(expected).__name__}: {expected}"
    if type(y) is not type(expected):
        return "type", text(y), text(expected)
    if type(y) in (tuple, list) or (
        issubclass(type(y), tuple) and issubclass(type(expected), tuple)
    ):
        if len(y) != len(expected):
            return "length", str(len(y)), str(len(expected))
        parts = zip(y, expected, strict=True)
        found = (difference(a, b, exactly) for a, b in parts)
        return next(filter(None, found), None)
    if type(y) is dict:
        if list(y) != list(expected):
            return "keys", str(list(y)), str(list(expected))
        found = (difference(y[k], expected[k], exactly) for k in y)
        return next(filter(None, found), None)
    if isinstance(y, (ndarray, np.generic)):
        return array_difference(np.asarray(y), np.asarray(expected), exactly, flags)
    if isinstance(y, (float, complex)):
        return array_difference(np.asarray(y), np.asarray(expected), exactly, False)
    if type(y) in PLAIN and y != expected:
        return "value", text(y), text(expected)
    return None


def array_difference(
    y: ndarray, expected: ndarray, exactly: bool, flags: bool
) -> tuple[str, str, str] | None:
    """Return the difference between arrays."""
    for name, a, b in (
        ("dtype", y.dtype, expected.dtype),
        ("shape", y.shape, expected.shape),
        ("flag 'writeable'", flags and is_writeable(y), flags and is_writeable(expected)),
    ):
        if a != b:
            return name, str(a), str(b)
    if y.dtype.names is not None:  # what is between the fields may be anything
        parts = [array_difference(y[k], expected[k], exactly, False) for k in y.dtype.names]
        return next(filter(None, parts), None)
    if y.dtype.hasobject or bits_of(y) == bits_of(expected):
        return None
    if y.dtype.kind in "fc" and np.array_equal(y, expected, equal_nan=True):
        signs = np.signbit(np.real(y)) == np.signbit(np.real(expected))
        if not exactly or np.all(signs | np.isnan(y)):
            return None
    if not exactly and y.dtype.kind in "fc":
        real = np.finfo(y.dtype)
        near = np.isclose(y, expected, rtol=max(CLOSE, 100 * float(real.eps)), equal_nan=True)
        if near.all():
            return None
    return "value", summary(y[()]), summary(expected[()])


def other_memory(y: Any, args: Any, expected: Any, plain: Any) -> tuple[str, str, str] | None:
    """Return the difference if one result is memory of an argument and the other is not."""
    for i, (a, b) in enumerate(zip(args, plain, strict=True)):
        if type(a) is ndarray and type(expected) is ndarray:
            shared = np.may_share_memory(y, a), np.may_share_memory(expected, b)
            if shared[0] != shared[1]:
                words = ["a view of" if s else "not memory of" for s in shared]
                return "memory", f"{words[0]} operand {i}", f"{words[1]} operand {i}"
    return None


def text(value: Any) -> str:
    """Return the full name of a type with a value, for a message."""
    t = type(value)
    module = "" if t.__module__ == "builtins" else f"{t.__module__}."
    return f"{module}{t.__qualname__} {value!r:.60}"


def different(
    ctx: Reporting, name: str, what: str, got: str, expected: str
) -> DifferentResultError:
    """Return the error for a result that the plain call does not give."""
    return DifferentResultError(
        f"{name} gives a result of another {what} than in the plain call",
        where=ctx.user_location(),
        why=f"expected: {expected}\ngot:      {got}",
        fix="if your own rule computes it, return the output of the function from it;\n"
        "otherwise it is a bug of mooncake_py: please report it with this message",
    )
