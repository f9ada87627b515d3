"""Every derivative that a test takes is right in every mode; and the checks of that find errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from mooncake_py import elementwise, from_vjp, grad, ignore_derivatives, jvp, value_and_grad, vjp
from mooncake_py.compiler.statements.array_forms import ArrayForm
from tests.support.folders import ENGINE, ROOT, Part, parts_of, run
from tests.support.modes import checks, nested, variants
from tests.support.modes.checks import MODES, ModeError, Skipped, check_record
from tests.support.modes.problem import Problem
from tests.support.modes.recording import Record, recording
from tests.support.modes.refusals import DOCUMENTED, Limitation

pytestmark = pytest.mark.without_modes("derivatives are wrong here on purpose")

X = np.array([0.3, -1.2, 0.7])


def energy(x: Any, scale: float = 2.0) -> Any:
    x[1:] += scale * x[:-1] ** 2
    return np.sum(np.sin(x) * x)


def recorded(take: Any) -> Record:
    """Return the only derivative that a function takes."""
    with recording() as records:
        take()
    (record,) = records
    return record


def check(record: Record, modes: Any = MODES) -> Counter[str]:
    counts: Counter[str] = Counter()
    check_record(record, list(modes), 1, counts)
    return counts


# What is recorded.


@pytest.mark.sampled(5)
@pytest.mark.parametrize("take", [
    lambda: grad(energy)(X), lambda: value_and_grad(energy, "x")(x=X, scale=1.0),
    lambda: grad(energy, (0, 1))(X, 0.5), lambda: vjp(energy, X), lambda: jvp(energy, (X,), (X,)),
    lambda: grad(lambda x: (energy(x), {"a": x}), has_aux=True)(X),
    lambda: grad(lambda p: energy(p["x"]) * p["s"][0])({"x": X, "s": [2.0]}),
])  # fmt: skip
def test_each_way_to_a_derivative_is_recorded_and_right(take: Any) -> None:
    counts = check(recorded(take))
    assert all(counts[f"tried {mode.__name__}"] == 1 for mode in MODES)
    assert counts["variants accepted"] > 0


@pytest.mark.parametrize("mode", [checks.forward, checks.twice])
def test_a_rule_that_draws_as_it_computes_a_derivative_is_found(mode: Any) -> None:
    def doubled(x: Any) -> Any:
        return 2.0 * x

    @from_vjp(doubled)
    def rule(x: Any) -> Any:
        def pullback(dy: Any) -> Any:
            np.random.random()  # noqa: NPY002
            return (2.0 * dy,)

        return 2.0 * x, pullback

    def f(x: Any) -> Any:
        return np.sum(doubled(x)) + 0.0 * np.random.random()  # noqa: NPY002

    record = recorded(lambda: grad(f)(X))
    with pytest.raises(ModeError, match="as after a plain call"):
        check(record, [mode])
    problem, expected = Problem(f, (X,), (0,)), (2.0 * X.sum(), (2.0 * np.ones(3),))
    with pytest.raises(ModeError, match="as after a plain call"):
        mode(problem, expected, np.random.default_rng(0), Counter())


def test_derivatives_inside_others_are_not_recorded() -> None:
    recorded(lambda: grad(lambda x: np.sum(grad(energy)(x)))(X))


@pytest.mark.parametrize("change", ["argument", "state"])
def test_what_cannot_be_taken_again_is_left_out(change: str) -> None:
    x, state = X.copy(), [1.0]
    record = recorded(lambda: grad(lambda x: energy(x) * state[0])(x))
    if change == "argument":
        x[0] = 5.0
    else:
        state[0] = 3.0
    with pytest.raises(Skipped, match="changed"):
        check(record)


def test_a_function_is_as_precise_as_the_dtypes_that_it_names_or_has_captured() -> None:
    dtype = "f4"
    for f in (lambda x: x.astype(dtype), lambda x: x.astype("f4"), lambda x: np.float32(x)):
        assert Problem(f, (X,), (0,)).rtol() == 1e3 * float(np.finfo(np.float32).eps)
    assert Problem(energy, (X,), (0,)).rtol() == 1e-9


# What is found.


def test_a_tangent_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    record = recorded(lambda: grad(energy)(X))
    monkeypatch.setattr(Problem, "slope", lambda self, t: (energy(X.copy()), 1.0))
    with pytest.raises(ModeError, match="forward: the derivative along a direction"):
        check(record, [checks.forward])


@pytest.mark.parametrize("infinite", [False, True])
def test_a_tangent_that_is_nan_is_found_where_the_value_is_finite(
    infinite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = np.inf if infinite else 0.0
    record = recorded(lambda: grad(lambda x: np.sum(x) + value)(X))
    monkeypatch.setattr(Problem, "slope", lambda self, t: (np.sum(X) + value, np.nan))
    if infinite:
        counts = check(record, [checks.forward])
        assert counts["left out: forward, nan where the value is not finite"] == 1
    else:
        with pytest.raises(ModeError, match="forward: the derivative along a direction: got nan"):
            check(record, [checks.forward])


def test_a_pullback_that_gives_something_else_again_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = recorded(lambda: grad(energy)(X))
    calls = []

    def pullback(dy: Any) -> Any:
        calls.append(dy)
        return (grad(energy)(X) * len(calls),)

    monkeypatch.setattr(Problem, "pullback", lambda self: (energy(X.copy()), pullback))
    with pytest.raises(ModeError, match="twice: a second call of the pullback"):
        check(record, [checks.twice])


@pytest.mark.parametrize("mode", [nested.inside_forward, nested.inside_reverse])
def test_a_second_derivative_that_is_wrong_is_found(mode: Any) -> None:
    def slope(x: Any) -> Any:
        return ignore_derivatives(np.cos, x)

    def sine(x: Any) -> Any:
        return np.sin(x)

    elementwise(sine, lambda x, y: slope(x))
    record = recorded(lambda: grad(lambda x: np.sum(sine(x)))(X))
    with pytest.raises(ModeError, match="the second derivative"):
        check(record, [mode])


def test_a_quick_form_that_serves_other_shapes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def affine(w: Any, x: Any, b: Any) -> Any:
        y = w * x + b
        return np.sum(y * y)

    monkeypatch.setattr(ArrayForm, "misshapen", lambda self, full: [])
    record = recorded(lambda: grad(affine, (0, 1, 2))(X, 2 * X, np.array([0.5])))
    with pytest.raises(ModeError, match="other_shapes: argument"):
        check(record, [variants.other_shapes])


@pytest.mark.parametrize("limitation", DOCUMENTED, ids=lambda limitation: limitation.message)
def test_what_may_be_refused_is_documented(limitation: Limitation) -> None:
    assert limitation.sentence in (ROOT / limitation.document).read_text()


# The whole suite.

OTHERS = ("rules", "science", "testing", "utilities", "reflection", "test_*.py")


@pytest.mark.slow
@pytest.mark.parametrize("part", parts_of(*ENGINE, *OTHERS), ids=str)
def test_derivatives_of_the_other_tests_are_right_in_every_mode(part: Part) -> None:
    failed = run(part, "tests.support.every_mode")
    assert failed is None, failed
