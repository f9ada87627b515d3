"""Which rule answers for a function."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import elementwise, from_vjp, rrule, rule_of
from mooncake_py.rules.kinds import ElementwiseRule

FUNCTIONS = [
    (np.sin, "a rule by partial derivatives"),
    (np.sum, "a rule by the adjoint of a linear map"),
    (np.ones(2).sum, "a rule by the adjoint of a linear map"),
    (np.matmul, "a rule by the adjoints of a bilinear map"),
    (np.linalg.svd, "a rule by output and pullback"),
    (math.floor, "a rule that says it has no derivative"),
    (functools.reduce, "a replacement in Python"),
    (np.average, "derived from its source; its commonest calls have a rule"),
    (np.piecewise, "derived from its source"),
    (len, "runs as it is, and passes values on"),
    ([].append, "run by the engine, which records what changes"),
    ("a".upper, "runs as it is"),
    (np.datetime_data, "compiled, without a rule: runs on constants, and is refused else"),
]


@pytest.mark.parametrize(("f", "kind"), FUNCTIONS, ids=lambda v: getattr(v, "__name__", ""))
def test_kind(f: Any, kind: str) -> None:
    use = rule_of(f)
    assert use.kind == kind
    assert str(use).startswith(f"{use.name}: {kind}")


def test_place_of_declaration() -> None:
    def ours(x):
        return x

    def by_hand(x):
        return x

    elementwise(ours, lambda x, y: 1.0)
    use = rule_of(ours)
    assert type(use.rule) is ElementwiseRule
    assert use.where is not None
    assert use.where.file == __file__
    assert use.where.line == test_place_of_declaration.__code__.co_firstlineno + 7
    assert str(use).endswith(f"test_rules.py:{use.where.line}")

    @rrule.register(by_hand)
    def by_hand_rrule(_: Any, x: Any) -> Any:
        raise NotImplementedError

    assert rule_of(by_hand).kind == "a handwritten rule"

    @from_vjp(by_hand, replace=True)
    def by_hand_vjp(x):
        return x, lambda dy: (dy,)

    assert rule_of(by_hand).kind == "a rule by output and pullback"


def test_source_that_is_derived() -> None:
    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return x * self.w

    for f in (Model, Model(1.0), Model(1.0).__call__, lambda x: x):
        use = rule_of(f)
        assert use.kind == "derived from its source"
        assert use.where is not None
        assert use.where.file == __file__
    assert rule_of(int).kind == "runs as it is, and passes values on"


def test_what_cannot_be_hashed() -> None:
    class Odd(list[Any]):
        def __call__(self, x):
            return x

    assert rule_of(Odd()).kind == "derived from its source"
