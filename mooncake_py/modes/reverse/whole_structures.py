"""Gradients of functions that run whole in the structure of an argument: an object, a dict.

Two functions are printed for a structure as it is: one looks whether another value has it, and one
puts the gradients of the numbers and arrays that were read into a new one, with zeros for others::

    def look(v0):
        h0 = v0.__dict__                    def build(g, u):
        if tuple(h0) != NAMES:                  return MutableTangent(a=g[0], b=0.0, n=NONE)
            return None
        v1, v2, v3 = h0.values()
        if (*map(type, (v1, v2, v3)),) != T:
            return None
        return []                           the arrays that were not read
"""

from __future__ import annotations

import keyword
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import is_dataclass
from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import FLOATS, Path, fields_of
from mooncake_py.compiler.native.passed import numbers_in
from mooncake_py.compiler.printing.text import Lines, define
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.fields import instance_dict
from mooncake_py.tangents.kinds import MutableTangent, NoTangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.spec import ObjectSpec

__all__ = ["Structure"]

MOST = 4  # structures of one argument
WITHOUT = frozenset({int, bool, str, type(None), np.int64, np.bool_, bytes})
"""Types of what never has a derivative."""
BUILTIN = frozenset({list, tuple, dict})


class Unlike(Exception):
    """The gradient of a value is made in the general way."""


Look = Callable[[Any], "list[Any] | None"]
Build = Callable[[Sequence[Any], "list[Any]"], Any]


class Structure:
    """The structures that an argument has had.

    Parameters
    ----------
    places : dict of Path to int
        By where numbers and arrays are in it, below the argument, which of the gradients is theirs.
    """

    def __init__(self, places: Mapping[Path, int]) -> None:
        self.places = places
        self.known: list[tuple[Look, Build]] = []
        self.refused = 0

    def of(self, value: Any) -> tuple[Build, list[Any]] | None:
        """Return a builder of the gradient of a value, and the parts it needs; None if none."""
        for look, build in self.known:
            found = look(value)
            if found is not None:
                return build, found
        if len(self.known) + self.refused >= MOST:
            return None
        try:
            look, build = Text(self.places).functions(value)
        except Unlike:
            self.refused += 1
            return None
        found = look(value)
        if found is None:
            self.refused += 1
            return None
        self.known.append((look, build))
        return build, found


class Text(Lines):
    """The text of both functions.

    Attributes
    ----------
    places : dict of Path to int
        By where numbers and arrays are which of the gradients is theirs; see `owned`.
    made : dict of int to (str, str)
        By the ids of structures their names in both.
    arrays : list of str
        The arrays that have a gradient: they must share no memory.
    unread : list of str
        Of these those that were not read.
    """

    def __init__(self, places: Mapping[Path, int]) -> None:
        super().__init__({
            "MutableTangent": MutableTangent, "NONE": NoTangent(), "new": object.__new__,
            "numbers_in": numbers_in, "put": object.__setattr__, "zeros": np.zeros,
        })  # fmt: skip
        self.given = places
        self.places: dict[Path, int] = {}
        self.builds: list[str] = []
        self.made: dict[int, tuple[str, str]] = {}
        self.open: set[int] = set()
        self.arrays: list[str] = []
        self.unread: list[str] = []
        self.count = 0

    def functions(self, value: Any) -> tuple[Look, Build]:
        """Return both functions for values like one."""
        self.places = {owned(value, path): k for path, k in self.given.items()}
        if len(self.places) < len(self.given):
            raise Unlike
        if type(value) in EXACT:
            self.refuse(f"type(v) is not {self.constant(type(value))}")
        result = self.part(value, "v", ())
        if result == "NONE":  # it has no derivative, which is an error
            raise Unlike
        if len(self.made) > 1:
            ids = ", ".join([f"id({v})" for v, _ in self.made.values()])
            self.refuse(f"len({{{ids}}}) != {len(self.made)}")
        if self.arrays:
            ids = ", ".join([f"id({v})" for v in self.arrays])
            alone = " and ".join([f"{v}.flags.owndata" for v in self.arrays])
            self.refuse(f"len({{{ids}}}) != {len(self.arrays)} or not ({alone})")
        looks, builds = "\n    ".join(self.lines), "\n    ".join(self.builds)
        text = (
            f"def look(v):\n    {looks}\n    return [{', '.join(self.unread)}]\n"
            f"def build(g, u):\n    {builds}\n    return {result}\n"
        )
        scope = define(text, self.constants)
        return scope["look"], scope["build"]

    def part(self, value: Any, v: str, path: Path) -> str:
        """Look at a value, of whose type builtin ones are compared already; return its gradient."""
        t = type(value)
        if t in WITHOUT:
            return "NONE"
        place = self.places.get(path)
        if t in FLOATS:
            return f"{self.constant(t(0.0))}" if place is None else f"g[{place}]"
        if t is ndarray:
            return self.array(value, v, place)
        if t is list and place is not None:
            return self.held(value, v) or self.named(value, f"numbers_in(g[{place}], float)")
        if t in BUILTIN or hasattr(t, "_fields"):
            return self.container(value, v, path)
        spec = spec_of(value)
        if spec.fields(value) is None:
            try:
                self.refuse(f"{v} is not {self.constant(weakref.ref(value))}()")
            except TypeError:
                raise Unlike from None
            return "NONE"
        if type(spec) is ObjectSpec and spec.mutable:
            return self.instance(value, v, path)
        raise Unlike

    def array(self, a: ndarray, v: str, place: int | None) -> str:
        """Look at an array."""
        dtype = self.constant(a.dtype)
        self.refuse(f"{v}.dtype is not {dtype}")
        if not differentiable_array(a):
            return "NONE"
        self.arrays.append(v)
        if place is not None:
            return f"g[{place}]"
        self.unread.append(v)
        k = len(self.unread) - 1
        return f"zeros(u[{k}].shape, {dtype})"

    def held(self, value: Any, v: str) -> str | None:
        """Note a structure that may change; return its gradient if it was met before.

        Raises
        ------
        Unlike
            It holds itself.
        """
        if id(value) in self.open:
            raise Unlike
        if id(value) in self.made:
            first, made = self.made[id(value)]
            self.refuse(f"{v} is not {first}")
            return made
        self.made[id(value)] = v, f"o{len(self.made)}"
        return None

    def container(self, value: Any, v: str, path: Path) -> str:
        """Look at a tuple, a list or a dict."""
        t = type(value)
        known = None if issubclass(t, tuple) else self.held(value, v)
        if known is not None:
            return known
        if t is tuple or t is list:
            self.refuse(f"len({v}) != {len(value)}")
            parts = self.parts(value, dict(enumerate(value)), v, path)
            end = "," if t is tuple and len(value) == 1 else ""
            text = ", ".join(parts.values()) + end
            return self.named(value, f"({text})" if t is tuple else f"[{text}]")
        if t is dict:
            self.refuse(f"tuple({v}) != {self.constant(tuple(value))}")
            self.refuse(f"[*map(type, {v})] != {self.constant([*map(type, value)])}")
            parts = self.parts(value, value, f"{v}.values()", path)
            pairs = [f"{self.constant(key)}: {part}" for key, part in parts.items()]
            return self.named(value, "{" + ", ".join(pairs) + "}")
        cls = self.class_of(value, v)
        parts = self.parts(value, dict(enumerate(value)), v, path)
        return self.named(value, f"{cls}({', '.join(parts.values())})")

    def class_of(self, value: Any, v: str) -> str:
        """Compare the class of a value; return what gives it."""
        cls = f"{self.constant(weakref.ref(type(value)))}()"
        self.refuse(f"type({v}) is not {cls}")
        return cls

    def instance(self, value: Any, v: str, path: Path) -> str:
        """Look at an object."""
        known = self.held(value, v)
        if known is not None:
            return known
        cls = self.class_of(value, v)
        if is_native_module(module_of(type(value))):
            return "NONE"
        held = instance_dict(value)
        if type(held) is not dict or fields_of(value, held) is not held:  # it has slots
            raise Unlike
        if not all(name.isidentifier() and not keyword.iskeyword(name) for name in held):
            raise Unlike
        if list(spec_of(value).fields(value) or ()) != list(held):
            raise Unlike
        h = f"h{len(self.made)}"
        self.lines.append(f"{h} = {v}.__dict__")
        self.refuse(f"tuple({h}) != {self.constant(tuple(held))}")
        parts = self.parts(value, held, f"{h}.values()", path)
        if not is_dataclass(value):
            fields = ", ".join([f"{name}={part}" for name, part in parts.items()])
            return self.named(value, f"MutableTangent({fields})")
        made = self.named(value, f"new({cls})")
        self.builds += [f"put({made}, {name!r}, {part})" for name, part in parts.items()]
        return made

    def named(self, value: Any, text: str) -> str:
        """Bind a gradient to the name of a structure, if it has one."""
        if id(value) not in self.made:
            return text
        name = self.made[id(value)][1]
        self.builds.append(f"{name} = {text}")
        return name

    def parts(self, value: Any, held: Mapping[Any, Any], given: str, path: Path) -> dict[Any, str]:
        """Look at what a structure holds; return the gradients by key."""
        if not held:
            return {}
        names = [f"v{self.count + k}" for k in range(len(held))]
        self.count += len(names)
        self.lines.append(f"{', '.join(names)}, = {given}")
        pairs = zip(names, held.values(), strict=True)
        exact = [(v, type(p)) for v, p in pairs if type(p) in EXACT]
        if exact:
            values = ", ".join([v for v, _ in exact])
            self.refuse(
                f"(*map(type, ({values},)),) != {self.constant(tuple([t for _, t in exact]))}"
            )
        self.open.add(id(value))
        found = {
            key: self.part(part, v, step_into(value, path, key))
            for v, (key, part) in zip(names, held.items(), strict=True)
        }
        self.open.discard(id(value))
        return found


def owned(value: Any, path: Path) -> Path:
    """Return in which structure something is, by its id, and where: several paths lead there."""
    found: Path = ()
    for step in path:
        found = step_into(value, found, step)
        value = found_at((value,), (0, step))
    return found


def step_into(value: Any, path: Path, step: Any) -> Path:
    """Return where a part is: the numbers of a tuple, which is a value, by the path to that."""
    return (*path, step) if issubclass(type(value), tuple) else (id(value), step)


EXACT = WITHOUT | BUILTIN | {ndarray, *FLOATS}
