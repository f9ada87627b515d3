"""Whether values have the types for which something was read, as a printed function.

    def match(given):
        v0, v1 = given
        if type(v0) is not ndarray or KINDS.get(v0.dtype) != 'FLOAT' or ...:
            return None
        ...
        return [v0, v1]                 the inputs of the region, in their order

It says yes only to values of which `type_of` finds these types again, attributes aside that could
not be read then: compiled code does not look at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.building.types import (
    COMPLEX_TYPES,
    FLOATS,
    GROWING,
    KINDS,
    NUMBERS,
    ArrayType,
    DictType,
    KnownType,
    ListType,
    NumberType,
    ObjectType,
    Path,
    SameType,
    TupleType,
    Type,
    UnservedType,
    fields_of,
    is_list_of,
    is_taken,
    runs_forward,
)
from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.printing.text import define
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.attribute_lookup import PLAIN_READS, PLAIN_WRITES
from mooncake_py.tangents.fields import instance_dict

__all__ = ["matcher"]

BY_NAME = {name: t for t, name in NUMBERS.items()} | {"bool": bool}
SCOPE: dict[str, Any] = {
    "Active": Active, "GROWING": GROWING, "KINDS": KINDS, "LARGE": LARGE,
    "fields_of": fields_of, "float64": np.float64,
    "float32": np.float32, "innermost": innermost, "instance_dict": instance_dict,
    "int64": np.int64,
    "is_list_of": is_list_of, "is_taken": is_taken,
    "ndarray": ndarray, "runs_forward": runs_forward,
}  # fmt: skip


def same_types(keys: Iterable[Any], known: Iterable[Any]) -> bool:
    """Return True for keys of the same types one by one: 1 and True are equal."""
    return list(map(type, keys)) == list(map(type, known))


SCOPE["same_types"] = same_types


class Unprinted(Exception):
    """Values of these types are compared in the general way."""


def matcher(
    types: Sequence[Type], paths: Sequence[Path]
) -> Callable[[Sequence[Any]], list[Any] | None] | None:
    """Return what gives the inputs of a region for values of these types, and None for others.

    None if there is no such function.

    Parameters
    ----------
    paths : sequence of Path
        Where the inputs are that follow those in the values themselves.
    """
    text = Text()
    try:
        names = [text.checked(t, f"given[{k}]", (k,)) for k, t in enumerate(types)]
        flat = [name for found in names for name in found]
        flat += [name for path in paths for name in text.found[path]]
    except (Unprinted, KeyError):
        return None
    if len(text.held) > 1:
        ids = ", ".join(f"id({name})" for name in text.held)
        text.refuse(f"len({{{ids}}}) != {len(text.held)}")
    lines = [*text.lines, f"return [{', '.join(flat)}]"]
    body = "\n    ".join(["def match(given):", *lines]) + "\n"
    return define(body, {**SCOPE, **text.constants})["match"]


class Text:
    """The lines of a function that compares.

    Attributes
    ----------
    constants : dict of str to object
        What it refers to.
    found : dict of Path to list of str
        The numbers and arrays by where they are.
    held : list of str
        The lists, the dicts and the objects, and their dicts: no two may be the same.
    names : dict of Path to str
        What anything is called.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.found: dict[Path, list[str]] = {}
        self.held: list[str] = []
        self.names: dict[Path, str] = {}
        self.count = 0

    def refuse(self, condition: str) -> None:
        """Return None where a condition is met."""
        self.lines += [f"if {condition}:", "    return None"]

    def constant(self, value: Any) -> str:
        """Return the name of a constant."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def checked(self, t: Type, value: str, path: Path) -> list[str]:
        """Compare a value with a type; return the names of the numbers and arrays in it.

        Those of objects are no part of it: see `flattened`.
        """
        v, self.count = f"v{self.count}", self.count + 1
        self.lines.append(f"{v} = {value}")
        self.names[path] = v
        match t:
            case NumberType(name) if name in BY_NAME and name not in COMPLEX_TYPES:
                self.number(v, BY_NAME[name])
                found = [v]
            case ArrayType():
                self.array(v, t)
                found = [v]
            case ListType(NumberType(name)) if name in BY_NAME:
                self.refuse(f"not is_list_of({BY_NAME[name].__name__}, {v})")
                found = [v]
            case TupleType(items, is_list, cls):
                if is_list:
                    self.held.append(v)
                same = "list" if is_list else "tuple" if cls is None else f"{self.constant(cls)}()"
                self.refuse(f"type({v}) is not {same}")
                self.refuse(f"len({v}) != {len(items)}")
                parts = [self.checked(p, f"{v}[{k}]", (*path, k)) for k, p in enumerate(items)]
                found = [name for part in parts for name in part]
            case DictType(keys, items):
                self.held.append(v)
                self.refuse(f"type({v}) is not dict or tuple({v}) != {self.constant(keys)}")
                if not {str}.issuperset(map(type, keys)):
                    self.refuse(f"not same_types({v}, {self.constant(keys)})")
                parts = [
                    self.checked(p, f"{v}[{self.constant(key)}]", (*path, key))
                    for key, p in zip(keys, items, strict=True)
                ]
                found = [name for part in parts for name in part]
            case KnownType():
                self.known(v, t)
                found = []
            case ObjectType():
                self.attributes(v, t, path)
                found = []
            case SameType(first):
                self.refuse(f"{v} is not {self.names[first]}")
                found = []
            case UnservedType():
                found = []
            case _:
                raise Unprinted
        self.found[path] = found
        return found

    def number(self, v: str, t: type) -> None:
        """Compare a number."""
        if t in FLOATS:
            name = t.__name__
            self.lines += [
                f"if type({v}) is not {name}:",
                f"    if type({v}) is not Active or type(innermost({v})) is not {name}:",
                "        return None",
            ]
            return
        bound = "" if t is bool else f" or not -LARGE < {v} < LARGE"
        self.refuse(f"type({v}) is not {t.__name__}{bound}")

    def array(self, v: str, t: ArrayType) -> None:
        """Compare an array."""
        self.refuse(f"type({v}) is not ndarray or KINDS.get({v}.dtype) != {t.kind!r}")
        self.refuse(f"{v}.ndim != {len(t.ones)}")
        names = [f"{v}_{k}" for k in range(len(t.ones))]
        self.lines.append(f"{', '.join(names)}, = {v}.shape")
        for name, is_one in zip(names, t.ones, strict=True):
            self.refuse(f"{name} != 1" if is_one else f"{name} == 1 or {name} >= LARGE")
        if t.kind == INT:
            self.refuse(f"not runs_forward({v}.strides)")

    def known(self, v: str, t: KnownType) -> None:
        """Compare what is one object."""
        if t.type is FunctionType or t.known is not t.value:
            self.refuse(f"{v} is None or {v} is not {self.constant(t.known)}()")
        elif t.known is None or t.type is bool:
            self.refuse(f"{v} is not {t.known!r}")
        elif t.type is str:
            self.refuse(f"type({v}) is not str or {v} != {self.constant(t.known)}")
        else:
            self.refuse(f"{v} is not {self.constant(t.known)}")

    def attributes(self, v: str, t: ObjectType, path: Path) -> None:
        """Compare an object, and its attributes."""
        cls = t.cls()
        if cls is None or type(cls) is not type:
            raise Unprinted
        c, held = f"c{v}", f"h{v}"
        self.held += [v, held]
        names = tuple([name for name, _ in t.attributes])
        self.lines.append(f"{c} = type({v})")
        self.refuse(f"{c} is not {self.constant(t.cls)}() or id({c}.__mro__) != {id(cls.__mro__)}")
        self.refuse(f"not ({self.one_of(f'{c}.__getattribute__', PLAIN_READS)})")
        self.refuse(f"hasattr({c}, '__getattr__')")
        written = self.one_of(f"{c}.__setattr__", PLAIN_WRITES)
        self.refuse(f"not ({written})" if t.is_written_plainly else written)
        self.lines.append(f"{held} = fields_of({v}, instance_dict({v}))")
        self.refuse(f"type({held}) is not dict or tuple({held}) != {self.constant(names)}")
        for name, part in t.attributes:
            if not isinstance(part, UnservedType):
                self.refuse(f"is_taken({c}, {name!r})")
                self.checked(part, f"{held}[{name!r}]", (*path, name))

    def one_of(self, text: str, known: tuple[Any, ...]) -> str:
        """Return the condition that something is one of some objects."""
        return " or ".join(f"{text} is {self.constant(one)}" for one in known)
