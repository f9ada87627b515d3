"""Choices that loops bind again: the tag and all parts have names of their slot.

    best = None                             best.tag = 0
    for i in range(n):                      for i in range(n):
        t = f(x[i])                             t = f(x[i])
        if best is None or t < best[0]:         if best.tag == 0 or t < best.1.0:
            best = (t, shapes[i])                   best.1.0 = t; best.1.1.tag = i; best.tag = 1

What such a slot may be is found out when a pass is at its end, and the function is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import Path
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    ComplexArray,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import tags
from mooncake_py.compiler.native.reading.choosing import (
    Blocks,
    ChoosingReader,
    Sides,
    is_open,
    is_own,
)
from mooncake_py.compiler.native.reading.merging import Before
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Const, Count, Expr, Name
from mooncake_py.overriding import override

__all__ = ["Head", "KeptChoiceReader", "is_noted"]


class Head(NamedTuple):
    """What one option of a slot is like, in any reading.

    Attributes
    ----------
    kind : str
        "known", "object", "tuple", "number" or "array".
    what : object
        What is known; where an object is made; the class and the length of a tuple; the type of a
        number; the kind and the shape of an array.
    """

    kind: str
    what: Any


class KeptChoiceReader(ChoosingReader):
    """Binds slots that stand for choices wherever a loop may bind them again.

    Attributes
    ----------
    made_here : dict of str to Object
        The objects that have been made, by their names.
    """

    made_here: dict[str, Object]

    def key_of(self, o: Object) -> tuple[Any, ...]:
        """Return the key of an object, the same in all readings."""
        return ("passed", o.path) if o.path else ("made", o.name)

    def known_by(self, key: tuple[Any, ...]) -> Object | None:
        """Return an object by its key, None if it is not made yet."""
        if key[0] == "passed":
            found = self.at(key[1])
        else:
            found = self.made_here.get(key[1])
        found = found and self.taken_over(found)
        return found if isinstance(found, Object) else None

    def at(self, path: Path) -> Value:
        """Return the object, list or dict at a path of what is passed."""
        raise NotImplementedError

    @override
    def one_of_two(self, slot: Slot, known: Before, blocks: Blocks, sides: Sides) -> bool:
        is_one = super().one_of_two(slot, known, blocks, sides)
        found = sides[0].values.get(slot)
        if is_one and isinstance(found, Object):
            self.made_here[found.name] = found
        return is_one

    # Finding out.

    def find_choice(self, slot: Slot, values: Sequence[Value]) -> None:
        """Find out what a slot may be that a loop binds to several things.

        Raises
        ------
        Again
        """
        if is_own(slot):
            return
        if all(map(is_noted, values)):
            news = [self.note(slot, v) for v in values]
            if any(news):
                raise Again

    def note(self, slot: Slot, value: Value) -> bool:
        """Note what a slot may be; return whether that is new."""
        heads = [*self.findings.chosen.get(slot.own, ())]
        is_news = False
        for option in value.options if isinstance(value, Choice) else (value,):
            head = self.head_of(option)
            at = next((k for k, h in enumerate(heads) if are_alike(h, head)), -1)
            if at < 0:
                at = len(heads)
                heads.append(head)
                is_news = True
            if isinstance(option, Tuple):
                for k, item in enumerate(option.items):
                    is_news |= self.note(part_of(slot, at, k), item)
        self.findings.chosen[slot.own] = tuple(heads)
        if len(heads) > tags.MOST:
            raise Unfit(
                f"{slot.shown}, which a loop binds to more than {tags.MOST} things: use arrays, "
                "and an index",
                self.b.place,
            )
        return is_news

    def head_of(self, value: Value) -> Head:
        """Return the kind of an option."""
        match value:
            case Object():
                return Head("object", self.key_of(value))
            case Tuple(items=items, cls=cls):
                return Head("tuple", (cls, len(items)))
            case Number(type=name):
                return Head("number", name)
            case Array(shape=shape, kind=kind):
                return Head("array", (kind, shape))
        return Head("known", value)

    # Binding.

    def begin_choosing(self, bound: set[Slot]) -> None:
        """Let slots that a loop may bind again stand for choices under names of their own."""
        for slot, value in list(self.slots.values.items()):
            if slot.own in self.findings.chosen and (not slot.is_variable or slot in bound):
                if not self.is_kept(slot, value):
                    self.keep(slot, value)
                self.slots.retag(f"{slot.own}.tag")

    def is_kept(self, slot: Slot, value: Value | None) -> bool:
        """Return True for a choice under the names of its slot."""
        return isinstance(value, Choice) and value.tag.name == f"{slot.own}.tag"

    @override
    def bind(self, at: str | Slot, value: Value) -> None:
        slot = self.slot(at)
        is_kept = self.b.loops and self.is_kept(slot, self.slots.values.get(slot))
        if is_noted(value) and (is_kept or (self.b.loops and slot.own in self.findings.left_over)):
            self.keep(slot, value)
        else:
            super().bind(slot, value)

    def keep(self, slot: Slot, value: Value) -> None:
        """Bind a slot to a choice under names of its own, if it may be several things."""
        self.slots.maybe.pop(slot, None)
        kept = self.slots.values.get(slot)
        if not self.is_kept(slot, kept):
            if self.note(slot, value):
                raise Again
            kept = self.blank(slot)
            if not self.is_kept(slot, kept):
                return  # it may be one thing only
        assert isinstance(kept, Choice)
        if value != kept:
            self.put(slot, kept, self.kept_apart(value))
        self.slots.values[slot] = kept

    def blank(self, slot: Slot) -> Value:
        """Bind the names of all that a slot may be to something; return the choice of it."""
        b, own = self.b, slot.own
        numbers, options = [], []
        for k, head in enumerate(self.findings.chosen[own]):
            option = self.blank_option(slot, k, head)
            if option is not None:
                numbers.append(k)
                options.append(option)
        if len(options) == 1 and not isinstance(options[0], Known):
            return options[0]
        tag = f"{own}.tag"
        b.kinds[tag] = INT
        self.set_tag(slot, Const(numbers[0] if numbers else 0))
        return Choice(Name(tag), tuple(numbers), tuple(options))

    def blank_option(self, slot: Slot, k: int, head: Head) -> Value | None:
        """Return an option under names of a slot; None for an object that is not there yet."""
        b = self.b
        match head.kind:
            case "known":
                return head.what
            case "object":
                return self.known_by(head.what)
            case "tuple":
                cls, count = head.what
                items = [self.blank(part_of(slot, k, j)) for j in range(count)]
                return Tuple(tuple(items), cls=cls)
            case "number":
                zero = Const(False) if head.what.startswith("bool") else Const(0)
                if "float" in head.what:
                    zero = Const(0.0)
                return self.bind_number(slot.part(str(k)), Number(zero, head.what))
        kind, shape = head.what
        if not Before.of(b).has(shape):
            raise Unfit(
                f"{slot.shown}, which a loop binds to an array whose length is known only there",
                b.place,
            )
        found = b.new(shape, kind, zero=True)
        self.guarded.add(found.base)
        return found

    def set_tag(self, slot: Slot, e: Expr) -> None:
        """Bind the tag of a slot."""
        tag = f"{slot.own}.tag"
        self.b.add(Count(tag, e, place=self.b.place))
        self.slots.retag(tag)
        self.slots.values[Slot(f"{slot.own}.", "tag")] = Number(Name(tag), "int")

    def put(self, slot: Slot, kept: Value, value: Value) -> None:
        """Bind the names of a slot to the parts of a value, which none of them tells."""
        if not isinstance(kept, Choice) or not self.is_kept(slot, kept):
            self.put_option(slot, 0, kept, value)
            return
        heads = self.findings.chosen[slot.own]
        numbers: dict[int, int] = {}
        pairs = tags.options_of(value) if isinstance(value, Choice) else [(0, value)]
        for n, option in pairs:
            head = self.head_of(option)
            at = next((k for k, h in enumerate(heads) if are_alike(h, head)), -1)
            if at not in kept.numbers:
                if self.note(slot, value):
                    raise Again
                raise Unfit(
                    f"{slot.shown}, which a loop binds to {said(option)} that is new in each "
                    "pass: use a tuple of numbers",
                    self.b.place,
                )
            numbers[n] = at
            self.put_option(slot, at, kept.options[kept.numbers.index(at)], option)
        self.set_tag(slot, tags.number_in(value, numbers, numbers[pairs[0][0]]))

    def put_option(self, slot: Slot, k: int, kept: Value, value: Value) -> None:
        """Bind the parts of one option."""
        match kept, value:
            case Tuple(items=names), Tuple(items=items):
                for j, pair in enumerate(zip(names, items, strict=True)):
                    self.put(part_of(slot, k, j), *pair)
            case Number(), Number():
                found = self.bind_number(slot.part(str(k)), value)
                assert found == kept, (found, kept)
            case Array(), Array():
                self.of_shape(value, kept)
                self.keep_in_list(value)
                self.b.store(kept, value.at)


def part_of(slot: Slot, k: int, item: int) -> Slot:
    """Return the slot of an item of an option that is a tuple."""
    return Slot(f"{slot.own}.{k}.", str(item))


def is_noted(value: Value) -> bool:
    """Return True for what a slot that a loop binds may be one of."""
    if isinstance(value, Choice):
        return all(map(is_noted, value.options))
    if isinstance(value, Tuple):
        return not is_open(value) and all(map(is_noted, value.items))
    if isinstance(value, ComplexArray) or (isinstance(value, Object) and value.is_row):
        return False
    return isinstance(value, Known | Object | Number | Array)


def are_alike(x: Head, y: Head) -> bool:
    """Return True for two heads of one option."""
    if x.kind != y.kind:
        return False
    if x.kind == "number":
        return x.what.startswith("bool") == y.what.startswith("bool")
    if x.kind == "array":
        return x.what[0] == y.what[0] and len(x.what[1]) == len(y.what[1])
    return x.what == y.what
