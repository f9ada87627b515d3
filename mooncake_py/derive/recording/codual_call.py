"""Calling a hand-written rule of the CoDual interface from the tape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording import pulls
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.reports.places import position_for_rule
from mooncake_py.rules.kinds import CoDualRule
from mooncake_py.tangents import CoDual, NoFData, NoRData, zero_rdata

__all__ = ["ArrayCoDual", "apply_codual", "pull_codual"]


class ArrayCoDual(CoDual):
    """An array with its shadow on the tape, made only when the rule asks for it."""

    __slots__ = ("_node",)

    def __init__(self, primal: ndarray, node: Any) -> None:
        super().__init__(primal, None)
        self._node = node

    @property
    def fdata(self) -> Any:
        """The shadow: from now on it stays the same array."""
        return self._node.pin()

    def increment(self, g: Any) -> None:
        """Add a cotangent, which may stay deferred."""
        self._node.add_shared(np.asarray(g))


def apply_codual(rule: CoDualRule, ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the forward pass of a hand-written rule and record its pullback."""
    if not any(map(ctx.contains_active, args)) and rule.mutates == ():
        return f(*args, **kwargs)
    coduals = [
        codual_of(ctx, a, rule.mutates is None or i in rule.mutates) for i, a in enumerate(args)
    ]
    protect_arrays(ctx, (*args, *kwargs.values()))
    out, pullback = rule.rule(CoDual(f, NoFData()), *coduals, **kwargs)
    result, node = output_of(ctx, out)
    where = position_for_rule(rule.origin)
    ctx.record((pull_codual, node, pullback, out, list(args), coduals, rule, where))
    return result


def codual_of(ctx: Any, value: Any, written: bool) -> CoDual:
    """Pair an argument with its shadow; a constant that may be written becomes active."""
    t = type(value)
    if t is ndarray:
        node = ctx.find(value)
        if node is None and written and value.dtype.kind in "fc" and value.flags.writeable:
            node = ctx.registry.activate(value)
        if node is None:
            return CoDual(value, NoFData())
        memory = node.memory
        if memory.shape is None:
            ctx.registry.activate(value)
        return ArrayCoDual(value, node)
    if t is Active:
        return CoDual(value.primal, NoFData())
    if t is tuple or t is list:
        parts = [codual_of(ctx, v, written) for v in value]
        fdata = t(part.fdata for part in parts)
        if all(type(part) is NoFData for part in fdata) and t is tuple:
            fdata = NoFData()
        elif t is list:
            # A list carries the cotangents of its floats in its own fdata.
            fdata = [
                zero_rdata(p.primal) if type(v) is Active else p.fdata
                for p, v in zip(parts, value, strict=True)
            ]
        holds_active = any(type(v) is Active for v in value)
        primal = t(p.primal for p in parts) if t is tuple or holds_active else value
        return CoDual(primal, fdata)
    return CoDual(value, NoFData())


def protect_arrays(ctx: Any, value: Any) -> None:
    """Protect what the rule's pullback may refer to."""
    if type(value) is ndarray:
        ctx.registry.memory_of(value).protected = True
    elif type(value) is tuple or type(value) is list:
        for part in value:
            protect_arrays(ctx, part)


def output_of(ctx: Any, out: CoDual) -> tuple[Any, Any]:
    """Return the output as the user sees it, and the node that receives its cotangent."""
    y = out.primal
    if type(y) is ndarray and y.dtype.kind in "fc":
        if ctx.find(y) is not None:
            return y, None  # memory of an argument
        node = ctx.registry.fresh(y)
        node.protect()
        return y, node
    if isinstance(y, (float, complex, np.inexact)):
        node = Active(y, ctx)
        return node, node
    if type(y) is tuple:
        pairs = [output_of(ctx, CoDual(p, d)) for p, d in zip(y, parts_of(out), strict=True)]
        return tuple(value for value, _ in pairs), tuple(node for _, node in pairs)
    return y, None


def parts_of(out: CoDual) -> Any:
    """Return the fdata of each element of a tuple."""
    fdata = out.fdata
    return fdata if type(fdata) is tuple else (NoFData(),) * len(out.primal)


@pulls.undoes
def pull_codual(entry: tuple[Any, ...]) -> None:
    """Run the pullback of a hand-written rule."""
    _, node, pullback, out, args, coduals, _, _ = entry
    give_fdata(out, node)
    rdata = pullback(rdata_of(node, out.primal))
    for value, codual, r in zip(args, coduals, rdata[1:], strict=True):
        collect(value, codual, r)


def give_fdata(out: CoDual, node: Any) -> None:
    """Put the cotangent of an array output where the rule will look for it: its fdata."""
    if type(node) is tuple and type(out.fdata) is tuple:
        for data, part in zip(out.fdata, node, strict=True):
            g = None if part is None or type(part) is Active else part.take()
            if g is not None:
                data += g
        return
    if node is None or isinstance(node, tuple) or type(node) is Active:
        return
    g = node.take()
    if g is None:
        return
    if getattr(out, "_fdata", None) is None:  # zeros that nobody has asked for yet
        out._fdata = g
    else:
        shadow = out.fdata
        shadow += g


def rdata_of(node: Any, primal: Any) -> Any:
    """Return the rdata of an output from the cotangents on the tape."""
    if type(node) is Active:
        g = node.take()
        zero = zero_rdata(primal)
        return zero if g is None else zero + type(zero)(g) if type(zero) is not type(g) else g
    if type(primal) is tuple and type(node) is tuple:
        parts = tuple(rdata_of(n, p) for n, p in zip(node, primal, strict=True))
        return NoRData() if all(type(p) is NoRData for p in parts) else parts
    return zero_rdata(primal)


def collect(value: Any, codual: CoDual, rdata: Any) -> None:
    """Add the rdata of an argument, and what a list's fdata gathered, to the nodes."""
    if type(value) is Active:
        if type(rdata) is not NoRData:
            value.add(rdata)
    elif type(value) is tuple and type(rdata) is tuple:
        for part, r in zip(value, rdata, strict=True):
            if type(part) is Active and type(r) is not NoRData:
                part.add(r)
    elif type(value) is list and type(codual.fdata) is list:
        for part, d in zip(value, codual.fdata, strict=True):
            if type(part) is Active:
                part.add(d)


