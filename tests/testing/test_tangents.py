"""test_tangent accepts what is right and catches specs that are wrong on purpose."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import RuleTestError
from mooncake_py.tangents import TangentSpec, register_tangent
from mooncake_py.tangents.spec import found_specs, registered
from mooncake_py.testing.tangents import test_tangent as check_tangent


@pytest.fixture(autouse=True)
def _forget_specs():
    before = dict(registered)
    yield
    registered.clear()
    registered.update(before)
    found_specs.clear()


class Model:
    """What the specs below describe."""

    def __init__(self):
        self.w = np.arange(6.0).reshape(2, 3).copy()
        self.row = self.w[1]
        self.bias = 0.5
        self.parts = [1.0, np.float32(2)]
        self.name = "model"


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    w: object


def cyclic():
    x: list[Any] = [1.0, np.ones(2)]
    x.append((x,))
    return x


X = np.arange(6.0)
VALUES = [
    3, 1.5, 1j, np.float32(2), np.longdouble(2), "a", None, (), (1, 2), [], {}, X, X[::-2],
    X.reshape(2, 3).T, np.asfortranarray(np.ones((2, 3))), np.broadcast_to(X, (2, 6)),
    np.array(1.0), np.zeros((0, 2)), np.ones(3, np.float32), np.ones(3, np.complex64), np.arange(3),
    (1.0, X, 3), [X, X[1:], X], {"a": {"b": (1.0, [X])}}, Model(), Point(1.0, X),
    (Model(), Point(1.0, [X])), cyclic(), lambda: X, Model().w.sum,
    [np.nan, np.inf, np.array(-0.0)],
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30])
def test_right_values_pass(value):
    check_tangent(value)
    check_tangent(value, np.random.default_rng(1))


def test_field_that_breaks_its_annotation_is_named():
    with pytest.raises(RuleTestError, match="instances of tangent_type") as caught:
        check_tangent(Point(1, 2.0))
    assert "expected: Tangent[{'x': float, 'w': object}]" in str(caught.value)


def test_is_not_collected():
    assert vars(check_tangent)["__test__"] is False


def test_right_specs_pass():
    register_tangent(Model)(TangentSpec)
    check_tangent(Model())

    @register_tangent(Model)
    class OnlyBias(TangentSpec):
        def fields(self, x):
            return {"bias": x.bias}

        def fill(self, blank, fields):
            blank.__dict__.update(Model().__dict__)
            blank.bias = fields["bias"]

    check_tangent(Model())


class CopiesFields(TangentSpec):
    """Hands out copies: the tangents cannot share memory as the model does."""

    def fields(self, x):
        return {name: np.copy(v) if name == "w" else v for name, v in vars(x).items()}


class ForgetsField(TangentSpec):
    def fill(self, blank, fields):
        vars(blank).update(fields)
        del blank.bias


class ChangesValue(TangentSpec):
    def fill(self, blank, fields):
        vars(blank).update(fields, bias=round(fields["bias"], 1) + 1e-3)


class DropsStep(TangentSpec):
    def fill(self, blank, fields):
        vars(blank).update(fields, bias=0.5)


class OtherClass(TangentSpec):
    def blank(self, x):
        return Point.__new__(Point)


class SameObject(TangentSpec):
    def blank(self, x):
        return x


class BreaksSharing(TangentSpec):
    def fill(self, blank, fields):
        vars(blank).update(fields, row=fields["row"].copy())


class Downcasts(TangentSpec):
    def fill(self, blank, fields):
        vars(blank).update(fields, bias=np.float32(fields["bias"]))


class Unsteady(TangentSpec):
    calls = 0

    def fields(self, x):
        Unsteady.calls += 1
        return {f"bias{Unsteady.calls}": x.bias}


class CopiesList(TangentSpec):
    """Hands out a new list at each call: it has no lasting tangent."""

    def fields(self, x):
        return {"parts": list(x.parts)}


WRONG = [
    (CopiesFields, "returns the parts themselves", "at: value['w']"),
    (CopiesList, "returns the parts themselves", "at: value['parts']"),
    (ForgetsField, "add_to_primal|plus", "bias"),
    (ChangesValue, "plus the zero tangent equals the value", "at: value['bias']"),
    (DropsStep, "is t", "error below"),
    (OtherClass, "a new value of the same structure", "expected: Model"),
    (SameObject, "a new value of the same structure", "a new value"),
    (BreaksSharing, "shares objects and memory", "same view of the shadow"),
    (Downcasts, "plus the zero tangent equals the value", "at: value['bias']"),
]


@pytest.mark.parametrize(
    ("spec", "check", "detail"), WRONG, ids=lambda v: getattr(v, "__name__", "")
)
def test_wrong_specs_are_caught(spec, check, detail):
    register_tangent(Model)(spec)
    with pytest.raises(RuleTestError) as caught:
        check_tangent(Model())
    assert re.search(check, caught.value.what)
    assert detail in re.sub(" +", " ", caught.value.why)
    assert "spec" in caught.value.fix


def test_spec_with_changing_names_is_caught():
    register_tangent(Model)(Unsteady)
    with pytest.raises(RuleTestError):
        check_tangent(Model())


def test_immutable_spec_that_ignores_the_step_is_caught():
    @register_tangent(Model)
    class Frozen(TangentSpec):
        mutable = False

        def build(self, x, fields):
            return x

    with pytest.raises(RuleTestError, match="is t"):
        check_tangent(Model())


def test_other_exceptions_pass_with_a_note():
    @register_tangent(Model)
    class Fails(TangentSpec):
        def blank(self, x):
            raise ZeroDivisionError("in user code")

    with pytest.raises(ZeroDivisionError, match="in user code") as caught:
        check_tangent(Model())
    assert caught.value.__notes__ == [
        "while test_tangent checked: add_to_primal returns a new value of the same structure"
    ]


def test_value_is_left_unchanged():
    model = Model()
    check_tangent(model)
    np.testing.assert_array_equal(model.w, np.arange(6.0).reshape(2, 3))
    assert model.row.base is model.w
    assert model.bias == 0.5
