"""Apply a rule in forward mode, with one function for each kind of rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import apply, marshalling
from mooncake_py.application.apply import (
    arguments_of_vjp,
    by_position,
    of_sequence,
    refuse_other_active,
)
from mooncake_py.application.array_ways import PLACES
from mooncake_py.application.codual_call import container_written
from mooncake_py.application.elementwise import (
    as_arrays,
    bound_arguments,
    require_numbers,
    require_partials,
    require_still,
)
from mooncake_py.application.foreign import meet, plain_operand, require_mask, require_plain
from mooncake_py.application.heard import as_given
from mooncake_py.application.out_argument import (
    converts,
    fits,
    named_out,
    number_in,
    result_dtype,
    single_output,
    without_out,
    write_into,
)
from mooncake_py.application.seen_calls import is_quiet, run_seen
from mooncake_py.application.shared_outputs import refuse_shared
from mooncake_py.containers.sequences import readable
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.errors import MissingRuleError
from mooncake_py.modes.forward import pushforward
from mooncake_py.modes.forward.dual_call import on_constants
from mooncake_py.modes.forward.flat_operands import Pushed, push_flat
from mooncake_py.modes.forward.transposed import tangent_below
from mooncake_py.modes.reverse.differentiate import gradient_of_first
from mooncake_py.modules import draws_numbers
from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.rules.kinds import (
    BilinearRule,
    CoDualRule,
    ElementwiseRule,
    LinearRule,
    Rule,
    VjpRule,
)
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.returned import require_tangent
from mooncake_py.rules.sequences import takes_sequences
from mooncake_py.runtime import activity, drops
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import are_numbers
from mooncake_py.runtime.late_errors import has_written
from mooncake_py.runtime.methods import ANSWERED, derivable
from mooncake_py.runtime.numpy_operands import PLAIN
from mooncake_py.runtime.quiet import Unheard, is_strict
from mooncake_py.runtime.values import NUMBERS, SEQUENCES, is_inexact
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.memory import has_overlaps, is_owned, is_writeable
from mooncake_py.tangents.memory import owner as owner_of
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["finished", "handler", "is_view"]

ARITHMETIC = frozenset({ndarray, Active, *NUMBERS})
SPLIT = (*ARITHMETIC, list, tuple)


def operands(ctx: ForwardContext, f: Any, args: Any) -> tuple[Any, Any, bool]:
    """Return primals and tangents of operands, and whether one has a tangent."""
    pairs = [
        ctx.pair(
            a
            if type(a) in activity.INERT or type(a) in ARITHMETIC
            else ctx.as_operand(readable(ctx, f, plain_operand(ctx, f, a)))
        )
        for a in args
    ]
    primals, tangents = tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
    active = any(t is not None for t in tangents)
    if active:
        ctx.refuse_subclasses(primals)
        primals = tuple(as_arrays(primals))
    return primals, tangents, active


def apply_elementwise(
    rule: ElementwiseRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any
) -> Any:
    """Apply an elementwise rule."""
    out = where = None
    require_numbers(f, args)
    if kwargs or len(args) != len(rule.partials):
        args, kwargs = named_out(f, args, kwargs)
        out = single_output(f, args, kwargs)
        kwargs = dict(kwargs)
        given = kwargs.pop("out", None)
        if not isinstance(f, np.ufunc):
            args, kwargs = bound_arguments(f, args, kwargs, len(rule.partials))
        if given is Ellipsis:
            kwargs["out"] = given  # the result is an array, also a 0-d one
        kwargs = activity.unwrapped(kwargs)
        where = kwargs.get("where")
        if "where" in kwargs and isinstance(f, np.ufunc):
            require_mask(where)
        require_plain(f, where)
        require_still(ctx, kwargs)
    primals, tangents, active = operands(ctx, f, args)
    if not active and (out is None or ctx.pair(out)[1] is None):
        method = derivable(args[0], ANSWERED[f]) if f in ANSWERED else None
        if method is not None:
            return ctx.call(method, *args)
        y = below(ctx, f, primals, kwargs if out is None else {**kwargs, "out": out})
        return y if out is not None else drops.computed(ctx, f, args, y)
    if len(args) != len(rule.partials) or kwargs:
        require_partials(rule, ctx, f, args, kwargs)
    masked = where is not None and where is not True
    casting = kwargs.get("casting", "same_kind")
    if out is not None and not issubclass(type(out), ndarray):
        return ctx.on_primals(f, *primals, **kwargs, out=out)  # raises, in NumPy's words
    scratch = {}
    if masked and out is not None:
        plain = activity.unwrapped(primals)
        wide = converts(f, plain, out, kwargs)
        dtype = result_dtype(f, plain, kwargs) if wide else out.dtype
        scratch["out"] = ctx.base.call(ndarray.astype, out, dtype)

    def refuse_output() -> None:
        """Raise what NumPy raises where it does not write to such an output."""
        assert out is not None
        like = out.copy()
        like.flags.writeable = is_writeable(out)
        ctx.on_primals(f, *primals, **kwargs, out=like)

    def compute() -> Any:
        try:
            y = ctx.on_primals(f, *primals, **kwargs, **scratch)
        except (ValueError, TypeError, AttributeError):
            if type(out) is ndarray:
                refuse_output()  # in words that name its shape, or its type, too
            raise
        if type(out) is ndarray and not (
            fits(activity.unwrapped(y), out, casting) and is_writeable(out)
        ):
            refuse_output()
        refuse_shared(rule, ctx, y, ctx.tangent)
        y = ctx.push_elementwise(rule, y, primals, tangents)
        if masked and type(y) is ndarray:
            mask = np.broadcast_to(np.asarray(where, bool), y.shape)
            if out is not None:
                y = ctx.call(np.where, mask, y, out)
            elif (t := ctx.blocks.tangent_of(y)) is not None:
                ctx.write(t, ~mask, 0.0)
        if out is None:
            return y
        return number_in(ctx, f, primals, kwargs, write_into(ctx, out, y, casting))

    try:
        if type(out) is not ndarray or not converts(f, activity.unwrapped(primals), out, kwargs):
            return compute()
        f(*activity.unwrapped(primals), **kwargs, out=out.copy())  # what it has to say
        with Unheard():
            return compute()
    except Exception as error:
        if out is not None and has_written(ctx, error, out, *primals):
            with np.errstate(all="ignore"):
                compute()
        raise


@without_out
def apply_linear(rule: LinearRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply the rule of a function that is linear in some arguments."""
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    if args and type(args[0]) in SEQUENCES:
        args = of_sequence(ctx, f, args, kwargs)
    args, kwargs = by_position(ctx, rule.adjoint, args, kwargs, max(rule.wrt))
    primals = list(args)
    tangents: dict[int, Any] = {}
    for i in (*rule.stepwise, *rule.wrt):
        if i < len(args):
            (primals[i],), (t,), _ = operands(ctx, f, (args[i],))
            if i in rule.wrt:
                tangents[i] = t
    refuse_other_active(rule, ctx, args, kwargs, (*rule.wrt, *rule.stepwise))
    if all(t is None for t in tangents.values()):
        return drops.computed(ctx, f, args, below(ctx, f, primals, kwargs))
    ctx.refuse_subclasses((*primals, *kwargs.values()) if kwargs else primals)
    y = ctx.on_primals(f, *primals, **kwargs)
    if not is_inexact(y):
        return drops.output(ctx, rule, y, primals)
    refuse_shared(rule, ctx, y, ctx.tangent)
    if is_view(y, primals, tangents):
        return y
    if rule.built_in and len(tangents) == len(args) and PLACES.issuperset(kwargs):
        only = tuple([tangents[i] for i in range(len(args))])
        if all(t is not None for t in only):  # nothing is added that does not move
            return ctx.fresh(y, ctx.lower(pushforward.of_linear_only, f, only, kwargs, y))
    moved, fixed = list(primals), list(primals)
    for i, t in tangents.items():
        fixed[i] = np.zeros_like(primals[i]) if type(primals[i]) is ndarray else zero_of(primals[i])
        moved[i] = fixed[i] if t is None else t
    t = ctx.lower(pushforward.of_linear, f, tuple(moved), tuple(fixed), kwargs, y)
    return ctx.fresh(y, t)


def zero_of(value: Any) -> Any:
    """Return the zero that stands for a constant: a number, a sequence, or None for nan."""
    if value is NoValue:
        return value
    if value is None:
        return 0.0
    if issubclass(type(value), (list, tuple, range)):
        return np.zeros(np.shape(value))
    return type(activity.unwrapped(value))(0)


def is_view(y: Any, primals: Any, tangents: dict[int, Any]) -> bool:
    """Return whether an output is memory of an active argument: so is its tangent."""
    if type(y) is not ndarray:
        return False
    owner = owner_of(y)
    return any(
        t is not None and type(primals[i]) is ndarray and owner_of(primals[i]) is owner
        for i, t in tangents.items()
    )


def below(ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of what has no tangent; Python code that it calls may reach what has one."""
    run = partial(ctx.base.call, f, *args, **kwargs)
    if all(map(is_quiet, args)) and (not kwargs or activity.holds_inert(kwargs)):
        return run()
    return run_seen(ctx, f, (*args, *kwargs.values()), run)


@without_out
def apply_bilinear(rule: BilinearRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply the rule of a function that is linear in each of its first two arguments."""
    if kwargs or len(args) != 2:
        args, kwargs = by_position(ctx, rule.adjoints[0], args, kwargs, 1)
        refuse_other_active(rule, ctx, args, kwargs, (0, 1))
    primals, (ta, tb), active = operands(ctx, f, args[:2])
    if not active:  # a matrix, for example, makes another one
        y = below(ctx, f, (*primals, *args[2:]), kwargs)
        return drops.computed(ctx, f, primals, y)
    a, b = (x if type(x) in ARITHMETIC else np.asarray(x) for x in primals)  # lists, poly1d
    y = ctx.on_primals(f, a, b, *args[2:], **kwargs)
    refuse_shared(rule, ctx, y, ctx.tangent)
    if not is_inexact(y):
        return drops.output(ctx, rule, y, (a, b))
    t = ctx.lower(pushforward.of_bilinear, f, a, b, ta, tb, args[2:], kwargs, y)
    return ctx.fresh(y, t)


@without_out
def apply_vjp(rule: VjpRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply a rule given by output and pullback, by the transpose of the pullback."""
    found = push_flat(rule, ctx, f, args, kwargs)
    if found is not None:
        return finished(rule, ctx, f, found)
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    given = kwargs
    args, kwargs = arguments_of_vjp(rule, ctx, f, args, kwargs)
    if rule.built_in and rule.jvp is not None and not takes_sequences(rule.jvp):
        args = [ctx.as_operand(a) for a in args]  # these take arrays, and so do their tangents
    tangents = [ctx.tangent(a) for a in args]
    # The context below handles data that is active only there.
    known = {i for i, a in enumerate(args) if type(a) in SPLIT or tangents[i] is not None}
    for i, a in enumerate(args):
        if type(a) not in ARITHMETIC and (found := active_object(ctx, a, i in known)) is not None:
            kind = with_article(type(found).__name__)
            raise takes_no_objects(ctx, rule, f"is called with {kind}")
    refuse_other_active(rule, ctx, args, kwargs, range(len(args)))
    primals = tuple(map(ctx.primal, args))
    taken, named = as_given(rule, f, primals, kwargs, given)
    if all(t is None for t in tangents):
        return drops.computed(ctx, f, args, below(ctx, f, taken, named))
    ctx.refuse_subclasses((*primals, *kwargs.values()) if kwargs else primals)
    before = marshalling.Contents(primals) if rule.by_user else None
    if rule.jvp is not None:
        y = ctx.base.call(f, *taken, **named)
        jvp = partial(rule.jvp, **kwargs)
        if rule.by_user:
            t = ctx.lower(jvp, tuple(tangents), y, *primals)
            require_tangent(t, y, rule)
        else:
            t = ctx.lower(pushforward.of_jvp, jvp, tuple(tangents), y, primals)
    elif ctx.plain or any(draws_numbers(type(a)) for a in args):  # draws only once
        with Unheard() as block:
            y, t = ctx.lower(
                pushforward.of_vjp, rule, primals, kwargs, tuple(tangents), gradient_of_first
            )
        draws = any(draws_numbers(type(a)) for a in args)
        if rule.built_in and not draws and (is_strict() or block.noticed):
            f(*taken, **named)  # what NumPy has to say
    else:
        y = ctx.base.call(f, *taken, **named)
        t = tangent_below(ctx, rule, primals, kwargs, tuple(tangents))
    if before is not None and before.changed():
        raise container_written(rule, ctx)
    refuse_shared(rule, ctx, y, ctx.tangent)
    return result_of_vjp(rule, ctx, f, y, t, primals)


def finished(rule: VjpRule, ctx: ForwardContext, f: Any, found: Pushed) -> Any:
    """Return the output of a rule of ours for arguments of known classes."""
    y, t, alike, primals = found
    if alike:
        return ctx.fresh_array(y, t) if type(y) is ndarray else ctx.fresh_number(y, t)
    return result_of_vjp(rule, ctx, f, y, t, primals)


def result_of_vjp(rule: VjpRule, ctx: ForwardContext, f: Any, y: Any, t: Any, primals: Any) -> Any:
    """Return the output of a rule with its tangent."""
    if y is None:
        return drops.output(ctx, rule, y, ())
    if (type(y) is ndarray or isinstance(y, np.generic)) and not is_inexact(y):
        return drops.output(ctx, rule, y, primals)
    if f is np.divmod:
        whole: Any = y
        drops.quotient(ctx, whole[0], *primals[:2])
    return paired(ctx, y, t, rule, [owner_of(p) for p in primals if type(p) is ndarray], [])


def paired(
    ctx: ForwardContext, y: Any, t: Any, rule: Rule, given: list[ndarray], made: list[ndarray]
) -> Any:
    """Return an output of a rule with its tangents.

    Views of one array remain so.  `given` are the owners of arguments, `made` collects those of
    outputs.
    """
    if (type(y) is ndarray or isinstance(y, np.generic)) and not is_inexact(y):
        return drops.output(ctx, rule, y, ())
    if isinstance(y, (tuple, list)) and t is None:
        t = [None] * len(y)
    if t is None or type(t) is NoTangent:
        if not is_without_tangent(y):
            raise takes_no_objects(ctx, rule, f"returns {with_article(type(y).__name__)}")
        return y
    if isinstance(y, (tuple, list)):
        values = [paired(ctx, v, d, rule, given, made) for v, d in zip(y, t, strict=True)]
        result: Any = type(y)(*values) if hasattr(y, "_fields") else type(y)(values)
        return result
    if type(y) is ndarray and y.base is not None:
        if not is_owned(y, made):
            if ctx.blocks.tangent_of(y) is not None:
                return y  # memory of an active argument
            if is_owned(y, given) or has_overlaps(y):
                writeable = is_writeable(y)
                y = ctx.base.call(laid_out_copy, y)
                y.flags.writeable = writeable
        made.append(owner_of(y))
    return ctx.fresh(y, ctx.lower(pushforward.fitted, t, y))


def active_object(ctx: ForwardContext, value: Any, known: bool) -> Any:
    """Return an argument, or a part of a sequence, that is active and neither number nor array."""
    if type(value) is list or type(value) is tuple:
        if are_numbers(value):
            return None
        found = (active_object(ctx, part, type(part) in SPLIT) for part in value)
        return next((part for part in found if part is not None), None)
    return None if known or not ctx.contains_active(value) else value


def takes_no_objects(ctx: ForwardContext, rule: Rule, what: str) -> MissingRuleError:
    """Return the error for a container or an object that a rule by pullback takes or returns."""
    return unsupported(
        ctx,
        f"the rule of {rule.name} {what}",
        why="forward mode takes numbers, arrays and sequences of rules by pullback; this "
        f"one is declared at {rule.origin}",
        fix="leave the rule out, by `with local_rules(without=...)`, if the function has "
        "Python source;\nor let the rule work on numbers and arrays",
    )


def is_without_tangent(y: Any) -> bool:
    """Return whether an output has no derivative by its type."""
    if issubclass(type(y), (list, tuple)):
        return all(map(is_without_tangent, y))
    return type(y) in activity.INERT or isinstance(y, (ndarray, np.generic))


def apply_codual(rule: CoDualRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
    """Raise where a hand-written rule in the interface of CoDuals would be differentiated."""
    if not any(map(ctx.contains_active, (*args, *kwargs.values()))):
        return on_constants(rule, ctx, f, args, kwargs)
    others = "elementwise, linear, bilinear\nor from_vjp" if rule.mutates == () else "overlay"
    raise unsupported(
        ctx,
        f"the rule of {rule.name} is for reverse mode only",
        why=f"it is handwritten in CoDuals, at {rule.origin}",
        fix=f"add a forward rule by frule.register, or declare it by {others}, for both modes",
    )


APPLY: dict[type[Rule], Callable[..., Any]] = {
    **apply.APPLY,  # for replacements and what has no derivative
    ElementwiseRule: apply_elementwise,
    LinearRule: apply_linear,
    BilinearRule: apply_bilinear,
    VjpRule: apply_vjp,
    CoDualRule: apply_codual,
}


def handler(rule: Rule) -> Callable[..., Any]:
    """Return the function ``(context, function, args, kwargs)`` that applies a rule."""
    return apply.applying(rule, APPLY)
