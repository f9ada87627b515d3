"""Analysis of special methods that compiled code calls: whether they change anything.

Compiled code hashes, prints and compares elements of containers, and the engine cannot see the
Python methods that it calls.  This is right if a method only computes; a method that stores
anything is refused.  The bytecode of the method, and of the functions it names, shows its effects.
"""

from __future__ import annotations

import dis
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

from numpy import ndarray

from mooncake_py.diagnostics.native_modules import is_constant_library, is_native_module
from mooncake_py.diagnostics.places import Position, place_at
from mooncake_py.errors import DerivativeDropError, Location
from mooncake_py.modules import module_of, package_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.methods import is_generated
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Mode

__all__ = ["COMPARING", "CONVERTING", "HASHING", "MEASURING", "PRINTING", "READING",
           "changes_something", "refuse_class_hooks", "refuse_finalizer", "refuse_writers",
           "would_write"]  # fmt: skip

COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
HASHING = ("__hash__", "__eq__")
CONVERTING = ("__int__", "__index__", "__trunc__")
MEASURING = ("__len__", "__length_hint__", "__float__", "__complex__", *CONVERTING)
READING = ("__iter__", "__getitem__", *MEASURING)
PRINTING = ("__repr__", "__str__", "__format__")
DELETING = ("__del__",)
LIBRARIES = frozenset({"collections", "_collections_abc", "numpy", "scipy"})
CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, deque)

STORES = frozenset({
    "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL",
    "DELETE_GLOBAL",
})  # fmt: skip
CAPTURED_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
READS = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})
MUTATING_NAMES = """
    append appendleft extend extendleft insert pop popleft popitem remove clear reverse sort rotate
    add discard update setdefault difference_update intersection_update move_to_end
    symmetric_difference_update subtract fill put itemset partition resize setflags byteswap send
    throw write shuffle setfield __setitem__ __setattr__ __delitem__ __delattr__ __iadd__ copyto
    place putmask fill_diagonal heappush heappop heapify put_along_axis
"""
MUTATING = frozenset(MUTATING_NAMES.split())
MUTATING_BUILTINS = frozenset({"setattr", "delattr", "next", "exec", "eval"})

Verdict = tuple[weakref.ref[FunctionType], Location | None]  # a method refers to its class
_read: weakref.WeakKeyDictionary[type, dict[str, Any]] = weakref.WeakKeyDictionary()
_verdicts: weakref.WeakKeyDictionary[type, dict[str, Verdict]] = weakref.WeakKeyDictionary()


def refuse_writers(ctx: Mode, values: Iterable[Any], names: tuple[str, ...]) -> None:
    """Raise if compiled code would run special methods of these values that change something."""
    for value in reachable(values):
        found = writer(type(value), names)
        if found is not None and not keeps_hash(ctx, value, names):
            raise ctx.failed(_unseen(ctx, *found))
        found = held_writer(value, names)
        if found is not None:
            raise ctx.failed(_unseen(ctx, *found))


def keeps_hash(ctx: Mode, value: Any, names: tuple[str, ...]) -> bool:
    """Return whether methods write nothing but the hash, which an object keeps once it is known.

    It is computed here, in sight, so that what is written is undone; from then on it is read.
    """
    t = type(value)
    method: Any = t.__hash__
    if type(method) is not FunctionType or names is PRINTING:
        return False
    others = [getattr(t, name, None) for name in names if name != "__hash__"]
    search = _Search(t, frozenset({"STORE_ATTR"}))
    if search.change_in(method) is not None:
        return False
    search.stores = STORES
    if any(search.change_in(other) is not None for other in others):
        return False
    ctx.call(method, value)
    before = own_attributes(value)
    hash(value)
    after = own_attributes(value)
    return before.keys() == after.keys() and all(after[name] is before[name] for name in before)


def would_write(values: Iterable[Any], names: tuple[str, ...]) -> bool:
    """Return whether special methods of these values change something."""
    return any(
        writer(type(value), names) is not None or held_writer(value, names) is not None
        for value in reachable(values)
    )


def changes_something(f: FunctionType) -> bool:
    """Return whether a function, or one that it names, changes something."""
    return _Search(FunctionType).change_in(f) is not None


def refuse_finalizer(ctx: Reporting, cls: type) -> None:
    """Raise if instances of a class would change something when Python frees them."""
    if hasattr(cls, "__del__"):
        found = writer(cls, DELETING)
        if found is not None:
            raise ctx.failed(_unseen(ctx, *found))


def refuse_class_hooks(ctx: Reporting, cls: type) -> None:
    """Raise if code that runs when a class is created changes more than attributes."""
    hooks: list[Any] = [getattr(type(v), "__set_name__", None) for v in vars(cls).values()]
    hooks.append(getattr(getattr(super(cls, cls), "__init_subclass__", None), "__func__", None))
    hooks += [getattr(type(cls), name, None) for name in ("__new__", "__init__", "__prepare__")]
    for hook in hooks:
        if type(hook) is FunctionType and not is_native_module(module_of(hook)):
            change = _Search(type(cls), frozenset({"STORE_ATTR"})).change_in(hook)
            if change is not None:
                raise ctx.failed(_unseen(ctx, hook, change))


def reachable(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the instances of classes written in Python among values, containers and fields."""
    todo = without_numbers(values)
    seen: set[int] = set()
    while todo:
        value = todo.pop()
        t = type(value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        base = next((kind for kind in CONTAINERS if issubclass(t, kind)), None)
        if base is dict:
            todo += without_numbers([*dict.keys(value), *dict.values(value)])
        elif base is not None:
            todo += without_numbers(base.__iter__(value))  # not by a method of the user's
        elif hasattr(t, "__dataclass_fields__"):
            todo += without_numbers(own_attributes(value).values())
        if t.__module__ != "builtins" and not issubclass(t, type):
            yield value


def without_numbers(values: Iterable[Any]) -> list[Any]:
    """Return values without numbers, arrays and the like; tuples among tuples are opened.

    It is by types, in compiled code: a queue of events is looked through at each event.
    """
    kept = list(values)
    while (kinds := set(map(type, kept))) == {tuple}:
        kept = list(chain.from_iterable(kept))
    quiet = {t for t in kinds if t in INERT or t is Active or issubclass(t, ndarray)}
    return [] if kinds == quiet else [value for value in kept if type(value) not in quiet]


def writer(t: type, names: tuple[str, ...]) -> tuple[FunctionType, Location] | None:
    """Return the first of a class's special methods that changes something, and where."""
    if names is READING and hasattr(t, "__array__"):
        return None  # NumPy converts it by that method, and reads no items
    for name in names:
        method = getattr(t, name, None)
        if type(method) is not FunctionType or is_native_module(module_of(t)):
            continue
        known = _verdicts.setdefault(t, {})
        verdict = known.get(name)
        if verdict is None or verdict[0]() is not method:
            verdict = known[name] = weakref.ref(method), _Search(t).change_in(method)
        if verdict[1] is not None:
            return method, verdict[1]
    return None


def held_writer(value: Any, names: tuple[str, ...]) -> tuple[FunctionType, Location] | None:
    """Return the first of an object's special methods that calls a writer which the object holds.

    Such a function is an attribute of the object, not of its class: ``self.log = seen.append``.
    """
    t = type(value)
    if is_native_module(module_of(t)):
        return None
    for name in names:
        method = getattr(t, name, None)
        if type(method) is not FunctionType:
            continue
        read = attributes_read(t, name, method)
        fields = own_attributes(value) if read else {}
        for attribute, offset in read:
            held = fields.get(attribute)
            function = held.__func__ if type(held) is MethodType else held
            change = _Search(t).change_in(function)
            if type(held) is BuiltinFunctionType and held.__name__ in MUTATING:
                change = place_at(Position(method.__code__, offset))
            if change is not None:
                return method, change
    return None


def attributes_read(t: type, name: str, method: FunctionType) -> tuple[tuple[str, int], ...]:
    """Return the attributes that a method reads and its class does not have, and where."""
    known = _read.setdefault(t, {})
    entry = known.get(name)
    if entry is None or entry[0]() is not method:
        found = tuple(
            (i.argval, i.offset)
            for i in dis.get_instructions(method.__code__)
            if i.opname in READS and not hasattr(t, i.argval)
        )
        entry = known[name] = weakref.ref(method), found
    return entry[1]


class _Search:
    """Looks for an instruction that changes something, in functions and in those they name.

    The functions use methods and properties of the class `t`.
    """

    def __init__(self, t: type, allowed: frozenset[str] = frozenset()) -> None:
        self.t = t
        self.stores = STORES - allowed
        self.seen: set[CodeType] = set()

    def change_in(self, value: Any) -> Location | None:
        """Return where a function or a property changes something, None if nowhere."""
        f = value.fget if issubclass(type(value), property) else value
        if type(f) is not FunctionType or f.__code__ in self.seen:
            return None
        if is_generated(f) or is_native_module(module_of(f)) or is_of_library(f):
            return None
        return self._change_in_code(f, f.__code__)

    def _change_in_code(self, f: FunctionType, code: CodeType) -> Location | None:
        self.seen.add(code)
        for instruction in dis.get_instructions(code):
            if _changes(code, instruction, self.stores):
                return place_at(Position(code, instruction.offset))
            name: Any = instruction.argval
            change = None
            if instruction.opname in READS:
                change = self.change_in(getattr(self.t, name, None))
            elif instruction.opname == "LOAD_GLOBAL":
                change = self.change_in(f.__globals__.get(name))
            if change is not None:
                return change
        inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
        found = (self._change_in_code(f, constant) for constant in inner)
        return next((change for change in found if change is not None), None)


def is_of_library(f: FunctionType) -> bool:
    """Return whether a function is of Python's own sequences, NumPy or pandas: its name tells."""
    root = package_of(f)
    return root in LIBRARIES or is_constant_library(root)


def _changes(code: CodeType, instruction: dis.Instruction, stores: frozenset[str]) -> bool:
    """Return whether an instruction changes something that outlives the call."""
    name, value = instruction.opname, cast(Any, instruction.argval)
    if name in CAPTURED_STORES:
        return value in code.co_freevars
    if name in READS:
        return value in MUTATING
    if name == "LOAD_GLOBAL":
        return value in MUTATING_BUILTINS
    if name == "BINARY_OP":
        return instruction.argrepr.endswith("=")
    if name == "KW_NAMES":
        return "out" in code.co_consts[instruction.arg or 0]
    if name == "LOAD_CONST" and issubclass(type(value), tuple):
        return "out" in value  # from 3.13 on: keywords of a call
    return name in stores


def _unseen(ctx: Reporting, method: FunctionType, change: Location) -> DerivativeDropError:
    return DerivativeDropError(
        f"{method.__qualname__} changes something, and compiled code is about to call it",
        where=ctx.user_location(),
        why="the engine cannot see a special method that compiled code calls, and could "
        "neither\n"
        "differentiate nor undo its writes; it writes at\n"
        + "\n".join([f"{change}", *(f"| {row}" for row in change.excerpt())]),
        fix="only compute in this method, and write in a method that you call by name",
    )
