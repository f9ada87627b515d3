"""Values, elements, ints and tests as expressions."""

from __future__ import annotations

import ast

import pytest

from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.ir import (
    Assign,
    Call,
    Const,
    Expr,
    If,
    Load,
    Name,
    Op,
    statements,
    walk,
)
from mooncake_py.compiler.regions.simplify import expressions_of
from tests.compiler.regions_of import read_body, reading_of, region_of


def assigned(body: str, before: str = "pass") -> Assign:
    *_, found = [s for s in statements(region_of(body, before).body) if isinstance(s, Assign)]
    return found


def written(e: Expr) -> str:
    return Emitter().text(e)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i", "u_i"),
        ("a < 2", "u_a < 2"),
        ("0 <= i < n", "0 <= u_i < u_n"),
        ("i == 1 and a != 2.5 or not b", "((u_i == 1) and (u_a != 2.5)) or (not u_b)"),
        ("x[i] >= -x[i - 1]", "u_x[u_i] >= (-u_x[u_i - 1])"),
        ("m[i, 0] > +a", "u_m[u_i, 0] > (+u_a)"),
        ("i // 2 % 3 * n + 1 - i", "u_i // 2 % 3 * u_n + 1 - u_i"),
        ("a / b", "u_a / u_b"),
        ("x[i].real > x[i].imag", "(+u_x[u_i]) > (u_x[u_i]).imag"),
        ("len(x) > y.shape[0]", "n0_u_x > n0_u_y"),
        ("o.a > i", "au_o_of_a > u_i"),
        ("i ** 2 > float(a)", "(u_i ** 2) > float(u_a)"),
        ("max(i, a) < 2", "(u_a if (u_a > u_i) else u_i) < 2"),
        ("m.shape[1] > int(a) + abs(b)", "n1_u_m > (f_rounded_int(u_a) + abs(u_b))"),
    ],
)
def test_conditions(text, expected):
    uses = "x[i] += y[i] * m[i, i]\n"
    found = region_of(f"{uses}if {text}: x[0] = 1.0").loop.body[-1]
    assert isinstance(found, If)
    assert written(found.test) == expected


@pytest.mark.parametrize(
    "text",
    ["i is 0", "i in x", "i & 1", "i << 1", "~i", "np.isnan(a)", "max(i, key=i)",
     "abs(*x)", "int(a, base=2)", "o.b().a", "'a'", "None",
     "i if a is b else b", "f'{i}'", "x[0:1]"],
)  # fmt: skip
def test_conditions_that_are_refused(text):
    assert read_body(f"if {text}: x[i] = 1.0") is None


def test_builtins_must_be_those_of_python():
    assert read_body("if abs(a) < 1: x[i] = 1.0") is not None
    assert read_body("if abs(a) < 1: x[i] = 1.0", "abs = math.sin") is None
    assert read_body("if len(x) < 1: x[i] = 1.0", "len = math.sin") is None


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("x[i]", "u_x[u_i]"),
        ("x[-1]", "u_x[-1]"),
        ("m[i, n - 1]", "u_m[u_i, u_n - 1]"),
        ("x[(i + 1) % n]", "u_x[(u_i + 1) % u_n]"),
        ("o.x[i]", "au_o_of_x[u_i]"),
    ],
)
def test_elements(element, expected):
    assert written(assigned(f"{element} = 2.0").target) == expected
    assert written(assigned(f"s = {element} * 2.0").value) == f"{expected} * 2.0"
    added = assigned(f"{element} += a")
    assert added.value == Op("add", (added.target, Name("u_a")))


def test_values():
    found = assigned("s = np.sin(a) * x[i] - a ** 2 / 3 + int(b) - (-a)").value
    sine = Call(0, (Name("u_a"),))
    x = Load("u_x", (Name("u_i"),))
    power = Op("pow", (Name("u_a"), Const(2)))
    first = Op("sub", (Op("mul", (sine, x)), Op("truediv", (power, Const(3)))))
    second = Op("add", (first, Op("int", (Name("u_b"),))))
    assert found == Op("sub", (second, Op("neg", (Name("u_a"),))))
    assert assigned("x[i] = a").value == Name("u_a")
    assert assigned("x[i] = 2").value == Const(2) != Const(2.0)


def test_each_function_is_passed_once():
    reading = reading_of(
        "def f(x, a, b, n):\n"
        "    for i in range(n):\n"
        "        x[i] = np.sin(a) * math.cos(a)\n"
        "        x[0] = np.sin(x[i]) - math.cos(b)\n"
    )
    assert reading is not None
    assert [ast.unparse(f) for f in reading.functions] == ["np.sin", "math.cos"]
    calls = [
        part.function
        for s in statements(reading.region.body)
        for e in expressions_of(s)
        for part in walk(e)
        if isinstance(part, Call)
    ]
    assert calls == [0, 1, 0, 1]


def test_names_that_are_read_before_they_are_bound_are_inputs():
    region = region_of("if i > 0: s += t\nt = x[i]", "s = t = 0.0")
    assert set(region.inputs) == {"u_x", "u_s", "u_t"}
    region = region_of("t = x[i]\ns = t * t\nu = s")
    assert set(region.inputs) == {"u_x"}


def test_names_that_one_branch_binds_are_inputs_afterwards():
    both = region_of("if a:\n    s = x[i]\nelse:\n    s = 2.0\nx[i] = s * a")
    assert "u_s" not in both.inputs
    one = region_of("if a:\n    s = x[i]\nx[i] = s * a")
    assert "u_s" in one.inputs
    inner = region_of("for j in range(i):\n    s = x[j]\nx[i] = s * a")
    assert "u_s" in inner.inputs
