"""The engine looks up callable objects without running their special methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy import ndarray

from mooncake_py import checkpoint, grad, hessian, hvp, ignore_derivatives, jvp, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError
from mooncake_py.rules import elsewhere
from tests.support.pairs import rotating

X = np.array([0.7, 1.3])
ASKED: list[str] = []


class Operation:
    """Twice its argument; notes each special method that runs, and equals everything."""

    factor = 2.0

    def __call__(self, v: Any) -> Any:
        return v * self.factor

    def __hash__(self) -> int:
        ASKED.append("hash")
        return hash(np.sin)

    def __eq__(self, other: object) -> bool:
        ASKED.append("eq")
        return True

    def __bool__(self) -> bool:
        ASKED.append("bool")
        return True

    def __len__(self) -> int:
        ASKED.append("len")
        return 1

    def __repr__(self) -> str:
        ASKED.append("repr")
        return "operation"

    def __getattr__(self, name: str) -> Any:
        ASKED.append(name)
        raise AttributeError(name)


twice = Operation()

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "called": lambda x: twice(x[0]) * x[1],
    "of_an_array": lambda x: twice(x).sum(),
    "mapped": lambda x: sum(map(twice, x)),
    "made": lambda x: Operation()(x[0]) * x[1],
    "key": lambda x: sorted(x, key=twice)[0] * x[1],
    "partial": lambda x: partial(twice, x[0])() * x[1],
    "reduced": lambda x: reduce(lambda a, b: a * twice(b), x),
    "argument": lambda x: (lambda f, v: f(v))(twice, x[0]) * x[1],
    "checkpoint": lambda x: checkpoint(twice, x[0]) * x[1],
    "vjp": lambda x: vjp(twice, x[0])[1](1.0)[0] * x[1],
    "ignored": lambda x: x[0] * ignore_derivatives(twice, 1.0) * x[1],
}
MODES: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "grad": lambda f: grad(f)(X),
    "forward": lambda f: grad(f, mode="forward")(X),
    "vjp": lambda f: vjp(f, X)[1](1.0)[0],
    "jvp": lambda f: [jvp(f, (X,), (e,))[1] for e in np.eye(2)],
    "compile": lambda f: grad(f, compile=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
    "prepared": lambda f: grad(f).prepare(X)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "outer": lambda f: grad(lambda x: grad(lambda y: f(y) * x[0])(X) @ np.ones(2))(X),
    "hvp": lambda f: hvp(f, (X,), X),
    "hessian": lambda f: hessian(f)(X),
}


def plain_slope(f: Callable[[Any], Any]) -> ndarray:
    """Return the gradient by central differences."""
    return np.array([(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(2)])


@pytest.mark.parametrize(("name", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_no_special_method_runs_that_the_program_does_not_run(name: str, mode: str) -> None:
    f = PROGRAMS[name]
    if mode == "compile":
        pytest.importorskip("llvmlite")
    f(X)
    assert not ASKED
    y = MODES[mode](f)
    assert not ASKED
    if mode not in ("outer", "hvp", "hessian"):
        np.testing.assert_allclose(y, plain_slope(f), atol=1e-8)


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    ASKED.clear()


@pytest.mark.parametrize("mode", MODES)
def test_spies_see_the_calls_of_the_program_only(mode: str) -> None:
    if mode == "compile":
        pytest.importorskip("llvmlite")
    if mode == "debug":
        pytest.skip("a spy's records are not undone in sight of debug mode")
    spy = mock.MagicMock()
    spy.solve.return_value = 2.0
    MODES[mode](lambda x: x[0] * spy.solve(3.0) * x[1])
    names = {name for name, _, _ in spy.mock_calls}
    assert names <= {"solve"}


def test_a_value_that_counts_is_right_each_time() -> None:
    class Counted:
        asked = 0

        def __call__(self, v: Any) -> Any:
            return 2.0 * v

        def __hash__(self) -> int:
            Counted.asked += 1
            return 1

    counted = Counted()

    def f(x: Any) -> Any:
        return counted(x[0]) * (1 + Counted.asked)

    for mode in ("reverse", "forward"):
        y, dy = value_and_grad(f, mode=mode)(X)
        np.testing.assert_allclose((y, *dy), (1.4, 2.0, 0.0))
    assert Counted.asked == 0


HOOKS: dict[str, Callable[..., Any]] = {
    "__hash__": lambda cls: ASKED.append("hash") or 7,
    "__eq__": lambda cls, other: ASKED.append("eq") or cls is other,
    "__getattr__": lambda cls, name: ASKED.append(name) or getattr(object, name),
}


@pytest.mark.parametrize(("hook", "mode"), rotating(HOOKS, MODES, times=2))
def test_classes_that_note_who_looks_them_up_are_refused(hook: str, mode: str) -> None:
    if mode == "compile":
        pytest.importorskip("llvmlite")
    meta = type("Meta", (type,), {"__hash__": type.__hash__, hook: HOOKS[hook]})

    def keep(self: Any, v: Any) -> None:
        self.v = v

    cls: Any = meta("Kept", (), {"__init__": keep})
    with pytest.raises(DerivativeDropError, match="compiled code is about to call it"):
        MODES[mode](lambda x: cls(x[0]).v * x[1])
    assert not ASKED


@pytest.mark.plain
def test_instances_of_classes_that_note_look_ups_are_refused() -> None:
    one: Any = type("Meta", (type,), HOOKS)("Kept", (), {"v": 2.0})()
    with pytest.raises(DerivativeDropError, match="compiled code is about to call it"):
        grad(lambda x: one.v * x[0])(X)
    ASKED.clear()
    with pytest.raises(DerivativeDropError, match="compiled code is about to call it"):
        grad(lambda x: type(one).v * x[0])(X)


@pytest.mark.parametrize("name", PROGRAMS)
def test_none_runs_where_rules_of_another_process_are_expected(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = elsewhere.Declaration(("nowhere", 1), None, "")
    monkeypatch.setattr(elsewhere, "_expected", {rule.key: rule})
    grad(PROGRAMS[name])(X)
    assert not ASKED
