"""Parts of the reader that its first classes use, and later ones define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from mooncake_py.compiler.native.building.values import Choice, Dictionary, Number, Object, Value
from mooncake_py.compiler.native.reading.naming import Naming
from mooncake_py.compiler.regions.ir import Expr
from mooncake_py.syntax.nodes import Place

__all__ = ["DeclaredReader"]


class DeclaredReader(Naming):
    """Declares methods.

    Attributes
    ----------
    implied : dict of str to Expr
        By the names of booleans that are bound once: the tests that they stand for.
    comprehending : tuple of Place
        Where the comprehensions stand whose parts are read.
    """

    implied: dict[str, Expr]
    comprehending: tuple[Place, ...] = ()

    def within_comprehension(self, node: ast.expr) -> AbstractContextManager[None]:
        """Read what a comprehension makes, of items that its calls must not write."""
        raise NotImplementedError

    def run_comprehension(self) -> None:
        """Find out that a comprehension whose parts write must run as loops, if it does not."""
        raise NotImplementedError

    def of_list(self, value: Value) -> Value:
        """Return an item of a list that a loop made, with the objects that it holds."""
        raise NotImplementedError

    # What is known only when it runs.

    def supposing(self, test: Expr, holds: bool) -> AbstractContextManager[None]:
        """Read what runs only where a test holds, or only where it does not."""
        raise NotImplementedError

    def read_sides(self, tests: Sequence[Expr], reads: Sequence[Callable[[], Value]]) -> Value:
        """Return the value of the first side whose test holds, or of the last one, of no test."""
        raise NotImplementedError

    def for_each(self, choice: Choice, read: Callable[[Value], Value]) -> Value:
        """Return the value read from the option that a choice is when it runs."""
        raise NotImplementedError

    def but_none(self, choice: Choice, read: Callable[[Value], Value]) -> Value:
        """Return the value read from the option that a choice is, which must not be None then."""
        raise NotImplementedError

    def as_operand(self, value: Value) -> Value:
        """Return a choice of arrays as one array that is not to be written, others as they are."""
        raise NotImplementedError

    def choice_apart(self, choice: Choice) -> Choice:
        """Return a choice as it is now."""
        raise NotImplementedError

    def item_among(self, items: Sequence[Value], at: Number) -> Value:
        """Return one of some items, at an index that is known only when it runs."""
        raise NotImplementedError

    def kept_apart(self, value: Value) -> Value:
        """Return a value as it is now."""
        raise NotImplementedError

    # Objects and calls.

    def special_call(self, o: Value, name: str, args: Sequence[Value]) -> Value | None:
        """Return the result of a special method, None if the class of an object has none."""
        raise NotImplementedError

    def attribute_by_class(self, base: Value, name: str) -> Value | None:
        """Read an attribute of what has a class of the program's, or is one; None for others."""
        raise NotImplementedError

    def attribute_of(self, o: Object, name: str) -> Value:
        """Read an attribute of an object."""
        raise NotImplementedError

    def has_attribute(self, o: Object, name: str) -> bool:
        """Return whether an object has an attribute."""
        raise NotImplementedError

    def bind_attribute(self, o: Value, name: str, value: Value) -> None:
        """Bind an attribute of an object."""
        raise NotImplementedError

    def made_dict(self, cls: type, args: Sequence[Value], given: dict[str, Value]) -> Value:
        """Read a call of `dict`, or of a class of dicts of `collections`."""
        raise NotImplementedError

    def made_container(
        self, f: Any, args: Sequence[Value], given: dict[str, Value]
    ) -> Value | None:
        """Read a call of a class of dicts, or of `deque`; None for any other function."""
        raise NotImplementedError

    def missing(self, made: Dictionary, key: Value) -> Value:
        """Return the value of a dict for a key that is not there."""
        raise NotImplementedError

    def written_to(self, out: Value, value: Value) -> Value:
        """Store in an array, and return it."""
        raise NotImplementedError

    def inlined(self, f: Any, args: Sequence[Value], given: dict[str, Value]) -> Value:
        """Read the body of a function of the user's, jitted or not, in the place of a call."""
        raise NotImplementedError

    def class_call(self, f: Any, args: Sequence[Value], given: dict[str, Value]) -> Value | None:
        """Read a call that asks classes or makes partials, None for any other."""
        raise NotImplementedError

    def constructed(self, cls: type, args: Sequence[Value], given: dict[str, Value]) -> Value:
        """Read the call of a class."""
        raise NotImplementedError
