"""Words of messages."""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

__all__ = ["text_of_key", "with_article"]

SPOKEN_AS_YOU = ("eu", "ufunc", "uint", "uni", "use", "usu", "uti")
SPOKEN_AS_LETTERS = ("nd", "mp", "rng", "xm", "sql", "html", "http", "lru")


def with_article(name: str) -> str:
    """Return the name of a type after "a" or "an", as it is spoken.

    Examples
    --------
    >>> with_article("Agent"), with_article("list"), with_article("uint8"), with_article("ndarray")
    ('an Agent', 'a list', 'a uint8', 'an ndarray')
    """
    begins = name.lstrip("_").lower()
    if begins.startswith(SPOKEN_AS_YOU):
        return f"a {name}"
    is_vowel = begins.startswith(("a", "e", "i", "o", "u", *SPOKEN_AS_LETTERS))
    return f"an {name}" if is_vowel else f"a {name}"


def text_of_key(key: Any) -> str:
    """Return a key of a dict as text, which runs no code of a class of the user's."""
    t = type(key)
    if type(t.__repr__) is FunctionType and not issubclass(t, Enum):
        return f"{t.__name__} at {id(key):#x}"
    return repr(key)
