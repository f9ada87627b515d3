"""Constants of subclasses of ndarray with active data; arrays of other things than numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import (
    DerivativeDropError,
    MissingRuleError,
    MooncakeError,
    elementwise,
    grad,
    jvp,
    value_and_grad,
)
from tests.support.gradients import Programs, check
from tests.support.pairs import rotating

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

X = np.array([1.0, 2.0, 3.0])
MASKED = np.ma.masked_array([1.0, 2.0, 4.0], [0, 1, 0])
MATRIX = np.arange(9.0).reshape(3, 3).view(np.matrix)


class Plain(np.ndarray):
    pass


class Doubling(np.ndarray):
    def __setitem__(self, i: Any, v: Any) -> None:
        super().__setitem__(i, 2 * np.asarray(v))

    def __iadd__(self, v: Any) -> Any:  # type: ignore[override,misc]
        return super().__iadd__(2 * v)


class Ufuncs(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(v) if isinstance(v, Ufuncs) else v for v in inputs]
        return 10 * getattr(ufunc, method)(*plain, **options)


PLAIN = np.array([1.0, 2.0, 4.0]).view(Plain)
UFUNCS = np.array([1.0, 2.0, 4.0]).view(Ufuncs)
CONSTANTS = {"masked": MASKED, "matrix": MATRIX, "plain": PLAIN, "ufuncs": UFUNCS}


def written(c: Any, x: Any) -> Any:
    c[0] = x[0]
    return c


def written_by_method(c: Any, x: Any) -> Any:
    c.__setitem__(0, x[0])
    return c


def viewed_before(x: Any, cls: Any) -> Any:
    y = np.zeros(3)
    view = y.view(cls)
    y[:] = x
    return view


# Each would drop a derivative, or give another value than NumPy's.
MEETINGS: dict[str, Any] = {
    "x * c": lambda x, c: np.sum(x * c),
    "c - x": lambda x, c: np.sum(c - x),
    "x[0] * c": lambda x, c: np.sum(x[0] * c),
    "c @ x": lambda x, c: np.sum(c @ x),
    "multiply": lambda x, c: np.sum(np.multiply(x[0], c)),
    "add-out": lambda x, c: np.sum(np.add(x, c, out=np.zeros(np.shape(c)))),
    "matmul": lambda x, c: np.sum(np.matmul(c, x)),
    "dot": lambda x, c: np.sum(np.dot(c, x)),
    "where": lambda x, c: np.sum(np.where(x > 1.5, c, x)),
    "clip": lambda x, c: np.sum(np.clip(x, c, 5)),
    "concatenate": lambda x, c: np.sum(np.concatenate([np.ravel(c), x])),
    "vstack": lambda x, c: np.sum(np.vstack([np.atleast_2d(c), x])),
    "einsum": lambda x, c: np.sum(np.einsum("...i,i->...", c, x)),
    "average": lambda x, c: np.sum(np.average(x, weights=c)),
    "write": lambda x, c: np.sum(written(c.copy(), x)),
    "write-method": lambda x, c: np.sum(written_by_method(c.copy(), x)),
    "view-before": lambda x, c: np.sum(viewed_before(x, type(c))),
    "view-before-number": lambda x, c: float(viewed_before(x, type(c))[:1].reshape(())),
    "view": lambda x, c: np.sum(x.view(type(c))),
}


def one_number(y: Any) -> float:
    """Return the number that a function of the package and NumPy's own return alike."""
    return float(np.asarray(y))


REFUSED_BY_NUMPY = {("masked", "c @ x"), ("masked", "matmul"), ("matrix", "average"),
                    ("matrix", "view-before-number")}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "kind"), rotating(CONSTANTS, MEETINGS))
def test_active_data_beside_a_subclass(name: str, kind: str) -> None:
    if (name, kind) in REFUSED_BY_NUMPY:
        pytest.skip("is refused by NumPy: the shapes do not match")
    meet, c = MEETINGS[kind], CONSTANTS[name]

    def f(x: Any) -> Any:
        return one_number(meet(x, c))

    check(f, X + 0.1)
    slope = jvp(f, (X + 0.1,), (X,))[1]
    assert_allclose(slope, X @ grad(f)(X + 0.1), rtol=1e-12)


def of_users(a: Any, b: Any) -> Any:
    return a * b


elementwise(of_users, lambda a, b, y: b, lambda a, b, y: a)


USED_AS_CONSTANTS = Programs()
constant = USED_AS_CONSTANTS(X)


@constant
def filled(x: Any) -> Any:
    return np.sum(MASKED.filled(0.5) * x)


@constant
def mask_beside_the_data(x: Any) -> Any:
    return np.sum(np.where(MASKED.mask, 0.0, MASKED.data * x * x))


@constant
def statistics_of_a_masked_array(x: Any) -> Any:
    return float(MASKED.sum()) * x[0] + float(np.ma.average(MASKED)) * x[1] + MASKED[0] * x[2]


@constant
def masked_array_made_inside(x: Any) -> Any:
    m = np.ma.masked_where([True, False, False], np.ones(3))
    return np.sum(np.ma.filled(m + 1, 7.0) * x)


@constant
def masked_array_written_to_an_array(x: Any) -> Any:
    y = np.zeros(3)
    y[:] = MASKED
    return np.sum(y * x)


@constant
def selected_by_a_masked_array(x: Any) -> Any:
    return np.sum(x[np.ma.masked_array([True, True, False], [0, 1, 0])])


@constant
def matrix_as_an_array(x: Any) -> Any:
    return np.sum(np.asarray(MATRIX * MATRIX) @ x) + float(MATRIX.sum()) * x[0]


@constant
def writes_by_a_method(x: Any) -> Any:
    m = np.zeros(3).view(Doubling)
    m[1] = 5.0
    m += 1.0
    return float(np.sum(np.asarray(m))) * np.sum(x * x)


@pytest.mark.parametrize("program", USED_AS_CONSTANTS, ids=str)
def test_constants_are_used_as_numpy_has_it(program: Any) -> None:
    program.check()


def test_forward_mode_writes_by_the_methods_of_the_class() -> None:
    assert writes_by_a_method(X) == 224.0
    assert jvp(writes_by_a_method, (X,), (X,)) == (224.0, 448.0)


def test_writes_by_a_method_are_undone() -> None:
    m = np.zeros(3).view(Doubling)

    def writes(x: Any) -> Any:
        m[1] = 5.0
        return float(np.sum(np.asarray(m))) * x[0]

    value, gradient = value_and_grad(writes)(X)
    assert value == 10.0
    assert_array_equal(gradient, [10.0, 0.0, 0.0])
    assert_array_equal(np.asarray(m), np.zeros(3))


def test_memory_maps_are_arrays(tmp_path: Any) -> None:
    m = np.memmap(tmp_path / "numbers", float, "w+", shape=3)
    m[:] = X
    for f in (lambda x: np.sum(x * m), lambda x: m @ x, lambda x: np.dot(m, x),
              lambda x: np.sum(np.multiply(m, x))):  # fmt: skip
        assert_array_equal(grad(f)(X), X)
    assert_array_equal(grad(lambda x: np.sum(np.concatenate([m, x])))(X), np.ones(3))
    assert_array_equal(grad(lambda m: np.sum(m * m))(m), 2 * X)


def test_memory_maps_become_active(tmp_path: Any) -> None:
    def program(x: Any) -> Any:
        m = np.memmap(tmp_path / "numbers", float, "w+", shape=3)
        m[:] = x * x
        m[1:] = m[:-1] * x[1:] + m[1:]
        m += x
        m[0] *= m[1] + 2.0
        part = m[1:]
        part -= x[:2]
        total = m[0] * m[2]
        for v in m:
            total += v * v
        return total + np.sum(-m * x) + (+m)[1] + m.__neg__()[2]

    check(program, X)
    _, t = jvp(program, (X,), (np.ones(3),))
    assert_allclose(t, np.sum(grad(program)(X)))


@pytest.mark.parametrize(
    "read", [operator.neg, operator.pos, lambda a: -a, lambda a: a.__neg__(),
             lambda a: a.__mul__(2.0), lambda a: np.ndarray.__mul__(a, 2.0)],
)  # fmt: skip
def test_operators_on_subclasses_that_became_active(read: Any) -> None:
    def program(x: Any) -> Any:
        base = np.zeros(3)
        view = base.view(Plain)
        base[:] = x
        return np.sum(np.array(read(view)))

    check(program, X)


def test_operations_that_do_not_ask_the_class_are_refused() -> None:
    with pytest.raises(DerivativeDropError, match="array of class Plain"):
        grad(lambda x: np.sum(of_users(x, PLAIN)))(X)


# Elements that are no numbers.

OBJECTS = np.array([1.0, 2.0, 3.0], dtype=object)
DURATIONS = np.array([1, 2, 3], dtype="m8[s]")
SECOND = np.timedelta64(1, "s")

ELEMENTS: dict[str, Any] = {
    "ufunc": lambda x: np.maximum(x, OBJECTS).sum(),
    "outer": lambda x: np.outer(x, OBJECTS).sum(),
    "clip": lambda x: np.clip(x, OBJECTS, 5).sum(),
    "dtype": lambda x: np.add(x, 1, dtype=object).sum(),
    "concatenate": lambda x: np.concatenate([x, OBJECTS]).sum(),
    "durations": lambda x: ((DURATIONS * x) / SECOND).sum(),
    "durations-number": lambda x: ((DURATIONS * x[0]) / SECOND).sum(),
    "duration": lambda x: (SECOND * x[0]) / SECOND,
    "duration-astype": lambda x: (x.astype("m8[s]") / SECOND).sum(),
    "fields": lambda x: np.array([(x[0], 1)], dtype=[("a", float), ("b", int)])["a"].sum(),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_that_carry_no_derivative_are_refused(name: str) -> None:
    with pytest.raises(MooncakeError) as caught:
        grad(ELEMENTS[name])(X)
    assert isinstance(caught.value, (DerivativeDropError, MissingRuleError))
    assert caught.value.where is not None
    assert "mooncake_py" not in caught.value.what


def test_dates_and_fields_as_constants() -> None:
    days = np.array(["2020-01-01", "2020-01-05"], dtype="M8[D]")
    cells = np.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)])

    def f(x: Any) -> Any:
        return ((days[1] - days[0]) / np.timedelta64(1, "D")) * x[0] + np.sum(cells["a"] * x[:2])

    assert_array_equal(grad(f)(X), [5.0, 3.0, 0.0])


def test_field_of_a_structured_array_is_an_array() -> None:
    def f(x: Any) -> Any:
        cells = np.zeros(3, dtype=[("a", float), ("b", int)])
        a = cells["a"]
        a += x * x
        return np.sum(a)

    assert_array_equal(grad(f)(X), 2 * X)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    "run", [np.cumsum, np.cumprod, lambda m: m.cumsum(), lambda m: m.cumprod()]
)
def test_matrices_accumulate_along_their_second_axis(run):
    f = lambda x: run(np.matrix(x))[0, 2]  # noqa: E731
    value, g = value_and_grad(f)(np.array([1.3, 0.7, 2.0]))
    assert value == f(np.array([1.3, 0.7, 2.0]))
    assert g[0] == pytest.approx(1.0 if value == 4.0 else 1.4)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("run", [lambda m: m.trace(), np.argmin, lambda m: np.vdot(m, m)])
def test_results_that_stay_matrices_in_numpy_are_refused(run):
    with pytest.raises(MooncakeError):
        value_and_grad(lambda x: np.sum(run(np.matrix(x)) * x))(np.array([1.3, 0.7, 2.0]))


@pytest.mark.parametrize("f", [np.max, np.sum, np.prod, np.minimum.reduce])
def test_the_constant_for_what_is_masked_is_no_initial_value(f: Any) -> None:
    for run in (grad, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(MissingRuleError, match=r"initial=np\.ma\.masked"):
            run(lambda x: f(x, initial=np.ma.masked))(X)
