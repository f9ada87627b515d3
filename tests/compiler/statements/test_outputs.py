"""Functions of two arguments and ``out=`` in statements on arrays, against the general way."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, hvp, jvp, rewritten, value_and_grad, vjp
from mooncake_py.compiler.statements import masks
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.test_array_statements import M, W, X, gradient
from tests.support.gradients import differences
from tests.support.pairs import rotating

# Functions of two arguments within expressions.


def limited(x, w):
    y = np.minimum(x[1:] * w[1:], x[:-1]) + np.maximum(x[:-1], 0.1) * 2.0
    x[1:] -= np.minimum(np.maximum(y, -0.5), w[:-1]) * np.minimum(w[1:], x[1:])
    return np.sum(x * w) + np.sum(y * y)


def distances(x, w):
    y = np.hypot(x, w[::-1]) - np.arctan2(w, x + 3.0) * x[0]
    y[1:] *= np.hypot(y[:-1], 2.0)
    return np.sum(y * w)


def operators_by_name(x, w):
    y = np.add(x, np.multiply(w, 2.0)) - np.subtract(x[0], x) * np.divide(w, x)
    y[1:] = np.divide(np.power(y[1:], 2), np.add(w[1:], 4.0)) + np.negative(y[:-1])
    y -= np.power(np.power(w, 2), x) + np.float_power(np.abs(x), 1.5)
    return np.sum(y * np.power(x, 3))


def broadcast(m, w):
    y = np.maximum(m, w[:3]) * np.minimum(m[:, 1, None], m[0]) + np.maximum(w[2:, None], w[:3])
    m[1:] += np.hypot(m[:1], w[1:3, None]) * np.minimum(y[1:], 1.0)
    return np.sum(y * m) + np.sum(np.maximum(m, y))


def one_derivative_only(x, w):
    y = np.copysign(x, w) * w + np.heaviside(x, w) - np.copysign(w, x) * 0.5
    y[1:] *= np.fmod(x[1:] * 3.1, w[1:]) + np.copysign(2.0, x[:-1])
    return np.sum(y * x)


def numbers_beside_arrays(x, w):
    s, t = x[0] * 2.0, w[1]
    y = np.maximum(s, w) * np.hypot(t, x) - np.minimum(x, t)
    y += np.maximum(s, t) * x + np.arctan2(s, t)
    x[1:] *= int(s * 3.0)
    return np.sum(y * x) + np.sum(np.minimum(x, s)) * np.maximum(t, 0.2)


def made_active(x, w):
    a, b, c = np.ones(5), np.zeros(5), np.full(5, 0.2)
    a[1:] = np.minimum(x[1:], 0.9) * c[1:]
    np.maximum(b, x * w, out=b)
    np.add(w[2:], c[2:], out=c[2:])
    return np.sum(a * b * c)


# Statements with `out=`.


def in_place(x, w):
    np.minimum(x, w * x[0] + 0.2, out=x)
    np.multiply(x, w, out=x)
    np.add(x, w, out=x)
    np.subtract(w, x, out=x)
    np.divide(x, w + 4.0, out=x)
    np.divide(w, x + 9.0, out=w)
    np.add(x, x, out=x)
    np.maximum(x, 0.1, out=x)
    np.hypot(x, w, out=x)
    return np.sum(x * w)


def of_one_argument(x, w):
    y = np.empty(5)
    np.sin(x * w, out=y)
    np.exp(-y, out=y)
    np.negative(x[1:], out=x[1:])
    np.square(x, out=w)
    np.sqrt(w + 1.0, out=w[...])
    np.tanh(w, out=w)
    return np.sum(x * y * w)


def slices_and_views(x, w):
    v = x[1:4]
    np.add(x[1:], x[:-1], out=x[1:])
    np.multiply(x[:-1], w[1:], out=x[1:])
    np.maximum(x[::-1], w * 0.5, out=x)
    np.minimum(v, x[2:], out=v)
    np.subtract(v[::-1], w[:3], out=x[::2])
    np.multiply(v, v[::-1], out=v)
    return np.sum(x * w)


def transposed(m, w):
    t = m.T
    np.add(m, t, out=m)
    np.minimum(t, m[:, 1, None] + m[0], out=t)
    np.multiply(m[1:], w[:3], out=t[:, 1:].T)
    np.maximum(m[:, :1], w[:3], out=m[...])
    return np.sum(m * m * w[:3])


def broadcast_into(m, w):
    y = np.zeros((2, 3))
    np.multiply(w[0], w[:3], out=y)
    np.add(m[0], w[3], out=m)
    np.hypot(m[:, 2, None], 1.0, out=m)
    np.minimum(m[1], 2.0, out=y[1:])
    return np.sum(m * m * w[:3]) + np.sum(y * y)


def shortest_paths(m, w):
    m[...] = np.abs(m) + w[:3]
    for k in range(3):
        np.minimum(m, m[:, k, None] + m[k], out=m)
    return np.sum(m * m)


class Grid:
    def __init__(self, x, w):
        self.x, self.w, self.scratch = x, w, np.empty(4)

    def step(self):
        np.multiply(self.x[1:], self.w[:-1], out=self.scratch)
        np.minimum(self.x[1:], self.scratch + 0.1, out=self.x[1:])
        np.add(self.w, self.x * 0.5, out=self.w)


def attributes(x, w):
    grid = Grid(x, w)
    grid.step()
    grid.step()
    return np.sum(grid.x * grid.w) + np.sum(grid.scratch)


def scratch_used_again(x, w):
    scratch = np.empty(4)
    for _ in range(3):
        np.multiply(x[1:], w[:-1], out=scratch)
        np.sin(scratch, out=scratch)
        x[:-1] += np.maximum(scratch, 0.1 * x[1:])
    return np.sum(x * w)


def general_ways(x, w):
    y = np.add(x, w, out=x)
    np.multiply(y, 2.0, where=w > 0.5, out=x)
    np.add(x, w, w)
    np.sin(w, out=(x,))
    z = w.astype(np.float32)
    np.add(x, w, out=z, casting="same_kind")
    np.multiply(x, w, out=z)
    np.add(x[1], w[1], out=None)
    np.maximum(x, w[np.array([1, 1, 0, 3, 2])], out=x)
    np.minimum(x, 1.0, out=x[::-1])
    return np.sum(x * y) + np.sum(w * z)


PROGRAMS = {
    **dict.fromkeys(
        (
            limited, distances, operators_by_name, one_derivative_only, numbers_beside_arrays,
            made_active, in_place, of_one_argument, slices_and_views, attributes,
            scratch_used_again,
        ),
        (X, W),
    ),
    **dict.fromkeys((broadcast, transposed, broadcast_into, shortest_paths), (M, W)),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "argnums"), rotating(PROGRAMS, [(0,), (1,), (0, 1)]))
def test_equals_general_and_differences(f, argnums):
    args = PROGRAMS[f]
    value, fused = gradient(f, args, argnums)
    again = gradient(f, args, argnums)[1]
    reference, general = gradient(f, args, argnums, fuses=False)
    repeated = gradient(lambda a, b: checkpoint(f, a, b), args, argnums)[1]
    assert value == reference == f(*(a.copy() for a in args))
    for k, a, b, c, d in zip(argnums, fused, general, again, repeated, strict=True):
        assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        assert_allclose(c, a, rtol=0, atol=0)
        assert_allclose(d, a, rtol=1e-14, atol=1e-14)
        assert_allclose(a.ravel(), differences(f, args, k), rtol=1e-6, atol=1e-8)


def test_what_is_no_such_statement_goes_the_general_way():
    value, fused = gradient(general_ways, (X, W), (0, 1))
    reference, general = gradient(general_ways, (X, W), (0, 1), fuses=False)
    assert value == reference == general_ways(X.copy(), W.copy())
    for a, b in zip(fused, general, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("f", [limited, in_place, shortest_paths], ids=lambda f: f.__name__)
def test_second_order(f):
    args = PROGRAMS[f]

    def along_first(x):
        return f(x, args[1].copy())

    direction = np.cos(np.arange(args[0].size)).reshape(args[0].shape)
    _, (plus,) = gradient(along_first, (args[0] + 1e-6 * direction,), (0,))
    _, (minus,) = gradient(along_first, (args[0] - 1e-6 * direction,), (0,))
    found = hvp(along_first, (args[0].copy(),), direction)
    assert_allclose(np.asarray(found).squeeze(), (plus - minus) / 2e-6, rtol=1e-5, atol=1e-6)


def form_of(text: str, define: Any) -> str:
    """Return the code that was made for a statement, as it is shown."""
    f = define(f"import numpy as np\ndef f(d, e):\n    {text}\n    return np.sum(d)\n")
    value_and_grad(f, (0, 1))(np.arange(1.0, 5.0), np.arange(2.0, 6.0))
    return rewritten(f)


@pytest.mark.plain
def test_masks_are_kept_instead_of_operands_and_no_cotangent_is_copied(define):
    shown = form_of("np.minimum(d, e * 0.5, out=d)", define)
    assert "C.fused(np.minimum(d, e * 0.5, out=d))" in shown
    assert "    take_rest(g, d1, w_t1, 0, slot)\n" in shown
    assert "    multiply(g, w_t0_0, out=slot)\n" in form_of("np.minimum(d, 2.5, out=d)", define)
    assert "slot.copy()" not in shown
    assert "k0" not in shown
    assert "k1" not in shown


@pytest.mark.plain
def test_an_operand_that_is_not_read_is_not_kept(define):
    assert "f_rule(None, t1)" in form_of("d[:] = np.tanh(d * e)", define)
    shown = form_of("d[:] = np.sin(d * e)", define)
    assert "f_rule(t0, None)" in shown
    assert "k0 = " in shown
    assert "t1" not in shown.partition("def run")[0]


# Ties, infinities and nan.


def both_ways(f, *args):
    """Return the gradients with respect to all arguments, recorded both ways."""
    argnums = tuple(range(len(args)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (gradient(f, args, argnums)[1], gradient(f, args, argnums, fuses=False)[1])


def test_ties_share_the_derivative_and_nan_has_none():
    def f(x, w):
        y = np.maximum(x, w) * 3.0 + np.minimum(w, x)
        np.minimum(y, x * 4.0, out=y)
        return np.sum(y)

    x = np.array([1.0, 2.0, np.nan, -0.0, np.inf, -np.inf, 3.0])
    w = np.array([1.0, 1.0, 1.0, 0.0, np.inf, 1.0, np.nan])
    fused, general = both_ways(f, x, w)
    for a, b in zip(fused, general, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(fused[0][:4], [3.0, 3.0, 0.0, 3.0])


def test_an_infinite_cotangent_does_not_pass_a_mask():
    def f(x):
        return np.sum(np.sqrt(np.maximum(x, 0.5) - 0.5))

    def in_place(x):
        np.maximum(x, 0.5, out=x)
        x -= 0.5
        np.sqrt(x, out=x)
        return np.sum(x)

    x = np.array([-1.0, 0.75, 0.25, 4.5])
    for g in (f, in_place):
        fused, general = both_ways(g, x)
        assert_array_equal(fused[0], [0.0, 1.0, 0.0, 0.25])
        assert_array_equal(general[0], fused[0])


def test_sums_of_masks_are_sums_of_numbers():
    def f(x):
        return np.sum(np.maximum(x, 0.0) + np.maximum(x, -1.0) - np.minimum(x, 0.5))

    fused, general = both_ways(f, np.array([-2.0, -0.5, 0.25, 1.0]))
    assert_array_equal(fused[0], [-1.0, 0.0, 1.0, 2.0])
    assert_array_equal(general[0], fused[0])


def test_large_masks_are_kept_as_bits():
    def f(x, w):
        y = np.maximum(x * w, x[0]) + np.minimum(x, w[:, 1, None]) * 0.5
        np.minimum(x, y, out=x)
        np.maximum(w[::-1] * 2.0, x, out=x)
        return np.sum(x * y)

    random = np.random.default_rng(5)
    x, w = random.normal(size=(2, 71, 67))
    assert x.size > masks.SMALL
    for k in range(3):
        fused, general = both_ways(f, x, w)
        for a, b in zip(fused, general, strict=True):
            assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        x[k, 3:9] = (w[k, 3:9], np.nan, np.inf)[k]  # ties, nan and inf


def test_numbers_that_tie_have_a_derivative_of_full_precision():
    def f(t):
        return np.maximum(t, t) * 0.3 + np.fmin(t, t) + np.minimum(t, 0.7)

    for fuses in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", fuses)
            assert_allclose(value_and_grad(f)(0.7)[1], 0.3 + 1.0 + 0.5, rtol=1e-15)


def test_an_active_number_within_int_is_no_operand_of_the_adjoint():
    def f(x):
        s = x[0] * 2.0 + 3.0
        return np.sum(x * int(s) + int(x[1]) * x[2:3])

    assert_array_equal(value_and_grad(f)(np.array([1.0, 2.0, 3.0]))[1], [5.0, 5.0, 11.0])


# Errors.


def test_errors_are_those_of_the_general_way():
    def too_small(x, w):
        np.add(x, w, out=x[1:])

    def wrong_shapes(x, w):
        np.add(x[1:], w, out=x)

    def turned(x, w):
        np.add(x[None], w, out=x)

    def an_element(x, w):
        np.add(x[0], w[0], out=x[1])

    def a_list(x, w):
        np.add(x, w, out=[1.0])

    def ints(x, w):
        np.add(x, w, out=np.zeros(5, int))

    def read_only(x, w):
        w.flags.writeable = False
        np.add(x, w, out=w)

    def outside(x, w):
        np.add(x, w[9], out=x)

    for f in (too_small, wrong_shapes, turned, an_element, a_list, ints, read_only, outside):
        raised = []
        for fuses in (True, False):
            x, w = X.copy(), W.copy()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(ReverseContext, "fuses", fuses)
                with pytest.raises((ValueError, TypeError, IndexError)) as error:
                    value_and_grad(f, (0, 1))(x, w)
            raised.append((error.type, str(error.value)))
            assert_array_equal(x, X)
            assert_array_equal(w, W)
        assert raised[0] == raised[1]


def test_what_failed_half_way_is_undone():
    def f(x, w):
        try:
            with np.errstate(divide="raise"):
                np.divide(x, w - 0.6, out=x)
        except FloatingPointError:
            x *= 2.0
        return np.sum(x * w)

    x = np.arange(1.0, 6.0)
    fused, general = both_ways(f, x, W)
    for a, b in zip(fused, general, strict=True):
        assert_array_equal(a, b)
    assert jvp(f, (x, W), (x, None))[0] == value_and_grad(f)(x, W)[0] == np.inf


# On numbers.


def of_numbers(x, w):
    s, t = x[0] * 1.5, w[1]
    for k in range(1, 4):
        s = np.minimum(s * x[k], t + w[k]) - np.maximum(s, 0.1 * t)
        t += np.add(s, w[k]) * np.divide(s, np.power(w[0], 2.5) + 1.0)
        x[k] = np.multiply(np.arctan2(x[k - 1], s), np.subtract(w[k], t)) * np.add(1, k)
    return s * t * np.power(2.0, s) + np.sum(x)


def test_functions_of_two_numbers():
    value, fused = gradient(of_numbers, (X, W), (0, 1))
    reference, general = gradient(of_numbers, (X, W), (0, 1), fuses=False)
    assert value == reference == of_numbers(X.copy(), W.copy())
    assert type(value) is type(reference)
    for k, (a, b) in enumerate(zip(fused, general, strict=True)):
        assert_allclose(a, b, rtol=1e-12)
        assert_allclose(a, differences(of_numbers, (X, W), k), rtol=1e-6, atol=1e-8)


def test_two_ints_make_an_int():
    def f(x, n):
        m = np.add(n, 2) * 1
        return x * np.multiply(m, n) / np.power(n, 2), type(m)

    (value, kind), found = value_and_grad(f, has_aux=True)(3.0, 2)
    assert kind is np.int64
    assert value == 6.0
    assert found == 2.0


def test_an_output_that_is_read_by_code_is_written_in_forward_mode():
    def f(x):
        y = x * 1.0
        np.sin(y, out=y.T)
        return np.sum(y * x)

    x = np.array([0.25, -1.5])
    y, dy = jvp(f, (x,), (np.ones(2),))
    assert y == f(x)
    np.testing.assert_allclose(dy, np.sum(np.cos(x) * x + np.sin(x)))


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (4,), (3, 1)])
def test_a_result_that_does_not_fit_is_refused_in_the_words_of_numpy(shape):
    def f(x):
        y = np.zeros(3)
        np.logaddexp(x, np.ones(1), out=y)
        return y

    def row(x):
        y = np.zeros((2, 3))
        y[1] = 1.0
        np.maximum(x, 0.5, out=y[1, :1])
        return y

    x = np.ones(shape)
    for each in (f, row):
        with pytest.raises(ValueError, match=None) as plain:
            each(x)
        for derivative in (lambda g: jvp(g, (x,), (x,)), lambda g: vjp(g, x)):
            with pytest.raises(ValueError, match=None) as raised:
                derivative(each)
            assert str(raised.value) == str(plain.value)
