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
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from numpy import ndarray

from mooncake_py.diagnostics.native_modules import is_constant_library, is_native_module
from mooncake_py.diagnostics.places import Position, place_at
from mooncake_py.errors import DerivativeDropError, Location
from mooncake_py.modules import module_of, package_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.methods import is_generated
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["COMPARING", "CONVERTING", "HASHING", "INDEXING", "MEASURING", "PRINTING", "READING",
           "STORES_OF_ATTRIBUTES", "Search", "called", "changes_something", "refuse_writers",
           "unseen", "would_write", "writer"]  # fmt: skip

COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__")
"""With the method that answers for what a comparison has returned, perhaps the object itself."""
HASHING = ("__hash__", "__eq__", "__bool__")
CONVERTING = ("__int__", "__index__", "__trunc__")
INDEXING = ("__index__",)
MEASURING = ("__len__", "__length_hint__", "__float__", "__complex__", "dtype", *CONVERTING)
READING = ("__iter__", "__getitem__", *MEASURING)
PRINTING = ("__repr__", "__str__", "__format__")
LIBRARIES = frozenset({
    "collections", "_collections_abc", "fractions", "numbers", "numpy", "scipy",
})  # fmt: skip
QUIET = (INERT | {ndarray}) - {type, ModuleType}
COMPUTING = LIBRARIES | {"math", "cmath"}
CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, deque)

STORES = frozenset({
    "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL",
    "DELETE_GLOBAL",
})  # fmt: skip
CAPTURED_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
NAMES = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})
OWN = frozenset({"STORE_OWN"})
STORES_OF_ATTRIBUTES = frozenset({"STORE_ATTR", "STORE_OWN"})
MADE = ("__new__", "__init__", "__next__", "__bool__")
"""Methods of a class that run natively where a method that compiled code calls makes an instance"""
WRAPPERS = (MethodType, staticmethod, classmethod)
READS = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})
MUTATING_NAMES = """
    append appendleft extend extendleft insert pop popleft popitem remove clear reverse sort rotate
    add discard update setdefault difference_update intersection_update move_to_end
    symmetric_difference_update subtract fill put itemset partition resize setflags byteswap send
    throw write shuffle setfield __setitem__ __setattr__ __delitem__ __delattr__ __iadd__ copyto
    add_note place putmask fill_diagonal heappush heappop heapify put_along_axis
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
            raise ctx.failed(unseen(ctx.user_location(), *found))
        found = held_writer(value, names)
        if found is not None:
            raise ctx.failed(unseen(ctx.user_location(), *found))


def keeps_hash(ctx: Mode, value: Any, names: tuple[str, ...]) -> bool:
    """Return whether methods write nothing but the hash, which an object keeps once it is known.

    It is computed here, in sight, so that what is written is undone; from then on it is read.
    """
    t = type(value)
    method: Any = t.__hash__
    if type(method) is not FunctionType or names is PRINTING:
        return False
    others = [getattr(t, name, None) for name in names if name != "__hash__"]
    search = Search(t, STORES_OF_ATTRIBUTES)
    if search.change_in(method) is not None:
        return False
    search.allowed = frozenset()
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
    return not only_computes(f) and Search(FunctionType).change_in(f) is not None


def only_computes(f: FunctionType) -> bool:
    """Return whether it is seen at once that a function changes nothing, as most pullbacks do.

    It names nothing but numbers, strings, arrays and modules of libraries.
    """
    effects = effects_of(f.__code__)
    if effects.changes or effects.has_inner:
        return False
    for cell in f.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if type(value) not in QUIET:
            return False
    names = f.__globals__
    for name in effects.globals:
        value: Any = names.get(name)
        t = type(value)
        if t not in QUIET and not (t is ModuleType and package_of_module(value) in COMPUTING):
            return False
    return True


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
        if type(method) is property:
            method = method.fget
        if type(method) is not FunctionType or is_native_module(module_of(t)):
            continue
        if name == "__index__" and issubclass(t, int):
            continue  # compiled code takes the int itself
        known = _verdicts.setdefault(t, {})
        verdict = known.get(name)
        if verdict is None or verdict[0]() is not method:
            verdict = known[name] = weakref.ref(method), Search(t).change_in(method)
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
            change = Search(t).change_in(function)
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


class Search:
    """Looks for an instruction that changes something, in functions and in those they name.

    The functions use methods and properties of the class `t`, in which some instructions are
    `allowed`, and of the objects, classes and modules that they name.
    """

    def __init__(self, t: type, allowed: frozenset[str] = frozenset()) -> None:
        self.t = t
        self.allowed = allowed
        self.seen: set[tuple[int, CodeType, type]] = set()

    def change_in(self, value: Any) -> Location | None:
        """Return where a function or a property changes something, None if nowhere."""
        f = called(value)
        if type(f) is not FunctionType or (id(f), f.__code__, self.t) in self.seen:
            return None
        if is_generated(f) or is_native_module(module_of(f)) or is_of_library(f):
            return None
        return self._change_in_code(f, f.__code__)

    def of(self, holder: Any, allowed: frozenset[str] = frozenset()) -> Search:
        """Return the search in what another object, class or module has."""
        if holder is self.t and not allowed:
            return self
        t = type(holder)
        other = Search(holder if issubclass(t, type) else t, allowed)
        other.seen = self.seen
        return other

    def _change_in_code(self, f: FunctionType, code: CodeType) -> Location | None:
        self.seen.add((id(f), code, self.t))
        effects = effects_of(code)
        for name, offset in effects.changes:
            if name not in self.allowed:
                return place_at(Position(code, offset))
        named = [(value, offset) for value, offset in effects.named_by(f) if value is not None]
        for value, offset in named:
            change = place_at(Position(code, offset)) if is_mutating_method(value) else None
            change = change or self._change_where_called(value)
            if change is not None:
                return change
        for holder in (self.t, *(value for value, _ in named if has_functions(value))):
            search = self.of(holder)
            found = (search.change_in(method_of(holder, name)) for name in effects.attributes)
            change = next((change for change in found if change is not None), None)
            if change is not None:
                return change
        inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
        found = (self._change_in_code(f, constant) for constant in inner)
        return next((change for change in found if change is not None), None)

    def _change_where_called(self, value: Any) -> Location | None:
        """Return where a change is made if a value is called that a function names."""
        if type(called(value)) is FunctionType or not has_functions(value):
            return self.of(FunctionType).change_in(value)
        if not issubclass(type(value), type):
            return self.of(value).change_in(method_of(value, "__call__"))
        if not hasattr(value, "__next__"):
            return None  # most only ask whether something is an instance
        search = self.of(value, OWN)  # its iterators move on, which no one else sees
        found = (search.change_in(method_of(value, name)) for name in MADE)
        return next((change for change in found if change is not None), None)


class _Effects(NamedTuple):
    """The possible effects of the instructions of some code."""

    changes: tuple[tuple[str, int], ...]  # opnames and offsets of those that change something
    names: tuple[tuple[str, int], ...]  # globals and captured variables, and where they are read
    attributes: frozenset[str]  # that are read, of whatever
    globals: tuple[str, ...]
    has_inner: bool  # whether functions are defined in it

    def named_by(self, f: FunctionType) -> Iterator[tuple[Any, int]]:
        """Yield the present values of the names of a function, and where they are read."""
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        for name, offset in self.names:
            if name not in cells:
                yield f.__globals__.get(name), offset
                continue
            try:
                yield cells[name].cell_contents, offset
            except ValueError:  # not bound yet
                continue


@remembered
def effects_of(code: CodeType) -> _Effects:
    """Return the possible effects of the instructions of some code."""
    instructions = list(dis.get_instructions(code))
    names = tuple((i.argval, i.offset) for i in instructions if i.opname in NAMES)
    return _Effects(
        tuple(changes_in(code, instructions)),
        names,
        frozenset(i.argval for i in instructions if i.opname in READS),
        tuple({name for name, _ in names} - {*code.co_freevars}),
        any(isinstance(constant, CodeType) for constant in code.co_consts),
    )


def changes_in(code: CodeType, instructions: list[dis.Instruction]) -> Iterator[tuple[str, int]]:
    """Yield name and offset of the instructions that change something; STORE_OWN is made up."""
    own = code.co_varnames[:1] if code.co_argcount else ()
    for k, instruction in enumerate(instructions):
        if not _changes(code, instruction):
            continue
        stored = next(
            (j for j in range(k, min(k + 3, len(instructions))) if is_store(instructions[j])), -1
        )
        is_own = stored >= 0 and holder_of(instructions, stored) in own
        yield ("STORE_OWN" if is_own else instruction.opname), instruction.offset


def is_store(instruction: dis.Instruction) -> bool:
    """Return whether an instruction sets an attribute."""
    return instruction.opname == "STORE_ATTR"


def holder_of(instructions: list[dis.Instruction], k: int) -> Any:
    """Return the name of the local variable whose attribute is set, None for other values."""
    k -= 1
    if instructions[k].opname == "SWAP":  # of an operator in place: it was read before
        while k > 0 and instructions[k].opname != "COPY":
            k -= 1
        k -= 1
    if k < 0 or not instructions[k].opname.startswith("LOAD_FAST"):
        return None
    names: Any = instructions[k].argval  # some instructions load two
    return names[-1] if type(names) is tuple else names


def called(value: Any) -> Any:
    """Return the function that runs when a value is called or, if it is a property, read."""
    t = type(value)
    if issubclass(t, property):
        return value.fget
    if t is partial:
        return called(value.func)
    return value.__func__ if t in WRAPPERS else value


def is_mutating_method(value: Any) -> bool:
    """Return whether a value is a bound method in C that changes its object."""
    return type(value) is BuiltinFunctionType and (
        value.__name__ in MUTATING and type(value.__self__) is not ModuleType
    )


def has_functions(value: Any) -> bool:
    """Return whether a value is a module of the user's, or a class, or an instance of one."""
    t = type(value)
    if t is ModuleType:
        return not is_native_module(value.__name__) and package_of_module(value) not in LIBRARIES
    cls = value if issubclass(t, type) else t
    return (
        cls not in INERT and cls.__module__ != "builtins" and not is_native_module(module_of(cls))
    )


def package_of_module(module: ModuleType) -> str:
    """Return the name of the package that a module is in."""
    return module.__name__.partition(".")[0]


def method_of(holder: Any, name: str) -> Any:
    """Return the function that a module, a class or an instance has by a name, None if none.

    Nothing of the user's runs for it.
    """
    t = type(holder)
    if t is ModuleType:
        return vars(holder).get(name)
    if not issubclass(t, type):
        held = own_attributes(holder).get(name) if t.__module__ != "builtins" else None
        return held if held is not None else getattr(t, name, None)
    return getattr(holder, name, None)


def is_of_library(f: FunctionType) -> bool:
    """Return whether a function is of Python's sequences or numbers, NumPy or pandas: by name."""
    root = package_of(f)
    return root in LIBRARIES or is_constant_library(root)


def _changes(code: CodeType, instruction: dis.Instruction) -> bool:
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
    return name in STORES


def unseen(where: Location | None, method: FunctionType, change: Location) -> DerivativeDropError:
    """Return the error for a method that compiled code is about to call."""
    return DerivativeDropError(
        f"{method.__qualname__} changes something, and compiled code is about to call it",
        where=where,
        why="the engine cannot see a special method that compiled code calls, and could "
        "neither\n"
        "differentiate nor undo its writes; it writes at\n"
        + "\n".join([f"{change}", *(f"| {row}" for row in change.excerpt())]),
        fix="only compute in this method, and write in a method that you call by name",
    )
