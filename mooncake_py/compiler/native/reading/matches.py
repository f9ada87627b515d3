"""``match`` in terms of ``if``: what is structure is decided where the tests are read.

    match event:                    if isinstance(event, Dose) and event.amount > 0.0:
        case Dose(amount=a) if a > 0.0:     a = event.amount
            ...                             ...
        case ("rest", days):        elif is_sequence(event, 2) and event[0] == "rest":
            ...                         days = event[1]

A guard has what the pattern binds in its place, as nothing is bound where it fails.
"""

from __future__ import annotations

import ast
import collections.abc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    Dictionary,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import of_choices
from mooncake_py.compiler.native.reading.constants import python_of
from mooncake_py.compiler.native.reading.inspecting import class_of
from mooncake_py.compiler.regions.ir import Compare, Const, Expr
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.syntax.nodes import PREFIX, Place, assign, constant, load, located, place_of, store

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["MATCHING", "as_branches"]

SUBJECT = f"{PREFIX}subject"
ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is for the object itself."""


class Case(NamedTuple):
    """The test of a pattern, and the names that it binds, with their values."""

    tests: list[ast.expr]
    binds: dict[str, ast.expr]


def as_branches(node: ast.Match, bodies: Sequence[list[ast.stmt]]) -> list[ast.stmt]:
    """Return the branches that replace a ``match``, given the bodies of its cases.

    Raises
    ------
    Unfit
        For patterns that are not supported.
    """
    place = place_of(node)
    own = {part.id for part in ast.walk(node.subject) if isinstance(part, ast.Name)}
    cases = [case_of(c.pattern, node.subject) for c in node.cases]
    before: list[ast.stmt] = []
    if not isinstance(node.subject, ast.Name) or any(not own.isdisjoint(c.binds) for c in cases):
        name = f"{SUBJECT}{place.line}_{place.column}"
        before.append(assign(store(name, place), node.subject, place))
        cases = [case_of(c.pattern, load(name, place)) for c in node.cases]
    rest: list[ast.stmt] = []
    for case, (tests, binds), body in reversed([*zip(node.cases, cases, bodies, strict=True)]):
        at = place_of(case.pattern)
        if case.guard is not None:
            tests = [*tests, Replaced(binds).visit(copied(case.guard))]
        bound = [assign(store(name, at), value, at) for name, value in binds.items()]
        if tests:
            rest = [located(ast.If(all_of(tests, at), [*bound, *body], rest), at)]
        else:
            rest = [*bound, *body]
    return [*before, *rest]


def copied(node: Any) -> Any:
    """Return a copy of an expression: trees are shared."""
    fields: dict[str, Any] = {}  # all at once: a node that lacks one warns since Python 3.13
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            value = [copied(v) if isinstance(v, ast.AST) else v for v in value]
        fields[name] = copied(value) if isinstance(value, ast.AST) else value
    return ast.copy_location(type(node)(**fields), node)


class Replaced(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, by_name: Mapping[str, ast.expr]) -> None:
        self.by_name = by_name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the replacement of a name."""
        return self.by_name.get(node.id, node)


def all_of(tests: list[ast.expr], place: Place) -> ast.expr:
    """Return tests of which all must hold."""
    if not tests:
        return constant(True, place)
    return tests[0] if len(tests) == 1 else located(ast.BoolOp(ast.And(), tests), place)


def call(f: Any, args: Sequence[ast.expr], place: Place) -> ast.expr:
    """Return a call of a function of ours."""
    return located(ast.Call(constant(f, place), [*args], []), place)


def compared(x: ast.expr, op: ast.cmpop, y: ast.expr, place: Place) -> ast.expr:
    """Return a comparison."""
    return located(ast.Compare(x, [op], [y]), place)


def case_of(pattern: ast.pattern, subject: ast.expr) -> Case:
    """Return the test and the bindings of a pattern for a subject."""
    place = place_of(pattern)
    match pattern:
        case ast.MatchValue(value=value):
            return Case([compared(subject, ast.Eq(), value, place)], {})
        case ast.MatchSingleton(value=value):
            return Case([compared(subject, ast.Is(), constant(value, place), place)], {})
        case ast.MatchAs(pattern=inner, name=name):
            tests, binds = Case([], {}) if inner is None else case_of(inner, subject)
            return Case(tests, binds if name is None else {**binds, name: subject})
        case ast.MatchOr(patterns=patterns):
            cases = [case_of(p, subject) for p in patterns]
            if any(c.binds for c in cases):
                raise Unfit("`case` of several patterns that bind names", place)
            tests = [all_of(c.tests, place) for c in cases]
            return Case([located(ast.BoolOp(ast.Or(), tests), place)], {})
        case ast.MatchSequence(patterns=patterns):
            return of_sequence(patterns, subject, place)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=None):
            first = call(is_mapping, [subject], place)
            tests = [first, *(compared(key, ast.In(), subject, place) for key in keys)]
            items = [located(ast.Subscript(subject, key, ast.Load()), place) for key in keys]
            return joined(tests, patterns, items)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=by_name):
            tests = [call(isinstance, [subject, cls], place)]
            items = [
                call(positional, [subject, cls, constant(k, place)], place)
                for k in range(len(patterns))
            ]
            tests += [call(hasattr, [subject, constant(name, place)], place) for name in names]
            items += [located(ast.Attribute(subject, name, ast.Load()), place) for name in names]
            return joined(tests, [*patterns, *by_name], items)
    raise Unfit("a pattern of `case` that takes the rest of a dict", place)


def of_sequence(patterns: list[ast.pattern], subject: ast.expr, place: Place) -> Case:
    """Return the test and the bindings of a pattern of items."""
    stars = [k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
    count = len(patterns) - len(stars)
    first = call(
        is_sequence, [subject, constant(count, place), constant(bool(stars), place)], place
    )
    items: list[ast.expr] = []
    asked: list[ast.pattern] = []
    for k, p in enumerate(patterns):
        if not isinstance(p, ast.MatchStar):
            at = k - len(patterns) if stars and k > stars[0] else k
            items.append(located(ast.Subscript(subject, constant(at, place), ast.Load()), place))
            asked.append(p)
        elif p.name is not None:
            ends = [constant(n, place) for n in (k, len(patterns) - 1 - k)]
            items.append(call(between, [subject, *ends], place))
            asked.append(located(ast.MatchAs(None, p.name), place))
    return joined([first], asked, items)


def joined(
    tests: list[ast.expr], patterns: Sequence[ast.pattern], items: Sequence[ast.expr]
) -> Case:
    """Return the tests of patterns for parts of a subject, after tests of the whole."""
    binds: dict[str, ast.expr] = {}
    for pattern, item in zip(patterns, items, strict=True):
        more, bound = case_of(pattern, item)
        tests = [*tests, *more]
        binds |= bound
    return Case(tests, binds)


# The functions that the tests call; they are read, never run.


def is_sequence(x: Any, count: int, is_open: bool) -> bool:
    """Stand for the test of a pattern of items."""
    raise NotImplementedError


def is_mapping(x: Any) -> bool:
    """Stand for the test of a pattern of keys."""
    raise NotImplementedError


def between(x: Any, first: int, last: int) -> Any:
    """Stand for the items that a star takes."""
    raise NotImplementedError


def positional(x: Any, cls: type, k: int) -> Any:
    """Stand for what a positional pattern of a class is for."""
    raise NotImplementedError


def read_is_sequence(r: ExpressionReader, args: Sequence[Value], given: Any) -> Value:
    """Read whether a value is a sequence of so many items, or of as many at least."""
    x, count, is_open = args
    if isinstance(x, Choice):
        test = of_choices.test_of(
            r, x, lambda v: r.truth(read_is_sequence(r, [v, count, is_open], given))
        )
        return Number(test, "bool")
    op = "ge" if python_of(is_open) else "eq"
    match x:
        case Tuple(items=items):
            n: Expr = Const(len(items))
        case Cells(shape=(n,)):
            pass
        case _:
            if is_of(r, x, collections.abc.Sequence):
                raise Unfit(f"`case` with items of {said(x)}: use a tuple or a list", r.b.place)
            return Number(Const(False), "bool")
    wanted = python_of(count)
    if isinstance(n, Const):
        assert isinstance(n.value, int)
        return Number(Const(n.value >= wanted if op == "ge" else n.value == wanted), "bool")
    return Number(Compare((op,), (n, Const(wanted))), "bool")


def is_of(r: ExpressionReader, x: Value, abstract: type) -> bool:
    """Return whether a value is a sequence or a mapping to ``match``: no text and no array is."""
    if isinstance(x, Number | Array) or (isinstance(x, Known) and type(x.value) in (str, bytes)):
        return False
    return issubclass(class_of(r, x), abstract)


def read_is_mapping(r: ExpressionReader, args: Sequence[Value], given: Any) -> Value:
    """Read whether a value is a dict."""
    (x,) = args
    if not isinstance(x, Dictionary) and is_of(r, x, collections.abc.Mapping):
        raise Unfit(f"`case` with keys of {said(x)}: use a dict", r.b.place)
    return Number(Const(isinstance(x, Dictionary)), "bool")


def read_between(r: ExpressionReader, args: Sequence[Value], given: Any) -> Value:
    """Read the items that a star takes, which are a new list."""
    x, *ends = args
    if not isinstance(x, Tuple):
        raise Unfit(f"`case` with a star for items of {said(x)}: use a tuple", r.b.place)
    first, last = map(python_of, ends)
    return Tuple(x.items[first : len(x.items) - last], is_list=True, place=r.b.place)


def read_positional(r: ExpressionReader, args: Sequence[Value], given: Any) -> Value:
    """Read what a positional pattern of a class is for."""
    x, of, at = args
    k = python_of(at)
    if isinstance(x, Choice):
        return r.for_each(x, lambda v: read_positional(r, [v, of, at], given))
    if not isinstance(of, Known) or not issubclass(type(of.value), type):
        raise Unfit(f"`case` of {said(of)}: use a class", r.b.place)
    names = r.scope.of_class(of.value, "__match_args__")
    if of.value in ITSELF and names is MISSING and k == 0:
        return x
    if type(names) is not tuple or k >= len(names) or not isinstance(x, Object | Tuple):
        raise Unfit(f"`case {of.value.__name__}(...)` with so many items", r.b.place)
    return r.attribute(x, names[k])


Reader = Callable[["ExpressionReader", Sequence[Value], Any], Value]
MATCHING: dict[Any, Reader] = {
    is_sequence: read_is_sequence, is_mapping: read_is_mapping, between: read_between,
    positional: read_positional,
}  # fmt: skip
