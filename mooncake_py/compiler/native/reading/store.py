"""The values of everything that may be bound: variables of all frames, attributes, items.

All state of a reading is one map from *slots* to values.  A branch or a loop knows nothing else:
what differs between two ends of it are slots, whatever holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from mooncake_py.compiler.native.building.values import Value
from mooncake_py.compiler.regions.ir import Expr

__all__ = ["KEYS", "Frame", "Slot", "Snapshot", "Store", "is_same", "slots_called"]

T = TypeVar("T")
KEYS = "#keys"
"""The slot of a list or dict that tells which keys or positions there are."""


class Slot(NamedTuple):
    """A variable of a frame, an attribute of an object, an item of a tuple.

    Attributes
    ----------
    owner : str
        Of a frame ``u1_``, of an object or a tuple its name in the region and a dot: what stands
        before the name in the region.
    name : str
    """

    owner: str
    name: str

    @property
    def own(self) -> str:
        """Its name in the region."""
        return self.owner + self.name

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable of a frame."""
        return self.owner.endswith("_")

    def part(self, name: str) -> Slot:
        """Return a slot for a part of what this one holds."""
        return Slot(self.owner, f"{self.name}.{name}")

    def item(self, k: int) -> Slot:
        """Return the slot of an item of the tuple that this one holds."""
        return Slot(f"{self.own}.", str(k))

    @property
    def shown(self) -> str:
        """Its name in the user's code; for an item, that of its tuple."""
        if self.name == KEYS:
            return "the length or the keys of a list or a dict"
        if self.is_variable or not self.name.isdigit():
            return self.name
        return self.owner[:-1].partition("_")[2] or "an item of a list or a dict"


class Snapshot(NamedTuple):
    """The values of slots at one point of a function.

    Attributes
    ----------
    values : dict of Slot to Value
    maybe : dict of Slot to tuple of Expr
    shared : frozenset of str
    facts : dict of str to Fact
    """

    values: dict[Slot, Value]
    maybe: dict[Slot, tuple[Expr, ...]]
    shared: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = MappingProxyType({})


class Store:
    """The values of all slots where the reader is.

    Attributes
    ----------
    values : dict of Slot to Value
    maybe : dict of Slot to tuple of Expr
        Of slots that loops bind: they are bound if all these tests hold.
    shared : set of str
        Objects, lists and dicts that stand for others, and must not be changed.
    nonlocals : set of str
        What the region calls variables that functions within others bind as `nonlocal`.
    facts : dict of str to Fact
        By the tags of choices what they are known to be.
    retagged : dict of str to int
        How often the tags of slots were bound.
    """

    def __init__(self) -> None:
        self.values: dict[Slot, Value] = {}
        self.maybe: dict[Slot, tuple[Expr, ...]] = {}
        self.shared: set[str] = set()
        self.nonlocals: set[str] = set()
        self.facts: dict[str, Any] = {}
        self.retagged: Counter[str] = Counter()

    def may_change(self, name: str) -> bool:
        """Return True for the name of a number that a call may bind again: no local variable."""
        owner, dot, rest = name.rpartition(".")
        return name in self.nonlocals or (bool(dot) and Slot(f"{owner}.", rest) in self.values)

    def snapshot(self) -> Snapshot:
        """Return the present values of slots."""
        shared, facts = frozenset(self.shared), dict(self.facts)
        return Snapshot(dict(self.values), dict(self.maybe), shared, facts)

    def apart_from(self, own: set[str]) -> dict[Slot, Value]:
        """Return the values of slots, except those of some owners and with some names."""
        if not own:
            return dict(self.values)
        return {s: v for s, v in self.values.items() if s.owner not in own and s.own not in own}

    def restore(self, snapshot: Snapshot) -> None:
        """Let slots stand for what they did at another point."""
        for own, theirs in ((self.values, snapshot.values), (self.maybe, snapshot.maybe)):
            own.clear()
            own.update(theirs)  # type: ignore[arg-type]
        self.shared = set(snapshot.shared)
        self.facts = dict(snapshot.facts)

    def retag(self, tag: str) -> None:
        """Forget what the tag of a slot was known to be."""
        self.facts.pop(tag, None)
        self.retagged[tag] += 1

    def bound(self, slot: Slot, value: Value) -> None:
        """Let a slot stand for a value, whatever runs."""
        self.maybe.pop(slot, None)
        self.values[slot] = value

    def unbound(self, slot: Slot) -> None:
        """Forget a slot."""
        self.values.pop(slot, None)
        self.maybe.pop(slot, None)

    def drop(self, owner: str) -> None:
        """Forget all slots of an owner."""
        for held in (self.values, self.maybe):
            for slot in [slot for slot in held if slot.owner == owner]:
                del held[slot]


class Frame(MutableMapping[str, T], Generic[T]):
    """The slots of one owner, by their names.

    Parameters
    ----------
    held : dict of Slot to T
        Of a store.
    owner : str
    """

    def __init__(self, held: dict[Slot, T], owner: str) -> None:
        self.held = held
        self.owner = owner

    def __getitem__(self, name: str) -> T:
        return self.held[Slot(self.owner, name)]

    def __setitem__(self, name: str, value: T) -> None:
        self.held[Slot(self.owner, name)] = value

    def __delitem__(self, name: str) -> None:
        del self.held[Slot(self.owner, name)]

    def __contains__(self, name: object) -> bool:
        return (self.owner, name) in self.held

    def __iter__(self) -> Iterator[str]:
        return iter([slot.name for slot in self.held if slot.owner == self.owner])

    def __len__(self) -> int:
        return sum(slot.owner == self.owner for slot in self.held)


def slots_called(own: str) -> Iterator[Slot]:
    """Yield the slots that may have a name in the region."""
    for k, sign in enumerate(own):
        if sign in "_.":
            yield Slot(own[: k + 1], own[k + 1 :])


def is_same(x: Value | None, y: Value | None) -> bool:
    """Return True if slots stand for the same; most often it is one thing, which is quick."""
    return x is y or x == y
