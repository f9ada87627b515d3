"""Apply a rule on the tape, with one function for each kind of rule.

Each is called as ``apply(rule, context, function, args, kwargs)``, finds out which arguments are
active, runs the function on primals and records an entry if there is something to record.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import marshalling
from mooncake_py.application.codual_call import apply_codual, container_written
from mooncake_py.application.elementwise import apply_elementwise, operands
from mooncake_py.application.flat_operands import Flat, flat, registered
from mooncake_py.application.foreign import meet
from mooncake_py.application.heard import output_of_replacement, output_of_rule
from mooncake_py.application.native_writes import WRITERS, refuse_other_writes
from mooncake_py.application.numbers_of_math import on_numbers
from mooncake_py.application.out_argument import (
    named_out,
    run_into,
    signature_of,
    single_output,
    without_out,
)
from mooncake_py.application.own_pullbacks import apart
from mooncake_py.application.plain_errors import as_plain, check_first, plain_error
from mooncake_py.application.seen_calls import call_seen
from mooncake_py.application.shared_outputs import refuse_shared
from mooncake_py.containers.sequences import listed, readable
from mooncake_py.diagnostics.notes import located
from mooncake_py.diagnostics.places import position_for_rule
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.errors import MooncakeError
from mooncake_py.modules import is_of_solvers, package_of
from mooncake_py.rules.kinds import (
    BilinearRule,
    CoDualRule,
    ContextRule,
    ElementwiseRule,
    LinearRule,
    OverlayRule,
    RefusedRule,
    Rule,
    VjpRule,
    ZeroDerivativeRule,
)
from mooncake_py.rules.returned import output_and_pullback
from mooncake_py.runtime import activity, drops, numerals, rule_pulls
from mooncake_py.runtime.activity import are_numbers
from mooncake_py.runtime.methods import ANSWERED, derivable
from mooncake_py.runtime.numpy_operands import PLAIN
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.values import NUMBERS, SEQUENCES, is_inexact, like, spec_of
from mooncake_py.tangents.memory import is_owned
from mooncake_py.tangents.memory import owner as owner_of
from mooncake_py.tangents.subclasses import are_given, plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["APPLY", "applying", "handler", "shares_memory", "vjp_of_flat", "without_derivative"]


# Functions that return new memory which nobody else can see.
CREATES = frozenset({
    np.zeros, np.empty, np.ones, np.full, np.zeros_like, np.empty_like, np.ones_like,
    np.full_like, np.arange, np.linspace, np.eye, np.identity,
})  # fmt: skip

ARITHMETIC = frozenset({ndarray, *NUMBERS})


# Linear and bilinear.


@without_out
def apply_linear(rule: LinearRule, ctx: ReverseMode, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply the rule of a function that is linear in some arguments."""
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    if args and type(args[0]) in SEQUENCES:
        args = of_sequence(ctx, f, args, kwargs)
    args, kwargs = by_position(ctx, rule.adjoint, args, kwargs, max(rule.wrt))
    primals = list(args)
    for i in rule.stepwise:
        if i < len(args):
            primals[i] = activity.unwrapped(args[i])
    nodes: list[Any] = []
    active = False
    for i in rule.wrt:
        if i >= len(args):
            break
        primal, node = operand(ctx, f, args[i])
        primals[i] = primal
        nodes.append(node)
        active = active or node is not None
    refuse_other_active(rule, ctx, args, kwargs, (*rule.wrt, *rule.stepwise))
    if active:
        ctx.refuse_subclasses((*primals, *kwargs.values()) if kwargs else primals)
    if not active:
        return drops.constant(ctx, f, args, call_seen(ctx, f, primals, kwargs))
    y = f(*primals, **kwargs)
    if not is_inexact(y):
        return drops.output(ctx, rule, y, primals)
    if ctx.numerals is not None:  # in other arguments
        numerals.checked(ctx, f, args, y)
    refuse_shared(rule, ctx, y)
    if shares_memory(ctx, y, nodes, primals, rule.wrt):
        return y
    saved = list(primals)
    fits: list[Any] = []
    for i in rule.wrt[: len(nodes)]:
        saved[i] = like(primals[i])
        fits.append(spec_of(primals[i]))
    ctx.protect_all((saved, kwargs))
    result, node = ctx.fresh_output(y)
    adjoint = apart(ctx, rule, rule.adjoint)
    ctx.record((rule_pulls.pull_linear, node, rule, adjoint, nodes, fits, saved, kwargs))
    return result


@without_out
def apply_bilinear(rule: BilinearRule, ctx: ReverseMode, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply the rule of a function that is linear in each of its first two arguments."""
    if kwargs or len(args) != 2:
        args, kwargs = by_position(ctx, rule.adjoints[0], args, kwargs, 1)
        refuse_other_active(rule, ctx, args, kwargs, (0, 1))
    primals, nodes, active = operands(ctx, f, args[:2])
    if not active:  # a matrix, for example, makes another one
        y = call_seen(ctx, f, (*primals, *args[2:]), kwargs)
        return drops.computed(ctx, f, primals, y)
    a, b = (x if type(x) in ARITHMETIC else np.asarray(x) for x in primals)  # lists, poly1d
    y = f(a, b, *args[2:], **kwargs)
    refuse_shared(rule, ctx, y)
    return ctx.record_bilinear(rule, y, a, b, nodes, args[2:], kwargs)


def by_position(ctx: Mode, model: Any, args: Any, kwargs: Any, last: int) -> tuple[Any, Any]:
    """Move arguments given by keyword to their positions, where they may be active.

    The names and the defaults are those of the rule's own parameters, after the cotangent.
    """
    if len(args) > last or all(type(v) in activity.INERT for v in kwargs.values()):
        return args, kwargs
    code = getattr(model, "__code__", None)
    if code is None:
        return args, kwargs
    names = code.co_varnames[1 : code.co_argcount]
    defaults = dict(zip(reversed(names), reversed(model.__defaults__ or ()), strict=False))
    named = [i for i in range(len(args), last + 1) if names[i] in kwargs]
    kwargs = dict(kwargs)
    filled = list(args)
    for name in names[len(args) : max(named, default=-1) + 1]:
        if name not in kwargs and name not in defaults:
            break
        filled.append(kwargs.pop(name, defaults.get(name)))
    return tuple(filled), kwargs


def of_sequence(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Return the arguments of a function of an array, of which the first is a list or a tuple.

    If the function makes an array of objects, these are the items themselves.  It raises if it may
    not copy them.
    """
    if kwargs.get("copy") is False:
        f(*activity.unwrapped(args), **activity.unwrapped(kwargs))  # raises
    if f in CONVERTING:
        items, *rest = args
        dtype = rest[0] if rest else kwargs.get("dtype")
        if dtype is not None and np.dtype(dtype).kind == "O":
            return (ctx.call(np.array, items, dtype), *rest)
    return args


CONVERTING = frozenset({np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray})


def operand(ctx: Mode, f: Any, value: Any) -> tuple[Any, Any]:
    """Return the primal and the node of one argument."""
    (primal,), (node,), _ = operands(ctx, f, (value,))
    return primal, node


def refuse_other_active(rule: Rule, ctx: Reporting, args: Any, kwargs: Any, wrt: Any) -> None:
    """Raise if an argument is active for which the rule has no derivative."""
    for i, value in enumerate(args):
        if i not in wrt and type(value) not in activity.INERT and ctx.contains_active(value):
            raise no_derivative(rule, ctx, args, kwargs, f"argument {i}")
    for name, value in kwargs.items():
        if type(value) not in activity.INERT and ctx.contains_active(value):
            raise no_derivative(rule, ctx, args, kwargs, f"argument {name!r}")


def no_derivative(rule: Rule, ctx: Reporting, args: Any, kwargs: Any, argument: str) -> Exception:
    """Return the error for an active argument that a rule does not cover, or of the plain call."""
    raised = None if rule.by_user else plain_error(rule.functions[0], args, kwargs)
    return raised or unsupported(
        ctx,
        f"the rule of {rule.name} has no derivative with respect to {argument}",
        why=f"that argument is active; the rule is declared at {rule.origin}",
        fix="hold the argument constant, or register a rule with replace=True",
    )


def shares_memory(ctx: Mode, y: Any, nodes: Any, primals: Any, wrt: Any) -> bool:
    """Return whether an output is a view of an active argument: its shadow is a view as well."""
    if type(y) is not ndarray:
        return False
    if y.base is None:
        return any(y is primals[i] for i in wrt if i < len(primals))
    owner = owner_of(y)
    return any(
        node is not None and type(primals[i]) is ndarray and owner_of(primals[i]) is owner
        for i, node in zip(wrt, nodes, strict=False)
    )


# Rules without side effects in general.


@without_out
def apply_vjp(rule: VjpRule, ctx: ReverseMode, f: Any, args: Any, kwargs: Any) -> Any:
    """Apply a rule given by output and pullback."""
    found = flat(rule, ctx, f, args, kwargs)
    if found is not None:
        result = output_of_rule(rule, f, found.primals, found.kwargs, kwargs)
        return vjp_of_flat(rule, ctx, found, result)
    given = kwargs
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    args, kwargs = arguments_of_vjp(rule, ctx, f, args, kwargs)
    nodes = [ctx.node_of(a) for a in args]
    while nodes and nodes[-1] is None:
        nodes.pop()
    if kwargs:
        refuse_other_active(rule, ctx, args, kwargs, range(len(args)))
    if not nodes:
        return drops.constant(ctx, f, args, call_seen(ctx, f, args, kwargs))
    ctx.refuse_subclasses((*args, *kwargs.values()) if kwargs else args)
    primals = [activity.unwrapped(a) for a in args]
    for i, node in enumerate(nodes):
        if (type(node) is TangentTree or type(node) is list) and holds_tree(node):
            primals[i] = marshalling.plain(args[i])
    before = marshalling.Contents(primals) if rule.by_user else None
    found = output_of_rule(rule, f, primals, kwargs, given)
    y, pullback = output_and_pullback(found, rule) if rule.by_user else found
    if before is not None and before.changed():
        raise container_written(rule, ctx)
    refuse_shared(rule, ctx, y)
    if ctx.numerals is not None:  # in other arguments
        numerals.checked(ctx, f, args, y)
    if f is np.divmod:
        drops.quotient(ctx, y[0], *primals[:2])
    if not rule.reads_shapes_only:
        ctx.protect_all((primals, kwargs))
    result, outputs = register_outputs(rule, ctx, y, (args, primals), [])
    if outputs is None or (type(outputs) is tuple and all(n is None for n in outputs)):
        return result
    fits = [specs(a, node) for a, node in zip(primals, nodes, strict=False)]
    where = position_for_rule(rule, pullback)
    pullback = apart(ctx, rule, pullback)
    ctx.record((rule_pulls.pull_vjp, outputs, rule, pullback, nodes, fits, where))
    if type(outputs) is marshalling.Result or type(outputs) is tuple:
        marshalling.note_results(ctx, outputs)
    return result


def vjp_of_flat(rule: VjpRule, ctx: ReverseMode, given: Flat, found: Any) -> Any:
    """Record output and pullback that a rule of ours has found for arguments of known classes."""
    y, pullback = found
    if not rule.reads_shapes_only:
        given.protect(ctx)
    result, outputs = registered(ctx, y) or register_outputs(
        rule, ctx, y, (given.primals, given.primals), []
    )
    if outputs is None or (type(outputs) is tuple and all(n is None for n in outputs)):
        return result
    where = position_for_rule(rule, pullback)
    ctx.record((
        rule_pulls.pull_vjp, outputs, rule, pullback, given.nodes, given.fits, where,
    ))  # fmt: skip
    if type(outputs) is marshalling.Result or type(outputs) is tuple:
        marshalling.note_results(ctx, outputs)
    return result


def holds_tree(node: Any) -> bool:
    """Return whether an argument is or has in it something other than arrays and numbers."""
    if type(node) is list:
        return not are_numbers(node) and any(map(holds_tree, node))
    return type(node) is TangentTree


def arguments_of_vjp(
    rule: VjpRule, ctx: Mode, f: Any, args: Any, kwargs: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a function as its rule takes them: active ones by position."""
    if rule.permits:
        args, kwargs = without_permissions(rule, f, args, kwargs)
    if kwargs and ctx.contains_active(kwargs):  # as far as the signature of the rule allows
        bound = inspect.signature(rule.rule).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    return [readable(ctx, f, a) for a in args], kwargs


def without_permissions(rule: VjpRule, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments without those that allow a function to overwrite the others.

    What the rule takes by keyword only is moved there, as the names are known by then.
    """
    signature = signature_of(f)
    names = [] if signature is None else list(signature.parameters)
    count = getattr(inspect.unwrap(rule.rule), "__code__").co_argcount  # noqa: B009
    kept = [False if name in rule.permits else a for name, a in zip(names, args, strict=False)]
    kwargs = {**dict(zip(names[count:], kept[count:], strict=False)), **kwargs}
    kwargs = {name: v for name, v in kwargs.items() if name not in rule.permits}
    return (*kept[:count], *args[len(kept) :]), kwargs


def specs(primal: Any, node: Any) -> Any:
    """Return how to fit the cotangents of an argument, a list for a sequence."""
    if type(node) is list:
        if are_numbers(node):
            return [None] * len(node)  # they take any number
        return [specs(p, n) for p, n in zip(primal, node, strict=True)]
    return spec_of(primal)


def register_outputs(
    rule: Rule, ctx: ReverseMode, y: Any, inputs: tuple[Any, Any], others: list[ndarray]
) -> tuple[Any, Any]:
    """Register the output of a rule, or each of a tuple of outputs.

    `others` collects the owners of outputs: views of one array have a node each.  Cotangents are
    taken one after the other, so that memory which two have in common counts once.
    """
    if issubclass(type(y), (tuple, list)):
        pairs: list[tuple[Any, Any]] = [
            (None, None) if part is None else register_outputs(rule, ctx, part, inputs, others)
            for part in y
        ]
        values = [value for value, _ in pairs]
        if hasattr(y, "_fields"):
            result: Any = type(y)(*values)
        else:
            result = type(y)(values)
        return result, tuple(node for _, node in pairs)
    if not is_inexact(y):
        if y is None or isinstance(y, (ndarray, np.generic)):
            y = drops.output(ctx, rule, y, inputs[0])
        return marshalling.activated(ctx, y, *inputs)
    if type(y) is ndarray:
        node = ctx.find(y)
        if node is not None:  # memory of another output, or of an argument
            return y, node if is_owned(y, others) else None
        y = ctx.registry.independent(y)
        node = ctx.registry.fresh(y)
        node.protect()  # the pullback may have kept it
        others.append(owner_of(y))
        return y, node
    return ctx.fresh_output(y)


# No derivative, and Python replacements.


def apply_zero(rule: Rule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function without a derivative on primals."""
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    if len(args) > 1:
        args, kwargs = named_out(f, args, kwargs)
    if single_output(f, args, kwargs) is not None:
        return run_into(ctx, f, args, kwargs)
    method = derivable(args[0], ANSWERED[f]) if f in ANSWERED else None
    if method is not None:
        return ctx.call(method, *args)
    plain = args
    if not PLAIN.issuperset(map(type, args)):  # a sequence or a formatter of the user's, perhaps
        plain = [listed(ctx, f, a) for a in args]
    y = call_seen(ctx, f, tuple(map(activity.unwrapped, plain)), activity.unwrapped(kwargs))
    refuse_shared(rule, ctx, y)
    return without_derivative(ctx, f, y, args, kwargs)


def without_derivative(ctx: Mode, f: Any, y: Any, args: Any, kwargs: Any) -> Any:
    """Return the output of a function without a derivative, which may depend on active data."""
    if type(y) is ndarray and y.base is None and f in CREATES:
        ctx.registry.memory_of(y).protected = False
    if type(y) is int:
        return drops.whole(ctx, y, args)
    if type(y) is str:
        return numerals.remembered(ctx, y, (args, kwargs))
    return drops.step(ctx, f, y, args)


def apply_overlay(rule: OverlayRule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the Python replacement of a function, derived."""
    if not kwargs and all(type(a) in activity.INERT for a in args):
        return f(*args)
    # Solvers pass `args` on to the user's function, and convert the rest in the replacement.
    plain = not kwargs and PLAIN.issuperset(map(type, args))
    if not (plain or is_of_solvers(rule.replacement)):
        meet(f, args, kwargs)
        if type(f) is BuiltinFunctionType and package_of(f) == "scipy":  # takes memory alone
            args, kwargs = plain_parts(tuple(args)), plain_parts(kwargs)
    if not ctx.watches:
        values = (*args, *kwargs.values()) if kwargs else args
        if are_given(values) and ctx.contains_active(values):
            ctx.refuse_subclasses(values)  # the replacement may be of a function of NumPy
    run = run_in_context if rule.in_context else run_derived
    try:
        if not rule.by_user:
            check_first(f, args, kwargs)
        return output_of_replacement(
            rule, f, args, kwargs, lambda: run(rule.replacement, ctx, args, kwargs)
        )
    except Exception as error:
        raised = error if rule.by_user else as_plain(error, f, args, kwargs)
        if f in WRITERS:
            refuse_other_writes(ctx, raised, f, args, kwargs)
        if raised is error:
            raise
    raise raised


def run_derived(replacement: Any, ctx: Mode, args: Any, kwargs: Any) -> Any:
    """Run a replacement that is derived."""
    return ctx.call_function(replacement, args, kwargs)


def run_in_context(replacement: Any, ctx: Mode, args: Any, kwargs: Any) -> Any:
    """Run a replacement that is not derived; say where its errors arose."""
    try:
        return replacement(ctx, *args, **kwargs)
    except MooncakeError as error:
        located(ctx, error)
        raise


def apply_refused(rule: RefusedRule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function whose arguments must be constant."""
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    args, kwargs = named_out(f, args, kwargs)
    read = [v for name, v in kwargs.items() if name != "out"]
    if any(map(ctx.contains_active, (*args, *read))):
        raise unsupported(ctx, f"{rule.name} cannot be differentiated", why=rule.why, fix=rule.fix)
    return apply_zero(rule, ctx, f, args, kwargs)


def apply_contextual(rule: ContextRule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the effect of a function inside a derivative."""
    return rule.rule(ctx, *args, **kwargs)


APPLY: dict[type[Rule], Callable[..., Any]] = {
    ElementwiseRule: apply_elementwise,
    LinearRule: apply_linear,
    BilinearRule: apply_bilinear,
    VjpRule: apply_vjp,
    CoDualRule: apply_codual,
    OverlayRule: apply_overlay,
    ContextRule: apply_contextual,
    RefusedRule: apply_refused,
    ZeroDerivativeRule: apply_zero,
}


def handler(rule: Rule) -> Callable[..., Any]:
    """Return the function ``(context, function, args, kwargs)`` that applies a rule."""
    return applying(rule, APPLY)


def applying(rule: Rule, apply: Mapping[type[Rule], Callable[..., Any]]) -> Any:
    """Return the handler that applies a rule by its kind, and does nothing else: it says so."""
    handler: Any = on_numbers(rule, partial(apply[type(rule)], rule))
    handler.applies = rule
    return handler
