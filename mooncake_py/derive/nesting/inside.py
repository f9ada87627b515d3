"""Derivatives inside a function that is being differentiated, in reverse or in forward mode.

Inside a reverse pass, an inner derivative runs by itself on the way forward and leaves one entry.
On the way back the entry runs it again, in a way that can be reversed:

- a gradient G of f has a symmetric Jacobian, so that with a cotangent v of G

      J* v = gradient of <v, G> = gradient of the derivative of f along v,

  which is reverse mode over forward mode (Pearlmutter, *Fast exact multiplication by the
  Hessian*, 1994; Christianson, *Automatic Hessians by reverse accumulation*, 1992);
- anything else (a directional derivative, the output of `vjp`) just runs again, recorded.

What is active outside and is met inside, by whatever name, takes part as an input.
Inside forward mode, the tangent of a gradient is the gradient of the tangent: both are inner
derivatives of the context below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.calls.draws import Draws
from mooncake_py.derive.crossing.arguments import name_of
from mooncake_py.derive.crossing.differentiate import run_both_ways
from mooncake_py.derive.crossing.gradients import gradient_of
from mooncake_py.derive.crossing.lift import Lifter
from mooncake_py.derive.crossing.outgoing import independent
from mooncake_py.derive.crossing.outputs import run, scalar_value, seed
from mooncake_py.derive.debug.mode import new_context, settings
from mooncake_py.derive.forward import pushforward
from mooncake_py.derive.forward.context import ForwardContext
from mooncake_py.derive.forward.lift import TangentLifter, give_tangent
from mooncake_py.derive.nesting.agreement import Fingerprint, something_else
from mooncake_py.derive.nesting.enclosing import enclosed, enclosing
from mooncake_py.derive.nesting.inner import InnerContext
from mooncake_py.derive.nesting.setting import Setting
from mooncake_py.derive.nesting.structures import leaves, mapped, rebuilt
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.reports.notes import guarded, locate
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.tangents import NoTangent

__all__ = ["gradient_inside", "pull_back_inside", "run_inside", "vjp_inside"]

Seeds = list[tuple[Any, Any]]
RunAgain = Callable[[InnerContext, Any], tuple[Any, Seeds]]


def gradient_inside(
    outer: Any, debug: bool, f: Callable[..., Any], chosen: Any, has_aux: bool, args: Any,
    kwargs: Any,
) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a function and the gradients for the chosen arguments."""
    if isinstance(outer, ForwardContext):
        with told(outer):
            return gradient_in_forward_mode(outer, debug, f, chosen, has_aux, args, kwargs)
    with enclosed(outer):
        inner: Any = new_context(settings(debug), f, args, kwargs, follows=True)
    try:
        with inner.setting.draws:
            output = run_both_ways(inner, f, chosen, has_aux, args, kwargs)
    finally:
        inner.forget_cotangents()
    if not inner.depends:
        return output

    def run_again(ctx: InnerContext, cotangent: Any) -> tuple[Any, Seeds]:
        value, gradients = cotangent if type(cotangent) is tuple else (None, None)
        return along(ctx, f, chosen, has_aux, args, kwargs, value, gradients)

    return recorded(outer, inner, output, output[0], name_of(f), run_again)


@contextmanager
def told(ctx: Any) -> Iterator[None]:
    """Let a context know of an error that Python code by itself would not raise."""
    try:
        yield
    except NestedDerivativeError as error:
        locate(error, ctx.user_location())
        raise ctx.failed(error) from None


def along(
    ctx: InnerContext, f: Callable[..., Any], chosen: Any, has_aux: bool, args: Any, kwargs: Any,
    value: Any, gradients: Any,
) -> tuple[Any, Seeds]:
    """Run a function forward along the cotangents of its gradients; return result and seeds.

    The seeds are the cotangent of the value for the value, and one for its tangent.
    """
    forward = ForwardContext(ctx, plain=False)
    args, kwargs = list(args), dict(kwargs)
    with TangentLifter(forward) as lifter:
        for key, v in dict(zip(chosen, gradients, strict=True)).items():
            place: Any = args if isinstance(key, int) else kwargs
            place[key], mirror = lifter.visit(place[key])
            give_tangent(forward, mirror, v, f"argument {key}")
        with enclosed(None):
            output = forward.call(f, *args, **kwargs)
        if forward.failure is not None:
            raise forward.failure
    result = output
    if has_aux:
        output, aux = output
        value, aux_cotangent = value
        seeds = [(mapped(forward.primal, aux, others=True), aux_cotangent)]
    else:
        seeds = []
    primal, tangent = forward.split(output)
    seeds.append((primal, value))
    if tangent is not None:
        seeds.append((tangent, np.ones(np.shape(output)) if type(output) is ndarray else 1.0))
    return result, seeds


def run_inside(
    outer: Any, name: str, call: Callable[[Any], Any], setting: Setting | None = None
) -> Any:
    """Run something in a context of its own, inside a derivative, and leave the state as it was.

    Parameters
    ----------
    outer : Context
        Of the derivative.
    name : str
        Of the function, for messages.
    call : callable
        From a context to the output, values of that context: it may run again on the way back.
    setting : Setting, optional
        Filled with what else the output depends on.
    """
    if isinstance(outer, ForwardContext):
        with told(outer):
            return run_inside_forward_mode(outer, name, call, setting)
    inner = InnerContext(outer, follows=True)
    inner.setting = setting or inner.setting
    with inner.setting.draws, told(outer), guarded(inner):
        output = call(inner)
        if inner.failure is not None:
            raise inner.failure
        inner.leave(output)
        output = independent(inner, output)
        inner.roll_back()
    if not inner.depends:
        return output

    def run_again(ctx: InnerContext, cotangent: Any) -> tuple[Any, Seeds]:
        result = call(ctx)
        return result, [(result, cotangent)]

    return recorded(outer, inner, output, output, name, run_again)


def recorded(
    outer: Any, inner: InnerContext, output: Any, result: Any, name: str, again: RunAgain
) -> Any:
    """Make the output of an inner call active in the outer one, and record how to reverse it.

    Running `again` a function with this name returns the same `result`, and seeds.
    """
    for number, _ in inner.numbers.values():
        if number.context is not outer:
            outer.meet(number)
    outer.registry.protect_all()  # the second run reads it again
    with Lifter(outer) as lifter:
        lifted, mirror = lifter.visit(output)
    check = Fingerprint(result), outer.user_location(), name
    outer.record((pull_inside, lifted, mirror, inner, again, check))
    return lifted


def pull_inside(entry: tuple[Any, ...]) -> None:
    """Run an inner call again so that it can be reversed, and reverse it."""
    _, lifted, mirror, before, again, (expected, *where) = entry
    outer = before.outers[0]
    cotangent = gradient_of(independent(outer, lifted), mirror, {})
    inner = InnerContext(outer, follows=True)
    with guarded(inner), before.setting.again():
        result, seeds = again(inner, cotangent)
        if not Fingerprint(result).matches(expected):
            raise something_else(*where)
        for output, g in seeds:
            if g is not None and type(g) is not NoTangent:
                give(inner, output, g)
        inner.run_backwards()
    inner.deliver()


def give(ctx: InnerContext, output: Any, cotangent: Any) -> None:
    """Give a cotangent to an output of any structure; its constant parts take none."""
    if isinstance(output, (tuple, list)):
        for part, g in zip(output, cotangent, strict=True):
            give(ctx, part, g)
    elif isinstance(output, dict):
        for key, part in output.items():
            give(ctx, part, cotangent[key])
    elif type(output) is Active or type(output) is ndarray:
        seed(ctx, output, cotangent, "dy")


def vjp_inside(
    outer: Any, f: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the output of a function and its pullback, both inside a derivative."""
    copies: dict[int, ndarray] = {}  # one of each array: what is the same memory stays it
    met: list[ndarray] = []

    def copied(a: Any) -> Any:
        if type(a) is not ndarray:
            return a
        if id(a) not in copies:
            if any(np.may_share_memory(a, other) for other in met):
                raise overlapping(outer)
            met.append(a)
            copies[id(a)] = outer.call(np.array, a)
        return copies[id(a)]

    kept = mapped(copied, args, others=True)

    setting = Setting(outer)
    y = run_inside(outer, name_of(f), lambda ctx: ctx.call(f, *kept), setting)
    expected = Fingerprint(y)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients of the arguments for a cotangent of the output."""
        with setting.again():
            return pull_back_inside(enclosing(), f, kept, cotangent, expected)

    return y, pullback


def overlapping(ctx: Any) -> NestedDerivativeError:
    """Return the error for arguments that share memory, but are not one array."""
    return ctx.failed(
        NestedDerivativeError(
            "arguments of vjp that share memory, inside another derivative",
            where=ctx.user_location(),
            why="vjp works on copies of its arguments, which would no longer share it",
            mend="take the views inside of the function: vjp(lambda x: f(x, x[1:]), x)",
        )
    )


def pull_back_inside(
    outer: Any, f: Callable[..., Any], args: tuple[Any, ...], cotangent: Any, expected: Fingerprint
) -> tuple[Any, ...]:
    """Return the gradient of <f(*args), cotangent> for each argument."""
    chosen = [i for i, a in enumerate(args) if not inert(a)]
    (_, y), gradients = gradient_inside(
        outer, False, pushforward.weighed, [i + 2 for i in chosen], True, (f, cotangent, *args), {}
    )
    if not Fingerprint(y).matches(expected):
        raise outer.failed(something_else(outer.user_location(), name_of(f)))
    found = dict(zip(chosen, gradients, strict=True))
    return tuple(found.get(i, NoTangent()) for i in range(len(args)))


def inert(value: Any) -> bool:
    """Tell whether an argument has no derivative."""
    if isinstance(value, ndarray):
        return value.dtype.kind not in "fc"
    return isinstance(value, (int, str, bytes, type(None))) or callable(value)


# Inside forward mode.


def gradient_in_forward_mode(
    outer: ForwardContext, debug: bool, f: Callable[..., Any], chosen: Any, has_aux: bool,
    args: Any, kwargs: Any,
) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a function and its gradients, with their tangents."""
    wanted = [args[key] if isinstance(key, int) else kwargs[key] for key in chosen]
    parts = leaves(wanted)
    pairs = [outer.split(part) for part in parts]

    def run_on(z: Any) -> Any:
        """Run the function in forward mode, on primals of the context that is running."""
        ctx = enclosing()
        active = [
            outer.fresh_number(p, t) if type(p) is not ndarray else p
            for p, (_, t) in zip(z, pairs, strict=True)
        ]
        new_args, new_kwargs = list(args), dict(kwargs)
        for key, value in zip(chosen, rebuilt(wanted, active), strict=True):
            (new_args if isinstance(key, int) else new_kwargs)[key] = value
        with outer.based_on(ctx), enclosed(None):
            output, aux = run(outer, f, tuple(new_args), new_kwargs, False)[0], None
            if has_aux:
                output, aux = output
            scalar_value(f, mapped(outer.primal, output))
            return halves(outer, (output, aux))

    def primal_part(z: Any) -> Any:
        (value, aux), _ = run_on(z)
        return value, aux

    def tangent_part(z: Any) -> Any:
        _, (value, aux) = run_on(z)
        return value, aux

    primal_part.__qualname__ = tangent_part.__qualname__ = name_of(f)  # in messages
    z = [p for p, _ in pairs]
    below = outer.base
    with Draws() as draws:
        (value, aux), (g,) = gradient_inside(below, debug, primal_part, [0], True, (z,), {})
    with draws.again():
        (dvalue, daux), (dg,) = gradient_inside(below, debug, tangent_part, [0], True, (z,), {})
    gradients = rebuilt(wanted, [joined(outer, *pair) for pair in zip(g, dg, strict=True)])
    value = joined(outer, value, dvalue)
    result = (value, joined(outer, aux, daux)) if has_aux else value
    return result, tuple(gradients)


def run_inside_forward_mode(
    outer: ForwardContext, name: str, call: Callable[[Any], Any], setting: Setting | None
) -> Any:
    """Run something in a context of its own inside forward mode."""

    def run_below(ctx: Any) -> Any:
        with outer.based_on(ctx):
            return halves(outer, call(outer))

    return joined(outer, *run_inside(outer.base, name, run_below, setting))


def halves(ctx: ForwardContext, value: Any) -> tuple[Any, Any]:
    """Return the primals of a value and their tangents, both in its structure."""
    return mapped(ctx.primal, value), mapped(lambda leaf: tangent_or_zero(ctx, leaf), value)


def tangent_or_zero(ctx: ForwardContext, leaf: Any) -> Any:
    primal, tangent = ctx.split(leaf)
    if tangent is not None:
        return tangent
    return np.zeros_like(primal) if type(primal) is ndarray else 0.0


def joined(ctx: ForwardContext, primal: Any, tangent: Any) -> Any:
    """Return primals with their tangents."""
    parts = zip(leaves(primal), leaves(tangent), strict=True)
    return rebuilt(primal, [ctx.fresh(p, t) for p, t in parts])
