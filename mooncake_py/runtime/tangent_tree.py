"""Nodes in the structure of a container or an object."""

from __future__ import annotations

from typing import Any

__all__ = ["TangentTree"]


class TangentTree:
    """Nodes in the structure of a container or an object.

    Attributes
    ----------
    kind : type
        Container of the tangent: tuple, list, dict, `Tangent` or `MutableTangent`.
    parts : dict
        A node, a `TangentTree` or None (no derivative) for each index, key or name.
    """

    __slots__ = ("kind", "parts")

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.parts: dict[Any, Any] = {}
