"""Arrays without axes: read, written in place, under several names, in objects, lists and dicts."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.decided import agrees_compiled

pytestmark = pytest.mark.plain
X = np.array([0.4, -0.7, 0.9])


class Cell:
    def __init__(self, value):
        self.value = value
        self.total = np.array(0.0)

    def add(self, y):
        self.total += y * self.value
        self.value *= 0.5
        return self.total


def in_place(x):
    y = np.array(0.5)
    z = y  # another name of it
    for k in range(len(x)):
        y += x[k] * z
        if y > 0.6:
            y[...] = np.sin(y)
        else:
            y[()] = y * 2.0 + 1.0
    return float(z) * y.item() + y[()]


def numbers_of_numpy(x):
    a = np.array(x[0])
    b = a * 2.0
    b += 1.0  # a number, which is another one now
    c = -a
    d = np.exp(a)
    e = a[...]
    e -= 0.1
    return b * c + d * a + (a**2 + abs(a)) * np.sum(a) + np.mean(a) * a.sum()


def in_structures(x, c):
    state = {"c": c, "w": x * 1.0}
    first = {k: np.zeros_like(v) for k, v in state.items()}
    for step in range(4):
        for name, p in state.items():
            first[name] *= 0.8
            first[name] += 0.2 * p * p
            p -= 0.1 * first[name] / (1.0 - 0.8 ** (step + 1))
    return np.sum(state["w"] ** 2) + np.sum(state["c"] ** 2) + state["c"].copy() * 3.0


def of_objects(x):
    cells = [Cell(np.asarray(x[0])), Cell(np.array(2.0)), Cell(x[1] * 3.0)]
    total = 0.0
    for cell in cells:
        for _ in range(3):
            total += cell.add(x[2]) ** 2
    return total + cells[1].total * cells[0].value


def chosen(x):
    small, large = np.array(0.1), np.array(x[1])
    held = small if x[0] > 0.0 else large
    held += x[2]
    held = held.copy()
    held *= 10.0  # a copy
    return small * large + held


def element_as_array(x):
    y = x * 1.0
    first = y[0, ...]
    first *= x[1]
    y[1] += first
    row = np.zeros(())
    row += y.sum()
    return np.array([first, row, 2.0]) @ y + row


def with_axes_again(x):
    a = np.array(x[1])
    y = x + a
    y[0] = a
    y[1:] -= a
    v = a[None] * x
    return np.sum(y * v) + np.where(a < 0.0, a, 2.0 * a)[()] + np.dot(a, x)[2]


def in_loop_anew(x):
    a = np.array(1.0)
    kept = []
    for v in x:
        old = a
        a = np.array(old * v + 1.0)
        old += 0.25  # the one before
        kept.append(a * old)
    return sum(kept) + a


@pytest.mark.parametrize(
    "f", [in_place, numbers_of_numpy, of_objects, chosen, element_as_array, with_axes_again]
)
def test_made_within(f, tried):
    agrees_compiled(f, tried, X)


def test_bound_anew_in_loops(tried):
    agrees_compiled(in_loop_anew, tried, X)


def test_passed_in_dicts(tried):
    agrees_compiled(in_structures, tried, X, np.array(0.3))


def of_arrays(params, factor):
    params["a"] *= factor
    return np.sum(np.tanh(params["w"] * params["a"] + factor)) * params["a"]


def test_derivatives_with_respect_to_them(tried):
    params, factor = {"a": np.array(0.7), "w": X.copy()}, np.array(1.3)
    given = copy.deepcopy(params)
    ways = [value_and_grad(of_arrays, (0, 1), compile=way)(given, factor) for way in (False, True)]
    require_compiled(of_arrays, tried)
    assert given["a"] == 0.7
    (value, (g, d)), (compiled, (h, e)) = ways
    assert type(compiled) is type(value)
    assert_allclose(compiled, value, rtol=1e-14)
    for p, q in ((g["a"], h["a"]), (g["w"], h["w"]), (d, e)):
        assert type(p) is type(q)
        assert np.shape(p) == np.shape(q)
        assert_allclose(q, p, rtol=1e-13)
    step = 1e-6
    ends = [of_arrays({"a": np.array(0.7 + s), "w": X.copy()}, 1.3) for s in (step, -step)]
    assert_allclose(h["a"], (ends[0] - ends[1]) / (2 * step), rtol=1e-7)
    along = {"a": np.array(0.4), "w": np.cos(X)}, np.array(-0.3)
    at = copy.deepcopy(params), factor
    pushed = [jvp(of_arrays, at, along, compile=way)[1] for way in (False, True)]
    assert_allclose(pushed[1], pushed[0], rtol=1e-13)
    a, b = (hvp(of_arrays, at, along, (0, 1), compile=way) for way in (False, True))
    assert_allclose(b[0]["a"], a[0]["a"], rtol=1e-12)
    assert_allclose(b[0]["w"], a[0]["w"], rtol=1e-12)
    assert_allclose(b[1], a[1], rtol=1e-12)


def doubled(x, c):
    y = c
    y += x[0]
    return np.sum(y * c) * x[1]


def test_guards_tell_numbers_from_arrays(tried):
    floats = np.array(0.5), 0.5, np.array([0.5]), np.array(0.5, np.float32), np.float64(0.5)
    for c in (*floats, np.array(0.25)):
        value, g = value_and_grad(doubled)(X.copy(), copy.deepcopy(c))
        kept = copy.deepcopy(c)
        for _ in range(2):
            found, h = value_and_grad(doubled, compile=True)(X.copy(), c)
            assert type(found) is type(value)
            assert_allclose(found, value, rtol=1e-6)
            assert_allclose(h, g, rtol=1e-6)
        assert c == kept
        assert report(doubled)[0].found == "compiled"


def test_extrema_of_python_give_the_array_itself():
    def f(x):
        a, b = np.array(x[0]), np.array(x[1])
        m = max(a, b)
        m += 1.0
        return a * b + m

    value, g = value_and_grad(f, compile=True)(X.copy())
    expected, h = value_and_grad(f)(X.copy())
    assert_allclose(value, expected)
    assert_allclose(g, h)


def raised(x, c):
    for v in x:
        c += v * c
    return c * x[1]


def raises_twice(x, c, label):
    names = {label}
    first = raised(x, c)
    names.add(first > 0.0)
    return c * first + len(names)


def test_a_write_is_seen_after_the_call():
    for way in (False, True):
        c = np.array(0.3)
        value, g = value_and_grad(raises_twice, compile=way)(X.copy(), c, "c")
        assert c == 0.3
        assert_allclose(value, raises_twice(X.copy(), np.array(0.3), "c"), rtol=1e-14)
        step = 1e-6 * np.eye(3)
        ends = [[raises_twice(X + s * e, np.array(0.3), "c") for e in step] for s in (1, -1)]
        assert_allclose(g, np.subtract(*ends) / 2e-6, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("way", [False, True])
def test_a_new_axis(way):
    def f(x):
        a = np.array(x[1])
        return np.sum(a[None] * x)

    assert_allclose(value_and_grad(f, compile=way)(X.copy())[1], [X[1], np.sum(X) + X[1], X[1]])


@pytest.mark.parametrize("write", [
    lambda a, o: np.dot(a, 2.0, out=o), lambda a, o: np.add(a, 1.0, out=o),
    lambda a, o: np.multiply(a, 2.0, o), lambda a, o: np.sum(a, out=o),
])  # fmt: skip
def test_outputs_without_axes(write):
    def program(x):
        o = np.zeros(())
        r = write(x[0], o)
        r += 1.0  # of what `np.dot` gives back, a number, or of the array
        return o * 1.0 + x[1]

    value, g = value_and_grad(program, compile=True)(X)
    assert value == program(X)
    assert_allclose(g, value_and_grad(program, compile=False)(X)[1])
