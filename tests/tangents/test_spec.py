"""User-defined types: one small spec each, and its defaults."""

import numpy as np
import pytest

from mooncake_py.tangents import (
    FData,
    MutableTangent,
    NoTangent,
    RData,
    Tangent,
    TangentSpec,
    add_to_primal,
    fdata,
    rdata,
    register_tangent,
    tangent_type,
    zero_tangent,
)
from mooncake_py.tangents.spec import found_specs, registered


@pytest.fixture(autouse=True)
def _forget_specs():
    before = dict(registered)
    yield
    registered.clear()
    registered.update(before)
    found_specs.clear()


class Quantity:
    """A value with a unit, not to be changed."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit


def test_immutable_type_needs_one_line():
    @register_tangent(Quantity)
    class QuantitySpec(TangentSpec):
        mutable = False

    q = Quantity((1.0, np.ones(2)), "m")
    t = zero_tangent(q)
    assert t == Tangent(value=(0.0, np.zeros(2)), unit=NoTangent())
    assert isinstance(fdata(t), FData)
    assert isinstance(rdata(t), RData)
    moved = add_to_primal(q, Tangent(value=(1.0, np.ones(2)), unit=NoTangent()))
    assert (moved.value[0], moved.unit) == (2.0, "m")
    assert tangent_type(Quantity) is object


def test_type_can_be_declared_constant():
    @register_tangent(Quantity)
    class Constant(TangentSpec):
        differentiable = False

    assert zero_tangent(Quantity(1.0, "m")) is NoTangent()
    assert tangent_type(Quantity) is NoTangent


def test_spec_holds_for_subclasses_and_later_values():
    class Length(Quantity):
        pass

    assert zero_tangent(Length(1.0, "m")) == MutableTangent(value=0.0, unit=NoTangent())

    @register_tangent(Quantity)
    class OnlyValue(TangentSpec):
        def fields(self, x):
            return {"value": x.value}

    assert zero_tangent(Length(1.0, "m")) == MutableTangent(value=0.0)


def test_spec_may_be_an_instance():
    spec = TangentSpec()
    assert register_tangent(Quantity)(spec) is spec
    assert zero_tangent(Quantity(1.0, 2)) == MutableTangent(value=0.0, unit=NoTangent())


def test_types_with_a_part_in_c_are_copied():
    class Failure(Exception):
        pass

    failure = Failure("text")
    failure.cost = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    moved = add_to_primal(failure, MutableTangent(cost=2.0))
    assert (type(moved), moved.args, moved.cost) == (Failure, ("text",), 3.0)
    assert failure.cost == 1.0  # pyright: ignore[reportAttributeAccessIssue]
