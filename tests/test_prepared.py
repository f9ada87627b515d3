"""Prepared derivatives: the same results, in the same memory, for arguments like the example."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import (
    PreparedArgumentsError,
    PreparedInUseError,
    grad,
    hvp,
    jvp,
    prepare,
    value_and_grad,
    value_and_hvp,
    vjp,
)
from mooncake_py.compiler.native import form
from mooncake_py.modes.reverse import whole
from mooncake_py.runtime.compilation import is_installed
from tests.support.interpreted import INTERPRETED

pytestmark = pytest.mark.plain

U = np.array([0.3, -0.8, 0.5, 0.9])
POINTS = (U, 2.0 * U, U[::-1].copy(), np.zeros(4))


@pytest.fixture(params=[False, True], ids=["plain", "compiled"])
def compiles(request, monkeypatch):
    """Whether functions are compiled; then their text runs as plain Python."""
    if request.param and not is_installed():
        pytest.skip("compile=True needs llvmlite")
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    return request.param


def smoothed(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i] + 0.3 * u[i - 1] * u[i - 1]
    return u[len(u) - 1]


def with_state(u, c):
    y = c * u
    return smoothed(u, c), (y, u)


@pytest.mark.parametrize("argnums", [0, 1, "u", "c", (0, 1), ("c", "u"), (0, 0)])
def test_results_are_those_of_the_derivative(argnums, compiles):
    step = value_and_grad(smoothed, argnums, compile=compiles).prepare(U, 0.7)
    for u in POINTS:
        given = u.copy()
        value, g = step(given, 0.6)
        expected, h = value_and_grad(smoothed, argnums, compile=False)(u, 0.6)
        assert_array_equal(given, u)
        assert_allclose(value, expected, rtol=1e-14)
        assert type(g) is type(h)
        pairs = zip(g, h, strict=True) if type(g) is tuple else [(g, h)]
        for a, b in pairs:
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_what_one_call_returned_is_overwritten_by_the_next(compiles):
    step = grad(smoothed, (0, 1), compile=compiles).prepare(U, 0.7)
    first, number = step(U, 0.7)
    before = first.copy()
    second, other = step(2.0 * U, 0.7)
    assert second is first
    assert not np.array_equal(first, before)
    assert number != other
    assert not np.may_share_memory(first, U)


def cubed(u, v):
    s = 0.0
    for i in range(len(u)):
        s += u[i] ** 3 * v[i]
    return s


def complex_cubed(u):
    s = 0.0
    for i in range(len(u)):
        s += (u[i] ** 3).real
    return s


def of_pair(pair):
    return cubed(pair[0], pair[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_are_arguments_of_the_next_call(compiles, dtype):
    u = U.astype(dtype)
    expected = grad(cubed, (0, 1), compile=False)
    step = grad(cubed, (0, 1), compile=compiles).prepare(u, u)

    g, h = (a.copy() for a in step(u, u))
    assert_allclose(step(*step(u, u)), expected(g, h), rtol=1e-6)
    assert_allclose(step(*step(u, u)[::-1]), expected(h, g), rtol=1e-6)
    backwards = [a[::-1] for a in step(u, u)]
    assert_allclose(step(*backwards), expected(g[::-1], h[::-1]), rtol=1e-6)
    first = grad(cubed, compile=compiles).prepare(u, u)
    by_copy = first(u, u).copy()
    assert_allclose(first(u, first(u, u)), grad(cubed, compile=False)(u, by_copy), rtol=1e-6)


def test_results_in_tuples_and_complex_ones_are_arguments_of_the_next_call(compiles):
    step = grad(of_pair, compile=compiles).prepare((U, U))
    copies = tuple(a.copy() for a in step((U, U)))
    for got, g in zip(step(step((U, U))), grad(of_pair, compile=False)(copies), strict=True):
        assert_allclose(got, g)
    z = U * (1.0 + 0.5j)
    step = grad(complex_cubed, compile=compiles).prepare(z)
    expected = grad(complex_cubed, compile=False)(step(z).copy())
    assert_allclose(step(step(z)), expected)


def test_all_memory_of_a_compiled_call_is_kept(compiles):
    if not compiles:
        pytest.skip("without compile only results are kept")
    step = grad(smoothed, compile=True).prepare(U, 0.7)
    workspace = step.workspace
    kept = [*workspace.copies.values(), *workspace.shadows.values(), *workspace.results.values()]
    assert len(kept) == 4  # the stack, the copy of u, its cotangent, which is given back
    assert kept[-1] is kept[-2]
    step(2.0 * U, 0.7)
    again = [*workspace.copies.values(), *workspace.shadows.values(), *workspace.results.values()]
    assert all(a is b for a, b in zip(kept, again, strict=True))


def test_auxiliary_outputs_are_new(compiles):
    step = value_and_grad(with_state, has_aux=True, compile=compiles).prepare(U, 0.7)
    (value, aux), g = step(U, 0.7)
    kept = [a.copy() for a in aux]
    (_, other), h = step(2.0 * U, 0.7)
    (expected, aux0), g0 = value_and_grad(with_state, has_aux=True, compile=False)(2.0 * U, 0.7)
    assert h is g
    assert_allclose(h, g0, rtol=1e-13)
    for a, old, new, b in zip(aux, kept, other, aux0, strict=True):
        assert_array_equal(a, old)
        assert not np.may_share_memory(a, new)
        assert_allclose(new, b, rtol=1e-14)
    assert value != expected


@dataclass
class Model:
    w: np.ndarray
    rate: float


def of_parts(p, x):
    return np.sum(p["w"] * x) * p["b"] + p["more"][0] * x[0]


def of_model(m, x):
    m.w *= m.rate
    return np.sum(m.w * x)


def test_arguments_of_any_structure(compiles):
    def made(s):
        return {"w": s * U, "b": 2.0 * s, "more": [3.0 * s, "text", None]}

    step = grad(of_parts, (0, 1), compile=compiles).prepare(made(1.0), U)
    for s in (1.0, 0.5):
        g, gx = step(made(s), s * U)
        h, hx = grad(of_parts, (0, 1), compile=False)(made(s), s * U)
        assert_allclose(g["w"], h["w"])
        assert g["b"] == pytest.approx(h["b"])
        assert g["more"][0] == pytest.approx(h["more"][0])
        assert_allclose(gx, hx)
    on_model = grad(of_model, compile=compiles).prepare(Model(U.copy(), 0.5), U)
    m = Model(2.0 * U, 0.25)
    assert_allclose(on_model(m, U).w, 0.25 * U)
    assert_array_equal(m.w, 2.0 * U)


def test_tuples_whose_arrays_are_one_in_the_example(compiles):
    def product(p):
        return np.sum(p[0] * p[1])

    a, b = U.copy(), 2.0 * U
    step = grad(product, compile=compiles).prepare((a, a))
    for pair in ((a, b), (a, a), (b, a)):
        for got, expected in zip(step(pair), grad(product, compile=False)(pair), strict=True):
            assert_allclose(got, expected)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        (
            (U[:3], 0.7),
            {},
            r"argument 0 \('u'\): expected an array .*\(4,\).*float64, got an array .*\(3,\)",
        ),
        ((U.astype(np.float32), 0.7), {}, "dtype float32"),
        ((U.reshape(2, 2), 0.7), {}, r"shape \(2, 2\)"),
        ((list(U), 0.7), {}, r"got a list of 4"),
        ((U, U), {}, r"argument 1 \('c'\): expected a value of type float"),
        ((U, None), {}, "NoneType"),
        ((U,), {"c": 0.7}, "expected 2 by position and the keywords .*, got 1 by position"),
        ((U,), {}, "got 1 by position"),
    ],
)
def test_arguments_that_are_not_like_the_example(args, kwargs, text, compiles):
    step = grad(smoothed, compile=compiles).prepare(U, 0.7)
    before = step(U, 0.7).copy()
    with pytest.raises(PreparedArgumentsError, match=text) as caught:
        step(*args, **kwargs)
    assert "gradient of smoothed" in str(caught.value)
    assert "fix:" in str(caught.value)
    for c in (0.7, np.float64(0.7)):  # text of NumPy may take over in any call
        assert_allclose(step(U, c), before, rtol=1e-14)


def test_structure_that_is_not_like_the_example():
    step = grad(of_parts).prepare({"w": U, "b": 2.0, "more": [3.0, "a"]}, U)
    for p, text in (
        ({"w": U[:2], "b": 2.0, "more": [3.0, "a"]}, r"\['w'\]: expected an array of shape \(4,\)"),
        ({"w": U, "b": U, "more": [3.0, "a"]}, r"\['b'\]: expected a value of type float"),
        ({"w": U, "b": 2.0, "more": [3.0]}, r"\['more'\]: expected a list of 2, got a list of 1"),
        ({"w": U, "b": 2.0, "more": (3.0, "a")}, r"got a tuple of 2"),
        ({"w": U, "b": 2.0}, r"a dict of 3 \(\['w'\], \['b'\], \['more'\]\)"),
    ):
        with pytest.raises(PreparedArgumentsError, match=text):
            step(p, U)
    with pytest.raises(PreparedArgumentsError, match=r"at \.w: expected"):
        grad(of_model).prepare(Model(U.copy(), 0.5), U)(Model(U[:1].copy(), 0.5), U)


@pytest.mark.without_modes("tools of tests do not look into what contains itself")
def test_structure_that_contains_itself():
    p = {"w": U.copy(), "b": 2.0, "more": [3.0]}
    p["more"].append(p)
    assert_allclose(grad(of_parts).prepare(p, U)(p, U)["w"], 2.0 * U)


@pytest.mark.parametrize("debug", [False, True])
def test_prepared_calls_within_other_derivatives(debug):
    def cube(u):
        return np.sum(u**3)

    gradient = value_and_grad(cube).prepare(U)
    slope, product = prepare(jvp, cube, (U,), (U,)), prepare(hvp, cube, (U,), U)

    def f(u):
        value, g = gradient(u * 1.0)
        return value + g.sum() + slope((u,), (u,))[1] + product((u,), u).sum()

    for _ in range(2):
        assert_allclose(grad(f, debug=debug)(U), 3 * U**2 + 6 * U + 9 * U**2 + 12 * U)


def test_a_call_within_itself_is_refused(compiles):
    steps = []

    def f(u):
        return np.sum(steps[0](u)) if steps else np.sum(u * u)

    step = grad(f, compile=compiles).prepare(U)
    steps.append(step)
    with pytest.raises(PreparedInUseError, match="within a call of itself"):
        step(U)
    steps.clear()
    assert_allclose(step(U), 2.0 * U)


def test_a_call_in_a_second_thread_is_refused():
    inside, leave = threading.Event(), threading.Event()
    waits = []

    def f(u):
        if waits:
            inside.set()
            leave.wait(30)
        return np.sum(u * u)

    step = grad(f).prepare(U)
    waits.append(True)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(step, U)
        assert inside.wait(30)
        with pytest.raises(PreparedInUseError, match="another thread"):
            step(U)
        leave.set()
        assert_allclose(first.result(), 2.0 * U)
    assert_allclose(step(2.0 * U), 4.0 * U)


def test_exceptions_leave_it_ready(compiles):
    def f(u, k):
        return u[k] * u[0]

    step = grad(f, compile=compiles).prepare(U, 1)
    with pytest.raises(IndexError):
        step(U, 9)
    assert_allclose(step(U, 1), grad(f)(U, 1))


def test_results_inside_another_derivative_are_new(compiles):
    step = grad(lambda u: np.sum(u**3), compile=compiles).prepare(U)

    def outer(u):
        a = step(u)
        b = step(2.0 * u)
        return np.sum(a * b)

    def plain(u):
        return np.sum((3.0 * u**2) * (3.0 * (2.0 * u) ** 2))

    assert_allclose(grad(outer, compile=compiles)(U), grad(plain)(U))


def test_general_calls_between_compiled_ones(monkeypatch):
    if not is_installed():
        pytest.skip("compile=True needs llvmlite")
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    step = grad(smoothed, compile=True).prepare(U, 0.7)
    first = step(U, 0.7)
    with monkeypatch.context() as patch:
        patch.setattr(whole, "gradient_of_whole", lambda *_: None)
        assert step(2.0 * U, 0.7) is first
        assert_allclose(first, grad(smoothed)(2.0 * U, 0.7))
    assert step(U, 0.7) is first
    assert_allclose(first, grad(smoothed)(U, 0.7), rtol=1e-13)


def test_forward_mode(compiles):
    step = value_and_grad(smoothed, (0, 1), mode="forward", compile=compiles).prepare(U, 0.7)
    for u in POINTS[:2]:
        value, (g, slope) = step(u, 0.7)
        expected, (h, slope0) = value_and_grad(smoothed, (0, 1), compile=False)(u, 0.7)
        assert_allclose((value, *g, slope), (expected, *h, slope0), rtol=1e-12)


def test_methods_and_objects():
    class Weighted:
        def __init__(self, w):
            self.w = w

        def energy(self, u):
            return self.w * np.sum(u * u)

    step = grad(Weighted(3.0).energy).prepare(U)
    assert_allclose(step(2.0 * U), 12.0 * U)
    assert_allclose(grad(partial(smoothed, c=0.5)).prepare(U)(U), grad(smoothed)(U, 0.5))


def cubes(u):
    return np.sum(u**3)


@pytest.mark.parametrize("derivative", [jvp, hvp, value_and_hvp])
def test_derivatives_along_directions(derivative, compiles):
    def given(s):
        v = s * np.cos(U)
        return ((s * U,), (v,)) if derivative is jvp else ((s * U,), v)

    step = prepare(derivative, cubes, *given(1.0), compile=compiles)
    arrays = []
    for s in (1.0, 0.5, 2.0):
        found, expected = step(*given(s)), derivative(cubes, *given(s), compile=False)
        if derivative is hvp:
            found, expected = (found,), (expected,)
        for a, b in zip(found, expected, strict=True):
            assert_allclose(a, b, rtol=1e-12)
        arrays.append([id(a) for a in found if isinstance(a, np.ndarray)])
    assert arrays[0] == arrays[1] == arrays[2]
    with pytest.raises(PreparedArgumentsError, match=f"{derivative.__name__} of cubes"):
        step((U[:2],), U[:2])


def test_output_and_tangent_are_kept_apart():
    def f(u):
        u *= 2.0
        return u

    step = prepare(jvp, f, (U,), (U,))
    y, dy = step((U,), (np.ones(4),))
    assert_allclose(y, 2.0 * U)
    assert_allclose(dy, np.full(4, 2.0))


def test_gradients_by_the_function():
    step = prepare(value_and_grad, smoothed, U, 0.7, argnums="c")
    assert_allclose(step(U, 0.5)[1], grad(smoothed, "c")(U, 0.5))


def test_derivatives_that_cannot_be_prepared():
    with pytest.raises(PreparedArgumentsError, match="does not know vjp"):
        prepare(vjp, smoothed, U, 0.7)


def test_names():
    step = grad(smoothed).prepare(U, 0.7)
    assert repr(step) == "<prepared gradient of smoothed with respect to 0>"
    assert step.__name__ == "smoothed"


def test_options_choose_what_runs(compiles):
    def f(u, power=None, twice=False):
        y = u[0] ** 3 if power is None else u[0] ** 2
        return 2.0 * y if twice else y

    step = grad(f, compile=compiles).prepare(U, power="two", twice=False)
    assert_allclose(step(U, power="two", twice=True), grad(f)(U, "two", True))
    assert_allclose(step(U, power="two", twice=False), grad(f)(U, "two", False))
    step = grad(f, compile=compiles).prepare(U)
    assert_allclose(step(U), grad(f)(U))
    f.__defaults__ = "two", True
    assert_allclose(step(U), grad(f)(U))


def test_ints_are_values(compiles):
    def f(u, n):
        total = 0.0
        for i in range(n % 5):
            total += u[i] * u[i] * (n * n - 1)
        return total

    step = grad(f, compile=compiles).prepare(U, 3)
    for n in (2, 4, 0, np.int64(3), 10**12 + 1):
        assert_allclose(step(U, n), grad(f, compile=False)(U, n))
    if compiles:  # ints that could wrap around in compiled code
        match = step.workspace.matches[False]
        assert match.inputs(f, (U, 2)) is not None
        assert match.inputs(f, (U, 1 << 40)) is None


SCALE = 2.0


def test_globals_that_are_bound_again(compiles, monkeypatch):
    def f(u):
        return SCALE * u[0] * u[1]

    step = grad(f, compile=compiles).prepare(U)
    assert_allclose(step(U), grad(f)(U))
    for scale in (3.0, 5, np.float64(4.0)):
        monkeypatch.setitem(globals(), "SCALE", scale)
        assert_allclose(step(U), grad(f)(U))


def test_it_is_not_copied():
    step = grad(smoothed).prepare(U, 0.7)
    for send in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="prepare it where it runs"):
            send(step)
