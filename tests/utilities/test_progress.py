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
from mooncake_py.diagnostics import meter, steps
from mooncake_py.frontend.load import derive
from mooncake_py.modes.reverse.settings import new_context
from mooncake_py.recomputation.loop import runs, split
from mooncake_py.utilities.progress import Bars


def energy(u, steps=20):
    for _ in range(steps):
        u[1:] += 0.1 * np.sin(u[:-1])
    return np.sum(u * u)


def line() -> np.ndarray:
    return np.linspace(0.1, 1.0, 5)


def reports_of(f: Any, *args: Any, every: float = 0.0, **options: Any) -> list[Progress]:
    """Return the reports of a gradient, which must be the same as without reports."""
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
    assert sorted({p.entries for p in forward} | {0}) == [*range(total + 1)]
    assert [p.entries for p in forward] == sorted(p.entries for p in forward)
    assert [p.entries for p in reverse] == [*range(1, total + 1)]
    assert all(p.total_entries is None for p in forward)
    assert all(p.total_entries == total for p in reverse)
    for each in (forward, reverse):
        steps = [p.steps or 0 for p in each]
        assert steps == sorted(steps)
        assert set(steps) == set(range(21))
        assert all(p.total_steps == 20 for p in each if p.steps is not None)
    assert sorted(p.seconds for p in found) == [p.seconds for p in found]
    assert str(forward[-1]) == f"forward: 20 of 20 steps, {total} entries"
    assert str(reverse[0]).startswith(f"reverse: 0 of 20 steps, 1 of {total} entries, ")
    assert str(reverse[0]).endswith(" s left")


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


@pytest.mark.sampled(3)
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
    assert str(last).startswith(f"reverse: {last.steps} steps, ")


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
    with progress(lambda p: elsewhere.append(has_meter()), every=1e9):  # the first and last report
        assert has_meter()
        thread = threading.Thread(target=lambda: elsewhere.append(has_meter()))
        thread.start()
        thread.join()
        grad(energy)(line())
    assert elsewhere == [False] * 3
    assert not has_meter()


# Loops.


def helper(u):
    for _ in range(3):
        u *= 1.01


def nested(u):
    for _ in range(4):
        for _ in range(5):
            helper(u)
        t = 0
        while t < 3:
            helper(u)
            t += 1
    return np.sum(u)


def one_after_the_other(u):
    helper(u)
    for _ in range(4):
        helper(u)
    return np.sum(u)


def while_loop(u):
    t = 0
    while t < 6:
        helper(u)
        t += 1
    else:
        helper(u)  # a part of the loop
    return np.sum(u)


def left_early(u):
    for k in range(10):
        helper(u)
        if k == 3:
            break
    while True:
        helper(u)
        if u[0] < 100.0:
            break
    return returned(u)


def returned(u):
    while True:
        for _ in range(2):
            helper(u)
        return np.sum(u)


def raised(u):
    try:
        for k in range(10):
            helper(u)
            if k == 2:
                raise KeyError
    except KeyError:
        pass
    for _ in range(2):
        helper(u)
    return np.sum(u)


def over_values(u):
    for a, b in zip(u.tolist(), [1.0, 2.0], strict=False):
        helper(u)
        u[0] += a * b
    for v in generated(u):
        u[1] += v
    return np.sum(u)


def generated(u):
    for k in range(4):
        helper(u)
        yield u[k]


def around_checkpoints(u):
    for _ in range(3):
        in_slots(u)
    return np.sum(u)


def around_parts_that_run_again(u):
    for _ in range(4):
        checkpoint(energy, u)
    return np.sum(u)


def twice(u):
    k = 0
    while k < 2:
        helper(u)
        k += 1


def while_in_while(u):
    t = 0
    while t < 3:
        twice(u)
        t += 1
    return np.sum(u)


LOOPS = [
    (nested, 4), (one_after_the_other, 7), (while_loop, 6), (left_early, 6), (raised, 5),
    (over_values, 6), (around_checkpoints, 3), (while_in_while, 3),
    (around_parts_that_run_again, 4),
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.without_modes("compiled functions are one entry", "compiled")
@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(("f", "expected"), LOOPS)
def test_steps_of_outermost_loops_are_counted(f, expected, debug):
    found = reports_of(f, line(), debug=debug)
    for phase in ("forward", "reverse"):
        told = [p for p in found if p.phase == phase and p.steps is not None]
        steps = [p.steps for p in told]
        assert steps == sorted(steps)
        assert set(steps) >= set(range(expected + 1)) - {0}
        assert (told[-1].steps, told[-1].total_steps) == (expected, expected)
        if phase == "reverse":
            assert all(p.total_steps == expected for p in told)
        else:
            assert all(p.total_steps is None or p.total_steps >= p.steps for p in told)


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
def test_the_number_of_steps_is_known_from_the_beginning_where_it_is_said():
    first = next(p for p in reports_of(nested, line()) if p.steps is not None)
    assert (first.steps, first.total_steps) == (0, 4)
    first = next(p for p in reports_of(while_loop, line()) if p.total_steps is None)
    assert first.phase == "forward"


def test_loops_within_steps_of_checkpointed_ones_are_left_alone():
    watched = meter.Meter(meter.Reporter(lambda p: None, 1.0), [])
    items = range(3)
    assert watched.steps_of(items) is not items
    watched.runs.within_step = True
    assert watched.steps_of(items) is items


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
def test_parts_that_run_again_do_not_count_their_loops_again():
    found = reports_of(lambda u: checkpoint(nested, u), line())
    assert found[-1].steps == found[-1].total_steps == 4
    assert all(p.steps <= p.total_steps for p in found if p.steps is not None)


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
def test_time_left_is_that_of_the_steps_at_the_pace_so_far(monkeypatch: pytest.MonkeyPatch):
    clock = Clock()
    monkeypatch.setattr(meter, "perf_counter", clock)
    monkeypatch.setattr(steps, "perf_counter", clock)

    def f(u):
        clock.now += 100.0  # before the loop: no part of its pace
        for _ in range(4):
            clock.now += 10.0
            u *= np.sin(u)
        return np.sum(u)

    found: list[Progress] = []
    with progress(found.append, every=0.0):
        grad(f)(line())
    left: dict[Any, Any] = {}
    for p in found:
        if p.phase == "forward" and p.steps:
            left.setdefault(p.steps, []).append(p.seconds_left)
    assert [left[n][0] for n in range(1, 5)] == [30.0, 20.0, 10.0, None]
    assert left[2][-1] == 10.0  # at the end of the third step
    assert max(p.seconds for p in found) == 140.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_left_on_the_way_back_and_of_checkpointed_loops():
    assert steps.remaining(10.0, 2, 5) == 15.0
    assert steps.remaining(10.0, 0, 5) is None
    assert steps.remaining(10.0, 7, 5) == 0.0
    found = reports_of(in_slots, line())
    assert found[-1].seconds_left == 0.0
    assert all(p.seconds_left is not None for p in found if p.steps)


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
def test_nothing_is_counted_outside():
    def counts() -> bool:
        return any("meter" in name for name in derive(helper.__code__, globals()).code.co_names)

    with progress(lambda p: None):
        grad(energy)(line())
    assert not counts()
    grad(energy)(line())
    assert not counts()


# Bars.


class FakeBar:
    def __init__(self, log: list[Any], **options: Any) -> None:
        self.log, self.options = log, options
        self.n = self.opened_at = options["initial"]
        self.total = options["total"]

    def refresh(self) -> None:
        self.log.append((self.options["desc"], self.options["unit"], self.n, self.total))

    def close(self) -> None:
        self.log.append("closed")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the output of bars."""
    log: list[Any] = []
    package, module = ModuleType("tqdm"), ModuleType("tqdm.auto")
    module.tqdm = lambda **options: FakeBar(log, **options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", package)
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    return log


@pytest.mark.without_modes("compiled functions are one entry", "compiled")
def test_bars_show_steps_or_entries(log: list[Any]):
    with progress(every=1e6):
        grad(energy)(line())
    steps = " steps", 20, 20
    assert log == [("forward", *steps), "closed", ("reverse", *steps), "closed"]
    log.clear()
    with progress(every=1e6):
        grad(in_slots)(line())
    assert log[0] == ("forward", " steps", 20, SLOTS_3)
    assert log[-2:] == [("reverse", " steps", SLOTS_3, SLOTS_3), "closed"]
    log.clear()
    with progress(every=1e6):
        grad(lambda u: np.sum(u * np.sin(u)))(line())
    n = log[0][2]
    assert log == [
        ("forward", " entries", n, None), "closed", ("reverse", " entries", n, n), "closed",
    ]  # fmt: skip


def test_a_bar_opens_with_what_was_done_before(monkeypatch: pytest.MonkeyPatch, log: list[Any]):
    """Or it would begin at billions of steps a second."""
    bars = Bars()
    bars(Progress("forward", 500, None, 70, 100, 1.0))
    assert bars.bar.opened_at == 70
    bars(Progress("forward", 600, None, 80, 100, 1.0))
    assert (bars.bar.opened_at, bars.bar.n) == (70, 80)


def test_without_tqdm_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="tqdm, which is not installed"), progress():
        pass
    assert new_context(None, energy, (), {}).meter is None
