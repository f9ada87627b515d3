"""The site of a region in a function, which runs it as one entry if possible.

The site tries the region.  In unusual cases (another dtype, an index out of range, a value that is
not finite) it restores the arrays that the region wrote, records nothing, and runs it statement by
statement, which is the reference.

In reverse mode its sweeps run; in forward mode its tangent, which is also a region, runs in the
mode below, so that derivatives of higher order use the same passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.derivatives.tangent import Tangent, is_tangent, tangent
from mooncake_py.compiler.forms.form import (
    Form,
    Pattern,
    bound_to,
    is_served,
    names_read,
    specialise,
)
from mooncake_py.compiler.forms.infer import INT, INT32, INT64
from mooncake_py.compiler.forms.number_types import INTEGERS, TYPES, plain, typed
from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.regions.evaluate import evaluated, passes
from mooncake_py.compiler.regions.ir import STEPS, For, Name
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.sites.cells import cells_of, put_back
from mooncake_py.compiler.sites.effort import Effort
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.items import Items, Pairs, bytes_copied, split
from mooncake_py.compiler.sites.pull import pull_region
from mooncake_py.compiler.sites.trials import Trials
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.interrupts import through_interrupts
from mooncake_py.runtime.values import FLOAT64 as DOUBLE
from mooncake_py.runtime.values import is_inexact
from mooncake_py.tangents.memory import has_overlaps, is_writeable
from mooncake_py.tangents.memory import owner as owner_of

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Site", "cells_of", "typed"]

UNUSUAL = ArithmeticError, LookupError, NameError, TypeError, ValueError, Warning
"""Exceptions that numbers and elements raise; others come from outside, as from a signal."""
BYTES = 256  # to be copied for each pass, at most: what the log of an element takes
SMALL = 1 << 14  # bytes that may be copied where nothing tells how often a loop runs


class Site:
    """A region that is tried as a whole.

    Parameters
    ----------
    region : Region
    callees : Callees, optional
        The functions of the user that were read into it.

    Attributes
    ----------
    trials : Trials
        How it went.
    grown : set of str
        The lists to which the region appends.
    looked_into : list of str
        The arrays of which it reads or writes elements.
    """

    compares = True  # debug mode runs it both ways

    def __init__(self, region: Region, callees: Callees | None = None) -> None:
        self.region = region
        self.callees = callees if callees and callees.direct else None
        self.arrays = [name for name in region.inputs if name in region.arrays]
        self.numbers = [name for name in region.inputs if name not in region.arrays]
        self.written = [*filter(region.written().__contains__, self.arrays)]
        self.grown = region.grown
        read = set(names_read(region.body)) if self.grown else set()
        self.looked_into = [name for name in self.arrays if name in read or name not in self.grown]
        self.is_given = isinstance(region.loop, For) and region.loop.range == Name(STEPS)
        self.effort = Effort(region, callees)
        self.trials = Trials()
        self._forms: dict[Pattern, Form | None] = {}
        self._tangents: dict[Any, TangentSite | None] = {}

    def __repr__(self) -> str:
        return f"Site({self.region.loop!r})"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what it binds."""
        return tuple(self.region.bound)

    @property
    def changed(self) -> list[str]:
        """The arrays and lists that it writes or appends to."""
        return [*self.written, *self.grown.difference(self.written)]

    @property
    def tangents(self) -> frozenset[str]:
        """The names of what is a tangent."""
        return frozenset(filter(is_tangent, (*self.region.inputs, *self.region.bound)))

    def called(self, name: str) -> str:
        """Return the name of a variable, or of its primal, in the user's code."""
        while is_tangent(name):
            name = name.partition("_")[2]
        return self.region.bound.get(name, name.removeprefix("u_"))

    def forms(self) -> Iterator[str]:
        """Yield the sources of the forms made so far."""
        for form in list(self._forms.values()):
            if form is not None:
                yield form.text
        for site in list(self._tangents.values()):
            if site is not None:
                yield from site.forms()

    def serves(self, inputs: Mapping[str, Any]) -> bool:
        """Return True if the arrays are of the kind that is read and written as numbers."""
        for name in self.arrays:
            a = inputs[name]
            if type(a) is not list and name in self.grown:
                return False
            if type(a) is list or (type(a) is tuple and name not in self.written):
                if self.region.arrays[name] != 1 or name in self.region.shaped:
                    return False
                continue
            if type(a) is not ndarray:
                return False
            if (a.dtype is not DOUBLE or name in self.region.data) and (
                a.dtype not in INTEGERS or name in self.written
            ):
                return False
            count = self.region.arrays[name]
            if (a.ndim != count if count else not a.ndim) or not a.flags.aligned:
                return False  # of which there are no memory views
        return all(
            is_writeable(inputs[name]) for name in self.written if type(inputs[name]) is ndarray
        )

    def is_short(self, steps: range | None, inputs: dict[str, Any]) -> bool:
        """Return whether there is less to do than the way in and out takes."""
        steps = self.steps(steps, inputs) if self.effort.is_known else None
        return steps is not None and self.effort.is_too_little(steps, inputs)

    def owners(self, inputs: Mapping[str, Any]) -> tuple[int, ...]:
        """Return for each array the first one that shares its memory."""
        if len(self.arrays) == 1:
            return (0,)
        arrays = [inputs[name] for name in self.arrays]
        owners = [
            id(a if type(a) is not ndarray or a.base is None else owner_of(a)) for a in arrays
        ]
        return tuple(map(owners.index, owners))

    def lists(self, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the inputs that are lists or tuples in the place of arrays."""
        for name in self.arrays:
            if type(inputs[name]) is list or type(inputs[name]) is tuple:
                yield name, inputs[name]

    def only_grown(self, inputs: Mapping[str, Any]) -> set[int]:
        """Return the ids of the lists to which the region appends without reading them."""
        if not self.grown:
            return set()
        read = {id(inputs[name]) for name in self.looked_into}
        return {id(inputs[name]) for name in self.grown} - read

    def overlaps(self, inputs: Mapping[str, Any], names: Iterable[str]) -> bool:
        """Return True if an array has elements that share memory."""
        return any(has_overlaps(inputs[name]) for name in names if type(inputs[name]) is ndarray)

    # Reverse mode.

    def record(
        self, ctx: ReverseMode, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        """Run the region forward and record it; return what it binds, or `Elsewhere`."""
        prepared = None
        if not self.trials.rest(ctx):
            prepared = self.prepared(ctx, functions, steps, inputs)
        if prepared is None:
            return Elsewhere
        if self.callees is not None:
            self.callees.enter(ctx)
        self.trials.begin()
        found = self.attempt(ctx, *prepared)
        if found is not Elsewhere:
            self.trials.succeed(ctx)
        return found

    def prepared(
        self, ctx: Tracking, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> tuple[Form, range | None, dict[str, Any]] | None:
        """Return a form to run, its steps and its inputs; None if no form fits."""
        steps = self.steps(steps, inputs)
        if not self.is_worth(steps, inputs):
            return None
        lists = dict(self.lists(inputs))
        grown = self.only_grown(inputs)
        items = {id(a): self.items(ctx, inputs, name, id(a) in grown) for name, a in lists.items()}
        inputs = inputs | {name: items[id(a)] for name, a in lists.items()}
        form = self.form(ctx, functions, inputs)
        if form is None:
            return None
        for name, kind in form.appended.items():
            inputs[name].kind = kind
        return form, steps, inputs

    def items(
        self, ctx: Tracking, inputs: Mapping[str, Any], name: str, only_grows: bool
    ) -> Items | None:
        """Return the items of a list, or of one that only grows the new ones; None for others."""
        return Items.behind(inputs[name]) if only_grows else Items.of(ctx, inputs[name])

    def form(self, ctx: Tracking, functions: Any, inputs: dict[str, Any]) -> Form | None:
        """Return the form for these inputs, made when such are first met."""
        kinds: list[tuple[str, bool]] = []
        for name in self.numbers:
            value = inputs[name]
            on = type(value) is Active
            kind = TYPES.get(type(value.primal if on else value))
            if kind is None or (on and (kind is INT or value.context not in (ctx, *ctx.outers))):
                return None
            kinds.append((kind, on))
        moving: list[bool] = []
        items: list[str] = []
        for name in self.arrays:
            a = inputs[name]
            if a is None:  # a list of anything but numbers of one type
                return None
            is_list = isinstance(a, Items)
            moving.append(bool(a.leaves) if is_list else ctx.find(a) is not None)
            items.append(a.kind if is_list else INTEGERS.get(a.dtype, ""))
        owners = self.owners(inputs)
        if not self.are_data(items, owners):
            return None
        pattern = Pattern(functions, tuple(kinds), tuple(moving), owners, tuple(items))
        try:
            return self._forms[pattern]
        except KeyError:
            pass
        except TypeError:  # a function that cannot be a key
            return None
        form = self._forms[pattern] = specialise(self.region, pattern)
        return form

    def are_data(self, items: list[str], owners: tuple[int, ...]) -> bool:
        """Return True if ints are where they must be, and nothing writes them."""
        given = list(zip(self.arrays, items, owners, strict=True))
        written = {owner for name, _, owner in given if name in self.written}
        return all(
            owner not in written if kind in (INT, INT32, INT64) else name not in self.region.data
            for name, kind, owner in given
        )

    def steps(self, given: range | None, inputs: Mapping[str, Any]) -> range | None:
        """Return the range of the outermost loop, None where nothing tells how often it runs."""
        if self.is_given or not isinstance(self.region.loop, For):
            return given
        try:
            return evaluated(self.region.loop.range, inputs)
        except UNUSUAL:
            return None  # the loop raises it

    def is_worth(self, steps: range | None, inputs: dict[str, Any]) -> bool:
        """Return True if the loop runs, and the copies made before are not far too large.

        Copied are the arrays that are written, and all lists that are read.
        """
        if steps is not None and not steps:
            return False  # results are of the types that they have after a pass: see `infer`
        grown = self.only_grown(inputs)
        nbytes = sum(
            [
                bytes_copied(inputs[name])
                for name in self.arrays
                if name in self.written or type(inputs[name]) is not ndarray
                if id(inputs[name]) not in grown
            ]
        )
        if steps is None:
            return nbytes <= SMALL
        if nbytes <= BYTES * len(steps):
            return True
        assert isinstance(self.region.loop, For)
        return nbytes <= BYTES * passes(self.region.loop, steps, dict(inputs))

    def attempt(
        self, ctx: ReverseMode, form: Form, steps: range | None, inputs: dict[str, Any]
    ) -> Any:
        """Run the forward sweep, and record the region if all went well."""
        given = self.given(form, inputs)
        before = {
            name: ctx.before_whole(inputs[name])
            for name in self.written
            if type(inputs[name]) is ndarray
        }
        floats: list[float] = []
        ints: list[Any] = []
        stands = False
        try:
            results = self.swept(form, (floats, ints, steps), inputs, given)
            if results is not None:
                self.log(ctx, form, inputs, before)  # raises for what must not be written
                stands = True
        finally:
            if not stands:
                through_interrupts(partial(put_back, inputs, before))
        if results is None:
            return Elsewhere
        bound = dict(zip(form.results, results, strict=False))
        outputs = typed(form, bound, results[len(bound) :])
        if not (form.shadows or form.outputs):
            return outputs
        nodes = [
            ctx.registry.activate(a) if type(a) is ndarray else a
            for a in map(inputs.__getitem__, form.shadows)
        ]
        active = [active_number(outputs[name], ctx) for name in form.outputs]
        read = [inputs[name] for name in form.read]
        for a in read:
            if type(a) is ndarray:
                ctx.registry.protect(a)
        given |= bound
        state = [given[name] for name in (*form.steady, *form.counts)]
        leaves = [inputs[name] for name in form.leaves]
        met = [leaf for a in nodes if type(a) is Items for _, leaf in a.leaves]  # to be seen
        ctx.record(
            (pull_region, form, floats, ints, steps, state, read, nodes, met, active, leaves)
        )
        for name, y in zip(form.outputs, active, strict=True):
            if type(y.primal) is not int:  # else nothing was added to a sum, say
                outputs[name] = y
        return outputs

    def given(self, form: Form, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the numbers and lengths that the forward sweep takes."""
        found = {name: plain(inputs[name]) for name in self.numbers}
        return found | {n.name: inputs[n.array].shape[n.axis] for n in form.lengths}

    def log(
        self, ctx: ReverseMode, form: Form, inputs: dict[str, Any], before: dict[str, ndarray]
    ) -> None:
        """Record what the region overwrote."""
        for name in form.shadows:
            if type(inputs[name]) is ndarray:
                ctx.registry.activate(inputs[name])
        for name, old in before.items():
            ctx.log_whole(inputs[name], old)
        changed = [name for name in (*self.written, *self.grown) if name not in before]
        found = {id(inputs[name]): name for name in changed}
        for name in found.values():
            inputs[name].store(ctx, name in form.shadows)

    def swept(
        self,
        form: Form,
        kept: tuple[list[float], list[Any], range | None],
        inputs: dict[str, Any],
        given: dict[str, Any],
    ) -> list[Any] | None:
        """Run the forward sweep; None where something is unusual."""
        floats, ints, steps = kept
        values = [
            cells_of(v) if name in self.region.arrays else given[name] for name, v in inputs.items()
        ]
        values += [given[n.name] for n in form.lengths]
        try:
            z, *results = form.forward(floats.append, ints.append, steps, *values)
            finite = z == 0.0 and math.isfinite(sum(floats))
        except UNUSUAL:
            return None  # the reference raises it again
        unbound = any(v is None for v in results)
        overlaps = self.overlaps(inputs, form.shadows)
        return results if finite and not unbound and not overlaps else None

    # Forward mode.

    def push(
        self, ctx: ForwardMode, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        """Run the tangent of the region below; return what it binds, or `Elsewhere`."""
        lists = {id(a): name for name, a in self.lists(inputs)}
        if lists and not self.is_worth(self.steps(steps, inputs), inputs):
            return Elsewhere
        grown = self.only_grown(inputs)
        pairs: dict[int, Any] = {
            key: self.pairs(ctx, inputs, name, key in grown) for key, name in lists.items()
        }
        if None in pairs.values():
            return Elsewhere
        given = {
            name: split(ctx, pairs.get(id(inputs[name])) or inputs[name])
            for name in self.region.inputs
        }
        moving = frozenset(name for name, (_, t) in given.items() if t is not None)
        values = {name: p for name, (p, _) in given.items()}
        if not moving:
            return ctx.base.run_region(self, functions, steps, inputs)
        site = self.tangent_of(functions, moving, inputs)
        if site is None or site.trials.rest(ctx) or self.overlaps(inputs, self.arrays):
            return Elsewhere
        for name in site.tangent.given:
            t = given[name][1]
            if type(inputs[name]) is ndarray:
                if not is_inexact(inputs[name]):  # in the place of a number, or of an array
                    return Elsewhere
                t = ctx.tangent_to_write(inputs[name])
            elif id(inputs[name]) in pairs:
                t = pairs[id(inputs[name])].tangents
            values[site.tangent.names[name]] = 0.0 if t is None else t
        if not site.serves(values):
            return Elsewhere
        found = ctx.base.run_region(site, functions, steps, values)
        if found is Elsewhere:
            return Elsewhere
        names = site.tangent.names
        if type(found) is not dict:  # the loop runs as it is written, to be compared
            return found.above(ctx, self.region.bound, names, list(pairs.values()))
        arrays = {id(a) for a in inputs.values() if type(a) is ndarray}
        arrays.update(*(map(id, pair.given) for pair in pairs.values()))
        for name, a in self.lists(inputs):
            if id(a) in pairs and (name in self.written or name in self.grown):
                pairs.pop(id(a)).store(ctx, name in names)
        return {  # a name may be bound to an array that was there before
            name: y if id(y) in arrays else ctx.fresh(y, found.get(names.get(name)))
            for name, y in ((name, found[name]) for name in self.region.bound)
        }

    def pairs(
        self, ctx: ForwardMode, inputs: Mapping[str, Any], name: str, only_grows: bool
    ) -> Pairs | None:
        """Return the items of a list and their tangents; see `items`."""
        return Pairs(ctx, inputs[name], len(inputs[name]) * only_grows)

    def tangent_of(
        self, functions: Any, moving: frozenset[str], inputs: dict[str, Any]
    ) -> TangentSite | None:
        """Return the tangent of the region where some inputs have one, or None if it has none."""
        key = functions, moving, self.owners(inputs)
        try:
            return self._tangents[key]
        except KeyError:
            pass
        except TypeError:  # a function that cannot be a key
            return None
        site = None
        if is_served(self.region, functions):
            region = bound_to(self.region, functions)
            groups = dict(zip(self.arrays, key[2], strict=True))
            with suppress(NoPartial):
                active = active_parts(region.body, set(moving), groups)
                site = TangentSite(tangent(region, active), self.callees)
        self._tangents[key] = site
        return site


class TangentSite(Site):
    """Where the tangent of a region runs in the mode below."""

    def __init__(self, found: Tangent, callees: Callees | None) -> None:
        super().__init__(found.region, callees)
        self.tangent = found
