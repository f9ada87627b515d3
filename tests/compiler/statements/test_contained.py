"""Items of lists, tuples and dicts are operands of statements that are one entry."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.comparing import agrees, agrees_along, equals_reference
from tests.compiler.statements.test_elements import entries

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=(2, 4))
M = RANDOM.normal(size=(4, 4))


def layers(x, m):
    weights, biases = [m, m.T, 0.5 * m], (x, 2.0 * x, 1.0)
    h = np.ones(4)
    for k in range(3):
        h = np.tanh(h @ weights[k] + biases[k])
    return np.sum(h * x)


def parameters(x, m):
    p = {"w": m, "b": x, 3: 0.5 * x, "scale": x[0]}
    h = np.tanh(p["w"] @ x + p["b"])
    h *= p["scale"] * h + p[3]
    h[1:] -= p["b"][1:] * h[:-1]
    return np.sum(h) * p["scale"]


def history(x, m):
    out = [x]
    for _ in range(4):
        out.append(out[-1] * 0.9 + 0.1 * np.sin(out[-1]) * out[0])
    return np.sum(np.array(out) @ m)


def numbers(x, m):
    q = [x[0], x[1], 2.0]
    q.append(q[0] * q[1] + np.sin(q[-1]) * q[0])
    for k in range(2):
        q[k] = q[k] * q[k + 1] - 0.5 * q[3]
    return q[0] * q[1] + q[3] * m[0, 0]


@pytest.mark.parametrize("f", [layers, parameters, history, numbers])
def test_equal_the_reference_in_all_modes(f):
    agrees(f, X, M)
    agrees_along(f, (X, M), (np.cos(np.arange(4.0)), np.sin(np.arange(16.0)).reshape(4, 4)))


def test_they_are_one_entry():
    def layer(x, y):
        p = {"b": y, 0: x}
        q = [y, x]
        return np.sum(np.tanh(q[0] * p["b"] + p[0] * q[-1]))

    assert entries(layer, X, Y) == 1


def test_numbers_in_dicts_are_one_entry():
    def energy(x, y):
        p = {"a": x[0], 1: y[0]}
        return p["a"] * 0.5 + p["a"] * p[1]

    assert entries(energy, X, Y) == 3  # two elements, one expression


@pytest.mark.plain
@pytest.mark.without_modes("counts what runs operation by operation")
@pytest.mark.parametrize("directions", [1, 3])
def test_forward_mode_takes_them_as_one_entry_in_every_call(monkeypatch, directions):
    def f(p):
        a = 2 / (1.2 + p[0] ** 2)
        return a * np.sum(np.sin(p[1] * 0.3) * p[1])

    general = []
    run_generally = ReverseContext.run_generally

    def counted(self, site, *rest):
        general.append(site)
        return run_generally(self, site, *rest)

    monkeypatch.setattr(ReverseContext, "run_generally", counted)
    p, v = [0.733, X], [0.753, Y]
    found = [jvp(f, (p,), (v,) if directions == 1 else [(v,)] * directions) for _ in range(4)]
    assert not general
    assert len({repr(each) for each in found}) == 1


def test_what_the_items_are_may_change():
    def f(x, first):
        held = [x, x, 2.0, first, x[0]]
        total = 0.0
        for k in range(5):
            total = total + np.sum(held[k] * x + 1.0)
        return total

    for first in (1.0, Y, 3, np.float32(2.0), Y.astype("f")):
        assert_allclose(grad(f)(X, first), sum(gradient_of(X, first)))


def gradient_of(x, first):
    yield 4.0 * x  # of x * x, twice
    yield 2.0
    yield first
    yield x[0] + np.sum(x) * np.eye(4)[0]


@pytest.mark.parametrize(
    ("index", "error"), [(4, IndexError), ("b", KeyError), (None, KeyError), (-9, IndexError)]
)
def test_an_item_that_is_not_there_is_an_error_as_in_the_plain_call(index, error):
    def f(x):
        held = {"a": x} if error is KeyError else [x]
        return np.sum(held[index] * x + 1.0)

    with pytest.raises(error) as plain:
        f(X)
    with pytest.raises(error) as ours:
        grad(f)(X)
    assert ours.value.args == plain.value.args


def test_keys_and_containers_of_your_own():
    class Key:
        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            return other == "a"

    class Doubling(list):
        def __getitem__(self, k):
            return 2.0 * super().__getitem__(k)

    def f(x):
        return np.sum({"a": x}[Key()] * x + 1.0) + np.sum(Doubling([x])[0] * x + 1.0)

    value, g = value_and_grad(f)(X)
    assert_allclose((value, *g), (3.0 * X @ X + 8.0, *(6.0 * X)))


def test_items_that_are_written_later_keep_their_values():
    def f(x):
        held = [x.copy(), x.copy()]
        y = held[0] * held[1] + x
        held[0] *= 3.0
        held[1] = held[0] * y
        held[0][:] = 0.0
        return np.sum(held[1] * x + held[0])

    equals_reference(f, X)


def test_within_attributes_and_several_lines():
    class Model:
        def __init__(self, m, x):
            self.weights = [m, 2.0 * m]
            self.bias = {"b": x}

        def __call__(self, x):
            return np.tanh(
                x @ self.weights[1]
                + self.bias["b"]
            )  # fmt: skip

    def f(x, m):
        return np.sum(Model(m, x)(x))

    gradients = equals_reference(f, X, M)
    slope = 1.0 - np.tanh(X @ (2.0 * M) + X) ** 2
    assert_array_equal(gradients[1].shape, (4, 4))
    assert_allclose(gradients[1], 2.0 * np.outer(X, slope))


@pytest.mark.parametrize("out", [tuple, list])
def test_a_sequence_that_is_written_as_a_whole_is_no_operand(out):
    def f(x):
        r = out((x[:2], x[2:]))
        np.multiply(r, 2.0, out=r)
        return np.sum(x)

    with pytest.raises((ValueError, TypeError)) as plain:
        f(X.copy())
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(plain.type, match=re.escape(str(plain.value))):
            derivative()


def stores(x, m):
    d = {"s": x[0], "w": m, 2: x[1], "h": x}
    q = [x[2], 1.0, 3]
    for k in range(3):
        d["s"] = 0.9 * d["s"] + 0.1 * (d[2] + q[0] * x[3])
        d[2] -= d["s"] * q[1]
        q[k] = q[0] * q[1] + d["s"]
        q[-1] *= 0.5 * d["s"]
        d["h"] = np.tanh(d["w"] @ d["h"] + x)
        d["h"] += d["s"] * x
    return d["s"] * d[2] + q[0] * q[1] * q[2] + np.sum(d["h"])


def test_what_is_stored_in_lists_and_dicts_equals_the_reference():
    agrees(stores, X, M)
    agrees_along(stores, (X, M), (np.cos(np.arange(4.0)), np.sin(np.arange(16.0)).reshape(4, 4)))


def test_a_store_is_an_entry_besides_that_of_what_is_computed():
    def step(x, y):
        d = {"a": x[0], "b": y[0]}
        d["a"] -= d["b"] * 0.5 + d["a"]
        return d["a"]

    assert entries(step, X, Y) == 4  # two elements, one expression, the store


class Changing:
    """A factor that changes an item of what the statement reads later."""

    def __init__(self, held, key):
        self.held, self.key = held, key

    def __mul__(self, a):
        self.held[self.key] = self.held[self.key] * 2.0
        return a


def reads_later(x, held, key):
    o = Changing(held, key)
    y = 0.0
    for _ in range(3):
        y = o * x[0] + held[key]
    return y


def stores_later(x, held, key):
    o = Changing(held, key)
    for _ in range(3):
        held[key] = o * x[0] + held[key]
        held[key] -= o * x[1] + held[key] * 0.5
    return held[key]


@pytest.mark.parametrize("f", [reads_later, stores_later])
@pytest.mark.parametrize("key", ["a", 0])
def test_an_operand_may_change_an_item(f, key):
    def program(x):
        return f(x, {key: x[2]} if key == "a" else [x[2]], key)

    value, g = value_and_grad(program)(X)
    assert value == program(X)
    steps = np.eye(4) * 1e-6
    assert_allclose(g, [(program(X + h) - program(X - h)) / 2e-6 for h in steps], rtol=1e-6)


def test_a_container_is_as_it_was_where_its_new_item_cannot_be_computed():
    def f(x, held, zero):
        for key in ("a", "b", "a"):
            try:
                held[key] = x[0] * 2.0 / zero + held["a"]
                held["a"] += x[0] / zero
            except (ZeroDivisionError, KeyError):
                held["caught"] = held["caught"] + 1
        held["a"] -= held["caught"] * x[1]
        return held["a"] * x[0]

    held = {"a": 2.0, "caught": 0}
    x = [float(X[0]), float(X[1])]
    assert_allclose(grad(f)(x, held, 0.0), [2.0 - 3.0 * x[1], -3.0 * x[0]])
    assert held == {"a": 2.0, "caught": 0}


def test_stores_in_containers_of_other_kinds():
    class Doubling(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, 2.0 * value)

    def f(x):
        total = 0.0
        for held in ({"a": x[0]}, Doubling(a=x[0]), {"a": x[0]}, {"a": x.copy()}, {"a": x[0]}):
            before = held["a"]
            held["a"] -= 0.5 * x[1] + x[2]
            held["b"] = held["a"] * x[1] + 1.0
            total = total + np.sum(held["b"]) + np.sum(before)
        return total

    equals_reference(f, X)


def test_messages_of_operators_in_place():
    def f(x):
        held = {"a": x[0]}
        held["a"] -= {} if x[0] > 100.0 else held["a"] * 0.5
        held["a"] -= "text" if x[0] < 100.0 else 2.0 * x[0]
        return held["a"]

    with pytest.raises(TypeError) as plain:
        f([1.0])
    with pytest.raises(TypeError, match=re.escape(str(plain.value))):
        grad(f)([1.0])


@pytest.mark.parametrize("key", ["b", 3])
def test_what_is_stored_may_read_no_item(key):
    def f(x, m):
        d, q = {}, [0.0] * 4
        for k in range(3):
            d[key] = x * 2.0 + k
            q[3] = x[k] * 0.5 + k
            d["last"] = np.sin(q[3])
        return np.sum(d[key] * x) * q[3] * d["last"]

    agrees(f, X, M)


def stores_row(z, q):
    q[0] = z[1]
    q[0][...] -= 0.3
    return z[1, 0] * z[0, 0]


def stores_block(z, q):
    q["a"] = z[1:]
    q["a"] += 1.0
    return z[1, 0] * z[0, 0]


@pytest.mark.parametrize(("f", "q"), [(stores_row, [1.0]), (stores_block, {"a": 1.0})])
def test_views_that_are_stored_are_memory_of_the_argument(f: Any, q: Any) -> None:
    """In a tuple of arguments the array is known to the engine only once it is read."""
    z = np.array([[2.0, 3.0], [5.0, 7.0]])
    before = z.copy()
    differentiated = value_and_grad(lambda arguments: f(*arguments))
    for _ in range(3):
        value, (dz, _) = differentiated((z, q))
        np.testing.assert_array_equal(z, before)
        assert value == f(z.copy(), q.copy())
        np.testing.assert_allclose(dz, [[value / 2.0, 0.0], [2.0, 0.0]])
