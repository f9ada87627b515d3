"""Statements that read items of lists, tuples and dicts: these are operands like names.

    np.tanh(x @ w[k] + p["b"])      values   x, w, k, p, "b", and then w[k], p["b"]
                                    layout   0, 5, 6

Reading an item has no effect, so all are read before the statement runs; where it may run code of
the program it runs as it is written.  What is stored in a list or a dict is computed as an entry,
and then stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Expr, Op, substituted
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.general import Way, elsewhere
from mooncake_py.compiler.statements.statement import Part, Statement, View, operand
from mooncake_py.runtime.active import Active

if TYPE_CHECKING:
    from mooncake_py.compiler.statements.site import StatementSite
    from mooncake_py.runtime.mode import Language

__all__ = ["OnItems", "on_items"]

SERVED = frozenset({ndarray, Active, float, np.float64})
KEYS = {list: frozenset({int}), tuple: frozenset({int}), dict: frozenset({int, str})}
"""The containers that may be indexed, and the types of the indices."""
STORES = frozenset({list, dict})


def on_items(site: StatementSite, values: Any) -> tuple[OnItems, tuple[Any, ...]] | None:
    """Return how a statement runs if some of what it indexes are lists, tuples or dicts.

    With that comes what it is given: the values, with the items.

    None if that is not so, or one of these is written or read in another way.
    """
    held = [p for p in site.bases if type(values[p]) in KEYS]
    if not held:
        return None
    statement, bases = site.statement, frozenset(held)
    target = statement.target
    written = target[0] if isinstance(target, tuple) else target
    if written in bases and (statement.into or written is target):
        return None
    if written in bases and not isinstance(statement.value, Op):
        return None  # a view is stored by the way that knows whose memory it is
    if any(isinstance(part, View) and part.base in bases for part in statement.layout):
        return None
    found = site.on_items.get(bases) or OnItems(site, bases)
    given = found.given(values)
    if given is None:
        return None
    site.on_items[bases] = found
    return found, given


class OnItems:
    """A statement some operands of which are items.

    Parameters
    ----------
    site : StatementSite
    bases : frozenset of int
        The positions of lists, tuples and dicts.
    """

    __slots__ = ("given", "own", "pairs", "run", "site", "target")

    def __init__(self, site: StatementSite, bases: frozenset[int]) -> None:
        self.site = site
        statement, target = site.statement, site.statement.target
        parts = [part[:2] for part in statement.layout if isinstance(part, tuple)]
        self.pairs = list(dict.fromkeys(part for part in parts if part[0] in bases))
        stores = isinstance(target, tuple) and target[0] in bases
        self.target: Any = target if stores else None
        changed = self.pairs.index(self.target) if stores and statement.augments else None
        self.given, made = reader(tuple(self.pairs), self.target, changed)
        if stores:
            statement = statement._replace(target=None, augments=False)
        self.own = type(site)(with_items(statement, self.pairs), elsewhere, self.texts())
        self.run = made(self.own, site)

    def texts(self) -> tuple[str, ...]:
        """Return how the user's code writes the values, with items."""
        texts = self.site.texts
        return texts and (*texts, *(f"{texts[base]}[{texts[index]}]" for base, index in self.pairs))

    def finish(self, y: Any, ctx: Language, functions: Any, values: Any) -> Any:
        """Store the result of a form; if none fits, run the statement as it is written."""
        if y is Elsewhere:
            return self.site.otherwise(ctx, functions, values)
        if self.target is None:
            return y
        o, i = self.target
        ctx.setitem(values[o], values[i], y)
        return None


@lru_cache(maxsize=512)
def reader(
    pairs: tuple[tuple[int, int], ...], target: Any, changed: int | None
) -> tuple[Any, Callable[..., Way]]:
    """Return a reader of values with the items, and a maker of the way of a site.

    The first returns None if something else is indexed, the target is something else, or an array
    would be changed in place; the way then lets the site choose.
    """
    tests = [] if target is None else [f"type(V[{target[0]}]) not in STORES"]
    for k, (base, index) in enumerate(pairs):
        tests += [
            f"type(V[{index}]) not in KEYS[type(V[{base}])]",
            f"type(x{k} := V[{base}][V[{index}]]) not in {'NUMBERS' if k == changed else 'SERVED'}",
        ]
    items = f"(*V, {', '.join(f'x{k}' for k in range(len(pairs)))})"
    unless = " or ".join(tests) or "False"
    stored = "y" if target is None else f"C.setitem(V[{target[0]}], V[{target[1]}], y)"
    scope = {
        "KEYS": KEYS, "STORES": STORES, "SERVED": SERVED, "NUMBERS": SERVED - {ndarray},
        "Elsewhere": Elsewhere,
    }  # fmt: skip
    made = define(WAYS.format(unless=unless, items=items, stored=stored), scope)
    return made["given"], made["made"]


WAYS = """
def given(V):
    try:
        if {unless}:
            return None
    except LookupError:
        return None
    return {items}

def made(own, site):
    choose, otherwise = site.choose, site.otherwise

    def run(C, F, V):
        try:
            elsewhere = not (C.fuses or C.pushes or C.several) or {unless}
        except LookupError:  # which must not be the context of the program's error
            elsewhere = True
        if elsewhere:
            return choose(C, F, V)
        y = own.run(C, F, {items})
        if y is Elsewhere:
            return otherwise(C, F, V)
        return {stored}

    return run
"""


def with_items(statement: Statement, pairs: list[Any]) -> Statement:
    """Return a statement to which items are passed too, each of which is one operand."""
    positions: dict[Any, int] = {pair: statement.passed + k for k, pair in enumerate(pairs)}
    layout: list[Part] = []
    known: dict[str, Expr] = {}
    for k, part in enumerate(statement.layout):
        position = positions.get(part)
        if position is None or position not in layout:
            layout.append(part if position is None else position)
        at = len(layout) - 1 if position is None else layout.index(position)
        known[f"v{k}"] = operand(at)
    value = substituted(statement.value, known)
    passed = statement.passed + len(pairs)
    own = statement._replace(value=value, layout=tuple(layout), passed=passed)
    indices = {index for _, index in own.pairs}
    return own._replace(ints=tuple(item for item in statement.ints if item[0] in indices))
