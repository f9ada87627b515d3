"""The entry of a region on the tape, and its reverse."""

from __future__ import annotations

import sys
from typing import Any

from numpy import ndarray

from mooncake_py.compiler.sites.cells import cells_of
from mooncake_py.compiler.sites.items import Items

__all__ = ["bytes_kept", "pull_region"]

FLOAT_BYTES = sys.getsizeof(1.0)


def pull_region(entry: tuple[Any, ...]) -> None:
    """Reverse of a region: give the cotangents of what it wrote and bound to what it read."""
    _, form, floats, ints, steps, state, read, nodes, _, outputs, leaves, ends = entry
    idle = all(node.grad is None for node in nodes) and not any(y.grad for y in outputs)
    if idle and (ends is None or ends.is_idle):
        return
    taken = [] if ends is None else [*ends.ends, *ends.take()]
    for node in nodes:
        node.shadow()  # may lay out anew what another one shares
    shadows = [node.shadow() for node in nodes]
    count = len(form.read)
    cells = [*map(cells_of, read[:count]), *map(cells_of, shadows)]
    grads = [y.grad for y in outputs]
    whole = read[count:]
    if form.whole_shadows:
        pairs = zip(form.shadows, shadows, strict=True)
        whole += [d for name, d in pairs if name in form.whole_shadows]
    found = form.reverse(floats.pop, ints.pop, steps, *state, *cells, *grads, *whole, *taken)
    for leaf, grad in zip(leaves, found, strict=False):
        leaf.grad += grad
    if ends is not None:
        ends.give(found[len(leaves) :])
    for node in nodes:
        if isinstance(node, Items):
            node.deliver()


def bytes_kept(entry: tuple[Any, ...]) -> int:
    """Return about how many bytes the slopes, ints and slices in an entry take."""
    _, _, floats, ints, *_ = entry
    arrays = sum([part.nbytes for part in ints if type(part) is ndarray])
    return len(floats) * (FLOAT_BYTES + 8) + len(ints) * 8 + arrays
