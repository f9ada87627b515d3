"""The forms of declaration of rules, from the simplest to the most general.

>>> import numpy as np
>>> from mooncake_py import elementwise
>>> def logistic(x):
...     return 1 / (1 + np.exp(-x))
>>> _ = elementwise(logistic, lambda x, y: y * (1 - y))

A rule never needs to undo broadcasting or to convert dtypes: the engine fits each cotangent to
the shape and dtype of its argument (it sums over broadcast axes and takes the real part for a
real argument).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from mooncake_py.rules import local, registry
from mooncake_py.rules.domains import DTypes, restricted
from mooncake_py.rules.kinds import (
    BilinearRule,
    ContextRule,
    ElementwiseRule,
    LinearRule,
    NotImplementedDerivative,
    OverlayRule,
    Partial,
    RefusedRule,
    Rule,
    VjpRule,
    ZeroDerivativeRule,
)
from mooncake_py.rules.misuse import (
    require_adjoint,
    require_callable,
    require_functions,
    require_partials,
    require_positions,
)
from mooncake_py.rules.several_outputs import rule_of_outputs

__all__ = [
    "bilinear",
    "contextual",
    "elementwise",
    "from_vjp",
    "linear",
    "not_implemented",
    "overlay",
    "overlay_in_context",
    "refused",
    "zero_derivative",
]

F = TypeVar("F", bound=Callable[..., Any])


def elementwise(
    function: Hashable,
    *partials: Partial | tuple[Partial, ...],
    dtypes: DTypes | None = None,
    layouts: str | None = None,
    replace: bool = False,
) -> Hashable:
    """Declare an elementwise function by its partial derivatives, one for each input.

    From this one line come the rules for scalars, arrays and broadcasting, in reverse and in
    forward mode, and for a ufunc also `out=`, `where=`, `dtype=` and in-place use.

    Parameters
    ----------
    function : callable
        A ufunc, a function of `math`, or a Python function that acts elementwise.
    *partials : callable, number, Wirtinger, NotImplementedDerivative, None, or tuple
        Derivative of the output with respect to each input.  A callable receives the inputs and
        the output, ``partial(*inputs, y)``; only what it reads is kept for the reverse pass.  A
        number is a constant derivative.  None: the output does not depend on this input, or does
        so in steps only.  For a function that returns a tuple: a tuple of these for each input,
        one for each output, and `y` is the tuple of outputs.
    dtypes : dtype or tuple of dtype, optional
        Of the floats and complex numbers that the rule is for.  With others `function` is derived
        from its source, as if it had no rule; without source it is an error.
    layouts : str, optional
        "C", "F" or "CF": the rule is for arrays that are contiguous in one of these orders.
    replace : bool
        Override a rule that exists.

    Returns
    -------
    callable
        `function`, unchanged.

    Notes
    -----
    For complex inputs a partial is the complex derivative dy/dz, and the engine applies its
    conjugate, so that gradients are dL/dx + i dL/dy.  A function that is not holomorphic returns
    ``wirtinger(dy/dz, dy/dzbar)``.
    """
    origin = registry.calling_location()
    require_functions((function,), origin)
    require_partials(function, partials, origin)
    if any(isinstance(partial, tuple) for partial in partials):
        vjp, jvp = rule_of_outputs(function, partials)
        rule: Rule = VjpRule((function,), origin, vjp, jvp=jvp)
    else:
        rule = ElementwiseRule((function,), origin, partials)  # pyright: ignore[reportArgumentType]
    registry.add(restricted(rule, dtypes, layouts), replace=replace)
    return function


def linear(
    *functions: Hashable,
    wrt: int | tuple[int, ...] = 0,
    stepwise: tuple[int, ...] = (),
    dtypes: DTypes | None = None,
    layouts: str | None = None,
    replace: bool = False,
) -> Callable[[F], F]:
    """Declare functions that are linear in the arguments `wrt`; decorates their adjoint.

    Parameters
    ----------
    *functions : callable
        Functions (or method descriptors such as ``np.ndarray.sum``) that share a signature.
    wrt : int or tuple of int
        Positions of the arguments in which they are linear (jointly).
    stepwise : tuple of int
        Positions of the arguments on which they depend in steps only, such as a condition: the
        derivative is zero.  Any other active argument is an error.
    dtypes, layouts : optional
        What the rule is for, as in :func:`elementwise`.
    replace : bool
        Override a rule that exists.

    Returns
    -------
    decorator
        For ``adjoint(dy, *args, **kwargs)``, with the signature of the function behind `dy`, in
        which the linear arguments are :class:`~mooncake_py.rules.kinds.Like` objects: shape and
        dtype without values.  It returns the cotangent of the argument; for several `wrt` a tuple
        of them.  It may return a view, also a read-only one, and `dy` itself; it must not change
        `dy`.
    """
    origin = registry.calling_location()
    positions = (wrt,) if isinstance(wrt, int) else wrt
    require_functions(functions, origin)
    require_positions("wrt", positions, origin)

    def declare(adjoint: F) -> F:
        require_adjoint("the adjoint", adjoint, functions, origin)
        rule = LinearRule(functions, origin, adjoint, positions, stepwise)
        registry.add(restricted(rule, dtypes, layouts), replace=replace)
        return adjoint

    return declare


def bilinear(
    *functions: Hashable,
    left: Callable[..., Any],
    right: Callable[..., Any],
    dtypes: DTypes | None = None,
    layouts: str | None = None,
    replace: bool = False,
) -> None:
    """Declare functions linear in the first and in the second argument.

    Parameters
    ----------
    *functions : callable
        Functions that share a signature.
    left, right : callable
        ``left(dy, a, b, ...)`` returns the cotangent of `a` and sees `a` as a `Like`;
        ``right(dy, a, b, ...)`` that of `b`, which it sees as a `Like`.  Each is called
        only if its argument is active, and only the other argument's values are kept for it.
        The gradient convention Re<., .> asks for conjugates of complex factors.
    dtypes, layouts : optional
        What the rule is for, as in :func:`elementwise`.
    replace : bool
        Override a rule that exists.
    """
    origin = registry.calling_location()
    require_functions(functions, origin)
    require_adjoint("the left adjoint", left, functions, origin)
    require_adjoint("the right adjoint", right, functions, origin)
    rule = BilinearRule(functions, origin, (left, right))
    registry.add(restricted(rule, dtypes, layouts), replace=replace)


def from_vjp(
    *functions: Hashable,
    permits: tuple[str, ...] = (),
    jvp: Callable[..., Any] | None = None,
    dtypes: DTypes | None = None,
    layouts: str | None = None,
    replace: bool = False,
) -> Callable[[F], F]:
    """Declare functions without side effects by a rule ``(*args) -> (output, pullback)``.

    Parameters
    ----------
    *functions : callable
        Functions that share a signature.
    permits : tuple of str
        Names of options that allow the function to overwrite arguments, such as ``overwrite_a``.
        They are taken as False: what they would leave in the arguments is not defined anyway.
    jvp : callable, optional
        ``jvp(tangents, y, *args, **kwargs)`` returns the tangent of the output `y`; `tangents`
        has one for each positional argument, None for zero.  By default forward mode transposes
        the pullback, which takes about three times as long.
    dtypes, layouts : optional
        What the rule is for, as in :func:`elementwise`.
    replace : bool
        Override a rule that exists.

    Returns
    -------
    decorator
        For ``rule(*args, **kwargs)``, called with primals in the signature of the function
        (parameters named as there).  ``pullback(dy)`` returns a tuple with the cotangent of each
        positional argument: an array, a number, None for zero, a list for an argument that is a
        sequence of arrays, or a function without parameters that computes it when it is wanted.
        A cotangent for the first argument alone may stand without the tuple.  If the output is a
        tuple, `dy` is a tuple with None for outputs that have no cotangent.
    """
    origin = registry.calling_location()
    require_functions(functions, origin)
    if jvp is not None:
        require_callable("the jvp of the rule", jvp, functions, origin)

    def declare(rule: F) -> F:
        require_callable("the rule", rule, functions, origin)
        declared = VjpRule(functions, origin, rule, permits, jvp)
        registry.add(restricted(declared, dtypes, layouts), replace=replace)
        return rule

    return declare


def plain_jvp(*functions: Hashable) -> Callable[[F], F]:
    """Declare the tangent of functions that have a rule by `from_vjp`, for the plainest case.

    Decorates ``jvp(tangents, y, *args, **kwargs)``, which gets real arguments only, with tangents
    that are numbers and arrays.  It returns NotImplemented where the pullback is to be transposed.
    """

    def declare(jvp: F) -> F:
        for function in functions:
            rule = registry.find(function)
            assert isinstance(rule, VjpRule)
            rule.plain_jvp = jvp
        return jvp

    return declare


def read_shapes_only(*functions: Hashable) -> None:
    """Note that the pullbacks of functions, declared by `from_vjp`, read no values of arrays."""
    for function in functions:
        rule = registry.find(function)
        assert isinstance(rule, VjpRule)
        rule.reads_shapes_only = True


def overlay(
    *functions: Hashable,
    dtypes: DTypes | None = None,
    layouts: str | None = None,
    replace: bool = False,
) -> Callable[[F], F]:
    """Declare functions by a Python function that computes the same; it is derived when called.

    Use it for compiled functions that call back, and for those that change arguments in place:
    written as assignments, they need no rule of their own.  `dtypes` and `layouts` say what the
    replacement is for, as in :func:`elementwise`.
    """
    origin = registry.calling_location()
    require_functions(functions, origin)

    def declare(replacement: F) -> F:
        require_callable("the replacement", replacement, functions, origin)
        rule = OverlayRule(functions, origin, replacement)
        registry.add(restricted(rule, dtypes, layouts), replace=replace)
        return replacement

    return declare


def overlay_in_context(*functions: Hashable) -> Callable[[F], F]:
    """Declare functions by a function ``replacement(context, *args, **kwargs)``, not derived.

    It calls by the context what is to be derived.  Not for users, as :func:`contextual`.
    """
    origin = registry.calling_location()

    def declare(replacement: F) -> F:
        with local.using(None):
            registry.add(OverlayRule(functions, origin, replacement, True))
        return replacement

    return declare


def contextual(*functions: Hashable, replace: bool = False) -> Callable[[F], F]:
    """Declare functions that do something else inside a derivative, to which they belong.

    Decorates ``rule(context, *args, **kwargs)``, which runs in their place and gets the
    context of the derivative.  Not for users: contexts have no public interface.
    """
    origin = registry.calling_location()

    def declare(rule: F) -> F:
        with local.using(None):  # it holds everywhere, also if a block imports its module
            registry.add(ContextRule(functions, origin, rule), replace=replace)
        return rule

    return declare


def zero_derivative(*functions: Hashable, because: str = "", replace: bool = False) -> None:
    """Declare pure functions without a derivative: they run as they are, on primals.

    Parameters
    ----------
    *functions : callable
        Functions that change no memory a caller can see.
    because : str
        The reason, shown in the coverage table: "piecewise constant", "returns indices".
    replace : bool
        Override a rule that exists.
    """
    origin = registry.calling_location()
    require_functions(functions, origin)
    registry.add(ZeroDerivativeRule(functions, origin, because), replace=replace)


def refused(*functions: Hashable, why: str, fix: str, replace: bool = False) -> None:
    """Declare functions through which a derivative would be lost.

    They run natively if all their arguments are constant, and raise MissingRuleError otherwise.
    """
    origin = registry.calling_location()
    for function in functions:
        registry.add(RefusedRule((function,), origin, why, fix), replace=replace)


def not_implemented(
    info: str, fix: str = "hold that argument constant, or register a rule of your own"
) -> NotImplementedDerivative:
    """Return a marker for a derivative that exists but is not implemented.

    It stands in place of a partial, an adjoint or a cotangent; it raises
    :class:`~mooncake_py.errors.MissingRuleError` only if that argument is active, and the
    message gives `info`, the `fix` and the place of this call.
    """
    return NotImplementedDerivative(info, registry.calling_location(), fix)
