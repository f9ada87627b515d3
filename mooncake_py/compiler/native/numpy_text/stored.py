"""Numbers that have a name only to be stored next."""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import bound_by
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Assign, Block, Let, Load, Name, Statement

__all__ = ["stored_at_once"]


def stored_at_once(block: Block, kinds: Mapping[str, str], reads: Mapping[str, int]) -> Block:
    """Return a block in which what is named only to be stored has no name.

    ``s = x[i] + a; x[i] = s`` is ``x[i] = x[i] + a``.
    """
    found: list[Statement] = []
    for s in block:
        last = found[-1] if found else None
        if (
            isinstance(s, Assign)
            and isinstance(s.target, Load)
            and isinstance(s.value, Name)
            and isinstance(last, Assign | Let)
            and bound_by(last) == (s.value.name,)
            and reads[s.value.name] == 1
            and kinds.get(s.value.name, FLOAT) == kinds.get(s.target.array, FLOAT)
            and kind_of(last.value, kinds) == kinds.get(s.value.name, FLOAT)
        ):
            found[-1] = Assign(s.target, last.value, place=s.place)
        else:
            found.append(s)
    return tuple(found)
