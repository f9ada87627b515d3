"""Names beside slices that turn out to be arrays: ``y[i] = w @ x[i : i + k]``.

Only a run tells whether w is a number or an array; with arrays there is another region, in which
they are read as ``w[...]``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.forms import names_read
from mooncake_py.compiler.ir import Block, Region, Sliced, with_blocks
from mooncake_py.compiler.simplify import names_of
from mooncake_py.compiler.slices.indices import EVERYTHING, ints_of
from mooncake_py.compiler.statements.statement import Part

__all__ = ["may_be_arrays", "with_arrays"]


def may_be_arrays(region: Region) -> frozenset[str]:
    """Return the inputs that are operands beside slices, and nothing else."""
    found = {name for s in region.sliced for name in s.numbers}
    ints = names_of(e for s in region.sliced for e in ints_of(s))
    return frozenset(found.intersection(region.inputs).difference(
        names_read(region.body), ints, region.bound
    ))  # fmt: skip


def with_arrays(region: Region, names: Collection[str]) -> Region:
    """Return a region in which some of these names are arrays."""

    def bind(block: Block) -> Block:
        return tuple(
            read_as_arrays(s, names) if isinstance(s, Sliced) else with_blocks(s, bind)
            for s in block
        )

    return replace(
        region,
        body=bind(region.body),
        arrays={**dict.fromkeys(names, 0), **region.arrays},
        shaped=region.shaped.union(names),
        whole=region.whole.union(names),
    )


def read_as_arrays(s: Sliced, names: Collection[str]) -> Sliced:
    """Return a statement that reads some names as arrays."""
    position = len(s.values)
    layout: list[Part] = []
    for part in s.statement.layout:
        is_whole = isinstance(part, int) and s.values[part].name in names
        layout.append((part, position) if is_whole else part)  # type: ignore[arg-type]
    values: tuple[Any, ...] = (*s.values, EVERYTHING)
    statement = s.statement._replace(
        layout=tuple(layout),
        passed=len(values),
        certain=s.statement.certain | {position},
    )
    return Sliced(statement, values, s.target, s.written, place=s.place)
