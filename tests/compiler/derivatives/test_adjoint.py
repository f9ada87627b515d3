"""What both sweeps of a loop compute when they are called; their text is in the golden files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.compiler.derivatives.adjoint import adjoint
from mooncake_py.compiler.forms.form import specialise
from mooncake_py.compiler.forms.infer import INT
from mooncake_py.compiler.regions.ir import Bump, Push, statements
from tests.compiler.regions_of import form_of, pattern_of, read_body, region_of


def swept(form, steps, given, shadows, grads=()):
    """Run both sweeps; return what the loop binds and the cotangents of the leaves."""
    floats, ints = [], []
    names = parameters(form.text, "forward")[3:]
    values = {name: given[name] for name in names}
    views = [memoryview(v) if isinstance(v, np.ndarray) else v for v in values.values()]
    z, *results = form.forward(floats.append, ints.append, steps, *views)
    assert z == 0.0
    known = values | dict(zip(form.results, results, strict=False))
    state = [known[name] for name in (*form.steady, *form.counts, *form.read)]
    cells = [memoryview(shadows[name]) for name in form.shadows]
    found = form.reverse(floats.pop, ints.pop, steps, *state, *cells, *grads)
    assert floats == ints == []
    return results, found


def parameters(text, function):
    """Return the names of the parameters of a function in a text."""
    head = next(line for line in text.splitlines() if line.startswith(f"def {function}("))
    return head[head.index("(") + 1 : head.index(")")].split(", ")


def test_a_cotangent_that_goes_nowhere_is_not_written():
    body = "if a > 1.0:\n    k = i\n    b = 2.0\nx[i] = 3.0"
    form = form_of(region_of(body, "k = 0"), {"x"}, k=INT)
    assert form.text.split("def reverse")[1] == (
        "(pop, pop_int, steps, d_u_x):\n"
        "    for u_i in reversed(steps):\n"
        "        g = d_u_x[u_i]\n"
        "        d_u_x[u_i] = 0.0\n"
        "    return ()\n"
    )
    assert "push" not in form.text.replace("push, push_int", "")


def test_without_anything_active_there_is_no_way_back():
    region = region_of("k = k + 1\nif a > 1.0: x[k] += a\nif k > 2: break", "k = 0")
    forward, reverse = adjoint(region.body, set(), set(), region.counts)
    assert reverse == ()
    kinds = {type(s) for s in statements(forward)}
    assert not kinds & {Push, Bump}


def test_what_does_not_change_is_not_saved():
    region = region_of("for j in range(n):\n    s += i * x[i] - m[i, j] * x[j]", "s = 0.0")
    form = form_of(region, {"x"}, n=INT)
    assert "push" not in form.text.replace("push, push_int", "")
    assert form.read == ("u_m",)
    again = form_of(region_of("m[i, 0] = a\ns += m[i, 1] * x[i]", "s = 0.0"), {"x"})
    assert again.text.count("push(") == 1
    assert again.read == ()


def test_what_shares_memory_with_what_changes_is_saved():
    region = region_of("y[i] = a\ns += m[i, 0] * x[i]", "s = 0.0")
    apart = pattern_of(region, {"x"})
    for owners, saved in (((0, 1, 2), 0), ((0, 0, 2), 1)):
        form = specialise(region, apart._replace(owners=owners))
        assert form is not None
        assert form.text.count("push(") == saved


@pytest.mark.parametrize(
    "body", ["x[i] = 1.0 / (b * y[i])", "s = b / a * x[i]", "s = x[i] * (b * a)", "s = x[i] / b"]
)
def test_slopes_that_may_overflow_are_saved_and_tested(body):
    form = form_of(region_of(body), {"x", "y"})
    assert form.text.count("push(") == 1


@pytest.mark.parametrize("a", [math.inf, math.nan, -math.inf])
def test_slopes_that_are_not_saved_leave_their_mark_in_the_value(a):
    for body in ("s = x[i] * a", "s, t = 1.0 / (a * x[i]), 1.0", "s = 2.0 - (1.0 - a * x[i])"):
        form = form_of(region_of(body), {"x"})
        given = {"u_a": a, "u_x": memoryview(np.full(2, 0.5))}
        values = [given[name] for name in parameters(form.text, "forward")[3:]]
        z, *_ = form.forward([].append, [].append, range(2), *values)
        assert not math.isfinite(z) or "push(" in form.text


def test_a_recurrence_in_closed_form():
    # x_k = a x_{k-1}: the last one is a^4 x_0.
    form = form_of(read_body("x[i] = a * x[i - 1]"), {"x", "a"})
    x, dx = np.array([2.0, 7.0, 7.0, 7.0, 7.0]), np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    results, (da,) = swept(form, range(1, 5), {"u_x": x, "u_a": 3.0}, {"u_x": dx})
    assert results == [4]
    assert_allclose(x, 2.0 * 3.0 ** np.arange(5))
    assert_allclose(dx, [81.0, 0.0, 0.0, 0.0, 0.0])
    assert da == 4 * 27.0 * 2.0


def test_cotangents_are_added_to_those_that_are_there():
    form = form_of(read_body("y[i] += a * x[i]"), {"x", "a", "y"})
    x, y = np.array([1.0, 2.0]), np.array([5.0, 6.0])
    dx, dy = np.array([10.0, 20.0]), np.array([1.0, 2.0])
    given = {"u_x": x, "u_y": y, "u_a": 3.0}
    _, (da,) = swept(form, range(2), given, {"u_x": dx, "u_y": dy})
    assert_allclose(dx, [13.0, 26.0])
    assert_allclose(dy, [1.0, 2.0])
    assert da == 5.0


@pytest.mark.parametrize(
    ("body", "own", "other"),
    [
        ("x[0] = x[0]", 1.0, 0.0),
        ("x[0] = 2.0", 0.0, 0.0),
        ("x[0] += 2.0", 1.0, 0.0),
        ("x[0] += x[0]", 8.0, 0.0),
        ("x[0] -= 3.0 * x[0]", -8.0, 0.0),
        ("x[0] *= 2", 8.0, 0.0),
        ("x[0] = x[1] - x[0]", -1.0, 1.0),
        ("x[0] = -x[0]", -1.0, 0.0),
        ("x[0] = x[0] * x[1]", 0.125, 3 * 0.25 * 3.0),
        ("x[0] /= x[1]", 8.0, -3.0 / 0.5**4 * 3.0),
        ("x[0] -= x[1]", 1.0, -3.0),
        ("x[0] += int(x[1]) * x[1] + 0 * x[1]", 1.0, 0.0),
    ],
)
def test_three_passes_over_one_element(body, own, other):
    form = form_of(read_body(body), {"x"})
    x, dx = np.array([3.0, 0.5]), np.array([1.0, 0.0])
    swept(form, range(3), {"u_x": x}, {"u_x": dx})
    assert_allclose(dx, [own, other])


def test_a_number_that_is_bound_again_and_again():
    # s = s x_i + x_i^2, from s = 2.
    form = form_of(read_body("s = s * x[i] + x[i] ** 2", "s = 2.0"), {"x", "s"})
    x, dx = np.array([3.0, 5.0]), np.zeros(2)
    given = {"u_s": 2.0, "u_x": x}
    (i, s), (ds,) = swept(form, range(2), given, {"u_x": dx}, (1.0,))
    assert (i, s) == (1, 15.0 * 2 + 9 * 5 + 25)
    assert ds == 15.0
    assert_allclose(dx, [2 * 5 + 2 * 3 * 5, 2 * 3 + 9 + 2 * 5])


def test_counts_are_put_back_on_the_way():
    # Writes x_1, x_3, x_0, with k = 2k + 1 mod 5.
    form = form_of(read_body("k = (2 * k + 1) % 5\nx[k] *= y[i] + k", "k = 0"), {"x", "y"}, k=INT)
    x, y = np.arange(1.0, 6.0), np.array([0.5, 0.25, 2.0])
    dx, dy = np.ones(5), np.zeros(3)
    given = {"u_k": 0, "u_x": x.copy(), "u_y": y}
    (i, k), _ = swept(form, range(3), given, {"u_x": dx, "u_y": dy})
    assert (i, k) == (2, 2)
    assert_allclose(dx, [1.0, 1.5, 4.0, 3.25, 1.0])
    assert_allclose(dy, [2.0, 4.0, 3.0])


def test_each_branch_has_its_adjoint():
    body = "if x[i] > 0.0:\n    s += x[i] * x[i]\nelse:\n    s -= 3.0 * x[i]\n    x[i] = 1.0"
    form = form_of(read_body(body, "s = 0.0"), {"x"})
    x, dx = np.array([2.0, -1.0, -4.0, 3.0]), np.full(4, 10.0)
    results, _ = swept(form, range(4), {"u_s": 0.0, "u_x": x}, {"u_x": dx}, (1.0,))
    assert results[:2] == [3, 28.0]
    assert_allclose(dx, [14.0, -3.0, -3.0, 16.0])


def test_inner_ranges_run_backwards():
    # m_ij = x_j m_i,j-1 for j = 1 .. i.
    body = "for j in range(1, i + 1):\n    m[i, j] = x[j] * m[i, j - 1]"
    form = form_of(read_body(body), {"x", "m"})
    m, x = np.full((4, 4), 2.0), np.array([1.0, 3.0, 5.0, 7.0])
    dm, dx = np.eye(4), np.zeros(4)
    swept(form, range(4), {"u_x": x, "u_m": m}, {"u_x": dx, "u_m": dm})
    assert_allclose(np.diag(m), 2.0 * np.cumprod(x))
    assert_allclose(dx, [0.0, 2 + 10 + 70, 6 + 42, 30])
    assert_allclose(dm[:, 0], np.cumprod(x))


def test_passes_after_a_break_are_not_reversed():
    # Doubles x_i up to the first that is larger than 2, and skips those below 0.
    body = "if x[i] < 0.0: continue\nif x[i] > 2.0: break\nx[i] *= 2.0"
    form = form_of(read_body(body), {"x"})
    x, dx = np.array([1.0, -1.0, 0.5, 3.0, 1.0]), np.ones(5)
    (i,), _ = swept(form, range(5), {"u_x": x}, {"u_x": dx})
    assert i == 3
    assert_allclose(dx, [2.0, 1.0, 2.0, 1.0, 1.0])


def test_what_is_not_finite_leaves_its_mark():
    form = form_of(read_body("x[i] *= 1e200"), {"x"})
    for first, finite in ((1.0, True), (1e200, False), (math.nan, False)):
        x = np.array([first, 1.0])
        z, _ = form.forward([].append, [].append, range(2), memoryview(x))
        assert (z == 0.0) is finite
