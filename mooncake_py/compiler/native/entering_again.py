"""The way into a region that has run before, for values of the same kinds: one printed function.

    def enter_again(C, given, f):
        if type(C) is not CONTEXT or trials.failed or ...:
            return Other                            the general way decides
        found = match(given)
        if found is None or not holds(f):
            return Other
        v0, v1 = found
        if type(v0) is not Active or v0.context is not C or type(v0.primal) is Active:
            return Other                            other inputs are active
        if not v1.flags.carray or worth.get((v1.shape,)) is not True:
            return Other
        R = enter(C, v0, v1)                        see `entering`
        if R is Elsewhere:
            trials.begin()
            return Elsewhere
        return R["y"], R["s"]                       as the function or the loop gives it back

Each test is one of those on the general way (`Site.run`, `RegionSite.record`), which takes more
values than these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.effort import Effort
from mooncake_py.compiler.native.entering import Entered
from mooncake_py.compiler.native.passed import share_memory
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.printing.text import Lines, define
from mooncake_py.compiler.sites.elsewhere import Elsewhere, Other
from mooncake_py.diagnostics.warned import may_be_caught
from mooncake_py.rules import registry
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.quiet import is_strict

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["SCOPE", "Again", "Quick", "unserved"]

USED = 3  # runs of one form, in a row, from which on the function is printed


Again = Callable[["Mode", Any, Any], Any]
SCOPE: dict[str, Any] = {
    "Active": Active, "Elsewhere": Elsewhere, "Other": Other, "are_first": registry.are_first,
    "is_strict": is_strict, "may_be_caught": may_be_caught, "share_memory": share_memory,
}  # fmt: skip
OPEN = {"tuple": "()", "list": "[]"}


class Unprinted(Exception):
    """The general way is to be taken."""


class Quick:
    """The printed way into the region of a site that ran last.

    Parameters
    ----------
    efforts : dict of int to Effort, optional
        What tells whether a run pays, by the ids of sites; by default each does.

    Attributes
    ----------
    again : callable or None
    """

    def __init__(self, efforts: dict[int, Effort] | None = None) -> None:
        self.efforts = efforts
        self.again: Again | None = None
        self.last: tuple[Reread, Entered] | None = None
        self.count = 0

    def __call__(self, ctx: Mode, given: Any, f: Any) -> Any:
        """Return the results of a run, `Elsewhere`, or `Other`."""
        if self.again is None:
            return Other
        found = self.again(ctx, given, f)
        if found is Elsewhere:  # the general way knows when to try again
            self.again, self.last = None, None
        return found

    def ran(self, ctx: Mode, reading: Reread) -> None:
        """Note a run in the general way."""
        entered = reading.site.entered
        if entered is None or entered.context is not type(ctx):
            return
        last = reading, entered
        if self.last != last:
            self.last, self.count = last, 0
        self.count += 1
        if self.count == USED:
            efforts = self.efforts
            effort = None if efforts is None else efforts.get(id(reading.site))
            try:
                self.again = Text(reading, entered, effort).function()
            except Unprinted:
                self.again = None


def unserved(site: RegionSite) -> list[str] | None:
    """Return the conditions under which `RegionSite.serves` might say no; inputs are ``v``.

    None where there are lists, of which it asks more.
    """
    inputs = {name: f"v{k}" for k, name in enumerate(site.region.inputs)}
    if not site.region.lists.isdisjoint(site.arrays):
        return None
    written = [inputs[name] for name in site.written]
    arrays = [inputs[name] for name in site.arrays]
    found = [
        f"not {v}.flags.carray" + (f" or not {v}.flags.owndata" if v in written else "")
        for v in arrays
    ]
    pairs = {
        frozenset((v, w)): f"share_memory({v}, {w})" for v in written for w in arrays if v != w
    }
    return found + list(pairs.values())


class Text(Lines):
    """The text of the function: ``v`` are inputs."""

    otherwise = "Other"  # the general way

    def __init__(self, reading: Reread, entered: Entered, effort: Effort | None) -> None:
        self.reading, self.entered, self.effort = reading, entered, effort
        self.site = reading.site
        super().__init__({
            "CONTEXT": entered.context, "enter": entered.enter, "holds": reading.holds,
            "match": reading.match, "trials": self.site.trials,
        })  # fmt: skip
        self.inputs = {name: f"v{k}" for k, name in enumerate(self.site.region.inputs)}

    def function(self) -> Again:
        """Return the function.

        Raises
        ------
        Unprinted
        """
        reading = self.reading
        if (
            reading.match is None
            or reading.made
            or reading.long_lists
            or reading.set_after
            or reading.grown
        ):
            raise Unprinted
        self.refuse("type(C) is not CONTEXT or not C.fuses or not C.tries_loops")
        self.refuse("C.rehearsal is not None or trials.failed")
        self.refuse("not are_first() or may_be_caught() or is_strict()")
        if reading.captured:
            first = reading.callees.every[0]
            values = [
                f"{self.constant(c.value)}(f, {self.constant(first)})" for c in reading.captured
            ]
            self.lines.append(f"given = [*given, {', '.join(values)}]")
        self.lines.append("found = match(given)")
        self.refuse("found is None or not holds(f)")
        if self.inputs:
            self.lines.append(f"{', '.join(self.inputs.values())}, = found")
        self.activity()
        self.arrays()
        if self.effort is not None:
            self.worth(self.effort)
        result = self.result(reading.output)
        self.lines += [
            f"R = enter({', '.join(['C', *self.inputs.values()])})",
            "if R is Elsewhere:",
            "    trials.begin()",
            "    return Elsewhere",
            f"return {result}",
        ]
        body = "\n    ".join(self.lines)
        text = f"def enter_again(C, given, f):\n    {body}\n"
        return define(text, {**SCOPE, **self.constants})["enter_again"]

    def activity(self) -> None:
        """Require that just those inputs are active that were."""
        for name, v in self.inputs.items():
            moves = name in self.entered.moving
            if name in self.site.unread:
                continue
            if name in self.site.region.arrays:
                self.refuse(f"C.find({v}) is {'' if moves else 'not '}None")
            elif moves:
                other = f"{v}.context is not C or type({v}.primal) is Active"
                self.refuse(f"type({v}) is not Active or {other}")
            else:
                self.refuse(f"type({v}) is Active")

    def arrays(self) -> None:
        """Require that arrays are such as the region was read for; see `RegionSite.serves`."""
        conditions = unserved(self.site)
        if conditions is None:
            raise Unprinted
        if conditions:
            self.refuse(" or ".join(conditions))

    def worth(self, effort: Effort) -> None:
        """Require that a loop is known to pay."""
        if not effort.is_of_ints:
            raise Unprinted
        measures = [self.inputs[name] for name in effort.measured]
        key = [self.inputs[name] for name in effort.ints]
        key += [f"({v}.shape, {v}.itemsize)" for v in measures]
        ends = "," if key else ""
        self.refuse(f"{self.constant(effort.known)}.get(({', '.join(key)}{ends})) is not True")

    def result(self, output: Output) -> str:
        """Return the expression of a result; see `given_back`."""
        if output.kind == "known":
            return self.constant(output.value)
        if output.kind in OPEN:
            opening, closing = OPEN[output.kind]
            items = "".join([f"{self.result(item)}, " for item in output.items])
            return f"{opening}{items.strip() if output.items else ''}{closing}"
        if output.kind not in ("number", "array"):
            raise Unprinted
        return f"R[{output.name!r}]"
