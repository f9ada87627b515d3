"""What leaves a call is not emptied by the end of the call, which undoes its changes."""

from __future__ import annotations

import functools
import types
import weakref

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad, jvp, value_and_grad, vjp
from tests.support.pairs import rotating


class N:
    pass


def over_list(x):
    history = [1.0]
    history.append(3.0)
    return x * x, lambda: sum(history)


def over_variable(x):
    k = 1.0

    def up():
        nonlocal k
        k += 1
        return k

    up()
    return x * x, up


def over_shared_variable(x):
    k = 1.0

    def up():
        nonlocal k
        k += 1

    def read():
        return k

    up()

    def both():
        up()
        return read()

    return x * x, both


def over_object(x):
    n = N()
    n.v = 3.0
    return x * x, lambda: n.v


def over_array(x):
    a = np.zeros(3)
    a[1:] = 2.0
    return x * x, lambda: np.sum(a)


def over_attribute(x):
    def g(by=N()):  # noqa: B008
        return g.total

    g.total = 2.0
    return x * x, g


def over_function(x):
    found = {}
    found["a"] = 4.0

    def inner():
        return found["a"]

    return x * x, [lambda: inner()][0]


def changed_class(x):
    class Model:
        weight = 1.0

    Model.weight = 2.0
    return x * x, lambda: Model().weight


def class_with_list(x):
    class Model:
        weights = []

        @property
        def first(self):
            return found[0] * self.weights[0]

    found = []
    found.append(3.0)
    Model.weights.append(2.0)
    model = Model()
    return x * x, lambda: model.first


def module(x):
    made = types.ModuleType("made")
    made.v = 3.0
    return x * x, lambda: made.v


def cached(x):
    factors = {}

    @functools.lru_cache
    def g(a):
        return factors["a"] * a

    factors["a"] = 3.0
    return x * x, functools.partial(g, 2.0)


def weak_references(x):
    parent, child = N(), N()
    parent.v, child.parent, parent.child = 3.0, weakref.ref(parent), child
    parent.known = weakref.WeakKeyDictionary()
    parent.known[child] = 2.0
    return x * x, lambda: parent.child.parent().v * parent.known[parent.child]


MAKERS = [
    over_list, over_variable, over_shared_variable, over_object, over_array, over_attribute,
    over_function, changed_class, class_with_list, module, cached, weak_references,
]  # fmt: skip
MODES = {
    "grad": lambda f: value_and_grad(f, has_aux=True)(1.5)[0],
    "debug": lambda f: value_and_grad(f, has_aux=True, debug=True)(1.5)[0],
    "forward": lambda f: value_and_grad(f, has_aux=True, mode="forward")(1.5)[0],
    "vjp": lambda f: vjp(f, 1.5)[0],
    "jvp": lambda f: jvp(f, (1.5,), (1.0,))[0],
}


@pytest.mark.parametrize(("mode", "make"), rotating(MODES, MAKERS, times=2))
def test_functions_keep_what_the_call_wrote(make, mode):
    assert MODES[mode](make)[1]() == make(1.5)[1]()


@pytest.mark.parametrize("make", MAKERS)
def test_functions_of_inner_derivatives(make):
    def outer(x):
        (_, read), _ = value_and_grad(make, has_aux=True)(x)
        return x * read()

    expected = make(1.5)[1]()
    value, derivative = value_and_grad(outer)(1.5)
    assert value == pytest.approx(1.5 * expected)
    assert derivative == pytest.approx(expected)


def test_functions_that_lead_to_no_change_stay_the_same():
    table = {"a": 1.0}

    def read():
        return table["a"]

    def f(x):
        rest = [1.0]
        rest.append(2.0)
        return x * rest[1], read

    assert value_and_grad(f, has_aux=True)(1.5)[0][1] is read


def test_an_exception_keeps_functions_over_what_the_call_wrote():
    def f(x):
        history = []
        history.append(3.0)
        error = ValueError("stop")
        error.read = lambda: sum(history)
        raise error

    with pytest.raises(ValueError, match="stop") as caught:
        value_and_grad(f)(1.5)
    assert caught.value.read() == 3.0


def test_an_exception_keeps_itself_and_what_was_written_into_its_class():
    def f(x):
        class Failure(Exception):
            code = 1.0

        Failure.code = 2.0 * x
        error = Failure("stop")
        error.me = error
        raise error

    for mode in MODES.values():
        with pytest.raises(Exception, match="stop") as caught:
            mode(f)
        assert caught.value.me is caught.value
        assert caught.value.code == 3.0
        assert type(caught.value.code) is float


def iterator(x):
    found = [1.0]
    found.append(2.0)
    return x * x, iter(found)


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(DerivativeDropError, match="has changed an object"):
        value_and_grad(iterator, has_aux=True)(1.5)


def test_active_attributes_of_classes_do_not_leave_inner_derivatives():
    def f(x):
        class Model:
            weight = 1.0

        Model.weight = 2.0 * x
        return x * x, Model

    assert value_and_grad(f, has_aux=True)(1.5)[0][1].weight == 3.0
    with pytest.raises(DerivativeDropError, match=r"the class .*Model that holds active values"):
        grad(lambda x: x * value_and_grad(f, has_aux=True)(x)[0][1].weight)(1.5)


def test_classes_that_are_made_and_not_changed_leave():
    def f(x):
        class Model:
            weight = 1.0

            def twice(self):
                return 2 * self.v

        model = Model()
        model.v = 3.0
        return x * x, model

    assert value_and_grad(f, has_aux=True)(1.5)[0][1].twice() == 6.0
