"""What a differentiated function returned: its value, its cotangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.crossing.arguments import name_of
from mooncake_py.derive.crossing.outgoing import independent
from mooncake_py.derive.recording.active import Active, primal_of
from mooncake_py.derive.recording.reverse import ReverseContext
from mooncake_py.derive.reports.notes import locate
from mooncake_py.derive.reports.places import definition_of
from mooncake_py.errors import InvalidTangentError, MooncakeError, NonScalarOutputError
from mooncake_py.rules.broadcasting import fit
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.kinds import Fields
from mooncake_py.tangents.lookup import spec_of

__all__ = ["described", "is_numeric", "member", "run", "scalar_value", "seed"]


def run(
    ctx: Any, f: Callable[..., Any], args: Any, kwargs: Any, has_aux: bool
) -> tuple[Any, Any]:
    """Run `f` forward; an error that user code has swallowed is raised here."""
    output = ctx.call(f, *args, **kwargs)
    if ctx.failure is not None:
        raise ctx.failure
    ctx.leave(output)
    if not has_aux:
        return output, None
    if type(output) is not tuple or len(output) != 2:
        raise NonScalarOutputError(
            f"with has_aux=True, {name_of(f)} must return (value, aux)",
            where=definition_of(f),
            why=f"it returned a {type(primal_of(output)).__name__}",
            mend="return a tuple of the value and anything else",
        )
    try:
        return output[0], independent(ctx, output[1])
    except MooncakeError as error:
        locate(error, definition_of(f))
        raise


def scalar_value(f: Callable[..., Any], output: Any) -> Any:
    """Return the value of a function that must return one real number."""
    value = output.primal if type(output) is Active else output
    if isinstance(value, ndarray):
        if value.size == 1 and value.dtype.kind == "f":
            return value.copy()
        shape = f"an array of shape {value.shape} and dtype {value.dtype}"
    elif isinstance(value, (float, np.floating, int, np.integer)) and not isinstance(value, bool):
        return value
    else:
        shape = f"a value of type {type(value).__name__}"
    raise NonScalarOutputError(
        f"{name_of(f)} returned {shape}, but a gradient needs one real number",
        where=definition_of(f),
        why="the gradient is defined for functions with a real scalar result",
        mend="reduce it, for example with np.sum, or use vjp with a cotangent of that shape",
    )


def seed(ctx: ReverseContext, output: Any, cotangent: Any, path: str) -> None:
    """Give a cotangent to an output of any structure."""
    if isinstance(output, (tuple, list)):
        if not isinstance(cotangent, (tuple, list)) or len(cotangent) != len(output):
            raise wrong_cotangent(path, f"a sequence of {len(output)}", cotangent)
        for i, (part, d) in enumerate(zip(output, cotangent, strict=True)):
            seed(ctx, part, d, f"{path}[{i}]")
    elif isinstance(output, dict):
        if not isinstance(cotangent, dict) or cotangent.keys() != output.keys():
            raise wrong_cotangent(path, f"a dict with keys {list(output)}", cotangent)
        for key, part in output.items():
            seed(ctx, part, cotangent[key], f"{path}[{key!r}]")
    elif type(output) is Active:
        if np.shape(cotangent) != () or not is_numeric(cotangent):
            raise wrong_cotangent(path, "a number", cotangent)
        output.add(np.asarray(cotangent)[()])
    elif type(output) is ndarray:
        node = ctx.find(output)
        if np.shape(cotangent) != output.shape or not is_numeric(cotangent):
            raise wrong_cotangent(path, f"an array of shape {output.shape}", cotangent)
        if node is not None:
            node.add_shared(fit(cotangent, output.shape, output.dtype))
    elif ctx.contains_active(output):
        seed_parts(ctx, output, cotangent, path)


def seed_parts(ctx: Any, output: Any, cotangent: Any, path: str) -> None:
    """Give a cotangent to an object: a gradient like those the package returns; None for zero."""
    if cotangent is None or type(cotangent) is NoTangent:
        return
    fields = spec_of(output).fields(output) or {}
    for name, part in fields.items():
        if ctx.contains_active(part):
            try:
                d = member(cotangent, name)
            except (LookupError, AttributeError, TypeError):
                raise wrong_cotangent(path, f"something with a part {name!r}", cotangent) from None
            seed(ctx, part, d, f"{path}.{name}")


def member(cotangent: Any, name: Any) -> Any:
    """Return a part of a cotangent of any structure, by index, key or name."""
    # A field of a tangent may have the name of an attribute of every class, such as __module__.
    if isinstance(name, str) and not isinstance(cotangent, (dict, Fields)):
        return getattr(cotangent, name)
    return cotangent[name]


def is_numeric(cotangent: Any) -> bool:
    """Tell whether a cotangent consists of numbers."""
    return np.asarray(cotangent).dtype.kind in "fcbiu"


def described(got: Any) -> str:
    """Return the shape of an array, type and text of anything else."""
    return f"shape {got.shape}" if isinstance(got, ndarray) else f"{type(got).__name__} {got!r}"


def wrong_cotangent(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a cotangent that does not fit the output."""
    return InvalidTangentError(
        f"the cotangent {path} does not fit the output: expected {expected}, got {described(got)}",
        why="each number of the output has one cotangent",
        mend="pass a cotangent in the structure and shape of the output",
    )
