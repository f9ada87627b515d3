"""Loops that append arrays to lists, and read them: statement by statement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpointed, grad, hvp, jacobian, jvp, value_and_grad, vjp
from tests.compiler.comparing import agrees, agrees_along, equals_reference

Y = np.array([0.3, 0.7, -0.2])
W = np.array([0.5, -0.4, 0.9])
V = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.6, -0.7])


def slope(y, w):
    return np.array([y[1], -math.sin(y[0]) * w[0], y[2] * y[0]])


def copies(y, w):
    states = [y.copy()]
    for _ in range(6):
        y += 0.1 * np.sin(y) * w
        states.append(y.copy())
    return np.sum(np.array(states) ** 2)


def new_ones(y, w):
    states = [y]
    for _ in range(6):
        y = y + 0.1 * np.sin(y) * w
        states.append(y)
    states[2][1] *= 0.5
    return np.sum(np.array(states) ** 2) + np.sum(y)


def from_the_last(y, w):
    states = [y, 0.5 * w]
    for k in range(6):
        states.append(states[-1] + 0.1 * states[-2] * np.sin(states[k // 2]))
    return np.sum(states[-1] * states[3]) + np.sum(states[4] ** 2)


def of_components(y, w):
    states = [y]
    for _ in range(6):
        y = states[-1]
        k1 = slope(y, w)
        k2 = slope(y + 0.1 * k1, w)
        states.append(y + 0.05 * (k1 + k2))
    return np.sum(np.array(states) ** 2)


def of_a_call(y, w):
    states = [y]
    for _ in range(6):
        states.append(states[-1] + 0.1 * slope(states[-1], w))
    return np.sum(states[-1] ** 2)


def written_down(y, w):
    out, times = [], [0.0]
    for k in range(6):
        times.append(times[-1] + 0.1)
        out.append(np.array([y[0] * times[-1], w[1] * k, y[2] ** 2]))
    return np.sum(np.array(out) ** 2) + times[-1] * y[0]


def twice(y, w):
    p, q = [y], []
    for _ in range(5):
        y = 0.9 * y * w + 0.1
        p.append(y)
        p.append(y)
        q.append(y)
    p[1][0] += 1.0
    assert p[1] is p[2] is q[0]
    return np.sum(np.array(p) ** 2) + np.sum(q[0] * q[3])


def by_two_names(y, w):
    p = q = [y, w]
    for k in range(5):
        p.append(np.tanh(q[-1] * q[k]))
        q.append(0.3 * p[-1] + p[-3])
    return np.sum(np.array(p) ** 2)


def with_breaks(y, w):
    p, z = [y], y
    for k in range(9):
        if k % 3 == 1:
            continue
        z = p[-1] @ w * p[-1] + y
        if k > 5:
            break
        p.append(z if k % 2 else 0.5 * z)
    return np.sum(np.array(p) ** 3) + np.sum(z)


def of_matrices(y, w):
    m = np.outer(y, w)
    p = [m]
    for _ in range(4):
        p.append(0.5 * p[-1] @ m + p[0])
    return np.trace(p[-1]) + np.sum(p[2] * m)


def nested(y, w):
    x = y * 1.0
    p = []
    for k in range(4):
        for i in range(1, 3):
            x[i] += 0.3 * x[i - 1] * w[k % 3]
        p.append(x.copy())
    return np.sum(np.array(p) ** 2)


def only_read(y, w):
    p = [y * k for k in range(1, 6)]
    s = 0.0
    for k in range(1, len(p)):
        d = p[k] - w * p[k - 1]
        s += d @ d
    for v in reversed(p):
        s += np.sum(v * v) * 0.1
    return s


def of_products(y, w):
    m = np.outer(y, w)
    p = [y, w]
    q = [0.5, 2.0, 0.7]
    for k in range(4):
        y = y + 0.1 * np.dot(m, p[k % 2]) * q[k % 3] - np.roll(p[0], k)
        w = w + q[2] * np.sum((p[1] - y) ** 2)
    return np.sum(y * w)


def of_one_array(y, w):
    p = [y, y]
    for k in range(4):
        p.append(p[k] * p[1] + w)
    y[0] = 2.0
    return np.sum(np.array(p) ** 2)


def items_again(y, w):
    p, z = [y], y
    for _ in range(5):
        z = p[-1]
        p.append(z)
        p.append(0.5 * z * w)
        z = p[0]
    p[1][1] = 0.3
    assert p[0] is p[1] is z
    return np.sum(np.array(p) ** 2) + np.sum(z)


FORMS = [
    copies, new_ones, from_the_last, of_components, of_a_call, written_down, twice, by_two_names,
    with_breaks, of_matrices, nested, only_read, of_products, of_one_array, items_again,
]  # fmt: skip


# All of them.


@pytest.mark.plain
@pytest.mark.parametrize("f", FORMS)
def test_lists_of_arrays(f):
    agrees(f, Y.copy(), W.copy())


@pytest.mark.plain
@pytest.mark.parametrize("f", FORMS)
def test_along_a_direction_and_twice(f):
    agrees_along(f, (Y, W), V)


@pytest.mark.parametrize("f", FORMS)
def test_in_parts_that_run_twice(f):
    def steps(y, w):
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = s + f(y, w)
            y *= 0.9
        return s

    equals_reference(steps, Y.copy(), W.copy())


@pytest.mark.parametrize("f", FORMS)
def test_statement_by_statement_and_checked(f):
    found = value_and_grad(f, (0, 1))(Y.copy(), W.copy())
    checked = value_and_grad(f, (0, 1), debug=True)(Y.copy(), W.copy())
    assert found[0] == checked[0]
    assert_allclose(found[1], checked[1], rtol=1e-12)


@pytest.mark.parametrize("f", [from_the_last, twice, of_one_array])
def test_inside_other_derivatives(f):
    exact = jacobian(lambda y: grad(lambda z: f(z, W.copy()))(y.copy()))(Y)
    expected = [hvp(lambda y: f(y * 1.0, W.copy()), (Y,), e) for e in np.eye(3)]
    assert_allclose(exact, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.plain
def test_lists_that_are_arguments():
    def f(states, w):
        for _ in range(5):
            states.append(states[-1] * w + states[0])
        states[1][0] = 0.7
        return np.sum(np.array(states) ** 2)

    states = [Y.copy(), W * Y]
    given = list(states)
    agrees(f, states, W.copy())
    assert len(states) == 2
    assert all(map(lambda a, b: a is b, states, given))
    tangents = [V[0], V[1]]
    gradient = grad(f, (0, 1))(states, W)
    along = sum(np.sum(g * t) for g, t in zip(gradient[0], tangents, strict=True))
    along += gradient[1] @ V[0]
    assert_allclose(jvp(f, (states, W), (tangents, V[0]))[1], along, rtol=1e-12)


@pytest.mark.plain
def test_lists_that_are_captured_may_hold_anything():
    kept = ["first", None]

    def f(y, w):
        for _ in range(5):
            y = np.sin(y) * w
            kept.append(y)
        return np.sum(kept[-1] * kept[3])

    agrees(lambda y, w: (kept.__delitem__(slice(2, None)), f(y, w))[1], Y.copy(), W.copy())


@pytest.mark.plain
def test_the_pullback_reads_what_was_there():
    """What the way back reads of arrays in lists is put back, as others may change it meanwhile."""

    def f(y, w):
        p = [y]
        for _ in range(4):
            p.append(p[-1] * p[-1] * w)
        for v in p:
            v *= 0.5
            v[1] += w[0]
        return np.sum(np.array(p) ** 2)

    agrees(f, Y.copy(), W.copy())
    agrees_along(lambda y, w: f(y * 1.0, w), (Y, W), V)


@pytest.mark.plain
def test_a_cotangent_of_a_list():
    def f(y):
        p = [y]
        for _ in range(3):
            p.append(p[-1] * p[-1])
        return p

    value, pull = vjp(f, Y.copy())
    seeds = [np.cos(k + Y) for k in range(4)]
    (found,) = pull(seeds)
    expected = sum(s * 2**k * Y ** (2**k - 1) for k, s in enumerate(seeds))
    assert_allclose(found, expected, rtol=1e-12)
    assert_array_equal(value[2], (Y * Y) * (Y * Y))


# What may change, or fail.


@pytest.mark.plain
@pytest.mark.parametrize(
    "line",
    [
        "p.append(m[k])",  # a view
        "p.append(np.ravel(y))",
        "p.append(y[::-1])",
        "p.append(x)",  # changed in place below
        "p.append(z); z[0] = 0.5 * w[0]",
        "p.append(0.5 * p[-1]); p[-1][1] = 0.3",
        "p.append(0.5 * p[-1]); p[0] = w",
        "p.append(w); p.append(w[:2])",
        "p.append(0.3); p.append(w); p.pop(-2)",
        "p.append(w.astype(np.float32) * y)",
    ],
)
def test_what_is_left_as_it_is(line, tmp_path):
    from tests.programs.comparing import function_of

    text = (
        "import numpy as np\n\n"
        "def f(y, w):\n    m = np.outer(y, w)\n    x = y.copy()\n    p = [x]\n"
        "    for k in range(3):\n        z = y * w\n        x *= 0.9\n"
        f"        {line}\n        y = y + z\n"
        "    m[0, 1] = 0.3\n    return sum([np.sum(v ** 2) for v in p]) + np.sum(y) + m[0, 2]\n"
    )
    f = function_of(text, f"<left {line}>")
    equals_reference(f, Y.copy(), W.copy())
    v = np.cos(Y)
    assert_allclose(jvp(f, (Y, W), (v, 0.0 * W))[1], grad(f)(Y.copy(), W) @ v, rtol=1e-10)


@pytest.mark.plain
@pytest.mark.parametrize("at", [0, 3])
def test_errors_part_way(at):
    def f(states, w):
        for k in range(5):
            states.append(states[-1] * w)
            if k == at:
                raise ValueError("too far")
        return np.sum(states[-1])

    def g(states, w):
        for k in range(5):
            states.append(states[-4 - k * at] * w)
        return np.sum(states[-1])

    states = [Y.copy()]
    for h, error in ((f, ValueError), (g, IndexError)):
        with pytest.raises(error):
            value_and_grad(h, (0, 1))(states, W)
        with pytest.raises(error):
            jvp(h, (states, W), ([V[0]], V[1]))
        assert len(states) == 1
        assert_array_equal(states[0], Y)


@pytest.mark.plain
def test_errors_that_are_caught_leave_what_was_appended():
    def f(y, w):
        p = [y]
        try:
            for k in range(5):
                p.append(p[-1] * w)
                if k == 2:
                    raise ValueError
        except ValueError:
            p.append(w)
        return np.sum(np.array(p) ** 2)

    agrees(f, Y.copy(), W.copy())


@pytest.mark.plain
def test_values_that_are_not_finite_are_those_of_the_statements():
    def f(y, w):
        p = [y]
        for _ in range(4):
            p.append(p[-1] / w)
        return np.sum(p[-1][:2])

    with np.errstate(all="ignore"):
        equals_reference(f, Y.copy(), np.array([0.5, 0.2, 0.0]))
