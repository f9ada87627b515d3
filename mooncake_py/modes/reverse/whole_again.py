"""Gradients of functions that run whole, called again for arguments of the same kinds.

One printed function asks all that the general way would (`whole_or_parts`, `gradient_of_whole`),
of what can have changed since::

    def again(args):
        if enclosing() is not None or settings() is not None or not own.pays or ...:
            return None                             the general way decides
        found = match(args)
        if found is None or not holds(f) or sizes_of(args) != SIZES or ...:
            return None
        result = run(found, spares)
        if result is None:
            return None
        y, g = result
        return y, g[0]

It is made where the choice between compiled and plain code is settled, for compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from numpy import ndarray

from mooncake_py.boundary.apart import is_watched
from mooncake_py.boundary.arguments import ArgNums, choose_arguments, take_usual_dtypes
from mooncake_py.compiler.native.choices import choice_of
from mooncake_py.compiler.native.entering_again import SCOPE as ENTERING
from mooncake_py.compiler.native.entering_again import unserved
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.sites.choice import sizes_of
from mooncake_py.compiler.sites.pace import met
from mooncake_py.diagnostics.meter import reporter
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.modes.reverse.whole import matched, whole_gradient
from mooncake_py.modes.reverse.whole_arguments import parts_of_one
from mooncake_py.runtime.allowance import allowance
from mooncake_py.runtime.enclosing import enclosing

__all__ = ["Again", "GradientAgain"]

Again = Callable[[tuple[Any, ...]], "tuple[Any, Any] | None"]
FIRST = 12  # calls after which the choice of the way is settled, most often
MISSED = 8  # calls in a row that went the general way after all

SCOPE: dict[str, Any] = {
    **ENTERING, "LeftOnTheWayBack": LeftOnTheWayBack, "R": ReverseContext,
    "allowance": allowance, "enclosing": enclosing, "is_watched": is_watched, "met": met,
    "reporter": reporter.get, "settings": settings, "sizes_of": sizes_of,
    "take_usual_dtypes": take_usual_dtypes,
}  # fmt: skip


class GradientAgain:
    """The printed function of one gradient of the user's, made after some calls.

    Parameters
    ----------
    f : callable
        The function.
    argnums : int, str or tuple
    has_aux : bool
    """

    def __init__(self, f: Callable[..., Any], argnums: ArgNums, has_aux: bool) -> None:
        self.f = f
        self.argnums = argnums
        self.has_aux = has_aux
        self.again: Again | None = None
        self.calls = self.missed = 0
        self.next = FIRST

    def __call__(self, args: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """Return the value and the gradient, None if the call goes the general way."""
        again = self.again
        if again is None:
            return None
        found = again(args)
        if found is not None:
            self.missed = 0
            return found
        self.missed += 1
        if self.missed > MISSED:
            self.again = None
        return None

    def ran(self, args: tuple[Any, ...]) -> None:
        """Note a call in the general way, without keywords."""
        self.calls += 1
        if self.again is None and self.calls >= self.next:
            self.next = 2 * self.calls
            self.missed = 0
            self.again = made(self.f, self.argnums, self.has_aux, args)


def made(f: Any, argnums: ArgNums, has_aux: bool, args: tuple[Any, ...]) -> Again | None:
    """Return the printed function for arguments like these, None if there is none."""
    own = choice_of("gradient", f, args)
    if own is None or not own.pays:
        return None
    chosen = choose_arguments(f, argnums, args, {})
    function, given = f, args
    if type(f) is MethodType:
        function, given = f.__func__, (f.__self__, *args)
        chosen = [k + 1 if isinstance(k, int) else k for k in chosen]
    if len(set(chosen)) < len(chosen):
        return None
    found = matched(function, given, {})
    if found is None:
        return None
    site, reading, _ = found
    whole = whole_gradient(site, reading, tuple(chosen), has_aux)
    served = unserved(reading.site)
    if (
        whole is None
        or served is None
        or reading.match is None
        or reading.made is not None
        or (reading.captured and parts_of_one(whole.arguments))
        or site.takes.arranged(function, given, {}) is not given  # type: ignore[arg-type]
    ):
        return None
    scope: dict[str, Any] = {
        "SIZES": sizes_of(args), "f": function, "holds": reading.holds, "match": reading.match,
        "own": own, "run": whole.run, "spares": whole.form.spares, "trials": reading.site.trials,
    }  # fmt: skip
    lines = [
        "if enclosing() is not None or settings() is not None or not own.pays or is_watched():",
        "    return None",
        f"if len(args) != {len(args)} or reporter() is not None or allowance() is not None:",
        "    return None",
        "if not R.fuses or not R.tries_loops or not are_first() or trials.failed:",
        "    return None",
        "if may_be_caught() or is_strict():",
        "    return None",
    ]
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
        "if found is None or not holds(f) or Active in map(type, found):",
        "    return None",
        "if sizes_of(args) != SIZES:",
        "    return None",
    ]
    if served:
        names = [f"v{k}" for k in range(len(reading.site.region.inputs))]
        lines += [f"{', '.join(names)}, = found", f"if {' or '.join(served)}:", "    return None"]
    gradients = [f"g[{k}]" for k in range(len(chosen))]
    for k, structure in whole.structures.items():
        scope[f"of{k}"] = structure.of
        lines += [
            f"b{k} = of{k}(given[{whole.positions[k]}])",
            f"if b{k} is None:",
            "    return None",
        ]
        gradients[k] = f"b{k}[0](g[{k}], b{k}[1])"
    lines += [
        "try:",
        "    result = run(found, spares)",
        "except LeftOnTheWayBack:",
        "    return None",
        "if result is None:",
        "    return None",
        "y, g = result",
    ]
    if reading.has_loops:
        lines.append("met.loops = True")
    result = f"({', '.join(gradients)},)" if isinstance(argnums, tuple) else gradients[0]
    body = "\n    ".join([*lines, f"return y, {result}"])
    return define(f"def again(args):\n    {body}\n", {**SCOPE, **scope})["again"]
