"""Detection of adjoints that turn finite cotangents into nan or infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.codual_call import pull_codual
from mooncake_py.errors import Location, NonFiniteDerivativeError
from mooncake_py.modes.debug.operands import arrays_read
from mooncake_py.modes.debug.summaries import summary
from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.views import View

__all__ = ["Watch"]

NODES = (Memory, View)

# Reads and writes of elements: positions of the node and of the index in the entry.
INDEXED = {
    pulls.pull_element: (2, 3),
    pulls.pull_gather: (2, 3),
    pulls.pull_assign: (1, 2),
    pulls.pull_inplace_element: (1, 2),
}

MOVES_NO_COTANGENT = pulls.RESTORES


class Watch:
    """The cotangents that one entry works on, before and after it is reversed.

    Parameters
    ----------
    find : callable
        From an array to its node.
    entry : tuple
        About to be reversed.
    """

    def __init__(self, find: Any, entry: tuple[Any, ...]) -> None:
        self.entry = entry
        self.node, self.index = indexed_part(entry)
        self.nodes = [n for n in nodes_in(find, entry) if n is not self.node]
        before = self.cotangents()
        self.was_finite = all(map(all_finite, before))
        self.incoming = np.copy(before[0]) if self.was_finite and before else None

    def cotangents(self) -> list[Any]:
        """Return the cotangents, of elements where the entry works on elements."""
        found = [node.grad for node in self.nodes]
        if self.node is not None:
            found.append(element(self.node, self.index))
        return [g for g in found if g is not None]

    def check(self, operation: str, where: Location | None) -> None:
        """Raise if a cotangent is not finite now that all were before."""
        if not self.was_finite:
            return
        for g in self.cotangents():
            if not all_finite(g):
                raise self.error(g, operation, where)

    def error(self, g: Any, operation: str, where: Location | None) -> NonFiniteDerivativeError:
        """Return the error, with the cotangents and what the adjoint reads."""
        values = "\n".join(f"{label + ':':<18}{text}" for label, text in self.values())
        incoming = "zero" if self.incoming is None else summary(self.incoming[()])
        return NonFiniteDerivativeError(
            f"the adjoint of {operation} made a cotangent that is not finite",
            where=where,
            why=f"cotangent before: {incoming}\ncotangent after:  {summary(g)}"
            + (f"\n{values}" if values else "")
            + "\nthe derivative is infinite or undefined there, or overflows",
            fix="keep the operation away from such points: np.where(mask, x, 1.0) before it, not\n"
            "after it; if you expect the infinity, use debug_mode(check_finite=False)",
        )

    def values(self) -> list[tuple[str, str]]:
        """Return the values that the adjoint reads, in words."""
        found: list[tuple[str, Any]] = [
            ("output" if n is self.entry[1] else "operand", n)
            for n in self.nodes
            if type(n) is Active
        ]
        found += [("operand", a) for a in arrays_read(self.entry)]
        return [(label, summary(v)) for label, v in found[:6]]


def indexed_part(entry: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return node and index of an entry that works on elements."""
    where = INDEXED.get(entry[0])
    return (None, None) if where is None else (entry[where[0]], entry[where[1]])


def element(node: Any, index: Any) -> Any:
    """Return the cotangents of the elements of an array that an entry works on."""
    return None if node.memory.grad is None else node.shadow()[index]


def nodes_in(find: Any, entry: tuple[Any, ...]) -> list[Any]:
    """Return the nodes that an entry adds to or takes from."""
    if entry[0] in MOVES_NO_COTANGENT:
        return []
    found: list[Any] = []
    if entry[0] is pull_codual:
        collect(entry[1], found, set())
        collect(entry[4], found, set(), find)
    else:
        collect(entry[1:], found, set())
    return found


def collect(value: Any, found: list[Any], seen: set[int], find: Any = None) -> None:
    """Add the nodes among values, and those of arrays if `find` is given, to a list."""
    t = type(value)
    if t is Active or isinstance(value, NODES):
        found.append(value)
    elif (t is tuple or t is list) and id(value) not in seen:
        seen.add(id(value))
        for part in value:
            collect(part, found, seen, find)
    elif t is ndarray and find is not None and (node := find(value)) is not None:
        found.append(node)


def all_finite(g: Any) -> bool:
    """Return whether a cotangent is finite."""
    dtype = getattr(g, "dtype", None)
    if dtype is not None and dtype.names is not None:
        return all(all_finite(g[name]) for name in dtype.names)
    if dtype is not None and dtype.kind in "OSUV":
        return True  # a field of objects or strings, next to fields of numbers
    return bool(np.isfinite(g).all())
