"""What is active in a loop, and of which types its numbers are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py.compiler.derivatives.activity import active_parts, flowing, part_of
from mooncake_py.compiler.forms.form import bound_to
from mooncake_py.compiler.forms.infer import (
    FLOAT,
    FLOAT64,
    INT,
    MIXED,
    _Inference,
    combined,
    flag_of,
    infer,
    joined,
    only,
)
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.ir import Assign, Const, Count, Name, statements
from tests.compiler.regions_of import region_of


def active(body: str, given: str, before: str = "s = t = 0.0", shared: str = "") -> set[str]:
    """Return the names that are active, where the arrays in `shared` share memory."""
    region = region_of(body, before)
    groups = {name: 0 if name[2:] in shared.split() else name for name in region.arrays}
    found = active_parts(region.body, {f"u_{name}" for name in given.split()}, groups)
    return {name.removeprefix("u_") for name in found}


def test_what_is_computed_from_active_values_is_active():
    assert active("s += x[i] * a\ny[i] = b\nt = b", "x") == {"x", "s"}
    assert active("y[i] = s\ns = x[i]", "x") == {"x", "y", "s"}
    assert active("x[i] = y[i]\ny[i] = t\nt = s\ns = a", "a") == {"a", "s", "t", "y", "x"}


def test_conditions_indices_and_ints_pass_nothing_on():
    body = "k = int(x[i])\nif x[i] > a:\n    s += y[k]\nt = int(x[i]) * 2.0 + b"
    assert active(body, "x a") == {"x", "a"}
    assert active("t = int(x[i]) * x[i]", "x") == {"x", "t"}
    assert active("t = int(a * 2.0) * b", "b") == {"b", "t"}


def test_arrays_of_one_memory_are_active_together():
    body = "s += x[i]\ny[i] = b * t\nm[i, i] = 2.0"
    assert active(body, "y") == {"y"}
    assert active(body, "y", shared="x y") == {"x", "y", "s"}
    assert active(body, "b", shared="x y") == {"b", "x", "y", "s"}
    assert active(body, "b", shared="x y m") == {"b", "x", "y", "m", "s"}


def test_parallel_assignment_passes_on_by_its_temporaries():
    assert active("s, t = t, s * x[i]", "x") == {"x", "w1", "t", "w0", "s"}


def test_operands_through_which_a_derivative_flows():
    region = region_of("s = x[i] * int(a * b) + (y[i] - int(x[i])) / b")
    (s,) = [s for s in statements(region.body) if isinstance(s, Assign)]
    assert [part_of(leaf) for leaf in flowing(s.value)] == ["u_x", "u_y", "u_b"]


# Types.


def kinds(body: str, before: str = "s = t = 0.0", functions=(), **given: str) -> dict[str, str]:
    """Return the types of what a loop binds."""
    region = bound_to(region_of(body, before), functions)
    inputs = {name: FLOAT for name in region.inputs if name not in region.arrays}
    inputs |= {f"u_{name}": kind for name, kind in given.items()}
    after = _Inference(region, inputs).after
    return {user: only(after[name]) for name, user in region.bound.items()}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("x[i]", FLOAT64), ("a", FLOAT), ("2", INT), ("2.0", FLOAT), ("i", INT), ("i * 2 - n", INT),
        ("i / 2", FLOAT), ("-i", INT), ("i ** 2", INT), ("a ** 2", FLOAT), ("-x[i]", FLOAT64),
        ("i + 0.5", FLOAT), ("b * i", FLOAT64), ("a * x[i] + 1", FLOAT64), ("int(x[i]) * 2", INT),
        ("int(a) / 2", FLOAT),
    ],
)  # fmt: skip
def test_types_of_expressions(expression, kind):
    found = kinds(f"s = {expression}\nx[i] = s", n=INT, b=FLOAT64)
    assert found["s"] == kind
    assert found["i"] == INT


def test_types_of_functions():
    functions = np.sin, math.sin
    assert kinds("s = np.sin(a) + math.sin(a)", functions=functions)["s"] == FLOAT64
    assert kinds("s = math.sin(x[i])", functions=(math.sin,))["s"] == FLOAT


def test_types_after_loops_that_may_not_run():
    assert kinds("s += x[i]")["s"] == FLOAT64
    assert kinds("for j in range(i):\n    s += x[j]")["s"] == MIXED
    assert kinds("for j in range(i):\n    s += x[j]", s=FLOAT64)["s"] == FLOAT64
    assert kinds("for j in range(i):\n    s += x[j]\ns = s * 1.0", s=INT)["s"] == MIXED
    assert kinds("for j in range(i):\n    s += a\ns = s * x[0]", s=INT)["s"] == FLOAT64


def test_types_after_branches():
    assert kinds("if a:\n    s = x[i]\nelse:\n    s = 2.0 * x[0]")["s"] == FLOAT64
    assert kinds("if a:\n    s = x[i]\nelse:\n    s = 2.0")["s"] == MIXED
    assert kinds("if a:\n    s = x[i]")["s"] == MIXED
    assert kinds("if a:\n    s = 2.0 * s")["s"] == FLOAT
    assert kinds("if a:\n    s += 1", s=INT)["s"] == INT


def test_types_of_later_passes_come_round():
    # In the first pass t is a float, in the others it is what s became.
    assert kinds("t = s\ns = x[i]")["t"] == MIXED
    assert kinds("t = s * 2\ns = s + 1", s=INT)["t"] == INT
    assert kinds("t = s * 2\ns = s + 1.0", s=INT)["t"] == MIXED
    assert kinds("t = s * x[0]\ns = s + 1.0", s=INT)["t"] == FLOAT64


def test_types_of_parallel_assignments():
    found = kinds("s, t = t, s + x[i]", s=FLOAT64, t=FLOAT64)
    assert (found["s"], found["t"]) == (FLOAT64, FLOAT64)
    assert kinds("s, t = 1, 2.0")["s"] == INT


def test_operators_and_what_types_have_in_common():
    i, f, d = (frozenset({kind}) for kind in (INT, FLOAT, FLOAT64))
    assert combined("add", [i | f, d]) == d
    assert combined("add", [i | f, f]) == f
    assert combined("mul", [i | d, f]) == f | d
    assert combined("truediv", [i, i]) == f
    assert combined("mul", [i, f]) == f
    assert joined({"a": i, "b": f}, {"b": i, "c": i}) == {"a": i, "b": f | i, "c": i}
    assert [only(kinds) for kinds in (i, f, f | d)] == [INT, FLOAT, MIXED]


def test_a_sum_of_floats_that_starts_with_an_int():
    assert kinds("s += a", s=INT)["s"] == FLOAT
    assert kinds("if a: s += b", s=INT)["s"] == MIXED
    assert kinds("t = s\ns += a", s=INT)["t"] == MIXED
    assert kinds("t = s * a\ns += a", s=INT)["t"] == FLOAT


def test_types_and_flags_stand_in_the_region():
    region = region_of("s += x[i]\nif s > a: t = s", "s = t = 0.0")
    found = infer(region, {"u_s": FLOAT, "u_t": FLOAT, "u_a": FLOAT})
    assert found is not None
    assert found.flagged == ("u_t",)
    assert found.body[0] == Count(flag_of("u_t"), Const(1))
    typed = {s.target.name: s.type for s in statements(found.body) if isinstance(s, Assign)}
    assert typed == {"u_s": FLOAT64, "u_t": FLOAT64}
    assert Count(flag_of("u_t"), Const(2)) in list(statements(found.body))


def test_a_copy_of_what_may_be_of_two_types_takes_its_flag():
    region = region_of("t = s\ns = x[i]", "s = t = 0.0")
    found = infer(region, {"u_s": FLOAT, "u_t": FLOAT})
    assert found is not None
    assert found.flagged == ("u_t",)
    assert Count(flag_of("u_t"), Name(flag_of("u_s"))) in list(statements(found.body))
    assert found.body[0] == Count(flag_of("u_s"), Const(1))


@pytest.mark.parametrize(
    ("value", "flag"),
    [
        ("s * 2", "max(k_u_s, 0)"), ("2.0 * s - s", "max(max(1, k_u_s), k_u_s)"), ("-s", "k_u_s"),
        ("s / 2", "max(1, k_u_s, 0)"), ("s + a", "max(k_u_s, 1)"), ("s * x[0]", "2"),
        ("int(s)", "0"), ("s * n + s / n", "max(max(k_u_s, 0), max(1, k_u_s, 0))"),
    ],
)  # fmt: skip
def test_flags_of_what_is_made_of_what_may_be_of_two_types(value, flag):
    region = region_of(f"t = {value}\ns = x[i]", "s = t = 0.0")
    found = infer(region, {"u_s": INT, "u_t": INT, "u_a": FLOAT, "u_n": INT})
    assert found is not None
    flags = [s.value for s in statements(found.body) if isinstance(s, Count)]
    if "k_u_s" in flag:
        assert flag in [Emitter().text(e) for e in flags]
    else:
        assert found.flagged == ()


def test_there_are_no_types_where_numpy_may_make_ints():
    region = bound_to(region_of("x[i] = np.maximum(i, n)"), (np.maximum,))
    assert infer(region, {"u_n": INT}) is None
    assert infer(region, {"u_n": FLOAT}) is not None
