"""How a primal type is taken apart and put together: one small spec for each type.

All operations on tangents follow from a spec, which defines the fields of a value, whether it is
mutable, and how to make a similar value with other fields.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from mooncake_py.overriding import override
from mooncake_py.remembered import Table, remembered
from mooncake_py.tangents.annotations import annotated_fields
from mooncake_py.tangents.fields import instance_dict
from mooncake_py.tangents.kinds import MutableTangent, Tangent

__all__ = ["ObjectSpec", "TangentSpec", "register_tangent"]

S = TypeVar("S", bound="type[TangentSpec] | TangentSpec")


class TangentSpec:
    """The properties of a type that `mooncake_py` must know.  Every part has a default.

    Subclass it, say what differs, and register it with :func:`register_tangent`.

    Attributes
    ----------
    differentiable : bool
        False: values of the type have no derivative, their tangent is ``NoTangent()``.
    mutable : bool
        True: the tangent is a `MutableTangent`, identified by its address.  False: a `Tangent`,
        split by fields into `FData` and `RData`; ``NoTangent()`` if all fields have none.

    Examples
    --------
    A type that keeps its numbers where Python cannot see them says how to get at them:

    >>> class Temperature:
    ...     __slots__ = ()
    ...     readings = {}
    >>> @register_tangent(Temperature)
    ... class TemperatureSpec(TangentSpec):
    ...     def fields(self, x):
    ...         return {"kelvin": Temperature.readings[id(x)]}
    ...
    ...     def fill(self, blank, fields):
    ...         Temperature.readings[id(blank)] = fields["kelvin"]
    >>> from mooncake_py.tangents import zero_tangent
    >>> room = Temperature()
    >>> Temperature.readings[id(room)] = 293.0
    >>> zero_tangent(room)
    MutableTangent(kelvin=0.0)
    """

    differentiable: bool = True
    mutable: bool = True

    def fields(self, x: Any) -> Mapping[Any, Any] | None:
        """Return the fields of a value by name; None if this value has no derivative.

        The default takes all of ``__dict__`` and ``__slots__``.  A field that is left out has no
        derivative.
        """
        return _attributes(x) if self.differentiable else None

    def blank(self, x: Any) -> Any:
        """Return a new value of the type of `x`, whose fields :meth:`fill` sets next."""
        try:
            return object.__new__(type(x))
        except TypeError:  # types with a part in C refuse object.__new__
            import copy

            return copy.copy(x)

    def fill(self, blank: Any, fields: Mapping[Any, Any]) -> None:
        """Set the fields of what :meth:`blank` returned."""
        beside = beside_properties(type(blank))
        for name, value in fields.items():
            if name in beside:
                instance_dict(blank)[name] = value
            else:
                object.__setattr__(blank, name, value)

    def field_types(self, cls: type) -> Mapping[str, Any] | None:
        """Return the type keys of the fields, if the class alone tells; by default None."""
        return None

    def gradient(self, x: Any, fields: Mapping[Any, Any]) -> Any:
        """Return the gradient of `x` as users get it, from the gradients of its fields.

        By default, for which this returns None, a dataclass like `x` if it is one, and a `Tangent`
        or a `MutableTangent` otherwise.  A value that takes part in a cycle needs the default.
        """
        return None

    @property
    def container(self) -> type:
        """The class of the tangent: not to be changed by users."""
        return MutableTangent if self.mutable else Tangent

    def build(self, x: Any, fields: Mapping[Any, Any]) -> Any:
        """Return a new immutable value like `x` with other fields."""
        new = self.blank(x)
        self.fill(new, fields)
        return new


class ObjectSpec(TangentSpec):
    """Instances of ordinary classes: ``__dict__`` and ``__slots__``, types by annotation."""

    def __init__(self, mutable: bool = True) -> None:
        self.mutable = mutable

    @override
    def field_types(self, cls: type) -> Mapping[str, Any] | None:
        return annotated_fields(cls)


def register_tangent(cls: type) -> Callable[[S], S]:
    """Register the spec of a type and of those of its subclasses that have none of their own.

    Use it to decorate a subclass of :class:`TangentSpec`, or call it with an instance:
    ``register_tangent(Ledger)(MySpec())``.

    Parameters
    ----------
    cls : type
        The type whose values the spec describes.

    Returns
    -------
    callable
        Takes the spec (class or instance), returns it unchanged.
    """

    def register(spec: S) -> S:
        registered[cls] = spec() if isinstance(spec, type) else spec
        found_specs.clear()
        return spec

    return register


# Registered by users, and found for a class so far.
registered: dict[type, TangentSpec] = {}
found_specs: Table[TangentSpec] = Table()


@remembered
def beside_properties(cls: type) -> frozenset[str]:
    """Return the names that a class keeps for properties, which its objects may use as well."""
    return frozenset(
        name
        for base in cls.__mro__
        for name, part in base.__dict__.items()
        if hasattr(type(part), "__set__") and type(part) is not types.MemberDescriptorType
    ) - {"__dict__", "__class__", "__weakref__"}


def _attributes(x: Any) -> dict[str, Any]:
    """Return the instance attributes that are set, past properties and ``__getattr__``."""
    found: dict[str, Any] = {}
    for cls in reversed(type(x).__mro__):
        if "__slots__" not in cls.__dict__:
            continue
        for name, member in cls.__dict__.items():
            if type(member) is types.MemberDescriptorType:
                try:
                    found[name] = member.__get__(x)
                except AttributeError:  # an unset slot is an absent field
                    continue
    with suppress(AttributeError):  # an object without one
        held = object.__getattribute__(x, "__dict__")  # past the method of its class
        found.update(held if isinstance(held, Mapping) else {})
    return found
