"""Loops over iterators that nobody else has, and over those that somebody has, in second runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mooncake_py import grad, vjp
from mooncake_py.language.outside_iterators import holds_its_own

XS, WEIGHTS = [1.0, 2.0, 3.0, 4.0], [0.5, 1.5, 2.5, 3.5]


class Holder:
    pass


def temporary(x: Any) -> Any:
    return sum(a * w * x**i for i, (a, w) in enumerate(zip(XS, WEIGHTS, strict=True)))


def variable(x: Any) -> Any:
    pairs = zip(XS, WEIGHTS, strict=True)
    for a, w in pairs:
        x = x * a + w
        break
    for a, w in pairs:
        x = x * w - a
    return x


def within(x: Any) -> Any:
    inner = iter(XS)
    for a, w in zip(inner, WEIGHTS[:2], strict=False):
        x = x * a + w
    for a in inner:
        x = x * a
    return x


def attribute(x: Any) -> Any:
    holder = Holder()
    holder.items = enumerate(XS)  # pyright: ignore[reportAttributeAccessIssue]
    next(holder.items)  # pyright: ignore[reportAttributeAccessIssue]
    for i, a in holder.items:  # pyright: ignore[reportAttributeAccessIssue]
        x = x * a + i
    return x


def in_list(x: Any) -> Any:
    held = [iter(XS), zip(XS, XS, strict=True)]
    for a, b in held.pop():
        x = x + a * b
    for a in held[0]:
        x = x * a
    return x


def of_caller() -> Any:
    outer, pairs, held = iter(XS), zip(XS, WEIGHTS, strict=True), [iter(WEIGHTS)]

    def f(x: Any) -> Any:
        for a, w in zip(outer, WEIGHTS[:1], strict=False):
            x = x * a + w
        for a, w in pairs:
            x = x * w + a
            break
        for w in held.pop():
            x = x * w
        for _, a in enumerate(outer):
            x = x * a
        return x

    return f


@pytest.mark.parametrize("f", [temporary, variable, within, attribute, in_list, of_caller])
def test_second_runs_take_the_same(f: Any) -> None:
    made = (lambda: f()) if f is of_caller else (lambda: f)
    value = made()(1.25)
    slope = (made()(1.25 + 1e-6) - made()(1.25 - 1e-6)) / 2e-6
    found, pullback = vjp(made(), 1.25)
    assert found == value
    for _ in range(3):
        assert pullback(1.0)[0] == pytest.approx(slope, rel=1e-6)
    assert grad(made())(1.25) == pytest.approx(slope, rel=1e-6)


def generated() -> Iterator[float]:
    yield 1.0


def test_what_iterators_share_is_not_their_own() -> None:
    inner, shared = iter(XS), enumerate(XS)
    own = [
        *(inner, shared),
        zip(XS, enumerate(zip(XS, XS, strict=True)), strict=True),
    ]
    others = [
        *(enumerate(inner), zip(inner, XS, strict=True)),
        zip(XS, enumerate(zip(shared)), strict=True),
        *(enumerate(generated()), map(abs, XS), generated()),
    ]
    assert all(map(holds_its_own, own))
    assert not any(map(holds_its_own, others))
