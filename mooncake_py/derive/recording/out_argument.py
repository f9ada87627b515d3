"""The argument ``out`` of NumPy's functions: where it stands, and writing into it.

A function is computed without it, and the result is assigned as by ``out[...] = y``: then the log
of writes and the cotangents are those of an assignment.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording import activity

__all__ = ["named_out", "run_into", "signature_of", "single_output", "without_out", "write_into"]

# Of functions in C, whose signature NumPy before 2.4 does not tell.
POSITIONS = {
    "reduce": 3, "accumulate": 3, "reduceat": 4,
    "sum": 3, "mean": 3, "prod": 3, "cumsum": 3, "cumprod": 3, "std": 3, "var": 3,
    "max": 2, "min": 2, "argmax": 2, "argmin": 2, "any": 2, "all": 2, "round": 2,
    "take": 3, "compress": 3, "choose": 2, "clip": 3, "trace": 5, "dot": 2, "concatenate": 2,
}


@lru_cache(maxsize=1024)
def signature_of(f: Any) -> inspect.Signature | None:
    """Return the signature of a function, or None if it has none to inspect."""
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        return None


@lru_cache(maxsize=1024)
def out_position(f: Any) -> int | None:
    """Return where a function takes ``out`` by position, if it does."""
    if isinstance(f, np.ufunc):
        return f.nin
    signature = signature_of(f)
    if signature is None:
        return POSITIONS.get(getattr(f, "__name__", ""))
    parameter = signature.parameters.get("out")
    if parameter is None or parameter.default is not None:
        return None  # not that argument
    if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(signature.parameters).index("out")


def named_out(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the arguments with one for ``out`` given by keyword, not by position."""
    position = out_position(f)
    if position is None or len(args) <= position:
        return args, kwargs
    if isinstance(f, np.ufunc):
        return args[:position], {**kwargs, "out": args[position:]}
    out, rest = args[position], args[position + 1 :]
    if out is None:
        return args, kwargs
    return (*args[:position], *((None, *rest) if rest else ())), {**kwargs, "out": out}


def single_output(out: Any) -> Any:
    """Return the array of `out=`, or None; NumPy also takes a tuple and, for ufuncs, `...`."""
    if type(out) is tuple and len(out) == 1:
        (out,) = out
    return None if out is Ellipsis else out


def write_into(
    ctx: Any, out: Any, y: Any, casting: str = "same_kind", where: Any = True
) -> Any:
    """Write a result into `out`, as a function with that argument does; or each of several."""
    if type(out) is tuple:
        return tuple(
            part if into is None else write_into(ctx, into, part, casting, where)
            for into, part in zip(out, y, strict=True)
        )
    dtype = np.asarray(activity.unwrapped(y)).dtype
    if not np.can_cast(dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {dtype!r} to {out.dtype!r} "
            f"according to the rule {casting!r}"
        )
    store(ctx, out, y, where)
    return out


def store(ctx: Any, out: Any, y: Any, where: Any) -> None:
    """Write a result into `out`, with `where` of a ufunc only the elements that it computed."""
    if where is True:
        ctx.assign(out, Ellipsis, y)
    else:
        ctx.call(np.copyto, out, y, where=where)


def check_output(f: Any, out: Any, y: Any) -> None:
    """Raise where NumPy does not take an array for a result; only ufuncs broadcast one."""
    dot = getattr(f, "__name__", "") == "dot"
    if np.shape(y) != np.shape(out) or (dot and not out.flags.c_contiguous):
        raise ValueError(
            f"output array is not acceptable: shape {np.shape(out)} and strides {out.strides} "
            f"for a result of shape {np.shape(y)}"
        )


def run_into(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function without a derivative into copies of `out`, and write these."""
    out = single_output(kwargs["out"])
    scratch = tuple(part.copy() for part in out) if type(out) is tuple else out.copy()
    args, kwargs = activity.unwrapped(tuple(args)), activity.unwrapped(kwargs)
    f(*args, **{**kwargs, "out": scratch})
    where = kwargs.get("where", True) if isinstance(f, np.ufunc) else True
    pairs = zip(out, scratch, strict=True) if type(out) is tuple else [(out, scratch)]
    for part, written in pairs:
        store(ctx, part, written, where)
    return out


def write_steps(ctx: Any, f: Any, args: Any, kwargs: Any, out: ndarray) -> ndarray:
    """Run a function with an output of integers, in which no derivative is left."""
    memory = ctx.registry.memory_of(out)
    if memory.protected:
        ctx.log_write(memory, out, Ellipsis)
    args, kwargs = activity.unwrapped(tuple(args)), activity.unwrapped(kwargs)
    return f(*args, out=out, **kwargs)


def without_out(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Serve `out=` by computing without it and writing the result."""

    @wraps(apply)
    def apply_and_write(rule: Any, ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        if len(args) > 1:
            args, kwargs = named_out(f, args, kwargs)
        where = True
        if "where" in kwargs and isinstance(f, np.ufunc):  # all is computed, and a part written
            where = kwargs["where"]
            kwargs = {name: v for name, v in kwargs.items() if name != "where"}
        if "out" not in kwargs:
            return apply(rule, ctx, f, args, kwargs)
        out = single_output(kwargs["out"])
        kwargs = {name: v for name, v in kwargs.items() if name != "out"}
        if out is None:
            return apply(rule, ctx, f, args, kwargs)
        if type(out) is tuple:
            return write_into(ctx, out, apply(rule, ctx, f, args, kwargs), where=where)
        if isinstance(out, ndarray) and out.dtype.kind not in "fcOV":
            return write_steps(ctx, f, args, kwargs, out)
        y = apply(rule, ctx, f, args, kwargs)
        if not isinstance(f, np.ufunc):
            check_output(f, out, activity.unwrapped(y))
        return write_into(ctx, out, y)

    return apply_and_write
