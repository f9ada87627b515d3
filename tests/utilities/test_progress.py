"""Telling how far a derivative is: what is counted, when, and what stays as it was."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    Progress,
    checkpoint,
    checkpointed,
    checkpointed_loop,
    checkpointed_while,
    grad,
    hessian,
    progress,
    value_and_grad,
    vjp,
)
from mooncake_py.modes.reverse.settings import new_context
from mooncake_py.recomputation.loop import runs, split


def energy(u, steps=20):
    for _ in range(steps):
        u[1:] += 0.1 * np.sin(u[:-1])
    return np.sum(u * u)


def line() -> np.ndarray:
    return np.linspace(0.1, 1.0, 5)


def reports_of(f: Any, *args: Any, every: float = 0.0, **options: Any) -> list[Progress]:
    """Return what is reported of a gradient, which must be the same as without reports."""
    found: list[Progress] = []
    before = [np.copy(a) for a in args]
    with progress(found.append, every=every):
        value, g = value_and_grad(f, **options)(*args)
    expected_value, expected = value_and_grad(f)(*args)
    assert value == expected_value
    np.testing.assert_array_equal(g, expected)
    for a, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, old)
    return found


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize("debug", [False, True])
def test_entries_of_both_passes_are_counted(debug):
    found = reports_of(energy, line(), debug=debug)
    forward = [p for p in found if p.phase == "forward"]
    reverse = [p for p in found if p.phase == "reverse"]
    assert found == forward + reverse
    total = forward[-1].entries
    assert [p.entries for p in forward] == [*range(1, total + 1), total]
    assert [p.entries for p in reverse] == [*range(1, total + 1)]
    assert all(p.total_entries is None for p in forward)
    assert all(p.total_entries == total for p in reverse)
    assert all(p.steps is None and p.total_steps is None for p in found)
    assert sorted(p.seconds for p in found) == [p.seconds for p in found]
    assert str(forward[-1]) == f"forward: {total} entries"
    assert str(reverse[0]) == f"reverse: 1 of {total} entries"


def test_long_intervals_leave_the_end_of_each_pass():
    first, last = reports_of(energy, line(), every=1e6)
    assert (first.phase, last.phase) == ("forward", "reverse")
    assert first.entries == last.entries == last.total_entries


def test_part_that_runs_again_adds_its_entries():
    found = reports_of(lambda u: checkpoint(energy, u), line())
    reverse = [p for p in found if p.phase == "reverse"]
    totals = [p.total_entries for p in reverse]
    assert totals == sorted(totals)
    assert [p.entries for p in reverse] == sorted(p.entries for p in reverse)
    assert totals[0] < totals[-1]
    assert totals[-1] == reverse[-1].entries > reports_of(energy, line())[-1].entries


def in_slots(u):
    for _ in checkpointed(range(20), slots=3):
        energy(u, 2)
    return np.sum(u)


def by_function(u):
    def step(u, _):
        energy(u, 2)
        return u

    return np.sum(checkpointed_loop(step, u, range(20), slots=3))


def loop_in_a_loop(u):
    for _ in checkpointed(range(20), slots=3):
        for _ in checkpointed(range(4), slots=2):
            energy(u, 1)
    return np.sum(u)


def two_loops(u):
    for _ in checkpointed(range(20), slots=3):
        energy(u, 1)
    for _ in checkpointed(range(5), slots=2):
        energy(u, 1)
    return np.sum(u)


def loop_in_a_part(u):
    checkpoint(in_slots, u)
    return np.sum(u)


def ended(u):
    for k in checkpointed(range(20), slots=3):
        energy(u, 1)
        if k == 10:
            break
    return np.sum(u)


SLOTS_3 = runs(20, 3)


@pytest.mark.parametrize(("f", "expected"), [
    (in_slots, SLOTS_3), (by_function, SLOTS_3), (loop_in_a_loop, SLOTS_3),
    (two_loops, SLOTS_3 + runs(5, 2)), (loop_in_a_part, 20 + SLOTS_3),
])  # fmt: skip
def test_steps_of_checkpointed_loops_are_counted(f, expected):
    found = reports_of(f, line())
    assert found[-1].steps == found[-1].total_steps == expected
    steps = [p.steps for p in found if p.steps is not None]
    assert steps == sorted(steps)
    assert set(steps) >= set(range(1, expected + 1))


def test_total_of_steps_is_a_bound_or_unknown():
    last = reports_of(ended, line())[-1]
    assert last.steps is not None
    assert last.steps < last.total_steps == SLOTS_3

    def halve(u):
        return checkpointed_while(lambda u: u * 0.5, u, lambda u: np.sum(u) > 0.1, slots=2)

    last = reports_of(lambda u: np.sum(halve(u)) + in_slots(u), line())[-1]
    assert last.steps > SLOTS_3
    assert last.total_steps is None
    assert str(last).endswith(f"entries, {last.steps} steps")


@pytest.mark.parametrize("slots", [1, 2, 5, 30])
def test_predicted_runs_are_those_of_the_schedule(slots):
    def again(count, slots):
        if count <= 1:
            return 0
        middle = split(count, slots)
        return middle + again(count - middle, slots - 1) + again(middle, slots)

    for count in [*range(30), 100]:
        assert runs(count, slots) == count + again(count, slots)


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
@pytest.mark.parametrize("phase", ["forward", "reverse"])
@pytest.mark.parametrize("f", [energy, in_slots])
def test_what_the_callback_raises_ends_the_derivative(f, phase):
    class Enough(Exception):
        pass

    def stop(p):
        if p.phase == phase and p.entries > 3:
            raise Enough

    u = line()
    with progress(stop, every=0.0), pytest.raises(Enough) as caught:
        grad(f)(u)
    np.testing.assert_array_equal(u, line())
    assert not any("adjoint" in note for note in getattr(caught.value, "__notes__", ()))
    np.testing.assert_array_equal(grad(energy)(u), grad(energy)(line()))


def test_only_the_outermost_derivative_is_reported():
    def inner(u):
        return np.sum(grad(energy)(u))

    found = reports_of(inner, line())
    assert [p.phase for p in found] == sorted(p.phase for p in found)
    found.clear()
    with progress(lambda p: (found.append(p), grad(energy)(line())), every=1e6):
        grad(energy)(line())
        hessian(lambda u: np.sum(u**3))(line())
    assert [p.phase for p in found[:2]] == ["forward", "reverse"]


def test_vjp_is_reported_as_long_as_the_block_runs():
    found: list[Progress] = []
    with progress(found.append, every=1e6):
        _, pullback = vjp(energy, line())
        assert found == []
        pullback(1.0)
        assert [p.phase for p in found] == ["forward", "reverse"]
        _, later = vjp(energy, line())
    expected = grad(energy)(line())
    np.testing.assert_array_equal(later(1.0)[0], expected)
    assert len(found) == 2


def test_other_threads_and_calls_outside_have_no_meter():
    def has_meter() -> bool:
        return new_context(None, energy, (), {}).meter is not None

    elsewhere: list[bool] = []
    with progress(lambda p: elsewhere.append(has_meter())):
        assert has_meter()
        thread = threading.Thread(target=lambda: elsewhere.append(has_meter()))
        thread.start()
        thread.join()
        grad(energy)(line())
    assert elsewhere == [False] * 3
    assert not has_meter()


# Bars.


class FakeBar:
    def __init__(self, log: list[Any], **options: Any) -> None:
        self.log, self.options = log, options
        self.n, self.total = 0, options["total"]

    def refresh(self) -> None:
        self.log.append((self.options["desc"], self.n, self.total))

    def close(self) -> None:
        self.log.append("closed")


def test_bars_show_entries_or_steps(monkeypatch):
    log: list[Any] = []
    package, module = ModuleType("tqdm"), ModuleType("tqdm.auto")
    module.tqdm = lambda **options: FakeBar(log, **options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", package)
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    with progress(every=1e6):
        grad(energy)(line())
    n = log[0][1]
    assert log == [("forward", n, None), "closed", ("reverse", n, n), "closed"]
    log.clear()
    with progress(every=1e6):
        grad(in_slots)(line())
    assert [entry for entry in log if entry != "closed"][-1] == ("steps", SLOTS_3, SLOTS_3)
    assert log.count("closed") == 1


def test_without_tqdm_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="tqdm, which is not installed"), progress():
        pass
    assert new_context(None, energy, (), {}).meter is None
