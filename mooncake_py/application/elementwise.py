"""Apply the rules of elementwise functions."""

from __future__ import annotations

import inspect
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.arity import require_arguments
from mooncake_py.application.foreign import plain_operand, require_mask, require_plain
from mooncake_py.application.native_writes import refuse_other_writes
from mooncake_py.application.out_argument import (
    converts,
    named_out,
    number_in,
    signature_of,
    single_output,
    unrounded,
    write_into,
)
from mooncake_py.application.plain_errors import plain_error
from mooncake_py.application.seen_calls import call_seen
from mooncake_py.application.shared_outputs import refuse_shared
from mooncake_py.containers import effects
from mooncake_py.containers.sequences import readable
from mooncake_py.rules.inputs import missing_partial
from mooncake_py.rules.kinds import AtOnce, ElementwiseRule
from mooncake_py.rules.precision import at_precision_of
from mooncake_py.runtime import activity, drops, overlapping, pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.late_errors import has_written
from mooncake_py.runtime.methods import ANSWERED, derivable
from mooncake_py.runtime.quiet import silently
from mooncake_py.runtime.values import SEQUENCES
from mooncake_py.tangents.memory import has_overlaps, is_writeable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = [
    "apply_elementwise", "as_arrays", "bound_arguments", "elementwise_into", "operands",
    "require_numbers", "require_partials",
]  # fmt: skip


def apply_elementwise(
    rule: ElementwiseRule, ctx: ReverseMode, f: Any, args: Any, kwargs: Any
) -> Any:
    """Apply an elementwise rule."""
    require_numbers(f, args)
    if kwargs or len(args) != len(rule.partials):
        return elementwise_with_options(rule, ctx, f, args, kwargs)
    primals, nodes, active = operands(ctx, f, args)
    method = derivable(args[0], ANSWERED[f]) if not active and f in ANSWERED else None
    if method is not None:
        return ctx.call(method, *args)
    if active:
        y = f(*primals)
        refuse_shared(rule, ctx, y)
        return ctx.record_elementwise(rule, y, primals, nodes)
    return drops.computed(ctx, f, args, call_seen(ctx, f, primals, {}))


def operands(ctx: Mode, f: Any, args: Any) -> tuple[Any, Any, bool]:
    """Return primals and nodes of operands, and whether one is active."""
    primals: list[Any] = []
    nodes: list[Any] = []
    active, plain = False, True
    for a in args:
        t = type(a)
        node = None
        if t is ndarray:
            node = ctx.find(a)
        elif t is Active:
            node, a = a, a.primal
        elif t not in activity.INERT:
            a = ctx.as_operand(readable(ctx, f, plain_operand(ctx, f, a)))
            node = ctx.find(a) if type(a) is ndarray else None
            plain = False
        elif t is range:
            plain = False
        if node is not None:
            active = True
        primals.append(a)
        nodes.append(node)
    if active and not plain:
        ctx.refuse_subclasses(primals)
        primals = as_arrays(primals)
    return tuple(primals), tuple(nodes), active


def require_numbers(f: Any, args: Any) -> None:
    """Raise what functions of Python raise for lists, which are arrays to those of NumPy."""
    if type(f) is BuiltinFunctionType and any(type(a) in SEQUENCES for a in args):
        raised = plain_error(f, args, {})
        if raised is not None:
            raise raised


def as_arrays(primals: Any) -> list[Any]:
    """Return operands with arrays for lists, which partials do not take and the user may change."""
    return [np.array(p) if type(p) in SEQUENCES else p for p in primals]


def elementwise_with_options(
    rule: ElementwiseRule, ctx: ReverseMode, f: Any, args: Any, kwargs: Any
) -> Any:
    """Apply an elementwise rule with `out=`, `where=`, `dtype=` or arguments by keyword."""
    args, kwargs = named_out(f, args, kwargs)
    out = single_output(f, args, kwargs)
    kwargs = dict(kwargs)
    given = kwargs.pop("out", None)
    if not isinstance(f, np.ufunc):
        args, kwargs = bound_arguments(f, args, kwargs, len(rule.partials))
    if given is Ellipsis:
        kwargs = {**kwargs, "out": given}  # the result is an array, also a 0-d one
    kwargs = activity.unwrapped(kwargs)  # a number where NumPy takes none
    where = kwargs.get("where")
    if "where" in kwargs and isinstance(f, np.ufunc):
        require_mask(where)
    require_plain(f, where)
    require_still(ctx, kwargs)
    primals, nodes, active = operands(ctx, f, args)
    if active:
        require_partials(rule, ctx, f, args, kwargs)
    if out is not None and isinstance(f, np.ufunc):
        return elementwise_into(rule, ctx, f, primals, nodes, out, kwargs)
    try:
        y = f(*primals, **kwargs)
    except Exception as error:
        if out is not None:
            refuse_other_writes(ctx, error, f, primals, {**kwargs, "out": out})
        raise
    if active:
        refuse_shared(rule, ctx, y)
    if out is not None:
        if isinstance(out, ndarray) and np.shape(y) != out.shape:
            f(*primals, **{**kwargs, "out": out.copy()})  # raises where it does not fit
        y = ctx.record_elementwise(rule, y, primals, nodes) if active else y
        write_into(ctx, out, y, where=True if where is None else where)
        return number_in(ctx, f, primals, kwargs, out)
    if not active:
        return drops.computed(ctx, f, args, y)
    return ctx.record_elementwise(rule, y, primals, nodes, None if where is True else where)


def require_still(ctx: Mode, kwargs: Any) -> None:
    """Raise if NumPy would read the dtype of an object, which changes something as it is read."""
    if type(dtype := kwargs.get("dtype")) not in activity.INERT:
        effects.refuse_writers(ctx, (dtype,), effects.MEASURING)


def require_partials(rule: ElementwiseRule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Raise if an argument has no partial derivative, which the others would have to receive."""
    error = missing_partial(f, len(rule.partials), args, kwargs, ctx.user_location)
    if error is not None:
        require_arguments(f, args, kwargs)
        raise ctx.failed(error)


def elementwise_into(
    rule: ElementwiseRule, ctx: ReverseMode, f: Any, primals: Any, nodes: Any, out: Any, kwargs: Any
) -> ndarray:
    """Run a ufunc with `out=`, in place."""
    where = kwargs.get("where")
    where = None if where is True or where is None else np.asarray(where, bool)
    active = any(node is not None for node in nodes)
    if not issubclass(type(out), ndarray) or not is_writeable(out):
        return f(*primals, out=activity.unwrapped(out), **kwargs)  # raises NumPy's own error
    if type(out) is not ndarray:
        ctx.refuse_subclass(out, *(n for n in nodes if n is not None))
        elementwise_into(rule, ctx, f, primals, nodes, out.view(ndarray), kwargs)
        return out
    if has_overlaps(out) and (active or ctx.find(out) is not None) and drops.holds(ctx, out):
        elementwise_through(rule, ctx, f, primals, nodes, out, kwargs)
        return out
    if ctx.objects and out.dtype.kind == "O":
        ctx.refuse_if_active(f, primals)
    memory = ctx.registry.memory_of(out)
    plan = ctx.plan(rule, nodes) if active else None
    flows = plan is not None and drops.holds(ctx, out)
    saved: list[Any] = []
    partials: Any = ()
    unconverted: Any = None
    if plan is not None and flows:
        saved = ctx.saved_operands(primals, nodes, plan[2])
        if plan[2][-1] and converts(f, primals, out, kwargs):
            with np.errstate(all="ignore"):
                unconverted = f(*primals, **{**kwargs, "where": True})
        if type(where) is ndarray:
            ctx.registry.protect(where)
        try:
            kept = kept_at_once(plan[1], primals)
        except TypeError:  # of operands that it does not take
            f(*primals, out=out.copy(), **kwargs)  # raises, in NumPy's words
            raise
        partials = at_precision_of(out, rule, kept, primals)
    steps = None if flows or not active else unrounded(ctx, f, nodes, (primals, kwargs), out)
    undo = ctx.overwritten(memory, out, Ellipsis) if memory.protected else None
    written = True
    try:
        f(*primals, out=out, **kwargs)
    except BaseException as error:
        written = has_written(ctx, error, out, *primals)
        raise
    finally:
        # On the way back the old contents return first: the partials may read them.
        try:
            if written and plan is not None and flows:
                positions, _, keep = plan
                y = out.copy() if keep[-1] and unconverted is None else unconverted
                saved.append(y)
                node = ctx.registry.activate(out)
                fits = [
                    0 if type(nodes[i]) is Active else (primals[i].shape, primals[i].dtype)
                    for i in positions
                ]
                targets = [nodes[i] for i in positions]
                ctx.record(
                    (pulls.pull_elementwise_out, node, where, partials, targets, fits, saved)
                )
            elif written and ctx.find(out) is not None:
                node = ctx.registry.activate(out)
                ctx.record((pulls.pull_elementwise_out, node, where, (), (), (), ()))
        finally:  # also where the memory must not be active
            if undo is not None:
                ctx.record(undo)
    if steps is not None:
        drops.whole(ctx, out, (steps,))
    return out


def elementwise_through(
    rule: ElementwiseRule,
    ctx: ReverseMode,
    f: Any,
    primals: Any,
    nodes: Any,
    out: ndarray,
    kwargs: Any,
) -> None:
    """Run a ufunc with an `out=` that overlaps itself: first the values, then the write."""
    where = kwargs.get("where", True)

    def run(w: ndarray) -> None:
        f(*[w if x is out else x for x in primals], out=w, **kwargs)

    with overlapping.watched(ctx, out, run):
        with np.errstate() if where is True else np.errstate(all="ignore"):
            y = f(*primals, **{**kwargs, "where": True})
        if any(node is not None for node in nodes):
            y = ctx.record_elementwise(rule, y, primals, nodes)
        if where is not True:
            y = ctx.call(np.where, where, y, out)
        overlapping.write(ctx, out, ctx.registry.activate(out), Ellipsis, y, run)


def kept_at_once(partials: Any, primals: Any) -> Any:
    """Evaluate, before the output overwrites an input, the partials that are kept as values."""
    return [silently(p.partial, *primals, None) if type(p) is AtOnce else p for p in partials]


def bound_arguments(f: Any, args: Any, kwargs: Any, count: int) -> tuple[Any, Any]:
    """Move the first `count` arguments to their positions, with defaults filled in."""
    signature = signature_of(f)
    if signature is None or len(args) >= count:
        return args, kwargs
    kwargs = dict(kwargs)
    names = list(signature.parameters.values())
    filled = list(args)
    for parameter in names[len(args) : count]:
        if parameter.name in kwargs and parameter.kind is not parameter.POSITIONAL_ONLY:
            filled.append(kwargs.pop(parameter.name))
        elif parameter.default is not inspect.Parameter.empty:
            filled.append(parameter.default)
        else:
            break
    return tuple(filled), kwargs
