"""A derivative of a scalar function of positional arguments, to be taken in any mode."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from mooncake_py import NoTangent, jvp, randn_tangent, value_and_grad, vjp
from mooncake_py.boundary.arguments import choose_arguments
from tests.support.modes.mentions import dtypes_in
from tests.support.modes.pairing import ModeError, NotANumber, inner, moved
from tests.support.modes.recording import Record
from tests.support.modes.snapshots import arrays_of, numbers_of

__all__ = [
    "ModeError", "NotANumber", "Problem", "Skipped", "pose", "require_close", "require_value",
]  # fmt: skip


class Skipped(Exception):
    """A record that cannot be checked, and why."""


@dataclass(frozen=True)
class Problem:
    """A scalar function, its arguments and those with respect to which it is differentiated."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...]
    has_aux: bool = False

    def at(self, args: tuple[Any, ...]) -> Problem:
        return replace(self, args=args)

    def value_and_grad(self) -> tuple[Any, tuple[Any, ...]]:
        value, g = value_and_grad(self.f, self.argnums, self.has_aux)(*self.args)
        return (value[0] if self.has_aux else value), g

    def pullback(self) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Return the value and the pullback with respect to the chosen arguments."""
        f, given, argnums = self.f, self.args, self.argnums
        if share_memory(given):  # the function sees that of each argument
            y, pullback = vjp(f, *given)
            return y, lambda dy: tuple([pullback(dy)[i] for i in argnums])
        others = [None if i in argnums else a for i, a in enumerate(given)]

        def of_chosen(*chosen: Any) -> Any:
            args = list(others)
            for i, value in zip(argnums, chosen, strict=True):
                args[i] = value
            return f(*args)

        return vjp(of_chosen, *[given[i] for i in argnums])

    def directions(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return a random tangent for each argument, None for those that are constant."""
        return tuple(
            [randn_tangent(rng, a) if i in self.argnums else None for i, a in enumerate(self.args)]
        )

    def slope(self, tangents: tuple[Any, ...]) -> tuple[Any, float]:
        """Return the value and the derivative along tangents, in forward mode."""
        y, dy = jvp(self.f, self.args, tangents)
        if self.has_aux:
            y, dy = y[0], dy[0]
        return y, number(dy)

    def paired(self, tangents: tuple[Any, ...], g: tuple[Any, ...]) -> tuple[float, float]:
        """Return Re<g, t> and the sum of the sizes of its terms."""
        pairs = [inner(tangents[i], part) for i, part in zip(self.argnums, g, strict=True)]
        return sum(a for a, _ in pairs), sum(b for _, b in pairs)

    def moved(self, tangents: tuple[Any, ...], t: float) -> Problem:
        return self.at(moved(self.args, tangents, t))

    def rtol(self) -> float:
        """Return the tolerance for two ways of rounding: by the least precise array or number."""
        dtypes = [np.asarray(part).dtype for part in numbers_of(self.args)]
        dtypes += dtypes_in(self.f)
        return max([1e-9, *(1e3 * float(np.finfo(t).eps) for t in dtypes if t.kind in "fc")])


def share_memory(args: tuple[Any, ...]) -> bool:
    """Whether two arguments share memory, or objects that may change."""
    for a, b in combinations(args, 2):
        if containers_in(a) & containers_in(b):
            return True
        if any(np.may_share_memory(x, y) for x in arrays_of(a) for y in arrays_of(b)):
            return True
    return False


def containers_in(value: Any) -> set[int]:
    """Return the ids of the lists and dicts in lists, dicts and tuples."""
    if not isinstance(value, (list, dict, tuple)):
        return set()
    parts = value.values() if isinstance(value, dict) else value
    own = set() if isinstance(value, tuple) else {id(value)}
    return own.union(*map(containers_in, parts))


def number(dy: Any) -> float:
    """Return the tangent of a scalar output."""
    return 0.0 if type(dy) is NoTangent else float(np.real(np.asarray(dy).reshape(-1)[0]))


def require_value(got: Any, expected: Any, rtol: float, where: str) -> None:
    """Raise if a value has another type, or differs by more than rounding.

    It may differ in the last bits: the function itself may take a derivative.
    """
    if got is expected:  # np.ma.masked, say
        return
    same = type(got) is type(expected) and np.shape(got) == np.shape(expected)
    same = same and np.asarray(got).dtype == np.asarray(expected).dtype
    if not same or not np.allclose(got, expected, rtol=rtol, atol=rtol, equal_nan=True):
        raise ModeError(f"the value {where} is {got!r}, not {expected!r}")


def require_close(got: float, expected: float, size: float, rtol: float, what: str) -> None:
    """Raise if a number differs from one that is finite, the sum of terms of this size."""
    if np.isfinite(expected) and not abs(got - expected) <= rtol * max(size, abs(got)) + 1e-12:
        kind = NotANumber if np.isnan(got) else ModeError
        raise kind(f"{what}: got {got!r}, expected {expected!r}")


def pose(record: Record) -> Problem:
    """Return the problem of a record."""
    f, args, kwargs = record.f, record.args, record.kwargs
    chosen = choose_arguments(f, record.argnums, args, kwargs)
    names = [key for key in chosen if isinstance(key, str)]
    if names:
        count, f = len(args), by_position(f, len(args), names, kwargs)
        args = (*args, *[kwargs[name] for name in names])
        chosen = [count + names.index(k) if isinstance(k, str) else k for k in chosen]
    elif kwargs:
        f = functools.partial(f, **kwargs)
    return Problem(f, args, tuple(dict.fromkeys(chosen)), record.has_aux)


def by_position(f: Any, count: int, names: list[str], kwargs: dict[str, Any]) -> Any:
    """Return a function whose last parameters are those of these names."""

    def positional(*values: Any) -> Any:
        keywords = dict(kwargs)
        for name, value in zip(names, values[count:], strict=True):
            keywords[name] = value
        return f(*values[:count], **keywords)

    return positional
