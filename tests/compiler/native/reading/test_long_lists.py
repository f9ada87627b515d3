"""Long lists of arrays of one shape, some of which may be None, as arguments."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad, vjp
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees_compiled

pytestmark = pytest.mark.plain
X = np.array([0.4, -0.7, 0.9])
RNG = np.random.default_rng(5)
FULL = [RNG.normal(size=3) for _ in range(90)]
HOLES = [None if k % 7 == 3 else a for k, a in enumerate(FULL)]
MATRICES = [RNG.normal(size=(3, 2)) for _ in range(70)]


class Seen(NamedTuple):
    time: float
    place: tuple[int, np.ndarray]


EVENTS = [(float(k), 1.0 + RNG.random(), k % 3) for k in range(80)]
SEEN = [Seen(float(RNG.random()), (k % 3, RNG.normal(size=2))) for k in range(70)]
MIXED = [None if k % 5 == 2 else v for k, v in enumerate(SEEN)]
COUNTS = [int(k) for k in RNG.integers(0, 3, 90)]


class Tracker:
    def __init__(self, x):
        self.x = x * 1.0
        self.missed = 0

    def update(self, z):
        if z is None:
            self.missed += 1
            return 0.0
        gap = np.reshape(z, (-1, 1))[:, 0] - self.x
        self.x = self.x + 0.1 * gap
        return (gap @ gap[:, None]).item()


def tracked(x, zs):
    tracker = Tracker(x)
    total = 0.0
    for z in zs:
        total += tracker.update(z)
    return total + tracker.missed * np.sum(tracker.x)


def known(x, zs):
    total = 0.0
    for k, (z, later) in enumerate(zip(zs, zs[1:])):  # noqa: B905, RUF007
        if z is not None and later is not None:
            total += k * np.sum(np.sin(z * x) * later)
        else:
            total -= x[0]
    z = zs[3]
    if z is None:
        return total / len(zs) + zs[4] @ x
    return total / len(zs) + z @ x


def indexed(x, zs):
    total = 0.0
    for k in range(len(zs) - 1):
        total += np.tanh(zs[k] @ x) * zs[-1][0] + zs[k + 1][2]
    table = np.array(zs)
    return total + np.sum(table @ x) + sum(z[1] for z in zs) * x[1]


def of_matrices(x, ms):
    y = x * 1.0
    for m in ms:
        y = y + 0.01 * m @ (m.T @ y)
    return y @ y


def dosed(x, events):
    total, last = 0.0, events[-1][0]
    for time, amount, kind in events:
        if kind == 1:
            continue
        total += amount * np.exp(-abs(x[kind]) * (last - time))
    return total + events[2][1] * x[1] + max(e[1] for e in events)


def seen(x, events):
    total = 0.0
    for event in events:
        if event is None:
            total += x[1]
            continue
        k, at = event.place
        total += np.sin(x[k] * event.time) * at[0] + event.place[1] @ x[:2]
    return total


def counted(x, counts):
    total = x[counts[4]] * len(counts)
    for k, n in enumerate(counts):
        total += x[n] ** n / (k + 1)
    return total + np.mean(np.array(counts)) * sum(counts) * x[0]


@pytest.mark.parametrize(
    ("f", "items"),
    [
        (tracked, HOLES),
        (tracked, FULL),
        (known, HOLES),
        (indexed, FULL),
        (of_matrices, MATRICES),
        (dosed, EVENTS),
        (seen, SEEN),
        (seen, MIXED),
        (counted, COUNTS),
    ],
)
def test_values_and_derivatives(f, items, tried):
    agrees_compiled(f, tried, X, items)


def agreeing(f, x, zs):
    before = copy.deepcopy(zs)
    expected, g = value_and_grad(f)(x.copy(), copy.deepcopy(zs))
    for _ in range(2):
        value, h = value_and_grad(f, compile=True)(x.copy(), zs)
        assert_allclose(value, expected, rtol=1e-12)
        assert_allclose(h, g, rtol=1e-11, atol=1e-13)
    assert repr(zs) == repr(before)
    return value


def test_what_changes_between_calls_is_noticed():
    first = agreeing(tracked, X, FULL)
    others = [
        HOLES,
        [*FULL, RNG.normal(size=3)],
        FULL[:66],
        FULL[:20],
        [a + 1.0 for a in FULL],
        [*FULL[:-1], np.array([1, 2, 3])],
        [*FULL[:-1], 0.5],
        [*FULL[:-1], np.array(0.5)],
        [None] * 80,
    ]
    for other in others:
        assert agreeing(tracked, X, other) != first
    assert agreeing(tracked, X, FULL) == first
    changed = [a.copy() for a in FULL]
    agreeing(tracked, X, changed)
    changed[5] = None
    agreeing(tracked, X, changed)
    changed[5] = FULL[5]
    changed[7] *= 2.0
    assert agreeing(tracked, X, changed) != first


def test_changes_of_tuples_are_noticed():
    first = agreeing(dosed, X, EVENTS)
    others = [
        [*EVENTS, (90.0, 2.0, 0)],
        [(t, a, 0) for t, a, _ in EVENTS],
        [(t, np.float64(a), 2) for t, a, _ in EVENTS],
        [[t, a, 2] for t, a, _ in EVENTS],
        [(int(t), a, 2) for t, a, _ in EVENTS],
        [*EVENTS[:-1], (79, 1.5, 0)],
    ]
    for other in others:
        agreeing(dosed, X, other)
    assert agreeing(dosed, X, EVENTS) == first
    agreeing(seen, X, SEEN)
    agreeing(seen, X, MIXED)
    agreeing(seen, X, [*SEEN[:-1], Seen(0.1, (2, np.ones(3)[:2]))])


def writes_counts(x, counts):
    counts[3] = 2
    counts[4] += 1
    return x[counts[3]] * counts[4] + sum(counts) * x[0]


def shifts_events(x, label):
    names = {label}
    total = dosed(x, [(t * x[0], a, k) for t, a, k in EVENTS])
    names.add(total)
    return total * x[1]


def test_lists_of_numbers_and_tuples_are_data():
    agreeing(writes_counts, X, [*COUNTS])
    ways = [value_and_grad(shifts_events, compile=way)(X.copy(), "a") for way in (False, True)]
    assert_allclose(ways[1][1], ways[0][1], rtol=1e-12)
    ways = [value_and_grad(dosed, (0, 1), compile=way)(X.copy(), EVENTS) for way in (False, True)]
    assert_allclose(ways[1][1][0], ways[0][1][0], rtol=1e-12)
    for a, b in zip(ways[0][1][1], ways[1][1][1], strict=True):
        assert_allclose(b[:2], a[:2], rtol=1e-12)


def writes_items(x, zs):
    zs[1] *= x[0]
    zs[2] = zs[2] + x
    zs.append(zs[0] * x)
    return sum(np.sum(z**2) for z in zs)


def gives_item(x, zs):
    return zs[0], x @ zs[1]


def test_writes_and_aliases_run_as_without():
    agreeing(writes_items, X, [a.copy() for a in FULL])
    zs = [*FULL, X]  # of which the argument is no copy
    ways = [value_and_grad(tracked, compile=way)(X, zs) for way in (False, True, True)]
    for value, g in ways[1:]:
        assert_allclose(value, ways[0][0], rtol=1e-13)
        assert_allclose(g, ways[0][1], rtol=1e-13)
    value, pull = vjp(gives_item, X.copy(), FULL, compile=True)
    assert np.array_equal(value[0], FULL[0])
    assert_allclose(pull((np.zeros(3), 1.0))[0], FULL[1])


def test_derivatives_with_respect_to_items():
    for zs in (FULL, HOLES):
        ways = [value_and_grad(tracked, (0, 1), compile=way)(X.copy(), zs) for way in (False, True)]
        (value, (g, gs)), (compiled, (h, hs)) = ways
        assert_allclose(compiled, value, rtol=1e-13)
        assert_allclose(h, g, rtol=1e-12)
        for a, b in zip(gs, hs, strict=True):
            assert type(a) is type(b)
            if type(a) is np.ndarray:
                assert_allclose(b, a, rtol=1e-12, atol=1e-14)


def shifted(x, zs, label):
    names = {label}
    moved = [None if z is None else z + x for z in zs]
    total = tracked(x, moved)
    names.add(total > 0.0)
    return total * len(names) + tracked(x, zs)


def test_items_that_are_active_within_a_derivative():
    ways = [value_and_grad(shifted, compile=way)(X.copy(), HOLES, "a") for way in (False, True)]
    assert_allclose(ways[1][0], ways[0][0], rtol=1e-13)
    assert_allclose(ways[1][1], ways[0][1], rtol=1e-12)

    def slope(y):
        zs = [a * y[0] for a in FULL]
        return np.sum(grad(tracked, compile=True)(X * 1.0, zs))

    def slope_plainly(y):
        zs = [a * y[0] for a in FULL]
        return np.sum(grad(tracked)(X * 1.0, zs))

    found, expected = grad(slope, compile=True)(X.copy()), grad(slope_plainly)(X.copy())
    assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_they_are_compiled_whole_while_nothing_writes_them():
    grad(tracked, compile=True)(X.copy(), HOLES)
    assert report(tracked)[0].found == "compiled"
