"""Domains of rules: the dtypes and memory layouts for which a rule is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import DTypeLike

from mooncake_py.errors import InvalidTangentError
from mooncake_py.rules.kinds import Rule
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.words import with_article

__all__ = [
    "DTypes",
    "Domain",
    "RestrictedRule",
    "misfit",
    "restricted",
    "rule_for",
    "unrestricted",
]

DTypes = DTypeLike | tuple[DTypeLike, ...]
ORDERS = {"C": "c_contiguous", "F": "f_contiguous"}
CODE = (FunctionType, BuiltinFunctionType, type)


@dataclass(frozen=True)
class Domain:
    """The arguments that a rule is for.

    Attributes
    ----------
    dtypes : tuple of dtype or None
        Those that floats and complex numbers may have; None for any.  A float of Python counts
        as float64, a complex as complex128; ints and bools are not asked.
    layouts : str or None
        The orders that arrays may be contiguous in, "C", "F" or "CF"; None for any memory.
    """

    dtypes: tuple[np.dtype[Any], ...] | None
    layouts: str | None

    def __str__(self) -> str:
        parts = [] if self.dtypes is None else [" and ".join(map(str, self.dtypes))]
        if self.layouts is not None:
            parts.append(f"arrays in {' or '.join(self.layouts)} order")
        return ", ".join(parts)

    def refused(self, value: Any) -> str | None:
        """Return in words what a number or an array is, None if the rule is for it."""
        dtype = dtype_of(value)
        if self.dtypes is not None and dtype.kind in "fc" and dtype not in self.dtypes:
            is_array = isinstance(value, ndarray)
            return with_article(f"{dtype} array" if is_array else type(value).__name__)
        if self.layouts is None or not isinstance(value, ndarray):
            return None
        if any(getattr(value.flags, ORDERS[order]) for order in self.layouts):
            return None
        return f"an array that is not contiguous in {' or '.join(self.layouts)} order"


class RestrictedRule(Rule):
    """A rule that is used only for the arguments in its domain.

    Outside of it the function is derived from its source, as if it had no rule.

    Attributes
    ----------
    rule : Rule
        Of another kind.
    domain : Domain
    """

    __slots__ = ("domain", "rule")
    declaration = "dtypes= or layouts="
    in_words = "a rule for some dtypes or layouts"

    def __init__(self, rule: Rule, domain: Domain) -> None:
        super().__init__(rule.functions, rule.origin)
        self.rule = rule
        self.domain = domain


def restricted(rule: Rule, dtypes: DTypes | None, layouts: str | None) -> Rule:
    """Return a rule restricted to dtypes and layouts, the rule itself if neither is given.

    Raises
    ------
    ValueError
        If a dtype is not one of floats or complex numbers, or the layouts are not "C", "F", "CF".
    """
    if dtypes is None and layouts is None:
        return rule
    chosen: tuple[np.dtype[Any], ...] | None = None
    if dtypes is not None:
        given: tuple[Any, ...] = dtypes if isinstance(dtypes, tuple) else (dtypes,)
        chosen = tuple([np.dtype(dtype) for dtype in given])
        wrong = [dtype for dtype in chosen if dtype.kind not in "fc"]
        if wrong or not chosen:
            what = str(wrong[0]) if wrong else "()"
            raise ValueError(f"dtypes={what}: a rule is for dtypes of floats or complex numbers")
    if layouts is not None and (
        not isinstance(layouts, str) or not layouts or not set(layouts) <= set(ORDERS)
    ):
        raise ValueError(f"layouts={layouts!r} is none of 'C', 'F' and 'CF'")
    return RestrictedRule(rule, Domain(chosen, layouts))


def rule_for(rule: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """Return the rule that applies to a call: a rule, the one that was restricted, or None."""
    if type(rule) is not RestrictedRule:
        return rule
    return rule.rule if misfit(rule.domain, args, kwargs) is None else None


def unrestricted(rule: Any) -> Any:
    """Return the rule that was restricted, or the rule itself."""
    return rule.rule if type(rule) is RestrictedRule else rule


def misfit(
    domain: Domain,
    args: Iterable[Any],
    kwargs: dict[str, Any],
    primal: Callable[[Any], Any] = lambda value: value,
) -> str | None:
    """Return which argument is not in a domain and why, in words, or None.

    Parameters
    ----------
    domain : Domain
    args, kwargs
        The arguments of a call.
    primal : callable
        Returns the value of a part of them.
    """
    named = [(f"argument {i}", a) for i, a in enumerate(args)]
    named += [(f"argument {name!r}", a) for name, a in kwargs.items()]
    for label, value in named:
        for leaf in leaves(value, primal, {}):
            found = domain.refused(leaf)
            if found is not None:
                return f"{label} {'is' if leaf is primal(value) else 'holds'} {found}"
    return None


def leaves(value: Any, primal: Callable[[Any], Any], seen: dict[int, Any]) -> Iterator[Any]:
    """Yield the numbers and arrays in a value, but not those that a function captured."""
    value = primal(value)
    if isinstance(value, (ndarray, np.generic, float, complex)):
        yield value
        return
    if isinstance(value, CODE) or id(value) in seen:
        return
    seen[id(value)] = value
    try:
        fields = spec_of(value).fields(value)
    except InvalidTangentError:  # no derivative can come through it
        return
    for part in (fields or {}).values():
        yield from leaves(part, primal, seen)


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the dtype of an array or a number."""
    return value.dtype if isinstance(value, (ndarray, np.generic)) else np.dtype(type(value))
