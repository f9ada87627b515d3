"""Nodes: immutable, equal if they mean the same, wherever they stand."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.regions.ir import Assign, Break, Const, Name, Op
from mooncake_py.syntax.nodes import Place


def test_nodes_are_equal_if_they_mean_the_same() -> None:
    place = Place(3, 4, 3, 9)
    product = Op("mul", (Name("a"), Const(2.0)))
    assert product == Op("mul", (Name("a", place=place), Const(2.0)), place=place)
    assert hash(product) == hash(Op("mul", (Name("a"), Const(2.0)), place=place))
    assert product != Op("add", (Name("a"), Const(2.0)))
    assert Name("a") != Const("a")  # type: ignore[arg-type]
    assert Break() == Break(place=place)
    assert Const(0.0) != Const(-0.0)
    assert Const(0.0) != Const(0)


def test_fields_do_not_change() -> None:
    s = Assign(Name("a"), Const(1.0))
    assert s.place is None
    assert repr(s) == "Assign(target=Name(name='a'), value=Const(value=1.0))"
    with pytest.raises(AttributeError, match="cannot assign to field 'value' of Assign"):
        s.value = Const(2.0)  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
        Assign(Name("a"))  # type: ignore[call-arg]
