"""Both sweeps of a region with statements on slices.

What a statement overwrites and an adjoint reads is saved before (store on kill), and put back on
the way back; of arrays that are overwritten by larger parts than are read, what is read is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.adjoint import RegionAdjoint, steered
from mooncake_py.compiler.derivatives.sweeps import Pair, Sweeps
from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.regions.indices import ints_of
from mooncake_py.compiler.regions.ir import (
    INTS,
    Assign,
    Block,
    End,
    Let,
    Lines,
    Load,
    Name,
    Pop,
    Push,
    Sliced,
    Statement,
    Target,
    statements,
)
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.slices.calls.forms import CallForm
from mooncake_py.compiler.slices.forms import SlicedForm
from mooncake_py.compiler.slices.plans import example
from mooncake_py.overriding import override

__all__ = ["SlicedAdjoint", "adjoint_on_slices"]

Forms = Mapping[int, SlicedForm | CallForm]
"""By the id of a `Sliced`."""


def adjoint_on_slices(
    body: Block,
    active: set[str],
    fixed: set[str],
    counts: Iterable[str],
    forms: Forms,
    groups: Mapping[str, Any],
    axes: Mapping[str, int],
    variables: Mapping[str, list[str]],
) -> Sweeps:
    """Return both sweeps; for the first parameters see `adjoint.adjoint`.

    Parameters
    ----------
    forms : mapping of int to SlicedForm
    groups : mapping of str to object
        For each array what memory it is part of.
    axes : mapping of str to int
        How many axes the arrays have.
    variables : mapping of str to list of str
        The names that are bound to arrays, with their tangents.
    """
    counted = set(counts)
    names = steered(body).intersection(counted)
    names |= counted.intersection(names_of(e for s in sliced(body) for e in ints_of(s)))
    logged = logged_groups(body, fixed, set(variables), forms, groups, axes)
    found = SlicedAdjoint(active, fixed, names)
    found.forms = forms
    found.logged = {array for array in groups if groups[array] in logged}
    found.variables = variables
    found.remembered = found.read_of_variables(body) if variables else set()
    found.measured = set[str]().union(*(forms[id(s)].variables_measured() for s in sliced(body)))
    forward, reverse = found.block(body)
    return Sweeps(tuple(forward), tuple(reverse))


def sliced(body: Block) -> list[Sliced]:
    """Return the statements on slices."""
    return [s for s in statements(body) if isinstance(s, Sliced)]


def logged_groups(
    body: Block,
    fixed: set[str],
    variables: set[str],
    forms: Forms,
    groups: Mapping[str, Any],
    axes: Mapping[str, int],
) -> set[Any]:
    """Return the memory of which what is overwritten is saved: adjoints read it.

    Not that of which larger parts are overwritten than read: parts that are read are copied.
    """
    read: dict[Any, int] = {}
    written: dict[Any, int] = {}
    for s in statements(body):
        if isinstance(s, Assign) and isinstance(s.target, Load):
            written.setdefault(groups[s.target.array], 1)
        if not isinstance(s, Sliced):
            continue
        form = forms[id(s)]
        if s.written is not None and s.written not in variables:
            note(written, groups[s.written], size_of(s, s.statement.target, axes))
        if isinstance(form, CallForm):
            continue  # it saves what it reads
        for k in form.read_again:
            array = form.array_of(k)
            if array not in fixed | variables:
                note(read, groups[array], size_of(s, s.statement.layout[k], axes))
    return {group for group, count in read.items() if written.get(group, 1) <= count}


def note(found: dict[Any, int], group: Any, count: int) -> None:
    """Note the size of a part of an array."""
    found[group] = max(found.get(group, 0), count)


def size_of(s: Sliced, place: Any, axes: Mapping[str, int]) -> int:
    """Return the size of a part of an array, where all axes are of one length."""
    array, index = (example(s.values[p], axes) for p in place[:2])
    return np.size(array[index])


class SlicedAdjoint(RegionAdjoint):
    """Goes through a region, once.

    Attributes
    ----------
    forms : Forms
    logged : set of str
        The arrays of which what is overwritten is saved.
    variables : mapping of str to list of str
    remembered : set of str
        Of these names those whose arrays are put back on the way back, as adjoints read them.
    measured : set of str
        Of these names those of which adjoints read the shape: it must stay the same.
    """

    forms: Forms
    logged: set[str]
    variables: Mapping[str, list[str]]
    remembered: set[str]
    measured: set[str]

    def read_of_variables(self, body: Block) -> set[str]:
        """Return the names bound to arrays that adjoints read, also as what a statement saved."""
        forms = [self.forms[id(s)] for s in sliced(body)]
        saved = [f.variable for f in forms if f.saves_what_it_binds(self.kept(f))]
        changed = {f.changed for f in forms if f.changed is not None}
        read = (f.variables_read(self.kept(f)) for f in forms)
        return changed.intersection(saved).union(*read)

    @override
    def simple(self, s: Statement) -> Pair:
        return self.on_slices(s) if isinstance(s, Sliced) else super().simple(s)

    def on_slices(self, s: Sliced) -> Pair:
        """Return the sweeps of a statement on slices."""
        form = self.forms[id(s)]
        kept = self.kept(form)
        twins: list[str] = []
        bound = form.variable or form.changed
        logs = s.written in self.logged if bound is None else bound in self.remembered
        if form.variable is not None:
            twins = self.variables[form.variable]
        back = form.reverse(kept, logs)
        keeps_shape = form.variable in self.measured
        return [form.forward(kept, logs, twins, keeps_shape)], [] if back is None else [back]

    def kept(self, form: SlicedForm | CallForm) -> list[str]:
        """Return what a statement saves."""
        return form.kept(self.is_kept, self.fixed.union(self.counters))

    def is_kept(self, array: str) -> bool:
        """Return True if an array holds on the way back what it held at a statement."""
        return array in self.fixed or array in self.logged or array in self.variables

    @override
    def assigned(self, s: Assign | Let, target: Target) -> Pair:
        if isinstance(target, End) and isinstance(s.value, Name) and s.value.name in self.variables:
            return self.appended(s, target, s.value.name)
        ahead, back = super().assigned(s, target)
        if not isinstance(target, Load) or target.array not in self.logged:
            return ahead, back
        log = Push(INTS, target, place=s.place)
        undo = Assign(target, Pop(INTS), place=s.place)
        return [*ahead[:-1], log, ahead[-1]], [undo, *back]

    def appended(self, s: Statement, target: End, name: str) -> Pair:
        """Return the sweeps of what appends the array that a name is bound to."""
        ahead = Assign(target, Name(whole_name(name)), place=s.place)
        if target.array not in self.active:
            return [ahead], []
        d = f"d{whole_name(name)}"
        lines = [f"g = d_{target.array}.pop()"]
        if name in self.active:
            lines += ["if g is not None:", f"    {d} = g if {d} is None else {d} + g"]
        return [ahead], [Lines(tuple(lines), (), place=s.place)]
