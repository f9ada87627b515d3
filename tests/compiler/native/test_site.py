"""Derivatives with compile=True agree with those without, in every mode."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import elementwise, grad, hvp, jvp, local_rules, value_and_grad, vjp
from mooncake_py.compiler.native import region_site, site
from mooncake_py.compiler.native.site import report
from mooncake_py.errors import MooncakeWarning
from tests.compiler.native.whole_functions import FUNCTIONS

pytestmark = pytest.mark.plain


def active(args):
    """Return the positions of the arguments with a derivative."""
    return tuple(
        k for k, a in enumerate(args) if isinstance(a, float) or np.asarray(a).dtype.kind == "f"
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name, tried):
    f, args = FUNCTIONS[name]
    argnums = active(args)
    given = copy.deepcopy(args)
    value, g = value_and_grad(f, argnums, compile=True)(*given)
    assert tried == [True]
    expected, h = value_and_grad(f, argnums)(*copy.deepcopy(args))
    assert type(value) is type(expected)
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    for a, b in zip(given, args, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode_and_second_order(name, tried):
    f, args = FUNCTIONS[name]
    argnums = active(args)
    point = tuple(copy.deepcopy(args[k]) for k in argnums)
    along = tuple(np.cos(a) if np.ndim(a) else 0.7 for a in point)

    def of_active(*given):
        full = list(copy.deepcopy(args))
        for k, a in zip(argnums, given, strict=True):
            full[k] = a
        return f(*full)

    def gradient(*given):
        return grad(of_active, tuple(range(len(argnums))))(*given)

    y, t = jvp(of_active, point, along, compile=True)
    assert True in tried
    y0, t0 = jvp(of_active, point, along)
    assert type(t) is type(t0)
    assert_allclose((y, t), (y0, t0), rtol=1e-9, atol=1e-12)
    second = jvp(gradient, point, along, compile=True)[1]
    for a, b in zip(second, jvp(gradient, point, along)[1], strict=True):
        assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_results_of_any_structure(tried):
    def f(x, k):
        x *= 2.0
        return x, (np.sin(x), k * x[0], None), "text", 3

    x = np.array([0.3, 0.4])
    y, pullback = vjp(f, x, 0.5, compile=True)
    assert tried == [True]
    assert y[2:] == ("text", 3)
    assert y[1][2] is None
    assert_allclose(y[0], [0.6, 0.8])
    dx, dk = pullback((np.array([1.0, 2.0]), (np.array([0.0, 1.0]), 1.0, None), None, None))
    assert_allclose(dx, [2.0 + 0.5 * 2.0, 4.0 + 2 * math.cos(0.8)])
    assert_allclose(dk, 0.6)
    assert_allclose(x, [0.3, 0.4])


def test_function_that_is_called_within_is_compiled_where_the_outer_one_is_not(tried):
    def inner(u, rate):
        for i in range(1, len(u)):
            u[i] += rate * u[i - 1]
        return u

    def outer(u, rate):
        kept = {k: inner(u * k, rate) for k in (1.0, 2.0)}
        return np.sum(kept[1.0] * kept[2.0])

    u = np.array([1.0, 2.0, 3.0])
    found = grad(outer, (0, 1), compile=True)(u, 0.5)
    assert tried == [True, True]
    for a, b in zip(found, grad(outer, (0, 1))(u, 0.5), strict=True):
        assert_allclose(a, b)
    assert "the expression {k: inner" in report(outer)[0]
    assert report(inner)[0].endswith("compiled")


def test_results_that_the_way_back_reads_may_be_overwritten_afterwards(tried):
    def decayed(v):
        total = 0.0
        for _ in range(2):
            v = v * 0.9
            total = total + np.sum(v * v)
        return v, total

    def outer(x):
        log = [x]
        v, total = decayed(log[0])
        v[:] = 0.5 * (x + np.where(x > 1.5, v, 1.0))
        return np.sum(v) + total

    x = np.array([1.0, 2.0])
    assert_allclose(grad(outer, compile=True)(x), grad(outer)(x), rtol=1e-12)
    assert tried == [True]


def test_an_infinite_cotangent_does_not_pass_what_was_not_chosen(tried):
    def f(x):
        return np.sum(np.sqrt(np.maximum(x, 0.5) - 0.5))

    x = np.array([-1.0, 0.75, 0.25, 4.5])
    with np.errstate(all="ignore"):
        assert_allclose(grad(f, compile=True)(x), [0.0, 1.0, 0.0, 0.25])
    assert tried == [True]


def test_arrays_that_only_some_passes_bind_anew(tried):
    def f(x, a):
        v = x * 1.0
        s = 0.0
        for _ in range(3):
            s += v[0]
            if a > 0.0:
                v = v * 2.0
        return s

    def g(x, a):
        v = x * 1.0
        s = 0.0
        k = 0
        while k < 3:
            k += 1
            s += v[0]
            if k < 3:
                if a > 0.0:
                    v = v * 2.0
                continue
            s += 1.0
        return s + v[1]

    def h(x, a):
        v = x * 1.0
        u = v[:1]
        s = 0.0
        for _ in range(3):
            s += u[0]
            v = v * 2.0
        return s + v[0]

    x = np.array([1.0, 2.0])
    for function in (f, g, h):
        value, gradient = value_and_grad(function, compile=True)(x, 0.5)
        expected, plain = value_and_grad(function)(x, 0.5)
        assert value == expected
        assert_allclose(gradient, plain)


def test_parameters_whose_type_changes(tried):
    def f(x, a, n, flag):
        if n > 2:
            a = x[0] * a
            flag = True
        for i in range(3):
            n = n * 0.5 if i > 1 else n
        return (a * n if flag else a), n

    x = np.array([2.0, 3.0])
    for n in (1, 5):
        y, t = jvp(lambda x, a: f(x, a, n, False), (x, 0.5), (x, 1.0), compile=True)  # noqa: B023
        y0, t0 = jvp(lambda x, a: f(x, a, n, False), (x, 0.5), (x, 1.0))  # noqa: B023
        assert repr((y, t)) == repr((y0, t0))
    assert tried == [True, True]


def test_several_targets_are_given_one_value(tried):
    def f(x, a):
        s = t = 0.5
        for i in range(len(x)):
            s = t = s + x[i] * t
            x[i] = a = s = x[i] * a
        b, c = d = (s * a, x * 2.0)
        s = b * 0.5
        c[0] = 5.0
        return s + t * a + np.sum(d[1] * x) + d[0]

    args = np.array([0.7, -1.2, 0.8]), 0.6
    value, g = value_and_grad(f, (0, 1), compile=True)(*copy.deepcopy(args))
    assert tried == [True]
    expected, h = value_and_grad(f, (0, 1))(*copy.deepcopy(args))
    assert_allclose(value, expected)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b)


def test_captured_and_global_variables_are_read_as_they_are_now(tried):
    weights = np.array([1.0, 2.0])
    rate = 0.5

    def f(x):
        return np.sum(weights * x * rate)

    g = grad(f, compile=True)
    x = np.ones(2)
    assert_allclose(g(x), [0.5, 1.0])
    rate = 2.0
    weights[0] = 3.0
    assert_allclose(g(x), [6.0, 4.0])
    weights = np.array([1.0, 1.0])
    assert_allclose(g(x), [2.0, 2.0])
    assert tried == [True, True, True]
    assert len(site._sites[id(f.__code__)][1].readings) == 1


def test_replaced_functions_are_seen(tried):
    def inner(x):
        return x * x

    def f(x):
        return np.sum(inner(x))

    x = np.array([3.0])
    assert_allclose(grad(f, compile=True)(x), [6.0])

    def inner(x):  # noqa: F811
        return x * x * x

    assert_allclose(grad(f, compile=True)(x), [27.0])


def test_what_is_unusual_runs_as_without(tried):
    def f(x, i):
        x[i] = 0.0
        return np.sum(np.log(x))

    with pytest.raises(IndexError, match="out of bounds"):
        value_and_grad(f, compile=True)(np.ones(2), 5)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        value, _ = value_and_grad(f, compile=True)(np.ones(2), 0)
    assert value == -math.inf
    assert tried == [False, False]


def test_arguments_are_put_back_after_a_trial_that_fails(tried):
    def f(x):
        x[0] = 5.0
        return x[1] / (x[2] - 1.0) + 1.0 / (len(x) - 3)

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ZeroDivisionError):
        value_and_grad(f, compile=True)(x)
    assert_allclose(x, [1.0, 2.0, 3.0])
    assert tried == [False]


def test_shared_memory_read_only_arrays_and_other_orders(tried):
    def f(x, y):
        x *= 2.0
        return np.sum(x * y)

    a = np.arange(4.0)
    b = a[:]

    def shared(a):
        return f(a, b)

    def twice(a):
        return f(a, a)

    for g in (twice, shared):
        assert_allclose(grad(g, compile=True)(a.copy()), grad(g)(a.copy()))
    frozen = a.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        grad(f, compile=True)(frozen, a)
    F = np.asfortranarray(np.arange(6.0).reshape(2, 3) + 1.0)

    def cubes(F):
        return np.sum(F**3)

    assert_allclose(grad(cubes, compile=True)(F), 3 * F**2)


def test_error_state_is_heeded(tried):
    def f(x):
        return np.sum(1.0 / x)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        value_and_grad(f, compile=True)(np.zeros(2))
    called: list[str] = []
    with np.errstate(divide="call", call=lambda kind, flag: called.append(kind)):
        value_and_grad(lambda x: np.sum(np.exp(-1.0 / x)), compile=True)(np.zeros(2))
    assert called
    assert tried == []


def test_hessian_vector_product(tried):
    def energy(x):
        s = 0.0
        for i in range(len(x) - 1):
            s += (x[i + 1] - x[i] ** 2) ** 2
        return s

    x, v = np.array([0.5, 0.2, 0.7]), np.array([1.0, -1.0, 0.5])
    assert_allclose(hvp(energy, (x,), v, compile=True), hvp(energy, (x,), v))
    assert True in tried


PROGRAM = """
import program
from mooncake_py import grad
print(grad(program.f, compile=True)(3.0))
"""


@pytest.mark.slow
def test_the_end_of_a_program_is_silent(tmp_path):
    """Code of functions may be gone after what knows it."""
    pytest.importorskip("numba")
    (tmp_path / "program.py").write_text("def f(x):\n    return x * x\n")
    path = os.pathsep.join([str(tmp_path), *sys.path[1:], os.getcwd()])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path, "MOONCAKE_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("6.0\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FUNCTIONS)[::2])
def test_compiled_by_numba(name):
    pytest.importorskip("numba")
    f, args = FUNCTIONS[name]
    argnums = active(args)
    value, g = value_and_grad(f, argnums, compile=True)(*copy.deepcopy(args))
    expected, h = value_and_grad(f, argnums)(*copy.deepcopy(args))
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert report(f) == [line for line in report(f) if line.endswith("compiled")]


def test_and_and_or_give_their_operands_back(tried):
    def f(x, rate=None):
        rate = rate or 0.5
        y = x[0] > 0 and x[1] > 0
        return np.sum(x * rate) if y or not x[0] > 1 else x[0]

    def operand(x):
        return np.sum(x) * (x[0] or x[1])

    x = np.array([1.0, 2.0])
    for g in (f, operand):
        assert_allclose(grad(g, compile=True)(x), grad(g)(x))
    assert tried == [True]
    assert "and or or" in report(operand)[0]


def test_a_failure_to_compile_is_a_warning(tried, monkeypatch):
    def f(x):
        return np.sum(x * x)

    def fail(*args):
        raise ValueError("broken")

    monkeypatch.setattr(region_site, "form_of", fail)
    g = grad(f, compile=True)
    with pytest.warns(MooncakeWarning, match=r"f runs as without compile=True.*broken"):
        assert_allclose(g(np.ones(2)), [2.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(g(np.ones(2)), [2.0, 2.0])
    monkeypatch.setattr(site, "read_function", fail)
    with pytest.warns(MooncakeWarning, match="broken"):
        assert_allclose(grad(f, compile=True)(np.ones((2, 2))), 2.0)


def test_moments_of_all_elements(tried):
    def f(x):
        return np.var(x) + np.std(x) * np.mean(x, keepdims=True)[0]

    x = np.array([1.0, 2.0, 4.0])
    assert_allclose(grad(f, compile=True)(x), grad(f)(x))
    assert tried == [True]


def test_views_of_one_block_that_share_no_element(tried):
    def f(x, y):
        x *= y
        y[1:] += x[:-1]
        return np.sum(x * y)

    block = np.arange(1.0, 9.0).reshape(2, 4)

    def of_block(block):
        return f(block[0], block[1])

    found = grad(f, (0, 1), compile=True)(*block)
    for a, b in zip(found, grad(f, (0, 1))(*block), strict=True):
        assert_allclose(a, b)
    inner = grad(lambda b: of_block(b) + [0.0][0], compile=True)(block)
    assert_allclose(inner, grad(of_block)(block))
    assert tried[0]
    assert all(tried)


def test_functions_that_are_made_anew_do_not_compile_for_ever(tried):
    def total(u, of):
        return np.sum(of(u))

    x = np.array([1.0, 2.0])
    for k in range(8):
        found = grad(lambda x: total(x, lambda u: k * u * u), compile=True)(x)  # noqa: B023
        assert_allclose(found, 2 * k * x)
    readings = site._sites[id(total.__code__)][1].readings
    assert len(readings) <= site.ALIKE


def test_a_number_that_is_bound_again_is_checked_again(tried):
    def f(b):
        y = 1.0 / b
        b = b - 2.0
        z = 1.0 / b
        return y + 1.0 / (1.0 + z * z)

    assert_allclose(grad(f, compile=True)(3.0), grad(f)(3.0))
    with pytest.raises(ZeroDivisionError):
        grad(f, compile=True)(2.0)
    assert tried == [True, False]


def test_arrays_that_nested_loops_bind_anew(tried):
    def nested(u, steps):
        v = u * 1.0
        for _ in range(steps):
            v = v + 0.1 * u
            for k in range(2):
                v = v * (1.0 + 0.1 * k * v)
        return np.sum(v * u)

    def run_over(u):
        v = u * 1.0
        for a in v:
            v[-1] = 2.0 * a
            v = v * a
        return np.sum(v)

    u = np.array([0.5, 0.7, 0.9])
    assert_allclose(grad(nested, compile=True)(u, 3), grad(nested)(u, 3))
    assert tried == [True]
    assert_allclose(grad(run_over, compile=True)(u), grad(run_over)(u))


SETTINGS = [1.0]


def true_if_settings(u):
    return u[0] if SETTINGS else u[1]


def unlike_settings(u):
    return u[0] if SETTINGS == [] else u[1]


class Twos:
    def __eq__(self, other):
        return other == 2.0

    def __hash__(self):
        return 2


TWOS = Twos()


def equal_to_a_number(u):
    return u[0] if TWOS == 2.0 else u[1]


@pytest.mark.parametrize("f", [true_if_settings, unlike_settings, equal_to_a_number])
def test_objects_that_change_within(f, tried):
    u = np.array([2.0, 3.0])
    for settings in ([1.0], [], [1.0]):
        SETTINGS[:] = settings
        np.testing.assert_array_equal(grad(f, compile=True)(u), grad(f, compile=False)(u))
    assert report(f)[0].split(": ")[1] == "not compiled"


def doubled(x):
    return 2.0 * x


def of_doubled(u):
    return doubled(u[0]) * u[1]


def test_rules_that_are_declared_later(tried):
    u = np.array([2.0, 3.0])
    for _ in range(2):
        np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [6.0, 4.0])
    assert tried == [True, True]
    with local_rules():
        elementwise(doubled, lambda x, y: 10.0)
        np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [30.0, 4.0])
    np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [6.0, 4.0])
    assert tried == [True] * 3
    elementwise(doubled, lambda x, y: 10.0)
    np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [30.0, 4.0])


def test_rules_of_functions_of_one_code(tried):
    def made():
        return lambda x: 2.0 * x

    first, second = made(), made()
    for f in (first, second, first):
        assert grad(f, compile=True)(3.0) == 2.0
    elementwise(second, lambda x, y: 10.0)
    assert [grad(f, compile=True)(3.0) for f in (first, second, first)] == [2.0, 10.0, 2.0]


def test_calls_and_arguments_that_do_not_fit_are_no_failure_to_compile(tried):
    def f(x):
        return float(x, x) if x > 3.0 else np.sum(x, x, x, x, x, x, x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError):
            grad(f, compile=True)(1.0)
    deep = (1.0,)
    for k in range(3000):
        deep = (float(k), deep)
    assert grad(lambda t: t[0] * 2.0, compile=True)(deep)[0] == 2.0
    assert tried == []


def test_second_derivatives_where_the_text_of_a_partial_treats_points_apart(tried):
    def f(x):
        return np.sum(np.logaddexp(0.0, x) + np.logaddexp(x, 1.0) * x)

    at, along = np.array([0.0, 1.0, 0.5]), np.ones(3)
    assert_allclose(hvp(f, (at,), along, compile=True), hvp(f, (at,), along), rtol=1e-12)
    assert tried == [True]


def test_enumerations_that_start_elsewhere(tried):
    def loop(x):
        s = 0.0
        for k, v in enumerate(x, start=2):
            s += k * v
        return s

    def positional(x):
        s = 0.0
        for k, v in enumerate(x, 2):
            s += k * v
        return s

    def generator(x):
        return sum(k * v for k, v in enumerate(x, start=2))

    for f in (loop, positional, generator):
        assert_allclose(grad(f, compile=True)(np.ones(3)), [2.0, 3.0, 4.0])
    assert tried == []


def test_functions_that_are_replaced_before_a_function_is_read(tried, monkeypatch):
    def f(x):
        return np.std(x) * np.linalg.norm(x) + np.sqrt(x[0])

    x = np.array([0.7, 1.3])
    monkeypatch.setattr(np, "sqrt", np.exp)
    assert_allclose(grad(f, compile=True)(x), grad(f)(x), rtol=1e-12)
    assert tried == [True]


def test_report_says_what_was_left(tried):
    def f(x):
        s = 0.0
        for i in range(3):
            s += x[i]
        return s

    with pytest.raises(IndexError):
        grad(f, compile=True)(np.ones(2))
    assert report(f)[0].endswith(": compiled but left in the last call: it met something unusual")
    grad(f, compile=True)(np.ones(3))
    assert report(f)[0].endswith(": compiled")
    assert tried == [False, True]
