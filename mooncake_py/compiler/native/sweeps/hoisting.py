"""Slow operations in their own names, so that the way back reads what they gave.

    y = a * x ** p                  w0 = x ** p
                                    y = a * w0

The way back wants ``x ** p`` for the derivative of ``a``, and of ``p``: it would compute it again,
where now its result is saved.  In a `ForAll` that takes an array, which is worth it where NumPy
makes one anyway and the derivative is made of it::

    for all i: h[i] = tanh(w[i] * h[i])         w0 = new array; for all i: w0[i] = tanh(...)
                                                for all i: h[i] = w0[i]
"""

from __future__ import annotations

from dataclasses import replace

from mooncake_py.compiler.derivatives.partials import NoPartial, partials
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import mentions, names_in, unused, values_in
from mooncake_py.compiler.native.regions.region import FLOAT, NativeRegion
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    ForAll,
    Load,
    Name,
    Op,
    Select,
    Statement,
    parts_of,
    rebuilt,
    with_blocks,
    with_value,
)

__all__ = ["hoisted", "is_costly"]


def hoisted(region: NativeRegion, *, of_arrays: bool = False) -> NativeRegion:
    """Return a region in which a slow operation is all that a statement computes.

    Parameters
    ----------
    of_arrays : bool
        Whether for all indices too.
    """
    found = _Hoisting(region, of_arrays)
    return replace(region, body=found.block(region.body), kinds=found.kinds, arrays=found.arrays)


class _Hoisting:
    """Goes through a region."""

    def __init__(self, region: NativeRegion, of_arrays: bool) -> None:
        self.of_arrays = of_arrays
        self.kinds = dict(region.kinds)
        self.arrays = dict(region.arrays)
        self.fresh = unused("w", (*mentions(region.body), *region.kinds))

    def block(self, block: Block) -> Block:
        """Return a block with what is slow in statements before those that read it."""
        result: list[Statement] = []
        for s in block:
            if isinstance(s, Assign):
                value = self.parts(s.value, s, result)
                result.append(
                    s if value is s.value else with_value(s, lambda _, value=value: value)
                )
            elif isinstance(s, ForAll):
                inner = s.body[0]
                if self.of_arrays and isinstance(inner, Assign) and isinstance(inner.target, Load):
                    s = self.for_all(s, inner, result)
                result.append(s)
            else:
                result.append(with_blocks(s, self.block))
        return tuple(result)

    def for_all(self, s: ForAll, inner: Assign, before: list[Statement]) -> ForAll:
        """Return an assignment for all indices after arrays of which its derivative is made."""
        assert isinstance(inner.target, Load)
        is_kept = inner.target.array not in values_in((inner.value,))

        def quick(e: Expr, is_root: bool = False) -> Expr:
            if isinstance(e, Select | Load):
                return e
            e = rebuilt(e, tuple(map(quick, parts_of(e))))
            if not is_costly(e) or (is_root and is_kept) or not self.is_of_itself(e, s):
                return e
            name = self.fresh()
            self.kinds[name], self.arrays[name] = FLOAT, len(s.counters)
            part = Load(name, tuple(map(Name, s.counters)), place=inner.place)
            before.append(Alloc(name, s.extents, FLOAT, False, place=inner.place))
            body = (Assign(part, e, place=inner.place),)
            before.append(ForAll(s.counters, s.extents, body, place=s.place))
            return part

        value = quick(inner.value, is_root=True)
        if value is inner.value:
            return s
        body = (with_value(inner, lambda _: value),)
        return ForAll(s.counters, s.extents, body, place=s.place)

    def is_of_itself(self, e: Expr, s: ForAll) -> bool:
        """Return True for what has all indices, and a derivative that is made of its value."""
        if kind_of(e, self.kinds) != FLOAT or not set(s.counters) <= names_in((e,)):
            return False
        own = Name("itself")
        try:
            return any(p is not None and own.name in names_in((p,)) for _, p in partials(e, own))
        except NoPartial:
            return False

    def parts(self, e: Expr, s: Assign, before: list[Statement]) -> Expr:
        """Return an expression whose parts are quick; the slow ones are computed before.

        A choice is left as it is: only one side of it is computed.
        """
        if isinstance(e, Select):
            return e
        return rebuilt(e, tuple([self.quick(part, s, before) for part in parts_of(e)]))

    def quick(self, e: Expr, s: Assign, before: list[Statement]) -> Expr:
        """Return a part of an expression, by name if it is slow."""
        e = self.parts(e, s, before)
        if not is_costly(e):
            return e
        name = self.fresh()
        self.kinds[name] = FLOAT
        before.append(Assign(Name(name, place=s.place), e, place=s.place))
        return Name(name, place=s.place)


def is_costly(e: Expr) -> bool:
    """Return True for an operation that takes longer than to save its result and to read it."""
    if isinstance(e, Op) and e.op == "pow":
        p = e.args[1]
        return not (isinstance(p, Const) and p.value in (1, 2, 3))
    return isinstance(e, Call)
