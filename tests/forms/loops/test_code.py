"""The sweeps of loops, word for word, and what they compute when they are called."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.forms.loops.analysis import FLOAT, FLOAT64, INT, MIXED
from mooncake_py.forms.loops.code import times_g, write
from tests.forms.loops.reading import form_of, read_body


def test_a_recurrence():
    form = form_of(read_body("x[i] += a * x[i - 1]"), {"x", "a"})
    assert form.text == (
        "def forward(push, push_int, r0, m_u_x, u_a):\n"
        "    z = 0.0\n"
        "    for u_i in r0:\n"
        "        v0 = m_u_x[u_i]\n"
        "        v2 = m_u_x[(u_i - 1)]\n"
        "        t1 = v0 + (u_a * v2)\n"
        "        push(v2)\n"
        "        z += t1 * 0.0\n"
        "        m_u_x[u_i] = t1\n"
        "    return z, u_i\n"
        "def reverse(pop, pop_int, r0, u_a, d_u_x):\n"
        "    gu_a = 0.0\n"
        "    for u_i in reversed(r0):\n"
        "        s_v2 = pop()\n"
        "        g = d_u_x[u_i]\n"
        "        gu_a += g * s_v2\n"
        "        d_u_x[(u_i - 1)] += g * u_a\n"
        "    return gu_a, \n"
    )
    assert form.results == ("u_i",)
    assert form.types == (INT,)
    assert form.steady == ("u_a",)
    assert form.shadows == ("u_x",)
    assert form.leaves == ("u_a",)
    assert form.outputs == form.counts == form.flagged == ()


def test_a_nested_loop_with_a_branch_and_a_count():
    program = read_body(
        "for j in range(i):\n"
        "    if x[j] > 0.0:\n"
        "        s += x[j] * y[k]\n"
        "        k += 1\n"
        "    else:\n"
        "        m[i, j] = s",
        "k = 0\ns = 0.0",
    )
    form = form_of(program, {"x"}, k=INT)
    assert form.text == (
        "def forward(push, push_int, r0, m_u_x, u_s, u_k, m_u_y, m_u_m):\n"
        "    z = 0.0\n"
        "    ku_s = 1\n"
        "    for u_i in r0:\n"
        "        for u_j in range(u_i):\n"
        "            if (m_u_x[u_j] > 0.0):\n"
        "                v1 = m_u_x[u_j]\n"
        "                v2 = m_u_y[u_k]\n"
        "                t1 = u_s + (v1 * v2)\n"
        "                push(v2)\n"
        "                z += t1 * 0.0\n"
        "                u_s = t1\n"
        "                ku_s = 2\n"
        "                push_int(u_k)\n"
        "                u_k = u_k + 1\n"
        "                push_int(True)\n"
        "            else:\n"
        "                m_u_m[u_i, u_j] = u_s\n"
        "                push_int(False)\n"
        "    return z, u_i, u_j, u_k, u_s, ku_s\n"
        "def reverse(pop, pop_int, r0, u_k, d_u_x, d_u_m, gu_s):\n"
        "    for u_i in reversed(r0):\n"
        "        for u_j in reversed(range(u_i)):\n"
        "            if pop_int():\n"
        "                u_k = pop_int()\n"
        "                s_v2 = pop()\n"
        "                g = gu_s\n"
        "                d_u_x[u_j] += g * s_v2\n"
        "            else:\n"
        "                g = d_u_m[u_i, u_j]\n"
        "                d_u_m[u_i, u_j] = 0.0\n"
        "                gu_s += g\n"
        "    return ()\n"
    )
    assert form.types == (INT, INT, INT, MIXED)
    assert form.flagged == ("u_s",)
    assert form.counts == ("u_k",)
    assert form.outputs == ("u_s",)


def test_a_break_notes_the_sides_of_the_branches_that_it_leaves():
    body = "if x[i] < 0.0:\n    continue\nif x[i] > a:\n    break\ns += x[i] * x[i]"
    form = form_of(read_body(body, "s = 0.0"), {"x"}, s=FLOAT64)
    assert form.text == (
        "def forward(push, push_int, r0, m_u_x, u_a, u_s):\n"
        "    z = 0.0\n"
        "    c0 = 0\n"
        "    for u_i in r0:\n"
        "        c0 += 1\n"
        "        if (m_u_x[u_i] < 0.0):\n"
        "            push_int(True)\n"
        "        else:\n"
        "            if (m_u_x[u_i] > u_a):\n"
        "                push_int(True)\n"
        "                push_int(False)\n"
        "                break\n"
        "            else:\n"
        "                v1 = m_u_x[u_i]\n"
        "                v2 = m_u_x[u_i]\n"
        "                t1 = u_s + (v1 * v2)\n"
        "                push(v2)\n"
        "                push(v1)\n"
        "                z += t1 * 0.0\n"
        "                u_s = t1\n"
        "                push_int(False)\n"
        "            push_int(False)\n"
        "    push_int(c0)\n"
        "    return z, u_i, u_s\n"
        "def reverse(pop, pop_int, r0, d_u_x, gu_s):\n"
        "    for u_i in reversed(r0[:pop_int()]):\n"
        "        if pop_int():\n"
        "            pass\n"
        "        else:\n"
        "            if pop_int():\n"
        "                pass\n"
        "            else:\n"
        "                s_v1 = pop()\n"
        "                s_v2 = pop()\n"
        "                g = gu_s\n"
        "                d_u_x[u_i] += g * s_v2\n"
        "                d_u_x[u_i] += g * s_v1\n"
        "    return ()\n"
    )


def test_the_passes_of_a_while_loop_are_counted():
    program = read_body("k += 1\nx[k] *= a", "k = 0", head="while k < n:")
    form = form_of(program, {"x", "a"}, k=INT, n=INT)
    forward, reverse = form.text.split("def reverse")
    assert "    while (u_k < u_n):\n        c0 += 1\n        push_int(u_k)\n" in forward
    assert reverse == (
        "(pop, pop_int, r0, u_a, u_k, d_u_x):\n"
        "    gu_a = 0.0\n"
        "    for _ in range(pop_int()):\n"
        "        s_v0 = pop()\n"
        "        g = d_u_x[u_k]\n"
        "        d_u_x[u_k] = g * u_a\n"
        "        gu_a += g * s_v0\n"
        "        u_k = pop_int()\n"
        "    return gu_a, \n"
    )


def test_what_the_way_back_does_not_need_is_not_written():
    body = "if a > 1.0:\n    k = i\n    b = 2.0\nx[i] = 3.0"
    form = form_of(read_body(body, "k = 0"), {"x"}, k=INT)
    assert form.text.split("def reverse")[1] == (
        "(pop, pop_int, r0, d_u_x):\n"
        "    for u_i in reversed(r0):\n"
        "        g = d_u_x[u_i]\n"
        "        d_u_x[u_i] = 0.0\n"
        "    return ()\n"
    )
    assert "push" not in form.text.replace("push, push_int", "")


def test_there_is_no_form_where_a_copy_may_be_of_two_types():
    program = read_body("t = s\ns = x[i]", "s = t = 0.0")
    assert program is not None
    kinds = {"u_s": FLOAT, "u_t": FLOAT}
    assert write(program, (), (), kinds, {"u_x"}, {"u_x", *kinds}) is None


def test_a_cotangent_times_a_slope():
    assert times_g("-1.0") == "-g"
    assert times_g("s_v0") == "g * s_v0"


# What they compute.


def swept(form, steps, primals, shadows, state=(), grads=()):
    """Run both sweeps; return what the loop binds and the cotangents of the leaves."""
    slopes, ints = [], []
    given = [memoryview(p) if isinstance(p, np.ndarray) else p for p in primals]
    z, *results = form.forward(slopes.append, ints.append, steps, *given)
    assert z == 0.0
    cells = [memoryview(shadow) for shadow in shadows]
    found = form.reverse(slopes.pop, ints.pop, steps, *state, *cells, *grads)
    assert slopes == ints == []
    return results, found


def test_a_recurrence_in_closed_form():
    # x_k = a x_{k-1}: the last one is a^4 x_0.
    form = form_of(read_body("x[i] = a * x[i - 1]"), {"x", "a"})
    x, dx = np.array([2.0, 7.0, 7.0, 7.0, 7.0]), np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    results, (da,) = swept(
        form, range(1, 5), arguments(form, m_u_x=x, u_a=3.0), (dx,), (3.0,)
    )
    assert results == [4]
    assert_allclose(x, 2.0 * 3.0 ** np.arange(5))
    assert_allclose(dx, [81.0, 0.0, 0.0, 0.0, 0.0])
    assert da == 4 * 27.0 * 2.0


def test_cotangents_are_added_to_those_that_are_there():
    form = form_of(read_body("y[i] += a * x[i]"), {"x", "a", "y"})
    x, y = np.array([1.0, 2.0]), np.array([5.0, 6.0])
    dx, dy = np.array([10.0, 20.0]), np.array([1.0, 2.0])
    shadows = [{"u_x": dx, "u_y": dy}[name] for name in form.shadows]
    given = arguments(form, m_u_x=x, m_u_y=y, u_a=3.0)
    _, (da,) = swept(form, range(2), given, shadows, (3.0,))
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
    swept(form, range(3), (x,), (dx,))
    assert_allclose(dx, [own, other])


def test_a_number_that_is_bound_again_and_again():
    # s = s x_i + x_i^2, from s = 2.
    form = form_of(read_body("s = s * x[i] + x[i] ** 2", "s = 2.0"), {"x", "s"})
    x, dx = np.array([3.0, 5.0]), np.zeros(2)
    (i, s), (ds,) = swept(form, range(2), arguments(form, u_s=2.0, m_u_x=x), (dx,), (), (1.0,))
    assert (i, s) == (1, 15.0 * 2 + 9 * 5 + 25)
    assert ds == 15.0
    assert_allclose(dx, [2 * 5 + 2 * 3 * 5, 2 * 3 + 9 + 2 * 5])


def test_counts_are_put_back_on_the_way():
    # Writes x_1, x_3, x_0, with k = 2k + 1 mod 5.
    form = form_of(read_body("k = (2 * k + 1) % 5\nx[k] *= y[i] + k", "k = 0"), {"x", "y"}, k=INT)
    x, y = np.arange(1.0, 6.0), np.array([0.5, 0.25, 2.0])
    dx, dy = np.ones(5), np.zeros(3)
    given = arguments(form, u_k=0, m_u_x=x.copy(), m_u_y=y)
    shadows = [{"u_x": dx, "u_y": dy}[name] for name in form.shadows]
    (i, k), _ = swept(form, range(3), given, shadows, (2,))
    assert (i, k) == (2, 2)
    assert_allclose(dx, [1.0, 1.5, 4.0, 3.25, 1.0])
    assert_allclose(dy, [2.0, 4.0, 3.0])


def test_each_branch_has_its_adjoint():
    body = "if x[i] > 0.0:\n    s += x[i] * x[i]\nelse:\n    s -= 3.0 * x[i]\n    x[i] = 1.0"
    form = form_of(read_body(body, "s = 0.0"), {"x"})
    x, dx = np.array([2.0, -1.0, -4.0, 3.0]), np.full(4, 10.0)
    results, _ = swept(form, range(4), arguments(form, u_s=0.0, m_u_x=x), (dx,), (), (1.0,))
    assert results[:2] == [3, 28.0]
    assert_allclose(dx, [14.0, -3.0, -3.0, 16.0])


def test_inner_ranges_run_backwards():
    # m_ij = x_j m_i,j-1 for j = 1 .. i.
    body = "for j in range(1, i + 1):\n    m[i, j] = x[j] * m[i, j - 1]"
    form = form_of(read_body(body), {"x", "m"})
    m, x = np.full((4, 4), 2.0), np.array([1.0, 3.0, 5.0, 7.0])
    dm, dx = np.eye(4), np.zeros(4)
    shadows = [{"u_x": dx, "u_m": dm}[name] for name in form.shadows]
    swept(form, range(4), arguments(form, m_u_x=x, m_u_m=m), shadows)
    assert_allclose(np.diag(m), 2.0 * np.cumprod(x))
    assert_allclose(dx, [0.0, 2 + 10 + 70, 6 + 42, 30])
    assert_allclose(dm[:, 0], np.cumprod(x))


def test_passes_after_a_break_are_not_reversed():
    # Doubles x_i up to the first that is larger than 2, and skips those below 0.
    body = "if x[i] < 0.0: continue\nif x[i] > 2.0: break\nx[i] *= 2.0"
    form = form_of(read_body(body), {"x"})
    x, dx = np.array([1.0, -1.0, 0.5, 3.0, 1.0]), np.ones(5)
    (i,), _ = swept(form, range(5), arguments(form, m_u_x=x), (dx,))
    assert i == 3
    assert_allclose(dx, [2.0, 1.0, 2.0, 1.0, 1.0])


def test_what_is_not_finite_leaves_its_mark():
    form = form_of(read_body("x[i] *= 1e200"), {"x"})
    for first, finite in ((1.0, True), (1e200, False), (math.nan, False)):
        x = np.array([first, 1.0])
        z, _ = form.forward([].append, [].append, range(2), memoryview(x))
        assert (z == 0.0) is finite


def arguments(form, **given):
    """Return the inputs of the forward sweep in their order."""
    head = form.text.splitlines()[0]
    names = head[head.index("r0, ") + 4 : head.index(")")].split(", ")
    return [given[name] for name in names]
