"""Which variables of a function one of its loops needs, and which it must give back."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dis import opmap
from types import CodeType
from typing import Any, NamedTuple

from mooncake_py.syntax.nodes import place_of
from mooncake_py.syntax.trees import children, walk

__all__ = ["OWN_SCOPE", "FunctionLoops", "Loop", "has_loops", "names_outside"]

LOOPS = ast.For | ast.While
LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.GeneratorExp
OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp,
             ast.ListComp, ast.SetComp, ast.DictComp)  # fmt: skip
MAKING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
BACKWARD = frozenset(op for name, op in opmap.items() if "BACKWARD" in name or name == "FOR_ITER")
Bound = frozenset[str]


class Loop(NamedTuple):
    """A loop, and its variables.

    Attributes
    ----------
    node : For, While or Assign
        The latter binds what is made by a comprehension.
    local : frozenset of str
        The variables of the function, captured ones too.
    given : tuple of str
        Those whose value before the loop may be read by it, or is left by it.
    bound : frozenset of str
        Those that it binds.
    results : tuple of str
        Those that it binds and that may be read afterwards, as a function may that it has made.
    shared : frozenset of str
        What it binds though functions that it does not make may read or bind it too, or by another
        name (`__x` in a class), classes that it makes, and what its functions bind of it: then it
        is not compiled.
    """

    node: Any
    local: frozenset[str]
    given: tuple[str, ...]
    bound: frozenset[str]
    results: tuple[str, ...]
    shared: frozenset[str]


def has_loops(code: CodeType) -> bool:
    """Return whether code jumps back; some other bytes are taken for such jumps."""
    return not BACKWARD.isdisjoint(code.co_code[::2])


class FunctionLoops:
    """The variables of one function, as its loops see them.

    Parameters
    ----------
    code : CodeType
    root : FunctionDef
    """

    def __init__(self, code: CodeType, root: Any) -> None:
        self.local = frozenset({*code.co_varnames, *code.co_cellvars, *code.co_freevars})
        every = walk(root)
        self.captured = frozenset(code.co_cellvars)
        self.functions = functions_in(root)
        self.shared = frozenset(code.co_freevars).union(
            *(node.names for node in every if isinstance(node, ast.Global))
        )
        self.reads = Counter(names_read(root))
        self.later = names_read_later(root)
        self.repeated = {
            place_of(inner)
            for outer in walk(root)
            if isinstance(outer, LOOPS)
            for inner in walk(outer)
            if isinstance(inner, LOOPS) and inner is not outer
        }

    def of(self, node: LOOPS) -> Loop:
        """Return a loop."""
        bound = frozenset(names_bound(node))
        exposure = Exposure()
        exposure.statement(node, frozenset())
        later = self.later.get(id(node))
        read = self.elsewhere(node, exposure) if later is None else later
        after = bound & (read | self.captured.intersection(read_by_functions(node)))
        left = after - bound_by_each_pass(node)
        given = self.local & (exposure.found | left)
        return Loop(
            node,
            self.local,
            tuple(sorted(given)),
            bound,
            tuple(sorted(after)),
            self.shared_by(node, bound),
        )

    def shared_by(self, node: LOOPS, bound: Bound) -> Bound:
        """Return the names for which a loop is not compiled: see `Loop.shared`."""
        # A function may run at another time; a comprehension runs at once.
        own = {id(part) for part in functions_in(node)}
        others = [f for f in self.functions if id(f) not in own]
        later = [name for f in others for name in names_read(f)]
        found = bound & (self.shared | self.captured.intersection(later)) | (bound - self.local)
        return found.union(classes(node), names_bound_by_functions(node))

    def elsewhere(self, node: LOOPS, exposure: Exposure) -> Bound:
        """Return the names that may be read after a loop of ours, of which no order is known."""
        within = Counter(names_read(node))
        found = frozenset(name for name in self.reads if self.reads[name] > within[name])
        if place_of(node) in self.repeated:  # its own next run may read it
            found |= exposure.found
        return found


class Exposure:
    """Finds the names that statements may read before they bind them.

    Attributes
    ----------
    found : set of str
    """

    def __init__(self) -> None:
        self.found: set[str] = set()

    def block(self, nodes: Sequence[ast.stmt], bound: Bound) -> Bound:
        """Return the names that are certainly bound after statements."""
        for node in nodes:
            bound = self.statement(node, bound)
        return bound

    def statement(self, node: ast.stmt, bound: Bound) -> Bound:
        """Return the names that are certainly bound after a statement."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self.read(value, bound)
                for target in targets:
                    bound = self.target(target, bound)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.read(value, bound)
                bound = self.target(target, bound)
            case ast.AugAssign(target=target, value=value):
                self.read(target, bound)
                self.read(value, bound)
            case ast.For():
                self.read(node.iter, bound)
                self.block(node.body, self.target(node.target, bound))
                self.block(node.orelse, bound)
            case ast.While():
                self.read(node.test, bound)
                self.block(node.body, bound)
                self.block(node.orelse, bound)
            case ast.FunctionDef(name=name):
                self.read(node, bound)  # its body too, though it may run later
                return bound | {name}
            case ast.If():
                self.read(node.test, bound)
                return self.block(node.body, bound) & self.block(node.orelse, bound)
            case _:
                self.read(node, bound)
        return bound

    def target(self, node: ast.expr, bound: Bound) -> Bound:
        """Return the names that are bound once a target is."""
        match node:
            case ast.Name(id=name):
                return bound | {name}
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for part in elts:
                    bound = self.target(part, bound)
            case _:
                self.read(node, bound)
        return bound

    def read(self, node: ast.AST, bound: Bound) -> None:
        """Note the names that are read, or changed, and not bound."""
        self.found |= set(names_outside(node)) - bound


def names_read_later(root: Any) -> dict[int, Bound]:
    """Return the names that may be read after each loop, by its id, before they are bound again.

    Functions within it have loops of their own, and are left out.
    """
    found: dict[int, Bound] = {}

    def block(nodes: Sequence[ast.stmt], left: Bound) -> None:
        # However the block is left, `left` may be read then.
        rest: Bound = frozenset()
        for node in reversed(nodes):
            exposure = Exposure()
            bound = exposure.statement(node, frozenset())
            statement(node, rest | left, exposure)
            rest = (rest - bound) | exposure.found

    def statement(node: Any, after: Bound, exposure: Exposure) -> None:
        if isinstance(node, LOOPS):
            found[id(node)] = after
        if isinstance(node, LOOPS | ast.Try | ast.TryStar):  # its next pass, or its handlers
            after |= exposure.found
        if not isinstance(node, LATER):
            for nodes in blocks_of(node):
                block(nodes, after)

    block(root.body, frozenset())
    return found


def blocks_of(node: Any) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def bound_by_each_pass(node: LOOPS) -> Bound:
    """Return names that a loop binds for certain if it runs at all."""
    if isinstance(node, ast.While):
        return frozenset()
    exposure = Exposure()
    bound = exposure.target(node.target, frozenset())
    if any(isinstance(part, ast.Break | ast.Continue) for part in walk(node)):
        return bound
    return exposure.block(node.body, bound)


def names_read(node: Any) -> Iterator[str]:
    """Yield the names that are read, deleted or changed, once for each time."""
    for part in walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target.id


def names_outside(node: Any, own: Bound = frozenset()) -> Iterator[str]:
    """Yield the names in a node, except those that comprehensions in it bind for themselves."""
    if isinstance(node, ast.Name):
        if node.id not in own:
            yield node.id
    elif isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        yield from names_outside(first, own)
        within = own.union(*(names_bound(g.target) for g in node.generators))
        for part in children(node):
            parts = [part] if part is not node.generators[0] else [part.target, *part.ifs]
            for inner in parts:
                yield from names_outside(inner, within)
    else:
        for part in children(node):
            yield from names_outside(part, own)


def functions_in(node: Any) -> list[LATER]:
    """Return the functions and classes that are made within a node."""
    return [part for part in walk(node) if isinstance(part, LATER) and part is not node]


def read_by_functions(node: Any) -> Iterator[str]:
    """Yield the names that functions made in a loop read, perhaps those of an earlier run of it."""
    for f in functions_in(node):
        yield from names_read(f)


def classes(node: Any) -> Iterator[str]:
    """Yield the names of classes that are made in a loop."""
    for part in walk(node):
        if isinstance(part, ast.ClassDef):
            yield part.name


def names_bound_by_functions(node: Any) -> Iterator[str]:
    """Yield the variables that functions in a loop bind, which are of functions around them."""
    for part in walk(node):
        if isinstance(part, ast.Nonlocal):
            yield from part.names


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound or deleted, except those in inner scopes."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, MAKING):
        yield node.name
    if not isinstance(node, OWN_SCOPE):
        for part in children(node):
            yield from names_bound(part)
