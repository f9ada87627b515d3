"""Rules with a jvp of ours, applied to numbers, arrays and sequences of these in one pass.

As in :mod:`mooncake_py.application.flat_operands`, where all classes are known.
Measured: the tangent of `np.concatenate` of two arrays of three elements 31 to 9 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.application.flat_operands import INEXACT, NUMBERS, NUMERIC, is_usual
from mooncake_py.modes.forward.pushforward import of_jvp
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.rules.kinds import VjpRule
from mooncake_py.rules.sequences import takes_sequences
from mooncake_py.rules.shortcuts import Shortcut, are_finite
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.quiet import Quiet, Unheard, is_strict
from mooncake_py.runtime.values import FLOAT64

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["Pushed", "push_flat"]


class Pushed(NamedTuple):
    """An output, its tangent, whether that is new memory like it, and the primals."""

    y: Any
    t: Any
    alike: bool
    primals: list[Any]


def push_flat(rule: VjpRule, ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Pushed | None:
    """Return the output and tangent that a rule computes; None for the general way."""
    jvp = rule.jvp or rule.plain_jvp
    is_short = type(rule) is Shortcut
    if is_short and kwargs:
        args, kwargs = rule.by_position(args, kwargs)
    if jvp is None or not ctx.plain or ctx.is_stacked or not is_usual(rule, ctx, f, args, kwargs):
        return None
    primals: list[Any] = []
    tangents: list[Any] = []
    if not survey(ctx, args, primals, tangents, takes_sequences(jvp)):
        return None
    if is_short:
        with Quiet():
            serves = rule.takes(primals, tangents, kwargs)
        if not serves:
            return None
    with Unheard() as block:
        found = pushed(rule, f, kwargs, primals, tuple(tangents))
    if found is not None and (block.noticed or is_strict()):
        f(*primals, **kwargs)  # what NumPy has to say
    return found


def pushed(
    rule: VjpRule, f: Any, kwargs: Any, primals: list[Any], tangents: tuple[Any, ...]
) -> Pushed | None:
    """Return output and tangent for numbers, arrays and lists of them."""
    jvp: Any = rule.jvp or rule.plain_jvp
    is_short = type(rule) is Shortcut
    y = f(*primals, **kwargs)
    t = jvp(tangents, y, *primals, **kwargs)
    if t is NotImplemented or (is_short and not are_finite((y,))):
        return None
    if type(y) is ndarray:
        if type(t) is ndarray and t.dtype is FLOAT64 and surely_finite(t):
            alike = t.dtype is y.dtype and t.strides == y.strides and t.shape == y.shape
            return Pushed(y, t, alike and t.base is None and y.base is None, primals)
    elif (type(y) is float or type(y) is np.float64) and type(t) in NUMBERS and t - t == 0:
        return Pushed(y, type(y)(t), True, primals)
    if rule.jvp is None or is_short:
        return Pushed(y, t, False, primals) if are_finite((t,)) else None
    t = of_jvp(lambda ts, y, *ps: jvp(ts, y, *ps, **kwargs), tangents, y, primals)
    return Pushed(y, t, False, primals)


def survey(
    ctx: ForwardContext, args: Any, primals: Any, tangents: Any, sequences: bool
) -> bool | None:
    """Fill in the lists; return whether there is a tangent, None for the general way."""
    moves = False
    known = ctx.blocks.known.get
    for a in args:
        tangent: Any = None
        t = type(a)
        if t is ndarray:
            block = known(id(a))
            if block is not None and block.ref() is a:
                tangent = block.tangent
            elif a.base is not None:
                tangent = ctx.blocks.tangent_of(a)
            dtype = a.dtype
            if dtype is not FLOAT64 and dtype.kind not in (NUMERIC if tangent is None else INEXACT):
                return None
        elif t is Active:
            if a.context is not ctx or type(a.primal) is Active:
                return None
            a, tangent = ctx.split(a)
        elif t is list or t is tuple:
            parts: list[Any] = []
            if NUMBERS.issuperset(map(type, a)):
                parts.extend(a)
            else:
                inner: list[Any] = []
                found = survey(ctx, a, parts, inner, sequences)
                if found is None or (found and not sequences):
                    return None
                tangent = inner if found else None
            a = t(parts)
        elif t not in INERT:
            return None
        primals.append(a)
        tangents.append(tangent)
        moves = moves or tangent is not None
    return moves
