"""Rewrite ``match`` statements to chains of ``if``: see `rewrite` for the grammar.

Patterns read lengths, items and attributes, which may run Python code of the subject's class, so
each pattern becomes a test made of calls of a
:class:`~mooncake_py.language.matching.Matching`.
Names are bound when the whole pattern has matched, as Python does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from mooncake_py.syntax.nodes import Place, constant, load, located, place_of, store, when

__all__ = ["case_test", "chained", "conjunction"]

Visit = Callable[[ast.expr], ast.expr]


def case_test(case: ast.match_case, matching: str, visit: Visit) -> ast.expr | None:
    """Return the test that matches a case and binds its names; None if it holds always.

    The variable `matching` holds the :class:`~mooncake_py.language.matching.Matching`; `visit`
    rewrites the expressions within patterns.
    """
    compiler = _Compiler(matching, visit)
    tests, bound = compiler.pattern(case.pattern, 0)
    if bound:
        place = place_of(case.pattern)
        values = [
            located(ast.NamedExpr(store(name, place), compiler.call("part", place, number)), place)
            for name, number in bound.items()
        ]
        tests.append(located(ast.Tuple(values, ast.Load()), place))  # not empty, hence true
    return conjunction(tests, place_of(case.pattern))


def conjunction(tests: list[ast.expr], place: Place) -> ast.expr | None:
    """Return the test that all of some tests hold; None if there are none."""
    if len(tests) < 2:
        return tests[0] if tests else None
    return located(ast.BoolOp(ast.And(), tests), place)


class _Compiler:
    """Patterns of one case to tests."""

    def __init__(self, matching: str, visit: Visit) -> None:
        self.matching = matching
        self.visit = visit
        self.numbers: Iterator[int] = count(1)

    def call(self, method: str, place: Place, *args: Any) -> ast.expr:
        """Return a call of the matching; arguments that are not expressions become constants."""
        function = located(ast.Attribute(load(self.matching, place), method, ast.Load()), place)
        values = [a if isinstance(a, ast.expr) else constant(a, place) for a in args]
        return located(ast.Call(function, values, []), place)

    def pattern(self, node: Any, number: int) -> tuple[list[ast.expr], dict[str, int]]:
        """Return the tests of a pattern on a numbered subject, and the names that it binds."""
        return getattr(self, node.__class__.__name__)(node, number, place_of(node))

    def MatchValue(self, node: Any, number: int, place: Place) -> Any:
        return [self.call("equals", place, number, self.visit(node.value))], {}

    def MatchSingleton(self, node: Any, number: int, place: Place) -> Any:
        part = self.call("part", place, number)
        return [located(ast.Compare(part, [ast.Is()], [constant(node.value, place)]), place)], {}

    def MatchAs(self, node: Any, number: int, place: Place) -> Any:
        tests, bound = ([], {}) if node.pattern is None else self.pattern(node.pattern, number)
        return tests, bound if node.name is None else {**bound, node.name: number}

    def MatchStar(self, node: Any, number: int, place: Place) -> Any:
        return [], {} if node.name is None else {node.name: number}

    def MatchSequence(self, node: Any, number: int, place: Place) -> Any:
        patterns, n = node.patterns, len(node.patterns)
        numbers = self._take(n)
        star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
        named = [k for k, p in enumerate(patterns) if not _is_wildcard(p)]
        test = self.call("length", place, number, n, star is not None)
        if named and (star is None or star in named):
            taken = self.call("items", place, number, numbers[0], n, star)
            tests, bound = self._all(taken, patterns, numbers)
            return [test, *tests], bound
        tests, bound = [test], dict[str, int]()
        for k in named:
            index = k if star is None or k < star else k - n
            taken = self.call("item", place, number, numbers[k], index)
            inner, names = self._all(taken, [patterns[k]], [numbers[k]])
            tests += inner
            bound |= names
        return tests, bound

    def MatchMapping(self, node: Any, number: int, place: Place) -> Any:
        numbers = self._take(len(node.patterns) + 1)
        keys = located(ast.Tuple([self.visit(key) for key in node.keys], ast.Load()), place)
        test = self.call("mapping", place, number, numbers[0], keys, node.rest is not None)
        tests, bound = self._all(test, node.patterns, numbers)
        return tests, bound if node.rest is None else {**bound, node.rest: numbers[-1]}

    def MatchClass(self, node: Any, number: int, place: Place) -> Any:
        patterns = [*node.patterns, *node.kwd_patterns]
        numbers = self._take(len(patterns))
        cls, names = self.visit(node.cls), tuple(node.kwd_attrs)
        test = self.call("instance", place, number, numbers[0], cls, len(node.patterns), names)
        return self._all(test, patterns, numbers)

    def MatchOr(self, node: Any, number: int, place: Place) -> Any:
        shared: dict[str, int] = {}
        alternatives: list[ast.expr] = []
        for pattern in node.patterns:
            tests, bound = self.pattern(pattern, number)
            shared = shared or dict(zip(bound, self._take(len(bound)), strict=False))
            tests += [self.call("bind", place, shared[name], k) for name, k in bound.items()]
            alternatives.append(conjunction(tests, place) or constant(True, place))
        return [located(ast.BoolOp(ast.Or(), alternatives), place)], shared

    def _take(self, n: int) -> list[int]:
        """Return new numbers, at least one."""
        return [next(self.numbers) for _ in range(max(n, 1))]

    def _all(self, test: ast.expr, patterns: list[Any], numbers: list[int]) -> Any:
        """Return a test followed by those of the parts."""
        tests, bound = [test], dict[str, int]()
        for pattern, number in zip(patterns, numbers, strict=False):
            inner, names = self.pattern(pattern, number)
            tests += inner
            bound |= names
        return tests, bound


def _is_wildcard(pattern: ast.pattern) -> bool:
    """Return whether a pattern is ``_`` or ``*_``."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None and pattern.name is None
    return isinstance(pattern, ast.MatchStar) and pattern.name is None


def chained(cases: list[tuple[ast.expr | None, list[ast.stmt], Place]]) -> list[ast.stmt]:
    """Return the cases as one chain of ``if``."""
    rest: list[ast.stmt] = []
    for test, body, place in reversed(cases):
        rest = body if test is None else [when(test, body, rest, place)]
    return rest
