"""The entry of compiled code on the tape, and its reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.passed import as_real, in_order, share_memory
from mooncake_py.compiler.sites.items import Items

if TYPE_CHECKING:
    from mooncake_py.compiler.native.form import Form
    from mooncake_py.compiler.native.spares import Stack
    from mooncake_py.runtime.active import Active

__all__ = ["bytes_kept", "overlapping", "pull_native", "pull_native_loop"]


def bytes_kept(entry: tuple[Any, ...]) -> int:
    """Return how many bytes the stack in an entry takes."""
    return entry[2].array.nbytes


def overlapping(memories: list[Any], shadows: list[ndarray]) -> set[int]:
    """Return the places of cotangents that have elements of others.

    Their arrays are not written (see `RegionSite.serves`), so the way back only adds to them; what
    is compiled takes for granted that nothing overlaps.
    """
    if len(set(map(id, memories))) == len(memories):
        return set()
    return {
        k
        for k, a in enumerate(shadows)
        for other, b in enumerate(shadows)
        if k != other and memories[k] is memories[other] and share_memory(a, b)
    }


def pull_native(entry: tuple[Any, ...]) -> None:
    """Reverse of a region: give the cotangents of what it wrote and gave back to what it read."""
    _, form, stack, values, nodes, outputs, leaves, _ = entry
    if not nodes:
        pull_numbers(form, stack, values, outputs, leaves)
        return
    if not any(y.grad for y in outputs) and all(node.memory.grad is None for node in nodes):
        return
    zeros = [k for k, node in enumerate(nodes, len(values)) if node.memory.grad is None]
    for node in nodes:
        node.shadow()  # may lay out again what another one shares
    shadows = [node.shadow() for node in nodes]
    added = overlapping([node.memory for node in nodes], shadows)
    packed = [
        np.zeros(a.shape, a.dtype) if k in added else in_order(a) for k, a in enumerate(shadows)
    ]
    reals = [as_real(a) if a.dtype.kind == "c" else a for a in packed]
    given = (*values, *reals, *[float(y.grad) for y in outputs])
    more: dict[str, Any] = {} if form.quick is None else {"zeros": zeros}
    found = form.reverse(stack.array, stack.top, *given, **more)
    for k, (a, own) in enumerate(zip(shadows, packed, strict=True)):
        if k in added:
            a += own
        elif type(a) is list:
            a[:] = own.tolist()
        elif own is not a:
            a[...] = own
    for leaf, grad in zip(leaves, found, strict=True):
        if leaf is not None:
            leaf.grad += grad
    for node in nodes:
        if type(node) is Items:
            node.deliver()


def pull_numbers(
    form: Form,
    stack: Stack,
    values: Sequence[Any],
    outputs: Sequence[Active],
    leaves: Sequence[Active | None],
) -> None:
    """Do the same where numbers alone are active."""
    grads = [float(y.grad) for y in outputs]
    if any(grads):
        found = form.reverse(stack.array, stack.top, *values, *grads)  # type: ignore[misc]
        for leaf, grad in zip(leaves, found, strict=True):
            if leaf is not None:
                leaf.grad += grad


def pull_native_loop(entry: tuple[Any, ...]) -> None:
    """Reverse of a loop, which has an entry of another name."""
    pull_native(entry)
