"""The argument ``out`` of NumPy's functions: its position, and writes into it.

The engine computes the function without `out`, and assigns the result by ``out[...] = y``, so that
the log of writes and the cotangents are those of an assignment.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import require_mask
from mooncake_py.application.narrow_outputs import heard_from, narrows
from mooncake_py.application.native_writes import refuse_other_writes
from mooncake_py.application.plain_errors import as_plain
from mooncake_py.remembered import remembered
from mooncake_py.rules.into import INTO
from mooncake_py.runtime import activity, drops, overlapping
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.numpy_operands import takes_over
from mooncake_py.runtime.users_code import HEAP_TYPE
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.tangents.subclasses import Met

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "AVERAGES", "converts", "fits", "like", "named_out", "number_in", "result_dtype", "run_into",
    "signature_of", "single_output", "unrounded", "without_out", "write_into",
]  # fmt: skip

# Where functions that add up or multiply take `dtype` by position: by default that of `out`.
ACCUMULATES = {
    "sum": 2, "prod": 2, "cumsum": 2, "cumprod": 2, "reduce": 2, "accumulate": 2, "reduceat": 3,
    "nansum": 2, "nanprod": 2, "nancumsum": 2, "nancumprod": 2, "trace": 4,
    "einsum_of_one": sys.maxsize, "einsum_of_several": sys.maxsize,
}  # fmt: skip
CASTS_SAFELY = frozenset({"take", "compress", "einsum_of_one", "einsum_of_several"})
CASTS_ANY = ACCUMULATES.keys() | {"take", "compress", "choose"}
"""Whose results are cast to the type of their output, once that is one which NumPy takes."""
# Computed in several steps, into an output of another type as NumPy's Python code has it.
AVERAGES: dict[Any, Any] = {
    **{f: g for g in (np.mean, np.var, np.std) for f in (g, getattr(ndarray, g.__name__))},
    **{f: f for f in (np.nanmean, np.nanvar, np.nanstd)},
}
CUMULATIVE = frozenset({"cumsum", "cumprod", "nancumsum", "nancumprod"})
WITHOUT_KEYWORDS = frozenset({ndarray.conj, ndarray.conjugate})
# Of functions in C, whose signature NumPy before 2.4 does not tell.
POSITIONS = {
    "reduce": 3, "accumulate": 3, "reduceat": 4,
    "sum": 3, "mean": 3, "prod": 3, "cumsum": 3, "cumprod": 3, "std": 3, "var": 3,
    "max": 2, "min": 2, "argmax": 2, "argmin": 2, "any": 2, "all": 2, "round": 2,
    "take": 3, "compress": 3, "clip": 3, "trace": 5, "dot": 2, "concatenate": 2,
}  # fmt: skip


@remembered
def signature_of(f: Any) -> inspect.Signature | None:
    """Return the signature of a function, or None if it has none to inspect."""
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        return None


@remembered
def out_position(f: Any) -> int | None:
    """Return where a function takes ``out`` by position, if it does."""
    if isinstance(f, np.ufunc):
        return f.nin
    if f in WITHOUT_KEYWORDS:
        return 1
    signature = signature_of(f)
    if signature is None:
        return POSITIONS.get(getattr(f, "__name__", ""))
    parameter = signature.parameters.get("out")
    if parameter is None or parameter.default is not None:
        return None  # not that argument
    if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(signature.parameters).index("out")


@remembered
def takes_out(f: Any) -> bool:
    """Return whether a function may have an argument `out`; of some in C that is not known."""
    signature = signature_of(f) if out_position(f) is None else None
    if signature is None:
        return True
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    return "out" in signature.parameters or inspect.Parameter.VAR_KEYWORD in kinds


def named_out(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the arguments with one for ``out`` given by keyword, not by position."""
    position = out_position(f)
    if position is None or len(args) <= position:
        return args, kwargs
    if isinstance(f, np.ufunc):
        given = args[position:]
        if len(args) > f.nargs or "out" in kwargs or not all(map(may_be_output, given)):
            f(*activity.unwrapped(args), **activity.unwrapped(kwargs))  # raises
        outs = (*given, *(None,) * (f.nargs - len(args)))
        return args[:position], {**kwargs, "out": outs}
    out, rest = args[position], args[position + 1 :]
    if out is None:
        return args, kwargs
    return (*args[:position], *((None, *rest) if rest else ())), {**kwargs, "out": out}


def may_be_output(value: Any) -> bool:
    """Return whether NumPy writes to a value that is given as an output, or lets its class run."""
    t = type(value)
    return t is ndarray or value is None or issubclass(t, ndarray) or takes_over(value)


def single_output(f: Any, args: Any, kwargs: Any) -> Any:
    """Return the array of `out=`, or None; NumPy also takes a tuple and, for ufuncs, `...`.

    What NumPy does not take, such as a number, raises what it raises: what was an array may have
    become one in a sum.

    Raises
    ------
    Met
        If the class of an output runs the call itself.
    """
    if "out" in kwargs and not takes_out(f):
        f(*activity.unwrapped(tuple(args)), **activity.unwrapped(kwargs))  # raises
    out = kwargs.get("out")
    if type(out) is ndarray and not (isinstance(f, np.ufunc) and f.nout > 1):
        return out
    parts = out if type(out) is tuple else (out,)
    if any(map(takes_over, parts)):
        raise Met
    if "out" in kwargs and out is not Ellipsis:
        require_outputs(f, args, kwargs, parts)
    return None if out is Ellipsis else parts[0] if len(parts) == 1 else out


def require_outputs(f: Any, args: Any, kwargs: Any, parts: tuple[Any, ...]) -> None:
    """Raise what NumPy raises where it does not take such outputs, or so many; of copies."""
    is_tuple = type(kwargs["out"]) is tuple
    fits = all(map(may_be_output, parts))
    if not fits and any(map(is_object, parts)):
        return  # refused as an operand is: what stands for it in the plain call may be an array
    count = f.nout if isinstance(f, np.ufunc) else 0  # others mostly take no tuple
    if fits and (len(parts) == count if is_tuple or count > 1 else True):
        return
    copies = tuple([part.copy() if isinstance(part, ndarray) else part for part in parts])
    given = {**kwargs, "out": copies if is_tuple else copies[0]}
    f(*activity.unwrapped(tuple(args)), **activity.unwrapped(given))
    if not fits:
        raise TypeError("return arrays must be of ArrayType")


def require_axis(f: Any, out: Any) -> None:
    """Raise an error for a cumulative sum into an array without axes.

    NumPy looks for the axes of such an output beyond the end of what describes it: what that finds
    for a copy may end the process, where the output itself raises.
    """
    if type(out) is ndarray and not out.ndim and getattr(f, "__name__", "") in CUMULATIVE:
        raise ValueError("provided out is the wrong size for the accumulation.")


def is_object(value: Any) -> bool:
    """Return whether a value is of a class that was made in Python."""
    return type(value) is not Active and bool(type(value).__flags__ & HEAP_TYPE)


def write_into(ctx: Mode, out: Any, y: Any, casting: str = "same_kind", where: Any = True) -> Any:
    """Write a result into `out`, as a function with that argument does; or each of several."""
    if type(out) is tuple:
        overlapping.refuse_shared_outputs(ctx, out)
        return tuple(
            part if into is None else write_into(ctx, into, part, casting, where)
            for into, part in zip(out, y, strict=True)
        )
    if not isinstance(out, ndarray):
        raise TypeError("return arrays must be of ArrayType")
    dtype = np.asarray(activity.unwrapped(y)).dtype
    if not np.can_cast(dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {dtype!r} to {out.dtype!r} "
            f"according to the rule {casting!r}"
        )
    store(ctx, out, y, where)
    return out


def store(ctx: Mode, out: Any, y: Any, where: Any) -> None:
    """Write a result into `out`, with `where` of a ufunc only the elements that it computed."""
    if where is True:
        ctx.assign(out, Ellipsis, y)
    else:
        ctx.call(np.copyto, out, y, where=where)


def place_in(f: Any, args: Any, kwargs: Any, out: Any, y: Any) -> Any:
    """Return the index of the part of `out` that a function writes its result to.

    Most raise for another shape; cumulative sums write as much as there is, and repeat it.
    """
    converts = np.asarray(y).dtype != out.dtype
    if f.__name__ == "dot" and (converts or not out.flags.c_contiguous) and all(map(np.ndim, args)):
        raise ValueError(
            "output array is not acceptable "
            "(must have the right datatype, number of dimensions, and be a C-Array)"
        )
    if np.shape(y) == np.shape(out) and not (converts and f.__name__ in CASTS_SAFELY):
        return Ellipsis
    native, old = out.copy(), out.copy()
    call_with(f, args, kwargs, native)  # raises
    places: list[Any] = [Ellipsis]
    if f.__name__ in ACCUMULATES and f.__name__ not in CASTS_SAFELY:
        at = ACCUMULATES[f.__name__] - 1  # the axis is before the dtype
        axis = along(kwargs.get("axis", args[at] if len(args) > at else 0), y)
        whole = (*axis, *(slice(None),) * (np.ndim(y) - len(axis)))
        places += [axis, (*whole, *(0,) * (out.ndim - np.ndim(y)))]
    for index in places:
        expected = old.copy()
        try:
            expected[index] = y
        except (ValueError, IndexError):
            continue
        if bits_of(expected) == bits_of(native):
            return index
    raise ValueError(
        f"output array is not acceptable: shape {np.shape(out)} and strides {out.strides} "
        f"for a result of shape {np.shape(y)}"
    )


def call_with(f: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Call a function with plain arguments and an output, by position if others come after it."""
    args, kwargs = activity.unwrapped((list(args), kwargs))
    position = out_position(f)
    if f in WITHOUT_KEYWORDS:
        args[1:] = [out]
    elif position is not None and len(args) > position:
        args[position] = out
    else:
        kwargs["out"] = out
    return f(*args, **kwargs)


def along(axis: Any, y: Any) -> tuple[Any, ...]:
    """Return the index of as many elements along an axis as a result has."""
    axis = operator.index(axis) % max(np.ndim(y), 1)
    return (slice(None),) * axis + (slice(np.shape(y)[axis]),) if np.ndim(y) else (Ellipsis,)


def accumulated(f: Any, args: Any, kwargs: Any, out: Any) -> tuple[Any, Any]:
    """Return arguments by which a sum is computed as it is into `out`, its accumulator."""
    at = ACCUMULATES.get(getattr(f, "__name__", ""))
    if at is None or not issubclass(type(out), ndarray) or kwargs.get("dtype") is not None:
        return args, kwargs
    if at == sys.maxsize:
        operands = args[1:]
    else:
        operands = args[:1] or (kwargs.get("a"), kwargs.get("array"))
    dtypes = [a.dtype for a in operands if issubclass(type(a), ndarray)]
    if out.dtype.kind == "O" or set(dtypes) <= {out.dtype} or any(t.kind == "O" for t in dtypes):
        return args, kwargs
    dtype = np.result_type(out.dtype, *dtypes)
    if len(args) <= at:
        return args, {**kwargs, "dtype": dtype}
    if args[at] is None:
        args = (*args[:at], dtype, *args[at + 1 :])
    return args, kwargs


def run_into(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function without a derivative into copies of `out`, and write these."""
    out = single_output(f, args, kwargs)
    given = tuple(args)
    scratch = tuple(map(scratch_for, out)) if type(out) is tuple else scratch_for(out)
    args, kwargs = activity.unwrapped(tuple(args)), activity.unwrapped(kwargs)
    try:
        made = f(*args, **{**kwargs, "out": scratch})
    except Exception as error:
        refuse_other_writes(ctx, error, f, args, kwargs)
        raise
    if isinstance(scratch, ndarray) and scratch.dtype.kind in "iu":
        drops.whole(ctx, scratch, [a for a in given if ctx.contains_active(a)])
    elif isinstance(scratch, ndarray):
        drops.step(ctx, f, scratch, given)
    where = kwargs.get("where", True) if isinstance(f, np.ufunc) else True
    pairs = zip(out, scratch, strict=True) if type(out) is tuple else [(out, scratch)]
    for part, written in pairs:
        store(ctx, part, written, where)
    is_number = type(out) is ndarray and not out.ndim and type(made) is not ndarray
    return ctx.getitem(out, ()) if is_number else out


def scratch_for(out: ndarray) -> ndarray:
    """Return a copy of an output, to which a function may write only if it may write to that."""
    copy = out.copy()
    copy.flags.writeable = is_writeable(out)
    return copy


def write_steps(ctx: Mode, f: Any, args: Any, kwargs: Any, out: ndarray) -> ndarray:
    """Run a function with an output of integers, in which no derivative is left."""
    memory = ctx.registry.memory_of(out)
    if memory.protected and is_writeable(out):  # else the function raises
        ctx.log_write(memory, out, Ellipsis)
    given = args, kwargs
    args, kwargs = activity.unwrapped(tuple(args)), activity.unwrapped(kwargs)
    y = unrounded(ctx, f, given, (args, kwargs), out)
    f(*args, out=out, **kwargs)
    if y is not None:
        drops.whole(ctx, out, (y,))
    return out


def unrounded(ctx: Mode, f: Any, given: Any, plain: Any, out: Any) -> Any:
    """Return the result of a function of active data before its conversion to ints, or None."""
    if out.dtype.kind not in "iu" or not ctx.contains_active(given):
        return None
    args, kwargs = plain
    with np.errstate(all="ignore"):
        y = f(*args, **{name: v for name, v in kwargs.items() if name not in ("where", "casting")})
    return y if np.shape(y) == out.shape else None


def result_dtype(f: np.ufunc, primals: Any, kwargs: Any) -> np.dtype[Any]:
    """Return the dtype that a ufunc computes in, before it converts to that of `out=`."""
    python = (int, float, complex)  # their precision is that of the other operands
    operands = [x if type(x) in python else np.empty(0, np.asarray(x).dtype) for x in primals]
    with np.errstate(all="ignore"):
        return f(*operands, **{**kwargs, "where": True}).dtype


def converts(f: np.ufunc, primals: Any, out: ndarray, kwargs: Any) -> bool:
    """Return True if `out=` does not hold all of what a ufunc computes."""
    dtype = out.dtype
    if all(getattr(x, "dtype", dtype) is dtype for x in primals):
        return False
    return not np.can_cast(result_dtype(f, primals, kwargs), dtype, "safe")


def fits(y: Any, out: ndarray, casting: Any) -> bool:
    """Return True if a ufunc may write a result into its output, broadcast to its shape."""
    shape = np.shape(y)
    if not np.can_cast(np.asarray(y).dtype, out.dtype, casting):
        return False
    if shape == out.shape:
        return True
    ends = zip(shape[::-1], out.shape[::-1], strict=False)
    return len(shape) <= out.ndim and all(m in (1, n) for m, n in ends)


def without_out(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Support `out=` by computing without it and writing the result."""

    @wraps(apply)
    def apply_and_write(rule: Any, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        if kwargs and f in WITHOUT_KEYWORDS:
            f(*activity.unwrapped(args), **activity.unwrapped(kwargs))  # raises
        if len(args) > 1:
            args, kwargs = named_out(f, args, kwargs)
        given = kwargs
        is_elementwise = isinstance(f, np.ufunc) and f.signature is None
        if "where" in kwargs and is_elementwise:  # all is computed, and a part written
            require_mask(kwargs["where"])
            kwargs = {name: v for name, v in kwargs.items() if name != "where"}
        if "out" not in kwargs:
            return apply(rule, ctx, f, args, kwargs)
        out = single_output(f, args, kwargs)
        kwargs = {name: v for name, v in kwargs.items() if name != "out"}
        if out is None:
            if given["out"] is Ellipsis and not isinstance(f, np.ufunc):  # few take it
                f(*activity.unwrapped(tuple(args)), **activity.unwrapped(given))  # or raises
            y = apply(rule, ctx, f, args, kwargs)
            return as_arrays(ctx, y) if given["out"] is Ellipsis else y
        require_axis(f, out)
        if not ctx.watches:
            ctx.refuse_subclasses(out if type(out) is tuple else (out,))
        where = given.get("where", True) if is_elementwise else True
        compute = partial(compute_into, partial(apply, rule), ctx, f, args, kwargs, out, where)
        try:
            if type(out) is ndarray and narrows(out, args) and not rule.by_user:
                options = {name: v for name, v in given.items() if name != "out"}
                y = heard_from(partial(call_with, f, args, options, out.copy()), compute)
            else:
                y = compute()
            return number_in(ctx, f, args, kwargs, y) if y is out else y
        except Exception as error:
            raised = error if rule.by_user else as_plain(error, f, args, given)
            refuse_other_writes(ctx, raised, f, args, given)
            if raised is error:
                raise
        raise raised

    return apply_and_write


def laid_out(ctx: Mode, f: Any, args: Any, kwargs: Any, out: Any, y: Any) -> Any:
    """Return results of which some have an output, the others in the shape and layout of NumPy.

    It broadcasts all operands with the outputs.
    """
    args, kwargs = activity.unwrapped((tuple(args), kwargs))
    copies = tuple(None if into is None else into.copy("K") for into in out)
    with np.errstate(all="ignore"):
        plain = f(*args, **kwargs, out=copies)
    return tuple(
        [
            like(ctx, part, model) if into is None and type(model) is ndarray else part
            for part, into, model in zip(y, out, plain, strict=True)
        ]
    )


def like(ctx: Mode, part: Any, model: ndarray) -> Any:
    """Return a result in the shape and layout of an array; itself if it has them."""
    plain = activity.unwrapped(part)
    if type(plain) is ndarray and (plain.shape, plain.strides) == (model.shape, model.strides):
        return part
    whole = np.empty_like(model)
    ctx.assign(whole, Ellipsis, part)
    return whole


def as_arrays(ctx: Mode, y: Any) -> Any:
    """Return results as arrays, also those without axes."""
    if type(y) is tuple:
        return tuple([as_arrays(ctx, part) for part in y])
    return ctx.call(np.asarray, y)


def compute_into(
    apply: Callable[..., Any], ctx: Mode, f: Any, args: Any, kwargs: Any, out: Any, where: Any
) -> Any:
    """Write the result of a function into its argument `out`, which is not among the keywords."""
    if type(out) is tuple:
        y = apply(ctx, f, args, kwargs)
        require_shapes(f, args, kwargs, out, y)
        if any(into is None for into in out):
            options = kwargs if where is True else {**kwargs, "where": where}
            y = laid_out(ctx, f, args, options, out, y)
        return write_into(ctx, out, y, where=where)
    if issubclass(type(out), ndarray) and out.dtype.kind in "biu":
        return write_steps(ctx, f, args, kwargs, out)
    if f in overlapping.JOINS and kwargs.get("dtype") is not None:
        f(*activity.unwrapped(tuple(args)), **kwargs, out=activity.unwrapped(out))  # raises
    if f in overlapping.JOINS and overlapping.holds_part_of(out, args[0]):
        return overlapping.join_into(ctx, f, out, *args, **kwargs)
    if f in AVERAGES and args and dtypes_of_average(*args, **kwargs) != {out.dtype}:
        return ctx.call_function(AVERAGES[f].__wrapped__, args, {**kwargs, "out": out})
    args, kwargs = accumulated(f, args, kwargs, out)
    if f in INTO and args and issubclass(type(out), ndarray):
        y = ctx.call(INTO[f], args[0], out.dtype, *args[1:], **kwargs)
    else:
        y = apply(ctx, f, args, kwargs)
    casting = kwargs.get("casting", "same_kind")
    if isinstance(f, np.ufunc):
        if issubclass(type(out), ndarray) and not fits(activity.unwrapped(y), out, casting):
            plain_args, plain_kwargs = activity.unwrapped((tuple(args), kwargs))
            f(*plain_args, **plain_kwargs, out=out.copy())  # raises, in NumPy's words
        return write_into(ctx, out, y, casting)
    index = place_in(f, args, kwargs, out, activity.unwrapped(y))
    write_into(ctx, out[index], y, "unsafe" if f.__name__ in CASTS_ANY else casting)
    return out


def dtypes_of_average(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> set[Any]:
    """Return the dtypes of an array and of what its average is computed in."""
    return {getattr(a, "dtype", None)} | (set() if dtype is None else {np.dtype(dtype)})


def require_shapes(f: Any, args: Any, kwargs: Any, out: tuple[Any, ...], y: Any) -> None:
    """Raise what NumPy raises for several outputs of shapes that do not agree."""
    shapes = {part.shape for part in out if part is not None}
    shape = np.broadcast_shapes(np.shape(activity.unwrapped(y[0])), *shapes)
    if shapes != {shape} and f.signature is None:
        copies = tuple([None if part is None else part.copy() for part in out])
        f(*activity.unwrapped(tuple(args)), **activity.unwrapped(kwargs), out=copies)


def number_in(ctx: Mode, f: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Return the output, or the number in it where NumPy returns that, as for NumPy's scalars."""
    if type(out) is not ndarray or out.ndim or isinstance(f, np.ufunc):
        return out
    with np.errstate(all="ignore"):
        plain = call_with(f, args, kwargs, out.copy())
    return out if type(plain) is ndarray else ctx.getitem(out, ())
