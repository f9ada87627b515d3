"""Results remembered by value: functions with a cache, and dicts of the user's own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, value_and_grad
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import Program, Programs

programs = Programs()
calls: list[Any] = []


@functools.cache
def workspace(n):
    return np.zeros(n)


@functools.cache
def cube(v):
    return v**3


@functools.lru_cache(maxsize=4)
def boxed(v, *, scale=1.0):
    return [v * v * scale]


@functools.lru_cache(typed=True)
def kind_of(v):
    return type(v).__name__


@functools.cache
def fibonacci(n):
    calls.append(n)
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@programs(2.0)
def the_same_object_each_time(x):
    workspace(3)[0] = x
    workspace(3)[1] = x * x
    return workspace(3).sum() * workspace(3)[0]


@programs(2.0)
def called_twice(x):
    return cube(x) * cube(x) + cube(2.0) * x


@programs(2.0, 2.0)
def equal_arguments_are_told_apart(x, y):
    return cube(x) + 3 * cube(y) * cube(x)


@programs(2.0)
def keywords_and_compounds(x):
    boxed(x, scale=x)[0] += 1.0
    return boxed(x, scale=x)[0] * boxed(x)[0] + boxed(v=x)[0]


@programs(2.0)
def typed_keys(x):
    return x * (kind_of(1) == "int") * (kind_of(1.0) == "float") * (kind_of(x) == "float")


@programs(2.0)
def runs_once(x):
    return x * fibonacci(30)


class Model:
    def __init__(self, x):
        self.x = x

    @functools.lru_cache  # noqa: B019
    def power(self, n):
        return self.x**n

    @functools.cached_property
    def square(self):
        return self.x * self.x


@programs(2.0)
def methods(x):
    model = Model(x)
    return model.power(3) * model.power(2) + model.square * model.square


@programs(2.0)
def cleared_inside(x):
    first = boxed(x)
    boxed.cache_clear()
    return first[0] * boxed(x)[0] * (first is not boxed(x))


@programs(2.0)
def cached_inside(x):
    @functools.cache
    def f(v):
        return v * x

    return f(x) * f(3.0) * f(3.0) + f.cache_info().currsize * 0.0


@programs(2.0, 0.5)
def dict_as_memory(x, y):
    memory: dict[Any, Any] = {}

    def power(v, n):
        if (v, n) not in memory:
            memory[v, n] = v**n
        return memory[v, n]

    return power(x, 2) * power(y, 3) + power(x, 2) + memory.get((x, 5), x)


@programs(2.0)
def dict_in_a_default(x):
    def power(n, memory={}):  # noqa: B006
        if n not in memory:
            memory[n] = x if n == 1 else power(n - 1) * x
        return memory[n]

    return power(4) + power(2)


@programs(2.0)
def keys_keep_their_derivative(x):
    d = {}
    d[x] = 1.0
    double = x * 2
    d[double] = x
    d.setdefault(x * 3, 2.0)
    d.update({x * 4: 3.0})
    d.update([(x * 5, 4.0)])
    return sum(k * v for k, v in d.items()) + sum(d) + d.pop(double, x) + max(d)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_a_cached_function_runs_once_for_each_argument():
    fibonacci.cache_clear()
    calls.clear()

    def runs(x):
        value = x * fibonacci(40)
        return value, sorted(calls)

    value, _ = value_and_grad(runs, has_aux=True)(2.0)
    assert value[1] == list(range(41))
    assert calls == []
    assert fibonacci.cache_info().currsize == 0


def test_nothing_active_stays_in_a_cache():
    cube.cache_clear()
    assert grad(cube)(2.0) == 12.0
    assert cube.cache_info().currsize == 0
    assert type(cube(2.0)) is float
    assert grad(lambda x: cube(x) * x)(2.0) == 32.0


def test_results_from_before_the_call_are_the_same_objects():
    boxed.cache_clear()
    boxed(1), boxed("a" * 2 and 3.0, scale=2.0), boxed(4.0)
    boxed(1).append(5.0)
    boxed(3.0, scale=2.0).append(7.0)
    assert grad(lambda x: x * boxed(1)[1] * boxed(3.0, scale=2.0)[1])(2.0) == 35.0
    assert boxed.cache_info().currsize == 3
    workspace.cache_clear()
    workspace(2)[:] = 4.0
    assert value_and_grad(lambda x: x * workspace(2).sum())(2.0) == (16.0, 8.0)


def test_an_argument_that_cannot_be_hashed():
    with pytest.raises(TypeError, match=r"unhashable type: 'numpy\.ndarray'"):
        grad(lambda x: cube(x).sum())(np.ones(2))


class Memo:
    """The decorator that many people write."""

    def __init__(self, f):
        self.f = f
        self.memory = {}

    def __call__(self, *args):
        if args not in self.memory:
            self.memory[args] = self.f(*args)
        return self.memory[args]


@Memo
def remembered_square(x):
    return x * x


@pytest.mark.parametrize(
    "read",
    [
        lambda memory, x: memory[x],
        lambda memory, x: memory.get(x),
        lambda memory, x: memory.setdefault(x, 1.0),
        lambda memory, x: memory.pop(x),
    ],
)
def test_a_dict_filled_before_the_call_is_refused(read):
    memory = {2.0: 4.0, 3.0: [1.0]}
    with pytest.raises(DerivativeDropError, match="a dict was read at an active number"):
        grad(lambda x: read(memory, x))(2.0)
    assert memory == {2.0: 4.0, 3.0: [1.0]}


def test_a_memory_of_results_outside():
    remembered_square.memory.clear()
    assert grad(remembered_square)(2.0) == 4.0
    assert remembered_square.memory == {}
    remembered_square(2.0)
    with pytest.raises(DerivativeDropError, match="computed before the call"):
        grad(remembered_square)(2.0)
    assert remembered_square.memory == {(2.0,): 4.0}


def test_equal_keys_of_different_variables_are_refused():
    def memory_of_equal(x, y):
        memory = {x: x * x}
        return memory[y] * y

    with pytest.raises(DerivativeDropError, match="for another one that is equal") as caught:
        grad(memory_of_equal, (0, 1))(2.0, 2.0)
    assert caught.value.where is not None
    assert caught.value.where.function.endswith("memory_of_equal")
    assert "was computed for another active number" in caught.value.why


def squares(x):
    found = {}
    for v in x:
        found[v] = v * v
    return sum(found[v] for v in x)


def test_an_element_read_twice_is_one_key():
    np.testing.assert_array_equal(grad(squares)(np.array([1.0, 2.0])), [2.0, 4.0])


def test_equal_elements_are_different_keys():
    with pytest.raises(
        DerivativeDropError, match=r"each read of an element, such as x\[0\]"
    ) as caught:
        grad(squares)(np.array([2.0, 2.0]))
    assert "the index of the element" in caught.value.fix
    assert "clear the dict" not in caught.value.fix


def test_equal_keys_may_count():
    def counts(x, y):
        found: dict[Any, int] = {}
        for v in (x, y, x):
            found[v] = found.get(v, 0) + 1
        return x * found[y] + y * len(found)

    assert grad(counts, (0, 1))(2.0, 2.0) == (3.0, 1.0)
    value, gradients = value_and_grad(lambda x, y: {x: 1, y: 2}[y] * x * y, (0, 1))(2.0, 2.0)
    assert (value, gradients) == (8.0, (4.0, 4.0))  # ints have no derivative


counts = [0]


@functools.cache
def counted(v):
    counts[0] += 1
    return v * 2


def effects_of_hits(x):
    return (counted(x[0]) + counted(x[0])) * counts[0] * x[1]


def one_mutable_result(x):
    memory = {}

    @functools.cache
    def pair(v):
        memory[len(memory)] = v
        return [v, v * 2]

    pair(x[0])[0] += x[1]
    return sum(pair(x[0])) * len(memory)


def recursion_in_steps(x):
    @functools.cache
    def total(v, k):
        counts[0] += 1
        if k == 0:
            return v * v
        return total(np.sin(v), k - 1) + total(np.sin(v), k - 1)

    return total(x[0], 9) * counts[0] + x[1]


@pytest.mark.parametrize("f", [effects_of_hits, one_mutable_result, recursion_in_steps])
def test_hits_are_those_of_the_plain_call_in_each_mode(f):
    x = np.array([0.7, 1.3])
    value, slopes = value_and_grad(f)(x)
    counts[0] = 0
    counted.cache_clear()
    assert f(x) == pytest.approx(value)
    counts[0] = 0
    counted.cache_clear()
    for options in ({"mode": "forward"}, {"debug": True}):
        y, dx = value_and_grad(f, **options)(x)
        assert y == pytest.approx(value)
        np.testing.assert_allclose(dx, slopes)
    y, dx = value_and_grad(lambda x: checkpoint(f, x))(x)
    assert y == pytest.approx(value)
    np.testing.assert_allclose(dx, slopes)
