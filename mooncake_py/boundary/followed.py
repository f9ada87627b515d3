"""Copies of arguments that an outer derivative follows."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from numpy import ndarray
from numpy.typing import NDArray

from mooncake_py.application.copying import Copier
from mooncake_py.overriding import override
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import is_writeable, owner, shadow_view, zeros_like_owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["FollowedCopier", "PartCopier"]


class FollowedCopier(Copier):
    """Copies values so that an outer derivative follows the copying.

    Parameters
    ----------
    apart : collection of int
        The ids of tuples, and of similar values, that are copied though none of their parts is:
        another argument has them.
    """

    def __init__(
        self,
        outer: Mode | None,
        share_others: bool = False,
        apart: Collection[int] = (),
        keep_views: bool = True,
    ) -> None:
        super().__init__(None, keep_views, share_others)
        self.outer = outer
        self.apart = apart
        self.arrays: list[tuple[ndarray, ndarray]] = []  # with their copies, views too

    @override
    def copy(self, value: Any) -> Any:
        new = super().copy(value)
        if issubclass(type(value), ndarray) and new is not value:
            self.arrays.append((value, new))
        if new is value and id(value) in self.apart:
            spec = spec_of(value)
            return self.remember(value, spec.build(value, dict(spec.fields(value) or {})))
        return new

    @override
    def copy_array(self, array: NDArray[Any]) -> NDArray[Any]:
        if self.outer is None:
            return super().copy_array(array)
        self.outer.registry.look_up.view = array  # of the block, no more is asked for
        try:
            new = super().copy_array(array)
        finally:
            self.outer.registry.look_up.view = None
        root = owner(array)
        if root is not array and is_of_bytes(root) and self.keep_views:
            self.follow_bytes(self.outer, array, root)
        return new

    def follow_bytes(self, outer: Mode, array: ndarray, root: ndarray) -> None:
        """Let the outer derivative follow the copying of floats in a block of bytes.

        The copy of the block has the bytes alone: it is an array of integers.
        """
        array = plain(array)
        if array.dtype.kind in "fc" and outer.find(array) is not None:
            block = self.memo[id(root)][1]
            block.flags.writeable = True
            outer.assign(shadow_view(block, root, array), Ellipsis, array)
            block.flags.writeable = is_writeable(root)

    @override
    def copy_owner(self, root: ndarray) -> ndarray:
        if self.outer is None or is_of_bytes(root) or self.outer.find(root) is None:
            return super().copy_owner(root)
        new = zeros_like_owner(root)
        store = self.outer.assign if root.dtype.names is None else self.outer.setitem
        store(new, Ellipsis, root)
        new.flags.writeable = is_writeable(root)
        return new


def is_of_bytes(block: ndarray) -> bool:
    """Return whether floats in a block are seen through views of another dtype alone."""
    return block.dtype.kind not in "fcV"


class PartCopier(FollowedCopier):
    """Copies what leads to some arrays and containers, known by their ids; all else is shared."""

    def __init__(self, leads: set[int], outer: Mode | None) -> None:
        super().__init__(outer, share_others=True, apart=leads)
        self.chosen = leads

    @override
    def copied(self) -> set[int]:
        return self.chosen

    @override
    def copy_if_leading(self, value: Any) -> Any:
        if self.leads(value):
            self.chosen.add(id(value))
        return super().copy_if_leading(value)

    @override
    def copy(self, value: Any) -> Any:
        return super().copy(value) if id(value) in self.chosen else value
