"""Parameters in a structure as one vector, for optimisers and samplers.

Inside a derivative, the engine differentiates this code like that of the user.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.tangents.kinds import Fields
from mooncake_py.utilities.structures import holds_numbers
from mooncake_py.words import with_article

__all__ = ["HEAP_TYPE", "Attribute", "Build", "Flattening", "flatten", "flattened", "once"]

T = TypeVar("T")

Build = Callable[[Any], Any]
"""Makes a part of the structure, given the vector, or a list of leaves."""


def flatten(params: T) -> tuple[ndarray, Callable[[ndarray], T]]:
    """Return all numbers in a structure as one vector, and the inverse function.

    Parameters
    ----------
    params : object
        A float, a complex number, an array of these, or dicts, lists, tuples, named tuples,
        dataclasses and objects of them, at any depth, or a gradient of these.  Other values (ints,
        strings, None, functions) are constants.

    Returns
    -------
    vector : ndarray of shape (n,)
        The numbers in the order of the structure, in new memory; for complex numbers first the real
        parts, then the imaginary parts.
    unflatten : callable
        ``unflatten(vector)`` returns a structure like `params`, in new memory, with the numbers in
        `vector`, the types and dtypes of `params`, and the same constants.  It raises ValueError
        for a vector of another shape.

    Raises
    ------
    TypeError
        For an object of any other kind that holds numbers, such as a subclass of list, and for
        what holds itself.

    Notes
    -----
    Both directions are differentiable.  An array that occurs in two places becomes two arrays; an
    object that does is one object, the numbers of which are in the vector once.  Objects are copied
    without a call of ``__init__`` or ``__post_init__``.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import flatten, grad
    >>> vector, unflatten = flatten({"slope": np.array([1.0, 2.0]), "shift": 0.5})
    >>> vector
    array([1. , 2. , 0.5])
    >>> unflatten(vector * 2)
    {'slope': array([2., 4.]), 'shift': 1.0}
    >>> def loss(params):
    ...     return np.sum(params["slope"] ** 2) * params["shift"]
    >>> grad(lambda v: loss(unflatten(v)))(vector)
    array([1., 2., 5.])
    """
    return flattened(Flattening(), params)


def flattened(flattening: Flattening, params: T) -> tuple[ndarray, Callable[[ndarray], T]]:
    """Return the numbers in a structure as one vector, and the inverse function."""
    build = flattening.visit(params)
    size = flattening.size
    vector = np.concatenate(flattening.pieces) if size else np.empty(0)

    def unflatten(vector: ndarray) -> T:
        if np.shape(vector) != (size,):
            raise ValueError(f"unflatten takes a vector of {size} numbers, not {np.shape(vector)}")
        return build(vector)

    return vector, unflatten


class Flattening:
    """The state of a walk through a structure: the parts of the vector, and its length."""

    name = "flatten"

    def __init__(self) -> None:
        self.pieces: list[ndarray] = []
        self.size = 0
        self.objects: dict[int, tuple[Any, Build]] = {}  # by id; those within have no result yet

    def visit(self, value: Any) -> Build:
        """Append the numbers of a value; return a function that makes a value like it."""
        if isinstance(value, (float, complex, np.inexact)):
            return self.visit_number(value)
        return self.visit_parts(value)

    def visit_parts(self, value: Any) -> Build:
        """Do so for an array, a container or an object."""
        if type(value) is ndarray and value.dtype.kind in "fc":
            return self.visit_array(value)
        if isinstance(value, dict):
            return self.visit_dict(value)
        if type(value) in (list, tuple) or hasattr(type(value), "_make"):  # a named tuple
            return self.visit_sequence(value)
        if dataclasses.is_dataclass(value) and not issubclass(type(value), type):
            return self.visit_dataclass(value)
        if isinstance(value, FUNCTIONS) or not holds_numbers(value):
            return lambda vector: value
        if isinstance(value, Fields) or keeps_attributes_only(type(value)):
            return self.visit_shared(value)
        raise TypeError(
            f"{self.name} does not look into {with_article(type(value).__name__)}, which holds "
            "numbers: keep them in dicts, lists, tuples, objects and arrays"
        )

    def visit_part(self, step: Any, part: Any) -> Build:
        """Append the numbers of a part: `step` is its key, position or ``Attribute``."""
        return self.visit(part)

    def visit_shared(self, value: Any) -> Build:
        """Append the numbers of an object once, however often it is met."""
        if id(value) not in self.objects:
            self.objects[id(value)] = value, refuse_cycle
            visit = self.visit_fields if isinstance(value, Fields) else self.visit_object
            self.objects[id(value)] = value, once(visit(value))
        build = self.objects[id(value)][1]
        if build is refuse_cycle:
            kind = with_article(type(value).__name__)
            raise TypeError(f"{self.name} does not take what holds itself: {kind}")
        return build

    def take(self, flat: ndarray) -> Callable[[ndarray], ndarray]:
        """Append real numbers; return a function that finds them in a vector."""
        start = self.size
        stop = self.size = start + flat.size
        self.pieces.append(flat)
        return lambda vector: vector[start:stop]

    def visit_number(self, value: Any) -> Build:
        """Append a number."""
        kind = type(value)
        build = self.visit_array(np.array(value))
        return lambda vector: kind(build(vector)[()])

    def visit_array(self, value: ndarray) -> Build:
        """Append the elements of an array."""
        size, shape, dtype = value.size, value.shape, value.dtype
        if dtype.kind == "f":
            find = self.take(value.ravel())
            return lambda vector: find(vector).astype(dtype).reshape(shape)
        real, imag = self.take(np.real(value).ravel()), self.take(np.imag(value).ravel())

        def build_complex(vector: ndarray) -> ndarray:
            made = np.empty(size, dtype)
            made.real, made.imag = real(vector), imag(vector)
            return made.reshape(shape)

        return build_complex

    def visit_dict(self, value: dict[Any, Any]) -> Build:
        """Append the numbers in the values of a dict."""
        builds = {key: self.visit_part(key, part) for key, part in value.items()}
        if type(value) is dict:
            return lambda vector: {key: build(vector) for key, build in builds.items()}
        template = copy.copy(value)

        def build_dict(vector: ndarray) -> Any:
            made = copy.copy(template)
            for key, build in builds.items():
                made[key] = build(vector)
            return made

        return build_dict

    def visit_sequence(self, value: Any) -> Build:
        """Append the numbers in a list or a tuple."""
        kind = type(value)
        builds = [self.visit_part(i, part) for i, part in enumerate(value)]
        if hasattr(kind, "_make"):
            return lambda vector: kind._make([build(vector) for build in builds])
        return lambda vector: kind([build(vector) for build in builds])

    def visit_dataclass(self, value: Any) -> Build:
        """Append the numbers in the fields of a dataclass."""
        return self.visit_attributes(value, [field.name for field in dataclasses.fields(value)])

    def visit_object(self, value: Any) -> Build:
        """Append the numbers in the attributes of an object."""
        return self.visit_attributes(value, attribute_names(value))

    def visit_attributes(self, value: Any, names: list[str]) -> Build:
        """Append the numbers in some attributes, as far as they are there."""
        builds = {
            name: self.visit_part(Attribute(name), getattr(value, name))
            for name in names
            if hasattr(value, name)
        }
        template = copy.copy(value)

        def build_object(vector: ndarray) -> Any:
            made = copy.copy(template)
            for name, build in builds.items():
                object.__setattr__(made, name, build(vector))  # it may be frozen
            return made

        return build_object

    def visit_fields(self, value: Fields) -> Build:
        """Append the numbers in the gradient of an object."""
        kind = type(value)
        builds = {name: self.visit_part(Attribute(name), value[name]) for name in value}
        return lambda vector: kind.of({name: build(vector) for name, build in builds.items()})


class Attribute(NamedTuple):
    """A step of a path in a structure: to an attribute, not to an item."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


def refuse_cycle(vector: ndarray) -> Any:
    """Stand for the function that makes an object, as long as its parts are visited."""
    raise AssertionError


def once(build: Build) -> Build:
    """Return a function that makes one object of one vector, however often it is asked."""
    made: list[tuple[ndarray, Any]] = []

    def build_once(vector: ndarray) -> Any:
        if not made or made[0][0] is not vector:
            made[:] = [(vector, build(vector))]
        return made[0][1]

    return build_once


def keeps_attributes_only(t: type) -> bool:
    """Return whether the objects of a class hold nothing but attributes: it has no base in C."""
    return t is not object and all(b is object or b.__flags__ & HEAP_TYPE for b in t.__mro__)


def attribute_names(value: Any) -> list[str]:
    """Return the names of what is in the ``__dict__`` and the slots of an object."""
    names: list[str] = list(getattr(value, "__dict__", ()))
    for t in type(value).__mro__:
        found = t.__dict__.get("__slots__", ())
        for name in (found,) if isinstance(found, str) else found:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{t.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                names.append(name)
    return names


HEAP_TYPE = 1 << 9
"""The flag of a class that was made by a ``class`` statement."""
FUNCTIONS = type, FunctionType, BuiltinFunctionType, MethodType, functools.partial, np.ufunc
