"""Objects of a message as one vector, and objects from it: what pickle sends, and as pickle does.

What stands twice in a message, an array or a container, is one object where it arrives.  Arrays
keep the order of their memory, and objects of classes without a way of their own to be pickled
their attributes.

Inside a derivative, the engine differentiates this code like that of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from mooncake_py.overriding import override
from mooncake_py.utilities.flattening import HEAP_TYPE, Build, Flattening, flattened, once

__all__ = ["flat_message"]

OWN_WAYS = "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__"
OWN_WAYS_OF_OBJECTS = [getattr(object, name, None) for name in OWN_WAYS]


def flat_message(objects: Any) -> tuple[ndarray, Callable[[ndarray], Any]]:
    """Return the numbers of a message as one vector, and what makes its objects of a vector."""
    return flattened(Message(), objects)


class Message(Flattening):
    """The walk through the objects of a message."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, tuple[Any, Build]] = {}  # by the id of what was met

    @override
    def visit_parts(self, value: Any) -> Build:
        if id(value) not in self.known:
            is_object = is_plain_object(value)
            build = self.visit_object(value) if is_object else super().visit_parts(value)
            self.known[id(value)] = value, once(build)
        return self.known[id(value)][1]

    @override
    def visit_array(self, value: ndarray) -> Build:
        if value.flags.c_contiguous or not value.flags.f_contiguous:
            return super().visit_array(value)
        build = super().visit_array(value.T)
        return lambda vector: build(vector).T

    @override
    def visit_object(self, value: Any) -> Build:
        """Append the numbers in the attributes of an object."""
        kind = type(value)
        builds = {name: self.visit(part) for name, part in vars(value).items()}

        def build_object(vector: ndarray) -> Any:
            made = object.__new__(kind)
            for name, build in builds.items():
                object.__setattr__(made, name, build(vector))
            return made

        return build_object


def is_plain_object(value: Any) -> bool:
    """Return whether pickle keeps the attributes of an object, and nothing else."""
    t = type(value)
    return (
        t.__flags__ & HEAP_TYPE != 0
        and t.__new__ is object.__new__
        and t.__setattr__ is object.__setattr__
        and not hasattr(t, "__slots__")
        and [getattr(t, name, None) for name in OWN_WAYS] == OWN_WAYS_OF_OBJECTS
    )
