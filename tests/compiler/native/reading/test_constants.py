"""Structure that is global, captured or an attribute of a class, as it is in each call."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])
STAGES = (("half", 0.5, (1, 2)), ("whole", 1.0, (0, 2)))
NAMES = frozenset({"half", "third"})
SETTINGS: dict[str, Any] = {}
ROWS: list[Any] = []
KINDS: set[str] = set()
WEIGHTS = ModuleType("weights")
PAIR = (np.array([1.0, 2.0]), 3.0)


class Model:
    powers = (1, 2)
    rates = [0.5, 1.5]
    options = {"scale": 2.0, "kind": "plain"}
    label = "model"

    def __init__(self):
        self.runs = 0

    def run(self, x):
        s = 0.0
        for k, (p, rate) in enumerate(zip(self.powers, self.rates, strict=True)):
            s += rate * x[k] ** p
        if self.options["kind"] == "plain" and self.label in self.options["kind"] + "model":
            s *= self.options["scale"]
        return s


def of_tuples(x):
    s = 0.0
    for name, rate, (i, j) in STAGES:
        if name in NAMES and name in {"half", "other"}:
            s += rate * x[i] * x[j]
        elif len(STAGES) == 2 and STAGES[1][0] == name:
            s += rate * np.sin(x[i] + x[j])
    return s * PAIR[0][1] + PAIR[1]


@pytest.mark.parametrize("f", [of_tuples, lambda x: Model().run(x)])
def test_structure_that_nothing_changes(f: Any, tried: list[bool]) -> None:
    agrees_compiled(f, tried, X)


def of_settings(x):
    s = x[0] * x[1] * SETTINGS["rate"]
    if SETTINGS.get("kind", "none") == "cubic" and "z" in KINDS:
        s *= x[2] ** 2
    for name, value in ROWS:
        s += value * x[0] if name == "first" else np.sum(value * x)
    return s + len(KINDS) * x[2] * WEIGHTS.scale[0]


def test_structure_that_changes_between_calls(tried: list[bool]) -> None:
    WEIGHTS.scale = np.array([2.0])
    SETTINGS["rate"] = 2.0

    def changed(key: str, value: Any) -> None:
        SETTINGS[key] = value

    steps = [
        lambda: changed("rate", 3.0),
        lambda: changed("kind", "cubic"),
        lambda: KINDS.add("z"),
        lambda: ROWS.append(("first", 2.0)),
        lambda: ROWS.append(("other", X[::-1].copy())),
        lambda: ROWS[1][1].fill(2.0),
        lambda: ROWS.__setitem__(0, ("second", 5.0)),
        lambda: SETTINGS.pop("kind"),
        lambda: WEIGHTS.scale.fill(-1.0),
        lambda: setattr(WEIGHTS, "scale", np.array([3.0, 4.0])),
    ]
    value_and_grad(of_settings, compile=True)(X)
    require_compiled(of_settings, tried)
    for step in steps:
        step()
        agrees(of_settings, X)


def test_attributes_of_a_class_that_change(tried: list[bool]) -> None:
    def f(x):
        return Model().run(x)

    try:
        agrees_compiled(f, tried, X)
        Model.rates[1] = -2.0
        agrees_compiled(f, tried, X)
        Model.options["kind"] = "other"
        agrees(f, X)
        Model.powers = (2, 3)
        agrees(f, X)
    finally:
        Model.rates[1], Model.options["kind"], Model.powers = 1.5, "plain", (1, 2)


def written_within(x):
    SETTINGS["last"] = x[0]
    ROWS.append(1.0)
    return SETTINGS["last"] * x[1] * len(ROWS)


def test_global_structure_that_is_written(tried: list[bool]) -> None:
    before = dict(SETTINGS), list(ROWS)
    SETTINGS["last"] = 1.0
    for _ in range(2):
        found, expected = (
            value_and_grad(written_within, compile=way)(X.copy()) for way in (True, False)
        )
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1])
    SETTINGS.clear()
    SETTINGS.update(before[0])
    ROWS[:] = before[1]


class Held:
    def __init__(self, rate):
        self.rate = rate


HELD = [Held(2.0), Held(3.0)]


def of_objects(x):
    return x[0] * sum(h.rate for h in HELD)


def test_global_structure_with_objects(tried: list[bool]) -> None:
    agrees(of_objects, X)
    HELD[0].rate = 5.0
    agrees(of_objects, X)
    assert report(of_objects)
