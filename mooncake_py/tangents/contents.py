"""The contents of containers, read past the methods that subclasses write in Python.

The program never asked for these reads: code of the user's that ran in them could change something,
or be counted.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["FACTORY", "MAXLEN", "add_items", "dict_base", "elements_of", "empty_like", "plain_dict"]

FACTORY: Any = defaultdict.__dict__["default_factory"]
MAXLEN: Any = deque.__dict__["maxlen"]
_SEQUENCES = (list, tuple, set, frozenset, deque)


def dict_base(d: Any) -> Any:
    """Return the class in C whose methods keep a dict consistent."""
    return OrderedDict if issubclass(type(d), OrderedDict) else dict


def plain_dict(d: Any) -> dict[Any, Any]:
    """Return a dict of Python's own with the contents of a dict, which may be that dict itself."""
    if type(d) is dict:
        return d
    base = dict_base(d)
    # Only with the iterator of Python's own the copy is past methods; it hashes no keys.
    quick = base is dict and type(d).__iter__ is dict.__iter__
    return dict.copy(d) if quick else dict(base.items(d))


def elements_of(value: Any) -> list[Any]:
    """Return the elements of a list, tuple, set, frozenset or deque, or the keys of a dict."""
    t = type(value)
    if t in _SEQUENCES:
        return list(value)
    if issubclass(t, dict):
        return list(dict_base(value).__iter__(value))
    base: Any = next(base for base in _SEQUENCES if issubclass(t, base))
    return list(base.__iter__(value))


def empty_like(value: Any) -> Any:
    """Return an empty list, deque, set or dict of the class of another, of which no code runs."""
    t: Any = type(value)
    if issubclass(t, deque):
        new = deque.__new__(t)
        deque.__init__(new, (), MAXLEN.__get__(value))
        return new
    base: Any = dict_base(value) if issubclass(t, dict) else list if issubclass(t, list) else set
    new = base.__new__(t)
    if issubclass(t, defaultdict):
        FACTORY.__set__(new, FACTORY.__get__(value))
    return new


def add_items(d: Any, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
    """Set items of a dict."""
    setter = dict_base(d).__setitem__
    for key, value in items.items() if type(items) is dict else items:
        setter(d, key, value)
