"""From what a function gives back, or leaves in what it was passed, to outputs of a region."""

from __future__ import annotations

from dataclasses import replace

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.long_lists import leaves_in, stack_form
from mooncake_py.compiler.native.building.types import ROWS, THERE, Path, RowsType
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexNumber,
    Dictionary,
    Drawer,
    Function,
    Generator,
    Known,
    Number,
    Object,
    Partial,
    Slice,
    Stack,
    Super,
    Tuple,
    Unfit,
    Unread,
    Value,
)
from mooncake_py.compiler.native.reading import lists
from mooncake_py.compiler.native.reading.nested import NestedReader
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.regions.region import INT, REAL
from mooncake_py.compiler.regions.ir import Assign, Const, Count, Length, Name

__all__ = ["ResultReader"]


class ResultReader(NestedReader):
    """Tells how results are given back.

    Attributes
    ----------
    given : set of str
        The memory of lists, and the lists and dicts that change, that are given back.
    """

    given: set[str]

    def long_list(self, name: str, type_: RowsType, path: Path) -> Stack:
        """Return a long list that is passed: an array of each part, and which items are there."""
        there, shapes = f"{name}.there", {}
        given: list[tuple[str, str, Path]] = [(there, INT, (*path, THERE))]
        for k, (kind, shape) in enumerate(leaves_in(type_.form)):
            given.append((f"{name}.rows{k}", kind, (*path, ROWS, k)))
            shapes[f"{name}.rows{k}"] = tuple(map(Const, shape))
        for own, kind, place in given:
            self.places[own] = place
            self.inputs.add(own)
            self.order.append(own)
            self.b.kinds[own], self.b.arrays[own] = kind, 1
        form, bases = stack_form(type_.form), [*shapes]
        if type_.has_none:
            form, bases = ("maybe", form), [*bases, there]
        return Stack(form, tuple(bases), Length(there, 0), "", shapes, 0)

    def output(self, value: Value, name: str) -> Output:
        """Return how a result is given back, bound to names."""
        match value:
            case Known(value=known_value):
                return Output("known", value=known_value)
            case Tuple() | Dictionary() if value.name in self.holders:
                return self.output_of_structure(value, name)
            case Dictionary(keys=keys, items=items) if not value.name and value.cls is dict:
                outputs = [self.output(item, f"{name}.{k}") for k, item in enumerate(items)]
                return Output("dict", items=tuple(outputs), value=keys)
            case Deque():
                raise Unfit("a deque as a result: return a list", self.b.place)
            case Tuple(is_passed=True):
                raise Unfit("a list that is an argument as a result: return a copy", self.b.place)
            case Tuple(cls=cls) if cls is not None:
                raise Unfit(f"a {cls.__name__} as a result: return a tuple", self.b.place)
            case Tuple(items=items):
                outputs = [self.output(item, f"{name}.{k}") for k, item in enumerate(items)]
                kind = "list" if value.is_list else "tuple"
                return Output(kind, items=tuple(outputs))
            case Number():
                return self.number_given(value, name)
            case ComplexNumber(re=re, im=im):
                parts = zip((re, im), ("re", "im"), strict=True)
                outputs = [self.number_given(part, f"{name}.{own}") for part, own in parts]
                return Output("complex", items=tuple(outputs))
            case Array(frozen=True):
                raise Unfit(
                    "a view that must not be written as a result: return a copy", self.b.place
                )
            case Array():
                found = value if value.base else self.b.kept(value)
                if not found.whole:
                    raise Unfit("a view of an array as a result: return a copy", self.b.place)
                self.b.contiguous |= self.b.layouts.given(found, self.b.place)
                return Output("array", found.base)
            case Cells(array=array, type=type_):
                if value.base in self.inputs | self.given or value.ranks is not None:
                    raise Unfit("a list that has other names as a result", self.b.place)
                self.given.add(value.base)
                if value.length or not array.whole:  # as a row of a table
                    array = self.b.kept(lists.now(self.b, value).as_array)
                return Output("floats", array.base, type_)
            case Unread(why=why):
                raise Unfit(why, self.b.place)
            case Stack():
                raise Unfit(
                    "a list of arrays or tuples that a loop makes as a result: return arrays",
                    self.b.place,
                )
            case Choice():
                raise Unfit(f"{said(value)} as a result: return one type everywhere", self.b.place)
            case (
                Object() | Function() | Partial() | Super() | Dictionary() | Drawer() | Generator()
                | Slice()
            ):  # fmt: skip
                raise Unfit(
                    f"{said(value)} as a result: return numbers, arrays, and new lists and dicts",
                    self.b.place,
                )
        raise TypeError(value)

    def output_of_structure(self, value: Tuple | Dictionary, name: str) -> Output:
        """Return how a list or a dict that changes is given back: a new one, in one place."""
        if self.holders[value.name].path or value.name in self.given:
            raise Unfit(
                f"{said(value)} that has other names as a result: return a copy", self.b.place
            )
        self.given.add(value.name)
        now = self.current(value)
        assert isinstance(now, Tuple | Dictionary)
        return self.output(replace(now, name=""), name)

    def number_given(self, value: Number, name: str) -> Output:
        """Bind a number that is given back."""
        b = self.b
        rank = ""
        b.kinds[name] = value.kind
        if value.kind in REAL:
            b.add(Assign(Name(name), value.e))
        else:
            b.add(Count(name, value.e))
        if value.rank is not None:
            rank = f"{name}.rank"
            b.kinds[rank] = INT
            b.add(Count(rank, value.rank))
        return Output("number", name, value.type, rank)
