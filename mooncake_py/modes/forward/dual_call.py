"""Call a hand-written forward rule, with Duals, from a forward-mode call."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application import marshalling
from mooncake_py.application.codual_call import container_written, keyword_active
from mooncake_py.application.copying import copy_jointly
from mooncake_py.application.shared_outputs import refuse_other_data
from mooncake_py.application.walker import replace_parts
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.notes import located
from mooncake_py.errors import InvalidRuleError, InvalidTangentError
from mooncake_py.modes.forward.duals import TangentFinder, Tangents
from mooncake_py.modes.forward.lift import give_tangent
from mooncake_py.overriding import override
from mooncake_py.rules.kinds import DualRule, HandWrittenRule
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.values import is_inexact
from mooncake_py.tangents import Dual, NoTangent
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.memory import is_writeable, owner
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["apply_dual"]


def apply_dual(rule: DualRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a hand-written forward rule."""
    if any(map(ctx.contains_active, kwargs.values())):
        raise keyword_active(rule, ctx, kwargs)
    if rule.mutates == () and not any(map(ctx.contains_active, args)):
        return f(*args, **kwargs)
    ctx.keep_first()
    written = [may_write(rule, i) for i in range(len(args))]
    for value, may_change in zip(args, written, strict=True):
        if may_change and ctx.plain:
            log_arrays(ctx, value)
    duals = [dual_of(ctx, *pair) for pair in zip(args, written, strict=True)]
    before = marshalling.Contents([d.primal for d in duals])
    run = rule.rule if ctx.plain else partial(ctx.base.call, rule.rule)
    out = run(Dual(f, NoTangent()), *duals, **kwargs)
    if type(out) is not Dual:
        raise ctx.failed(wrong_result(rule, ctx, out))
    if before.changed():
        raise container_written(rule, ctx)
    refuse_other_data(rule, ctx, out, duals, attrgetter("tangent"), ctx.tangent)
    activator = OutputActivator(ctx, args, [d.primal for d in duals])
    return returned(rule, ctx, out, activator)


def on_constants(rule: HandWrittenRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that has a hand-written rule where nothing is active: the function itself."""
    for i, value in enumerate(args):
        if may_write(rule, i):
            log_arrays(ctx, value)
    before = marshalling.Contents(args) if rule.mutates != () else None
    y = f(*args, **kwargs)
    if before is not None and before.changed():
        raise container_written(rule, ctx)
    return y


def may_write(rule: HandWrittenRule, position: int) -> bool:
    """Return whether the function of a rule may write into its argument at a position."""
    return rule.mutates is None or position in rule.mutates


def log_arrays(ctx: ForwardContext, value: Any) -> None:
    """Record what the arrays in an argument hold: the rule runs out of sight."""
    repeats = any(c.rehearsal is not None for c in ctx.outers)
    for leaf in marshalling.leaves(value, set()):
        if type(leaf) is ndarray and is_writeable(leaf):
            memory = ctx.registry.memory_of(leaf)
            if memory.protected or repeats:
                ctx.log_write(memory, leaf, Ellipsis)


def dual_of(ctx: ForwardContext, value: Any, written: bool) -> Dual:
    """Pair an argument with its tangent; a container or an object comes as a copy.

    That of a constant number is zero, as rules compute with tangents.
    """
    if type(value) in INERT:
        return Dual(value, type(value)(0) if is_inexact(value) else NoTangent())
    _, tree = TangentFinder(ctx).visit(value)
    tangent = Tangents(ctx, written).tangent(tree, None)
    if any(type(leaf) is Active for leaf in marshalling.leaves(value, set())):
        value = copy_jointly(
            value, lambda v: ctx.split(v)[0] if type(v) is Active else v, keep_views=False
        )
    return Dual(value, tangent)


class OutputActivator(marshalling.Activator):
    """Makes the numbers and arrays active that a forward rule returned."""

    ctx: ForwardContext  # pyright: ignore[reportIncompatibleVariableOverride]

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        node = active_number(value, self.ctx)  # the number may be active below
        return node, node

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        if type(value) is not ndarray or not differentiable_array(value):
            return value, None
        if id(owner(value)) not in self.memory and (
            value.base is not None or not is_writeable(value)
        ):
            value = self.ctx.base.call(ndarray.copy, value)
        return value, value


def returned(rule: DualRule, ctx: ForwardContext, out: Dual, activator: OutputActivator) -> Any:
    """Return the output of a rule as the user's code sees it, with its tangent."""
    y, tree = activator.visit(out.primal)
    try:
        if tree is not None and (out.tangent is None or type(out.tangent) is NoTangent):
            raise no_tangent(rule)
        give_tangent(ctx, tree, out.tangent, f"that the forward rule of {rule.name} returned")
    except InvalidTangentError as error:
        located(ctx, error)
        raise
    for entry in activator.replaced:
        note(ctx, replace_parts, *entry)
    return y


def wrong_result(rule: DualRule, ctx: ForwardContext, out: Any) -> InvalidRuleError:
    """Return the error for a rule that returns something else than a Dual."""
    return InvalidRuleError(
        f"the forward rule of {rule.name} returned {with_article(type(out).__name__)}",
        where=ctx.user_location(),
        why=f"a forward rule returns a Dual; it is declared at {rule.origin}",
        fix="return Dual(y, dy), or Dual(None, NoTangent()) where the function returns nothing",
    )


def no_tangent(rule: DualRule) -> InvalidTangentError:
    """Return the error for an output that needs a tangent and got none."""
    return InvalidTangentError(
        f"the forward rule of {rule.name} returned NoTangent() for an output that has a tangent",
        why=f"a number or an array of floats has one, also where it is zero; the rule is declared "
        f"at {rule.origin}",
        fix="return zero_tangent(y) where it is zero",
    )
