"""The arrays that a region has bound names to, as the tape knows them.

In the region each binding is a new array, or another name of one; none is written to.  The way back
puts the former array of a name back where an adjoint reads it, and its cotangent is a new array
too, or None for zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.forms.form import Form
from mooncake_py.compiler.slices.lists import ArrayItems

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Variables"]


class Variables:
    """What a run of a region has bound.

    Parameters
    ----------
    ctx : ReverseMode
    form : Form
    inputs, arrays : mapping of str to ndarray
        What the names were bound to before and afterwards.

    Attributes
    ----------
    ends : list of ndarray
        What the way back begins with.
    """

    def __init__(
        self,
        ctx: ReverseMode,
        form: Form,
        inputs: Mapping[str, Any],
        arrays: Mapping[str, ndarray],
    ) -> None:
        registry = ctx.registry
        lists = {id(a): a for a in inputs.values() if type(a) is ArrayItems}.values()
        given = {id(a) for a in inputs.values()}.union(*(map(id, items.given) for items in lists))
        made = {id(arrays[name]): arrays[name] for name in form.variables_on}
        nodes = {
            key: registry.activate(a) if key in given else registry.fresh(a)
            for key, a in made.items()
        }
        self.made = [nodes[id(arrays[name])] for name in form.variables_on]
        self.starts = [registry.activate(inputs[name]) for name in form.variable_leaves]
        self.ends = [arrays[name] for name in form.variables_read]
        # What was saved may be any of these: results, and arrays that other names had before.
        ends = map(arrays.__getitem__, form.visible)
        starts = [inputs[name] for name in form.variables if name in inputs]
        for a in {id(a): a for a in (*ends, *starts)}.values():
            registry.protect(a)
        on = {id(inputs[name]) for name in form.shadows}
        for items in lists:
            if id(items) in on:
                items.register(registry, nodes, given)
            items.protect(registry)

    @property
    def is_idle(self) -> bool:
        """Whether no cotangent has come."""
        return all(node.grad is None for node in self.made)

    def take(self) -> list[Any]:
        """Take the cotangents of what was bound in the end, None for zero.

        Two names may be bound to one array: the first one takes it all.
        """
        return [node.take() for node in self.made]

    def give(self, cotangents: Sequence[Any]) -> None:
        """Add the cotangents of what was bound before."""
        for node, g in zip(self.starts, cotangents, strict=True):
            if g is not None:
                node.add_shared(g)
