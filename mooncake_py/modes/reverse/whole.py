"""Gradients of functions that run whole, compiled or as text of NumPy: two calls, and no tape.

The function runs on copies of the arrays that it writes, so nothing has to be restored. Unusual
cases have no effect and take the general way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.apart import is_watched
from mooncake_py.compiler.native.building.types import LARGE
from mooncake_py.compiler.native.form import NUMPY, Form
from mooncake_py.compiler.native.giving_back import given_back
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.native.site import FunctionSite, site_of
from mooncake_py.compiler.sites.pace import met
from mooncake_py.diagnostics.meter import reporter
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.storage import Storage, Workspace
from mooncake_py.modes.reverse.whole_arguments import (
    are_captured,
    arguments_of,
    array_of,
    names_in,
    stand_once,
)
from mooncake_py.modes.reverse.whole_structures import Structure
from mooncake_py.modes.reverse.whole_sweeps import WholeSweeps
from mooncake_py.rules import registry
from mooncake_py.runtime.active import Active

__all__ = ["Match", "WholeGradient", "gradient_of_whole", "matched"]

Result = tuple[Any, tuple[Any, ...]]
VALUES = frozenset({float, np.float64, np.float32, int, np.int64})
PLAIN = frozenset({type(None), bool, str})
LARGE_ARRAY = 8192
"""Numbers from which on text of NumPy is not faster: what counts is the memory that is touched."""
SIMPLE = frozenset({ndarray, float, np.float64, np.float32, int})
"""Arguments whose types in a region follow from these and, of arrays, shape and dtype."""


class Match(NamedTuple):
    """The compiled function for calls whose arguments have the same types, shapes and dtypes.

    Attributes
    ----------
    types : list of type
        Of the arguments, which are numbers and arrays.
    """

    types: list[type]
    reading: Reread
    whole: WholeGradient

    def inputs(self, f: FunctionType, args: tuple[Any, ...]) -> dict[str, Any] | None:
        """Return the inputs of the region, None if something else may run for these arguments."""
        if (
            [*map(type, args)] != self.types
            or any(type(a) is int and not -LARGE < a < LARGE for a in args)
            or not registry.are_first()
            or not self.reading.holds(f)
        ):
            return None
        return dict(zip(self.reading.site.region.inputs, args, strict=True))


def gradient_of_whole(
    f: Any,
    chosen: Sequence[int | str],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    workspace: Workspace | None = None,
    in_text: bool = False,
) -> Result | None:
    """Return the result and the gradients of a call, or None if it goes the general way.

    For a call that no other derivative, and no one who looks on, is round.

    Parameters
    ----------
    chosen : sequence of int and str
        Positions and keywords of the arguments to differentiate with respect to.
    workspace : Workspace, optional
        The memory to use, for calls that differ in the values of their arguments only.  By
        default what earlier calls left, and new memory for what is given back.
    in_text : bool, optional
        Whether the sweeps are text of NumPy, not compiled.
    """
    if type(f) is MethodType:
        f, args = f.__func__, (f.__self__, *args)
        chosen = [k + 1 if isinstance(k, int) else k for k in chosen]
    match = None if workspace is None else workspace.matches.get(in_text)
    inputs = None if match is None or not runs_alone(f) else match.inputs(f, args)
    if match is not None and inputs is not None:
        whole = match.whole
        met.loops = met.loops or match.reading.has_loops
    else:
        found = matched(f, args, kwargs, in_text)
        if found is None:
            return None
        site, reading, inputs = found
        whole = whole_gradient(site, reading, tuple(chosen), has_aux)
        if whole is None or are_captured(reading, whole.arguments, inputs):
            return None
        if whole.structures:
            return structured_gradient(whole, site, inputs, f, args, kwargs, workspace)
        types = [*map(type, args)]
        simple = SIMPLE.issuperset(types) and reading.is_flat and not kwargs
        if workspace is not None and simple:
            workspace.matches[in_text] = Match(types, reading, whole)
    if whole.site.trials.rest() or not whole.site.may_run(inputs):
        return None
    return whole.run(inputs.values(), workspace or whole.form.spares)


def structured_gradient(
    whole: WholeGradient,
    site: FunctionSite,
    inputs: dict[str, Any],
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    workspace: Workspace | None,
) -> Result | None:
    """Return the result and the gradients of a call with respect to objects or dicts."""
    given = site.arguments(f, args, kwargs)
    assert given is not None
    builds: dict[int, tuple[Any, Any]] = {}
    for k, structure in whole.structures.items():
        found = structure.of(given[whole.positions[k]])
        if found is None:
            return None
        builds[k] = found
    if whole.site.trials.rest() or not whole.site.may_run(inputs):
        return None
    result = whole.run(inputs.values(), workspace or whole.form.spares)
    if result is None:
        return None
    value, gradients = result
    return value, tuple(
        [g if k not in builds else builds[k][0](g, builds[k][1]) for k, g in enumerate(gradients)]
    )


def runs_alone(f: Any) -> bool:
    """Return True for a function in whose call nobody else takes part."""
    return (
        type(f) is FunctionType
        and reporter.get() is None
        and not is_watched()
        and ReverseContext.fuses
        and ReverseContext.tries_loops
    )


def is_large(value: Any) -> bool:
    """Return True for an argument that text is not faster with."""
    return type(value) is ndarray and value.size > LARGE_ARRAY


def matched(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], in_text: bool = False
) -> tuple[FunctionSite, Reread, dict[str, Any]] | None:
    """Return the function as it is read for a call, and the inputs of its region.

    None where it does not run whole, or the general way is to be taken for another reason.
    """
    if not runs_alone(f) or (in_text and any(map(is_large, (*args, *kwargs.values())))):
        return None
    site = site_of(f, NUMPY if in_text else None)
    if site is None or site.takes.starred or site.takes.keywords:  # positions are not parameters
        return None
    found = site.matched(f, args, kwargs)
    if found is None or Active in map(type, found[1].values()):
        return None
    if not all(stand_once(value, set()) for value in (*args, *kwargs.values())):
        return None
    reading, inputs = found
    met.loops = met.loops or reading.has_loops
    lists = dict(reading.site.lists(inputs))
    arrays = {id(a): array_of(a) for a in lists.values()}
    if any(a is None for a in arrays.values()):
        return None
    return site, reading, inputs | {name: arrays[id(a)] for name, a in lists.items()}


def whole_gradient(
    site: FunctionSite, reading: Reread, chosen: tuple[int | str, ...], has_aux: bool
) -> WholeGradient | None:
    """Return how the gradient is computed, None if not in this way; found out once."""
    key = chosen, has_aux
    if key not in reading.derivatives:
        reading.derivatives[key] = WholeGradient.of(site, reading, chosen, has_aux)
    return reading.derivatives[key]


class WholeGradient(WholeSweeps):
    """How the gradient of a function is computed with respect to some of its arguments.

    Parameters
    ----------
    arguments : sequence of Output
    value : Output
        The number that is differentiated.
    aux : Output or None
    structures : dict of int to Structure, optional
        What makes the gradients of objects and dicts, by their places among the chosen arguments.
    positions : sequence of int, optional
        Of the chosen arguments, where there are any of these.
    """

    def __init__(
        self,
        site: RegionSite,
        form: Form,
        arguments: Sequence[Output],
        value: Output,
        aux: Output | None,
        structures: dict[int, Structure] | None = None,
        positions: Sequence[int] = (),
    ) -> None:
        super().__init__(site, form, arguments)
        self.structures = structures or {}
        self.positions = positions
        self.value = value
        self.aux = aux
        self.was_unusual = False

    @classmethod
    def of(
        cls, site: FunctionSite, reading: Reread, chosen: Sequence[int | str], has_aux: bool
    ) -> WholeGradient | None:
        """Return it, or None if the function gives back, or is given, something else."""
        structures: dict[int, Structure] = {}
        arguments = arguments_of(site, reading, chosen, structures)
        value, aux = reading.output, None
        if has_aux and value.kind == "tuple" and len(value.items) == 2:
            value, aux = value.items
            has_aux = not is_copied(aux)
        if has_aux or value.kind != "number" or arguments is None:
            return None
        form = reading.site.form_where(frozenset(names_in(arguments)))
        if form is None:
            return None
        positions = [k if isinstance(k, int) else site.parameters.index(k) for k in chosen]
        return cls(reading.site, form, arguments, value, aux, structures, positions)

    def run(self, inputs: Iterable[Any], storage: Storage) -> Result | None:
        """Return the result and the gradients, None where something is unusual."""
        forward = self.forward(inputs, storage)
        if forward is None:
            return None
        found = forward.found
        y = self.site.typed(self.value.name, found[self.value.name], found)
        if type(y) not in VALUES:
            return None
        aux = None if self.aux is None else given_back(self.aux, self.copies(forward))
        seeds = {self.value.name: 1.0}
        gradients = self.pulled(forward, seeds, {}, storage, is_needed=self.was_unusual)
        self.give_back(forward, storage)
        if gradients is None:
            self.was_unusual = True  # the next time the way back takes care at once
            return None
        return (y if self.aux is None else (y, aux)), gradients


def is_copied(output: Output) -> bool:
    """Return True for results of which a copy is arrays, numbers, and what never changes."""
    if output.kind in ("tuple", "list"):
        return all(map(is_copied, output.items))
    return output.kind != "known" or type(output.value) in PLAIN
