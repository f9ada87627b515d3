"""Which cotangents are looked at: what may not be finite, and is not told by others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, Name, Op
from mooncake_py.compiler.statements.finiteness import (
    factors_of,
    is_finite,
    numbers_behind,
    to_check,
    without_implied,
)

G, A = Name("g"), Name("a")


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


def lets(*values: Expr) -> list[Let]:
    """Return the operations d0, d1, ..."""
    return [Let(f"d{k}", e) for k, e in enumerate(values)]


def D(k: int) -> Name:
    return Name(f"d{k}")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (op("add", G, G), []),
        (op("neg", G), []),
        (op("mul", G, Const(2.0)), []),
        (op("mul", G, Const(math.inf)), ["d0"]),
        (op("mul", G, A), ["d0"]),
        (op("truediv", G, Const(2.0)), ["d0"]),
        (Call(math.sin, (G,)), ["d0"]),
        (op("fitted", G, Name("shape0")), []),
    ],
)
def test_what_may_not_be_finite_is_looked_at(value, found):
    assert to_check([D(0)], lets(value), {"g", "shape0"}) == found


def test_what_comes_in_and_what_is_bounded_is_not_looked_at():
    assert to_check([G, Const(1.0)], [], {"g"}) == []
    assert to_check([D(0)], lets(op("mul", G, Name("w_t0_0"))), {"g", "w_t0_0"}) == []


def test_what_is_made_of_it_is_looked_at_too():
    assert to_check([D(1)], lets(op("mul", G, A), op("add", D(0), G)), {"g"}) == ["d1"]


def test_signs_do_not_matter():
    assert to_check([op("neg", D(0))], lets(op("mul", G, A)), {"g"}) == ["d0"]


def test_what_is_finite_if_something_made_of_it_is_needs_no_check():
    found = lets(op("mul", G, A), op("mul", D(0), A), op("sub", D(1), G))
    assert without_implied(["d0", "d1", "d2"], found) == ["d2"]
    assert to_check([D(0), D(1)], found, {"g"}) == ["d1"]


@pytest.mark.parametrize(
    "value",
    [
        Call(math.sin, (D(0),)),
        op("fitted", op("mul", D(0), A), Name("shape0")),
    ],
)
def test_what_may_leave_out_tells_nothing(value):
    assert without_implied(["d0", "d1"], lets(op("mul", G, A), value)) == ["d0", "d1"]


def test_sums_of_products_that_have_names_may_leave_out_too():
    found = lets(op("mul", G, A), op("mul", D(0), A), op("fitted", D(1), Name("shape0")))
    assert without_implied(["d0", "d2"], found) == ["d0", "d2"]


@pytest.mark.parametrize("value", [op("summed", D(0)), op("fitted", D(0), Name("shape0"))])
def test_plain_sums_tell(value):
    assert without_implied(["d0", "d1"], lets(op("add", G, A), value)) == ["d1"]


def test_what_does_not_read_the_other_tells_nothing():
    assert without_implied(["d0", "d1"], lets(op("mul", G, A), op("mul", G, A))) == ["d0", "d1"]


def test_numbers_that_are_written_down():
    assert is_finite(Const(2.0))
    assert is_finite(Const(None))
    assert not is_finite(Const(-math.inf))
    assert not is_finite(Const(math.nan))


@pytest.mark.parametrize("summed", [op("mul", D(0), A), D(0)])
def test_an_inner_product_takes_everything_in(summed):
    assert without_implied(["d0", "d1"], lets(op("mul", G, A), op("summed", summed))) == ["d1"]


DOT = Call(math.sin, (D(0), Name("like_v1"), Name("v2")))  # an adjoint of a product of vectors


@pytest.mark.parametrize(
    ("values", "behind"),
    [
        ([op("mul", G, Name("v1"))], {"g"}),
        ([op("truediv", G, A), op("mul", A, D(0))], {"g", "d0"}),
        ([op("truediv", G, A), DOT], {"g", "d0"}),
        ([op("mul", G, A), op("mul", D(0), A), op("mul", D(1), A)], {"g", "d0", "d1"}),
        ([op("truediv", G, A), op("array", D(0)), op("mul", D(1), Name("v1"))], {"g", "d0"}),
        ([op("array", G), op("mul", D(0), Name("v1"))], {"g"}),
        ([op("mul", G, Name("v1")), DOT], None),  # v1 is an array: zeros may be anywhere in it
        ([op("mul", G, op("mul", A, Name("v1"))), DOT], None),
        ([op("mul", G, A), op("add", D(0), G)], None),
        ([op("mul", G, A), op("mul", D(0), D(0))], None),
        ([Call(math.sin, (G,))], None),
        ([op("fitted", G, Name("shape0"))], None),
    ],
)
def test_multiples_of_numbers_are_spoilt_by_zeros_only(values, behind):
    found = {let.name: let.value for let in lets(*values)}
    assert numbers_behind(f"d{len(values) - 1}", found, {"v1", "v2"}) == behind


T, N = Name("t"), Name("n")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (op("add", T, T), []),
        (op("neg", T), []),
        (op("mul", T, Const(2.0)), []),
        (op("mul", T, N), [("n", False)]),
        (op("mul", N, T), [("n", False)]),
        (op("truediv", T, N), [("n", True)]),
        (op("truediv", T, Const(2.0)), []),
        (Call(np.sum, (T,)), []),
        (Call(np.where, (A, T, Const(0.0))), []),
        (op("mul", T, Const(math.inf)), None),
        (op("truediv", T, Const(0.0)), None),
        (op("truediv", N, T), None),
        (op("mul", T, A), None),
        (op("mul", T, T), None),
        (op("pow", T, Const(2)), None),
        (Call(np.dot, (T, N)), None),
        (Call(math.sin, (T,)), None),
    ],
)
def test_numbers_that_multiply_tangents(value, found):
    assert factors_of(["t"], [], lets(value), {"n"}) == found


def test_what_is_made_of_numbers_is_one_and_so_is_a_sum():
    own = [Let("m", op("mul", N, N)), Let("s", Call(np.sum, (A,))), Let("p", op("mul", A, N))]
    assert factors_of(["t"], own, lets(op("mul", T, Name("m"))), {"n"}) == [("m", False)]
    assert factors_of(["t"], own, lets(op("mul", T, Name("s"))), {"n"}) == [("s", False)]
    assert factors_of(["t"], own, lets(op("mul", T, Name("p"))), {"n"}) is None


def test_what_tangents_become_is_followed():
    found = lets(op("mul", T, N), op("truediv", D(0), Name("m")))
    assert factors_of(["t"], [], found, {"n", "m"}) == [("n", False), ("m", True)]
    assert factors_of(["t"], [], lets(op("mul", T, N), op("mul", D(0), A)), {"n"}) is None
