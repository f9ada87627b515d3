"""The plan of a statement on slices within a region, from the axes of the arrays.

It assumes that operands of as many axes have one shape, and that those of fewer are broadcast.
Each pass checks the shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import SMALL
from mooncake_py.compiler.forms.infer import FLOAT, FLOAT64, INT
from mooncake_py.compiler.regions.indices import taken_in
from mooncake_py.compiler.regions.ir import Const, Expr, Op, Sliced
from mooncake_py.compiler.statements.array_partials import is_int
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.kinds import kinds_of
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.views import read_part
from mooncake_py.runtime.active import Active

__all__ = ["plan_of"]

LENGTH = 3  # of each axis of the arrays that stand for those of the user
NUMBERS: Mapping[str, Any] = {FLOAT: 1.0, FLOAT64: 1.0, INT: 1}


def plan_of(
    s: Sliced,
    functions: tuple[Any, ...],
    axes: Mapping[str, int],
    active: set[str],
    variables: Collection[str],
) -> Plan | None:
    """Return the plan of a statement, or None if it cannot be part of a region.

    Parameters
    ----------
    s : Sliced
        With types.
    functions : tuple of callable
    axes : mapping of str to int
        How many axes the arrays have.
    active : set of str
        Names and arrays.
    variables : collection of str
        The names that are bound to arrays.
    """
    statement = s.statement
    core = Core(statement, functions)
    if not core.is_declared or statement.has_complex:
        return None
    bases = {base for base, _ in statement.pairs}
    try:
        values = [example(v, axes) for v in s.values]
    except ValueError:
        return None
    for p, kind in zip(statement.names.values(), s.types, strict=True):
        name = s.values[p].name
        values[p] = active_example() if name in active else NUMBERS.get(kind)
    try:
        operands = [read_part(part, functions, values) for part in statement.layout]
        kinds = kinds_of(core, operands, values)
    except (ValueError, IndexError, TypeError, KeyError):
        return None
    if kinds is None:
        return None
    try:
        plan = Plan(core, kinds, {p: s.values[p].name in active for p in bases})
    except KeyError:  # the factor of a product is no operand, and no product
        return None
    is_served = plan.can_be_written() and not plan.by_mask
    return plan if is_served and is_stored(s, plan, variables) and is_of_floats(plan) else None


def is_of_floats(plan: Plan) -> bool:
    """Return True if Python's floats serve as NumPy's: no power is complex, no result an int."""
    for e in [let.value for let in plan.core.lets]:
        if is_int(e):
            return False
        if isinstance(e, Op) and e.op == "pow" and not plan.is_array(e.args[0]):
            exponent = e.args[1]
            if not isinstance(exponent, Const) or exponent.value not in SMALL:
                return False
    return True


def is_stored(s: Sliced, plan: Plan, variables: Collection[str]) -> bool:
    """Return True if a value goes where it can: into an array, or to a name of its kind."""
    if s.target is None or plan.target is not None:
        return s.target is None and plan.target is not None
    if s.target.name not in variables:
        return plan.whole is None
    return bool(plan.whole) and plan.is_array(plan.core.root)


def active_example() -> Active:
    """Return an active number."""
    y = Active()
    y.primal = 1.0
    return y


def example(value: Any, axes: Mapping[str, int]) -> Any:
    """Return what stands for a value: an array of so many axes, or an index into it."""
    if isinstance(value, tuple):
        if any(axes[array] != 1 for array in taken_in(value)):
            raise ValueError("an index of several axes")
        parts = tuple(map(example_of_part, value))
        return parts[0] if len(parts) == 1 else parts
    return np.ones((LENGTH,) * axes[value.name]) if value.name in axes else None


def example_of_part(e: Expr) -> Any:
    """Return what stands for a part of an index."""
    match e:
        case Op(op="slice"):
            return slice(None)
        case Op(op="ellipsis"):
            return Ellipsis
        case Op(op="taken"):
            return np.zeros(LENGTH, int)
        case Const(value=None):
            return None
    return 0
