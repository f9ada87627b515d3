"""Make the tangent of a value: of zeros, of random numbers, or the difference of two values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.builtin_specs import ARRAY, NUMBER, differentiable_array
from mooncake_py.tangents.containers import (
    fill_container,
    is_number,
    join_or_collapse,
)
from mooncake_py.tangents.kinds import NoTangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import Shadows

__all__ = ["difference", "randn_tangent", "zero_number", "zero_tangent"]


def zero_tangent(x: Any) -> Any:
    """Return the zero tangent of a value.

    Parameters
    ----------
    x : object
        Any value.  For several values that may share memory pass a tuple of them.

    Returns
    -------
    tangent
        Parts of `x` that are the same object, or that overlap in memory, have tangents that are
        the same object, or overlap in the same way.

    Raises
    ------
    InvalidTangentError
        If a part of `x` has no tangent type: an object array, a structured array, an iterator.

    Examples
    --------
    >>> zero_tangent((5.0, np.array([5.0]), 3))
    (0.0, array([0.]), NoTangent())
    """
    return _Builder(lambda p, q: zero_number(p), lambda d, p, q: None).run(x, x)


def randn_tangent(rng: np.random.Generator, x: Any) -> Any:
    """Return a tangent of independent standard normal numbers, with the sharing of `x`.

    Parameters
    ----------
    rng : numpy.random.Generator
    x : object
    """

    def number(p: Any, q: Any) -> Any:
        zero = zero_number(p)
        draw = rng.standard_normal()
        if isinstance(zero, (complex, np.complexfloating)):
            draw = complex(draw, rng.standard_normal())
        return type(zero)(draw)

    def fill(d: ndarray, p: ndarray, q: ndarray) -> None:
        if d.dtype.kind == "c":
            d.real = rng.standard_normal(d.shape)
            d.imag = rng.standard_normal(d.shape)
        else:
            d[...] = rng.standard_normal(d.shape)

    return _Builder(number, fill).run(x, x)


def difference(p: Any, q: Any) -> Any:
    """Return the tangent ``t`` with ``add_to_primal(q, t)`` equal to `p`, up to rounding.

    Parameters
    ----------
    p, q : object
        Values of equal structure.  The result shares memory as `p` does.

    Raises
    ------
    InvalidTangentError
        If the structures differ.
    """

    def number(a: Any, b: Any) -> Any:
        if not is_number(b) or np.iscomplexobj(a) != np.iscomplexobj(b):
            raise _unlike(a, b)
        return type(zero_number(a))(a - b)

    def fill(d: ndarray, a: ndarray, b: ndarray) -> None:
        if not issubclass(type(b), ndarray) or a.shape != b.shape or a.dtype != b.dtype:
            raise _unlike(a, b)
        with np.errstate(invalid="ignore"):  # inf - inf
            d[...] = a - b

    return _Builder(number, fill).run(p, q)


def zero_number(x: Any) -> Any:
    """Return the zero of a number's tangent type: its own type, or the base of a subclass."""
    if isinstance(x, np.inexact):
        return type(x)(0)
    return 0.0 if isinstance(x, float) else 0j


class _Builder:
    """Builds the tangent of one value alongside a companion of the same structure.

    Parameters
    ----------
    number : callable
        Returns the tangent of a number, given it and its companion.
    fill : callable
        Sets the zero tangent of an array, given it, the array and its companion.
    """

    def __init__(
        self, number: Callable[[Any, Any], Any], fill: Callable[[ndarray, Any, Any], None]
    ) -> None:
        self.number = number
        self.fill = fill
        self.shadows = Shadows()
        self.memo: dict[int, tuple[Any, Any, Any]] = {}  # objects, their tangents and companions
        self.path: list[Any] = []  # of the part at hand

    def run(self, x: Any, y: Any) -> Any:
        try:
            return self.build(x, y)
        except InvalidTangentError as error:
            if self.path:
                error.add_note(f"  part:  x{''.join(f'[{key!r}]' for key in self.path)}")
            raise

    def build(self, x: Any, y: Any) -> Any:
        spec = spec_of(x)
        if spec is NUMBER:
            return self.number(x, y)
        if spec is ARRAY:
            return self.array(x, y)
        known = self.memo.get(id(x))
        if known is not None and (spec.mutable or known[2] is y):
            return known[1]
        fields = spec.fields(x)
        if fields is None:
            return NoTangent()
        companions = fields if y is x else spec_of(y).fields(y)
        if companions is None or fields.keys() != companions.keys():
            raise _unlike(x, y)
        kind = spec.container
        if spec.mutable:
            t = kind()
            self.memo[id(x)] = x, t, y  # before the parts, which may refer back to x
            fill_container(t, self.parts(fields, companions))
            return t
        t = join_or_collapse(kind, self.parts(fields, companions), NoTangent())
        self.memo[id(x)] = x, t, y
        return t

    def parts(self, fields: Mapping[Any, Any], companions: Mapping[Any, Any]) -> dict[Any, Any]:
        parts = {}
        for key, value in fields.items():
            self.path.append(key)
            parts[key] = self.build(value, companions[key])
            self.path.pop()
        return parts

    def array(self, x: ndarray, y: Any) -> Any:
        if not differentiable_array(x):
            return NoTangent()
        d = self.shadows.view(x)
        self.fill(d, x, y)
        return d


def _unlike(p: Any, q: Any) -> InvalidTangentError:
    return InvalidTangentError(
        f"two values of different structure have no difference: {_brief(p)} and {_brief(q)}",
        why="a tangent joins values of one type, one shape and the same fields",
        fix="compare values of equal structure",
    )


def _brief(x: Any) -> str:
    if issubclass(type(x), ndarray):
        return f"array of {x.dtype}, shape {x.shape}"
    return f"{type(x).__qualname__} {x!r:.60}"
