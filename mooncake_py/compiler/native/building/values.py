"""The values of the names of a function while it is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from mooncake_py.compiler.native.building.choice import Choice
from mooncake_py.compiler.native.building.drawers import Drawer
from mooncake_py.compiler.native.building.generator import Generator
from mooncake_py.compiler.native.building.sameness import are_one, never_changes
from mooncake_py.compiler.native.building.slices import Slice
from mooncake_py.compiler.native.building.types import ObjectType
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, flat, minus, plus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Const, Expr, Length, Load, Name
from mooncake_py.syntax.nodes import Place

__all__ = [
    "COMPLEX", "KINDS", "NO_KEY", "NUMPY_TYPES", "PARTS", "RANKS", "Array", "Cells", "Choice",
    "ComplexArray", "ComplexNumber", "Dictionary", "Drawer", "Function", "Generator", "Index",
    "Known", "Number", "Object", "Partial", "Slice", "Stack", "Super", "Tuple", "Unfit", "Unread",
    "Value", "complex_array", "key_in", "lengths", "names_as_index", "stored", "stored_complex",
]  # fmt: skip

Index = tuple[Expr, ...]

KINDS = {
    "bool": BOOL, "int": INT, "float": FLOAT, "bool_": BOOL, "int64": INT, "float32": FLOAT32,
    "float64": FLOAT,
}  # fmt: skip
"""Of the types of numbers, those of NumPy by their names there, the kinds."""
NUMPY_TYPES = {BOOL: "bool_", INT: "int64", FLOAT32: "float32", FLOAT: "float64"}
"""The types of the elements of arrays."""
COMPLEX = {FLOAT32: "complex64", FLOAT: "complex128"}
"""By the kinds of their parts the kinds of complex arrays."""
PARTS = {kind: part for part, kind in COMPLEX.items()}
RANKS = {"bool": 0, "int": 0, "float": 1, "float32": 2, "float64": 3}
"""Of the types that may be known only when it runs: arithmetic makes the largest of them."""


class Unfit(Exception):
    """Raised for code that cannot be compiled, with its place."""

    within: CodeType | None = None  # the function that was being read
    is_of_loop = False  # a loop of it that was read by itself

    def __init__(self, why: str, place: Place | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.place = place


@dataclass(frozen=True)
class Number:
    """A number.

    Attributes
    ----------
    e : Expr
    type : str
        One of `KINDS`; the largest where that is known only when it runs.
    rank : Expr or None
        Then what tells the type, as an int: see `RANKS`.
    narrow : bool
        Then whether it may be a float32; if so, it is not a float64.
    """

    e: Expr
    type: str
    rank: Expr | None = None
    narrow: bool = False

    @property
    def kind(self) -> str:
        """Its kind in compiled code."""
        return KINDS[self.type]


@dataclass(frozen=True)
class Array:
    """An array: memory, a view of memory, or an expression of which no element is computed yet.

    Attributes
    ----------
    shape : tuple of Expr
    kind : str
    at : callable
        Takes an index within the shape, returns the element.
    base : str
        The memory that it is a view of, else empty.
    whole : bool
        Whether it is all of its memory, in its order.
    frozen : bool
        Whether it is a view that must not be written.
    """

    shape: tuple[Expr, ...]
    kind: str
    at: Callable[[Index], Expr]
    base: str = ""
    whole: bool = False
    frozen: bool = False


@dataclass(frozen=True)
class ComplexNumber:
    """A complex number: the numbers that are its real and its imaginary part, of one type."""

    re: Number
    im: Number


@dataclass(frozen=True)
class ComplexArray(Array):
    """A complex array: those of its real and its imaginary parts, of one kind and shape.

    In memory they stand in one array with an axis more.  It has no elements of its own: what
    knows of no complex numbers refuses them.

    Attributes
    ----------
    parts : tuple of Array
    """

    parts: tuple[Array, ...] = ()

    @property
    def re(self) -> Array:
        """The real parts."""
        return self.parts[0]

    @property
    def im(self) -> Array:
        """The imaginary parts."""
        return self.parts[1]

    def mapped(self, f: Callable[[Array], Array]) -> ComplexArray:
        """Return a complex array whose parts are made of these."""
        return complex_array(f(self.re), f(self.im))


def complex_array(re: Array, im: Array, whole: bool = False) -> ComplexArray:
    """Return the complex array of two parts, which are of one memory or of none."""
    base = re.base if re.base == im.base else ""
    frozen = re.frozen or im.frozen
    return ComplexArray(re.shape, COMPLEX[re.kind], no_element, base, whole, frozen, parts=(re, im))


def no_element(index: Index) -> Expr:
    """Raise: complex numbers are two numbers."""
    raise Unfit("a complex array in place of a real one")


@dataclass(frozen=True)
class Tuple:
    """A tuple, or a list.

    One that the function changes is the same list whatever it holds: its items are slots, and those
    here are what it held when it was read.

    Attributes
    ----------
    items : tuple of Value
    is_list : bool
    is_passed : bool
        Whether it is a list that the caller has too.
    place : Place or None
        Where a list is made.
    name : str
        Of a list that the function changes, or that is passed: what it is called in the region.
    has_slots : bool
        Whether the function changes it.
    cls : type or None
        The class of a named tuple.
    """

    items: tuple[Value, ...]
    is_list: bool = False
    is_passed: bool = False
    place: Place | None = field(default=None, compare=False)
    cls: type | None = None
    name: str = ""
    has_slots: bool = field(default=False, compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tuple) or type(self) is not type(other):
            return NotImplemented
        if self.name or other.name:
            return self.name == other.name
        return (self.items, self.is_list, self.is_passed, self.cls) == (
            other.items, other.is_list, other.is_passed, other.cls
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Dictionary:
    """A dict; see `Tuple` for those that the function changes.

    Attributes
    ----------
    keys : tuple
        Strings, numbers, None, members of enumerations, and tuples of such.
    items : tuple of Value
    place : Place or None
        Where it is made.
    name, has_slots : str, bool
        What it is called in the region if the function changes it, or it is passed; which it is.
    cls, factory : type, Value or None
        `dict` or one of `collections`; what makes the items of a `defaultdict` that are not there.
    """

    keys: tuple[Any, ...]
    items: tuple[Value, ...]
    place: Place | None = field(default=None, compare=False)
    name: str = ""
    has_slots: bool = field(default=False, compare=False)
    cls: type = dict
    factory: Value | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dictionary):
            return NotImplemented
        if self.name or other.name:
            return self.name == other.name
        mine = self.keys, self.items, self.cls, self.factory
        return mine == (other.keys, other.items, other.cls, other.factory)

    __hash__ = None  # type: ignore[assignment]

    def under(self, key: Value) -> Value | None:
        """Return the value under a key, None if there is none, or if it is not known."""
        known = key_in(key)
        return self.items[self.keys.index(known)] if known in self.keys else None


NO_KEY = object()


def key_in(value: Value) -> Any:
    """Return a known key: a string, a number, or a tuple of such; else `NO_KEY`."""
    match value:
        case Known(value=found) if value.never_changes:
            return found
        case Number(e=Const(value=found)):
            return found
        case Tuple(items=items, is_list=False):
            found = tuple(map(key_in, items))
            return NO_KEY if NO_KEY in found else found
    return NO_KEY


@dataclass(frozen=True)
class Cells:
    """A list of numbers, as long as it was at first if it does not grow.

    Attributes
    ----------
    array : Array
    type : str
        Of its numbers, the largest where they differ.
    ranks : Array or None
        Then what tells the type of each: see `RANKS`.
    length : str
        Of a list that grows what its length is called; the arrays are as long as it was when it
        was read, in memory that has room for more.
    place : Place or None
        Where it is made.
    """

    array: Array
    type: str
    ranks: Array | None = None
    length: str = ""
    place: Place | None = field(default=None, compare=False)

    @property
    def base(self) -> str:
        """The memory that holds the numbers."""
        return self.array.base

    @property
    def shape(self) -> tuple[Expr, ...]:
        """How many there are."""
        return self.array.shape

    @property
    def as_array(self) -> Array:
        """NumPy's conversion of it, not to be written."""
        return Array(self.array.shape, self.array.kind, self.array.at)


@dataclass(frozen=True, eq=False)
class Stack:
    """A list of arrays, or of tuples of arrays and numbers, that a loop makes.

    Attributes
    ----------
    form, bases, shapes : tuple, tuple, dict
        What its items are like, the memory of each part, and the shapes of those that are arrays.
    length, count, loops : Expr, str, int
        How many there are; of a list that grows what that is called; in how many loops it is made.
    start, is_turned : Expr, bool
        Where in memory they begin, and whether the last one stands there.
    """

    form: tuple[Any, ...]
    bases: tuple[str, ...]
    length: Expr
    count: str
    shapes: dict[str, tuple[Expr, ...]]
    loops: int
    start: Expr = ZERO
    is_turned: bool = False
    shape = property(lambda self: (self.length,))

    @property
    def as_cells(self) -> Cells | Stack:
        """A list of numbers that are the items, not to be written, if they are numbers."""
        return Cells(self.as_array, self.form[1]) if self.form[0] == "number" else self

    def number(self, k: Expr) -> Expr:
        """Return an item of a list of numbers."""
        return Load(self.bases[0], (self.place(k),))

    def place(self, k: Expr) -> Expr:
        """Return where an item is in memory."""
        return plus(self.start, minus(minus(self.length, ONE), k) if self.is_turned else k)

    @property
    def as_array(self) -> Array:
        """NumPy's conversion of a list of arrays, not to be written."""
        if self.form[0] == "number":
            return Array(self.shape, KINDS[self.form[1]], lambda at: self.number(at[0]))
        if self.form[0] not in ("array", "row") or not self.shapes:
            raise Unfit("an array of a list of tuples, or of none: use several lists")
        ((base, shape),) = self.shapes.items()
        full = (self.length, *shape)
        places = lambda at: flat(full, (self.place(at[0]), *at[1:]))  # noqa: E731
        kind = KINDS[self.form[1]] if self.form[0] == "row" else self.form[1]
        return Array(full, kind, lambda at: Load(base, (places(at),)))


@dataclass(frozen=True, eq=False)
class Function:
    """A function that is made within another one.

    Attributes
    ----------
    node : FunctionDef or Lambda
    function : function
        Of its code, with nothing captured.
    scope : Scope
        Where it is made, in which it finds what it captures.
    defaults : dict of str to Value
    """

    node: ast.FunctionDef | ast.Lambda
    function: FunctionType
    scope: Any
    defaults: dict[str, Value]


@dataclass(frozen=True)
class Partial:
    """A function with arguments that a call adds others to: a partial, or a method of an object.

    Attributes
    ----------
    function : Value
    args : tuple of Value
    given : Dictionary
        Those by name.
    """

    function: Value
    args: tuple[Value, ...]
    given: Dictionary = Dictionary((), ())

    @property
    def items(self) -> tuple[Value, ...]:
        """All arguments, and the function."""
        return (self.function, *self.args, *self.given.items)

    def mapped(self, f: Callable[[Value], Value]) -> Partial:
        """Return a partial of other values."""
        given = Dictionary(self.given.keys, tuple(map(f, self.given.items)))
        return Partial(f(self.function), tuple(map(f, self.args)), given)


@dataclass(frozen=True, eq=False)
class Known:
    """An object that is the same in each call: a module, a function, None, text."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and are_one(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]

    @property
    def never_changes(self) -> bool:
        """Whether it is equal to the same things in each call, and true or not; no list is."""
        return never_changes(self.value)


@dataclass(frozen=True)
class Unread:
    """An argument that cannot be read, and why not: all code that looks at it is refused."""

    why: str


@dataclass(frozen=True)
class Object:
    """A plain instance.

    Attributes
    ----------
    name : str
        Of its own in the region.
    cls : type
    type : ObjectType
    path : tuple of (int or str)
        Where it is: the position of an argument, then positions in tuples and attributes.
    """

    name: str
    cls: type
    type: ObjectType
    path: tuple[Any, ...]
    is_row = property(lambda self: self.name[0] == "#", doc="Whether it varies in a loop.")


@dataclass(frozen=True)
class Super:
    """The result of ``super()``: an object, or a class, seen from behind a class.

    Attributes
    ----------
    after : type
        The class behind which its attributes are looked for.
    value : Value
    """

    after: type
    value: Value


@dataclass(frozen=True, eq=False)
class Picked:
    """The elements of an array where a mask is true, in an assignment to such elements.

    Attributes
    ----------
    array, mask : Array
        All elements, of which some are picked when it runs, and the mask of the same shape.
    """

    array: Array
    mask: Array


Value = (
    Number | ComplexNumber | Array | Tuple | Dictionary | Known | Object | Cells | Function | Picked
    | Partial | Stack | Super | Unread | Drawer | Generator | Slice | Choice
)  # fmt: skip


def stored(name: str, shape: tuple[Expr, ...], kind: str) -> Array:
    """Return an array unchanged in memory."""
    return Array(shape, kind, lambda index: Load(name, index), name, whole=True)


def stored_complex(name: str, shape: tuple[Expr, ...], kind: str) -> ComplexArray:
    """Return a complex array unchanged in memory: real and imaginary parts side by side."""

    def part(k: int) -> Array:
        return Array(shape, kind, lambda index: Load(name, (*index, Const(k))), name)

    return complex_array(part(0), part(1), whole=True)


def lengths(
    name: str, ones: tuple[bool, ...], pinned: tuple[tuple[int, int], ...] = ()
) -> tuple[Expr, ...]:
    """Return the shape of an array that is passed; lengths of one and pinned ones are known."""
    known = {axis: 1 for axis, one in enumerate(ones) if one} | dict(pinned)
    return tuple([Const(known[k]) if k in known else Length(name, k) for k in range(len(ones))])


def names_as_index(names: tuple[str, ...]) -> Index:
    """Return an index of counters."""
    return tuple([Name(name) for name in names])
