"""The way into a region and out of it, printed for what of it is active.

    def enter(C, v0, v1):
        S = spares.stack()
        found = forward(S, v0, v1.primal)       run, and look at what it leaves
        ...
        C.record((pull, form, ...))
        return {"y": y}

It is for regions that take and return no lists and no complex numbers: most of those that run for
a few microseconds, where the general way in (`RegionSite.attempt`) takes ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mooncake_py.compiler.native.form import Form
from mooncake_py.compiler.native.passed import finite, in_order
from mooncake_py.compiler.native.spares import Stack
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.diagnostics.warned import are_errors
from mooncake_py.runtime.active import active_number

if TYPE_CHECKING:
    from mooncake_py.compiler.native.region_site import RegionSite
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["BY_RANK", "Entered", "entry"]

BY_RANK: tuple[type, ...] = int, float, np.float32, np.float64

SCOPE: dict[str, Any] = {
    "BY_RANK": BY_RANK, "Elsewhere": Elsewhere, "Stack": Stack, "active_number": active_number,
    "are_errors": are_errors, "finite": finite, "in_order": in_order, "isfinite": math.isfinite,
}  # fmt: skip


class Entered(NamedTuple):
    """How a region was entered that ran well.

    Attributes
    ----------
    context : type
        Of the call.
    moving : frozenset of str
        The inputs that were active.
    enter : callable
    """

    context: type
    moving: frozenset[str]
    enter: Callable[..., Any]

    @classmethod
    def of(
        cls, ctx: ReverseMode, own: tuple[frozenset[str], Callable[..., Any]] | None
    ) -> Entered | None:
        """Return it for a call, None if there is no printed entry."""
        return None if own is None else cls(type(ctx), *own)


def entry(site: RegionSite, form: Form, moving: frozenset[str]) -> Callable[..., Any] | None:
    """Return a function that runs and records a region, given the context and the inputs.

    It returns the results of the region, by name, or `Elsewhere`.  None if the general way is to
    be taken.

    Parameters
    ----------
    moving : frozenset of str
        The inputs that are active.
    """
    region = site.region
    if region.lists or region.complexes:
        return None
    makes = {f"t{k}": make for k, make in enumerate(site.types.values())}
    own = {"pull": site.pull, "form": form, "forward": form.forward, "spares": form.spares}
    scope = {**SCOPE, **own, **makes}
    return define(Text(site, form, moving).text(), scope)["enter"]


class Text:
    """The text of an entry: ``v`` are inputs, ``a`` what is passed, ``r`` what is returned."""

    def __init__(self, site: RegionSite, form: Form, moving: frozenset[str]) -> None:
        self.form, self.moving, self.types = form, moving, site.types
        self.arrays, self.written = site.region.arrays, site.written
        self.takes_views = site.takes_views
        self.inputs = {name: f"v{k}" for k, name in enumerate(site.region.inputs)}
        self.passed = {name: f"a{k}" for k, name in enumerate(site.region.inputs)}
        self.found = {name: f"r{k}" for k, name in enumerate((*form.results, *form.made))}

    def text(self) -> str:
        """Return the definition of the entry."""
        form = self.form
        lines = [
            *self.passing(),
            *(self.trying() if self.written else self.running()),
            *self.typing(),
            *(self.recording() if form.reverse is not None else self.logging()),
        ]
        results = ", ".join(f"{name!r}: {self.result(name)}" for name in form.results)
        lines.append(f"return {{{results}}}")
        head = f"def enter(C, {', '.join(self.inputs.values())}):"
        return "\n    ".join([head, *lines]) + "\n"

    def passing(self) -> list[str]:
        """Return lines that make of inputs what is passed."""
        lines: list[str] = []
        for name, v in self.inputs.items():
            if name in self.arrays:
                value = v if self.takes_views else f"{v} if {v}.flags.carray else in_order({v})"
            else:
                value = f"{v}.primal" if name in self.moving else v
            lines.append(f"{self.passed[name]} = {value}")
        return lines

    def running(self) -> list[str]:
        """Return lines that run what is compiled; they return where it is not to be."""
        passed = "".join(f"{a}, " for a in self.passed.values())
        found = "".join(f", {r}" for r in self.found.values())
        checks = " and ".join(self.checks())
        return [
            "S = spares.stack()",
            f"found = form.run(S, ({passed})) if are_errors() else forward(S, {passed})",
            "if not found[0]:",
            "    return Elsewhere",
            f"_, S, p{found} = found",
            *([f"if not ({checks}):", "    return Elsewhere"] if checks else []),
        ]

    def trying(self) -> list[str]:
        """Return the same, with arrays that are put back if they do."""
        written = [self.inputs[name] for name in self.written]
        return [
            *[f"w{v} = C.before_whole({v})" for v in written],
            "done = False",
            "try:",
            *[f"    {line}" for line in self.running()],
            "    done = True",
            "finally:",
            "    if not done:",
            *[f"        {v}[...] = w{v}" for v in written],
        ]

    def logging(self) -> list[str]:
        """Return lines that note what was written."""
        lines: list[str] = []
        for name in self.written:
            v, a = self.inputs[name], self.passed[name]
            lines += [f"C.log_whole({v}, w{v})", f"if {a} is not {v}:", f"    {v}[...] = {a}"]
        return lines

    def checks(self) -> list[str]:
        """Return the tests that what is written or returned is finite."""
        return [f"finite({self.passed[name]})" for name in self.written] + [
            f"{'finite' if name in self.arrays else 'isfinite'}({self.found[name]})"
            for name in self.form.results
            if name not in self.inputs
        ]

    def typing(self) -> list[str]:
        """Return lines that make numbers what the program would see."""
        lines: list[str] = []
        for k, (name, make) in enumerate(self.types.items()):
            r = self.found.get(name)
            if r is None or name in self.arrays:
                continue
            if isinstance(make, str):  # what tells is an int, and stays so
                lines.append(f"{r} = BY_RANK[int({self.found[make]})]({r})")
            elif make is not float:  # as it was returned
                lines.append(f"{r} = t{k}({r})")
        return lines

    def recording(self) -> list[str]:
        """Return lines that record the region, and make active what is."""
        form = self.form
        lines = ["registry = C.registry"]
        nodes = {name: f"b{k}" for k, name in enumerate(form.shadows)}
        for name, node in nodes.items():
            if name in self.inputs:
                lines.append(f"{node} = registry.activate({self.inputs[name]})")
            else:
                r = self.found[name]
                lines += [f"{node} = registry.fresh({r})", f"{node}.describe({r})"]
        lines += self.logging()
        for name in form.values:
            if name in self.inputs and name in self.arrays:
                v = self.inputs[name]
                lines += [f"if {self.passed[name]} is {v}:", f"    registry.protect({v})"]
            elif name in self.arrays:
                lines.append(f"registry.protect({self.found[name]})")
        values = [self.passed.get(name) or self.found[name] for name in form.values]
        leaves = [self.inputs[n] if n in self.moving else "None" for n in form.leaves]
        numbers = [self.active(name) for name in form.outputs]
        lines += [f"{self.active(n)} = active_number({self.found[n]}, C)" for n in form.outputs]
        parts = ", ".join(
            f"[{', '.join(part)}]" for part in (values, nodes.values(), numbers, leaves)
        )
        lines.append(f"C.record((pull, form, Stack(S, p, spares), {parts}, []))")
        return lines

    def active(self, name: str) -> str:
        """Return the name of an active number."""
        return f"o{self.found[name][1:]}"

    def result(self, name: str) -> str:
        """Return the expression of a result."""
        if name in self.inputs and name in self.arrays:
            return self.inputs[name]
        r = self.found[name]
        if name not in self.form.outputs:
            return r
        if isinstance(self.types.get(name), str):  # nothing was added to a sum, say
            return f"{r} if type({r}) is int else {self.active(name)}"
        return self.active(name)
