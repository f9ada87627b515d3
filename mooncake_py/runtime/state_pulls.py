"""The reverse of tape entries that undo changes of containers and objects.

They run no code of the user, and do no harm where the change was not made, or was undone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mooncake_py.runtime.attribute_lookup import MISSING

__all__ = [
    "STATES", "pull_appended", "pull_attribute", "pull_item", "pull_key", "pull_state",
]  # fmt: skip

Entry = tuple[Any, ...]


def pull_state(entry: Entry) -> None:
    """Undo a change to a container or an object: call the inverse operation."""
    _, inverse, *arguments = entry
    inverse(*arguments)


# The commonest changes without a call, in the same layout: the inverse is for who reads entries.


def pull_attribute(entry: Entry) -> None:
    """Undo a write of an attribute which an object keeps itself."""
    _, _, o, name, old = entry
    if old is not MISSING:
        object.__setattr__(o, name, old)
        return
    with suppress(AttributeError):  # it was not made, or was undone
        object.__delattr__(o, name)


def pull_key(entry: Entry) -> None:
    """Undo a write to a dict."""
    _, _, d, key, old = entry
    if old is not MISSING:
        d[key] = old
    else:
        d.pop(key, None)


def pull_item(entry: Entry) -> None:
    """Undo a write of an item of a list."""
    entry[2][entry[3]] = entry[4]


def pull_appended(entry: Entry) -> None:
    """Undo an append: remove what is beyond the former size."""
    del entry[2][entry[3] :]


STATES: frozenset[Callable[[Entry], None]] = frozenset(
    {pull_state, pull_attribute, pull_key, pull_item, pull_appended}
)
"""The entries that undo changes of objects: ``(pull, inverse, object, *details)``."""
