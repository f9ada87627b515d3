"""The specs of tuples, namedtuples, lists, dicts, their subclasses, and tangents."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from mooncake_py.errors import InvalidTangentError
from mooncake_py.overriding import override
from mooncake_py.tangents.annotations import annotated_fields
from mooncake_py.tangents.contents import (
    add_items,
    elements_of,
    empty_like,
    plain_dict,
)
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.kinds import Fields, Tangent
from mooncake_py.tangents.spec import TangentSpec
from mooncake_py.words import with_article

__all__ = ["DictSpec", "FieldsSpec", "ListSpec", "NamedTupleSpec", "TupleSpec"]


class TupleSpec(TangentSpec):
    """Tuples: parts by index, the tangent is a tuple."""

    mutable = False

    @property
    @override
    def container(self) -> type:
        return tuple

    @override
    def fields(self, x: Any) -> dict[int, Any]:
        _refuse_attributes(x)
        return dict(enumerate(x if type(x) is tuple else tuple.__iter__(x)))

    @override
    def build(self, x: Any, fields: Mapping[Any, Any]) -> Any:
        return tuple.__new__(type(x), fields.values())


class NamedTupleSpec(TupleSpec):
    """Namedtuples: parts by name, the tangent is a `Tangent`."""

    @property
    @override
    def container(self) -> type:
        return Tangent

    @override
    def fields(self, x: Any) -> dict[Any, Any]:
        _refuse_attributes(x)
        return dict(zip(type(x)._fields, tuple.__iter__(x), strict=True))

    @override
    def field_types(self, cls: type) -> Mapping[str, Any] | None:
        return annotated_fields(cls)


class FieldsSpec(TangentSpec):
    """Tangents themselves, as values that are differentiated in their turn."""

    def __init__(self, mutable: bool) -> None:
        self.mutable = mutable

    @override
    def fields(self, x: Fields) -> Mapping[str, Any]:
        return x._fields

    @override
    def blank(self, x: Fields) -> Fields:
        return type(x)()

    @override
    def fill(self, blank: Fields, fields: Mapping[str, Any]) -> None:
        blank._fields.update(fields)


class ListSpec(TangentSpec):
    """Lists and deques: parts by index, the tangent is a list."""

    @property
    @override
    def container(self) -> type:
        return list

    @override
    def fields(self, x: Any) -> dict[int, Any]:
        _refuse_attributes(x)
        return dict(enumerate(x if type(x) is list else elements_of(x)))

    @override
    def blank(self, x: Any) -> Any:
        return [] if type(x) is list else _empty_like(x)

    @override
    def fill(self, blank: Any, fields: Mapping[Any, Any]) -> None:
        base = list if issubclass(type(blank), list) else deque
        base.extend(blank, fields.values())


class DictSpec(TangentSpec):
    """Dicts: values by key, the tangent is a dict; keys have no tangent."""

    @property
    @override
    def container(self) -> type:
        return dict

    @override
    def fields(self, x: Any) -> dict[Any, Any]:
        _refuse_attributes(x)
        return plain_dict(x)

    @override
    def blank(self, x: Any) -> Any:
        return {} if type(x) is dict else _empty_like(x)

    @override
    def fill(self, blank: Any, fields: Mapping[Any, Any]) -> None:
        add_items(blank, fields)


_PLAIN = frozenset({tuple, list, dict, deque})


def _empty_like(x: Any) -> Any:
    new = empty_like(x)
    set_own_attributes(new, own_attributes(x))
    return new


def _refuse_attributes(x: Any) -> None:
    """Refuse a subclass instance with attributes, which its tangent would leave out."""
    if type(x) not in _PLAIN and (held := own_attributes(x)):
        raise InvalidTangentError(
            f"{with_article(type(x).__qualname__)} with attributes "
            f"{sorted(getattr(name, '__name__', name) for name in held)} cannot have a tangent",
            why="the tangent of a list, dict or tuple has no place for attributes",
            fix="keep the container in an attribute of an ordinary object, "
            "or register a spec with register_tangent",
        )
