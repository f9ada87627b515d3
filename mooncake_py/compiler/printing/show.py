"""Print regions as text for readers."""

from __future__ import annotations

from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.ir import Assign, For, Load, Name
from mooncake_py.compiler.regions.region import Region

__all__ = ["heading", "shown"]


def heading(region: Region) -> str:
    """Return a heading that identifies a loop: its target, or its test."""
    loop = region.loop
    if not isinstance(loop, For):
        return f"while {Emitter().text(loop.test)}"
    if loop.name in region.bound:
        return f"for {region.bound[loop.name]}"
    # It runs over arrays: their elements are read first, by a counter that the user does not see.
    items = [
        region.bound[s.target.name]
        for s in loop.body
        if isinstance(s, Assign)
        and isinstance(s.target, Name)
        and isinstance(s.value, Load)
        and s.value.index == (Name(loop.name),)
    ]
    return f"for {', '.join(items)}"


def shown(region: Region) -> str:
    """Return a region as text: what it is given, its statements, what it binds."""
    given = [
        f"{name}[{region.arrays[name]}]" if name in region.arrays else name
        for name in region.inputs
    ]
    lines = [f"given {', '.join(given)}", *Emitter().block(region.body)]
    return "\n".join([*lines, f"binds {', '.join(region.bound)}"]) + "\n"
