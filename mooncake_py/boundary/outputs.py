"""The output of a differentiated function: its value and its cotangent."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.apart import begin, ended
from mooncake_py.boundary.arguments import Call, name_of
from mooncake_py.boundary.kept import hand_out
from mooncake_py.boundary.outgoing import independent
from mooncake_py.diagnostics.notes import locate
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.errors import InvalidTangentError, MooncakeError, NonScalarOutputError
from mooncake_py.language import unfinished
from mooncake_py.rules.broadcasting import fit
from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.tangents import NoTangent, Tangent
from mooncake_py.tangents.contents import elements_of, plain_dict
from mooncake_py.tangents.kinds import Fields
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.subclasses import is_instance, plain, with_attributes
from mooncake_py.words import text_of_key, with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = [
    "auxiliary", "described", "has_shape", "held_by", "is_numeric", "paired", "part_of",
    "parts_of", "run", "scalar_value", "seed", "value_and_auxiliary", "value_and_copy",
]  # fmt: skip


def run(ctx: Mode, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run `f` forward; an error that user code has swallowed is raised here."""
    begin()
    try:
        output = ctx.call(f, *args, **kwargs)
    finally:
        ctx.close_gate()
    if ctx.meter is not None:
        ctx.meter.go_on()
    unfinished.let_go()
    if ctx.failure is not None:
        raise ctx.failure
    ended(ctx)
    for cache in ctx.caches.values():
        cache.twins.require_unchanged(ctx)
    hand_out(ctx, output)
    return output


def value_and_auxiliary(call: Call, output: Any) -> tuple[Any, Any]:
    """Return the value and the auxiliary output, None if there is none."""
    return auxiliary(call.f, output) if call.has_aux else (output, None)


def value_and_copy(ctx: Mode, call: Call, output: Any) -> tuple[Any, Any]:
    """Return the value, and a copy of the auxiliary output that may leave the call."""
    value, aux = value_and_auxiliary(call, output)
    try:
        return value, None if aux is None else independent(ctx, aux)
    except MooncakeError as error:
        locate(error, definition_of(call.f))
        raise


def auxiliary(f: Callable[..., Any], output: Any) -> tuple[Any, Any]:
    """Return the value and the auxiliary output of a function that must return both."""
    if type(output) is tuple and len(output) == 2:
        return output
    raise NonScalarOutputError(
        f"with has_aux=True, {name_of(f)} must return (value, aux)",
        where=definition_of(f),
        why=f"it returned {with_article(plain_class(output).__name__)}",
        fix="return a tuple of the value and anything else",
    )


def scalar_value(f: Callable[..., Any], output: Any) -> Any:
    """Return the value of a function that must return one real number."""
    value = output.primal if type(output) is Active else output
    if issubclass(type(value), ndarray):
        if value is np.ma.masked:  # there is only one
            return value
        if value.size == 1 and value.dtype.kind == "f":
            copy = plain(value).copy()
            return with_attributes(copy, value) if is_instance(value) else copy
        shape = f"an array of shape {value.shape} and dtype {value.dtype}"
    elif isinstance(value, (float, np.floating, int, np.integer)) and not isinstance(value, bool):
        return value
    else:
        shape = f"a value of type {type(value).__name__}"
    raise NonScalarOutputError(
        f"{name_of(f)} returned {shape}, but a gradient needs one real number",
        where=definition_of(f),
        why="the gradient is defined for functions with a real scalar result",
        fix=to_one_number(value),
    )


def to_one_number(value: Any) -> str:
    """Return how to get one real number out of a function that returned something else."""
    if value is None:
        return "return the number: is a `return` missing?"
    if issubclass(type(value), Generator):
        return "use `return` instead of `yield`, or return the sum of its items"
    if issubclass(type(value), tuple) and len(value) == 2:
        return "for (value, aux) pass has_aux=True; for several outputs use vjp or jacobian"
    if issubclass(type(value), (tuple, list, dict)):
        return (
            "return the number alone, or (value, aux) with has_aux=True; for several outputs use "
            "vjp or jacobian"
        )
    if np.iscomplexobj(value):
        return "take a real number of it: y.real, or abs(y)"
    if issubclass(type(value), ndarray) and value.dtype.kind == "f":
        other = "use jacobian, or vjp with a cotangent of that shape"
        return f"reduce it, for example with np.sum, or {other}"
    return "return a float that depends on the arguments"


def seed(ctx: Tracking, output: Any, cotangent: Any, path: str) -> None:
    """Give a cotangent to an output of any structure."""
    for leaf, g in paired(output, cotangent, path, ctx.contains_active):
        if type(leaf) is Active:
            leaf.add(np.asarray(g)[()])
        elif type(leaf) is ndarray and (node := ctx.find(leaf)) is not None:
            node.add_shared(fit(g, leaf.shape, leaf.dtype))


def paired(
    output: Any,
    cotangent: Any,
    path: str,
    is_active: Callable[[Any], bool],
    above: frozenset[int] = frozenset(),
) -> Iterator[tuple[Any, Any]]:
    """Yield the numbers and arrays of an output of any structure, with their cotangents.

    The cotangent has the structure of a gradient or of a tangent.  What contains itself is entered
    once: `above` are the ids of the containers that this value is in.
    """
    if type(cotangent) is NoTangent:
        return
    output = plain(output) if is_instance(output) else output
    t = type(output)
    if t is ndarray and output.dtype.kind not in "fc":
        return
    if t is Active or t is ndarray:
        expected = "a number" if t is Active else f"an array of shape {output.shape}"
        given = unwrapped(cotangent)
        shape = () if t is Active else output.shape
        if not has_shape(given, shape) or not is_numeric(given):
            raise wrong_cotangent(path, expected, given)
        if np.iscomplexobj(given) and not np.iscomplexobj(unwrapped(output)):
            raise complex_cotangent(path, given)
        yield output, cotangent
        return
    if t in INERT or id(output) in above:
        return
    above = above | {id(output)}
    for name, part, g in parts_with_cotangents(output, cotangent, path, is_active):
        yield from paired(part, g, f"{path}{name}", is_active, above)


def parts_with_cotangents(
    output: Any, cotangent: Any, path: str, is_active: Callable[[Any], bool]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the parts of a container or an object, with their names in messages."""
    if issubclass(type(output), SEQUENCES) and type(cotangent) is not Tangent:
        parts = elements_of(output)
        is_sequence = issubclass(type(cotangent), SEQUENCES)
        given = elements_of(cotangent) if is_sequence else []
        if not is_sequence or len(given) != len(parts):
            raise wrong_cotangent(path, f"a sequence of {len(parts)}", cotangent)
        for i, (part, g) in enumerate(zip(parts, given, strict=True)):
            yield f"[{i}]", part, g
    elif issubclass(type(output), dict):
        named = plain_dict(output)
        given = plain_dict(cotangent) if issubclass(type(cotangent), dict) else None
        if given is None or given.keys() != named.keys():
            raise wrong_cotangent(path, f"a dict with keys {list(named)}", cotangent)
        for key, part in named.items():
            yield f"[{text_of_key(key)}]", part, given[key]
    elif cotangent is not None and is_active(output):
        fields = spec_of(output).fields(output) or {}
        found = parts_of(fields.keys(), cotangent, path, wrong_cotangent)
        for name, part in fields.items():
            if is_active(part):
                g = part_of(found, name, cotangent, path, wrong_cotangent)
                yield f".{name}", part, g


SEQUENCES = (tuple, list, deque)
Misfit = Callable[[str, str, Any], InvalidTangentError]
"""From a path, what is expected there, and what was given."""


def parts_of(names: Collection[Any], given: Any, path: str, misfit: Misfit) -> Mapping[Any, Any]:
    """Return the parts of a tangent or cotangent of any structure, by index, key or name.

    The names are those of the parts of the value: what is given has these and no others.
    """
    found = held_by(given)
    if len(names) == 1 and "cell_contents" in names and (found is None or found.keys() != names):
        return {"cell_contents": given}  # of a captured variable, whose gradient has no cell
    if found is None:
        raise misfit(path, f"something with {the_parts(names)}", given)
    if found.keys() == names:
        return found
    if issubclass(type(given), tuple) and list(names) == [*range(len(elements_of(given)))]:
        return dict(enumerate(elements_of(given)))  # a namedtuple for a tuple
    more = [name for name in found if name not in names and not is_computed(given, name)]
    if more and len(more) == len(found):
        raise misfit(path, f"something with {the_parts(names)}", given)
    if more:
        expected = f"no such part in addition to {the_parts(names)}"
        raise misfit(f"{path}[{more[0]!r}]", expected, found[more[0]])
    return found


def held_by(given: Any) -> Mapping[Any, Any] | None:
    """Return the parts that a tangent of any structure has, past its own methods; None if none."""
    if issubclass(type(given), ndarray):
        return dict(enumerate(given)) if given.ndim else None
    spec = spec_of(given)
    return None if type(given) in INERT else spec.fields(given)


def is_computed(given: Any, name: Any) -> bool:
    """Return whether an attribute of an object holds a property that was computed from others."""
    return isinstance(name, str) and isinstance(
        getattr(type(given), name, None), functools.cached_property
    )


def the_parts(names: Collection[Any]) -> str:
    """Return which parts there are, in words."""
    if not names:
        return "no parts"
    shown = ", ".join(map(repr, list(names)[:6])) + (", ..." if len(names) > 6 else "")
    return f"the {'part' if len(names) == 1 else 'parts'} {shown}"


def part_of(parts: Mapping[Any, Any], name: Any, given: Any, path: str, misfit: Misfit) -> Any:
    """Return one of the parts that were found in what was given, if it is there."""
    try:
        return parts[name]
    except KeyError:
        pass
    if (
        isinstance(name, str)
        and not issubclass(type(given), (dict, Fields))
        and hasattr(given, name)
    ):
        return getattr(given, name)  # a property
    raise misfit(path, f"something with a part {name!r}", given)


def has_shape(tangent: Any, shape: tuple[int, ...]) -> bool:
    """Return whether a tangent is an array of that shape, or can become one."""
    try:
        return np.shape(tangent) == shape
    except ValueError:  # its rows differ in length
        return False


def is_numeric(cotangent: Any) -> bool:
    """Return whether a cotangent consists of numbers."""
    return np.asarray(cotangent).dtype.kind in "fcbiu"


def described(got: Any) -> str:
    """Return the shape of an array, type and text of anything else."""
    return (
        f"shape {got.shape}" if issubclass(type(got), ndarray) else f"{type(got).__name__} {got!r}"
    )


def complex_cotangent(path: str, got: Any) -> InvalidTangentError:
    """Return the error for a complex cotangent of a real output."""
    kind = f"an array of dtype {got.dtype}" if issubclass(type(got), ndarray) else described(got)
    return InvalidTangentError(
        f"the cotangent {path} does not fit the output: expected real numbers, got {kind}",
        why="the output is real, so the imaginary part of its cotangent would be lost",
        fix=f"pass a real cotangent: {path}.real",
    )


def wrong_cotangent(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a cotangent that does not fit the output."""
    return InvalidTangentError(
        f"the cotangent {path} does not fit the output: expected {expected}, got {described(got)}",
        why="each number of the output has one cotangent",
        fix="pass a cotangent in the structure and shape of the output",
    )
