"""The entry of a region on the tape, and its reverse."""

from __future__ import annotations

import sys
from typing import Any

from mooncake_py.compiler.sites.cells import cells_of
from mooncake_py.compiler.sites.items import Items

__all__ = ["bytes_kept", "pull_region"]

FLOAT_BYTES = sys.getsizeof(1.0)


def pull_region(entry: tuple[Any, ...]) -> None:
    """Reverse of a region: give the cotangents of what it wrote and bound to what it read."""
    _, form, floats, ints, steps, state, read, nodes, _, outputs, leaves = entry
    if all(node.grad is None for node in nodes) and not any(y.grad for y in outputs):
        return
    for node in nodes:
        node.shadow()  # may lay out again what another one shares
    shadows = [node.shadow() for node in nodes]
    cells = [*map(cells_of, read), *map(cells_of, shadows)]
    grads = [y.grad for y in outputs]
    found = form.reverse(floats.pop, ints.pop, steps, *state, *cells, *grads)
    for leaf, grad in zip(leaves, found, strict=True):
        leaf.grad += grad
    for node in nodes:
        if isinstance(node, Items):
            node.deliver()


def bytes_kept(entry: tuple[Any, ...]) -> int:
    """Return about how many bytes the slopes and ints in an entry take."""
    _, _, floats, ints, *_ = entry
    return len(floats) * (FLOAT_BYTES + 8) + len(ints) * 8
