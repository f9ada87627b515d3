"""Comparisons and strings that are decided while a function is read."""

from __future__ import annotations

import enum
import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


class Scheme(enum.Enum):
    UPWIND = 1
    CENTRAL = 2


def of_text(x, scheme):
    kind, _, order = scheme.partition("-")
    s = 0.0
    if kind == "upwind" and kind in ("upwind", "central") and "wind" in kind:
        s += x[0] * x[0]
    elif kind.startswith("cent") and kind not in ("a", "b"):
        s += np.sin(x[1])
    else:
        raise ValueError(f"no scheme {kind!r}")
    label = f"{kind}:{len(order)}" + "%s-%02d" % ("x", 3)  # noqa: UP031
    if label.upper() == "UPWIND:3X-03" or label < "c":
        s *= x[2]
    if "{0}/{name}".format(kind, name=order) == "central/two":  # noqa: UP032
        s += x[0]
    return s if ",".join([kind, order]) != "upwind,two" else 2.0 * s


@pytest.mark.parametrize("scheme", ["upwind-two", "upwind-one", "central-two"])
def test_texts_decide_branches(scheme: str, tried: list[bool]) -> None:
    agrees_compiled(of_text, tried, X, scheme)


def test_another_text_is_read_again_and_raises_as_it_does(tried: list[bool]) -> None:
    for scheme in ("upwind-two", "central-one", "upwind-two"):
        agrees(of_text, X, scheme)
    with pytest.raises(ValueError, match="no scheme 'none'"):
        value_and_grad(of_text, compile=True)(X, "none")


def of_identity(x, mode, flag):
    s = np.sum(x)
    if mode is None or mode is not False:
        s = s * x[0]
    if x is None:
        s = s * 100.0
    positive = x[1] > 0.0
    if positive is True or flag is True:  # the first one is a truth of NumPy
        s = s + x[1]
    if flag is not None and (float(x[2]) > 0.0) is flag:
        s = s - x[2]
    return s


@pytest.mark.parametrize("mode", [None, "a"])
@pytest.mark.parametrize("flag", [True, False])
def test_identity(mode: Any, flag: Any, tried: list[bool]) -> None:
    for x in (X, -X):
        agrees_compiled(of_identity, tried, x, mode, flag)


def of_structure(x, shape, n):
    s = x[0] * x[1]
    if x.shape == (3,) and x.shape != (3, 1) and x.shape != [3]:
        s = s * 2.0
    if shape == ("a", (1, n)):
        s = s + x[2]
    if n in (1, 4, 15):
        s = s * x[2]
    if n not in [2, 3] and "z" not in shape:
        s = s - x[0] ** 2
    k = 17
    if k // 5 == 3 and k % 5 == 2 and k**2 == 289 and (k << 1) & 3 == 2:
        s = s * 1.5
    return s * ("left", "right").index("right") + [0.5, 2.0][k - 16]


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_structure_that_is_known_and_numbers_in_it_that_are_not(n: int, tried: list[bool]) -> None:
    agrees_compiled(of_structure, tried, X, ("a", (1, 4)), n)


class Odd:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


ODD = Odd()


def of_odd(x):
    return x[0] if ODD == "a" else x[1]


def of_array_and_none(x):
    return np.sum(x[(x == None) == False])  # noqa: E711, E712


def test_what_only_runs_can_tell_is_left(tried: list[bool]) -> None:
    agrees(of_odd, X)
    agrees(of_array_and_none, X)
    assert report(of_array_and_none)[0].found == "not compiled"


class Equal:
    """What is equal to anything; an instance is a constant, as it finds its attributes itself."""

    def __eq__(self, other):
        return True

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name):
        raise AttributeError(name)


EQUAL = Equal()


class Loop:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return functools.partial(EQUAL, self.v)  # type: ignore[arg-type, return-value]


def key_of_sorting(x):
    return x[sorted([2, 0, 1], key=EQUAL)[0]]  # type: ignore[arg-type]


def length_of_a_loop(x):
    s = x[0]
    for v in Loop(x):
        s += v
    return s


@pytest.mark.parametrize("f", [key_of_sorting, length_of_a_loop])
def test_what_says_that_it_is_equal_is_not_asked(f: Any, tried: list[bool]) -> None:
    def caught(x):
        try:
            return f(x)
        except TypeError:
            return x[1] * x[1]

    agrees(caught, X)


def of_member(x, scheme):
    return x[0] * x[1] if scheme is Scheme.UPWIND or scheme == Scheme.CENTRAL else x[2]


def test_members_of_enumerations(tried: list[bool]) -> None:
    for scheme in Scheme:
        agrees(of_member, X, scheme)


def any_or_all(x, names):
    s = 0.0
    if any([n == "b" for n in names]) and all(n != "z" for n in names):  # noqa: C419
        s += x[0] ** 2
    if any([x[0] > 0.5, x[1] > 0.5, names is None]):
        s += x[1] ** 3
    if all((x[0] > -1.0, x[2] > 0.0)) or not bool(names):
        s += x[2] * x[0]
    return s


def test_any_and_all(tried: list[bool]) -> None:
    for x in (X, -X, 3.0 * X):
        agrees(any_or_all, x, ("a", "b"))
    value_and_grad(any_or_all, compile=True)(X, ("a", "b"))
    require_compiled(any_or_all, tried)
