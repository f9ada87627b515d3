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
from functools import partial
from types import MethodType
from typing import Any

from mooncake_py.boundary.arguments import ArgNums, choose_arguments
from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.modes.reverse.entry import entry_for
from mooncake_py.modes.reverse.whole import whole_gradient
from mooncake_py.modes.reverse.whole_arguments import parts_of_one

__all__ = ["Again", "GradientAgain"]

Again = Callable[[tuple[Any, ...]], "tuple[Any, Any] | None"]


class GradientAgain(CalledAgain[[tuple[Any, ...]], "tuple[Any, Any]"]):
    """The printed function of one gradient of the user's.

    Parameters
    ----------
    f : callable
        The function.
    argnums : int, str or tuple
    has_aux : bool
    """

    def __init__(self, f: Callable[..., Any], argnums: ArgNums, has_aux: bool) -> None:
        super().__init__(partial(made, f, argnums, has_aux))


def made(f: Any, argnums: ArgNums, has_aux: bool, args: tuple[Any, ...]) -> Again | None:
    """Return the printed function for arguments like these, None if there is none."""
    entry = entry_for("gradient", f, args)
    if entry is None:
        return None
    function, chosen = f, choose_arguments(f, argnums, args, {})
    if type(f) is MethodType:
        function, chosen = f.__func__, [k + 1 if isinstance(k, int) else k for k in chosen]
    if len(set(chosen)) < len(chosen):
        return None
    reading = entry.reading
    whole = whole_gradient(entry.site, reading, tuple(chosen), has_aux)
    if whole is None or (reading.captured and parts_of_one(whole.arguments)):
        return None
    scope = entry.scope
    scope |= {"f": function, "run": whole.run, "spares": whole.form.spares}
    lines: list[str] = []
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
    return entry.define("args", [*lines, f"return y, {result}"])
