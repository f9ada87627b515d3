"""The site of a loop with statements on slices.

The trial runs with NumPy's errors raised: where a statement would warn, it runs as it is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.derivatives.tangent import tangent
from mooncake_py.compiler.forms.form import Form, Pattern, Special, arrays_of, inferred, written
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.regions.evaluate import passes
from mooncake_py.compiler.regions.indices import EVERYTHING
from mooncake_py.compiler.regions.ir import For, Sliced
from mooncake_py.compiler.regions.region import Axes, Region
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.items import Items, Pairs
from mooncake_py.compiler.sites.site import Site, TangentSite
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.slices.calls.forms import CallForm, call_form
from mooncake_py.compiler.slices.forms import SlicedForm
from mooncake_py.compiler.slices.lists import ArrayItems, ArrayPairs, are_arrays
from mooncake_py.compiler.slices.on_arrays import on_arrays
from mooncake_py.compiler.slices.plans import plan_of
from mooncake_py.compiler.slices.ranks import Ranks, UnknownRankError
from mooncake_py.compiler.slices.sweeps import adjoint_on_slices, sliced
from mooncake_py.compiler.slices.tangent import SlicedPushforward
from mooncake_py.compiler.slices.variables import Variables
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.scope import SCOPE
from mooncake_py.compiler.statements.statement import View, is_operand, position_of
from mooncake_py.overriding import override
from mooncake_py.runtime.values import FLOAT64
from mooncake_py.tangents.memory import owner as owner_of

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["site_on_arrays"]

FEWEST = 24
"""Statements, in all passes, from which on the way in and out costs less than it saves.

Measured: 25 us a loop; a statement that is an entry takes 2 us more than within a region.
"""
BYTES = 8192  # to be copied for each pass, at most: what takes as long as a statement saves
COPIES = 1 << 15  # bytes that may be copied in each pass, of arrays of which parts are changed


class SlicedSite(Site):
    """A region with statements on slices."""

    bytes = BYTES

    def __init__(self, region: Region, callees: Callees | None = None) -> None:
        super().__init__(region, callees)
        self.whole = tuple(sorted(region.whole))
        self.changes = sum(s.written in region.variables for s in region.sliced)
        self.fewest = FEWEST // len(region.sliced) if self.effort.is_flat else 1

    @override
    def record(
        self, ctx: ReverseMode, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        if ctx.meter is not None:  # which counts the passes, for who watches
            return Elsewhere
        return super().record(ctx, functions, steps, inputs)

    @override
    def serves(self, inputs: Mapping[str, Any]) -> bool:
        floats = [inputs[name] for name in self.whole if name not in self.region.data]
        if not super().serves(inputs) or any(a.dtype is not FLOAT64 for a in floats):
            return False
        lists = self.region.lists
        others = {id(a) for name, a in self.lists(inputs) if name not in lists}
        return others.isdisjoint([id(inputs[name]) for name in lists])

    @override
    def is_short(self, steps: range | None, inputs: dict[str, Any]) -> bool:
        return self.effort.is_flat and steps is not None and len(steps) < self.fewest

    @override
    def is_worth(self, steps: range | None, inputs: dict[str, Any]) -> bool:
        loop = self.region.loop
        if steps is None:
            return False
        assert isinstance(loop, For)
        if not self.effort.is_flat:
            count = passes(loop, steps, dict(inputs)) * len(self.region.sliced)
            if count < FEWEST:
                return False
        if self.changes * largest_of(inputs) > COPIES:
            return False
        return super().is_worth(steps, inputs)

    @override
    def axes(self, inputs: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple([
            inputs[name].axes if name in self.region.lists
            else np.ndim(inputs[name]) if name in self.whole else 0
            for name in self.arrays
        ])  # fmt: skip

    @override
    def items(
        self, ctx: Tracking, inputs: Mapping[str, Any], name: str, only_grows: bool
    ) -> Items | None:
        if name not in self.region.lists:
            return super().items(ctx, inputs, name, only_grows)
        written = [inputs[other] for other in self.written]
        owners = {id(owner_of(a)) for a in written if type(a) is np.ndarray}
        return ArrayItems.of_arrays(ctx, inputs[name], len(inputs[name]) * only_grows, owners)

    @override
    def pairs(
        self, ctx: ForwardMode, inputs: Mapping[str, Any], name: str, only_grows: bool
    ) -> Pairs | None:
        if name not in self.region.lists:
            return super().pairs(ctx, inputs, name, only_grows)
        pairs = ArrayPairs(ctx, inputs[name], len(inputs[name]) * only_grows)
        return pairs if are_arrays(pairs.primals) else None

    @override
    def made(self, pattern: Pattern) -> Form | None:
        found = inferred(self.region, pattern)
        if found is None:
            return None
        emitter = Emitter()
        emitter.scope = {**SCOPE, **emitter.scope, "isfinite": math.isfinite, "zeros": np.zeros}
        region, body = found.region, found.types.body
        variables = region.variables
        given = zip(arrays_of(region), pattern.axes, strict=True)
        axes = {name: count for name, count in given if count}
        if variables:
            if not may_be_bound(found):
                return None
            try:
                axes = Ranks(body, pattern.functions, axes).found
            except UnknownRankError:
                return None
            if not are_of_one_rank(found, axes):
                return None
        forms: dict[int, SlicedForm | CallForm] = {}
        for s in sliced(body):
            form = form_of(s, pattern.functions, len(forms), found, axes, emitter.scope)
            if form is None:
                return None
            forms[id(s)] = form
        tangents = {v: [t for t in variables if region.like.get(t) == v] for v in variables}
        try:
            sweeps = adjoint_on_slices(
                body, found.active, found.fixed, region.counts, forms, found.groups, axes, tangents
            )
        except NoPartial:
            return None
        return written(found, sweeps, emitter, self.whole)

    @override
    def variables(
        self, ctx: ReverseMode, form: Form, inputs: dict[str, Any], arrays: dict[str, Any]
    ) -> Variables:
        return Variables(ctx, form, inputs, arrays)

    @override
    def run_forward(self, form: Form, *args: Any) -> Any:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return form.forward(*args)

    @override
    def push(
        self, ctx: ForwardMode, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        if ctx.several or not self.is_worth(self.steps(steps, inputs), inputs):
            self.has_form = False
            return Elsewhere
        return super().push(ctx, functions, steps, inputs)

    @override
    def made_tangent(
        self, region: Region, functions: tuple[Any, ...], active: set[str]
    ) -> TangentSite:
        kind = partial(SlicedPushforward, functions, region.arrays, region.variables)
        return SlicedTangentSite(tangent(region, active, kind), self.callees)


def site_on_arrays(
    region: Region,
    functions: tuple[Any, ...],
    axes: Axes,
    local: frozenset[str],
    callees: Callees,
) -> SlicedSite | None:
    """Return where a region runs on arrays of so many axes, or None if it cannot."""
    found = on_arrays(region, functions, axes, local)
    return None if found is None or not found.sliced else SlicedSite(found, callees)


def form_of(
    s: Sliced,
    functions: tuple[Any, ...],
    number: int,
    found: Special,
    axes: Mapping[str, int],
    scope: dict[str, Any],
) -> SlicedForm | CallForm | None:
    """Return the form of a statement, or None if it cannot be part of a region."""
    if arguments_of(s.statement.value) is not None:
        return call_form(s, functions, number, found, axes, scope)
    variables = found.region.variables
    plan = plan_of(s, functions, axes, found.active, variables)
    if plan is None or not is_steady(s, plan, found):
        return None
    return SlicedForm(s, plan, scope, number, found.active, axes, variables)


def may_be_bound(found: Special) -> bool:
    """Return True if no name is bound, before the region, to an array that the region writes."""
    written = {found.groups[array] for array in found.region.written() if array in found.groups}
    return not any(found.groups.get(name) in written for name in found.region.variables)


def are_of_one_rank(found: Special, axes: Mapping[str, int]) -> bool:
    """Return True if what is appended to a list by several names has as many axes."""
    lists = found.region.lists
    groups = {found.groups[name] for name in lists}
    return len({(found.groups[name], axes.get(name)) for name in lists}) == len(groups)


def is_steady(s: Sliced, plan: Plan, found: Special) -> bool:
    """Return True if a name is bound to a new array, or to one that the region does not change."""
    if plan.target is not None or plan.whole is None or not is_operand(plan.core.root):
        return True
    part = plan.layout[position_of(plan.core.root)]
    if not isinstance(part, tuple) or isinstance(part, View) or s.values[part[1]] != EVERYTHING:
        return False
    name = s.values[part[0]].name
    return name in found.region.variables or name in found.fixed


def largest_of(inputs: Mapping[str, Any]) -> int:
    """Return how many bytes the largest array takes; those that are made are about as large."""
    return max((a.nbytes for a in inputs.values() if type(a) is np.ndarray), default=0)


class SlicedTangentSite(TangentSite, SlicedSite):
    """Where the tangent of such a region runs in the mode below."""
