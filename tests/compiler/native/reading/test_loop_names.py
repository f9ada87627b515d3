"""Which variables a loop must give back: those that may be read before they are bound again."""

from __future__ import annotations

import ast
import re

import pytest

from mooncake_py.compiler.native.reading.loop_names import FunctionLoops
from mooncake_py.syntax.trees import walk

pytestmark = pytest.mark.plain

LOOP = ("for j in range(n):", "    for i in range(j):", "        t = s", "        s = t + i")


def results(body):
    """Return the names that `LOOP` must give back, where a function has `...`."""
    text = re.sub(r"( *)\.\.\.", lambda m: "\n".join(m[1] + line for line in LOOP), body)
    tree = ast.parse("def f(n, s):\n" + "\n".join("    " + line for line in text.splitlines()))
    code = compile(tree, "<f>", "exec").co_consts[0]
    (root,) = tree.body
    (loop,) = (
        node for node in walk(root)
        if isinstance(node, ast.For) and ast.unparse(node.iter) == "range(n)"
    )  # fmt: skip
    return set(FunctionLoops(code, root).of(loop).results)


@pytest.mark.parametrize(
    "after",
    [
        "return s",
        "for i in s:\n    s += i\nreturn s",
        "for k, (i, t) in n:\n    s += i * t\nreturn s",
        "t = s\ni = t\nreturn s * i",
        "if n:\n    i = t = s\nelse:\n    i, t = s, s\nreturn s + i + t",
        "return s + sum(i * t for i in n for t in s)",
        "while s:\n    i = s\n    if i:\n        break\n    t = i\n    s = t\nreturn s",
    ],
)
def test_what_is_bound_again_before_it_is_read_is_not_given_back(after):
    assert results(f"...\n{after}") == {"s"}


@pytest.mark.parametrize(
    ("after", "read"),
    [
        ("return i", {"i"}),
        ("for i in n[i]:\n    n += i\nreturn n", {"i"}),
        ("for i in n:\n    n += i\nreturn i", {"i"}),  # it may have no passes
        ("for k in n:\n    n += t\n    t = n\nreturn n", {"t"}),
        ("for k in n:\n    if k:\n        i = k\n    n += i\nreturn n", {"i"}),
        ("while n:\n    i = n\nelse:\n    n = i\nreturn n", {"i"}),
        ("if n:\n    i = n\nreturn i", {"i"}),
        ("i += 1\nreturn n", {"i"}),
        ("del i\nreturn n", {"i"}),
        ("try:\n    i = n()\nfinally:\n    n = i\nreturn n", {"i"}),
        ("try:\n    i = n()\nexcept ValueError:\n    n = i\nreturn n", {"i"}),
        ("with n:\n    t = n()\nreturn t", {"t"}),
        ("match n:\n    case 1:\n        t = 1\nreturn t", {"t"}),
        ("return sum(i for j in n[i])", {"i"}),
        ("return sum(n * j for k in n)", {"j"}),
    ],
)
def test_what_may_be_read_is_given_back(after, read):
    assert results(f"...\n{after}") == read


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("for k in n:\n    ...\nreturn n", {"s"}),
        ("for k in n:\n    s = k\n    ...\nreturn n", set()),
        ("for k in n:\n    ...\n    for i in s:\n        s += i\nreturn s", {"s"}),
        ("for k in n:\n    ...\n    if k:\n        break\n    i = k\nreturn i", {"i", "s"}),
        ("for k in n:\n    ...\n    if k:\n        continue\n    i = k\nreturn i", {"i", "s"}),
        ("while n:\n    n = t\n    ...\nreturn n", {"t", "s"}),
        ("while i:\n    ...\nreturn n", {"i", "s"}),
        ("while n:\n    ...\nelse:\n    return i", {"i", "s"}),
        ("if n:\n    ...\nelse:\n    n = i\nreturn n", set()),
        ("if n:\n    ...\n    i = n\nreturn i", {"i"}),  # as if it could be left before
        ("if n:\n    ...\nelse:\n    i = n\nreturn i", {"i"}),
        ("with n:\n    ...\n    i = n()\nreturn i", {"i"}),  # it may go on behind
        ("try:\n    ...\n    n()\nexcept ValueError:\n    return i", {"i", "s"}),
        ("try:\n    ...\n    i = n()\nfinally:\n    n(i)", {"i", "s"}),
    ],
)
def test_loops_within_other_statements(body, read):
    assert read <= results(body)
    if "try" not in body and "with" not in body:
        assert results(body) == read


def test_loops_that_are_not_of_the_function_give_back_all_that_it_reads():
    tree = ast.parse("def f(n, s):\n    for i in n:\n        s += i\n    return s")
    code = compile(tree, "<f>", "exec").co_consts[0]
    (loop,) = ast.parse("\n".join(LOOP)).body
    assert {"s"} <= set(FunctionLoops(code, tree.body[0]).of(loop).results)


@pytest.mark.parametrize(
    ("body", "shared", "read"),
    [
        ("g = lambda v: v * t", set(), {"t"}),
        ("def g(v):\n    return v * t", set(), {"t"}),
        ("t = sum(v * i for v in n)", set(), {"i"}),
        ("def g(v):\n    nonlocal t\n    t = v", {"t"}, set()),
        ("class g:\n    t = s", {"g"}, set()),
        ("t = h(i)", {"t"}, set()),
    ],
)
def test_functions_that_a_loop_makes_share_its_variables(body, shared, read):
    first = "h = lambda v: v * t" if "h(" in body else "t = i = s"
    within = "\n".join("        " + line for line in body.splitlines())
    text = f"    {first}\n    for i in n:\n        t = i\n{within}\n    return s"
    tree = ast.parse(f"def f(n, s):\n{text}")
    code = next(c for c in compile(tree, "<f>", "exec").co_consts if hasattr(c, "co_code"))
    found = FunctionLoops(code, tree.body[0]).of(next(n for n in walk(tree) if type(n) is ast.For))
    assert found.shared == shared
    assert read <= set(found.results)
