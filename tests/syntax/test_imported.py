"""Functions of modules that are called by names of their own."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from math import sin
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy import dot, exp
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.syntax.imported import (
    may_import,
    with_functions_as_attributes,
    with_functions_by_name,
)
from mooncake_py.syntax.names import Names
from tests.programs.comparing import function_of

X = np.array([0.4, -0.3, 0.8, 0.2])
SCOPE: dict[str, Any] = {"sin": sin, "exp": exp, "dot": dot, "len_": len, "push": [].append}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = sin(x) * exp(dot(x, x))",
         "y = _mk_functions.sin(x) * _mk_functions.exp(_mk_functions.dot(x, x))"),
        ("y = [sin(v) for v in x]", "y = [_mk_functions.sin(v) for v in x]"),
        ("y = apply(sin, x)", None),
        ("y = len_(x)", None),
        ("push(x)", None),
        ("y = lambda x: sin(x)", None),
        ("y = local(x)", None),
        ("y = other(x)", None),
    ],
)  # fmt: skip
def test_calls_become_those_of_attributes(text, expected):
    names = Names({**SCOPE, "local": exp}, {"local"})
    tree = ast.parse(text)
    new = with_functions_as_attributes(tree, names)
    if expected is None:
        assert new is tree
        assert not names.assumed
    else:
        assert ast.unparse(new) == expected
        assert all(names.assumed[name] is SCOPE[name] for name in names.assumed)
        assert names.assumed


def test_what_runs_has_the_names():
    text = "y = sin(x) * exp(dot(x, x))"
    new = with_functions_as_attributes(ast.parse(text), Names(SCOPE, {}))
    assert ast.unparse(with_functions_by_name(new)) == text


def test_names_of_functions():
    assert may_import(SCOPE, ("x", "sin"))
    assert not may_import(SCOPE, ("x", "len_", "push"))


TEXT = """
from math import sin

def g(v):
    return sin(v)

def f(x):
    s = 0.0
    for i in range(4):
        s = s + sin(x[i]) * g(x[i])
    return s
"""


def test_a_name_that_is_bound_anew():
    f: Callable[..., Any] = function_of(TEXT, "<sines>")
    assert_allclose(grad(f)(X), 2.0 * np.sin(X) * np.cos(X))
    f.__globals__["sin"] = math.cos
    assert_allclose(grad(f)(X), -2.0 * np.sin(X) * np.cos(X))
    f.__globals__["sin"] = lambda v: v * v
    assert_allclose(grad(f)(X), 4.0 * X**3)
    f.__globals__["sin"] = np.sin
    assert_allclose(grad(f)(X), 2.0 * np.sin(X) * np.cos(X))
    del f.__globals__["sin"]
    with pytest.raises(NameError, match="sin"):
        grad(f)(X)


REBOUND = """
from math import cos, sin

def turn():
    global sin
    sin = cos

def f(x):
    y = sin(x)
    turn()
    return y * sin(x)

def in_a_loop(x):
    s = 0.0
    for i in range(6):
        s = s + i * sin(x)
        turn()
    return s

def in_comprehensions(x):
    y = [sin(x * k) for k in range(1, 4)]
    turn()
    return sum(a * sin(x * k) for k, a in enumerate(y))

def in_a_generator(x):
    def values():
        for _ in range(3):
            yield sin(x)
    s = 0.0
    for v in values():
        s = s + v
        turn()
    return s

def deleted(x):
    global sin
    y = sin(x)
    del sin
    return y * sin(x)
"""


@pytest.mark.parametrize("name", ["f", "in_a_loop", "in_comprehensions", "in_a_generator"])
def test_a_name_that_the_call_binds_anew(name):
    scope = function_of(REBOUND, "<rebound>").__globals__
    f = scope[name]

    def run(derivative, *args):
        scope["sin"] = math.sin
        return derivative(f, *args)

    value, gradient = run(lambda f, x: value_and_grad(f)(x), 0.5)
    assert value == run(lambda f, x: f(x), 0.5)
    ends = [run(lambda f, x: f(x), 0.5 + h) for h in (1e-6, -1e-6)]
    assert_allclose(gradient, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)
    assert run(lambda f, x: jvp(f, (x,), (1.0,)), 0.5) == (value, pytest.approx(gradient))


def test_a_name_that_the_call_deletes():
    f = function_of(REBOUND, "<rebound>").__globals__["deleted"]
    with pytest.raises(NameError, match="name 'sin' is not defined"):
        grad(f)(0.5)


def test_a_module_that_changes_its_function_later():
    module = ModuleType("of_sines")
    module.__dict__["sine"] = np.sin
    sys.modules["of_sines"] = module
    try:
        f = function_of(
            "from of_sines import sine\ndef f(x):\n    return sine(x) * 2.0\n", "<sine>"
        )
        assert grad(f)(0.5) == 2.0 * np.cos(0.5)
        module.__dict__["sine"] = np.cos
        assert grad(f)(0.5) == 2.0 * np.cos(0.5)
    finally:
        del sys.modules["of_sines"]


def test_errors_are_those_of_the_function():
    def f(x):
        return sin(
            x,
            x,  # pyright: ignore[reportCallIssue]
        )

    def plain_line() -> int:
        with pytest.raises(TypeError) as plain:
            f(0.5)
        return plain.traceback[-1].lineno

    with pytest.raises(TypeError, match="one argument") as raised:
        value_and_grad(f)(0.5)
    lines = [entry.lineno for entry in raised.traceback if entry.name == "f"]
    assert lines[-1] == plain_line()
