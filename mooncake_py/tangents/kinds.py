"""The kinds of tangent that Python has no type for.

`NoTangent`, `NoFData` and `NoRData` stand for "nothing to differentiate here"; `Tangent` and
`MutableTangent` hold the tangents of an object's fields by name, `FData` and `RData` the two parts
of a `Tangent`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import recursive_repr
from typing import Any, Self

__all__ = [
    "FData",
    "Fields",
    "FieldsKey",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Tangent",
    "key_name",
]


class _Single:
    """A class with one instance: calling it, copying and unpickling all return that one."""

    __slots__ = ()
    _instance: Any

    def __init_subclass__(cls) -> None:
        cls._instance = object.__new__(cls)

    def __new__(cls) -> Self:
        return cls._instance

    def __reduce__(self) -> Any:
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class NoTangent(_Single):
    """The tangent of what has no derivative: an int, a string, a module."""

    __slots__ = ()


class NoRData(_Single):
    """The rdata of a value whose cotangent is accumulated in place, or that has none."""

    __slots__ = ()


class NoFData(_Single):
    """The fdata of a value that has no address, or that is constant.

    It accepts and ignores what a rule adds to it, so that a plain rule stays right when one of its
    array arguments is constant.

    Examples
    --------
    >>> dx = NoFData()
    >>> dx[1:] += 3.0
    >>> dx
    NoFData()
    """

    __slots__ = ()

    __array_ufunc__ = None  # so that `array + NoFData()` comes to __radd__
    __iter__ = None  # __getitem__ alone would make it an endless sequence
    __contains__ = None

    def __getitem__(self, key: Any) -> Self:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def _ignore(self, other: Any) -> Self:
        return self

    __add__ = __radd__ = __iadd__ = _ignore
    __sub__ = __rsub__ = __isub__ = _ignore
    __mul__ = __rmul__ = __imul__ = _ignore
    __truediv__ = __itruediv__ = _ignore

    def __neg__(self) -> Self:
        return self


class Fields:
    """Values by name, read as attributes or as items; ``in``, ``len`` and iteration see names."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, /, **fields: Any) -> None:
        object.__setattr__(self, "_fields", fields)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Make an instance from a mapping."""
        return cls(**fields)

    def __class_getitem__(cls, fields: Mapping[str, Any]) -> FieldsKey:
        return FieldsKey(cls, fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __getattr__(self, name: str) -> Any:
        # While an instance is being unpickled the slot itself may be missing.
        if name != "_fields" and name in self._fields:
            return self._fields[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"cannot assign to field {name!r} of an immutable {type(self).__name__}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r} of an immutable {type(self).__name__}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        from mooncake_py.tangents.equality import same_tangent

        if type(other) is not type(self):
            return NotImplemented
        return same_tangent(self, other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @recursive_repr()
    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self._fields

    def __setstate__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)


class Tangent(Fields):
    """The tangent of a namedtuple or a frozen dataclass: tangents of the fields, by name.

    Examples
    --------
    >>> t = Tangent(x=1.0, y=NoTangent())
    >>> t.x, t["y"]
    (1.0, NoTangent())
    """

    __slots__ = ()


class FData(Fields):
    """The part of a `Tangent` that is identified by address."""

    __slots__ = ()


class RData(Fields):
    """The part of a `Tangent` that is identified by value."""

    __slots__ = ()


class MutableTangent(Fields):
    """The tangent of a mutable object; its fields can be assigned to.

    A field that the object does not have (yet) is absent here too.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        self._fields[name] = value

    __setitem__ = __setattr__

    def __delattr__(self, name: str) -> None:
        if name not in self._fields:
            raise AttributeError(f"MutableTangent has no field {name!r}", name=name, obj=self)
        del self._fields[name]


class FieldsKey:
    """The type key ``Tangent[{"x": float}]``: a class of fields and the key of each field."""

    __slots__ = ("fields", "origin")

    def __init__(self, origin: type[Fields], fields: Mapping[str, Any]) -> None:
        self.origin = origin
        self.fields = dict(fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldsKey):
            return NotImplemented
        return self.origin is other.origin and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.origin, frozenset(self.fields.items())))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name!r}: {key_name(key)}" for name, key in self.fields.items())
        return f"{self.origin.__name__}[{{{fields}}}]"


def key_name(key: Any) -> str:
    """Return a type key as one would write it.

    Examples
    --------
    >>> key_name(tuple[float, NoTangent])
    'tuple[float, NoTangent]'
    """
    from typing import get_args, get_origin

    origin = get_origin(key)
    if origin is None:
        return key.__qualname__ if isinstance(key, type) else repr(key)
    args = get_args(key)
    if getattr(origin, "__name__", "") == "ndarray":
        scalar = get_args(args[1])[0]
        return f"NDArray[{getattr(scalar, '__name__', scalar)}]"
    return f"{origin.__name__}[{', '.join(map(key_name, args)) or '()'}]"
