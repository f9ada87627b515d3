"""Which variables of a function one of its loops needs, and which it must give back."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dis import opmap
from functools import cached_property
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
    functions : tuple of FunctionDef
        Those that are made before it, once in each call, and that it may call: they are read with
        it, as the objects are others in each call.
    """

    node: Any
    local: frozenset[str]
    given: tuple[str, ...]
    bound: frozenset[str]
    results: tuple[str, ...]
    shared: frozenset[str]
    functions: tuple[Any, ...] = ()


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
        self.root = root
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
        made = self.made_before(node)
        parts = [*made, node]
        exposure = Exposure()
        exposure.block(parts, frozenset())
        later = self.later.get(id(node))
        read = self.elsewhere(node, exposure) if later is None else later
        read = read.union(*[self.captured.intersection(read_by_functions(p)) for p in parts])
        after = bound & read
        left = after - bound_by_each_pass(node)
        given = self.local & (exposure.found | left)
        return Loop(
            node,
            self.local,
            tuple(sorted(given)),
            bound,
            tuple(sorted(after)),
            self.shared_by(node, made, bound),
            made,
        )

    def made_before(self, node: LOOPS) -> tuple[ast.FunctionDef, ...]:
        """Return the functions that are certain to have been made when a loop runs."""
        found: dict[str, ast.FunctionDef] = {}
        for statement in self.root.body:
            if any(part is node for part in walk(statement)):
                break
            if isinstance(statement, ast.FunctionDef) and statement.name in self.only:
                found[statement.name] = statement
        else:
            return ()
        within = Counter(names_handed_on(node))  # whoever else has one may give it a rule
        found = {f: made for f, made in found.items() if self.handed_on[f] == within[f]}
        read = [*names_read(node)]
        needed: dict[str, ast.FunctionDef] = {}
        while read:
            name = read.pop()
            if name in found and name not in needed:
                needed[name] = found[name]
                read += names_read(found[name])
        return tuple([f for name, f in found.items() if name in needed])

    @cached_property
    def handed_on(self) -> Counter[str]:
        """How often the function does something to a variable other than to call it."""
        return Counter(names_handed_on(self.root))

    @cached_property
    def only(self) -> frozenset[str]:
        """The names that one statement of the function binds, a plain definition."""
        counts: Counter[str] = Counter()
        for node in walk(self.root):
            if node is not self.root:
                counts.update(names_here(node))
        plain = [
            node.name for node in self.root.body
            if isinstance(node, ast.FunctionDef) and is_plain(node)
        ]  # fmt: skip
        return frozenset(name for name in plain if counts[name] == 1)

    def shared_by(self, node: LOOPS, made: Sequence[ast.FunctionDef], bound: Bound) -> Bound:
        """Return the names for which a loop is not compiled: see `Loop.shared`."""
        # A function may run at another time; a comprehension runs at once.
        own = {id(part) for whole in (node, *made) for part in (whole, *functions_in(whole))}
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
    """Yield the names that functions made in a loop read, perhaps those of an earlier run of it.

    Of a function, those that it reads.
    """
    for f in [node] if isinstance(node, ast.FunctionDef) else functions_in(node):
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


def names_handed_on(node: Any) -> Iterator[str]:
    """Yield the names that are read other than to be called, once for each time."""
    every = walk(node)
    called = {id(part.func) for part in every if isinstance(part, ast.Call)}
    for part in every:
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) not in called:
            yield part.id


def is_plain(node: ast.FunctionDef) -> bool:
    """Return whether nothing is computed where a function is made, and it binds its own names."""
    a = node.args
    parts = walk(node)
    return not (
        node.decorator_list
        or a.defaults
        or any(a.kw_defaults)
        or any(isinstance(part, ast.Nonlocal | ast.Global | ast.Yield) for part in parts)
    )


def names_here(node: Any) -> Iterator[str]:
    """Yield the names that a node itself binds, deletes or declares."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)):
            yield name
        case ast.ClassDef(name=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.Nonlocal(names=names) | ast.Global(names=names):
            yield from names


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound or deleted, except those in inner scopes."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, MAKING):
        yield node.name
    if not isinstance(node, OWN_SCOPE):
        for part in children(node):
            yield from names_bound(part)
