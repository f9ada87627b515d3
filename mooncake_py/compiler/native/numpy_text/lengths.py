"""Which lengths are equal for certain: what slices go through an array from end to end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.derivatives.cotangents import cotangent
from mooncake_py.compiler.native.regions.linear import Linear, linear, minus
from mooncake_py.compiler.native.regions.mentions import bound_by, names_in
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Block,
    Check,
    Compare,
    Expr,
    Grow,
    If,
    Length,
    Load,
    Name,
    Places,
    Statement,
    blocks_of,
    statements,
)

__all__ = ["Lengths", "is_store"]

TANGENT = re.compile(r"t\d+_(.*)")
"""The names of tangents of arrays: see `sweeps.tangent`."""


class Lengths:
    """Checks and lengths of a function and of its reverse sweep.

    A check holds wherever its names are bound if it stands where one of them is bound.  If all of
    them are bound before a loop it is asked before the loop, wherever it stands within, except in
    branches; so it holds in the whole function.

    Attributes
    ----------
    before : dict of int to list of Check
        By the ids of statements at the top what is asked before.
    """

    def __init__(self) -> None:
        self.before: dict[int, list[Check]] = {}
        self._equal: dict[Expr, Expr] = {}

    def read(self, body: Block, arrays: Mapping[str, int], inputs: set[str]) -> None:
        """Find out what the statements of a function tell."""
        self.read_arrays(body)
        for a, axes in arrays.items():
            d, tangent = part_of(cotangent(Name(a))), TANGENT.fullmatch(a)
            for axis in range(axes):
                if d in arrays:
                    self.join(Length(d, axis), Length(a, axis))
                if tangent and tangent[1] in arrays and a in inputs:
                    self.join(Length(a, axis), Length(tangent[1], axis))
        bound = Counter(n for s in statements(body) if not is_store(s) for n in bound_by(s))
        known = inputs - bound.keys()
        for s in body:
            if is_equation(s) and names_in(s.test.args) <= known:  # type: ignore[union-attr]
                self.join(*s.test.args)  # type: ignore[union-attr]
            for inner in () if isinstance(s, If) else blocks_of(s):
                self._hoist(inner, s, known)
            if not is_store(s) and not blocks_of(s):
                known |= {n for n in bound_by(s) if bound[n] == 1}
        self._checks(body, bound)

    def read_arrays(self, body: Block) -> None:
        """Find out what shapes arrays have that a function makes."""
        made = Counter(s.name for s in statements(body) if isinstance(s, Alloc))
        varied = {n for s in statements(body) if isinstance(s, Grow | Places) for n in bound_by(s)}
        for s in statements(body):
            if isinstance(s, Alloc) and made[s.name] == 1 and s.name not in varied:
                for axis, n in enumerate(s.shape):
                    self.join(Length(s.name, axis), n)

    def _hoist(self, block: Block, top: Statement, known: set[str]) -> None:
        """Note the checks in a loop that may be asked before."""
        for s in block:
            if is_equation(s) and names_in(s.test.args) <= known:  # type: ignore[union-attr]
                self.before.setdefault(id(top), []).append(s)  # type: ignore[arg-type]
                self.join(*s.test.args)  # type: ignore[union-attr]
            if not isinstance(s, If):
                for inner in blocks_of(s):
                    self._hoist(inner, top, known)

    def _checks(self, block: Block, bound: Counter[str]) -> None:
        """Note what holds where names are bound."""
        own = {n for s in block for n in bound_by(s) if bound[n] == 1}
        for s in block:
            if is_equation(s):
                names = names_in(s.test.args)  # type: ignore[union-attr]
                if own & names and all(bound[n] <= 1 for n in names):
                    self.join(*s.test.args, among=own)  # type: ignore[union-attr]
            for inner in blocks_of(s):
                self._checks(inner, bound)

    def join(self, a: Expr, b: Expr, among: set[str] | None = None) -> None:
        """Note that two lengths are equal: one part of them is computed from the others.

        Parameters
        ----------
        among : set of str, optional
            The names that may be that part, where they are bound in a loop that may not run.
        """
        apart = linear(minus(self.normal(a), self.normal(b)))
        for part, n in apart.parts.items():
            is_own = among is None or (isinstance(part, Name) and part.name in among)
            if n in (1, -1) and isinstance(part, Length | Name) and is_own:
                rest = apart.plus(Linear(0, {part: 1}), -n)
                self._equal[part] = Linear(0, {}).plus(rest, -n).expression()
                return

    def normal(self, e: Expr) -> Expr:
        """Return the same expression for equal lengths, as far as it is known."""
        while True:
            parts = linear(e)
            known = {part: n for part, n in parts.parts.items() if part in self._equal}
            if not known:
                return parts.expression()
            for part, n in known.items():
                more = linear(self._equal[part]).plus(Linear(0, {part: 1}), -1)
                parts = parts.plus(more, n)
            e = parts.expression()

    def same(self, a: Expr, b: Expr) -> bool:
        """Return True if two lengths are equal for certain."""
        return a == b or self.normal(a) == self.normal(b)


def is_equation(s: Statement) -> bool:
    """Return True for a check that two lengths are equal."""
    return isinstance(s, Check) and isinstance(s.test, Compare) and s.test.ops == ("eq",)


def is_store(s: Statement) -> bool:
    """Return True for what writes an element of an array."""
    return isinstance(getattr(s, "target", None), Load)
