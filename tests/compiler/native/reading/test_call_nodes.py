"""Calls of functions that are not read, with rules of their own, within compiled functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import from_vjp, value_and_grad, vjp
from mooncake_py.compiler.native.nodes import ledger
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import POINT, require_whole

linalg = pytest.importorskip("scipy.linalg")
stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")
pytestmark = pytest.mark.plain

M = np.random.default_rng(3).normal(size=(4, 4))


def eigenvalues_in_a_loop(x, a):
    total = 0.0
    for k in range(3):
        w, v = np.linalg.eigh(M @ M.T + np.diag(x * (a + k)))
        if w[0] < 0.2:
            continue
        total += np.sum(w * np.exp(-w)) + v[0, 0] ** 2
        x = x + 0.1 * w
    return total


def by_name(x, a):
    found = np.linalg.svd(M * a + np.diag(x), compute_uv=False)
    values = np.linalg.eigh(M + M.T + np.diag(x)).eigenvalues
    return np.sum(found[::-1] * values)


def spectrum(x, a):
    z = np.fft.rfft(x * a)
    y = np.fft.irfft(z * z)
    return np.sum(y**3) + np.abs(z[1]) ** 2


def densities(x, a):
    total = np.sum(stats.weibull_min.logpdf(x + 1.0, 1.5 + a, scale=2.0))
    for v in x:
        total += stats.gumbel_r.logpdf(v, a)
    return total


def gammas(x, a):
    return np.sum(special.gammaln(1.0 + x * x * a)) + np.sum(special.gammaln(x - 3.35) * x)


def least_squares(x, a):
    solution = np.linalg.lstsq(M[:, :2] * a, x, rcond=None)[0]
    return solution @ solution + linalg.expm(np.diag(x) * a)[1, 1]


WHOLE = [
    eigenvalues_in_a_loop, by_name, spectrum, densities, gammas, least_squares,
]  # fmt: skip


@pytest.mark.parametrize("f", WHOLE)
def test_whole_and_right_in_all_modes(f: Callable[..., Any], tried: list[bool]) -> None:
    require_whole(f, tried)
    assert not ledger._back


def test_the_arguments_are_restored_and_other_lengths_are_served(tried: list[bool]) -> None:
    def f(x, a):
        x *= 2.0
        return np.sum(np.linalg.pinv(np.outer(x, x) + a * np.eye(len(x)))[0] * x)

    for n in (3, 5, 3):
        x = np.linspace(0.2, 0.9, n)
        found = value_and_grad(f, (0, 1), compile=True)(x, 0.5)
        expected = value_and_grad(f, (0, 1))(x, 0.5)
        assert_array_equal(x, np.linspace(0.2, 0.9, n))
        assert_allclose(found[0], expected[0], rtol=1e-12)
        for p, q in zip(found[1], expected[1], strict=True):
            assert_allclose(p, q, rtol=1e-10)
    assert all(tried)


def test_a_pullback_runs_again_and_in_any_order() -> None:
    def f(x):
        w, v = np.linalg.eigh(M + M.T + np.diag(x))
        return w * v[:, 0] ** 2

    x = POINT[0]
    (_, first), (_, second) = vjp(f, x, compile=True), vjp(f, x + 1.0, compile=True)
    expected = vjp(f, x)[1], vjp(f, x + 1.0)[1]
    for seed in (np.ones(4), np.arange(4.0), np.zeros(4)):
        for found, right in ((second, expected[1]), (first, expected[0])):
            assert_allclose(found(seed)[0], right(seed)[0], rtol=1e-10, atol=1e-12)
    assert report(f)[0].found == "compiled"


def test_exceptions_and_warnings_are_those_of_the_call() -> None:
    def f(x, a):
        x[0] = a
        return np.sum(linalg.sqrtm(np.diag(x)).real) + np.linalg.pinv(np.diag(x) / (a - 1.0))[0, 0]

    def logs(x, a):
        return np.sum(special.betainc(a, 2.0, x)) + np.sum(np.linalg.eigvalsh(np.diag(x)))

    x = np.array([0.5, 2.0, 0.3, 0.1])
    for compiled in (False, True):
        with pytest.raises(np.linalg.LinAlgError), np.errstate(all="ignore"):
            value_and_grad(f, compile=compiled)(x, 1.0)
        assert_array_equal(x, [0.5, 2.0, 0.3, 0.1])
    assert value_and_grad(logs, compile=True)(x * 0.4, 0.5)[0] == pytest.approx(logs(x * 0.4, 0.5))


def test_a_second_call_with_another_type_or_function() -> None:
    table: dict[str, Any] = {"f": np.linalg.eigvalsh}

    def f(x, a):
        return np.sum(table["f"](np.diag(x * a)) * np.array([1.0, 2.0, 3.0, 4.0]))

    x = POINT[0]
    for g in (np.linalg.eigvalsh, np.linalg.svdvals if hasattr(np.linalg, "svdvals") else None):
        if g is not None:
            table["f"] = g
            found, right = (value_and_grad(f, compile=way)(x, 0.7) for way in (True, False))
            assert_allclose(found[1], right[1], rtol=1e-10)


def test_functions_that_do_more_than_compute_are_no_nodes() -> None:
    def draws(x, a):
        return np.sum(x * np.random.default_rng().normal(size=4)) * 0.0 + a

    def views(x, a):
        y = np.squeeze(x)
        y[0] = a
        return np.sum(x * x)

    def of_user(x, a):  # rules of users may print, draw and write
        both = doubled_twice(x)
        return np.sum(both[0] * a) + both[1][0]

    for f in (draws, views, of_user):
        found = value_and_grad(f, (0, 1), compile=True)(POINT[0].copy(), 0.7)
        expected = value_and_grad(f, (0, 1))(POINT[0].copy(), 0.7)
        assert_allclose(found[0], expected[0], rtol=1e-12)
        for p, q in zip(found[1], expected[1], strict=True):
            assert_allclose(p, q, rtol=1e-12)


def test_what_is_left_behind_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pullbacks that nobody calls are dropped in the end; a later call runs the node again."""
    monkeypatch.setattr(ledger, "MOST", 2)

    def f(x):
        return np.linalg.eigvalsh(np.diag(x * x)) ** 2

    x = POINT[0]
    pulls = [vjp(f, x * k, compile=True)[1] for k in (1.0, 2.0, 3.0, 4.0)]
    assert len(ledger._entries) <= 2
    for k, pull in zip((1.0, 2.0, 3.0, 4.0), pulls, strict=True):
        assert_allclose(pull(np.ones(4))[0], 4 * (x * k) ** 3, rtol=1e-10)


def test_no_warning_more_than_the_plain_call_gives() -> None:
    def f(x, a):
        return np.sum(np.linalg.eigvalsh(np.diag(x)) * a)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value_and_grad(f, compile=True)(POINT[0], 0.7)


def doubled_twice(x):
    y = x * 2
    return y[:3], y[1:]


@from_vjp(doubled_twice)
def _(x):
    def pullback(dy):
        d = np.zeros(4)
        d[:3] += 0.0 if dy[0] is None else 2 * dy[0]
        d[1:] += 0.0 if dy[1] is None else 2 * dy[1]
        return d

    return doubled_twice(x), pullback


def output_by_position(x):
    y = x * 2
    special.expit(y, y)
    return np.sum(y)


def output_by_name(x):
    c = np.zeros(4, complex)
    c[:] = x
    np.fft.fft(c, out=c)
    return np.sum(np.abs(c) ** 2)


def only_where(x):
    y = x * 2.0
    special.expit(y, out=y, where=y > 4.0)
    return np.sum(y)


def overwritten(x):
    y = x[::-1] * 1.0
    np.median(y, overwrite_input=True)
    return y[0] * x[0]


def the_array_itself(x):
    m = 2 * x.reshape(2, 2)
    p = np.linalg.matrix_power(m, 1)
    p[0, 0] = 10.0
    return np.sum(m)


def itself_by_scipy(x):
    m = 2 * x.reshape(2, 2)
    p = linalg.fractional_matrix_power(m, 1)
    p[0, 0] = 10.0
    return np.sum(m)


def two_views(x):
    a, b = doubled_twice(x)
    a[1] = 10.0
    return np.sum(b)


@pytest.mark.parametrize("f", [output_by_position, output_by_name, only_where, overwritten,
                               the_array_itself, itself_by_scipy, two_views])  # fmt: skip
def test_writes_to_arguments_and_shared_results_are_not_lost(f: Callable[..., Any]) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    expected = value_and_grad(f)(x)
    df = value_and_grad(f, compile=True)
    for _ in range(2):
        value, dx = df(x)
        assert_allclose(value, f(x.copy()), rtol=1e-12)
        assert_allclose(dx, expected[1], rtol=1e-12)
