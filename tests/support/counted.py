"""Classes whose special methods are counted, and what counts the calls from outside.

The methods themselves do nothing that could be undone: the interpreter reports their calls, of the
class as it is written and as a derivative runs it alike.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Box", "Key", "calls", "subclass_of"]

FILE = __file__


def hooks(base: Any) -> dict[str, Callable[..., Any]]:
    """Return methods that do what those of a base class do."""

    class Hooks(base):  # pyright: ignore[reportGeneralTypeIssues]
        def __iter__(self):
            return base.__iter__(self)

        def __len__(self):
            return base.__len__(self)

        def __eq__(self, other):
            return base.__eq__(self, other)

        def __ne__(self, other):
            return base.__ne__(self, other)

        def __hash__(self):
            return 7

        def __getattribute__(self, name):
            return base.__getattribute__(self, name)

        def __bool__(self):
            return base.__len__(self) > 0

        def __contains__(self, item):
            return base.__contains__(self, item)

        def __getitem__(self, key):
            return base.__getitem__(self, key)

        def __setitem__(self, key, value):
            base.__setitem__(self, key, value)

        def __delitem__(self, key):
            base.__delitem__(self, key)

        def __reversed__(self):
            return base.__reversed__(self)

        def keys(self):
            return base.keys(self)

        def values(self):
            return base.values(self)

        def items(self):
            return base.items(self)

        def get(self, key, default=None):
            return base.get(self, key, default)

        def copy(self):
            return base.copy(self)

        def __reduce_ex__(self, protocol):
            return base.__reduce_ex__(self, protocol)

        def __repr__(self):
            return "counted"

        def index(self, item):
            return base.index(self, item)

        def pop(self, *args):
            return base.pop(self, *args)

    always = {"__bool__", "__hash__", "__repr__", "__eq__", "__ne__", "__getattribute__"}
    return {
        name: method
        for name, method in vars(Hooks).items()
        if callable(method) and (name in always or hasattr(base, name))
    }


def subclass_of(base: Any) -> type:
    """Return a subclass all of whose special methods are written in Python."""
    return type(f"Counted_{base.__name__}", (base,), hooks(base))


class Box:
    """An object with attributes, and with most of the special methods."""

    def __init__(self, **parts):
        self.__dict__.update(parts)

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        raise AttributeError(name)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 11

    def __bool__(self):
        return True

    def __len__(self):
        return 1

    def __iter__(self):
        return iter(())

    def __contains__(self, item):
        return False

    def __getitem__(self, key):
        return self.__dict__[key]

    def __repr__(self):
        return "box"


class Key:
    """A key of dicts, and an element of sets."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 13

    def __bool__(self):
        return True

    def __repr__(self):
        return "key"


@contextmanager
def calls(note: Callable[[FrameType], None] | None = None) -> Iterator[Counter[str]]:
    """Count the calls of the methods of this file, by their qualified names."""
    counts: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == FILE:
            name = frame.f_code.co_name
            if name not in ("<module>", "hooks", "subclass_of", "__init__", "calls"):
                first = next(iter(frame.f_locals.values()), None)
                counts[f"{type(first).__name__}.{name}"] += 1
                if note is not None:
                    note(frame)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield counts
    finally:
        sys.setprofile(before)


BASES = (dict, OrderedDict, defaultdict, list, tuple, set, frozenset, deque)
