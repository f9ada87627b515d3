"""Derivatives of a function of Python at numbers and arrays: by its rule alone, or by the engine.

Where all that is called is one function with a rule, and its result is one number or array, or a
tuple of these, the rule is asked directly.  Everything else is derived as it would be outside of
compiled code, which takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.nodes.text import defined
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.kinds import ElementwiseRule, LinearRule, VjpRule
from mooncake_py.rules.returned import output_and_pullback
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.quiet import Quiet, Unheard, is_strict

__all__ = ["Call", "Function"]

Results = Sequence[Any]
Pull = Callable[[Sequence[Any]], Sequence[Any]]


class NoShortWay(Exception):
    """A rule that is not asked directly."""


class Call:
    """A call of one function, by position.

    Attributes
    ----------
    f : callable
    args : tuple of (bool, object)
        Of each argument whether it is an operand, and its position or else its value.
    kwargs : dict
        Which are known.
    is_tuple : bool
        Whether it returns a tuple.
    """

    def __init__(
        self, f: Any, args: Sequence[tuple[bool, Any]], kwargs: dict[str, Any], *, is_tuple: bool
    ) -> None:
        self.f = f
        self.args = tuple(args)
        self.kwargs = kwargs
        self.is_tuple = is_tuple

    def given(self, operands: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call."""
        return [operands[a] if is_operand else a for is_operand, a in self.args]

    def of_operands(self, found: Sequence[Any], count: int) -> list[Any]:
        """Return the values of operands by argument."""
        result: list[Any] = [None] * count
        for (is_operand, k), c in zip(self.args, found, strict=False):
            if is_operand:
                result[k] = c
        return result


class Function:
    """A function of Python, and its derivatives.

    Parameters
    ----------
    function : callable
        From numbers and arrays to a tuple of numbers and arrays; derived from its source.
    call : Call or None
        What it calls, if that is all.
    """

    def __init__(self, function: Callable[..., tuple[Any, ...]], call: Call | None = None) -> None:
        self.function = function
        self.call = call

    def value(self, operands: Sequence[Any]) -> Results:
        """Return the results."""
        return self.function(*operands)

    def with_pullback(
        self, operands: Sequence[Any], active: tuple[bool, ...]
    ) -> tuple[Results, Pull]:
        """Return the results and the pullback."""
        if self.call is not None:
            try:
                return by_rule(self.call, operands, active)
            except (NoShortWay, TypeError):  # a rule that takes its arguments otherwise, perhaps
                pass
        return by_engine(self.function, operands, active)

    def along(self, active: tuple[bool, ...], moving: Sequence[int]) -> Function:
        """Return the function of the operands, and tangents of some, that gives tangents.

        Parameters
        ----------
        moving : sequence of int
            The positions of the results that have one.
        """
        return Along(self, active, moving)


class Along(Function):
    """The tangent of a function."""

    def __init__(self, source: Function, active: tuple[bool, ...], moving: Sequence[int]) -> None:
        self.source = source
        self.active = active
        self.moving = tuple(moving)
        super().__init__(along(source.function, active, moving))

    @override
    def value(self, operands: Sequence[Any]) -> Results:
        call = self.source.call
        if call is not None:
            count = len(self.active)
            rest = iter(operands[count:])
            tangents = [next(rest) if on else None for on in self.active]
            try:
                found = pushed(call, operands[:count], tangents)
            except NoShortWay:
                pass
            else:
                return [found[k] for k in self.moving]
        with enclosed(None):
            return self.function(*operands)


def along(f: Any, active: tuple[bool, ...], moving: Sequence[int]) -> Any:
    """Return a function of operands and tangents, which the engine derives, that gives tangents."""
    # Above this: what runs by the engine runs as the user's own derivatives do.
    from mooncake_py.interface import jvp

    names = [f"a{k}" for k in range(len(active))]
    tangents = [f"t{k}" for k, on in enumerate(active) if on]
    given = ", ".join([f"t{k}" if on else "None" for k, on in enumerate(active)])
    found = "".join([f"dy[{k}], " for k in moving])
    body = [f"_, dy = jvp(f, ({', '.join(names)},), ({given},))", f"return ({found})"]
    return defined([*names, *tangents], body, {"jvp": jvp, "f": f})


def by_engine(f: Any, operands: Sequence[Any], active: tuple[bool, ...]) -> tuple[Results, Pull]:
    """Return the results and the pullback, as the engine derives a function."""
    # Above this, see `along`.
    from mooncake_py.interface import vjp

    with enclosed(None):
        results, pullback = vjp(f, *operands)

    def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
        pairs = zip(cotangents, results, strict=True)
        given = tuple([zero_of(y) if c is None else c for c, y in pairs])
        with enclosed(None):
            found = pullback(given)
        return [c if on else None for c, on in zip(found, active, strict=True)]

    return results, pull


def zero_of(y: Any) -> Any:
    """Return the cotangent zero of a result; None for what has no derivative."""
    if type(y) is ndarray:
        return np.zeros_like(y) if y.dtype.kind in "fc" else None
    return 0.0 if isinstance(y, float) else None


# By rules.


def by_rule(call: Call, operands: Sequence[Any], active: tuple[bool, ...]) -> tuple[Results, Pull]:
    """Return the results and the pullback of a function that has a rule.

    Raises
    ------
    NoShortWay
    """
    rule = registry.find(call.f)
    if isinstance(rule, VjpRule) and not rule.permits:
        return by_vjp(rule, call, operands)
    if isinstance(rule, ElementwiseRule) and not (call.kwargs or call.is_tuple):
        return by_partials(rule, call, operands, active)
    if isinstance(rule, LinearRule) and not call.is_tuple and is_linear_in(rule, call, active):
        return by_adjoint(rule, call, operands)
    raise NoShortWay


def by_vjp(rule: VjpRule, call: Call, operands: Sequence[Any]) -> tuple[Results, Pull]:
    """Return them for a rule that returns both."""
    args = call.given(operands)
    y, pullback = output_and_pullback(output_of(rule, call, args), rule)

    def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
        g = tuple(cotangents) if call.is_tuple else cotangents[0]
        return fitted(call, pullback(g), operands)

    return (tuple(y) if call.is_tuple else (y,)), pull


def output_of(rule: VjpRule, call: Call, args: Sequence[Any]) -> Any:
    """Return the output and the pullback, with the warnings of the function alone."""
    if is_strict():
        return rule.rule(*args, **call.kwargs)
    with Unheard() as block:
        found = rule.rule(*args, **call.kwargs)
    if block.noticed:
        call.f(*args, **call.kwargs)
    return found


def by_adjoint(rule: LinearRule, call: Call, operands: Sequence[Any]) -> tuple[Results, Pull]:
    """Return them for a linear function."""
    args = call.given(operands)
    y = call.f(*args, **call.kwargs)

    def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
        found = rule.adjoint(cotangents[0], *args, **call.kwargs)
        found = found if type(found) is tuple else (found,)
        whole: list[Any] = [None] * len(args)
        for k, c in zip(rule.wrt, found, strict=False):
            if k < len(args):
                whole[k] = c
        return fitted(call, whole, operands)

    return (y,), pull


def is_linear_in(rule: LinearRule, call: Call, active: tuple[bool, ...]) -> bool:
    """Return True if all operands that are active are such as the function is linear in."""
    return all(
        k in rule.wrt for k, (is_operand, a) in enumerate(call.args) if is_operand and active[a]
    )


def by_partials(
    rule: ElementwiseRule, call: Call, operands: Sequence[Any], active: tuple[bool, ...]
) -> tuple[Results, Pull]:
    """Return them for an elementwise function."""
    partials = partials_of(rule, call)
    args = call.given(operands)
    y = call.f(*args)

    def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
        g = np.asarray(cotangents[0])
        found: list[Any] = []
        for (is_operand, k), p in zip(call.args, partials, strict=True):
            is_active = is_operand and active[k]
            found.append(product(g, slope(p, args, y)) if is_active else None)
        return fitted(call, found, operands)

    return (y,), pull


def partials_of(rule: ElementwiseRule, call: Call) -> Sequence[Any]:
    """Return the partial derivatives of a rule, or raise."""
    partials = rule.partials
    simple = all(type(p) in (FunctionType, int, float) or p is None for p in partials)
    if len(partials) != len(call.args) or not simple:
        raise NoShortWay
    return partials


def slope(p: Any, args: Sequence[Any], y: Any) -> Any:
    """Return a partial derivative."""
    with Quiet():
        return p(*args, y) if type(p) is FunctionType else 0.0 if p is None else p


def product(t: Any, p: Any) -> Any:
    """Return a product that is zero where the first factor is."""
    with Quiet():
        return np.where(t == 0.0, 0.0, t * p)


def fitted(call: Call, found: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Return the cotangents of operands in their shapes."""
    parts = found if type(found) in (tuple, list) else (found,)
    result = call.of_operands(parts, len(operands))
    for k, (c, x) in enumerate(zip(result, operands, strict=True)):
        if callable(c):  # computed only where it is wanted
            c = c()
        if c is None:
            result[k] = None
            continue
        like = np.asarray(x)
        if like.dtype.kind not in "fc":
            result[k] = None
            continue
        own = fit(np.asarray(c), like.shape, like.dtype)
        if own.dtype.kind not in "fc":
            raise TypeError(f"a cotangent of type {type(c).__name__}")
        result[k] = own if type(x) is ndarray else own[()]
    return result


# Along tangents.


def pushed(call: Call, operands: Sequence[Any], tangents: Sequence[Any]) -> Results:
    """Return the tangents of the results of a function that has a rule.

    Raises
    ------
    NoShortWay
    """
    rule = registry.find(call.f)
    if rule is None or registry.find_forward(call.f) is not None:
        raise NoShortWay
    args = call.given(operands)
    own = [tangents[a] if is_operand else None for is_operand, a in call.args]
    if isinstance(rule, ElementwiseRule) and not (call.kwargs or call.is_tuple):
        partials = partials_of(rule, call)
        y = call.f(*args)
        found = np.zeros(np.shape(y))
        for p, t in zip(partials, own, strict=True):
            if t is not None:
                found = found + product(t, slope(p, args, y))
        return [found if type(y) is ndarray else found[()]]
    if isinstance(rule, VjpRule) and not rule.permits:
        return pushed_by_rule(rule, call, args, own)
    raise NoShortWay


def pushed_by_rule(rule: VjpRule, call: Call, args: Sequence[Any], own: list[Any]) -> Results:
    """Return the tangents of the results, by the forward part of a rule."""
    push = rule.plain_jvp
    if push is None:
        raise NoShortWay
    y = call.f(*args, **call.kwargs)
    if any(t is None for t, (is_operand, _) in zip(own, call.args, strict=True) if is_operand):
        raise NoShortWay
    found = push(own, y, *args, **call.kwargs)
    if found is NotImplemented:
        raise NoShortWay
    return tuple(found) if call.is_tuple else (found,)
