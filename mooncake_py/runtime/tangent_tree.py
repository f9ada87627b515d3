"""Nodes in the structure of a container or an object."""

from __future__ import annotations

from typing import Any

__all__ = ["TangentTree"]


class TangentTree:
    """Nodes in the structure of a container or an object."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: type) -> None:
        self.kind = kind  # of the tangent: tuple, list, dict, `Tangent` or `MutableTangent`
        # By index, key or name: a node, a tree, or None where there is no derivative.
        self.parts: dict[Any, Any] = {}
