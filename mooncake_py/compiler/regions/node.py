"""Nodes of the intermediate representation: immutable, equal if they mean the same.

As frozen dataclasses would be, but made in a fifth of the time: importing the package pays for
each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from mooncake_py.syntax.nodes import Place

__all__ = ["Node"]

INIT = """\
def __init__(self, {parameters}*, place=None):
    d = self.__dict__
{lines}    d["place"] = place
"""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Immutable:
    """A node whose fields are those that its class annotates."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _meaning: ClassVar[Callable[[Any], Any]]
    """The values of the fields that comparisons use."""

    def __init_subclass__(cls) -> None:
        names = tuple(cls.__annotations__)
        texts = [f"{name}, " for name in names]
        lines = [f"    d[{name!r}] = {name}\n" for name in names]
        namespace: dict[str, Any] = {}
        exec(INIT.format(parameters="".join(texts), lines="".join(lines)), namespace)
        cls._fields = names
        if "_meaning" not in cls.__dict__:
            cls._meaning = attrgetter(*names) if names else type
        cls.__init__ = namespace["__init__"]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        meaning = type(self)._meaning
        return self is other or meaning(self) == meaning(other)

    def __hash__(self) -> int:
        d = self.__dict__
        known = d.get("hash")
        if known is None:  # that of a tree asks all of it
            known = d["hash"] = hash((type(self), type(self)._meaning(self)))
        return known

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({fields})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to field {name!r} of {type(self).__name__}")


class Node(Immutable):
    """A node, with its place in the source.

    Attributes
    ----------
    place : Place or None
        Has no part in equality.
    """

    if TYPE_CHECKING:
        place: Place | None = field(default=None, kw_only=True)
