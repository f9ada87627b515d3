"""Second and third derivatives of programs that work in place, in all mixtures of modes."""

from __future__ import annotations

import functools
import math
import threading
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jacobian, jvp, value_and_grad, vjp
from mooncake_py.errors import NestedDerivativeError
from tests.support.directions import check_second, sixth_order
from tests.support.marks import each_second

X = np.array([0.3, -1.2, 0.7, 0.5])
SETTINGS: dict[str, Any] = {}


def time_stepper(u):
    u = u.copy()
    for _ in range(4):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) + 0.1 * np.sin(u[1:-1])
    return np.sum(u**3)


def alternating(u):
    p = np.ones(4)
    for k in range(3):
        p[1:] = 0.5 * p[:-1] + 0.1 * k
        u[:-1] = u[1:] * p[:-1] + u[:-1] ** 2 / (2.0 + p[1:])
    return np.sum(u * p)


def cholesky_by_hand(x):
    a = np.outer(x, x) + 3 * np.eye(4)
    n = len(a)
    for j in range(n):
        a[j, j] = math.sqrt(a[j, j] - np.dot(a[j, :j], a[j, :j]))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
    return np.log(a[0, 0]) + a[3, 2] * a[3, 3]


def lu_with_pivoting(x):
    a = np.outer(x, x**2) + np.diag([0.1, 2.0, 3.0, 1.0]) + np.eye(4)[::-1]
    for k in range(3):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, p]] = a[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diag(a))) * [1.0, 2.0, 3.0, 4.0])


def two_bodies(x):
    position, velocity = x[:2].copy(), x[2:].copy()
    for _ in range(3):
        radius = math.sqrt(position[0] ** 2 + position[1] ** 2)
        velocity -= 0.1 * position / radius**3
        position += 0.1 * velocity
    return np.sum(position * velocity)


def filled_in_place(x):
    out = np.empty(4)
    np.multiply(x, x[::-1], out=out)
    np.exp(out, out=out, where=out > -0.5)
    out[[0, 0, 2]] *= x[1]
    np.add.at(out, [1, 1, 3], x[:3] ** 2)
    return np.sum(out * out)


def sorted_and_masked(x):
    x.sort()
    x[x > 0.4] **= 2
    return np.sum(np.cumprod(x) * x[0])


def generator(x):
    def steps(v):
        for k in range(3):
            v[k] *= v[k + 1]
            yield float(v[k]) ** 2

    return sum(steps(x.copy())) + x[3] ** 3


def exceptions(x):
    total = 0.0
    for k in range(4):
        try:
            if x[k] < 0:
                raise ValueError(x[k] ** 2)
            total += x[k] ** 3
        except ValueError as error:
            total = total * error.args[0]
    return total


class Spring:
    def __init__(self, k):
        self.k = k
        self.log = []

    def energy(self, x):
        self.log.append(x * self.k)
        return 0.5 * self.k * x**2


def objects(x):
    spring = Spring(x[0])
    return spring.energy(x[1]) + spring.energy(x[2]) ** 2 + sum(spring.log) ** 2


def cube(v):
    return v**3


def callbacks(x):
    cubes = map(cube, x)
    largest = max(x, key=lambda v: v * v)
    return functools.reduce(lambda a, b: a + b * largest, cubes, x[0])


def vectorized(x):
    return np.sum(np.vectorize(lambda v: math.sin(v) * v)(x))


def contractions(x):
    a = np.outer(x, x) + 2 * np.eye(4)
    y = np.linalg.solve(a, x**2)
    return np.einsum("i,ij,j->", y, np.linalg.inv(a), x) + np.linalg.slogdet(a)[1]


def same_memory_twice(x):
    x[1] += np.matmul(np.full(2, x[3]), x[::2])
    x += np.choose(x > 0.1, [x, x])
    return np.sum(x)


PROGRAMS = [
    same_memory_twice,
    time_stepper, alternating, cholesky_by_hand, lu_with_pivoting, two_bodies, filled_in_place,
    sorted_and_masked, generator, exceptions, objects, callbacks, vectorized, contractions,
]  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("program", each_second(PROGRAMS), ids=lambda f: f.__name__)
def test_second_and_third_derivatives(program):
    check_second(program, X.copy())


# A derivative within the program itself.


def newton_step(x):
    y = x.copy()
    for _ in range(2):
        y -= 0.1 * grad(lambda z: np.sum(z**4) + z[0] * z[1])(y)
    return np.sum(y * y)


def captured_that_is_bound_anew(x):
    s = x[0]

    def inner(z):
        return np.sum(z**3) * s

    first = np.sum(grad(inner)(x * 1.0))
    s = x[1] * x[2]
    return first + np.sum(grad(inner)(x * 2.0))


def by_attribute_and_container(x):
    SETTINGS["held"] = [x * 2]
    y = np.sum(grad(lambda z: np.sum(z**2 * SETTINGS["held"][0]))(x * 1.0))
    SETTINGS["held"][0] = x
    return y * np.sum(x)


def pullback_used_twice(x):
    y, pullback = vjp(lambda z: z**3 * x[0], x * 1.0)
    return np.sum(pullback(y)[0] * pullback(x)[0])


def slope_within_pullback(x):
    _, pullback = vjp(lambda z: jvp(np.sin, (z,), (x * z,))[1], x * 1.0)
    return np.sum(pullback(x)[0])


def auxiliary(x):
    (value, aux), g = value_and_grad(lambda z: (np.sum(z**3), z * x), has_aux=True)(x * 1.0)
    return value * np.sum(aux * g)


def result_is_written_to(x):
    g = grad(lambda z: np.sum(z**3))(x * 1.0)
    g *= x
    g[0] = 0.0
    return np.sum(g)


def read_memory_that_changes(x):
    work = np.exp(x)
    g = grad(lambda z: np.sum(z**2 * work))(x * 1.0)
    work[:] = 0.0
    return np.sum(g) + np.sum(work)


def rows_of_a_jacobian(x):
    return np.sum(jacobian(lambda z: z[:2] * z[2] ** 2)(x * 1.0) ** 2)


def in_callbacks(x):
    slope = lambda v: grad(lambda t: t**3 * v)(v * 1.0)  # noqa: E731
    return sum(map(slope, x))


INSIDE = [
    newton_step, captured_that_is_bound_anew, by_attribute_and_container, pullback_used_twice,
    slope_within_pullback, auxiliary, result_is_written_to, read_memory_that_changes,
    rows_of_a_jacobian, in_callbacks,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("program", INSIDE, ids=lambda f: f.__name__)
def test_derivatives_within_derivatives(program):
    check_second(program, X.copy(), rtol=1e-5)


# Perturbation confusion.


def test_perturbations_of_two_levels_are_told_apart():
    f = lambda x: x * grad(lambda y: x + y)(1.0)  # noqa: E731
    assert grad(f)(2.0) == 1.0
    assert jvp(f, (2.0,), (1.0,)) == (2.0, 1.0)
    g = lambda x: x * jvp(lambda y: x * y, (2.0,), (1.0,))[1]  # noqa: E731
    assert grad(g)(3.0) == 6.0
    assert jvp(g, (3.0,), (1.0,))[1] == 6.0
    assert jvp(lambda x: jvp(lambda y: x * y * y, (x,), (1.0,))[1], (3.0,), (1.0,))[1] == 12.0
    higher = lambda f: jvp(lambda x: jvp(f, (x,), (x,))[1], (2.0,), (1.0,))[1]  # noqa: E731
    assert higher(lambda x: x**3) == 36.0


def shifted(u, a):
    u[1:] = a * u[:-1] + u[1:]
    return np.sum(u * u)


def scaled(u, a):
    u[1:] *= a
    return np.sum(u * u)


def by_elements(u, a):
    for i in range(1, len(u)):
        u[i] += a * u[i - 1]
    return np.sum(u * u)


@pytest.mark.parametrize("write", [shifted, scaled, by_elements])
def test_number_of_outside_in_a_statement_that_overwrites(write):
    def slope(a):
        return np.sum(grad(write)(np.linspace(1.0, 2.0, 5), a))

    for a in (0.7, -1.3):
        expected = sixth_order(lambda t, a=a: slope(a + t))
        np.testing.assert_allclose(grad(slope)(a), expected, rtol=1e-8)
        np.testing.assert_allclose(jvp(slope, (a,), (1.0,))[1], expected, rtol=1e-8)


@pytest.mark.thorough
def test_five_orders_of_a_power():
    f = lambda x: x**6  # noqa: E731
    expected = 720 * 2.0
    assert grad(grad(grad(grad(grad(f)))))(2.0) == expected
    slope = lambda g: lambda x: jvp(g, (x,), (1.0,))[1]  # noqa: E731
    assert slope(slope(slope(slope(slope(f)))))(2.0) == expected
    assert slope(grad(slope(grad(slope(f)))))(2.0) == expected


def test_threads_do_not_meet():
    results: dict[int, Any] = {}

    def run(k):
        results[k] = hvp(time_stepper, (X * k,), X)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(1, 5):
        found = hvp(time_stepper, (X * k,), X)  # in debug mode perhaps, where threads are not
        np.testing.assert_allclose(results[k], found, rtol=1e-14)


def test_views_of_one_memory_given_to_vjp_inside():
    def f(x):
        return vjp(lambda p: np.sum(p[0][1:] * p[1]), [x, x[1:]])[1](1.0)[0][0].sum()

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0, 3.0])), [0.0, 2.0, 2.0])


@pytest.mark.parametrize("a", [3.0, np.array([3.0, 4.0])], ids=["number", "array"])
def test_a_pullback_made_inside_a_derivative_may_be_called_after_it(a):
    def f(x):
        y, pull_back = vjp(lambda a: a * a * a, a)
        return x * np.sum(y), pull_back

    (_, pull_back), _ = value_and_grad(f, has_aux=True)(2.0)
    np.testing.assert_allclose(pull_back(2.0 * a)[0], 6.0 * a**3, rtol=1e-15)


def test_a_pullback_called_after_the_derivative_whose_function_does_something_else():
    factor = [2.0]

    def f(x):
        y, pull_back = vjp(lambda a: a * factor[0], 3.0)
        return x * y, pull_back

    (_, pull_back), _ = value_and_grad(f, has_aux=True)(2.0)
    factor[0] = 5.0
    with pytest.raises(NestedDerivativeError, match="returned another result"):
        pull_back(1.0)


@pytest.mark.parametrize("parts", [
    lambda x: [x, x], lambda x: [x[:2], x[1:]], lambda x: [x, x[::-1]], lambda x: (x[:1], x),
    lambda x: {0: x[1:], 1: x[:2]},
])  # fmt: skip
def test_an_inner_gradient_of_views_of_one_memory(parts):
    weights = np.array([0.3, -0.7, 1.1])

    def product(p):
        return np.sum(p[0] ** 2 * p[1] * np.arange(1.0, 1.0 + len(p[1])))

    def weighed(x):
        g = grad(product)(parts(x))
        return np.sum(g[0] * weights[: len(g[0])]) + np.sum(g[1] * weights[: len(g[1])] ** 2)

    x = np.array([1.0, 2.0, 3.0])
    slopes = [jvp(weighed, (x,), (row,))[1] for row in np.eye(3)]
    np.testing.assert_allclose(grad(weighed)(x), slopes)
    steps = [(weighed(x + h) - weighed(x - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(slopes, steps, rtol=1e-7)
