"""Whether values have the types for which something was read, as a printed function.

    def match(given):
        try:
            v0, v1 = given
            C = class_of_v0()
            if type(v0) is not C or id(C.__mro__) != 140:
                return None
            h0 = v0.__dict__
            v2, v3, v4 = get(h0)                    the attributes that were looked at
            if (t := (*map(type, (v1, v2, v3, v4)),)) != T and not are_of(T, (v1, v2, v3, v4)):
                return None
            ...
        except UNLIKE:
            return None
        return [v1, v2, v4]                         the inputs of the region, in their order

It asks for nothing that was not looked at: compiled code does not depend on the rest.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from numpy import ndarray

from mooncake_py.compiler.native.building.long_lists import leaves_in, rows_of
from mooncake_py.compiler.native.building.types import (
    COMPLEX_TYPES,
    FLOATS,
    HEAP,
    KEYS,
    KINDS,
    MOST_ITEMS,
    NUMBERS,
    ROWS,
    THERE,
    ArrayType,
    BoundType,
    DictType,
    KnownType,
    ListType,
    NumberType,
    ObjectType,
    Path,
    RowsType,
    SameType,
    TupleType,
    Type,
    UnservedType,
    is_list_of,
    is_taken,
    runs_forward,
)
from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.printing.text import Lines, define
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.attribute_lookup import in_class

__all__ = ["matcher"]

BY_NAME = {name: t for t, name in NUMBERS.items()} | {"bool": bool}
DTYPES = {kind: dtype for dtype, kind in KINDS.items()}
UNLIKE = AttributeError, KeyError, TypeError, ValueError
"""The exceptions raised where a structure has other names, keys or lengths."""
HOOKS = "__getattr__", "__getattribute__"
TEXTS = frozenset({str})


def are_of(types: Iterable[type], values: Iterable[Any]) -> bool:
    """Return True for values of these types one by one, or active numbers of them."""
    for t, v in zip(types, values, strict=True):
        if type(v) is not t and (
            type(v) is not Active or t not in FLOATS or type(innermost(v)) is not t
        ):
            return False
    return True


def exact(key: Any) -> Any:
    """Return an exact form of a key, or an item of a set: 1 and True are equal, so are zeros.

    No code of the program's runs: what is found here of another type is like nothing else.
    """
    t = type(key)
    if t is tuple:
        return tuple(map(exact, key))
    if t is float:
        return repr(key)
    return (t, key) if t in KEYS else id(key)


def same_keys(keys: Collection[Any], known: tuple[Any, ...]) -> bool:
    """Return True if a dict has the keys that are known, in their order."""
    return len(keys) == len(known) and all(map(are_same_keys, keys, known))


def are_same_keys(a: Any, b: Any) -> bool:
    """Return True for two keys that nothing tells apart."""
    return a is b or exact(a) == exact(b)


def same_items(found: set[Any], known: frozenset[Any]) -> bool:
    """Return True if a set has the items that are known."""
    return len(found) == len(known) and frozenset(map(exact, found)) == known


SCOPE: dict[str, Any] = {
    "KINDS": KINDS, "LARGE": LARGE, "UNLIKE": UNLIKE, "are_of": are_of, "dict": dict,
    "is_list_of": is_list_of, "is_taken": is_taken, "list": list, "ndarray": ndarray,
    "runs_forward": runs_forward, "rows_of": rows_of,
    "same_items": same_items, "same_keys": same_keys, "TEXTS": TEXTS,
}  # fmt: skip


class Unprinted(Exception):
    """No values of these types are matched."""


def matcher(
    types: Sequence[Type], places: Sequence[Path]
) -> Callable[[Sequence[Any]], list[Any] | None] | None:
    """Return a function from values of these types to a region's inputs, None for other values.

    None if there is no such function.

    Parameters
    ----------
    places : sequence of Path
        Where the inputs are in the values.
    """
    text = Text()
    try:
        text.parts("given", [(t, (k,)) for k, t in enumerate(types)])
        found = ", ".join([text.leaves[place] for place in places])
    except (Unprinted, KeyError):
        return None
    if len(text.held) > 1:
        ids = ", ".join(f"id({name})" for name in text.held)
        text.refuse(f"len({{{ids}}}) != {len(text.held)}")
    for v, first in text.same:
        text.refuse(f"{v} is not {text.names[first]}")
    lines = "\n        ".join([*text.first, *text.lines])
    body = (
        f"def match(given):\n    try:\n        {lines}\n"
        f"    except UNLIKE:\n        return None\n    return [{found}]\n"
    )
    return define(body, {**SCOPE, **text.constants})["match"]


class Text(Lines):
    """The lines of a function that compares.

    Attributes
    ----------
    names : dict of Path to str
        What the values at each path are called.
    leaves : dict of Path to str
        The numbers and arrays; of a complex number its parts.
    held : list of str
        The lists, dicts and objects, and their dicts: no two may be the same.
    same : list of (str, Path)
        What must be the structure at another path.
    """

    def __init__(self) -> None:
        super().__init__({})
        self.first: list[str] = []
        self.names: dict[Path, str] = {}
        self.leaves: dict[Path, str] = {}
        self.held: list[str] = []
        self.same: list[tuple[str, Path]] = []
        self.classes: dict[int, str] = {}
        self.asked: set[tuple[str, ...]] = set()

    def parts(self, value: str, parts: Sequence[tuple[Type, Path]], get: str = "") -> None:
        """Bind names to what a structure holds, and compare it.

        Parameters
        ----------
        get : str, optional
            What gives it; by default a structure of that length is unpacked.
        """
        names = [f"v{len(self.names) + k}" for k in range(len(parts))]
        for (_, path), v in zip(parts, names, strict=True):
            self.names[path] = v
        if not names:
            self.refuse(f"len({value})")
            return
        is_one = len(names) == 1
        end = "," if is_one and not get else ""
        self.lines.append(f"{', '.join(names)}{end} = {get or value}")
        self.compare([(t, v, path) for (t, path), v in zip(parts, names, strict=True)])

    def compare(self, parts: Sequence[tuple[Type, str, Path]]) -> None:
        """Compare values with types: first what all of them are, then each by itself."""
        exact = [(made, v) for t, v, _ in parts if (made := made_of(t)) is not None]
        if len(exact) == 1:
            ((made, v),) = exact
            name = self.constant(made)
            also = f" and not are_of(({name},), ({v},))" if made in FLOATS else ""
            self.refuse(f"type({v}) is not {name}{also}")
        elif exact:
            made = tuple([t for t, _ in exact])
            name, values = self.constant(made), ", ".join([v for _, v in exact])
            also = f" and not are_of({name}, ({values}))" if set(made) & set(FLOATS) else ""
            self.refuse(f"(*map(type, ({values})),) != {name}{also}")
        texts = [(t.known, v) for t, v, _ in parts if isinstance(t, KnownType) and t.type is str]
        if texts:
            names = ", ".join([v for _, v in texts])
            self.refuse(f"({names},) != {self.constant(tuple([text for text, _ in texts]))}")
        for part in parts:
            self.compare_one(*part)

    def compare_one(self, t: Type, v: str, path: Path) -> None:
        """Compare a value, which is of the class that belongs to its type."""
        match t:
            case NumberType(name):
                self.number(v, name, path)
            case ArrayType():
                self.array(v, t)
                self.leaves[path] = v
            case ListType(NumberType("")):
                self.refuse(v)
                self.leaves[path] = v
            case ListType(NumberType(name)):
                self.refuse(f"not is_list_of({self.constant(BY_NAME[name])}, {v})")
                self.leaves[path] = v
            case RowsType():
                self.rows(v, t, path)
            case TupleType(items, is_list, cls):
                if is_list:
                    self.held.append(v)
                if cls is not None:
                    self.refuse(f"type({v}) is not {self.constant(cls)}()")
                self.parts(v, [(item, (*path, k)) for k, item in enumerate(items)])
            case DictType():
                self.dictionary(v, t, path)
            case KnownType():
                self.known(v, t)
            case ObjectType():
                self.attributes(v, t, path)
            case BoundType(function, owner):
                self.known(f"{v}.__func__", function)
                self.parts("", [(owner, (*path, "__self__"))], f"{v}.__self__")
            case SameType(first):
                self.same.append((v, first))
            case UnservedType():
                pass

    def number(self, v: str, name: str, path: Path) -> None:
        """Compare a number, whose type is known to be right."""
        if name in COMPLEX_TYPES:
            self.leaves[(*path, "real")], self.leaves[(*path, "imag")] = f"{v}.real", f"{v}.imag"
            return
        if name in ("int", "int64"):
            self.refuse(f"not -LARGE < {v} < LARGE")
        self.leaves[path] = v

    def array(self, v: str, t: ArrayType) -> None:
        """Compare an array."""
        dtype = self.constant(DTYPES[t.kind])
        self.refuse(f"{v}.dtype is not {dtype} and KINDS.get({v}.dtype) != {t.kind!r}")
        names = [f"{v}_{k}" for k in range(len(t.ones))]
        self.lines.append(f"({''.join(f'{name}, ' for name in names)}) = {v}.shape")
        for name, is_one in zip(names, t.ones, strict=True):
            self.refuse(f"{name} != 1" if is_one else f"{name} == 1 or {name} >= LARGE")
        for axis, length in t.pinned:
            self.refuse(f"{names[axis]} != {length}")
        if t.kind == INT:
            self.refuse(f"not runs_forward({v}.strides)")

    def known(self, v: str, t: KnownType) -> None:
        """Compare constants that are one object; strings are compared already."""
        if t.type is FunctionType or t.known is not t.value:
            self.refuse(f"{v} is None or {v} is not {self.constant(t.known)}()")
        elif t.type is bool:
            self.refuse(f"{v} is not {t.known!r}")
        elif t.type is int:
            self.refuse(f"{v} != {t.known!r}")
        elif t.type is set:
            known = self.constant(frozenset(map(exact, t.known)))
            self.refuse(f"not same_items({v}, {known})")
        elif t.type not in (str, type(None)):
            self.refuse(f"{v} is not {self.constant(t.known)}")

    def rows(self, v: str, t: RowsType, path: Path) -> None:
        """Compare a long list of items, and make an array of each part of these."""
        self.refuse(f"len({v}) <= {MOST_ITEMS} or len({v}) >= LARGE")
        self.lines.append(f"rows{v} = rows_of({v}, {self.constant(t.form)}, {t.has_none})")
        self.refuse(f"rows{v} is None")
        self.leaves[*path, THERE] = f"rows{v}[-1]"
        for k, _ in enumerate(leaves_in(t.form)):
            self.leaves[*path, ROWS, k] = f"rows{v}[{k}]"

    def dictionary(self, v: str, t: DictType, path: Path) -> None:
        """Compare a dict: its keys in their order, and what stands under them."""
        self.held.append(v)
        keys = self.constant(t.keys)
        if TEXTS.issuperset(map(type, t.keys)):
            self.refuse(f"not TEXTS.issuperset(map(type, {v})) or tuple({v}) != {keys}")
        else:
            self.refuse(f"not same_keys({v}, {keys})")
        if t.keys:
            items = [(item, (*path, key)) for key, item in zip(t.keys, t.items, strict=True)]
            self.parts(v, items, f"{self.constant(itemgetter(*t.keys))}({v})")

    def attributes(self, v: str, t: ObjectType, path: Path) -> None:
        """Compare an object, and what was looked at of its attributes."""
        cls = t.cls()
        if cls is None:
            raise Unprinted
        self.held.append(v)
        self.refuse(f"type({v}) is not {self.of_class(cls, t)}")
        slots = [n for n, _ in t.attributes if type(in_class(cls, n)) is MemberDescriptorType]
        kept = [name for name, _ in t.attributes if name not in slots]
        types = dict(t.attributes)
        if slots:
            values = ", ".join([f"{v}.{name}" for name in slots])
            self.parts("", [(types[name], (*path, name)) for name in slots], values)
        if cls.__dictoffset__ and (kept or t.absent):
            held = f"h{v}"
            self.held.append(held)
            self.lines.append(f"{held} = {v}.__dict__")
            self.refuse(f"type({held}) is not dict")
            if t.absent:
                self.refuse(f"not {held}.keys().isdisjoint({self.constant(t.absent)})")
            if kept:
                get = f"{self.constant(itemgetter(*kept))}({held})"
                self.parts("", [(types[name], (*path, name)) for name in kept], get)
        for name in t.absent:
            if type(in_class(cls, name)) is MemberDescriptorType:
                self.refuse(f"hasattr({v}, {name!r})")

    def of_class(self, cls: type, t: ObjectType) -> str:
        """Return the name of a class, in which nothing must take part in what is looked at."""
        name = self.classes.get(id(cls))
        if name is None:
            name = self.classes[id(cls)] = f"C{len(self.classes)}"
            known = self.constant(weakref.ref(cls))
            bases = ", ".join([f"{name}_{k}" for k in range(len(cls.__mro__))])
            self.first += [
                f"{name} = {known}()",
                f"if {name} is None or id({name}.__mro__) != {id(cls.__mro__)}:",
                "    return None",
                f"{bases}, = {name}.__mro__",
            ]
        hooks = (*HOOKS, "__setattr__") if t.is_written_plainly else HOOKS
        looked = sorted([name for name, _ in t.attributes])
        if (name, *hooks, *looked) in self.asked:
            return name
        self.asked.add((name, *hooks, *looked))
        for k, base in enumerate(cls.__mro__):
            if base.__flags__ & HEAP:
                self.of_base(f"{name}_{k}", base, [*hooks, *looked], name)
        return name

    def of_base(self, base: str, cls: type, names: Sequence[str], last: str) -> None:
        """Require that a class has as little to do with some names as it has now."""
        there = [name for name in names if name in cls.__dict__]
        if not set(there).isdisjoint((*HOOKS, "__setattr__")):
            raise Unprinted
        away = tuple([name for name in names if name not in there])
        self.refuse(f"not {base}.__dict__.keys().isdisjoint({self.constant(away)})")
        for name in there:
            kind = type(cls.__dict__[name])
            if kind.__flags__ & HEAP:  # it must not be kept alive
                self.refuse(f"is_taken({last}, {name!r})")
            else:
                self.refuse(f"type({base}.__dict__[{name!r}]) is not {self.constant(kind)}")


def made_of(t: Type) -> type | None:
    """Return the class of values of a type, None where it is compared in another way."""
    match t:
        case NumberType(name):
            return BY_NAME[name]
        case ArrayType():
            return ndarray
        case ListType() | RowsType():
            return list
        case TupleType(_, is_list, cls):
            return list if is_list else tuple if cls is None else None
        case DictType():
            return dict
        case BoundType():
            return MethodType
        case KnownType(type=made) if made in (str, bool, int, type(None), set):
            return made
    return None
