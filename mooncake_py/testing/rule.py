"""`test_rule`: check a rule, hand-written or derived, in one call.

The checks are imported at the first call, so that importing `mooncake_py` remains fast.
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
) -> Any:
    """Check the rule of a function at some arguments; raise on the first defect.

    Parameters
    ----------
    f : callable
        The function.
    *args : object
        The positional arguments.  They are copied, never changed.
    kwargs : mapping, optional
        The keyword arguments, passed to the rule as constants.
    rule : callable, optional
        ``rule(CoDual(f, ...), CoDual(arg, ...), ..., **kwargs) -> (CoDual, pullback)``.  By default
        the rule registered for `f`, or the rule derived from its source.
    rng : int or Generator
        Seed or generator of the random directions and cotangents.  The default is a fixed seed.
    order : {1, 2}, optional
        1 leaves second derivatives out; 2 requires that the rule has them.  By default second
        derivatives must be right if they exist: forward over reverse mode, and reverse over forward
        mode.
    rtol : float, optional
        Tolerance against finite differences, relative to the sum of the absolute values of the
        terms of the inner product.  Default: 1e-6; 1e-3 in single, 5e-2 in half precision.
    atol : float
        Absolute tolerance, added to the relative one.
    directions : int
        Number of random directions for each argument.
    interface_only : bool
        Leave finite differences out, for kinks, ties and points at the edge of the domain.
    layouts, dtypes, aliasing : bool
        Check again with other memory layouts and shapes, in single precision and with complex
        numbers, and with arguments that share memory.  The checks skip arguments that the function
        itself rejects by an exception, a warning or a result that is not finite, and arguments that
        the declaration of the rule excludes (``dtypes=``, ``layouts=``).
    constants : bool
        Check the rule with each array argument constant in turn; with each float too, if there is a
        handwritten forward rule.
    special_points : bool
        Check first and second derivatives again at zeros, ones, ties and equal rows; if differences
        show a kink there, derivatives are not compared.
    cotangent_kept : bool, optional
        Require that the pullback does not change the output's cotangent.  By default required of
        hand-written rules only: a derived rule may overwrite it, because undoing writes to an
        output that was filled in place changes its cotangent.
    forward : bool, optional
        Check forward mode against the rule: <c, J t> = <J* c, t> for random c and t.  By default
        True if the rule supports forward mode, and `rule` is not given.

    Returns
    -------
    LeftOut or None
        The special points that were left out, as the function has no derivative there: what they
        are (`points`) and how many (`len`).  None if all were checked.

    Warns
    -----
    MooncakeWarning
        If `dtypes` or `layouts` is False, and a registered rule is wrong for arguments that are
        left out: the engine uses the rule for them unless its declaration excludes them.
        If all numbers in the arguments are ints, so that there is no derivative to compare.

    Raises
    ------
    RuleTestError
        If a check fails.  The message names the check, the argument, the expected and actual
        values, and the likely cause.
    MissingRuleError, UnsupportedSyntaxError
        If there is no rule to check.

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
    from mooncake_py.testing.state import keeping

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
    with boundary, keeping([f, *filter(callable, args)]):
        left_out = check_rule(f, args, dict(kwargs or {}), rule, rng, options)
    return left_out or None


# pytest must not collect it where it is imported.
test_rule.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]
