"""Split a tangent into fdata (identified by address) and rdata (identified by value)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.arithmetic import accumulate
from mooncake_py.tangents.build import zero_number
from mooncake_py.tangents.builtin_specs import NUMBER
from mooncake_py.tangents.containers import (
    IMMUTABLE,
    MUTABLE,
    is_number,
    join_container,
    join_or_collapse,
    parts_of,
)
from mooncake_py.tangents.kinds import FData, NoFData, NoRData, NoTangent, RData, Tangent
from mooncake_py.tangents.lookup import spec_of

__all__ = ["fdata", "increment_rdata", "rdata", "tangent", "zero_rdata"]


def fdata(t: Any) -> Any:
    """Return the part of a tangent that is identified by its address.

    Examples
    --------
    >>> t = (0.0, [0.0])
    >>> fdata(t), fdata(t)[1] is t[1]
    ((NoFData(), [0.0]), True)
    """
    if isinstance(t, ndarray) or type(t) in MUTABLE:
        return t
    if t is NoTangent() or is_number(t):
        return NoFData()
    kind = FData if type(t) is Tangent else tuple
    return join_or_collapse(kind, _split_parts(t, fdata), NoFData())


def rdata(t: Any) -> Any:
    """Return the part of a tangent that is identified by its value.

    Examples
    --------
    >>> rdata((0.0, [0.0]))
    (0.0, NoRData())
    """
    if is_number(t):
        return t
    if t is NoTangent() or isinstance(t, ndarray) or type(t) in MUTABLE:
        return NoRData()
    kind = RData if type(t) is Tangent else tuple
    return join_or_collapse(kind, _split_parts(t, rdata), NoRData())


def tangent(f: Any, r: Any) -> Any:
    """Join fdata and rdata: ``tangent(fdata(t), rdata(t))`` is `t` again.

    Arrays and other parts identified by address are the very same objects.

    Raises
    ------
    InvalidTangentError
        If `f` and `r` are not the two parts of one tangent.
    """
    if r is NoRData():
        if f is NoFData():
            return NoTangent()
        if isinstance(f, ndarray) or type(f) in MUTABLE:
            return f
    elif f is NoFData() and is_number(r):
        return r
    kinds = {type(f), type(r)} - {NoFData, NoRData}
    if kinds == {tuple}:
        kind = tuple
    elif kinds and kinds <= {FData, RData} and type(f) is not RData and type(r) is not FData:
        kind = Tangent
    else:
        raise _not_two_parts(f, r)
    left = None if f is NoFData() else parts_of(f)
    right = None if r is NoRData() else parts_of(r)
    if left is not None and right is not None and left.keys() != right.keys():
        raise _not_two_parts(f, r)
    return join_container(
        kind,
        {
            k: tangent(
                NoFData() if left is None else left[k], NoRData() if right is None else right[k]
            )
            for k in (left if left is not None else right or ())
        },
    )


def zero_rdata(x: Any) -> Any:
    """Return the zero rdata of a primal value, without making its fdata.

    Examples
    --------
    >>> zero_rdata((5.0, [5.0]))
    (0.0, NoRData())
    """
    spec = spec_of(x)
    if spec is NUMBER:
        return zero_number(x)
    if spec.mutable or spec.container not in IMMUTABLE:
        return NoRData()
    fields = spec.fields(x)
    if fields is None:
        return NoRData()
    kind = RData if spec.container is Tangent else tuple
    return join_or_collapse(kind, {k: zero_rdata(v) for k, v in fields.items()}, NoRData())


def increment_rdata(t: Any, r: Any) -> Any:
    """Return the tangent `t` with rdata `r` added; its fdata are the very same objects."""
    return tangent(fdata(t), accumulate(rdata(t), r))


def _split_parts(t: Any, part: Any) -> Mapping[Any, Any]:
    if type(t) not in (tuple, Tangent):
        raise InvalidTangentError(
            f"{type(t).__qualname__} {t!r:.60} is not a tangent",
            why="only tangents are split into fdata and rdata",
            fix="build it with zero_tangent or randn_tangent",
        )
    return {k: part(v) for k, v in parts_of(t).items()}


def _not_two_parts(f: Any, r: Any) -> InvalidTangentError:
    return InvalidTangentError(
        "fdata and rdata do not belong together",
        why=f"fdata: {f!r:.60}\nrdata: {r!r:.60}",
        fix="pass fdata(t) and rdata(t) of one tangent, or zero_rdata(x) of the primal",
    )
