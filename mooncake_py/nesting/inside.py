"""Derivatives inside a differentiated function, in reverse or in forward mode.

In the forward pass of reverse mode, an inner derivative runs natively and records one entry. In the
reverse pass the entry runs it again, in a way that can be reversed:

- a gradient G of f has a symmetric Jacobian, so that with a cotangent v of G

      J* v = gradient of <v, G> = gradient of the derivative of f along v,

  which is reverse mode over forward mode (Pearlmutter, *Fast exact multiplication by the
  Hessian*, 1994; Christianson, *Automatic Hessians by reverse accumulation*, 1992);
- anything else (a directional derivative, the output of `vjp`) runs again and is recorded.

Outer active data that the inner function uses, by any name, become inputs.
Inside forward mode, the tangent of a gradient is the gradient of the tangent: both are inner
derivatives of the context below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.lift import Lifter, is_differentiable
from mooncake_py.boundary.apart import ArgumentsApart, begin, ended, guard
from mooncake_py.boundary.arguments import Call, name_of
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.inner_outputs import (
    Leaves,
    Replacer,
    Shell,
    active_parts,
    lowered,
    part_at,
    zero_like,
)
from mooncake_py.boundary.kept import hand_out, settle_kept
from mooncake_py.boundary.outgoing import independent
from mooncake_py.boundary.outputs import run, scalar_value, seed, value_and_auxiliary
from mooncake_py.diagnostics.notes import located
from mooncake_py.diagnostics.places import definition_of, outside
from mooncake_py.diagnostics.tracebacks import related
from mooncake_py.errors import MooncakeError, NestedDerivativeError
from mooncake_py.language.draws import Draws
from mooncake_py.modes.forward import pushforward
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.lift import TangentLifter, give_tangent
from mooncake_py.modes.reverse.differentiate import run as gradients_of
from mooncake_py.modes.reverse.differentiate import run_both_ways
from mooncake_py.modes.reverse.inner import InnerContext, refuse_to_catch
from mooncake_py.modes.reverse.settings import new_context, settings
from mooncake_py.recomputation.agreement import Fingerprint, repeating, something_else
from mooncake_py.recomputation.setting import Setting, copied
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed, enclosing
from mooncake_py.runtime.foreign import held_foreign
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.silence import silent
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.fields import own_attributes
from mooncake_py.tangents.subclasses import plain_parts

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Mode

__all__ = ["gradient_inside", "pull_back", "run_inside", "vjp_inside"]

Seeds = list[tuple[Any, Any]]
RunAgain = Callable[[InnerContext, Any], tuple[Any, Any, Seeds]]


def gradient_inside(outer: Mode, debug: bool, call: Call) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a function and the gradients for the chosen arguments."""
    if isinstance(outer, ForwardContext):
        with told(outer):
            return gradient_in_forward_mode(outer, debug, call)
    with enclosed(outer):
        inner: Any = new_context(settings(debug), call.f, call.args, call.kwargs, follows=True)
    try:
        with inner.setting.draws:
            result, gradients = run_both_ways(inner, call)
    finally:
        inner.forget_cotangents()
        inner.forget_maps()
    if not inner.depends:
        return result, gradients

    def run_again(ctx: InnerContext, cotangent: Any) -> tuple[Any, Any, Seeds]:
        return along(ctx, call, *cotangent)

    value, aux = result if call.has_aux else (result, None)
    computed, name = (value, gradients), name_of(call.f)
    (value, gradients), aux = recorded(outer, inner, computed, aux, name, run_again)
    return (value, aux) if call.has_aux else value, gradients


@contextmanager
def told(ctx: Reporting) -> Iterator[None]:
    """Notify a context of an error that plain Python code would not raise."""
    try:
        yield
    except NestedDerivativeError as error:
        raise located(ctx, error) from error.__cause__


def along(ctx: InnerContext, call: Call, value: Any, gradients: Any) -> tuple[Any, Any, Seeds]:
    """Run a function forward along the cotangents of its gradients; return value, aux, seeds.

    The seeds are the cotangent of the value for the value, and one for its tangent.
    """
    forward = ForwardContext(ctx, plain=False)
    cotangents: dict[int, Any] = {}
    with TangentLifter(forward) as lifter:
        args, kwargs, trees = call.lift(lifter)
        for key, tree, v in zip(call.chosen, trees, gradients, strict=True):
            give_tangent(forward, tree, v, f"argument {key}", cotangents=cotangents)
        with enclosed(None):
            output = forward.call(call.f, *args, **kwargs)
        if forward.failure is not None:
            raise forward.failure
    output, aux = value_and_auxiliary(call, output)
    output = plain_parts(output)
    primal, tangent = forward.split(output)
    seeds = [(primal, value)]
    if tangent is not None:
        seeds.append((tangent, np.ones(np.shape(output)) if type(output) is ndarray else 1.0))
    return primal, aux, seeds


def run_inside(
    outer: Mode, name: str, call: Callable[[Mode], Any], setting: Setting | None = None
) -> Any:
    """Run something in its own context, inside a derivative, and leave the state as it was.

    What is called returns values of the context that it is given; it may run again on the way back.
    A setting that is given is filled with what else the output depends on.
    """
    if isinstance(outer, ForwardContext):
        with told(outer):
            return run_inside_forward_mode(outer, name, call, setting)
    inner = InnerContext(outer, follows=True)
    guard(inner)
    inner.setting = setting or inner.setting
    with inner.setting.draws, told(outer), guarded(inner):
        output = call(inner)
        if inner.failure is not None:
            raise inner.failure
        hand_out(inner, output)
        output = independent(inner, output)
        inner.roll_back()
        inner.forget_maps()
    if not inner.depends:
        return output

    def run_again(ctx: InnerContext, cotangent: Any) -> tuple[Any, Any, Seeds]:
        return None, call(ctx), []

    return recorded(outer, inner, None, output, name, run_again)[1]


def recorded(
    outer: Mode, inner: InnerContext, computed: Any, handed: Any, name: str, again: RunAgain
) -> tuple[Any, Any]:
    """Make the results of an inner call active in the outer one, and record how to reverse it.

    All of the plain values `computed` becomes active.  In what is `handed` out, what is active is
    so in the outer call already.  A run `again`, from the cotangent of `computed`, returns the
    first value in it, what gets out, and further cotangents.
    """
    outer.registry.protect_all()  # the second run reads it again
    with Lifter(outer) as lifter:
        computed, tree = lifter.visit(computed)
    nodes = [
        (path, part if type(part) is Active else outer.find(part))
        for path, part in active_parts(inner, handed, lambda a: outer.find(a) is not None)
    ]
    value = None if computed is None else computed[0]
    check = Fingerprint((value, handed)), outer.user_location(), name
    # Not `inner` itself: what it knows would stay, as the map of a file that the second run maps.
    conditions = outer, inner.compiles, inner.setting
    outer.record((pull_inside, (computed, tree), nodes, conditions, again, check))
    return computed, handed


def pull_inside(entry: tuple[Any, ...]) -> None:
    """Run an inner call again so that it can be reversed, and reverse it."""
    _, (computed, tree), nodes, (outer, compiles, setting), again, (expected, *where) = entry
    cotangent = gradient_of(computed, tree, {})
    if is_zero(cotangent) and not any(has_cotangent(node) for _, node in nodes):
        return  # only values were read, such as by a solver
    inner = InnerContext(outer, follows=True)
    inner.compiles = compiles
    with guarded(inner), setting.again():
        with repeating(lambda error: something_else(*where, raised=error)):
            with silent():
                value, handed, seeds = again(inner, cotangent)
            settle_kept(inner)
            settle_kept(outer)  # which is on its way back, and undoes more of what is kept
        if not Fingerprint((value, handed)).matches(expected):
            raise something_else(*where)
        try:
            seeds += [(part_at(handed, path), node.take()) for path, node in nodes]
        except LookupError:
            raise something_else(*where) from None
        for output, g in seeds:
            if g is not None and type(g) is not NoTangent:
                seed(inner, lowered(inner, output), g, "dy")
        inner.run_backwards()
    inner.forget_maps()
    inner.deliver()


def is_zero(cotangent: Any) -> bool:
    """Return whether a cotangent is known to be zero."""
    if type(cotangent) in (tuple, list):
        return all(map(is_zero, cotangent))
    if type(cotangent) in (float, ndarray):
        return not np.any(cotangent)
    return type(cotangent) is NoTangent


def has_cotangent(node: Any) -> bool:
    """Return whether a number or memory may have a cotangent."""
    if type(node) is Active:
        return bool(np.any(node.grad))
    return type(node) is not Memory or node.grad is not None


def vjp_inside(
    outer: Mode, f: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the output of a function and its pullback, both inside a derivative."""
    apart = ArgumentsApart(f, range(len(args)), args, {}, whole=True)
    kept = apart.args

    def call(ctx: Mode) -> Any:
        begin()
        output = ctx.call(f, *kept)
        ctx.close_gate()
        ended(ctx)
        return output

    setting = Setting(outer, *outer.outers)
    with apart:
        y = run_inside(outer, name_of(f), call, setting)
    expected = Fingerprint(y)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients of the arguments for a cotangent of the output."""
        with setting.again():
            return pull_back(enclosing(), f, kept, cotangent, expected)

    return y, pullback


def pull_back(
    outer: Mode | None,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    cotangent: Any,
    expected: Fingerprint,
) -> tuple[Any, ...]:
    """Return the gradient of <f(*args), cotangent> for each argument, inside the outer call."""
    chosen = [i for i, a in enumerate(args) if is_differentiable(Leaves(outer).visit(a)[1])]
    # The function may write to what the cotangent shares memory with, before it is read.
    cotangent = FollowedCopier(outer, share_others=True).copy(cotangent)
    call = Call(pushforward.weighed, [i + 2 for i in chosen], True, (f, cotangent, *args), {})

    def refusal(raised: Exception | None = None) -> NestedDerivativeError:
        if outer is None:
            return something_else(definition_of(f), name_of(f), raised=raised)
        where = outside(outer.user_location(), f)
        return outer.failed(something_else(where, name_of(f), raised=raised))

    with repeating(refusal):
        (_, y), gradients = gradients_of(outer, False, call)
    if not Fingerprint(y).matches(expected):
        raise refusal()
    found = dict(zip(chosen, gradients, strict=True))
    return tuple(found.get(i, NoTangent()) for i in range(len(args)))


# Inside forward mode.


def gradient_in_forward_mode(
    outer: ForwardContext, debug: bool, call: Call
) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a function and its gradients, with their tangents."""
    f = call.f
    leaves = Leaves(outer)
    _, _, trees = call.lift(leaves)
    pairs = [outer.split(part) for part, _ in leaves.found]
    shells: list[Shell] = []
    caches = copied(outer.caches)

    def run_on(z: Any) -> tuple[Any, Any]:
        """Run the function in forward mode, on primals of the context that is running.

        Return the halves of its value, and of what is active in its auxiliary output.
        """
        ctx = enclosing()
        assert ctx is not None  # that of `gradient_inside`
        active = [
            outer.fresh_number(p, t) if type(p) is not ndarray else p
            for p, (_, t) in zip(z, pairs, strict=True)
        ]
        with computing_on(outer, ctx, caches), Replacer(ctx, active) as replacer:
            args, kwargs, _ = call.lift(replacer)
            output, aux = value_and_auxiliary(call, run(outer, f, args, kwargs))
            output = plain_parts(output)
            scalar_value(f, unwrapped(output))
            if not shells:
                shells.append(Shell(outer, aux))
            value, tangent = outer.split(output)
            primals, tangents = shells[0].halves(aux)
            return (value, primals), (zero_like(value) if tangent is None else tangent, tangents)

    def primal_part(z: Any) -> Any:
        return run_on(z)[0]

    def tangent_part(z: Any) -> Any:
        return run_on(z)[1]

    name = primal_part.__qualname__ = tangent_part.__qualname__ = name_of(f)  # in messages
    z = [p for p, _ in pairs]
    below = outer.base
    primals = Call(primal_part, [0], True, (z,), {})
    with Draws() as draws:
        (value, aux), (g,) = gradient_inside(below, debug, primals)
    again = repeating(lambda error: something_else(definition_of(f), name, raised=error))
    with draws.again(), again:
        (dvalue, daux), (dg,) = gradient_inside(below, debug, primals._replace(f=tangent_part))
    for (_, known), p, t in zip(leaves.found, g, dg, strict=True):
        known.gradient = outer.fresh(p, t)
    value = outer.fresh(value, dvalue)
    return (value, shells[0].filled(aux, daux)) if call.has_aux else value, call.gradients(trees)


def run_inside_forward_mode(
    outer: ForwardContext, name: str, call: Callable[[Mode], Any], setting: Setting | None
) -> Any:
    """Run something in its own context inside forward mode."""
    shells: list[Shell] = []
    caches = copied(outer.caches)

    def run_below(ctx: Mode) -> Any:
        with computing_on(outer, ctx, caches):
            output = call(outer)
            if not shells:
                shells.append(Shell(outer, output))
            return shells[0].halves(output)

    primals, tangents = run_inside(outer.base, name, run_below, setting)
    return shells[0].filled(primals, tangents)


@contextmanager
def computing_on(outer: ForwardContext, ctx: Mode, caches: dict[int, Any]) -> Iterator[None]:
    """Let a forward-mode call compute on top of another context meanwhile.

    What it caches then is active there, and is computed again elsewhere.  Each run finds the caches
    of the first one.
    """
    kept, outer.caches = outer.caches, copied(caches)
    try:
        with outer.based_on(ctx), enclosed(None):
            yield
    except Exception as error:
        held = [(e.args, own_attributes(e)) for e in related(error)]
        if not isinstance(error, MooncakeError) and holds_tangents(outer, held):
            refuse_to_catch((outer, *outer.outers), error, outer.user_location())
        raise
    finally:
        outer.caches = kept


def holds_tangents(outer: ForwardContext, held: Any) -> bool:
    """Return whether a value holds numbers or arrays that have a tangent."""
    return any(
        outer.split(lowered(outer, part))[1] is not None for part in held_foreign(None, held, set())
    )
