"""Products with a Hessian: reverse mode over forward mode, in one go where nothing is outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.calls.limits import limits_raised
from mooncake_py.derive.crossing.gradients import gradient_of
from mooncake_py.derive.crossing.lift import Lifter
from mooncake_py.derive.crossing.outputs import scalar_value, seed
from mooncake_py.derive.debug.mode import new_context, settings
from mooncake_py.derive.forward.call import run_over
from mooncake_py.derive.nesting.enclosing import enclosing
from mooncake_py.derive.recording.activity import unwrapped
from mooncake_py.derive.reports.notes import guarded

__all__ = ["hessian_product"]


def hessian_product(
    f: Callable[..., Any], function: Callable[..., Any], values: Any, tangents: Any
) -> Any:
    """Return the gradient of the derivative of ``function(values)`` along tangents.

    Parameters
    ----------
    f : callable
        What the user calls it.
    function : callable
        Of one argument.
    values, tangents : tuple

    Returns
    -------
    tuple or None
        In the structure of `values`; None inside another derivative, where this way is not open.
    """
    if enclosing() is not None:
        return None
    ctx = new_context(settings(), function, (values,), {})
    with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
        lifted, mirror = lifter.visit(values)
        forward, output = run_over(ctx, function, (lifted,), (tangents,))
        primal, tangent = forward.split(output)
        scalar_value(f, unwrapped(primal))
        if tangent is not None:
            one = np.ones(tangent.shape) if type(tangent) is ndarray else 1.0
            seed(ctx, tangent, one, "dy")
        ctx.run_backwards()
    return gradient_of(values, mirror, {})
