"""Several names for one array, some of which a loop rebinds, as in plain Python.

What cannot be compiled runs as before: the test is of what comes out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp, value_and_grad
from mooncake_py.compiler.native.reading.aliases import Aliases
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.1, 1.9])
V = np.array([1.0, -2.0, 0.5])


def exchanged_with_another_name(x, n):
    y, first = np.zeros(3), x
    for _ in range(n):
        x, y = y, x
        y[1] = 7.0
    return np.sum(first * first)


def written_after_an_inner_loop(x, n):
    y, first = np.zeros(3), x[:]
    for _ in range(2):
        for _ in range(n):
            x, y = y, x
        y[1] = 7.0
    return np.sum(first * first)


def three_change_places(x, n):
    y, w, first = np.zeros(3), np.ones(3), x
    for _ in range(n):
        x, y, w = y, w, x
        w[1] += 2.0
    return np.sum(first * first)


def exchanged_by_a_third_name(x, n):
    y, first = x + 1, x
    for _ in range(n):
        y[0] += 1.0
        t = x
        x = y
        y = t
    return np.sum(first * first) + y[1]


def exchanged_in_a_branch(x, n):
    y = np.zeros(3)
    first = y
    for i in range(n):
        if i % 2:
            x, y = y, x
        x[1] += 7.0
    return np.sum(first * first) + x[1]


def in_a_list(x, n):
    y = np.zeros(3)
    both = [x, y]
    for _ in range(n):
        x, y = y, x
        y[1] = 7.0
    return np.sum(both[0] ** 2) + np.sum(both[1] ** 3)


def in_a_default(x, n):
    y = x * 2

    def scaled(q, w=y):
        return q * w[0]

    s = 0.0
    for _ in range(n):
        y[0] += 1
        y = y * 0.5
        s += scaled(1.0)
    return s


def made_in_the_pass(x, n):
    z, s = x * 3, 0.0
    for _ in range(n):
        t = x * 2
        z = t
        z[1] = 7.0
        s += t[1] * x[1] + z[0]
    return s


def made_in_the_pass_and_filled(x, n):
    z = x * 1.0
    for _ in range(n):
        t = x * 2
        z = t
        z.fill(3.0)
        z = z * x + t
    return np.sum(z * z)


def made_in_the_pass_and_copied_to(x, n):
    z, s = x * 1.0, 0.0
    for _ in range(n):
        t = x * 2
        z = t
        np.copyto(z, x)
        s += np.sum(t) + z[1]
    return s


def two_names_of_what_the_pass_made(x, n):
    z, w, s = x * 1.0, x * 1.0, 0.0
    for _ in range(n):
        w[0] += 1
        s += z[0]
        t = x * 2
        z = t
        w = t
    return s


def one_becomes_the_other(x, n):
    y, z, s = x * 2, x * 3, 0.0
    for _ in range(n):
        z = y
        z[1] = 7.0
        s += y[1] * x[0]
        y = z * 1.5
    return s


def one_becomes_the_other_and_is_written_in_the_next_pass(x, n):
    u, y, s = x * 1.0, np.zeros(3), 0.0
    for _ in range(n):
        u[0] = 5.0
        s += y[0]
        y = u * 2
        u = y
    return np.sum(u * y) + s


def memory_that_is_written_before_the_name_is_bound(x, n):
    total = x
    for _ in range(n):
        x *= 2
        total = total + x
    return np.sum(total)


def view_that_is_bound_after_a_write(x, n):
    y = x * 1.0
    v = y[1:]
    for _ in range(n):
        y[1] = 3.0
        v = v * 2
    return np.sum(v)


def written_by_another_name_after_the_loop(x, n):
    u, before = x * 1.0, x * 0.5
    z = u
    for _ in range(n):
        before, u = u, 2 * u - before
    z[1] *= 1.5
    return np.sum(u) + np.sum(before)


def written_by_a_view_after_the_loop(x, n):
    a, b = x * 1.0, x * 2.0
    v = a[1:]
    for _ in range(n):
        a, b = b, a
    v[0] = 5.0
    return np.sum(a + 2 * b)


def written_by_a_part_of_complex_numbers(x, n):
    z = x * 1j
    w, r = z, z.imag
    for _ in range(n):
        z, w = w * 1j, z
        r[0] += 1
    return np.sum(np.abs(w) ** 2) + np.sum(z.real) + np.sum(r)


def one_of_three_that_move_on(x, n):
    a, b, c = x * 1.0, x * 0.7, x * 0.5 + 1
    z = b
    for _ in range(n):
        a, b, c = b + c, a, b
    z[1] *= 1.5
    return np.sum(a * 2) + np.sum(b * b) + np.sum(c * 3)


def row_of_a_matrix_that_moves_on(x, n):
    p = np.outer(x, x)
    q = p * 0.5
    z = q[0]
    for _ in range(n):
        p = p @ q * 0.3
        p, q = q, p
    z[1] *= 1.5
    return np.sum(p * p) + np.sum(q)


class Pair:
    def __init__(self, u):
        self.u, self.v = u, u * 0.5

    def exchange(self):
        self.u, self.v = self.v, self.u


def attributes(x, n):
    p = Pair(x.copy())
    for _ in range(n):
        p.v[0] += p.u[1]
        p.u, p.v = p.v, p.u
    return np.sum(p.u * p.v) + np.sum(p.u)


def attributes_in_a_method(x, n):
    p = Pair(x.copy())
    for _ in range(n):
        p.v[0] += p.u[1]
        p.exchange()
    return np.sum(p.u * p.v) + np.sum(p.u)


def stepped(u, n):
    v = np.zeros_like(u)
    for _ in range(n):
        v[1:-1] = u[:-2] + u[2:] * 0.5
        u, v = v, u
    return np.sum(u)


def doubled(u, n):
    for _ in range(n):
        u[0] += 1.0
        u = u * 2.0
    return u


def relax(u, v, n):
    for _ in range(n):
        u, v = v, u
        u[1:-1] = 0.5 * (v[:-2] + v[2:])


def argument_that_a_callee_writes(x, n):
    y = x * 1.0
    return stepped(y, n) + np.sum(y * y)


def argument_that_a_callee_writes_and_binds(x, n):
    y = x * 1.0
    return y[0] * 0 + doubled(y, n)[1] * y[0]


def argument_in_a_list_that_a_callee_writes(x, n):
    values = [x]
    r = stepped(x, n)
    return np.sum(values[0]) * r


def view_of_an_argument_that_a_callee_writes(x, n):
    y = x[::-1]
    r = stepped(x, n)
    return r * y[0] + r * y[1]


def argument_of_calls_in_a_loop(x, n):
    r = 0.0
    for _ in range(2):
        r += stepped(x, n)
    return r


def arguments_that_a_callee_exchanges(x, n):
    a, b = x.copy(), x.copy()
    relax(a, b, n)
    return np.sum(a * a) + np.sum(b)


def loop_that_may_bind(x, n):
    y = x * 1.0
    v = y
    for i in range(60 * n):
        if x[i % 3] > 100:
            v = v * 2
    y[0] += 1
    return np.sum(y) + np.sum(v * v)


def loop_that_only_exchanges(x, n):
    a, b = x * 1.0, x * 0.7
    z = a
    kind = str(n)
    for _ in range(60 * n + 1):
        a, b = b, a
    z[1] *= 1.5
    return np.sum(a * 2) + np.sum(b * b) + 0 * len(kind)


# Those that users write, which are compiled.


def two_buffers(x, n):
    v = np.zeros(3)
    for _ in range(n):
        v[1] = x[0] + x[1]
        v[0] = x[2]
        v[2] = 1.0
        x, v = v, x
    return np.sum(x * x) + np.sum(v)


def two_buffers_by_a_third_name(x, n):
    u, v = x * 1.0, np.zeros(3)
    for _ in range(n):
        v[1] = u[0]
        v[0] = u[2]
        t = u
        u = v
        v = t
    return np.sum(u * x) + np.sum(v**2)


def two_buffers_of_a_callee(x, n):
    r = stepped(x, n)
    return r * r


def two_buffers_of_a_callee_and_a_copy(x, n):
    return stepped(x.copy(), n) * x[0]


def bound_to_what_the_pass_made(x, n):
    u = x * 1.0
    for _ in range(n):
        new = u * 0.5
        new[0] = u[1] * x[2]
        u = new
    return np.sum(u * u)


def bound_to_another_at_the_end(x, n):
    u, y = x * 1.0, np.zeros(3)
    for _ in range(n):
        y = u * 2
        y[0] = 1.0
        u = y
    return np.sum(u * y)


COMPILED = (
    two_buffers, two_buffers_by_a_third_name, two_buffers_of_a_callee,
    two_buffers_of_a_callee_and_a_copy, bound_to_what_the_pass_made, bound_to_another_at_the_end,
)  # fmt: skip
OTHERS = (
    exchanged_with_another_name, written_after_an_inner_loop, three_change_places,
    exchanged_by_a_third_name, exchanged_in_a_branch, in_a_list, in_a_default, made_in_the_pass,
    made_in_the_pass_and_filled, made_in_the_pass_and_copied_to, two_names_of_what_the_pass_made,
    one_becomes_the_other, one_becomes_the_other_and_is_written_in_the_next_pass,
    memory_that_is_written_before_the_name_is_bound, view_that_is_bound_after_a_write, attributes,
    attributes_in_a_method, argument_that_a_callee_writes, argument_that_a_callee_writes_and_binds,
    argument_in_a_list_that_a_callee_writes, view_of_an_argument_that_a_callee_writes,
    argument_of_calls_in_a_loop, arguments_that_a_callee_exchanges, loop_that_may_bind,
    loop_that_only_exchanges, written_by_another_name_after_the_loop,
    written_by_a_view_after_the_loop, written_by_a_part_of_complex_numbers,
    one_of_three_that_move_on, row_of_a_matrix_that_moves_on,
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", COMPILED + OTHERS, ids=lambda f: f.__name__)
def test_compiled_as_in_plain_python(f: Any, tried: list[bool]) -> None:
    for n in (1, 2, 3):
        x = X.copy()
        value, g = value_and_grad(f, compile=True)(x, n)
        expected, h = value_and_grad(f)(X.copy(), n)
        assert_allclose(value, f(X.copy(), n), rtol=1e-13)
        assert_allclose(expected, value, rtol=1e-13)
        assert_allclose(g, h, rtol=1e-12)
        assert_allclose(jvp(f, (x, n), (V, None), compile=True)[1], h @ V, rtol=1e-12)
        assert_allclose(x, X, rtol=0)
    assert f not in COMPILED or report(f)[0].found == "compiled"


def test_an_array_that_is_copied_is_that_of_the_source():
    aliases = Aliases()
    aliases.copied("u", "new", True)
    aliases.copied("v", "u", True)
    assert aliases.others("v") == {"u", "new"}
    aliases.copied("u", "", False)  # in a branch: it may be the same still
    assert aliases.others("new") == {"u", "v"}
    aliases.copied("u", "", True)
    assert aliases.others("new") == {"v"}
