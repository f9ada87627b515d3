"""The operations of statements: which are one, their shapes, and which of them are arrays."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.compiler.regions.ir import Name
from tests.compiler.statements.cores import core_of, text_of, texts


def test_operations_have_names_and_equal_ones_have_one():
    core = core_of("np.sin(a * b) + np.sin(a * b) * c")
    assert texts(core.lets) == [
        "t0 = v0 * v1",
        "t1 = np_sin(t0)",
        "t2 = t1 * v2",
        "t3 = t1 + t2",
    ]
    assert core.root == Name("t3")


def test_items_that_are_read_twice_are_two_operands():
    assert texts(core_of("x[i] * x[i]").lets) == ["t0 = v0 * v1"]


def test_an_operand_alone_is_its_own_value():
    core = core_of("a")
    assert (core.lets, core.root) == ([], Name("v0"))


def test_contractions_and_sums():
    core = core_of("np.sum(a * b) * (a @ b) + np.dot(a, b)")
    assert [text_of(let.value) for let in core.contractions] == ["v0 @ v1", "f_dot(v0, v1)"]
    assert [text_of(let.value) for let in core.sums] == ["f_sum(t0)"]


def test_roles():
    contracted, elementwise = core_of("a @ b * c + a").roles
    assert contracted == {"v0", "v1"}
    assert elementwise >= {"v0", "v2", "t0"}
    assert "v1" not in elementwise


def test_the_change_is_the_right_operand():
    core = core_of("-= b * c", target="a")
    assert core.by_operator
    assert core.change == Name("t0")
    assert texts(core.lets) == ["t0 = v1 * v2", "t1 = v0 - t0"]


@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        ("a + b", [(3,), (2, 3)], (2, 3)),
        ("a + b", [(3, 1), (1, 2)], (3, 2)),
        ("a * 2.0", [(0,)], (0,)),
        ("a @ b", [(2, 3), (3,)], (2,)),
        ("a @ b", [(3,), (3, 2)], (2,)),
        ("a @ b", [(3,), (3,)], ()),
        ("np.outer(a, b)", [(2,), (3,)], (2, 3)),
        ("np.sum(a) * b", [(2, 3), ()], ()),
    ],
)
def test_shapes_are_those_of_numpy(text, shapes, expected):
    core = core_of(text)
    given = {f"v{k}": shape for k, shape in enumerate(shapes)}
    found = core.shapes(given, len(core.lets))
    assert isinstance(core.root, Name)
    assert found[core.root.name] == expected
    a, b = np.ones(shapes[0]), np.ones(shapes[-1])
    assert np.shape(eval(text, {"np": np, "a": a, "b": b})) == expected


@pytest.mark.parametrize(
    ("text", "shapes"), [("a + b", [(3,), (2,)]), ("a @ b", [(3,), (2, 2, 2)]), ("a @ b", [(), ()])]
)
def test_shapes_that_do_not_fit_are_refused(text, shapes):
    core = core_of(text)
    with pytest.raises(ValueError):
        core.shapes({f"v{k}": shape for k, shape in enumerate(shapes)}, len(core.lets))


@pytest.mark.parametrize(
    ("text", "ndims", "expected"),
    [
        ("a * b", {"v0": 0}, {"v0", "t0"}),
        ("a * b", {}, set()),
        ("np.sum(a) * b", {"v0": 0}, {"v0"}),
        ("a @ b * c", {"v0": 1, "v1": 1}, {"v0", "v1"}),
        ("a @ b * c", {"v0": 2, "v1": 1}, {"v0", "v1", "t0", "t1"}),
        ("np.outer(a, b)", {"v0": 1, "v1": 1}, {"v0", "v1", "t0"}),
        ("int(a) + b", {}, set()),
    ],
)
def test_what_is_an_array(text, ndims, expected):
    assert core_of(text).arrays(ndims) == expected
