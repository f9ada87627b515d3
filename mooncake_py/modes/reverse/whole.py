"""Gradients of functions that are compiled whole: two calls of compiled code, and no tape.

The function runs on copies of the arrays that it writes, so that nothing has to be put back.
Where anything is unusual nothing has been done, and the general way is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.apart import is_watched
from mooncake_py.compiler.native.form import Form
from mooncake_py.compiler.native.reader import Output
from mooncake_py.compiler.native.region import REAL
from mooncake_py.compiler.native.region_site import in_order
from mooncake_py.compiler.native.site import FunctionSite, Reread, given_back, site_of
from mooncake_py.compiler.native.spares import STACK
from mooncake_py.compiler.native.storage import Storage
from mooncake_py.diagnostics.meter import reporter
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.active import Active

__all__ = ["WholeGradient", "gradient_of_whole"]

Result = tuple[Any, tuple[Any, ...]]
VALUES = frozenset({float, np.float64, np.float32, int, np.int64})
PLAIN = frozenset({type(None), bool, str})


def gradient_of_whole(
    f: Any,
    chosen: Sequence[int | str],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    storage: Storage | None = None,
) -> Result | None:
    """Return the result and the gradients of a call, or None if it goes the general way.

    For a call that no other derivative, and nobody who looks on, is round.

    Parameters
    ----------
    chosen : sequence of int and str
        Positions and keywords of the arguments to differentiate with respect to.
    storage : Storage, optional
        By default what earlier calls left, and new memory for what is given back.
    """
    if type(f) is not FunctionType or reporter.get() is not None or is_watched():
        return None
    if not (ReverseContext.fuses and ReverseContext.tries_loops):
        return None
    site = site_of(f)
    found = None if site is None else site.matched(f, args, kwargs)
    if site is None or found is None:
        return None
    reading, inputs = found
    if Active in map(type, inputs.values()) or not reading.site.is_tried(inputs):
        return None
    whole = whole_gradient(site, reading, tuple(chosen), has_aux)
    return None if whole is None else whole.run(inputs, storage or whole.form.spares)


def whole_gradient(
    site: FunctionSite, reading: Reread, chosen: tuple[int | str, ...], has_aux: bool
) -> WholeGradient | None:
    """Return how the gradient is computed, None if not in this way; found out once."""
    key = chosen, has_aux
    if key not in reading.gradients:
        reading.gradients[key] = WholeGradient.of(site, reading, chosen, has_aux)
    return reading.gradients[key]


class WholeGradient:
    """How the gradient of a function is computed with respect to some of its inputs.

    Parameters
    ----------
    names : sequence of str
        Of these inputs.
    value : Output
        The number that is differentiated.
    aux : Output or None
    """

    def __init__(
        self, reading: Reread, form: Form, names: Sequence[str], value: Output, aux: Output | None
    ) -> None:
        self.site = reading.site
        self.form = form
        self.names = names
        self.value = value
        self.aux = aux
        self.found = (*form.results, *form.made)

    @classmethod
    def of(
        cls, site: FunctionSite, reading: Reread, chosen: Sequence[int | str], has_aux: bool
    ) -> WholeGradient | None:
        """Return it, or None if the function gives back, or is given, something else."""
        region = reading.site.region
        positions = [k if isinstance(k, int) else site.parameters.index(k) for k in chosen]
        at = [reading.places[k] for k in positions]
        names = [region.inputs[k] for k in at if k is not None]
        value, aux = reading.output, None
        if has_aux and value.kind == "tuple" and len(value.items) == 2:
            value, aux = value.items
            has_aux = not is_copied(aux)
        if (
            has_aux
            or value.kind != "number"
            or None in at
            or not REAL.issuperset([region.kinds[name] for name in names])
        ):
            return None
        form = reading.site.form_where(frozenset(names))
        return None if form is None else cls(reading, form, names, value, aux)

    def run(self, inputs: Mapping[str, Any], storage: Storage) -> Result | None:
        """Return the result and the gradients, None where something is unusual."""
        form, site = self.form, self.site
        given = {name: in_order(value) for name, value in inputs.items()}
        for name in site.written:
            given[name] = storage.copied(name, inputs[name])
        ok, S, p, *results = form.forward(storage.stack(), *given.values())
        if not ok or not site.are_finite(form, results, given):
            return None
        site.misses = 0
        values = given | dict(zip(self.found, results, strict=True))
        y = site.typed(self.value.name, values[self.value.name], values)
        if type(y) not in VALUES:
            return None
        aux = None if self.aux is None else self.auxiliary(self.aux, values)
        gradients = self.pulled(S, p, values, 0.0 if type(y) is int else 1.0, storage)
        storage.give(STACK, S)
        for name in site.written:
            storage.give(name, given[name])
        return (y if self.aux is None else (y, aux)), gradients

    def auxiliary(self, output: Output, values: Mapping[str, Any]) -> Any:
        """Return a copy of the auxiliary output, as it is before the way back."""
        found: dict[str, Any] = {}
        for name in self.form.results:
            y = values[name]
            found[name] = y.copy() if type(y) is ndarray else self.site.typed(name, y, values)
        return given_back(output, found)

    def pulled(
        self, S: ndarray, p: int, values: Mapping[str, Any], seed: float, storage: Storage
    ) -> tuple[Any, ...]:
        """Return the gradients, by the way back."""
        form = self.form
        shadows = {name: storage.zeros(name, values[name]) for name in form.shadows}
        numbers: dict[str, float] = {}
        if form.reverse is not None:
            seeds = [seed if name == self.value.name else 0.0 for name in form.outputs]
            saved = [values[name] for name in form.values]
            leaves = form.reverse(S, p, *saved, *shadows.values(), *seeds)
            numbers = dict(zip(form.leaves, leaves, strict=True))
        gradients: list[Any] = []
        for name in self.names:
            x = values[name]
            if type(x) is not ndarray:
                gradients.append(type(x)(numbers.get(name, 0.0)))
            elif name in shadows:
                gradients.append(shadows[name])
            else:
                gradients.append(storage.zeros(name, x))
        return tuple(gradients)


def is_copied(output: Output) -> bool:
    """Return True for results of which a copy is arrays, numbers, and what never changes."""
    if output.kind == "tuple":
        return all(map(is_copied, output.items))
    return output.kind != "known" or type(output.value) in PLAIN
