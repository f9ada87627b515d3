"""Loops that read and write parts of arrays which they bind to names, as one entry."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from mooncake_py import checkpointed, jvp, value_and_grad
from mooncake_py.compiler.native.region_site import RegionSite
from tests.compiler.comparing import agrees, agrees_along, equals_reference
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

RANDOM = np.random.default_rng(11)
X, Y = RANDOM.uniform(0.2, 0.9, (2, 7))
V = np.cos(np.arange(7.0)), np.sin(np.arange(7.0))


def copied_first(u, w):
    for _ in range(5):
        before = u.copy()
        u[1:-1] = before[1:-1] + 0.2 * w[1:-1] * (before[2:] - 2 * before[1:-1] + before[:-2])
    return np.sum(u * u)


def bound_at_the_end(u, w):
    for _ in range(5):
        new = np.copy(u)
        new[1:-1] += 0.2 * w[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = new[-2]
        new[-1] = 0.5 * u[1] * w[0]
        u = new
    return np.sum(u * u)


def normalized(a, w):
    total = 0.0
    for k in range(6):
        a = a * w + 0.1
        c = a.sum()
        a /= c
        total += np.log(c) * w[k]
    return total + np.sum(a * a)


def elements(u, w):
    s = 0.5
    for k in range(1, 6):
        u = u * w[k]
        s += u[k] * u[k - 1] + np.sin(u[0])
        w[k] += 0.1 * u[2] * s
        u[k] = s * u[-1]
        u[0] += w[k]
    return s + np.sum(u) + np.sum(w)


def of_itself(u, w):
    for _ in range(4):
        v = 0.9 * u
        v[1:] = v[:-1] * w[1:]
        v[::2] -= 0.3 * v[::-2]
        v *= v[1]
        u = v + u[::-1]
    return np.sum(u * w)


def of_two_axes(u, w):
    m = np.outer(u, w)
    for k in range(5):
        new = 0.5 * m
        new[1:-1, 1:-1] = 0.25 * (m[2:, 1:-1] + m[:-2, 1:-1] + m[1:-1, 2:] + m[1:-1, :-2])
        new[0] = new[1]
        new[:, -1] = w * new[k, k]
        m = new
    return np.sum(m * m)


def of_saved_results(u, w):
    for k in range(6):
        v = np.exp(-u)
        v[0] *= 0.5
        a = u / w
        a[1:] += 0.1 * v[:-1]
        a *= 0.9
        c = np.sqrt(u)
        c[k] = v[1]
        u = 0.5 * a + c
    return np.sum(u * w)


PROGRAMS = [
    copied_first, bound_at_the_end, normalized, elements, of_itself, of_two_axes, of_saved_results
]  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_taken(f, taken):
    agrees(f, X, Y)
    assert taken[0]


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_forward_mode_and_second_derivatives(f, taken):
    jvp(f, (X, Y), V)
    assert taken[-1]
    agrees_along(f, (X, Y), V)


@pytest.mark.plain
def test_within_a_checkpointed_loop():
    def f(u, w):
        for _ in checkpointed(range(4), 1):
            for _ in range(3):
                new = u.copy()
                new[1:] = u[:-1] * w[1:]
                u = new
            w *= 0.9
        return np.sum(u * u)

    equals_reference(f, X, Y)


@pytest.mark.parametrize(
    "body",
    [
        "v = u\n        v[0] = 2.0 * s",
        "v = u.copy()\n        t = v\n        v[1:] *= 2.0\n        u = t * w",
        "v = u.copy()\n        t = v[1:]\n        v[2] = 3.0\n        s += np.sum(t * t)",
        "u[0] = 0.5 * u[1]\n        u = u * w",
        "v = u * w\n        u = v\n        v[1:] += 0.5\n        s += v[0]",
        "if k > 1:\n            v = u\n        else:\n            v = u.copy()\n        v[0] = s",
        (
            "v = u.copy()\n        for j in range(3):\n            v[j] += s\n            t = v\n"
            "        u = t * w"
        ),
        "v = u[:]\n        v[0] = 0.3",
        "v = t = u * w\n        t *= 0.5\n        u = v + 1.0",
        "v = u.copy()\n        u, v = v, u\n        u[0] = s",
        "v = w\n        v *= 1.1",
        "v = u * 1.0\n        for j in range(3):\n            v *= 1.5\n            v = w",
        (
            "v = u * 1.0\n        for j in range(3):\n            v += 0.5\n            v = q\n"
            "        q = u"
        ),
    ],
)
def test_what_has_another_name_too(body):
    text = "import numpy as np\ndef f(u, w):\n    s = 0.5\n    v = u * 1.0\n    q = w * 0.5\n"
    text += f"    for k in range(4):\n        {body}\n"
    text += "    s += np.sum(q * w) + 0.5 * (1.0 if u is v and np.ndim(u) else 0.0)\n"
    text += "    return np.sum(u * w) + np.sum(v * v) + s\n"
    equals_reference(function_of(text, "<parts of names>"), X, Y)


@pytest.mark.plain
def test_what_is_bound_afterwards_can_be_changed():
    def f(u, w):
        for _ in range(4):
            new = u * w
            new[0] = 0.5
            u = new
        kept = new
        u[1:] *= 2.0
        return np.sum(kept * w) + np.sum(u)

    agrees(f, X, Y)


@pytest.mark.plain
def test_shapes_that_do_not_fit_raise_as_in_the_plain_call(taken):
    def f(u, w):
        for k in range(4):
            new = u.copy()
            new *= w if k < 3 else np.outer(w, w)
            u = new
        return np.sum(u)

    with pytest.raises(ValueError, match="non-broadcastable output"):
        f(X.copy(), Y)
    with pytest.raises(ValueError, match="non-broadcastable output"):
        value_and_grad(f)(X, Y)


@pytest.mark.plain
def test_inner_loops_over_elements_are_part_of_it(taken):
    def f(u, w):
        for _ in range(3):
            before = u.copy()
            for i in range(1, 6):
                u[i] = before[i] - 0.1 * before[i] * w[i] * (before[i] - before[i - 1])
        return np.sum(u * u)

    agrees(f, X, Y)
    assert taken[0]


@pytest.mark.plain
def test_a_linear_loop_saves_nothing(monkeypatch):
    texts = []
    attempt = RegionSite.attempt
    monkeypatch.setattr(
        RegionSite, "attempt", lambda self, ctx, form, *a: texts.append(form.text) or attempt(
            self, ctx, form, *a
        )
    )  # fmt: skip

    def f(u):
        for _ in range(5):
            new = u.copy()
            new[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            new[0] = new[1]
            u = new
        return np.sum(u * u)

    equals_reference(f, X)
    assert texts
    assert not any("push(" in text or "save(" in text for text in texts)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("change", "value"),
    rotating(
        ["v[0] = s", "v[1:] *= 0.5", "v *= w"],
        [
            "np.exp(u)",
            "np.tanh(u)",
            "np.sqrt(u)",
            "1.0 / u",
            "u / w",
            "u / np.sum(u)",
            "np.hypot(u, w)",
            "np.cbrt(u)",
            "np.tanh(w)[::-1]",
            "np.exp(-u).copy()",
        ],
        times=2,
    ),
)
def test_a_result_that_is_saved_is_not_changed(value, change):
    text = f"""
    import numpy as np
    def f(u, w):
        s = 0.5
        for _ in range(5):
            v = {value}
            {change}
            s += 0.1 * v[1]
            u = 0.5 * u + 0.2 * v
        return np.sum(u * w) + s
    """
    equals_reference(function_of(textwrap.dedent(text), "<saved results>"), X, Y)


@pytest.mark.plain
@pytest.mark.parametrize(
    "value",
    ["u / np.sum(np.exp(u))", "u - np.mean(np.sin(u))", "u / np.sqrt(np.sum(u * u) + 1.0)"],
)
@pytest.mark.parametrize("before", ["w[1:] *= 0.9 * w[:-1] * u[1:]", "m[:1] *= m[1:] * w", "pass"])
def test_sums_are_of_their_own_shape(value, before):
    text = f"""
    import numpy as np
    def f(u, w):
        m = np.outer(w[:2], u)
        for _ in range(5):
            {before}
            u = {value}
        return np.sum(np.sin(u) * w) + np.sum(m)
    """
    equals_reference(function_of(textwrap.dedent(text), "<shapes of sums>"), X, Y)


@pytest.mark.plain
def test_names_bound_to_arrays_of_other_shapes_run_as_written(taken):
    def f(u, w):
        a = np.outer(w, w)
        s = 0.0
        for k in range(4):
            s += np.sum(u[1:] * w[: 6 - k])
            u = a[: 6 - k, : 7 - k] @ u
        return s + np.sum(u)

    agrees(f, X, Y)
    assert not any(taken)


def turned(q, h):
    r = h * q[1]
    p = 0.5 * q
    return np.array([r, -q[0] * r, p[2]])


@pytest.mark.plain
def test_elements_of_what_parameters_are_bound_to(taken):
    def f(u, w):
        s = 0.0
        for k in range(5):
            v = turned(u + 0.2 * turned(u, w[k]), 0.5)
            u = 0.3 * u + v
            s += turned(u * v, s + 1.0)[0] if k > 9 else u[0]
        return s + np.sum(u * u)

    value_and_grad(f, (0, 1))(X[:3].copy(), Y)
    assert all(taken)
    agrees(f, X[:3].copy(), Y.copy())
    agrees_along(f, (X[:3], Y), (V[0][:3], V[1]))


@pytest.mark.plain
def test_a_parameter_that_its_function_changes():
    def scaled(q):
        q = 2.0 * q
        q[0] = q[1] * q[2]
        return q

    def in_place(q):
        q[1] = 0.5 * q[0]
        return q * 0.9

    def f(u, w):
        for k in range(5):
            u = scaled(0.4 * u * w) + 0.1 * u
            u = in_place(u + 0.1 * w[k])
        u = in_place(u)
        return np.sum(u * u) + u[1]

    agrees(f, X.copy(), Y.copy())
    agrees_along(f, (X, Y), V)
