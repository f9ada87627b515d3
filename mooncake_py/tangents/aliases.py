"""Resolution of type aliases: ``type Vector = NDArray[np.float64]``, and `NDArray` itself.

Since NumPy 2.5 `NDArray` is such an alias; before, ``NDArray[np.float64]`` was at once the
``np.ndarray[...]`` that it means.
"""

from __future__ import annotations

import sys
import typing
from typing import Any

__all__ = ["expanded", "is_alias"]


def is_alias(key: Any) -> bool:
    """Return whether a type key is an alias, with or without parameters."""
    return isinstance(_origin(key), _alias_classes())


def expanded(key: Any) -> Any:
    """Expand a type key that is an alias; any other key, and parts of keys, stay the same."""
    while is_alias(key):
        alias, value = _origin(key), key.__value__  # an alias with parameters passes this on
        parameters = getattr(value, "__parameters__", ())
        if alias is not key and parameters:
            given = dict(zip(alias.__type_params__, typing.get_args(key), strict=True))
            value = value[tuple(given[parameter] for parameter in parameters)]
        key = value
    return key


def _origin(key: Any) -> Any:
    return typing.get_origin(key) or key


def _alias_classes() -> tuple[type, ...]:
    """Return the classes of aliases: that of the language, and that of the backport if in use."""
    modules: tuple[Any, ...] = (typing, sys.modules.get("typing_extensions"))
    return tuple(m.TypeAliasType for m in modules if hasattr(m, "TypeAliasType"))
