"""Cases for Python's functions that call back or add up."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from mooncake_py.rules import python_builtins
from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*sum_cases(), *order_cases(), *arithmetic_cases(), *iterator_cases()]


def sum_cases() -> list[Case]:
    return [
        Case(sum, ([1.5, 2, -0.5],), label="numbers"),
        Case(sum, ([1.5, 2.0], 0.25), label="start"),
        Case(sum, ((1.5, 2.0j),), label="complex"),
        Case(sum, ([],), label="empty"),
        Case(sum, ([draw(3), draw(3, seed=1)],), label="arrays"),
        Case(sum, (draw(4),), label="vector"),
        Case(sum, (draw(3, 2),), label="rows"),
        Case(python_builtins.sum_of_numbers, ([1.5, 2.5], 0.5)),
        Case(python_builtins.sum_of_rows, (draw(3, 2), 0.5)),
    ]


def order_cases() -> list[Case]:
    return [
        Case(operator.countOf, ([1.5, 2.0, 1.5], 1.5), label="found"),
        Case(operator.countOf, (draw(3), 7.5), label="not found"),
        Case(operator.indexOf, ([1, 2, 1], 2)),
        Case(min, (1.5, 0.5), label="two"),
        Case(min, ([1.5, 0.5, 2.5],), label="list"),
        Case(min, (draw(4),), label="vector"),
        Case(max, (1.5, 0.5, -2.5), label="three"),
        Case(max, ([1.5, -2.5],), {"key": abs}, "key"),
        Case(max, ([],), {"default": 1.5}, "default"),
        Case(max, (1.5, 1.5), label="tie", interface_only=True),
        Case(sorted, ([1.5, -2.5, 0.5],)),
        Case(sorted, ([1.5, -2.5, 0.5],), {"key": abs, "reverse": True}, "key"),
        Case(sorted, ([(1.5, draw(2)), (0.5, draw(2))],), {"key": operator.itemgetter(0)}, "pairs"),
    ]


def arithmetic_cases() -> list[Case]:
    return [
        Case(divmod, (7.25, 2.0), label="numbers"),
        Case(divmod, (-7.25, 2.0), label="negative"),
        Case(divmod, (draw(3), 0.3), label="arrays"),
        Case(pow, (1.5, 2.5), label="numbers"),
        Case(pow, (3, 4, 5), label="modular"),
        Case(round, (1.25,), label="integer"),
        Case(round, (1.257, 1), label="digits"),
    ]


def iterator_cases() -> list[Case]:
    x = draw(5)
    programs = (
        use_map, use_starmap, use_filter, use_while, use_reduce, use_accumulate, use_groupby,
        use_getters,
    )  # fmt: skip
    return [
        Case(functools.reduce, (operator.mul, [1.5, 0.5, 2.0]), label="numbers"),
        Case(functools.reduce, (operator.sub, [draw(2), 1.5], 0.5), label="initial"),
        *(Case(program, (x,), label="program") for program in programs),
    ]


def use_map(x: np.ndarray) -> Any:
    """Call user functions from map, lazily, while the array changes."""
    steps = map(lambda a, b: a * b, x, x[1:])
    first = next(steps)
    x[2] = 0.5
    return first + sum(steps)


def use_starmap(x: np.ndarray) -> Any:
    return sum(itertools.starmap(lambda a, b: a * b, zip(x, x[::-1], strict=True)))


def use_filter(x: np.ndarray) -> Any:
    kept = list(filter(lambda v: v > 0, x))
    left = list(itertools.filterfalse(lambda v: v > 0, x))
    return sum(v * v for v in kept) - sum(v**3 for v in left)


def use_while(x: np.ndarray) -> Any:
    ordered = sorted(x)
    low = itertools.takewhile(lambda v: v < 0.3, ordered)
    high = itertools.dropwhile(lambda v: v < 0.3, ordered)
    return sum(v * v for v in low) + 2 * sum(high)


def use_reduce(x: np.ndarray) -> Any:
    return functools.reduce(lambda value, v: value * 0.5 + np.sin(v), x, 0.25)


def use_accumulate(x: np.ndarray) -> Any:
    running = list(itertools.accumulate(x, lambda a, b: a * b + 1))
    return np.array(running) + np.array(list(itertools.accumulate(x, initial=1.5)))[1:]


def use_groupby(x: np.ndarray) -> Any:
    return [sum(group) for _, group in itertools.groupby(x, key=lambda v: v > 0)]


def use_getters(x: np.ndarray) -> Any:
    first, last = operator.itemgetter(0, -1)(x)
    return first * last + operator.methodcaller("sum")(operator.attrgetter("T.real")(x))
