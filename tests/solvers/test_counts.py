"""Callbacks that only count, set flags or log their points: the solver runs once, on plain numbers.

Their values, derivatives and what they leave are those of the general way.
"""

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, grad, hessian, implicit, jvp, value_and_grad
from tests.support.pairs import rotating

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")

pytestmark = pytest.mark.without_modes("the programs read what callbacks have captured")

Note = Callable[[Any], None]


class Counter:
    total = 0

    def __init__(self) -> None:
        self.calls = 0
        self.last: Any = None

    def note(self, x: Any) -> None:
        self.calls += 1
        self.last = x


class Slotted:
    __slots__ = ("calls",)


in_global = 0


def by_attribute() -> tuple[Note, Callable[[], Any]]:
    counter = Counter()
    return counter.note, lambda: counter.calls


def by_slot() -> tuple[Note, Callable[[], Any]]:
    held = Slotted()
    held.calls = 0

    def note(x: Any) -> None:
        held.calls += 1

    return note, lambda: held.calls


def by_class() -> tuple[Note, Callable[[], Any]]:
    class Own:
        calls = 0

    def note(x: Any) -> None:
        Own.calls += 1

    return note, lambda: Own.calls


def by_variable() -> tuple[Note, Callable[[], Any]]:
    calls = 0

    def note(x: Any) -> None:
        nonlocal calls
        calls += 1

    return note, lambda: calls


def by_global() -> tuple[Note, Callable[[], Any]]:
    before = in_global

    def note(x: Any) -> None:
        global in_global
        in_global += 1

    return note, lambda: in_global - before


def by_item() -> tuple[Note, Callable[[], Any]]:
    held = [0, 1.5]

    def note(x: Any) -> None:
        held[0] += 1

    return note, lambda: held[0] * held[1]


def by_key() -> tuple[Note, Callable[[], Any]]:
    held: dict[str, Any] = {"name": "f"}

    def note(x: Any) -> None:
        held["calls"] = held.get("calls", 0) + 1
        held["seen"] = True

    return note, lambda: held["calls"] + held["seen"]


def by_set() -> tuple[Note, Callable[[], Any]]:
    seen: set[int] = set()
    return lambda x: seen.add(len(seen)), lambda: len(seen)


def by_log() -> tuple[Note, Callable[[], Any]]:
    log: list[Any] = []
    return log.append, lambda: len(log)


def by_log_of_pairs() -> tuple[Note, Callable[[], Any]]:
    log: collections.deque[Any] = collections.deque()
    return lambda x: log.append((len(log), x)), lambda: log[-1][0]


def by_array() -> tuple[Note, Callable[[], Any]]:
    held = np.zeros(2, int)

    def note(x: Any) -> None:
        held[1] += 1

    return note, lambda: int(held[1])


WAYS = [by_attribute, by_slot, by_class, by_variable, by_global, by_item, by_key, by_set, by_log,
        by_log_of_pairs, by_array]  # fmt: skip


def root(note: Note, a: Any) -> Any:
    def r(x: Any) -> Any:
        note(x)
        return x * x - a

    return optimize.brentq(r, 0.1, 9.0, xtol=1e-13)


def root_of_two(note: Note, a: Any) -> Any:
    def r(x: Any) -> Any:
        note(float(x[0]))
        return [x[0] ** 2 - a, x[1] - x[0] * a]

    return optimize.fsolve(r, [1.0, 1.0], xtol=1e-13)[1]


def integral(note: Note, a: Any) -> Any:
    def f(x: Any, k: Any) -> Any:
        note(x)
        return np.exp(-k * x)

    return integrate.quad(f, 0.0, 1.0, args=(a,))[0]


def equation(note: Note, a: Any) -> Any:
    def slope(y: Any, t: Any) -> Any:
        note(t)
        return -a * y

    return integrate.odeint(slope, 1.0, [0.0, 1.0], rtol=1e-10, atol=1e-10)[-1, 0]


def lowest(note: Note, a: Any) -> Any:
    def f(x: Any) -> Any:
        note(float(x[0]))
        return (x[0] - a) ** 2 + 0.1 * x[0] ** 4

    return optimize.minimize(f, [1.0], tol=1e-12).x[0]


def own_solver(note: Note, a: Any) -> Any:
    def solve() -> Any:
        x = 1.0
        for _ in range(40):
            note(1.0)
            x = 0.5 * (x + a / x)
        return x

    return implicit(solve, lambda x: x * x - a)()


PROGRAMS = [root, root_of_two, integral, equation, lowest, own_solver]


@pytest.mark.parametrize(("program", "way"), rotating(PROGRAMS, WAYS, times=2))
def test_counts_as_in_plain_call(program: Any, way: Any) -> None:
    def counted(a: Any) -> Any:
        note, count = way()
        return program(note, a) * count()

    def uncounted(a: Any) -> Any:
        return program(lambda x: None, a)

    count = counted(2.0) / uncounted(2.0)
    expected = grad(uncounted)(2.0) * count
    value, slope = value_and_grad(counted)(2.0)
    np.testing.assert_allclose([value, slope], [counted(2.0), expected], rtol=1e-9)
    np.testing.assert_allclose(jvp(counted, (2.0,), (1.0,))[1], expected, rtol=1e-9)


def test_second_derivative() -> None:
    counter = Counter()

    def counted(a: Any) -> Any:
        return root(counter.note, a)

    np.testing.assert_allclose(hessian(counted)(4.0), -0.25 * 4.0**-1.5, rtol=1e-9)
    assert (counter.calls, counter.last) == (0, None)


def test_state_is_put_back() -> None:
    counter, log = Counter(), [1.5]

    def both(x: Any) -> None:
        counter.note(x)
        log.append(x)

    grad(lambda a: root(both, a))(2.0)
    assert (counter.calls, counter.last, log) == (0, None, [1.5])


def test_last_point_is_the_solution() -> None:
    def program(a: Any) -> Any:
        counter = Counter()
        root(counter.note, a)
        return counter.last * counter.calls

    count = program(2.0) / 2.0**0.5
    np.testing.assert_allclose(grad(program)(2.0), count * 0.5 / 2.0**0.5, rtol=1e-6)


def test_points_between_have_no_derivative() -> None:
    def program(a: Any) -> Any:
        log: list[Any] = []
        root(log.append, a)
        return log[3]

    with pytest.raises(SolverError, match="a callback of brentq stored has no derivative"):
        grad(program)(2.0)


def test_data_beside_a_counter() -> None:
    def program(a: Any) -> Any:
        held: dict[str, Any] = {"calls": 0}

        def r(x: Any) -> Any:
            held["calls"] += 1
            held["square"] = a * a
            return x * x - held["square"]

        return optimize.brentq(r, 0.1, 9.0, xtol=1e-13) * held["square"]

    np.testing.assert_allclose(grad(program)(2.0), 3 * 2.0**2, rtol=1e-9)


def test_value_that_depends_on_a_counter() -> None:
    def program(a: Any) -> Any:
        counter = Counter()

        def r(x: Any) -> Any:
            counter.calls += 1
            return x - a - 1.0 / counter.calls

        return optimize.brentq(r, -10.0, 10.0)

    with pytest.raises(SolverError, match="depends on where it was called before"):
        grad(program)(1.5)


def test_value_that_depends_on_a_flag_of_the_first_call() -> None:
    def program(a: Any) -> Any:
        started = False

        def r(x: Any) -> Any:
            nonlocal started
            y = x * x - a if started else -1.0
            started = True
            return y

        return optimize.brentq(r, 0.1, 9.0, xtol=1e-13)

    np.testing.assert_allclose(grad(program)(2.0), 0.5 / 2.0**0.5, rtol=1e-9)


def test_slope_that_reads_what_the_function_has_flagged() -> None:
    def program(a: Any) -> Any:
        branch = 0

        def f(x: Any) -> Any:
            nonlocal branch
            branch = 1 if x[0] > 0.5 else 2
            return (x[0] - a) ** 2 if branch == 1 else (x[0] - a) ** 2 + 1.0

        def slope(x: Any) -> Any:
            return [2 * (x[0] - a)] if branch else [0.0]

        return optimize.minimize(f, [0.2], jac=slope, tol=1e-12).x[0]

    np.testing.assert_allclose(grad(program)(2.0), 1.0, rtol=1e-9)


def test_limit_of_calls() -> None:
    def program(a: Any) -> Any:
        calls = 0

        def r(x: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > most:
                raise RuntimeError("too many calls")
            return x * x - a

        return optimize.brentq(r, 0.1, 9.0, xtol=1e-13) * calls

    most = 1000
    most = round(program(2.0) / 2.0**0.5)
    np.testing.assert_allclose(grad(program)(2.0), most * 0.5 / 2.0**0.5, rtol=1e-9)


def test_keys_that_are_points() -> None:
    def program(a: Any) -> Any:
        counts: dict[Any, int] = {}

        def r(x: Any) -> Any:
            counts[x] = counts.get(x, 0) + 1
            return x * x - a

        x = optimize.brentq(r, 0.1, 9.0, xtol=1e-13)
        return x * counts[x]

    np.testing.assert_allclose(grad(program)(2.0), program(2.0) / 2.0**0.5 * 0.5 / 2.0**0.5)
