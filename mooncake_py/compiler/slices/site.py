"""The site of a loop with statements on slices.

The trial runs with NumPy's errors raised: where a statement would warn, it runs as it is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.callees import Callees
from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.emit_scalar import Emitter
from mooncake_py.compiler.evaluate import passes
from mooncake_py.compiler.forms import Form, Pattern, arrays_of, inferred, written
from mooncake_py.compiler.ir import For, Region, Sliced, statements
from mooncake_py.compiler.partials import NoPartial
from mooncake_py.compiler.site import Site, TangentSite
from mooncake_py.compiler.slices.forms import SlicedForm
from mooncake_py.compiler.slices.plans import plan_of
from mooncake_py.compiler.slices.sweeps import adjoint_on_slices
from mooncake_py.compiler.slices.tangent import SlicedPushforward
from mooncake_py.compiler.slices.whole_names import may_be_arrays, with_arrays
from mooncake_py.compiler.statements.scope import SCOPE
from mooncake_py.compiler.tangent import tangent
from mooncake_py.overriding import override
from mooncake_py.runtime.values import FLOAT64

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Language
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["SlicedSite"]

FEWEST = 24
"""Statements, in all passes, from which on the way in and out costs less than it saves.

Measured: 25 us a loop; a statement that is an entry takes 2 us more than within a region.
"""
BYTES = 2048  # to be copied for each pass, at most: what takes as long as a statement saves


class SlicedSite(Site):
    """A region with statements on slices."""

    bytes = BYTES

    def __init__(self, region: Region, callees: Callees | None = None) -> None:
        super().__init__(region, callees)
        self.all_callees = callees
        self.whole = tuple(sorted(region.whole))
        self.loose = may_be_arrays(region)
        self._with_arrays: dict[tuple[str, ...], SlicedSite] = {}
        if self.fewest > 1:  # else there are loops within
            self.fewest = max(self.fewest, FEWEST // len(region.sliced))

    @override
    def run(self, ctx: Language, functions: Any, values: Any) -> Any:
        if self.loose:
            given = zip(self.region.inputs, values[1:], strict=True)
            names = tuple(name for name, v in given if type(v) is ndarray and name in self.loose)
            if names:
                return self.with_arrays(names).run(ctx, functions, values)
        return super().run(ctx, functions, values)

    def with_arrays(self, names: tuple[str, ...]) -> SlicedSite:
        """Return the site of the region in which some names are arrays."""
        if names not in self._with_arrays:
            region = with_arrays(self.region, names)
            self._with_arrays[names] = SlicedSite(region, self.all_callees)
        return self._with_arrays[names]

    @override
    def forms(self) -> Iterator[str]:
        yield from super().forms()
        for site in self._with_arrays.values():
            yield from site.forms()

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
        return super().serves(inputs) and all(a.dtype is FLOAT64 for a in floats)

    @override
    def is_worth(self, steps: range | None, inputs: dict[str, Any]) -> bool:
        loop = self.region.loop
        if steps is None:
            return False
        assert isinstance(loop, For)
        if self.fewest == 1:
            count = passes(loop, steps, dict(inputs)) * len(self.region.sliced)
            if count < FEWEST:
                return False
        return super().is_worth(steps, inputs)

    @override
    def axes(self, inputs: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple([np.ndim(inputs[name]) if name in self.whole else 0 for name in self.arrays])

    @override
    def made(self, pattern: Pattern) -> Form | None:
        found = inferred(self.region, pattern)
        if found is None:
            return None
        axes = dict(zip(arrays_of(found.region), pattern.axes, strict=True))
        emitter = Emitter()
        emitter.scope = {**SCOPE, **emitter.scope, "isfinite": math.isfinite}
        forms: dict[int, SlicedForm] = {}
        for s in statements(found.types.body):
            if isinstance(s, Sliced):
                plan = plan_of(s, pattern.functions, axes, found.active)
                if plan is None:
                    return None
                forms[id(s)] = SlicedForm(s, plan, emitter.scope, len(forms), found.active, axes)
        try:
            sweeps = adjoint_on_slices(
                found.types.body, found.active, found.fixed, found.region.counts, forms,
                found.groups, axes,
            )  # fmt: skip
        except NoPartial:
            return None
        return written(found, sweeps, emitter, self.whole)

    @override
    def run_forward(self, form: Form, *args: Any) -> Any:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return form.forward(*args)

    @override
    def push(
        self, ctx: ForwardMode, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        if ctx.several or not self.is_worth(self.steps(steps, inputs), inputs):
            return Elsewhere
        return super().push(ctx, functions, steps, inputs)

    @override
    def made_tangent(
        self, region: Region, functions: tuple[Any, ...], active: set[str]
    ) -> TangentSite:
        kind = partial(SlicedPushforward, functions, region.arrays)
        return SlicedTangentSite(tangent(region, active, kind), self.callees)


class SlicedTangentSite(TangentSite, SlicedSite):
    """Where the tangent of such a region runs in the mode below."""
