"""What type aliases stand for: ``type Vector = NDArray[np.float64]``, and `NDArray` itself.

Since NumPy 2.5 `NDArray` is such an alias; before, ``NDArray[np.float64]`` was at once the
``np.ndarray[...]`` that it means.
"""

from __future__ import annotations

import typing
from typing import Any

import typing_extensions

__all__ = ["expanded", "is_alias"]

# From Python 3.12 to 3.13 there are two classes, that of the language and that of the backport.
_ALIASES: tuple[type, ...] = (
    typing_extensions.TypeAliasType,
    getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType),
)


def is_alias(key: Any) -> bool:
    """Tell whether a type key is an alias, with or without parameters."""
    return isinstance(_origin(key), _ALIASES)


def expanded(key: Any) -> Any:
    """Return what a type key stands for: itself, unless it is an alias; parts stay as they are."""
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
