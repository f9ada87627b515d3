"""Operands, elements, ints and conditions of loops as text for generated code."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from mooncake_py.forms.loops.expressions import Unfit, named, symbol
from mooncake_py.forms.loops.program import Assign, Branch, Item
from tests.forms.loops.reading import read_body


def assigned(body: str, before: str = "pass") -> Assign:
    program = read_body(body, before)
    assert program is not None
    *_, found = program.assignments()
    return found


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("i", "u_i"),
        ("a < 2", "(u_a < 2)"),
        ("0 <= i < n", "(0 <= u_i < u_n)"),
        ("i == 1 and a != 2.5 or not b", "(((u_i == 1) and (u_a != 2.5)) or (not u_b))"),
        ("x[i] >= -x[i - 1]", "(m_u_x[u_i] >= (-m_u_x[(u_i - 1)]))"),
        ("m[i, 0] > +a", "(m_u_m[u_i, 0] > (+u_a))"),
        ("i // 2 % 3 * n + 1 - i", "(((((u_i // 2) % 3) * u_n) + 1) - u_i)"),
        ("a / b", "(u_a / u_b)"),
        ("len(x) > y.shape[0]", "(nu_x_0 > nu_y_0)"),
        ("m.shape[1] > int(a) + abs(b)", "(nu_m_1 > (int(u_a) + abs(u_b)))"),
    ],
)
def test_conditions(text, written):
    uses = "x[i] += y[i] * m[i, i]\n"
    program = read_body(f"{uses}if {text}: x[0] = 1.0")
    assert program is not None
    found = program.loop.body[-1]
    assert isinstance(found, Branch)
    assert found.test == written


@pytest.mark.parametrize(
    "text",
    ["i is 0", "i in x", "i & 1", "i << 1", "~i", "i ** 2", "max(i, 2)", "abs(*x)",
     "int(a, base=2)", "x.ndim", "o.a", "x[i].real", "'a'", "None", "i if a else b", "f'{i}'",
     "x[0:1]"],
)
def test_conditions_that_are_refused(text):
    assert read_body(f"if {text}: x[i] = 1.0") is None


def test_builtins_must_be_those_of_python():
    assert read_body("if abs(a) < 1: x[i] = 1.0") is not None
    assert read_body("if abs(a) < 1: x[i] = 1.0", "abs = math.sin") is None
    assert read_body("if len(x) < 1: x[i] = 1.0", "len = math.sin") is None


@pytest.mark.parametrize(
    ("element", "item"),
    [
        ("x[i]", Item("u_x", "u_i")),
        ("x[-1]", Item("u_x", "(-1)")),
        ("m[i, n - 1]", Item("u_m", "u_i, (u_n - 1)")),
        ("x[(i + 1) % n]", Item("u_x", "((u_i + 1) % u_n)")),
        ("o.x[i]", Item("au_o_of_x", "u_i")),
    ],
)
def test_elements(element, item):
    assert assigned(f"{element} = 2.0").target == item
    assert assigned(f"s = {element} * 2.0").operands == (item,)
    assert assigned(f"{element} += a").operands == (item, "u_a")
    assert item.of("d") == f"d_{item.base}[{item.at}]"


def test_steps_of_an_expression():
    found = assigned("s = np.sin(a) * x[i] - a ** 2 / 3 + int(b) - (-a)")
    assert found.steps == (
        ("call", 0, ("v", 0)), ("mul", ("t", 0), ("v", 1)),
        ("pow", ("v", 0), ("c", 2)), ("truediv", ("t", 2), ("c", 3)), ("sub", ("t", 1), ("t", 3)),
        ("int", ("v", 2)), ("add", ("t", 4), ("t", 5)), ("neg", ("v", 0)),
        ("sub", ("t", 6), ("t", 7)),
    )
    assert found.operands == ("u_a", Item("u_x", "u_i"), "u_b")


def test_a_copy_is_a_step_too():
    assert assigned("x[i] = a").steps == (("pos", ("v", 0)),)
    assert assigned("x[i] = 2").steps == (("pos", ("c", 2)),)


def test_each_function_is_passed_once():
    program = read_body("x[i] = np.sin(a) * math.cos(a)\nx[0] = np.sin(x[i]) - math.cos(b)")
    assert program is not None
    assert [ast.unparse(f) for f in program.functions] == ["np.sin", "math.cos"]
    calls = [step[:2] for a in program.assignments() for step in a.steps if step[0] == "call"]
    assert calls == [("call", 0), ("call", 1), ("call", 0), ("call", 1)]
    assert np.sin is not math.sin


def test_names_that_are_read_before_they_are_bound_are_inputs():
    program = read_body("if i > 0: s += t\nt = x[i]", "s = t = 0.0")
    assert program is not None
    assert set(program.inputs) == {"u_x", "u_s", "u_t"}
    program = read_body("t = x[i]\ns = t * t\nu = s")
    assert program is not None
    assert set(program.inputs) == {"u_x"}


def test_names_that_one_branch_binds_are_inputs_afterwards():
    both = read_body("if a:\n    s = x[i]\nelse:\n    s = 2.0\nx[i] = s * a")
    assert both is not None
    assert "u_s" not in both.inputs
    one = read_body("if a:\n    s = x[i]\nx[i] = s * a")
    assert one is not None
    assert "u_s" in one.inputs
    inner = read_body("for j in range(i):\n    s = x[j]\nx[i] = s * a")
    assert inner is not None
    assert "u_s" in inner.inputs


def test_names_and_symbols():
    assert named("s") == "u_s"
    assert symbol(ast.FloorDiv()) == "//"
    with pytest.raises(Unfit):
        symbol(ast.BitAnd())
