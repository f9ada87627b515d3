"""Both sweeps of a function that is compiled whole, on copies of the arrays that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.form import Form
from mooncake_py.compiler.native.giving_back import given_back
from mooncake_py.compiler.native.passed import all_finite, as_real, in_order
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.spares import STACK
from mooncake_py.modes.reverse.storage import Storage
from mooncake_py.modes.reverse.whole_arguments import are_apart, names_in, parts_of_one

__all__ = ["Forward", "WholeSweeps"]


class Forward(NamedTuple):
    """The data of a forward sweep for the reverse sweep.

    Attributes
    ----------
    stack : ndarray
    top : int
        How many numbers are on it.
    values : list
        The inputs, copies of those that were written, and all that the sweep gave back.
    found : dict of str to object
        What the function gives back, by the names in the region.
    passed : dict of str to ndarray
        Of these the arguments in another than C order, as they were passed.
    """

    stack: ndarray
    top: int
    values: list[Any]
    found: dict[str, Any]
    passed: dict[str, ndarray]

    def in_order(self, name: str, y: Any) -> Any:
        """Return the output under a name; for an argument, in the order of its elements."""
        if name not in self.passed:
            return y
        found = np.empty_like(self.passed[name])
        found[...] = y
        return found


class WholeSweeps:
    """The sweeps of a region, for gradients with respect to some of its arguments.

    Parameters
    ----------
    arguments : sequence of Output
        See `whole_arguments`.
    """

    def __init__(self, site: RegionSite, form: Form, arguments: Sequence[Output]) -> None:
        self.site = site
        self.form = form
        inputs, found = site.region.inputs, (*form.results, *form.made)
        # By places among the inputs and what the forward sweep gives back; dicts take longer.
        given = {name: i for i, name in enumerate(inputs)}
        after = {name: i for i, name in enumerate(found, len(inputs))}
        either = after | given
        complexes = site.region.complexes
        self.complexes = [given[name] for name in site.arrays if name in complexes]
        self.ordered = [  # a copy is in order by itself
            given[name] for name in site.arrays if name not in site.written or name in complexes
        ]
        self.written = self.reused = [(given[name], name) for name in site.written]
        self.checked = [given[name] for name in site.written]
        self.checked += [after[name] for name in form.results if name not in given]
        self.saved = [either[name] for name in form.values]
        self.shadows = [(either[name], name) for name in form.shadows]
        self.given_back = [(given[name], name) for name in form.results if name in site.arrays]
        self.arguments = arguments
        self.chosen = [(given[name], name) for name in names_in(arguments)]
        self.is_structured = any(a.kind not in ("number", "array") for a in arguments)
        self.apart = self.places_of(parts_of_one(arguments))

    def places_of(self, parts: Iterable[Iterable[str]]) -> list[list[int]]:
        """Return the places of inputs for their names."""
        inputs = self.site.region.inputs
        return [[inputs.index(name) for name in part] for part in parts]

    def forward(self, inputs: Iterable[Any], storage: Storage) -> Forward | None:
        """Run the forward sweep; return None where something is unusual."""
        values = [*inputs]
        if self.apart and not all(are_apart([values[i] for i in part]) for part in self.apart):
            return None
        passed = {
            name: values[i] for i, name in self.given_back if not values[i].flags.c_contiguous
        }
        for i in self.ordered:
            if not values[i].flags.carray:
                values[i] = in_order(values[i])
        for i in self.complexes:
            values[i] = as_real(values[i])
        for i, name in self.written:
            values[i] = storage.copied(name, values[i])
        for i, value in enumerate(values):
            if type(value) is ndarray and storage.keeps(value):
                values[i] = value.copy()  # the way back reads it, and overwrites what is kept
        ok, S, p, *results = self.form.run(storage.stack(), values)
        values += results
        if not ok or not all_finite([values[i] for i in self.checked]):
            return None
        self.site.trials.succeed()
        return Forward(S, p, values, dict(zip(self.form.results, results, strict=False)), passed)

    def copies(self, forward: Forward) -> dict[str, Any]:
        """Return copies of what the function gives back, as it is before the way back."""
        found, typed = forward.found, self.site.typed
        return {
            name: forward.in_order(name, typed(name, y.copy() if type(y) is ndarray else y, found))
            for name, y in found.items()
        }

    def pulled(
        self,
        forward: Forward,
        seeds: Mapping[str, float],
        cotangents: Mapping[str, ndarray],
        storage: Storage,
        *,
        is_needed: bool = True,
    ) -> tuple[Any, ...] | None:
        """Return the gradients, by the way back.

        Parameters
        ----------
        seeds, cotangents
            Of numbers and of arrays that the function gives back, by the names in the region.
        is_needed : bool, optional
            Whether there is no other way; else None is given back where this one is not at once
            right.
        """
        form, values = self.form, forward.values
        shadows = {name: storage.zeros(name, values[i]) for i, name in self.shadows}
        for name, g in cotangents.items():
            if name in shadows:
                shadows[name] += g
        numbers: Mapping[str, float] = {}
        if form.reverse is not None:
            saved = [values[i] for i in self.saved]
            given = [seeds.get(name, 0.0) for name in form.outputs]
            reverse = form.reverse if is_needed or form.quick is None else form.quick
            found = reverse(forward.stack, forward.top, *saved, *shadows.values(), *given)
            if found is None:
                return None
            numbers = dict(zip(form.leaves, found, strict=True))
        gradients: list[Any] = []
        for i, name in self.chosen:
            x = values[i]
            if type(x) is not ndarray:
                gradients.append(type(x)(numbers.get(name, 0.0)))
            else:
                own = shadows.get(name)
                own = storage.zeros(name, x) if own is None else own
                gradients.append(self.site.typed(name, own, {}))
        if not self.is_structured:
            return tuple(gradients)
        leaves = dict(zip([name for _, name in self.chosen], gradients, strict=True))
        return tuple([given_back(argument, leaves) for argument in self.arguments])

    def give_back(self, forward: Forward, storage: Storage) -> None:
        """Release memory that is no longer in use."""
        storage.give(STACK, forward.stack)
        for i, name in self.reused:
            storage.give(name, forward.values[i])
