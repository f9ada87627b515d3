"""Static ints: names that are certainly plain ints, by all their bindings in a function.

Loop counters over ``range`` and arithmetic on them can never carry a derivative, so the rewritten
code computes them natively.
"""

from __future__ import annotations

import ast
from typing import Any, Self

from mooncake_py.syntax.compiled import FunctionNode
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.trees import add_children, children, walk

__all__ = ["Bindings", "StaticInts", "bindings", "bindings_of", "is_literal"]

_INT_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_NESTED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_BINDING = frozenset({
    ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.Import, ast.alias,
    ast.Global, ast.Nonlocal, ast.MatchMapping, ast.MatchAs, ast.MatchStar, ast.ExceptHandler,
})  # fmt: skip


class Bindings:
    """Every way in which a function binds names."""

    def __init__(self) -> None:
        # By name what it is bound to in the function's scope: an expression whose value it gets,
        # a `For` whose items it gets, or None for anything else.
        self.own: dict[str, list[Any]] = {}
        self.inner: set[str] = set()  # in comprehensions and class bodies within the function
        self.global_names: set[str] = set()  # so declared, also in class bodies
        self.nonlocal_names: set[str] = set()
        self.rebound: set[str] = set()  # which a nested function or class may rebind
        self.attribute_lines: set[int] = set()  # on which attributes stand: a walk the less
        self.sum_lines: set[int] = set()  # on which `sum` is read, for the same reason
        self.modules: dict[str, str] = {}  # that an import may bind a name to

    def bound(self) -> set[str]:
        """Return every name bound in the function's scope or one that is not a function."""
        return self.inner.union(self.own)

    def steady(self) -> frozenset[str]:
        """Return the local names that only the function's own statements bind."""
        return frozenset(self.own) - self.global_names - self.nonlocal_names - self.rebound

    def imported(self) -> dict[str, str]:
        """Return the names that nothing but one import binds, each with its module."""
        steady = self.steady()
        return {n: m for n, m in self.modules.items() if n in steady and len(self.own[n]) == 1}

    def add(self, name: str | None, value: Any, in_class: bool) -> None:
        """Record one binding."""
        if name is None:
            return
        if in_class:
            self.inner.add(name)
        else:
            self.own.setdefault(name, []).append(value)


def bindings(node: FunctionNode) -> Bindings:
    """Collect the bindings of a function; bodies of nested functions are not entered."""
    found = bindings_of([node.body] if isinstance(node, ast.Lambda) else node.body)
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for arg in filter(None, [*named, arguments.vararg, arguments.kwarg]):
        found.add(arg.arg, None, False)
    return found


def bindings_of(body: list[Any]) -> Bindings:
    """Collect the bindings of statements or expressions."""
    found = Bindings()
    _collect([*body], False, found, {})
    return found


def _collect(todo: list[Any], in_class: bool, found: Bindings, values: dict[int, Any]) -> None:
    """Collect the bindings of nodes, each before the nodes below it."""
    while todo:
        item = todo.pop()
        kind = item.__class__
        if kind is ast.Name:
            if item.ctx.__class__ is not ast.Load:
                found.add(item.id, values.get(id(item)), in_class)
            elif item.id == "sum":
                found.sum_lines.add(item.lineno)
        elif kind is ast.Attribute:
            found.attribute_lines.add(item.lineno)
            todo.append(item.value)
        elif kind in _NESTED:
            _enter_nested(item, in_class, found, todo)
        elif kind is ast.ClassDef:
            found.add(item.name, None, in_class)
            found.rebound.update(_declared_nonlocal(item.body))
            _collect(children(item), True, found, values)
        elif kind is ast.comprehension:
            # Its targets live in a scope of their own; a walrus in the rest does not.
            found.inner.update(_names(item.target))
            todo += [item.iter, *item.ifs]
        else:
            if kind in _BINDING:
                _record(item, in_class, found, values)
            add_children(item, todo)


def _record(item: Any, in_class: bool, found: Bindings, values: dict[int, Any]) -> None:
    """Note what a node binds or will give to names below it."""
    match item:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                values.update(_pairs(target, value))
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            values[id(target)] = value
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            values[id(target)] = ast.BinOp(ast.Name(name, ast.Load()), op, value)
        case ast.For(target=target):
            values[id(target)] = item
        case ast.Import(names=aliases) if not in_class:
            for alias in aliases:
                top = alias.name.partition(".")[0]
                found.modules[alias.asname or top] = alias.name if alias.asname else top
        case ast.alias(name=name, asname=asname):
            found.add(asname or name.partition(".")[0], None, in_class)
        case ast.Global(names=names):
            found.global_names.update(names)
        case ast.Nonlocal(names=names):
            found.nonlocal_names.update(names)
        case ast.MatchMapping(rest=name):
            found.add(name, None, in_class)
        case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler():
            found.add(item.name, None, in_class)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[int, ast.expr]]:
    """Return the ids of targets with what each is bound to; ``a, b = c, d`` has two."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        parts = [*target.elts, *value.elts]
        if len(target.elts) == len(value.elts) and not any(
            isinstance(part, ast.Starred) for part in parts
        ):
            return [
                pair for t, v in zip(target.elts, value.elts, strict=True) for pair in _pairs(t, v)
            ]
    return [(id(target), value)]


def _enter_nested(item: Any, in_class: bool, found: Bindings, todo: list[Any]) -> None:
    """Visit decorators and defaults of a nested function, which belong to the outer scope."""
    todo += [*item.args.defaults, *filter(None, item.args.kw_defaults)]
    if not isinstance(item, ast.Lambda):
        todo += item.decorator_list
        found.add(item.name, None, in_class)
        found.rebound.update(_declared_nonlocal(item.body))


def _declared_nonlocal(body: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Nonlocal):
                names.update(node.names)
    return names


def _names(target: ast.AST) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def is_literal(node: ast.AST) -> bool:
    """Return whether an expression is made of literals and operators only."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return is_literal(operand)
        case ast.BinOp(left=left, right=right):
            return is_literal(right) and is_literal(left)
    return False


class StaticInts:
    """The names known to be ints in one scope, and a test of expressions."""

    def __init__(self, known: frozenset[str], names: Names) -> None:
        self._known = known
        self._names = names

    @classmethod
    def of(cls, found: Bindings, names: Names) -> Self:
        """Find the known ints of a function: drop names until all their bindings are ints."""
        known = found.steady()
        while True:
            ints = cls(known, names)
            kept = frozenset(
                name for name in known if all(ints._binds_int(value) for value in found.own[name])
            )
            if kept == known:
                return ints
            known = kept

    def nowhere(self) -> StaticInts:
        """Return the same test with no name known."""
        return StaticInts(frozenset(), self._names)

    def within(self, generators: list[ast.comprehension]) -> StaticInts:
        """Return the test for the scope of a comprehension."""
        targets: set[str] = set()
        others: set[str] = set()
        for generator in generators:
            names = _names(generator.target)
            targets |= names
            if not (isinstance(generator.target, ast.Name) and self._binds_int(generator)):
                others |= names
        return StaticInts(self._known - targets | (targets - others), self._names)

    def holds(self, node: ast.AST) -> bool:
        """Return whether an expression is an int for certain."""
        match node:
            case ast.Name(id=name):
                return name in self._known
            case ast.Constant(value=value):
                return value.__class__ is int
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _INT_OPERATORS) and self.holds(right) and self.holds(left)
            case ast.UnaryOp(op=op, operand=operand):
                return not isinstance(op, ast.Not) and self.holds(operand)
            case ast.Call():
                return any(self._names.calls_builtin(node, name) for name in ("len", "int"))
        return False

    def _binds_int(self, value: Any) -> bool:
        if isinstance(value, ast.For | ast.comprehension):
            steps: Any = value.iter
            if self._names.calls_builtin(steps, "reversed") and len(steps.args) == 1:
                steps = steps.args[0]
            return self._names.calls_builtin(steps, "range")
        return value is not None and self.holds(value)
