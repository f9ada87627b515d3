"""An expression as a sequence of simple operations, each of which has a name.

    a * x[i] + 1.0      v0 = x[i]
                        v1 = a * v0
                        v2 = v1 + 1.0

Equal operations have one name.
"""

from __future__ import annotations

from collections.abc import Callable

from mooncake_py.compiler.regions.ir import (
    Call,
    Compare,
    Const,
    Expr,
    Length,
    Let,
    Name,
    Op,
    Select,
    rebuilt,
)
from mooncake_py.syntax.nodes import Place

__all__ = ["Names", "Steps"]


class Names:
    """Names of ours, each new."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.count = 0

    def __call__(self) -> str:
        """Return a new name."""
        self.count += 1
        return f"{self.prefix}{self.count - 1}"


class Steps:
    """The operations of the expressions of one statement.

    Parameters
    ----------
    fresh : callable
        Returns a new name.
    place : Place or None
        Of the statement.

    Attributes
    ----------
    lets : list of Let
        In the order of evaluation.
    """

    def __init__(self, fresh: Callable[[], str], place: Place | None) -> None:
        self.fresh = fresh
        self.place = place
        self.lets: list[Let] = []
        self._known: dict[Expr, Name] = {}

    def drop_last(self) -> None:
        """Drop the last operation, which nothing reads."""
        self._known.pop(self.lets.pop().value, None)

    def of(self, e: Expr) -> Expr:
        """Return an expression as a name or a number, after the operations that it is made of."""
        if isinstance(e, (Const, Name, Length)):
            return e
        if isinstance(e, (Op, Call)):
            e = rebuilt(e, tuple(map(self.of, e.args)))
        elif isinstance(e, Select):
            e = Select(self.test(e.test), self.of(e.a), self.of(e.b), place=e.place)
        return self.named(e)

    def test(self, e: Expr) -> Expr:
        """Return a test of names and numbers."""
        if isinstance(e, Compare):
            return rebuilt(e, tuple(map(self.of, e.args)))
        if isinstance(e, Op) and e.op in ("and", "or", "not"):
            return rebuilt(e, tuple(map(self.test, e.args)))
        return self.of(e)

    def named(self, e: Expr) -> Name:
        """Return the name of an operation on names and numbers."""
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = Name(self.fresh(), place=e.place)
            self.lets.append(Let(known.name, e, place=self.place))
        return known
