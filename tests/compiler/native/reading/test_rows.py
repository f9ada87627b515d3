"""Loops over objects of one class, which stay loops."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.reading import rows
from mooncake_py.compiler.native.reading.reader import read_function
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.every_way import POINT, require_agreement, require_whole

pytestmark = pytest.mark.plain


@pytest.fixture
def stayed(monkeypatch):
    """Let loops over objects stay loops however little they add; tell which had to be unrolled."""
    monkeypatch.setattr(rows, "PAYS", 1)
    found: dict[str, set[int]] = {"rows": set(), "rowless": set()}
    stays, passes = rows.RowReader.row_loop, rows.RowReader.read_passes

    def row_loop(self, place, items):
        found["rows"].add(place.line)
        return stays(self, place, items)

    def read_passes(self, place):
        found["rowless"].add(place.line)
        return passes(self, place)

    monkeypatch.setattr(rows.RowReader, "row_loop", row_loop)
    monkeypatch.setattr(rows.RowReader, "read_passes", read_passes)
    return found


class Ball:
    """A ball."""

    def __init__(self, number, x, v, m=1.0, spin=None):
        self.number, self.x, self.v, self.m = number, x, v, m
        self.place = np.array([x, v])
        self.fixed = number == 3
        self.others = []
        self.spin = spin

    @property
    def momentum(self):
        return self.m * self.v

    def push(self, force, h):
        self.v += h * force / self.m
        self.x += h * self.v


class Heavy(Ball):
    """A ball of another class."""


class Light(Ball):
    """A ball with a momentum of its own."""

    @property
    def momentum(self):
        return 0.1 * self.v * self.v


class Spot:
    """Two numbers."""

    def __init__(self, x, v):
        self.x, self.v = x, v


class Spring:
    """A spring."""

    def __init__(self, a, b, k):
        self.ends = a, b
        self.first, self.second, self.k = a, b, k


def balls(x, a, count=6, cls=Ball):
    return [cls(k, x[k % 4] * (1 + k), a * np.sin(k), 1.0 + 0.1 * k) for k in range(count)]


def springs(x, a):
    found = balls(x, a)
    bonds = [Spring(found[k], found[(k + 1) % 6], a + k) for k in range(6)]
    total = 0.0
    for step in range(3):
        for s in bonds:
            f = s.k * np.tanh(s.second.x - s.first.x) * 0.1
            s.first.push(f, 0.1)
            s.second.push(-f, 0.1)
            total += f * f
        for n, ball in enumerate(found):
            ball.x *= 0.9 + 0.01 * n + 0.001 * step
            total += ball.momentum * x[n % 4] if ball.fixed else ball.x
    return total + sum(b.x * b.momentum for b in found)


def one_twice(x, a):
    p, q, r, s, t = balls(x, a, 5)
    total = 0.0
    for ball in [p, q, r, p, s, q, t]:
        ball.x = ball.x * a + 0.1 * ball.v
        total += ball.x * p.x
        p.v += 0.01 * ball.x
    return total * p.x + q.x + p.v


def by_another_name(x, a):
    found = balls(x, a)
    first, last = found[0], found[-1]
    total = 0.0
    for ball in found:
        first.x += 0.1 * ball.x
        ball.x = np.sin(ball.x) + last.x
        total += first.x * ball.x
    return total + first.x


def changed_elsewhere(x, a):
    found = balls(x, a)
    total = 0.0
    for ball in found:
        total += ball.v * ball.x
        found[2].v = total  # read of the ball of a later pass
    return total


def pairs(x, a):
    found = balls(x, a)
    forces = [0.0, 1.0, 2.0]
    total = 0.0
    for p in found:
        for q in found:
            if p is q:
                continue
            r = p.x - q.x + 0.1
            p.v += 0.01 * a / (1 + r * r)
            q.v -= 0.01 * a / (1 + r * r) * forces[p.number % 3]
            total += p.v * q.x
    return total


def arrays(x, a):
    found = balls(x, a)
    total = 0.0
    for step in range(2):
        for ball in found:
            old = ball.place
            ball.place = old * a + np.array([0.1, ball.x])
            total += np.sum(old * ball.place) * (1 + step)
    return total + found[1].place @ x[:2]


def arrays_with_other_names(x, a):
    found = balls(x, a)
    kept, last = [ball.place for ball in found], found[-1].place
    for ball in found:
        if ball.number == 3:
            break
        ball.place = ball.place * a
    kept[4][0] = a  # the array of the fourth ball still
    found[5].place[1] = 3.0 * a
    kept[0][0] = 7.0 * a
    total = sum(ball.place @ x[:2] for ball in found) + last[1]
    for ball in found:
        ball.spin = ball.place
        total += ball.spin[0] * x[0]
    kept[4][1] = a
    found[2].place[0] *= 2.0
    return total + found[4].spin[1] + found[2].spin[0] + kept[5][1]


class Cell:
    """A cell with a value that the class has, too."""

    value = 10.0

    def __init__(self, value, before=None):
        self.value, self.before = value, before
        self.log = []


def moved_between(x, a):
    cells = [Cell(x[k % 4]) for k in range(5)]
    total = 0.0
    for cell in cells:
        cell.value = cell.value * a
        now = cells[1]
        for _ in range(len(x)):
            now = Cell(now.value * 0.5)
        total += now.value + cell.value
    return total


def lists_change(x, a):
    cells = [Cell(x[k % 4]) for k in range(5)]
    shared = []
    total = 0.0
    for k, cell in enumerate(cells):
        cells[(k + 1) % 5].log.append(a * k)
        shared.append(cell)
        cell.before = shared
        total += len(cell.log) * cell.value + len(cell.before) * a
    return total + sum(sum(cell.log) for cell in cells)


def chosen(x, a):
    cells = [Cell(x[k % 4] * (1 + k % 3)) for k in range(6)]
    best = cells[0]
    total = 0.0
    for cell in cells:
        if cell.value > best.value:
            best = cell
        one = cell if cell.value > a else cells[1]
        one.value += 0.1 * a
        total += one.value * cell.value
    best.value *= 2.0
    return total + sum(cell.value for cell in cells) + best.value


def some_at_home(x, a):
    cells = [Cell(x[k % 4]) for k in range(8)]
    total = 0.0
    for cell in cells[:6]:
        cell.value += 0.1 * a
        for other in cells[2:]:
            other.value += 0.01 * cell.value
            total += other.value
        total += cell.value * cells[7].value
    return total + sum(cell.value for cell in cells)


def arrays_in_place(x, a):
    found = balls(x, a)
    kept = found[1].place
    for ball in found:
        ball.place += ball.v * a
        ball.place[0] *= 2.0
    return sum(ball.place @ x[:2] for ball in found) + kept[0]


def left_early(x, a):
    found = balls(x, a)
    total = 0.0
    for ball in found:
        if ball.x > 100.0:
            break
        if ball.x < 0.0:
            ball.x = a
            continue
        ball.x += a * total
        total += ball.x
        if total > 2.0:
            ball.m = 2.0 * a
            break
    return total + sum(b.x * b.m for b in found) + first_above(found, 0.1)


def first_above(found, limit):
    for ball in found:
        if ball.x > limit:
            return ball.x * ball.m
    return limit


def after_the_loop(x, a):
    total = 0.0
    for ball in balls(x, a):
        d = ball.x * a
        pair = ball
        total += d
    for ball in balls(x, a):
        total += ball.x
    return total * d + ball.x * ball.v + pair.m


def of_two_classes(x, a):
    total = 0.0
    for ball in [*balls(x, a, 3), *balls(x, a, 3, Heavy)]:
        total += ball.x * (a if isinstance(ball, Heavy) else 1.0)
    return total


def structure_differs(x, a):
    found = balls(x, a)
    found[2].spin = a
    found[4].spin = 2.0 * a
    total = 0.0
    for ball in found:
        if ball.spin is not None:
            total += ball.spin * ball.x
        total += ball.v
    return total


def lists_grow(x, a):
    found = balls(x, a)
    seen, both = [], []
    for ball in found:
        seen.append(ball.x * a)
        both.append(np.array([ball.x, ball.v]))
        ball.others.append(ball.v)
    return sum(seen) + np.sum(np.stack(both) ** 2) + sum(b.others[0] for b in found)


def tables(x, a):
    names = ["a", "b", "c", "d", "e"]
    total = 0.0
    for (k, w), _, y in zip([(0, a), (1, 2 * a), (2, a * a), (3, a)], names, x, strict=False):
        total += w * y * x[k]
    for k, w, name in [(3, a, "u"), (1, x[0], "u"), (0, a, "u"), (2, x[1], "u"), (1, a, "u")]:
        total += w * x[k] * (2.0 if name == "u" else 1.0)
    return total


def half_of_the_pairs(x, a):
    found = balls(x, a)
    total = 0.0
    for step in range(2):
        for i, p in enumerate(found):
            for q in found[i + 1 :]:
                r = p.x - q.x + 0.1
                f = a * r / (1 + r * r)
                p.v += 0.01 * f
                q.v -= 0.01 * f * (1 + step)
                total += p.v * q.x
            p.x += 0.1 * p.v
    return total + found[-1].v


def by_index(x, a):
    found = balls(x, a)
    total = 0.0
    for i in range(len(found)):
        for ball in found[: i + 1]:
            total += np.sin(ball.x * found[i].m) * found[i - 1].v
        found[i].x *= a
        total += found[(2 * i) % 6].x
    return total


def joined(x, a):
    found = balls(x, a)
    frames = [np.eye(2)]
    for ball in found:
        frames.append(frames[-1] @ np.array([[1.0, 0.1 * ball.x], [-ball.v * 0.1, a]]))
    parts = []
    for frame in frames[:-1]:
        parts.append(frame[:, 1] * a)
    total = np.zeros(len(found))
    for i in range(len(found)):
        for ball, frame in zip(found[i:], frames[i + 1 :], strict=True):
            total[i] += ball.m * (frame[0, 1] - frames[i][0, 1])
    return np.sum(np.column_stack(parts) ** 2) + np.sum(total**2)


def kinds_in_turn(x, a):
    found = [
        cls(k, x[k] * (1 + j + k), a * np.sin(4 * j + k))
        for j in range(4)
        for k, cls in enumerate((Ball, Heavy, Ball, Light))
    ]
    for k, ball in enumerate(found):
        ball.spin = None if k % 2 else a * k
    total = 0.0
    for step in range(2):
        for n, ball in enumerate(found):
            if isinstance(ball, Heavy):
                ball.x *= 0.9
                continue
            if ball.spin is not None:
                ball.push(-ball.spin * ball.x, 0.1)
            else:
                ball.push(a, 0.1 * n)
            if ball.x > 0.5:
                total += ball.x * x[n % 4]
                ball.v = 0.5 * a
            total += ball.momentum * (1 + step)
    return total + sum(b.momentum * b.x if b.spin is None else b.x * a for b in found)


STAY = [kinds_in_turn, half_of_the_pairs, by_index, joined, springs, one_twice, by_another_name,
        pairs, arrays, left_early]  # fmt: skip
FALL = [lists_change, some_at_home, changed_elsewhere, arrays_in_place, after_the_loop,
        of_two_classes, structure_differs, lists_grow]  # fmt: skip


@pytest.mark.parametrize("f", STAY)
def test_loops_that_stay(f, tried, stayed):
    require_whole(f, tried)
    lines = range(f.__code__.co_firstlineno, f.__code__.co_firstlineno + 30)
    assert any(line in lines for line in stayed["rows"] - stayed["rowless"]), stayed


@pytest.mark.parametrize("f", [*FALL, tables])
def test_loops_that_are_read_pass_by_pass_after_all(f, tried, stayed):
    require_whole(f, tried)


@pytest.mark.parametrize("f", [arrays_with_other_names, moved_between, chosen])
@pytest.mark.usefixtures("stayed")
def test_other_names_of_what_objects_hold(f):
    require_agreement(f)


def test_text_is_that_of_one_pass(monkeypatch):
    monkeypatch.setattr(rows, "PAYS", 1)

    def of(count):
        def f(x, a):
            total = 0.0
            for spot in [Spot(x[k % 4], a) for k in range(count)]:
                y = spot.x
                for _ in range(20):
                    y = np.sin(y) + a * np.cos(y) * spot.v
                    y = y * y / (1.0 + y) + np.exp(-spot.v)
                    y = y - np.tanh(y * spot.v) * 0.5 + np.sqrt(1.0 + y * y)
                total += y
            return total

        found = read_function(f, [type_of(v) for v in POINT], given=POINT)
        return len(str(found.region.body))

    stays = of(16)
    monkeypatch.setattr(rows, "PAYS", 1e9)
    assert stays < 0.5 * of(16)


def moved(found, h):
    total = 0.0
    for ball in found:
        ball.push(-np.sin(ball.x), h)
        total += ball.x * ball.momentum
    return total


def test_objects_that_are_passed(tried, stayed):
    x, a = POINT
    given = balls(x, a)
    value, g = value_and_grad(moved, (0, 1), compile=True)(given, 0.1)
    require_compiled(moved, tried)
    assert stayed["rows"] - stayed["rowless"]
    expected, h = value_and_grad(moved, (0, 1))(balls(x, a), 0.1)
    assert value == pytest.approx(expected, rel=1e-13)
    assert g[1] == pytest.approx(h[1], rel=1e-12)
    assert given[3].x == balls(x, a)[3].x  # put back


@pytest.mark.parametrize("change", ["longer", "twice", "class", "none", "int", "missing"])
def test_second_calls_with_another_structure(change, stayed):
    f = value_and_grad(moved, (0, 1), compile=True)
    f(balls(*POINT), 0.1)
    assert report(moved)[0].found == "compiled"

    def changed():
        found = balls(*POINT)
        match change:
            case "longer":
                found.append(Ball(6, 0.3, 0.4))
            case "twice":
                found[4] = found[1]
            case "class":
                found[2] = Heavy(2, 0.3, 0.4)
            case "none":
                found[2].m = None
            case "int":
                found[2].v = 2
            case "missing":
                del found[2].v
        return found

    if change in ("none", "missing"):
        with pytest.raises((TypeError, AttributeError)):
            f(changed(), 0.1)
        return
    value, g = f(changed(), 0.1)
    expected, h = value_and_grad(moved, (0, 1))(changed(), 0.1)
    assert value == pytest.approx(expected, rel=1e-13)
    assert g[1] == pytest.approx(h[1], rel=1e-12)
    assert [b.x for b in g[0]] == pytest.approx([b.x for b in h[0]], rel=1e-12)
