"""Arrays that only loops bind, and that are read after them; see also `test_bound_in_loops`."""
# pyright: reportPossiblyUnboundVariable=false, reportOperatorIssue=false

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


def one_loop(x, a):
    t = np.zeros(len(x))
    for k in range(3):
        y = x * a + k * t
        t += y
    return (t / (1.0 + y * y)).sum()


def other_names(x, a):
    t = 0.0
    for k in range(4):
        y = x * (a + k)
        z = y
        y = y + np.roll(z, 1) * t
        t += np.sum(y * z)
    return (y * z).sum() + t


def two_loops(x, a):
    for k in range(2):
        for j in range(3):
            y = x * (a + j)
            w = np.array([y[0], a])
        x[k] = y[j] * a
    return y[0] * w[1] + x.sum()


def of_a_generator(x, a):
    def states():
        s = x * 1.0
        for _ in range(3):
            s = s * a + np.sin(s)
            yield s

    t = 0.0
    for s in states():
        b = s @ x
        r = np.outer(s, x)
        t += b
    return t + (s * b).sum() + r.sum()


@pytest.mark.parametrize(
    "f", [one_loop, other_names, two_loops, of_a_generator], ids=lambda f: f.__name__
)
def test_compiled_whole_and_right(f, tried) -> None:
    require_whole(f, tried)


def written_by_its_own_name(x, a):
    for k in range(3):
        y = x * (a + k)
        z = y
        z[0] += a
        y[1] *= a
    return (y * z).sum()


def written_by_the_consumer(x, a):
    def states():
        s = x * 1.0
        for _ in range(3):
            s = s * a + np.sin(s)
            yield s
            s += 1.0

    t = 0.0
    for s in states():
        s *= a
        t += s.sum()
    return t + s[0]


def of_many_lengths(x, a):
    for k in range(1, 4):
        y = x[:k] * a
    return y.sum()


@pytest.mark.parametrize(
    "f", [written_by_its_own_name, written_by_the_consumer, of_many_lengths],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_right_though_it_is_not_compiled_whole(f) -> None:
    require_agreement(f)


def test_a_loop_that_has_not_run_raises_as_without_compilation(tried) -> None:
    def f(x, n):
        for k in range(n):
            y = x * k
        return (y * x).sum()

    x = np.array([0.3, -0.4, 0.8])
    assert_allclose(grad(f, compile=True)(x, 3), grad(f)(x, 3))
    assert report(f)[0].found == "compiled", report(f)
    with pytest.raises(UnboundLocalError):
        grad(f, compile=True)(x, 0)
