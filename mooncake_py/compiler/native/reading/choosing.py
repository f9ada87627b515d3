"""Values of several structures: which of them it is, is known only when the code runs.

    if kind == 0:               if kind == 0:
        shape = Disc(r)             r.o1 = r
    else:                           tag = 0
        shape = Box(a, b)       else:
    shape.area()                    a.o2, b.o2 = a, b
                                    tag = 1
                                if tag == 0: pi * r.o1 ** 2, else: a.o2 * b.o2

Objects stand for themselves, so that a write by way of the choice is one of the object; what else
it may be has its parts under names of the choice.  Whatever looks at a choice is read once for each
option, under a test of the tag, and the results are merged.  See `tags`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mooncake_py.compiler.native.building import narrow, operations
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    Function,
    Known,
    Number,
    Object,
    Partial,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import no_axes, tags
from mooncake_py.compiler.native.reading.lowering import is_flag
from mooncake_py.compiler.native.reading.merging import Before, bases_in, merged
from mooncake_py.compiler.native.reading.moving import MovingReader
from mooncake_py.compiler.native.reading.store import Slot, Snapshot, is_same
from mooncake_py.compiler.native.reading.structures import referred
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Compare,
    Const,
    Count,
    Expr,
    If,
    Name,
    Op,
    Select,
    Statement,
)
from mooncake_py.overriding import override

__all__ = [
    "CHOSEN", "RESULT_SLOT", "Blocks", "ChoosingReader", "Sides", "is_open", "is_own",
]  # fmt: skip

CHOSEN = ".item"  # how slots are called for what `min` and `max` choose
RESULT_SLOT = "..result"
"""The name of the slot in which results of two sides meet."""
OPTIONS = Known | Object | Tuple | Choice | Number | Array | Function | Partial
Blocks = Sequence[list[Statement]]
Sides = Sequence[Snapshot]


class ChoosingReader(MovingReader):
    """Makes and takes apart choices.

    Attributes
    ----------
    merging : Slot or None
        The slot whose values are merged.
    """

    merging: Slot | None = None

    def joined(self, known: Before, blocks: Blocks, sides: tuple[Snapshot, Snapshot]) -> Snapshot:
        """Return the values of slots where the two sides of a branch meet."""
        raise NotImplementedError

    def present(self, known: Before, block: list[Statement], value: Value) -> Value:
        """Return a side's value as it is after the branch: an array in memory that exists there."""
        raise NotImplementedError

    def is_there(self, known: Before, value: Array) -> bool:
        """Return True for memory that there is in any case."""
        raise NotImplementedError

    def start(self, value: Value) -> None:
        """Bind the names of a value to something, for where nothing binds them."""
        raise NotImplementedError

    # Reading each option.

    @override
    def for_each(self, choice: Choice, read: Callable[[Value], Value]) -> Value:
        found = tags.remaining(choice, self.slots.facts)
        if not isinstance(found, Choice):
            return read(found)
        *others, last = zip(found.numbers, found.options, strict=True)
        tests = [tags.within(found, [n]) for n, _ in others]
        pairs = [*others, last]
        return self.read_sides(tests, [lambda v=v: read(self.current(v)) for _, v in pairs])

    @override
    def but_none(self, choice: Choice, read: Callable[[Value], Value]) -> Value:
        refused = [n for n, v in tags.options_of(choice) if tags.raises(v)]
        if refused and len(refused) < len(choice.options):
            test = tags.within(choice, [n for n in choice.numbers if n not in refused])
            self.b.require(test)  # else Python raises
            self.assume(test, True)
        return self.for_each(choice, read)

    @override
    @contextmanager
    def supposing(self, test: Expr, holds: bool) -> Iterator[None]:
        slots = self.slots
        before, retagged = dict(slots.facts), slots.retagged.copy()
        self.assume(test, holds)
        yield
        slots.facts = {t: f for t, f in before.items() if slots.retagged[t] == retagged[t]}

    def assume(self, test: Expr, holds: bool) -> None:
        """Note what a test that holds, or does not, tells of tags."""
        facts = tags.facts_of(test, holds, self.implied)
        self.slots.facts = tags.both(self.slots.facts, facts)

    @override
    def read_sides(self, tests: Sequence[Expr], reads: Sequence[Callable[[], Value]]) -> Value:
        b, slots = self.b, self.slots
        known, entry = Before.of(b), slots.snapshot()
        was_straight, self.is_straight = self.is_straight, False
        blocks: list[list[Statement]] = []
        sides: list[Snapshot] = []
        values: list[Value] = []
        for k, read in enumerate(reads):
            slots.restore(entry)
            for test in tests[:k]:
                self.assume(test, False)
            if k < len(tests):
                self.assume(tests[k], True)
            with b.within() as block:
                values.append(read())
            blocks.append(block)
            sides.append(slots.snapshot())
        values = [self.taken_over(v) for v in values]
        slot = self.scope.slot(RESULT_SLOT)
        found: Value | None = None
        if any(map(self.is_new, values)):
            for side, value in zip(sides, values, strict=True):
                side.values[slot] = value
        else:
            found = self.one_of(known, blocks, sides, values)
        block, after = blocks[-1], sides[-1]
        for k in reversed(range(len(tests))):
            after = self.joined(known, (blocks[k], block), (sides[k], after))
            block: list[Statement] = [If(tests[k], tuple(blocks[k]), tuple(block), place=b.place)]
        b.block += block
        slots.restore(after)
        self.is_straight = was_straight
        found = found or slots.values.pop(slot, None)
        if found is None:
            raise Unfit(f"one of several things: {said(*values)}", b.place)
        return found

    def is_new(self, value: Value) -> bool:
        """Return True for a new object, or a list or dict that changes, of a side of a branch."""
        return self.is_held(value) and not getattr(value, "path", ())

    # Merging what it may be.

    def choose(self, slot: Slot, known: Before, blocks: Blocks, sides: Sides) -> None:
        """Let a slot that stands for two things stand for one of them, by a tag."""
        values = [side.values.get(slot) for side in sides]
        if is_same(*values) or not may_be_chosen(slot, values):
            return
        found = [v for v in values if v is not None]
        self.merging = slot
        try:
            merged_value = self.one_of(known, blocks, sides, found)
        except Unfit:  # nothing may read it
            if slot.name == RESULT_SLOT:
                raise
            return
        finally:
            self.merging = None
        for side in sides:
            side.values[slot] = merged_value

    def one_of(
        self, known: Before, blocks: Blocks, sides: Sides | None, values: Sequence[Value]
    ) -> Value:
        """Return one value for those of sides, of which one runs."""
        values = [self.taken_over(v) for v in values]
        if sides is not None:
            pairs = zip(sides, values, strict=True)
            values = [
                tags.remaining(v, side.facts) if isinstance(v, Choice) else v for side, v in pairs
            ]
        first = values[0]
        if all(is_same(v, first) for v in values) and (
            not isinstance(first, Array) or self.is_there(known, first)
        ):
            return first
        numbers = [v for v in values if isinstance(v, Number)]
        if len(numbers) == len(values) and len({v.kind == BOOL for v in numbers}) == 1:
            return self.number_among(blocks, numbers)
        tuples = [v for v in values if isinstance(v, Tuple)]
        if len(tuples) == len(values) and all(tags.are_one_option(v, tuples[0]) for v in tuples):
            rows = zip(*[v.items for v in tuples], strict=True)
            items = [self.one_of(known, blocks, sides, row) for row in rows]
            return replace(tuples[0], items=tuple(items))
        arrays = [v for v in values if isinstance(v, Array)]
        if len(arrays) == len(values) and not any(self.is_there(known, a) for a in arrays):
            named = self.named_among(arrays, sides)
            found = merged(self.b, known, blocks, arrays)
            if found is not None:
                self.guarded |= {found.base} if named else set()
                return found
        return self.tagged(known, blocks, sides, values)

    def tagged(
        self, known: Before, blocks: Blocks, sides: Sides | None, values: Sequence[Value]
    ) -> Choice:
        """Return a choice of all that the values of sides may be."""
        heads: list[Value] = []
        given: list[dict[int, Value]] = []  # by the sides
        numbers: list[dict[int, int]] = []
        for k, value in enumerate(values):
            numbers.append({})
            for n, option in tags.options_of(value) if isinstance(value, Choice) else [(0, value)]:
                if not isinstance(option, OPTIONS) or is_open(option):
                    raise Unfit(
                        f"{said(option)} that a test on numbers chooses: use numbers, tuples or "
                        "objects",
                        self.b.place,
                    )
                own = next((m for m, h in enumerate(heads) if tags.are_one_option(h, option)), -1)
                if own < 0:
                    own = len(heads)
                    heads.append(option)
                    given.append({})
                if k in given[own]:
                    raise Unfit(f"one of several values of type {said(option)}", self.b.place)
                given[own][k] = option
                numbers[k][n] = own
        if len(heads) > tags.MOST:
            raise Unfit(
                f"one of more than {tags.MOST} things, which is known only when it runs: use "
                "arrays, and an index",
                self.b.place,
            )
        options = [self.option(known, blocks, sides, by_side) for by_side in given]
        tag = self.b.fresh("t")
        self.b.kinds[tag] = INT
        for block, value, own in zip(blocks, values, numbers, strict=True):
            e = tags.number_in(value, own, own.get(0, 0))
            block.append(Count(tag, e, place=self.b.place))
        return Choice(Name(tag), tuple(range(len(options))), tuple(options))

    def option(
        self, known: Before, blocks: Blocks, sides: Sides | None, given: dict[int, Value]
    ) -> Value:
        """Return an option of a choice that some sides give; the others bind its parts too."""
        others = [k for k in range(len(blocks)) if k not in given]
        if len(given) > 1:
            mine = None if sides is None else [sides[k] for k in given]
            value = self.one_of(known, [blocks[k] for k in given], mine, [*given.values()])
        else:
            ((k, value),) = given.items()
            with self.b.within() as more:
                value = self.kept_apart(value)
            blocks[k].extend(more)
            value = self.there(known, blocks[k], None if sides is None else sides[k], value)
        if others:
            with self.b.within() as more:
                self.start(value)
            for k in others:
                blocks[k].extend(more)
        if sides is not None:
            self.carry_over(known, blocks, sides, value)
        return value

    def there(
        self, known: Before, block: list[Statement], side: Snapshot | None, value: Value
    ) -> Value:
        """Return an option of one side with arrays that there are after the branch."""
        if isinstance(value, Tuple) and not self.is_held(value):
            return replace(
                value, items=tuple([self.there(known, block, side, v) for v in value.items])
            )
        if isinstance(value, Array) and not self.is_there(known, value):
            named = self.named_among([value], None if side is None else [side])
            found = self.present(known, block, value)
            if named and isinstance(found, Array):
                self.guarded.add(found.base)
            return found
        return value

    def named_among(self, arrays: Sequence[Array], sides: Sides | None) -> set[str]:
        """Return which arrays have other names: who writes those would not see the copy."""
        bases = {a.base for a in arrays} - {""}
        own = self.merging
        held = [
            v
            for side in sides or ()
            for s, v in side.values.items()
            if s != own and s.name != RESULT_SLOT
        ]
        named = bases.intersection(bases_in(held))
        if named and self.b.loops:
            raise Unfit("an array with two names that a test on numbers chooses", self.b.place)
        self.guarded |= named
        return named

    def carry_over(self, known: Before, blocks: Blocks, sides: Sides, value: Value) -> None:
        """Let the objects of a choice, which one side makes, be there after the other ones too."""
        added: list[tuple[int, Slot, Value]] = []
        for k, side in enumerate(sides):
            names = referred([value], side.values)
            owners = {f"{name}." for name in names}
            for slot in [s for s in side.values if s.owner in owners]:
                lacking = [n for n, other in enumerate(sides) if slot not in other.values]
                is_known = any(s.owner == slot.owner for n in lacking for s in sides[n].values)
                if not lacking or is_known:
                    continue
                outer, self.merging = self.merging, slot
                found = self.there(known, blocks[k], side, side.values[slot])
                self.merging = outer
                side.values[slot] = found
                with self.b.within() as more:
                    self.start(found)
                for n in lacking:
                    blocks[n].extend(more)
                added += [(n, slot, found) for n in lacking]
        for n, slot, found in added:
            sides[n].values[slot] = found

    def number_among(self, blocks: Blocks, values: Sequence[Number]) -> Number:
        """Return one of some numbers, after the blocks that compute them."""
        b = self.b
        kinds = {v.kind for v in values}
        kind = kinds.pop() if len(kinds) == 1 else FLOAT
        types = {v.type for v in values}
        varies = len(types) > 1 or any(v.rank is not None for v in values)
        if varies and kind != FLOAT:
            kind = FLOAT
        name = b.fresh("e")
        b.kinds[name] = kind
        rank = f"{name}.rank"
        if varies:
            b.kinds[rank] = INT
        for block, v in zip(blocks, values, strict=True):
            e = narrow.as_float64(v) if kind == FLOAT else v.e
            if varies:
                block.append(Count(rank, operations.rank_of(b, v), place=b.place))
            block.append(
                Assign(Name(name), e, place=b.place)
                if kind in REAL
                else Count(name, e, place=b.place)
            )
        if not varies:
            return Number(Name(name), values[0].type)
        return Number(Name(name), "float64", Name(rank), narrow.may_be_narrow(b, values))

    @override
    def choice_apart(self, choice: Choice) -> Choice:
        tag = choice.tag
        if tag.name not in self.b.stable:
            tag = self.b.counted(tag, "t")
            fact = self.slots.facts.get(choice.tag.name)
            if fact is not None:
                self.slots.facts[tag.name] = fact
        return replace(choice.mapped(self.kept_apart), tag=tag)

    # Items at an index.

    @override
    def item_among(self, items: Sequence[Value], at: Number) -> Value:
        b, count = self.b, len(items)
        if at.kind != INT or not count:
            raise Unfit(f"an item at an index that is {said(at)}: use an int", b.place)
        if count > tags.MOST:
            raise Unfit(
                f"an item of more than {tags.MOST}, at an index that is known only when it runs: "
                "use an array",
                b.place,
            )
        e = b.counted(at.e)
        if not b.ranges.is_natural(at.e):
            e = b.counted(Select(Compare(("lt",), (e, ZERO)), Op("add", (e, Const(count))), e))
        b.require(Compare(("le", "lt"), (ZERO, e, Const(count))))
        choice = Choice(e, tuple(range(count)), tuple(map(self.current, items)))
        if all(isinstance(v, Object) for v in items) and are_apart(items):
            return choice
        return self.for_each(choice, lambda v: v)

    # As one array.

    @override
    def as_operand(self, value: Value) -> Value:
        if no_axes.is_without_axes(value):
            return no_axes.as_number(self, value)
        if not isinstance(value, Choice):
            return value
        arrays = [v for v in value.options if isinstance(v, Array)]
        if len(arrays) < len(value.options) or len({(a.kind, len(a.shape)) for a in arrays}) > 1:
            return value
        like = arrays[0]
        for a in arrays[1:]:
            for x, y in zip(like.shape, a.shape, strict=True):
                if x != y:
                    self.b.check("eq", x, y)
        choice = value

        def at(index: tuple[Expr, ...]) -> Expr:
            *before, last = zip(choice.numbers, arrays, strict=True)
            found = last[1].at(index)
            for n, a in reversed(before):
                found = Select(tags.within(choice, [n]), a.at(index), found)
            return found

        return Array(like.shape, like.kind, at)


def may_be_chosen(slot: Slot, values: Sequence[Value | None]) -> bool:
    """Return True for a slot of the user's that stands for different things."""
    if slot.name != RESULT_SLOT and not slot.name.startswith(CHOSEN) and is_own(slot):
        return False
    if any(v is None or not isinstance(v, OPTIONS) or is_open(v) for v in values):
        return False
    return not all(isinstance(v, Array) for v in values)


def is_own(slot: Slot) -> bool:
    """Return True for a slot of the reader's own: keys, flags, and how far a generator is."""
    is_state = slot.name == "state" and slot.owner[0] == "y" and slot.owner[1:-1].isdigit()
    return is_state or slot.name[0] in ".#" or is_flag(slot.name)


def is_open(value: Value) -> bool:
    """Return True for a list, which may be written."""
    return isinstance(value, Tuple) and (value.is_list or value.has_slots)


def are_apart(values: Sequence[Value]) -> bool:
    """Return True for objects none of which is another one."""
    names = [v.name for v in values if isinstance(v, Object)]
    return len(set(names)) == len(values)
