"""`test_rule`: check a rule, hand-written or derived, in one call.

The machinery is imported at the first call, so that importing `mooncake_py` stays quick.
"""
# ruff: noqa: PT028
# PT028 takes test_rule for a test, whose parameters would be fixtures.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["test_rule"]


def test_rule(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    rule: Callable[..., Any] | None = None,
    rng: int | np.random.Generator = 0,
    order: int | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    directions: int = 2,
    interface_only: bool = False,
    layouts: bool = True,
    dtypes: bool = True,
    aliasing: bool = True,
    constants: bool = True,
    special_points: bool = True,
    cotangent_kept: bool | None = None,
    forward: bool | None = None,
) -> None:
    """Check the rule of a function at some arguments; raise on the first defect.

    Parameters
    ----------
    f : callable
        The function.
    *args : object
        Its positional arguments.  They are copied, never changed.
    kwargs : mapping, optional
        Its keyword arguments; constants, handed to the rule as they are.
    rule : callable, optional
        ``rule(CoDual(f, ...), CoDual(arg, ...), ..., **kwargs) -> (CoDual, pullback)``.  By
        default what is registered for `f`, or else the rule derived from its source.
    rng : int or Generator
        Seed of the random directions and cotangents.  The default always draws the same.
    order : {1, 2}, optional
        1 leaves second derivatives out; 2 requires that the rule has them.  By default those that
        there are must be right: forward over reverse mode, and the other way round.
    rtol : float, optional
        Tolerance against finite differences, relative to the sum of the absolute values of the
        terms of the inner product.  Default: 1e-6; 1e-3 in single, 5e-2 in half precision.
    atol : float
        Absolute tolerance, added to it.
    directions : int
        Number of random directions for each argument.
    interface_only : bool
        Leave out finite differences: for kinks, ties and points at the edge of the domain.
    layouts, dtypes, aliasing : bool
        Check again with other memory layouts and shapes, in single precision and with complex
        numbers, and with arguments that share memory.  What the function itself refuses, by an
        exception, a warning or a result that is not finite, is passed over, and so is what the
        rule is not declared for (``dtypes=``, ``layouts=`` of the declaration).
    constants : bool
        Check with each array argument constant in turn.
    special_points : bool
        Check again at zeros, ones, ties and equal rows, first and second derivatives; where
        differences show a kink they are not compared.
    cotangent_kept : bool, optional
        Require that the pullback leaves the output's cotangent as it is.  By default required
        of hand-written rules; a derived rule may use it up, as an output that was filled in
        place is memory whose writes are undone.
    forward : bool, optional
        Check forward mode against the rule: <c, J t> = <J* c, t> for random c and t.  By default
        where forward mode serves the rule; not where `rule` is given.

    Warns
    -----
    MooncakeWarning
        If `dtypes` or `layouts` is False, and a registered rule is wrong for what they leave out:
        the engine uses it there all the same, unless its declaration says what it is for.

    Raises
    ------
    RuleTestError
        Names the check, the argument, what was expected and got, and the likely cause.
    MissingRuleError, UnsupportedSyntaxError
        Passed on from the rule: there is no rule to check.

    Notes
    -----
    The checks are described in ``docs/testing_rules.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import CoDual, NoRData, zero_codual
    >>> from mooncake_py.testing import test_rule
    >>> def double(x):
    ...     return 2 * x
    >>> def double_rule(f, x):
    ...     y = zero_codual(double(x.primal))
    ...     def double_pullback(dy):
    ...         x.fdata[...] += 2 * y.fdata
    ...         return NoRData(), NoRData()
    ...     return y, double_pullback
    >>> test_rule(double, np.array([1.0, 2.0]), rule=double_rule, layouts=False)
    """
    from mooncake_py.diagnostics.tracebacks import boundary
    from mooncake_py.testing.checking import Options, check_rule

    if order not in (None, 1, 2):
        raise ValueError(f"order={order!r} is none of 1, 2 and None")
    options = Options(
        order=order,
        rtol=rtol,
        atol=atol,
        directions=directions,
        interface_only=interface_only,
        layouts=layouts,
        dtypes=dtypes,
        aliasing=aliasing,
        constants=constants,
        special_points=special_points,
        cotangent_kept=cotangent_kept,
        forward=forward,
    )
    with boundary:
        check_rule(f, args, dict(kwargs or {}), rule, rng, options)


# pytest must not collect it where it is imported.
test_rule.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]
