"""A snapshot of all memory that a call can reach, compared bit for bit afterwards.

Arrays are compared byte by byte, with their owners; containers, attributes, captured variables
and globals by the identity of what they hold.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import describe, name_of
from mooncake_py.containers.reach import CONTAINERS, Walk, joined, parts_of
from mooncake_py.diagnostics.native_modules import is_constant_library
from mooncake_py.errors import UntrackedWriteError
from mooncake_py.modules import module_of, package_of
from mooncake_py.overriding import override
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.silence import Write
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import is_writeable

__all__ = ["Snapshot", "difference_between", "first_difference", "holds_the_same",
           "is_plain_array", "named_parts", "restore", "untracked_write"]  # fmt: skip

CAUSES = (
    "compiled code that writes through a pointer, a thread, a __del__ method,\n"
    "or a rule that does not declare the writes of its function"
)
FIX = (
    "register a rule for the function that writes, with rrule.register(..., mutates=...),\n"
    "or an overlay in Python; or do the write outside of the function"
)


class Snapshot(Walk):
    """The present state of all data that a call can reach.

    Parameters
    ----------
    f : callable or None
        What is called; its globals and captured variables are followed, and so are those of
        the functions found there.
    args, kwargs
        Its arguments.
    """

    def __init__(self, f: Any, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.kept: list[tuple[str, Any, Any]] = []  # path, what holds, what it held
        self.of_libraries: set[int] = set()  # ids of what objects of tables and the like keep
        for i, a in enumerate(args):
            self.follow(describe(f, i) if f else f"argument {i}", a)
        for name, a in kwargs.items():
            self.follow(f"argument {name!r}", a)
        if f is not None:
            self.follow(name_of(f), f)

    @override
    def keep(self, path: str, value: Any) -> None:
        before = len(self.todo)
        super().keep(path, value)
        if id(value) in self.of_libraries or is_of_constant_library(value):
            held = (part for _, part in self.todo[before:])
            self.of_libraries.update(id(part) for part in held if is_kept_within(part))

    @override
    def meet(self, path: str, value: Any) -> None:
        if id(value) in self.of_libraries:  # where a library keeps what it has computed
            return
        if not issubclass(type(value), tuple) and self.may_change(value):
            self.kept.append((path, value, contents_of(value)))

    def may_change(self, value: Any) -> bool:
        """Return whether a value is to be compared afterwards."""
        return True

    @contextmanager
    def leaving_out_changes(self) -> Iterator[None]:
        """Stop comparing data that change within this block, which is intended."""
        states = [contents_of(value) for _, value, _ in self.kept]
        try:
            yield
        finally:
            self.kept = [
                entry
                for entry, state in zip(self.kept, states, strict=True)
                if difference_between(entry[1], state) is None
            ]

    def difference(self) -> str | None:
        """Return a description of the first change, or None."""
        for path, value, old in self.kept:
            found = difference_between(value, old)
            if found is not None:
                return f"{joined(path, found[0])} is {found[1]}, and was {found[2]}"
        return None

    def restore_arrays(self) -> None:
        """Restore the contents of the arrays."""
        for _, value, old in self.kept:
            if is_plain_array(value):
                restore(value, old)


def is_of_constant_library(value: Any) -> bool:
    """Return whether an object is a table of pandas, a sparse matrix or the like."""
    t = type(value)
    return package_of(t) == "scipy" or is_constant_library(module_of(t))


def is_kept_within(part: Any) -> bool:
    """Return whether a part of such an object is neither an array nor anything of the user's."""
    t = type(part)
    return t in (dict, list, set, tuple) or is_of_constant_library(part)


def is_plain_array(value: Any) -> bool:
    """Return whether a value is an array of numbers or records, not of objects."""
    return issubclass(type(value), ndarray) and value.dtype != object


def contents_of(value: Any) -> Any:
    """Return the present contents of an array or a container, or the parts of anything else."""
    if is_plain_array(value):
        return np.array(value)
    if type(value) in CONTAINERS:
        return dict(value) if type(value) is dict else list(value)
    return list(parts_of(value))


def difference_between(value: Any, old: Any) -> tuple[str, str, str] | None:
    """Return path, present and former value of a part that has changed, or None."""
    if is_plain_array(value):
        return first_difference(value, old)
    if type(value) in CONTAINERS and holds_the_same(value, old):
        return None
    now, before = dict(parts_of(value)), named_parts(value, old)
    if is_of_constant_library(value):  # which notes what it has found out about an object
        now = {text: v for text, v in now.items() if text in before or not text.startswith("._")}
    if issubclass(type(value), FunctionType):  # imports within the call stay
        now = {text: v for text, v in now.items() if text in before or not is_imported(text)}
    return first_other_part(now, before)


def is_imported(text: str) -> bool:
    """Return whether a text leads from a function to an attribute of a module that it names."""
    return text.startswith(" ") and "." in text


def holds_the_same(value: Any, old: Any) -> bool:
    """Return whether a container holds the very objects that it held, in the same order."""
    if len(value) != len(old) or not all(map(operator.is_, value, old)):
        return False
    return type(old) is not dict or all(map(operator.is_, value.values(), old.values()))


def named_parts(value: Any, old: Any) -> dict[str, Any]:
    """Return the former parts of a value, from its contents as they were, by the text to each."""
    if type(value) in CONTAINERS:
        return {**dict(parts_of(old)), ".__class__": type(value)}
    return dict(old)


def first_difference(value: ndarray, old: ndarray) -> tuple[str, str, str] | None:
    """Return index and both values of the first element with other bits, or None."""
    value = np.asarray(value)  # what a subclass returns for its elements may be something else
    if value.dtype != old.dtype or value.shape != old.shape:
        return "", f"{value.dtype}{value.shape}", f"{old.dtype}{old.shape}"
    new_bytes, old_bytes = bits_of(value), bits_of(old)
    if new_bytes == old_bytes:
        return None
    other = np.frombuffer(new_bytes, np.uint8) != np.frombuffer(old_bytes, np.uint8)
    first = int(np.argmax(other)) * value.size // other.size
    index = np.unravel_index(first, value.shape)
    text = f"[{', '.join(map(str, index))}]" if index else ""
    return text, str(value[index]), str(old[index])


def restore(value: ndarray, old: ndarray) -> None:
    """Restore memory overwritten by unseen writes, so that nothing else is wrong."""
    if is_writeable(value):
        value[...] = old


def first_other_part(now: dict[str, Any], before: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return path and both values of the first part that is another object, or None."""
    for text, part in before.items():
        new = now.get(text, MISSING)
        if new is not part and Write not in (type(new), type(part)):  # which silences a stream
            return text, shown(new), shown(part)
    for text, part in now.items():
        if text not in before and type(part) is not Write:
            return text, shown(part), shown(MISSING)
    return None


def shown(value: Any) -> str:
    """Return a value for a message."""
    return "not there" if value is MISSING else f"{value!r:.60}"


def untracked_write(difference: str, function: Any) -> UntrackedWriteError:
    """Return the error for memory that was not restored."""
    return UntrackedWriteError(
        f"the engine did not see a write to memory: {difference} before the call",
        why=f"after the derivative of {name_of(function)} all memory must have its old contents\n"
        f"likely causes: {CAUSES}",
        fix=FIX,
    )
