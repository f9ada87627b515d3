"""Records of structured arrays: scalars that are views of the memory of the array."""
# The unusual style of the programs is the point of them.
# ruff: noqa: C416, RUF015

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError, MooncakeError, SharedArgumentsError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.5, 2.0, -1.5])
V = np.array([1.0, -0.5, 0.25])
KIND = np.dtype([("mass", float), ("count", int)])
BODY = np.dtype([("at", float, (2,)), ("next", int, (2,)), ("z", complex), ("own", KIND)])
SHARED = np.zeros(3, KIND)
FIRST = SHARED[0]


def cells(x):
    p = np.zeros(3, KIND)
    p["mass"] = x
    p["count"] = [1, 2, 3]
    return p


def bodies(x):
    p = np.zeros(3, BODY)
    p["own"]["mass"] = x
    p["at"] = np.outer(x, x[:2])
    p["next"] = [[0, 1], [1, 2], [2, 0]]
    p["z"] = x * (1 + 2j)
    return p


def number(p):
    """Return a number that each field of bodies changes."""
    weights = np.array([1.0, 5.0, 7.0])
    return (
        p["own"]["mass"] @ weights**2
        + np.sum(p["at"] * np.arange(1.0, 7.0).reshape(3, 2))
        + (p["z"].real + 3 * p["z"].imag) @ weights
    )


@programs(X)
def read_before_the_memory_became_active(x):
    p = np.zeros(3, KIND)
    first, others = p[0], list(p)[1:]
    p["mass"] = x * x
    return first["mass"] * 2 + others[0]["mass"] * others[1][0]


@programs(X)
def written_through_a_record(x):
    p = np.zeros(3, KIND)
    for i, cell in enumerate(p):
        cell["mass"] = x[i] * x[i]
        cell["count"] += i
    return np.sum(p["mass"] * p["count"])


@programs(X)
def constant_written_over_active(x):
    p = cells(x)
    p[0]["mass"] = 5.0
    p[1] = (7.0, 1)
    return np.sum(p["mass"] ** 2)


@programs(X)
def pairs_of_records(x):
    p, energy = cells(x), 0.0
    for i in range(3):
        for j in range(3):
            if i != j:
                energy += p[i]["mass"] * p[j]["mass"] * p[i]["count"]
                p[j]["mass"] -= 0.1 * p[i]["mass"]
    return energy


@programs(X)
def records_in_containers(x):
    p = cells(x)
    by_name = {f"cell {i}": cell for i, cell in enumerate(p)}
    by_name["cell 0"]["mass"] *= x[1]
    heaviest = max(p, key=lambda cell: cell["mass"])
    ordered = sorted(p, key=lambda cell: -cell["mass"])
    return heaviest["mass"] * ordered[1]["mass"] * p["mass"][0]


@programs(X)
def unpacked(x):
    p = np.zeros(3, KIND)
    cell = p[0]
    p["mass"] = x
    mass, count = cell
    return mass * mass + tuple(cell)[0] + list(p[1])[0] * [v for v in p[2]][0] + count


@programs(X)
def written_as_tuples_and_records(x):
    p, q = cells(x), cells(2 * x)
    p[0] = (x[0] * x[1], 4)
    p[1] = q[2]
    q[1:] = p[:2]
    q[1:] = q[:2]
    p[[0, 2]] = p[[2, 0]]
    return np.sum(p["mass"] * p["count"]) + np.sum(q["mass"] ** 2 * q["count"])


@programs(X)
def chosen_records(x):
    p = cells(x)
    many, reversed_ = p[p["count"] > 1], p[[2, 1, 0]]
    many["mass"] *= 2
    return np.sum(many["mass"] ** 2) + reversed_[0]["mass"] * p["mass"][0] + np.array(p[1])["mass"]


@programs(X)
def no_axes(x):
    p = np.zeros((), KIND)
    p["mass"] = x[0] * x[1]
    return p[()]["mass"] * p["mass"]


@programs(X)
def fields_of_every_kind(x):
    p = bodies(x)
    q = p[[2, 0, 1]]
    cell = p[1]
    cell["own"]["mass"] += x[2]
    cell["at"] = x[1:] ** 2
    q[0]["at"][1] *= x[0]
    p[2]["own"] = (x[0] * x[0], 3)
    p[0] = q[1]
    cell["z"] = cell["z"] ** 2
    q[1] = q[0]
    i, j = cell["next"]
    return number(p) + 2 * number(q) + p["at"][i, 0] * p[j][0][1] + cell[-2].imag


@programs(X)
def moved_along(x):
    p = bodies(x)
    p[1:] = p[:-1]
    return number(p)


@programs(X)
def memory_of_the_caller(x):
    FIRST["mass"] = x[0] * x[1]
    SHARED[1] = (x[1], 4)
    SHARED[2] = SHARED[1]
    return SHARED["mass"] @ x


@programs(X)
def record_arrays_by_key(x):
    p = np.zeros(3, KIND).view(np.recarray)
    first, second = p[0], p[1]
    p["mass"] = x
    return first["mass"] * second["mass"] + list(p[2])[0]


@programs(X)
def within_a_checkpoint(x):
    p = np.zeros(3, KIND)

    def fill():
        for cell, v in zip(p, x, strict=True):
            cell["mass"] = v * v

    checkpoint(fill)
    return np.sum(p["mass"] ** 2)


@pytest.mark.parametrize("program", programs, ids=str)
def test_reverse(program: Program):
    program.check()


@pytest.mark.parametrize("program", programs, ids=str)
def test_other_modes(program: Program):
    f, before = program.f, SHARED.copy()
    value, gradient = value_and_grad(f)(X)
    along = gradient @ V
    for y, dy in (jvp(f, (X,), (V,)), vjp_along(f)):
        assert y == value
        assert_allclose(dy, along, rtol=1e-12)
    assert_allclose(jvp(f, (X,), [(V,), (2 * V,)])[1], [along, 2 * along], rtol=1e-12)
    assert_allclose(grad(f, debug=True)(X), gradient, rtol=1e-12)
    second = (grad(f)(X + 1e-5 * V) - grad(f)(X - 1e-5 * V)) / 2e-5
    assert_allclose(hvp(f, (X,), V), second, rtol=1e-6, atol=1e-6)
    assert_array_equal(SHARED, before)


PAIR = np.dtype([("p", float, (2,)), ("q", float, (2,))])
TWO_PAIRS = np.dtype([("e", PAIR), ("f", PAIR)])


def one_record(c):
    c[0] = (c[0]["q"], c[0]["p"])  # in turn


def all_records(c):
    c[:] = (c["q"][0], c["p"][0])  # both are read before


def records_by_index(c):
    c[[0, 2]] = (c["q"][1], c["p"][2])
    c[c["p"][:, 0] > 0.3] = (c["q"][2], c["p"][0])


def an_array_without_axes(c):
    c[1:2] = (c["q"][1], c["p"][1])
    last = np.asarray(c[2])
    last[...] = (last["q"], last["p"])


def fields_in_another_order(c):
    c[["p", "q"]][...] = c[["q", "p"]]
    c[["p", "q"]][0] = c[["q", "p"]][0]
    c[["q", "p"]][1:] = c[["p", "q"]][:2]


def some_fields(c):
    c[["p", "q"]] = c[["q", "p"]]
    c[["q"]] = (c["p"][1],)


@pytest.mark.parametrize(
    "write",
    [one_record, all_records, records_by_index, an_array_without_axes, fields_in_another_order,
     some_fields],
)  # fmt: skip
def test_records_are_written_from_their_own_memory_as_numpy_does(write):
    def f(x):
        c = np.zeros(3, PAIR)
        c["p"], c["q"] = np.outer(x, x[:2]), np.outer(np.sin(x), x[1:])
        write(c)
        return np.sum(c["p"] * x[1]) + np.sum(c["q"] ** 3)

    agrees(f)


def test_nested_records_are_written_from_their_own_memory_as_numpy_does():
    def f(x):
        c = np.zeros(3, TWO_PAIRS)
        c["e"]["p"], c["e"]["q"], c["f"]["p"], c["f"]["q"] = x[0], x[1], x[2], x[0] * x[1]
        c[0] = (c[0]["f"], c[0]["e"])
        c[1:] = (c[1]["f"], c[1]["e"])
        r = c[2]
        r["e"] = r["f"]
        r["f"] = (r["f"]["q"], r["f"]["p"])
        return sum([np.sum(c[k][m] ** n) for n, k in enumerate("ef", 2) for m in "pq"])

    agrees(f)


def agrees(f):
    value, gradient = value_and_grad(f)(X)
    assert value == f(X) == jvp(f, (X,), (V,))[0]
    assert_allclose(grad(f, debug=True)(X), gradient, rtol=1e-12)
    along = (f(X + 1e-6 * V) - f(X - 1e-6 * V)) / 2e-6
    assert_allclose(gradient @ V, along, rtol=1e-7)
    assert_allclose(jvp(f, (X,), (V,))[1], along, rtol=1e-7)


def test_a_tuple_that_fails_on_the_way_is_not_gone_on_from():
    def f(x):
        p = np.zeros(3, BODY[["at", "next"]])
        p["at"] = x[:2]
        try:
            p[0] = (x[1], "a")  # NumPy has written the first field
        except ValueError:
            p[1]["at"] = 0.0
        return p["at"].sum()

    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (V,))):
        with pytest.raises(DerivativeDropError, match="when memory had been written"):
            derivative()


def vjp_along(f):
    y, pullback = vjp(f, X)
    return y, pullback(1.0)[0] @ V


@pytest.mark.parametrize(
    "fails",
    [
        lambda p, x: p[0]["weight"],
        lambda p, x: p[0][5],
        lambda p, x: p.__setitem__(0, (x[0], 1, 2)),
        lambda p, x: p.__setitem__(7, (x[0], 1)),
        lambda p, x: p.__setitem__(slice(None), p[:2]),
    ],
)
def test_errors_are_those_of_numpy(fails):
    with pytest.raises((ValueError, IndexError)) as plain:
        fails(cells(X), X)
    for derivative in (
        lambda: grad(lambda x: fails(cells(x), x))(X),
        lambda: jvp(lambda x: fails(cells(x), x), (X,), (V,)),
    ):
        with pytest.raises(type(plain.value)) as raised:
            derivative()
        assert str(raised.value) == str(plain.value)


@pytest.mark.parametrize(
    "read",
    [
        lambda p: p[0].item()[0],
        lambda p: p[0].copy()["mass"],
        lambda p: p[0].tolist()[0],
        lambda p: p.view(np.recarray)[0].mass,
        lambda p: float(str(p[0])[1:].split(",")[0]),
    ],
)
def test_what_copies_a_record_in_compiled_code_is_refused(read):
    def f(x):
        p = np.zeros(3, KIND)
        view = p[:]
        p["mass"] = x
        return read(view) * 2.0

    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (V,))):
        with pytest.raises(MooncakeError):
            derivative()


class Table(np.ndarray):
    """A class of arrays that changes nothing."""


MAKERS = {
    "plain": cells,
    "rec": lambda x: np.rec.fromarrays([x * 1.0, np.arange(3)], dtype=KIND),
    "subclass": lambda x: cells(x).view(Table),
    "masked": lambda x: np.ma.array(cells(x)),
}
COPIES = [
    lambda p: p.copy()["mass"],
    lambda p: np.array(p)["mass"],
    lambda p: np.sort(p, order="count")["mass"],
    lambda p: p.tolist()[0][0],
    lambda p: p.item(0)[0],
    lambda p: np.concatenate([p, p])["mass"],
    lambda p: p.astype([("mass", np.float64), ("count", float)])["mass"],
    lambda p: np.frombuffer(p.tobytes(), KIND)["mass"],
    lambda p: np.repeat(p, 2)["mass"],
    lambda p: np.full(2, p[0])["mass"],
    lambda p: np.where([True, False], p[0], p[1])["mass"],
    lambda p: np.take(p[0], [0, 0])["mass"],
    lambda p: np.tile(p[1], 2)["mass"],
    lambda p: np.resize(np.asarray(p)[1], 2)["mass"],
]
VIEWS = [
    lambda p: p.reshape(3, 1)["mass"],
    lambda p: np.ravel(p)["mass"],
    lambda p: p[None].squeeze()["mass"],
    lambda p: np.broadcast_to(p, (2, 3))["mass"],
    lambda p: np.asarray(p[1])["mass"],
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("debug", [False, True])
def test_what_copies_records_of_any_class_of_arrays_is_right_or_refused(make, debug):
    for copied in COPIES:

        def f(x, copied=copied):
            return np.sum(copied(MAKERS[make](x)) ** 2)

        expected = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
        for derivative in (lambda: grad(f, debug=debug)(X), lambda: jvp(f, (X,), (V,))[1]):
            try:
                found = derivative()
            except MooncakeError:
                continue
            wanted = expected if np.ndim(found) else np.dot(expected, V)
            assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_records_are_of_the_same_memory(view):
    def f(x):
        p = cells(x)
        seen = view(p)
        p["mass"] *= x
        return np.sum(seen**2)

    expected = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert_allclose(grad(f)(X), expected, atol=1e-7)
    assert_allclose(jvp(f, (X,), (V,))[1], np.dot(expected, V), atol=1e-7)


def test_a_captured_record_of_an_argument_is_a_constant():
    memory = cells(X)
    first = memory[0]
    assert_allclose(grad(lambda m: m[0] * first["mass"])(memory["mass"]), [0.5, 0.0, 0.0])

    def writes(m):
        first["mass"] = 3.0
        return m[0] * 2

    with pytest.raises(SharedArgumentsError):
        grad(writes)(memory["mass"])
    assert_array_equal(memory, cells(X))
