"""What a function that a solver calls back may do besides computing.

A node makes new objects for those that such a function reads in each call, with their values.  So
the function must not write what it is given or finds outside, except attributes of objects: those
of objects that the program makes are lost, and reading them later is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.sites.callees import is_own
from mooncake_py.errors import MooncakeError
from mooncake_py.syntax.names import MISSING, global_value
from mooncake_py.syntax.nodes import Place
from mooncake_py.syntax.source import locate

__all__ = ["Effects", "methods_of"]

FORBIDDEN = frozenset({
    "print", "input", "open", "exec", "eval", "setattr", "delattr", "globals", "vars", "locals",
    "__import__", "next", "logging", "random", "default_rng", "RandomState",
})  # fmt: skip
MUTATING = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "fill", "insert", "itemset",
    "partition", "pop", "popitem", "popleft", "put", "remove", "resize", "reverse", "setdefault",
    "setfield", "sort", "update", "write", "writelines", "__setitem__", "__dict__",
})  # fmt: skip
MAKERS = frozenset({
    "array", "copy", "dict", "empty", "empty_like", "full", "full_like", "list", "ones",
    "ones_like", "set", "zeros", "zeros_like",
})  # fmt: skip
"""Functions that return something new."""
FRESH = (
    ast.BinOp, ast.Constant, ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.UnaryOp,
)  # fmt: skip
STARTS = frozenset({"__init__", "__post_init__", "__new__"})
Scoped = ast.FunctionDef | ast.Lambda


@dataclass
class Effects:
    """The effects of functions, and of those that they call.

    Attributes
    ----------
    place : Place or None
        Of the call of the solver.
    attributes : set of str
        The names of attributes that are written.
    asked : set of str
        Those that are read, except by ``x.n += 1``; `getattr` among them where any may be.
    """

    place: Place | None
    attributes: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    met: set[CodeType] = field(default_factory=set)

    @property
    def are_seen(self) -> bool:
        """Whether anything may read an attribute that is written."""
        return bool(self.attributes & self.asked or (self.attributes and "getattr" in self.asked))

    def of_function(self, f: Any) -> None:
        """Look at a function of the user's, and those that it calls.

        Raises
        ------
        Unfit
            It may do more than compute.
        """
        if type(f) is not FunctionType or not is_own(f, 0) or f.__code__ in self.met:
            return
        self.met.add(f.__code__)
        try:
            node = locate(f.__code__, f.__globals__).node
        except MooncakeError as error:
            raise Unfit(f"no source of {f.__qualname__}", self.place) from error
        self.of_node(node, f)

    def of_class(self, cls: type) -> None:
        """Look at the methods of a class."""
        for f in methods_of(cls):
            if f.__name__ not in STARTS:
                self.of_function(f)

    def of_node(self, node: ast.AST, f: FunctionType) -> None:
        """Look at the source of a function."""
        for inner in ast.walk(node):
            if isinstance(inner, Scoped):
                self.of_scope(inner)
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            self.of_global(global_value(f.__globals__, name))
        for cell in f.__closure__ or ():
            try:
                self.of_global(cell.cell_contents)
            except ValueError:  # of one that is made while the program is read
                continue

    def of_global(self, value: Any) -> None:
        """Look at what a function finds outside."""
        if value is MISSING:
            return
        if isinstance(value, type):
            for f in methods_of(value):
                if is_own(f, 0):
                    self.of_constructed(f)
        else:
            self.of_function(value)

    def of_constructed(self, f: FunctionType) -> None:
        """Look at a method of a class of which a function makes objects, which are its own."""
        before = set(self.attributes)
        self.of_function(f)
        if f.__name__ in STARTS:
            self.attributes = before

    def of_scope(self, node: Scoped) -> None:
        """Look at one function, without those within it."""
        parts = list(own_parts(node))
        own = fresh_names(node, parts)
        bound = {part.id for part in parts if is_stored(part)}
        for part in parts:
            match part:
                case ast.Global() | ast.Nonlocal() | ast.Yield() | ast.YieldFrom() | ast.Await():
                    self.refuse("binds variables of others, or yields")
                case ast.Name(id=name) if name in FORBIDDEN:
                    self.refuse(f"names `{name}`")
                case ast.Attribute(attr=name) if name in FORBIDDEN:
                    self.refuse(f"names `{name}`")
                case ast.Name(id="getattr" | "attrgetter"):
                    self.asked.add("getattr")
                case ast.Attribute(attr=name, ctx=ast.Load()) if name not in MUTATING:
                    self.asked.add("getattr" if name == "attrgetter" else name)
                case ast.Call(func=ast.Attribute(attr=name, value=base)) if name in MUTATING:
                    self.require_own(base, own)
                case ast.Attribute(attr=name, value=base, ctx=ast.Store() | ast.Del()):
                    self.require_made(base, bound - own)
                    self.attributes.add(name)
                case ast.Subscript(value=base, ctx=ast.Store() | ast.Del()):
                    self.require_own(base, own)
                case ast.AugAssign(target=ast.Name(id=name)) if name in parameters(node):
                    self.refuse(f"changes its parameter {name} in place")
                case ast.keyword(arg="out"):
                    self.refuse("has NumPy write with `out=`")

    def require_made(self, base: ast.expr, unknown: set[str]) -> None:
        """Raise for a write to an object that the node may not have made."""
        root = base
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in unknown:
            self.refuse(f"assigns to an attribute of `{ast.unparse(base)}`")

    def require_own(self, base: ast.expr, own: set[str]) -> None:
        """Raise for a write to what a function has not made itself."""
        if not (isinstance(base, ast.Name) and base.id in own):
            self.refuse(f"may change `{ast.unparse(base)}`, which it has not made")

    def refuse(self, what: str) -> None:
        """Raise for a function that does more than compute."""
        raise Unfit(f"a function that a solver calls and that {what}", self.place)


def is_stored(part: ast.AST) -> TypeGuard[ast.Name]:
    """Return True for a name that is bound here."""
    return isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)


def own_parts(node: Scoped) -> Iterator[ast.AST]:
    """Yield the parts of a function, without functions within it."""
    todo: list[ast.AST] = [*node.body] if isinstance(node, ast.FunctionDef) else [node.body]
    while todo:
        part = todo.pop()
        yield part
        if not isinstance(part, Scoped | ast.ClassDef):
            todo += ast.iter_child_nodes(part)


def parameters(node: Scoped) -> set[str]:
    """Return the names of parameters."""
    return {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}


def fresh_names(node: Scoped, parts: list[ast.AST]) -> set[str]:
    """Return the variables that only ever hold what the function has made itself."""
    bound: dict[str, bool] = dict.fromkeys(parameters(node), False)
    for part in parts:
        match part:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for name in names_stored(target):
                        is_whole = isinstance(target, ast.Name)
                        bound[name] = bound.get(name, True) and is_whole and is_fresh(value)
            case ast.AugAssign(target=ast.Name(id=name)):
                bound.setdefault(name, False)
            case ast.For(target=target) | ast.comprehension(target=target):
                bound |= dict.fromkeys(names_stored(target), False)
            case (
                ast.NamedExpr(target=ast.Name(id=name))
                | ast.withitem(optional_vars=ast.Name(id=name))
            ):
                bound[name] = False
    return {name for name, own in bound.items() if own}


def names_stored(target: ast.expr) -> list[str]:
    """Return the variables that a target binds."""
    return [
        n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]


def is_fresh(value: ast.expr) -> bool:
    """Return True for an expression whose value nothing else refers to."""
    if isinstance(value, ast.Call):
        f = value.func
        name = f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""
        return name in MAKERS
    return isinstance(value, FRESH)


def methods_of(cls: type) -> Iterator[FunctionType]:
    """Yield the functions in a class and its bases, those of properties too."""
    for base in cls.__mro__:
        for value in vars(base).values():
            found: Any = value.fget if type(value) is property else value
            found = found.__func__ if type(found) in (staticmethod, classmethod) else found
            if type(found) is FunctionType:
                yield found
