"""The type keys of a class's fields, from its annotations."""

from __future__ import annotations

import typing
from typing import Any

__all__ = ["annotated_fields"]

# The exceptions that evaluating somebody's annotation may raise.
_UNRESOLVED = (NameError, TypeError, AttributeError, SyntaxError, LookupError, ValueError)


def annotated_fields(cls: type) -> dict[str, Any] | None:
    """Return name and annotation of each instance field, in order; None if nothing is declared.

    An annotation that cannot be resolved here counts as `object`.
    """
    hints = _type_hints(cls)
    declared: Any = cls
    if issubclass(cls, tuple):
        names = getattr(declared, "_fields", None)
    elif hasattr(declared, "__dataclass_fields__"):
        import dataclasses

        names = [field.name for field in dataclasses.fields(declared)]
    else:
        names = None
    if names is None:
        names = [name for name, hint in hints.items() if not _of_class(hint)]
        return {name: hints[name] for name in names} or None
    return {name: hints.get(name, object) for name in names}


def _of_class(hint: Any) -> bool:
    return typing.get_origin(hint) is typing.ClassVar or hint is typing.ClassVar


def _type_hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except _UNRESOLVED:
        import inspect

        return {
            name: _type_hint(base, name, annotation)
            for base in reversed(cls.__mro__)
            for name, annotation in inspect.get_annotations(base).items()
        }


def _type_hint(cls: type, name: str, annotation: Any) -> Any:
    alone = type("_", (), {"__annotations__": {name: annotation}, "__module__": cls.__module__})
    try:
        return typing.get_type_hints(alone)[name]
    except _UNRESOLVED:
        return object
