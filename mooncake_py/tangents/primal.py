"""Move a value along a tangent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.builtin_specs import ARRAY, NUMBER, differentiable_array
from mooncake_py.tangents.containers import IMMUTABLE, MUTABLE, parts_of
from mooncake_py.tangents.kinds import NoTangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import Shadows, zeros_like_owner
from mooncake_py.tangents.subclasses import is_instance, plain, with_attributes
from mooncake_py.words import text_of_key

__all__ = ["add_to_primal"]


def add_to_primal(p: Any, t: Any) -> Any:
    """Return a new value `p` + `t`, sharing no mutable part with `p`.

    Parameters
    ----------
    p : object
        Left unchanged.
    t : tangent
        Of `p`; a part that is ``NoTangent()`` leaves that part of `p` as it is.

    Returns
    -------
    object
        Of the type of `p`, with the same sharing of objects and memory.  Objects are made without
        calling ``__init__``.  Integer arrays and containers without derivative are copied too.

    Raises
    ------
    InvalidTangentError
        If `t` is not a tangent of `p`.

    Examples
    --------
    >>> add_to_primal((1.0, 2), (0.5, NoTangent()))
    (1.5, 2)
    """
    return _Mover().move(p, t, "p")


class _Mover:
    def __init__(self) -> None:
        self.copies = Shadows(_copy_owner)
        self.memo: dict[int, tuple[Any, Any, Any]] = {}  # values, what they become, their tangents

    def move(self, p: Any, t: Any, path: str) -> Any:
        spec = spec_of(p)
        if spec is NUMBER:
            return p if t is NoTangent() else _moved_number(p, t, path)
        if spec is ARRAY:
            return self.array(p, t, path)
        known = self.memo.get(id(p))
        if known is not None and (spec.mutable or known[2] is t):
            return known[1]
        fields = spec.fields(p)
        if fields is None:
            new = p.copy() if issubclass(type(p), (set, bytearray)) else p
            self.memo[id(p)] = p, new, t
            return new
        steps = _parts_for(fields, t, path)
        if not spec.mutable:
            new = spec.build(p, self.parts(fields, steps, path))
            self.memo[id(p)] = p, new, t
            return new
        new = spec.blank(p)
        self.memo[id(p)] = p, new, t  # before the parts, which may refer back to p
        spec.fill(new, self.parts(fields, steps, path))
        return new

    def parts(self, fields: Any, steps: Any, path: str) -> dict[Any, Any]:
        none = NoTangent()
        return {
            k: self.move(v, steps.get(k, none), f"{path}[{text_of_key(k)}]")
            for k, v in fields.items()
        }

    def array(self, p: ndarray, t: Any, path: str) -> ndarray:
        if p.dtype.kind not in "OV":
            new = self.copies.view(p)
            if is_instance(p):
                new = with_attributes(new, p)
            if t is NoTangent():
                return new
            if not differentiable_array(p) or not isinstance(t, ndarray) or t.shape != p.shape:
                raise _no_tangent_of(p, t, path)
            np.add(plain(p), t, out=plain(new), casting="same_kind")
            return new
        if t is not NoTangent():
            raise _no_tangent_of(p, t, path)
        return p.copy()


def _copy_owner(owner: ndarray) -> ndarray:
    copy = zeros_like_owner(owner)
    copy[...] = plain(owner)
    return copy


def _moved_number(p: Any, t: Any, path: str) -> Any:
    if not isinstance(t, (float, complex, np.inexact)):
        raise _no_tangent_of(p, t, path)
    moved = p + t
    return type(p)(moved) if isinstance(p, np.inexact) else moved


def _parts_for(fields: Any, t: Any, path: str) -> Any:
    if t is NoTangent():
        return {}
    if type(t) not in IMMUTABLE and type(t) not in MUTABLE:
        raise _no_tangent_of(fields, t, path)
    steps = parts_of(t)
    if steps.keys() != fields.keys():
        raise _no_tangent_of(fields, t, path)
    return steps


def _no_tangent_of(p: Any, t: Any, path: str) -> InvalidTangentError:
    return InvalidTangentError(
        f"cannot move {path} along something that is not its tangent",
        why=f"value:   {type(p).__qualname__} {p!r:.60}\ntangent: {type(t).__qualname__} {t!r:.60}",
        fix="build the tangent with zero_tangent or randn_tangent of the same value",
    )
