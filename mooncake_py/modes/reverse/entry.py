"""The first half of a printed function: what must hold for it to take a call.

Each line asks for something that the general way asks too (`whole_or_parts`, `matched`), of what
can have changed since the calls for which the function was printed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from numpy import ndarray

from mooncake_py.boundary.apart import is_watched
from mooncake_py.boundary.arguments import take_usual_dtypes
from mooncake_py.compiler.native.choices import choice_of
from mooncake_py.compiler.native.entering_again import SCOPE as ENTERING
from mooncake_py.compiler.native.entering_again import unserved
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.native.site import FunctionSite, site_of
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.sites.choice import sizes_of
from mooncake_py.compiler.sites.pace import met
from mooncake_py.diagnostics.meter import reporter
from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.modes.reverse.whole import matched
from mooncake_py.runtime.allowance import allowance
from mooncake_py.runtime.enclosing import enclosing

__all__ = ["Entry", "entry_for", "kept"]

SCOPE: dict[str, Any] = {
    **ENTERING, "LeftOnTheWayBack": LeftOnTheWayBack, "R": ReverseContext,
    "allowance": allowance, "enclosing": enclosing, "is_watched": is_watched, "met": met,
    "reporter": reporter.get, "settings": settings, "sizes_of": sizes_of,
    "take_usual_dtypes": take_usual_dtypes,
}  # fmt: skip


class Entry(NamedTuple):
    """Lines of a function of ``f`` and ``args`` that returns None unless it may take the call.

    They bind ``given``, the arguments with those of methods and closures, and ``found``, the
    inputs of the region.

    Attributes
    ----------
    site : FunctionSite
    reading : Reread
    inputs : dict of str to object
        Of the region, in the call for which it is printed.
    lines : list of str
    scope : dict of str to object
        The names that lines use.
    """

    site: FunctionSite
    reading: Reread
    inputs: dict[str, Any]
    lines: list[str]
    scope: dict[str, Any]

    def refuse(self, condition: str) -> None:
        """Return None where a condition is met."""
        self.lines.extend([f"if {condition}:", "    return None"])

    def define(self, parameters: str, lines: Sequence[str]) -> Any:
        """Return the function that goes on with other lines."""
        body = "\n    ".join([*self.lines, *lines])
        return define(f"def again({parameters}):\n    {body}\n", {**SCOPE, **self.scope})["again"]


def entry_for(kind: str, f: Any, args: tuple[Any, ...]) -> Entry | None:
    """Return the lines for calls like this one, None if there is no printed function for them.

    Parameters
    ----------
    kind : str
        Of derivative, for which compiled code must be known to pay.
    """
    own = choice_of(kind, f, args)
    if own is None or not own.pays:
        return None
    function, given = (f.__func__, (f.__self__, *args)) if type(f) is MethodType else (f, args)
    match = matched(function, given, {})
    if match is None:
        return None
    site, reading, inputs = match
    served = unserved(reading.site)
    if (
        served is None
        or reading.match is None
        or reading.made is not None
        or site.takes.arranged(function, given, {}) is not given  # type: ignore[arg-type]
    ):
        return None
    scope: dict[str, Any] = {
        "SIZES": sizes_of(args), "holds": reading.holds, "match": reading.match, "own": own,
        "trials": reading.site.trials,
    }  # fmt: skip
    entry = Entry(site, reading, inputs, [], scope)
    entry.refuse("enclosing() is not None or settings() is not None or not own.pays")
    entry.refuse(f"len(args) != {len(args)} or reporter() is not None or allowance() is not None")
    entry.refuse("is_watched() or not R.fuses or not R.tries_loops or not are_first()")
    entry.refuse("trials.failed or may_be_caught() or is_strict()")
    lines = entry.lines
    if ndarray in map(type, args):
        lines.append("take_usual_dtypes(*args)")
    values = ["*args"]
    if given is not args:
        scope["o"] = given[0]
        values.insert(0, "o")
    for k, c in enumerate(reading.captured):
        scope |= {f"c{k}": c.value, "first": reading.callees.every[0]}
        values.append(f"c{k}(f, first)")
    lines += [
        f"given = ({', '.join(values)},)" if len(values) > 1 else "given = args",
        "found = match(given)",
    ]
    entry.refuse("found is None or not holds(f) or Active in map(type, found)")
    entry.refuse("sizes_of(args) != SIZES")
    if served:
        names = [f"v{k}" for k in range(len(reading.site.region.inputs))]
        lines.append(f"{', '.join(names)}, = found")
        entry.refuse(" or ".join(served))
    return entry


def kept(
    f: Any, key: Hashable, make: Callable[..., Callable[..., Any] | None]
) -> CalledAgain[..., Any] | None:
    """Return the printed functions kept with a compiled one for one kind of derivative.

    None for other callables than functions.  What is printed may not refer to `f`: it is passed.
    """
    site = site_of(f) if type(f) is FunctionType else None
    if site is None:
        return None
    found = site.again.get(key)
    return site.again.setdefault(key, CalledAgain(make)) if found is None else found
