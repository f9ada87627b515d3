"""Calls that Python runs while a function is read, as all of their arguments are known."""

from __future__ import annotations

import datetime
import enum
import logging
import math
import operator
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


def of_numbers(x):
    names = sorted(("b", "a", "c"), reverse=True)
    s = x[0] * math.comb(5, 2) + math.sqrt(2.0) * x[1]
    s *= float(Fraction(1, 3) + Fraction(1, 6)) + float(Decimal("0.25") * 2)
    for k, name in enumerate(names):
        s += x[k] ** 2 if name == "b" else x[k] * int("3")
    return s * max(2, 3) + round(2.567, 1) * x[2] * sum([1, 2]) * np.finfo(float).eps


def of_dates(x):
    start, end = datetime.date(2020, 1, 31), datetime.date(2021, 3, 1)
    days = (end - start).days
    year = datetime.timedelta(days=365)
    return x[0] ** (days / year.days) * start.month + x[1] * (end > start) * end.weekday()


@pytest.mark.parametrize("f", [of_numbers, of_dates])
def test_calls_of_what_is_known(f, tried):
    agrees_compiled(f, tried, X)


class Kind(enum.Enum):
    CUBE = 3
    PLAIN = "plain"


class Named:
    operators = {"+": operator.add, "*": operator.mul, "neg": operator.neg, "<": operator.lt}
    functions = {name: getattr(math, name) for name in ("exp", "sin")}


TOKEN = re.compile(r"(\d+)|([a-z]+)")


def of_operators(x):
    apply = Named.operators
    s = apply["+"](x[0], apply["*"](x[1], x[2])) * Named.functions["exp"](x[0])
    if apply["<"](x[0], x[1]):
        s = apply["neg"](s)
    return operator.pow(s, 2) + operator.truediv(x[1], 3.0)


def of_tokens(x):
    s = 0.0
    for k, (number, name) in enumerate(TOKEN.findall("12ab3")):
        s += x[k] * (int(number) if number else 0.5) + x[0] * len(name)
    return s


def of_days(x):
    day, s = datetime.date(2020, 1, 31), 0.0
    for k in range(3):
        day = day + datetime.timedelta(days=31)
        s += x[k] ** 2 * day.month * day.year
    return s


def of_members(x):
    s = x[0] ** Kind.CUBE.value
    return s * x[1] if Kind.PLAIN.value == "plain" and Kind.CUBE.name == "CUBE" else x[2]


KNOWN = [of_operators, of_tokens, of_days, of_members]


@pytest.mark.parametrize("f", KNOWN)
def test_operators_texts_and_days(f, tried):
    agrees_compiled(f, tried, X)
    agrees_compiled(f, tried, X[::-1].copy())


log = logging.getLogger(__name__)


def of_print(x):
    print(x[0])
    return x[0] * x[1]


def of_log(x):
    log.debug("at %s", x[0])
    return x[0] * x[1]


@pytest.mark.parametrize(("f", "word"), [(of_print, "print"), (of_log, "log")])
def test_what_is_printed_is_never_dropped(f, word, tried, capsys):
    agrees(f, X)
    assert report(f)[0].found == "not compiled"
    assert word in report(f)[0].why
    assert capsys.readouterr().out.count("\n") >= (5 if f is of_print else 0)


def of_what_raises(x):
    try:
        return x[0] * int("a")
    except ValueError:
        return x[1] * x[2]


def test_a_call_that_raises_is_left(tried):
    agrees(of_what_raises, X)
    assert report(of_what_raises)[0].found == "not compiled"


def of_shadowed(x, sorted=lambda x: (1.0, 2.0)):
    return x[0] * sorted((3.0, 2.0))[0]


def test_a_function_of_the_same_name(tried):
    agrees(of_shadowed, X)


def of_items(x, sequence):
    s = 0.0
    for k in range(len(sequence) - 1):
        pair = sequence[k] + sequence[k + 1]
        s += x[k] * (2.0 if pair in ("ab", "ba") else 0.5) + x[k] ** 2 * len(sequence[1:])
    return s * (3.0 if sequence[-1] == "b" else 1.0)


def test_items_of_texts(tried):
    for text in ("aab", "abba", "bb"):
        agrees_compiled(of_items, tried, X, text)
