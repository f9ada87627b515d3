"""A region of compiled code in a differentiated call: tried, and recorded if all went well.

Where something is unusual (a check fails, a value is not finite) the arrays that it wrote are put
back, nothing is recorded, and the function runs by its derived form, which is the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.effort import ON_ARRAYS
from mooncake_py.compiler.native.entering import BY_RANK, Entered, entry
from mooncake_py.compiler.native.form import Compiler, Form, form_of, prepared
from mooncake_py.compiler.native.passed import (
    all_finite,
    as_complex,
    as_real,
    dtype_of,
    in_order,
    is_in_rows,
    numbers_in,
    share_memory,
    without,
)
from mooncake_py.compiler.native.pulling import pull_native, pull_native_loop
from mooncake_py.compiler.native.regions.mentions import unread
from mooncake_py.compiler.native.regions.refused import CannotCompile, NoCompiler
from mooncake_py.compiler.native.regions.region import REAL, NativeRegion
from mooncake_py.compiler.native.spares import Stack
from mooncake_py.compiler.native.sweeps.tangent import tangent
from mooncake_py.compiler.native.tasks import Tasks, warn_of
from mooncake_py.compiler.regions.ir import Assign, Load, statements
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.items import Items, Pairs, split
from mooncake_py.compiler.sites.trials import Trials
from mooncake_py.diagnostics.warned import may_be_caught
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.compilation import give_up
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.mapped import is_mapped
from mooncake_py.runtime.quiet import is_strict
from mooncake_py.tangents.memory import has_overlaps

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["RegionSite", "TangentSite"]

QUIET = frozenset({"ignore", "warn"})  # what NumPy may do about errors that nobody waits for
USER = re.compile(r"^u\d+_")  # what names of the user's begin with


class RegionSite:
    """A region that is tried as a whole.

    Parameters
    ----------
    region : NativeRegion
    types : dict of str to type or str
        Of numbers among the results, or the name of the result that tells: see `values.RANKS`.
    name : str, optional
        Of the function.
    compiler : Compiler, optional
        What its sweeps are made by; by default what compiles.

    Attributes
    ----------
    is_of_numbers : bool
        Whether the order of the axes of arrays in memory does not matter.
    keeps_order : bool
        Whether it must not run on copies of arrays in another order: last digits of sums differ.
    unread : frozenset of str
        Arrays that are not looked up: who does must not write arguments that are copies of them.
    trials : Trials
        How it went.
    why : str
        Why there is no form, if so.
    user_names : dict of str to str
        What the program calls results, where it gives names to them.
    entered : Entered or None
        How it ran last, unless in the general way.
    compares : bool
        Whether debug mode runs it both ways: it compiles nothing.
    """

    is_loop = False
    tangents: frozenset[str] = frozenset()  # the names of what is one
    takes_views = False  # of arrays whose elements are not in order in memory it needs no copies

    def __init__(
        self,
        region: NativeRegion,
        types: Mapping[str, type | str] | None = None,
        name: str = "",
        compiler: Compiler | None = None,
    ) -> None:
        self.compiler = compiler
        self.keeps_order = self.compares = compiler is not None and compiler.keeps_wholes
        self.region = region = prepared(region, compiler)
        self.name = name
        self.types = types or {}
        self.arrays = [name for name in region.inputs if name in region.arrays]
        self.numbers = [name for name in region.inputs if name not in region.arrays]
        written = {
            s.target.array
            for s in statements(region.body)
            if isinstance(s, Assign) and isinstance(s.target, Load)
        }
        self.written = [name for name in self.arrays if name in written]
        written |= region.private
        self.unread = unread(region)
        self.taken_from = [name for name in self.arrays if name in region.lists]
        self.given_as = region.lists.difference(self.arrays)
        self.demands = [
            (name, dtype_of(region, name), name in written)
            for name in self.arrays
            if name not in region.lists
        ]
        self.contiguous = region.contiguous
        self.is_of_numbers = not any(isinstance(s, ON_ARRAYS) for s in statements(region.body))
        self.trials = Trials()
        self.user_names: dict[str, str] = {}
        self.why = ""
        self._forms: dict[frozenset[str], Form | None] = {}
        self._entries: dict[int, tuple[frozenset[str], Callable[..., Any]]] = {}  # of forms, by id
        self.entered: Entered | None = None
        self._tangents: dict[frozenset[str], TangentSite | None] = {}
        self._tasks: Tasks[Any] = Tasks(name)

    def __repr__(self) -> str:
        return f"RegionSite({', '.join(self.region.inputs)})"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what it gives back."""
        return tuple(self.region.results)

    @property
    def changed(self) -> list[str]:
        """The arrays and lists that it writes."""
        return self.written

    def called(self, name: str) -> str:
        """Return the name in the user's code of a variable, or of its primal."""
        while name in self.tangents:
            name = name.partition("_")[2]
        return self.user_names.get(name) or USER.sub("", name).removesuffix(".before")

    @property
    def pull(self) -> Callable[..., None]:
        """The reverse of its entries on the tape."""
        return pull_native_loop if self.is_loop else pull_native

    # The interface for several tangents at once.

    def steps(self, given: Any, inputs: Mapping[str, Any]) -> None:
        """Return None: no range is given."""

    def is_worth(self, steps: None, inputs: Mapping[str, Any]) -> bool:
        """Return True: the copies made before cost little compared with the run."""
        return True

    def lists(self, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the inputs that are lists."""
        return ((name, inputs[name]) for name in self.taken_from)

    def forms(self) -> Iterator[str]:
        """Yield the sources of the forms made so far."""
        for form in self._forms.values():
            if form is not None:
                yield form.text
        for site in self._tangents.values():
            if site is not None:
                yield from site.forms()

    def hasten(self) -> bool:
        """Have better code made now, where that waits until it pays; return whether it did."""
        made = [*self._forms.values(), *self._tangents.values()]
        return sum([part.hasten() for part in made if part is not None]) > 0

    def serves(self, inputs: Mapping[str, Any]) -> bool:
        """Return True if the arrays are such as the region was read for.

        They do not share memory that the region writes, or of which it takes a copy.
        """
        if len({id(inputs[name]) for name in self.taken_from}) < len(self.taken_from):
            return False
        arrays: list[ndarray] = []
        alone: list[ndarray] = []
        for name, dtype, is_written in self.demands:
            a = inputs[name]
            flags = a.flags
            if not flags.carray:  # aligned, in C order and to be written, most often
                if not flags.aligned or (is_written and not flags.writeable):
                    return False
                if not flags.c_contiguous:
                    if name in self.contiguous or has_overlaps(a):
                        return False
                    if self.takes_views:
                        if not self.is_of_numbers and not is_in_rows(a):
                            return False
                    elif self.keeps_order:
                        return False
                    if is_written or not self.takes_views:
                        alone.append(a)
            if a.dtype != dtype:
                return False
            if is_written and not flags.owndata and is_mapped(a):
                return False  # another map may show what is written
            if is_written and flags.c_contiguous:
                alone.append(a)
            arrays.append(a)
        return len(arrays) < 2 or not any(
            share_memory(a, other) for a in alone for other in without(arrays, a)
        )

    # Reverse mode.

    def record(
        self, ctx: ReverseMode, functions: Any, steps: None, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        """Run the region forward and record it; return what it gives back, or `Elsewhere`."""
        if self.trials.rest(ctx) or not self.may_run(inputs):
            return Elsewhere
        if self.taken_from:
            inputs = inputs | {name: Items.of(ctx, a) for name, a in self.lists(inputs)}
            if any(inputs[name] is None for name in self.taken_from):
                return Elsewhere
        form = self.form(ctx, inputs)
        if form is None or not ctx.tries_loops:  # what was looked up must not be written, perhaps
            return Elsewhere
        self.trials.begin()
        found = self.attempt(ctx, form, inputs)
        if found is not Elsewhere:
            self.trials.succeed(ctx)
            self.entered = Entered.of(ctx, self._entries.get(id(form)))
        return found

    def may_run(self, inputs: Mapping[str, Any]) -> bool:
        """Return True if the region may run on these inputs."""
        if may_be_caught() or not self.serves(inputs):
            return False
        return not is_strict() or QUIET.issuperset(np.geterr().values())

    def form(self, ctx: Tracking, inputs: Mapping[str, Any]) -> Form | None:
        """Return the form for what is active in a call."""
        for name in self.numbers:
            value = inputs[name]
            if type(value) is Active and (
                value.context not in (ctx, *ctx.outers) or type(value.primal) is Active
            ):
                return None
        moving = [name for name in self.numbers if type(inputs[name]) is Active]
        for name in filter(lambda name: name not in self.unread, self.arrays):
            a = inputs[name]
            if a.leaves if type(a) is Items else ctx.find(a) is not None:
                moving.append(name)
        return self.form_where(frozenset(moving))

    def form_where(self, moving: frozenset[str]) -> Form | None:
        """Return the form where some inputs are active, made when it is first asked for."""
        try:
            return self._forms[moving]
        except KeyError:
            if self.compiler is not None:  # which takes no longer than to wait for it
                return self.form_now(moving)
            self._tasks.done(moving, lambda: self.form_now(moving))
            return self._forms.get(moving)

    def form_now(self, moving: frozenset[str]) -> Form | None:
        """Make the form where some inputs are active."""
        form = None
        try:
            with limits_raised():  # Python's parser fails if another thread does it meanwhile
                form = form_of(self.region, self.active(moving), self.compiler)
        except NoPartial:
            self.why = "an operation without a known derivative"
        except NoCompiler as error:
            self.why = str(error)
            give_up(self.why)
        except Exception as error:  # a failure to compile is never one of the derivative
            self.why = str(error) if type(error) is CannotCompile else repr(error)
            if self.compiler is None:  # else nobody has asked for it
                warn_of(self.name, self.why)
        if form is not None:  # first: other threads may look at both
            enter = entry(self, form, moving)
            if enter is not None:
                self._entries[id(form)] = moving, enter
        kept = self._forms.setdefault(moving, form)
        if kept is not form:  # another thread has made it meanwhile
            self._entries.pop(id(form), None)
        return kept

    def active(self, moving: frozenset[str]) -> set[str]:
        """Return the names that are active somewhere if some inputs are."""
        groups = {array: array for array in self.region.arrays}
        floats = {name for name in moving if self.region.kinds[name] in REAL}
        return active_parts(self.region.body, floats, groups)

    def attempt(self, ctx: ReverseMode, form: Form, inputs: dict[str, Any]) -> Any:
        """Run the forward sweep, and record the region if all went well."""
        own = self._entries.get(id(form))
        if own is not None:
            return own[1](ctx, *inputs.values())
        ordered = {
            name: v if self.takes_views and type(v) is ndarray else in_order(v)
            for name, v in inputs.items()
        }
        given = self.as_reals(ordered)
        arrays = [name for name in self.written if name not in self.region.lists]
        before = {name: ctx.before_whole(inputs[name]) for name in arrays}
        found: Any = None
        try:
            ok, S, p, *results = form.run(form.spares.stack(), given.values())
            if ok and all_finite(self.left_by(form, results, given)):
                found = results
        finally:
            if found is None:
                for name, old in before.items():
                    inputs[name][...] = old
        if found is None:
            return Elsewhere
        outputs = dict(zip((*form.results, *form.made), found, strict=True))
        for name in form.shadows:
            if name in inputs and name not in self.taken_from:
                ctx.registry.activate(inputs[name])
        for name, old in before.items():
            ctx.log_whole(inputs[name], old)
            if ordered[name] is not inputs[name]:
                inputs[name][...] = ordered[name]
        for name in self.taken_from:
            if name in self.written:
                inputs[name].cells = ordered[name].tolist()
                inputs[name].store(ctx, name in form.shadows)
        outputs = {
            name: inputs[name] if name in self.arrays else self.alone(name, y, outputs)
            for name, y in outputs.items()
        }
        lists = {
            name: Items.made(ctx, numbers_in(outputs[name], self.types[name]), name in form.shadows)
            for name in self.given_as
        }
        if form.reverse is not None:
            known = inputs | lists
            self.note(ctx, form, known, ordered, outputs, Stack(S, p, form.spares))
        return outputs | {name: items.source for name, items in lists.items()}

    def typed(self, name: str, y: Any, outputs: Mapping[str, Any]) -> Any:
        """Return a result as the user's code would see it."""
        if name in self.region.complexes:
            return as_complex(y)
        make = self.types.get(name)
        if isinstance(make, str):
            make = BY_RANK[int(outputs[make])]
        return y if make is None or type(y) is ndarray else make(y)

    def alone(self, name: str, y: Any, outputs: Mapping[str, Any]) -> Any:
        """Return a result in memory that nothing else is a view of."""
        y = self.typed(name, y, outputs)
        return y.copy() if name in self.region.complexes else y

    def as_reals(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return values by name as the region takes them: arrays of real numbers."""
        complexes = self.region.complexes
        if complexes.isdisjoint(values):
            return values
        return {name: as_real(v) if name in complexes else v for name, v in values.items()}

    def left_by(self, form: Form, results: list[Any], given: dict[str, Any]) -> list[Any]:
        """Return all numbers and arrays that the region gives back or has written to."""
        values = [given[name] for name in self.written]
        return values + [
            y for name, y in zip(form.results, results, strict=False) if name not in given
        ]

    def note(
        self,
        ctx: ReverseMode,
        form: Form,
        inputs: dict[str, Any],
        given: dict[str, Any],
        outputs: dict[str, Any],
        stack: Stack,
    ) -> None:
        """Record the region; results that are active become so."""
        values = [given[name] if name in given else outputs[name] for name in form.values]
        nodes: list[Any] = []
        for name in form.shadows:
            a = inputs.get(name)
            if a is None:
                nodes.append(ctx.registry.fresh(outputs[name]))
            else:
                nodes.append(a if type(a) is Items else ctx.registry.find(a))
        for node, name in zip(nodes, form.shadows, strict=True):
            if name not in inputs:
                node.describe(outputs[name])
        for name, a in zip(form.values, values, strict=True):
            if type(a) is ndarray and a is inputs.get(name, a):  # nobody else has a copy
                ctx.registry.protect(a)
        values = list(self.as_reals(dict(zip(form.values, values, strict=True))).values())
        # A parameter that is bound again may be active though what was passed is not.
        leaves = [v if type(v) is Active else None for v in map(inputs.get, form.leaves)]
        active = [active_number(outputs[name], ctx) for name in form.outputs]
        met = [leaf for a in nodes if type(a) is Items for _, leaf in a.leaves]  # to be seen
        ctx.record((self.pull, form, stack, values, nodes, active, leaves, met))
        for name, y in zip(form.outputs, active, strict=True):
            if type(y.primal) is not int:  # else nothing was added to a sum, say
                outputs[name] = y

    # Forward mode.

    def push(
        self, ctx: ForwardMode, functions: Any, steps: None, inputs: dict[str, Any]
    ) -> dict[str, Any] | Any:
        """Run the tangent of the region below; return what it gives back, or `Elsewhere`."""
        pairs = {name: Pairs(ctx, a) for name, a in self.lists(inputs)}
        given = {
            name: (value, None) if name in self.unread else split(ctx, pairs.get(name, value))
            for name, value in inputs.items()
        }
        moving = frozenset(name for name, (_, t) in given.items() if t is not None)
        values = {name: p for name, (p, _) in given.items()}
        if not moving:
            return ctx.base.run_region(self, functions, steps, values | dict(self.lists(inputs)))
        site = self.tangent_of(moving)
        if site is None or site.trials.rest(ctx) or not self.serves(inputs):
            return Elsewhere
        for name in site.given:
            if name in pairs:
                t: Any = pairs[name].tangents
            elif name in self.arrays:
                t = ctx.tangent_to_write(inputs[name])
            else:
                t = 0.0 if given[name][1] is None else given[name][1]
            values[site.names[name]] = t
        found = ctx.base.run_region(site, functions, steps, values)
        if found is Elsewhere:
            return Elsewhere
        if type(found) is not dict:  # the loop runs as it is written, to be compared
            return found.above(ctx, self.outputs, site.names, list(pairs.values()))
        for name in self.taken_from:
            if name in self.written:
                pairs[name].store(ctx, name in site.names)
        return {
            name: inputs[name]
            if name in self.arrays
            else self.moved(ctx, name, found[name], found.get(site.names.get(name, "")))
            for name in self.region.results
        }

    def moved(self, ctx: ForwardMode, name: str, y: Any, t: Any) -> Any:
        """Return a result with its tangent."""
        if name not in self.given_as:
            return ctx.fresh(y, t)
        return y if t is None else [ctx.fresh(*pair) for pair in zip(y, t, strict=True)]

    def tangent_of(self, moving: frozenset[str]) -> TangentSite | None:
        """Return the tangent of the region where some inputs have one, or None if it has none."""
        if moving not in self._tangents:
            if self.compiler is None:
                self._tasks.done(("tangent", moving), lambda: self.tangent_now(moving))
            else:
                self.tangent_now(moving)
        return self._tangents.get(moving)

    def tangent_now(self, moving: frozenset[str]) -> None:
        """Make the tangent where some inputs have one."""
        try:
            with limits_raised():
                found = TangentSite(self, self.active(moving))
        except NoPartial:
            found = None
        self._tangents.setdefault(moving, found)


class TangentSite(RegionSite):
    """Where the tangent of a region runs in the mode below."""

    def __init__(self, site: RegionSite, active: set[str]) -> None:
        region, self.names = tangent(site.region, active)
        self.given = [name for name in site.region.inputs if name in active]
        types = dict(site.types)
        types |= {self.names[name]: t for name, t in types.items() if name in self.names}
        super().__init__(region, types, site.name, site.compiler)
        self.takes_views = site.takes_views
        self.compares = site.compares
        self.user_names = site.user_names
        self.tangents = site.tangents | frozenset(self.names.values())
        self.is_loop = site.is_loop
