"""Parts of values that tangents do not look into, but that copies take along.

Keys of dicts, elements of sets, weak references, attributes and defaults of functions have no
tangent.  If they lead to an object that is copied, they must lead to its copy; if they do not, they
stay as they are, so that keys which other names hold are still found.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from types import FunctionType, MappingProxyType
from typing import Any

from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.contents import dict_base, elements_of
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import owner

__all__ = ["Hidden", "copied_objects", "copy_hidden", "hidden_parts"]

PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
PLAIN = INERT | {Active}


def hidden_parts(value: Any) -> list[Any]:
    """Return the parts of a value that its tangent does not show, those without parts left out."""
    t = type(value)
    if issubclass(t, dict):
        return [key for key in dict_base(value).keys(value) if type(key) not in PLAIN]
    if issubclass(t, (set, frozenset)):
        return [part for part in elements_of(value) if type(part) not in PLAIN]
    if t is FunctionType:
        keywords = value.__kwdefaults__ or {}
        return [*(value.__defaults__ or ()), *keywords.values(), *value.__dict__.values()]
    if issubclass(t, weakref.ref) or t in PROXIES:
        target = target_of(value)
        return [] if target is None else [target]
    if t is MappingProxyType:
        return gc.get_referents(value)
    if issubclass(t, ndarray) and value.dtype == object:
        return value.ravel().tolist()
    return []


def target_of(reference: Any) -> Any:
    """Return the referent of a weak reference or a weak proxy; None if it is gone."""
    if type(reference) not in PROXIES:
        return weakref.ref.__call__(reference)
    with suppress(ReferenceError):
        return reference.__dir__.__self__
    return None


def shown_parts(value: Any) -> Iterable[Any]:
    """Return the parts of a value that its tangent shows."""
    if issubclass(type(value), (set, frozenset)):
        return ()
    try:
        return (spec_of(value).fields(value) or {}).values()
    except InvalidTangentError:
        return ()


def copied_objects(value: Any) -> dict[int, Any]:
    """Return the arrays, containers and objects that a copy of a value creates again, by id."""
    found: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        part = todo.pop()
        t = type(part)
        if t in PLAIN or id(part) in seen:
            continue
        seen[id(part)] = part
        if issubclass(t, ndarray):
            found[id(part)] = part
            found[id(owner(part))] = owner(part)
            continue
        shown = list(shown_parts(part))
        todo += shown
        spec = spec_of(part)
        if (spec.mutable and spec.differentiable) or issubclass(t, (set, frozenset)):
            found[id(part)] = part
    return found


class Hidden:
    """Which values lead to objects that are copied."""

    def __init__(self, copied: Container[int]) -> None:
        self.copied = copied
        self.leads: dict[int, tuple[Any, bool]] = {}  # by id, keeps the value

    def lead(self, value: Any) -> bool:
        """Return whether a value is, or leads to, an object that is copied."""
        if type(value) in PLAIN:
            return False
        known = self.leads.get(id(value))
        if known is None:
            known = self.leads[id(value)] = value, self.search(value)
        return known[1]

    def search(self, value: Any) -> bool:
        """Look through all that is reached from a value."""
        seen: dict[int, Any] = {}
        todo = [value]
        while todo:
            part = todo.pop()
            if type(part) in PLAIN or id(part) in seen:
                continue
            known = self.leads.get(id(part))
            if id(part) in self.copied or (known is not None and known[1]):
                return True
            if issubclass(type(part), ndarray) and id(owner(part)) in self.copied:
                return True
            seen[id(part)] = part
            if known is None:
                todo += shown_parts(part)
                todo += hidden_parts(part)
        self.leads.update((key, (part, False)) for key, part in seen.items())
        return False


def copy_hidden(value: Any, copy: Callable[[Any], Any], is_copied: Callable[[Any], bool]) -> Any:
    """Return the copy of a set, a weak reference or a view of a dict that leads to copies."""
    t: Any = type(value)
    if issubclass(t, (set, frozenset)):
        parts = list(map(copy, elements_of(value)))
        if issubclass(t, set):
            new: Any = set.__new__(t)
            set.update(new, parts)
        else:
            new = frozenset.__new__(t, parts)
        set_own_attributes(new, own_attributes(value))
        return new
    if t is MappingProxyType:
        return MappingProxyType(copy(gc.get_referents(value)[0]))
    target = target_of(value)
    new_target = copy(target)
    if t in PROXIES:
        return weakref.proxy(new_target, None if is_copied(target) else kept(new_target))
    callback = None if t is weakref.WeakMethod else value.__callback__
    if not is_copied(target):
        callback = kept(new_target)
    elif callback is not None:
        new_callback = copy(callback)
        callback = new_callback if new_callback is not callback else None  # to the user's data
    new = weakref.ref.__new__(t, new_target, callback)
    for name, part in own_attributes(value).items():
        set_own_attributes(new, {name: copy(part)})
    return new


def kept(target: Any) -> Callable[[Any], None]:
    """Return a callback of a weak reference that keeps what nothing else in a copy holds."""

    def callback(_reference: Any, _target: Any = target) -> None:
        pass

    return callback
