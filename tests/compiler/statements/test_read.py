"""From syntax trees to IR over the values that are passed, and what is refused."""

from __future__ import annotations

import ast

import pytest

from mooncake_py.compiler.regions.ir import Const
from tests.compiler.statements.cores import read, text_of


def value(text: str, peeks: bool = False) -> str | None:
    found = read(text, peeks)
    return None if found is None else text_of(found[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * 2.0", "v0 + v1 * 2.0"),
        ("-(a - b) / a", "(-(v0 - v1)) / v0"),
        ("a ** 2", "v0 ** 2"),
        ("a * a", "v0 * v0"),
        ("x[i] * x[i]", "v0 * v1"),
        ("a @ b @ c", "(v0 @ v1) @ v2"),
        ("int(a) + b", "f_rounded_int(v0) + v1"),
        ("np.where(a > b, a, 0.0)", "f_rule(v0 > v1, v0, 0.0)"),
        ("np.sum(a * b, 0)", "f_rule(v0 * v1, axis=0)"),
        ("np.sum(a * b, axis=(0, -1))", "f_rule(v0 * v1, axis=(0, -1))"),
        ("np.mean(a, keepdims=True, axis=1)", "f_rule(v0, axis=1, keepdims=True)"),
    ],
)
def test_operators(text, expected):
    assert value(text) == expected


def test_names_are_passed_once_and_each_item_is_read_for_itself():
    found = read("a * x[i] + x[i + 1] * a")
    assert found is not None
    reader, _ = found
    assert [ast.unparse(v) for v in reader.values] == ["a", "x", "i", "i + 1"]
    assert reader.layout == [0, (1, 2), (1, 3)]


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("x[i + 1, :k] * y[i + 1, :k]", ["i + 1, :k"]),
        ("x[i] * y[i] * x[i]", ["i"]),
        ("x[1:] * x[:1]", ["1:", ":1"]),
        ("x[::1] * x[:1]", ["::1", ":1"]),
        ("x[i - j] * x[i + j] * x[j - i]", ["i - j", "i + j", "j - i"]),
        ("x[-i] * x[~i]", ["-i", "~i"]),
        ("x[True] * x[1]", ["True", "1"]),
        ("x[i, j] * x[i]", ["(i, j)", "i"]),
        ("x[(i, j), k] * x[i, (j, k)]", ["((i, j), k)", "(i, (j, k))"]),
        ("x[n[0] : n[0]] * 2.0", ["n[0]:n[0]"]),
    ],
)
def test_equal_indices_are_passed_once(text, indices):
    found = read(text)
    assert found is not None
    reader, _ = found
    passed = [ast.unparse(reader.values[p]) for p in reader.index_positions]
    assert passed == [ast.unparse(ast.parse(f"x[{i}]", mode="eval").body.slice) for i in indices]  # type: ignore[attr-defined]


def test_an_index_that_may_run_code_is_passed_each_time():
    node = ast.parse("n[0]", mode="eval").body
    found = read("a * b")
    assert found is not None
    assert found[0].add_index(node) != found[0].add_index(ast.parse("n[0]", mode="eval").body)


def test_functions_are_passed_apart():
    found = read("np.sin(a) * np.hypot(a, b) + np.sum(np.sin(b))")
    assert found is not None
    names = [ast.unparse(f) for f in found[0].functions]
    assert names == ["np.sin", "np.hypot", "np.sin", "np.sum"]


@pytest.mark.parametrize(
    ("text", "ints"),
    [
        ("x[i]", {1: 1}),
        ("x[i, j + 1]", {1: 2}),
        ("x[1:]", {}),
        ("x[i, :]", {}),
        ("x[(i,)]", {}),
    ],
)
def test_indices_that_may_be_of_one_element(text, ints):
    found = read(text)
    assert found is not None
    assert found[0].ints == ints


def test_the_target_of_a_change_is_the_first_operand():
    found = read("a * x[i]")
    assert found is not None
    reader, e = found
    assert text_of(reader.changed("sub", (5, 6), e)) == "v0 - v1 * v2"
    assert reader.layout == [(5, 6), 0, (1, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "f(a)",
        "a if b else c",
        "a ** b",
        "a % b",
        "a and b",
        "True * a",
        "x[f(a)]",
        "np.sin(a, out=b)",
        "np.sum(a, axis=b)",
        "np.sum(a, axis=None)",
        "np.sum(a, 0, axis=1)",
        "np.sum(a, axis=True)",
        "np.sum(a, axis=0, dtype=float)",
        "np.sum(a, axis=0, keepdims=1)",
        "np.sum(a * np.sum(b), axis=0)",
        "np.sum(a @ b, axis=0)",
        "np.median(a, axis=0)",
        "np.where(a, b, c)",
        "np.where(0.0 < a < 1.0, b, c)",
        "np.where(a in b, b, c)",
        "np.where(a > b)",
        "a > b",
        "np.sort(a)",
        "(a + b) @ c",
        "a @ (2.0 * b)",
        "a[0][1]",
        "[a, b]",
        "o.x * a",
        "a * (\n b)",
    ],
)
def test_what_may_have_effects_or_no_derivative_is_refused(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["o.x * a", "o.x[i] + a", "a * (\n b)"])
def test_what_is_only_tried_may_read_attributes_and_stand_on_several_lines(text):
    assert read(text, peeks=True) is not None


def test_numbers_keep_their_types():
    found = read("2")
    assert found is not None
    assert type(found[1]) is Const
    assert type(found[1].value) is int


@pytest.mark.parametrize(
    ("text", "peeks", "of_numbers"),
    [
        ("a ** 0.5", False, True),
        ("x[i] ** 0.5", False, False),
        ("a ** 2", False, False),
        ("np.exp(a * b + c) * c ** 0.5", False, None),  # parts of it work on arrays
        ("max(a, b) * c", False, None),
        ("max(a, b) * c", True, True),
        ("a ** b * c", False, None),
        ("a ** b * c", True, True),
    ],
)
def test_powers_of_numbers_and_extrema_are_told(text, peeks, of_numbers):
    found = read(text, peeks=peeks)
    assert of_numbers == (None if found is None else found[0].of_numbers)
