"""Recursion as deep as without a derivative, deep structures, and no crash beyond."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, build_rrule, grad, hvp, jvp, value_and_grad, vjp

N = 900


@pytest.fixture(autouse=True)
def _usual_limit():
    """Have room for N frames, however many pytest itself has taken."""
    before = sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(N + 60 + depth)
    yield
    sys.setrecursionlimit(before)


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return x if n == 0 else even(x / x, n - 1) * x


class Countdown:
    def run(self, x, n):
        if n == 0:
            return np.sum(x)
        return self.run(x * 1.0, n - 1)


def numbers(x, n):
    if n:
        yield x
        yield from numbers(x, n - 1)


def test_recursion_is_as_deep_as_without_a_derivative():
    assert grad(power)(1.0, N) == N
    assert np.isfinite(grad(even)(1.0, N))
    np.testing.assert_array_equal(grad(Countdown().run)(np.ones(2), N), 1.0)
    assert grad(lambda x: sum(numbers(x, N - 10)))(2.0) == N - 10
    assert vjp(power, 1.0, N)[1](1.0)[0] == N


def test_recursion_is_as_deep_in_forward_mode_and_at_second_order():
    assert jvp(power, (1.0, N), (1.0, None)) == (1.0, N)
    assert grad(power, mode="forward")(1.0, N) == N
    run = Countdown().run
    assert jvp(run, (np.ones(2), N), (np.ones(2), None)) == (2.0, 2.0)
    assert jvp(lambda x: sum(numbers(x, N - 10)), (2.0,), (1.0,))[1] == N - 10
    assert hvp(power, (1.0, N), 1.0) == N * (N - 1)
    np.testing.assert_array_equal(hvp(run, (np.ones(2), N), np.ones(2)), 0.0)
    assert jvp(grad(power), (1.0, N), (1.0, None))[1] == N * (N - 1)


class Product:
    def __init__(self, n):
        self.n = n

    def __mul__(self, x):
        return x if self.n == 0 else Product(self.n - 1) * (x * 1.0)


@pytest.mark.parametrize("f", [power, Countdown().run, lambda x, n: Product(n) * x])
def test_recursion_is_as_deep_in_debug_mode(f):
    assert grad(f, debug=True)(1.0, 800) == (800 if f is power else 1.0)


class Node:
    def __init__(self, value: float, rest: Node | None) -> None:
        self.value = value
        self.rest = rest


def linked(n: int) -> Node:
    node = None
    for k in range(n):
        node = Node(float(k), node)
    assert node is not None
    return node


def squares(node):
    total = 0.0
    while node is not None:
        total = total + node.value * node.value
        node = node.rest
    return total


def squares_by_recursion(node):
    return 0.0 if node is None else node.value**2 + squares_by_recursion(node.rest)


def nested(n: int) -> list[Any]:
    items: list[Any] = [1.0]
    for k in range(n):
        items = [float(k), items]
    return items


def total_squares(items):
    total = 0.0
    while len(items) == 2:
        total = total + items[0] * items[0]
        items = items[1]
    return total


def values(tangent: Any) -> list[float]:
    found = []
    while hasattr(tangent, "value"):
        found.append(tangent.value)
        tangent = tangent.rest
    return found


@pytest.mark.parametrize("f", [squares, squares_by_recursion])
def test_linked_list(f):
    expected = [2.0 * k for k in reversed(range(N))]
    assert values(grad(f)(linked(N))) == expected
    assert values(vjp(f, linked(N))[1](1.0)[0]) == expected


def test_nested_lists():
    items = nested(N)
    for g in (grad(total_squares)(items), vjp(total_squares, items)[1](1.0)[0]):
        for k in reversed(range(N)):
            assert g[0] == 2.0 * k
            g = g[1]
    tuples: Any = (1.0,)
    for k in range(N):
        tuples = (float(k), tuples)
    assert grad(total_squares)(tuples)[0] == 2.0 * (N - 1)


@pytest.mark.thorough
def test_beyond_the_limit_python_says_so_and_all_is_restored():
    before = sys.getrecursionlimit()
    seen: list[Any] = []

    def endless(x):
        x += 1.0
        seen.append(x[0])
        return endless(x)

    x = np.zeros(2)
    for run in (
        lambda: value_and_grad(endless)(x),
        lambda: vjp(endless, x),
        lambda: build_rrule(endless)(CoDual(endless, NoFData()), CoDual(x, np.zeros(2))),
        lambda: grad(squares)(linked(30_000)),
    ):
        with pytest.raises(RecursionError) as caught:
            run()
        assert type(caught.value) is RecursionError
        np.testing.assert_array_equal(x, 0.0)
        assert seen == []
        assert sys.getrecursionlimit() == before
    assert grad(power)(1.0, 5) == 5.0


@pytest.mark.thorough
@pytest.mark.parametrize("limit", [300, 1000])
def test_no_crash_in_a_thread_with_a_small_stack(limit, tmp_path):
    script = tmp_path / "deep.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys, threading
        from mooncake_py import grad

        class Deep:
            def __call__(self, x, n):
                return x if n == 0 else self(x * 1.0, n - 1)

        def numbers(x, n):
            yield x
            yield from numbers(x * 1.0, n - 1)

        def run():
            for f in (Deep(), lambda x, n: sum(numbers(x, n))):
                try:
                    grad(f)(1.0, 50_000)
                except RecursionError:
                    print("too deep")

        sys.setrecursionlimit({limit})
        threading.stack_size(1024 * 1024)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["too deep"] * 2
