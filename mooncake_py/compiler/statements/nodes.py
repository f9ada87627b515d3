"""Lines that look up the nodes of arrays, and check that constant arrays have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.statements.lines import CHOOSE, choosing

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["are_active", "look_up", "no_nodes", "nodes_of"]


def look_up(pairs: list[tuple[str, str]]) -> list[str]:
    """Return the lines that look up nodes; another form is chosen where an array is constant.

    Parameters
    ----------
    pairs : list of (str, str)
        The names of the nodes and of the arrays.
    """
    lines = [f"{n} = known.get(id({a}))" for n, a in pairs]
    lines.append(f"if {' or '.join([f'{n} is None or {n}.ref() is not {a}' for n, a in pairs])}:")
    if len(pairs) == 1:
        ((n, a),) = pairs
        return [*lines, f"    {n} = C.find({a})", *choosing([f"{n} is None"])]
    return [  # views may be met for the first time
        *lines,
        f"    found = nodes_of(C, ({', '.join([a for _, a in pairs])}))",
        "    if found is None:",
        f"    {CHOOSE}",
        f"    {', '.join([n for n, _ in pairs])} = found",
    ]


def no_nodes(arrays: list[str]) -> str:
    """Return the test whether arrays are constant; few are views."""
    plain = " is ".join([f"C.known.get(id({a})) is {a}.base" for a in arrays])
    return f"({plain} is None or not are_active(C, ({', '.join(arrays)},)))"


def nodes_of(ctx: ReverseMode, arrays: tuple[ndarray, ...]) -> list[Any] | None:
    """Return the nodes of arrays, None if one is constant."""
    found = [ctx.find(a) for a in arrays]
    return None if None in found else found


def are_active(ctx: ReverseMode, arrays: tuple[ndarray, ...]) -> bool:
    """Return True if some arrays are active."""
    for a in arrays:  # noqa: SIM110 - runs often where constants are views; any() is slower
        if ctx.find(a) is not None:
            return True
    return False
