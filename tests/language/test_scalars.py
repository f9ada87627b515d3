"""Methods and attributes of active numbers: those that arrays have too, and those of floats."""

from __future__ import annotations

import copy
from typing import Any, SupportsFloat

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp
from tests.support.directions import check_jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.7, -1.3])


@programs(X)
def converted_by_keyword(x):
    y = x[0].astype(dtype=float) * x[1].astype("f8", "K", casting="safe")
    return y + x[0].astype(dtype=complex).real


@programs(X)
def methods_that_only_other_numbers_have(x):
    y = float(x[0]) * 2.0
    names = ("dot", "item", "__array__", "is_integer", "conj", "grad", "add", "__getitem__")
    found = [hasattr(number, name) for number in (x[0], y) for name in names]
    found += [isinstance(y + 0j, SupportsFloat), isinstance(x[0], SupportsFloat)]
    total = sum(2.0**k for k, there in enumerate(found) if there) * x[1]
    for number, name in ((x[0], "dot"), (y, "item"), (y, "conj"), (y, "copy")):
        try:
            total += getattr(number, name)() if name != "dot" else number.dot(x[1])
        except AttributeError as error:
            total *= y * len(error.args)
    return total


@programs(X)
def copied(x):
    return copy.copy(x[0]) * copy.deepcopy(x[1])


@programs(X)
def converted_against_the_rule(x):
    try:
        x[0].astype(int, casting="safe")
    except TypeError:
        return x[0] * x[1]


@programs(X)
def viewed_as_the_same_type(x):
    return x[0].view(np.float64) * x[1].view()


@programs(X)
def elements_by_flat(x):
    return x[0].flat[0] * sum(x[1].flat)


@programs(X)
def made_an_array(x):
    return x[0].__array__() * x[1].reshape(1)[0]


@programs(X)
def methods_of_arrays(x):
    return np.sum(x[0].repeat(3)) * x[1].ravel()[0] + x[0].clip(min=0.1, max=2.0) * x[1].mean()


@pytest.mark.parametrize("program", programs, ids=str)
def test_methods_of_numbers(program: Program) -> None:
    program.check()
    check_jvp(program.f, *program.args)


def read_as_bytes(x: Any) -> Any:
    return np.frombuffer(x[0].tobytes())[0]


def read_by_a_buffer(x: Any) -> Any:
    return np.asarray(x[0].data) * 1.0


def read_as_a_field(x: Any) -> Any:
    return x[0].getfield(np.float64) * 1.0


def read_from_what_pickle_uses(x: Any) -> Any:
    return float(x[0]).__getnewargs__()[0] * 1.0


@pytest.mark.parametrize(
    "f", [read_as_bytes, read_by_a_buffer, read_as_a_field, read_from_what_pickle_uses]
)
def test_what_would_drop_the_derivative_is_refused(f: Any) -> None:
    for derivative in (grad(f), lambda x: jvp(f, (x,), (X,))):
        with pytest.raises(MooncakeError):
            derivative(X)


@pytest.mark.parametrize("kind", [np.float32, np.longdouble, np.clongdouble])
def test_items_have_the_type_of_the_plain_call(kind: Any) -> None:
    for f in (lambda x: x.item(), lambda x: x.tolist()):
        y, _ = jvp(f, (kind(0.7),), (kind(1.0),))
        assert type(y) is type(f(kind(0.7)))


@pytest.mark.plain
@pytest.mark.parametrize(
    "product",
    [lambda v: [1.0, 2.0] * v, lambda v: v * (1, 2), lambda v: [v] * v, lambda v: [] * v],
)
def test_sequences_are_not_multiplied_by_scalars_of_numpy(product):
    def f(x):
        return np.sum(product(x[0]))

    x = np.array([1.5, 0.5])
    with pytest.raises(TypeError) as expected:
        f(x)
    for derivative in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError) as found:
            derivative()
        assert str(found.value) == str(expected.value)
    assert grad(lambda x: np.sum([1.0, x[1]] + x[0]))(x).tolist() == [2.0, 1.0]
    assert grad(lambda x: np.sum(range(3) * x[0]))(x).tolist() == [3.0, 0.0]
