"""Walks over syntax trees find all that `ast.walk` finds but operators and contexts."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from mooncake_py.syntax.trees import children, walk

SYNTAX = """
import os.path as path, sys
from . import a as b
type = 1
@decorator
class A(B, metaclass=C):
    x: int = 0
    def f(self, a, /, b: int = 1, *c, d=2, **e) -> int:
        global g, h
        nonlocal i
        assert (n := a[1:b, ...]) is not None, f"{a!r:>{b}}"
        return lambda x, *y: {**x, 1: -y} | {*y}
async def k():
    async for x in y: await x
    async with x as y: pass
    return [x async for x in y if x]
def generator():
    x, *y = yield from z
    x += yield
    del x[0], y
    try: raise E from e
    except* F as error: continue
    else: break
    finally: print(*x, **y)
    with a as b, c: pass
    while not a < b <= c: b = a if b and c else (d for d in e)
match x:
    case {"a": 1, **rest} | [1, *_] | A(b, c=None) as whole if x: pass
"""
NEW_SYNTAX = "def f[T: int, *U, **V](x: T) -> T: ...\ntype X[T] = list[T]\n"
TEXTS = [SYNTAX, Path(__file__).read_text()]
if sys.version_info >= (3, 12):
    TEXTS.append(NEW_SYNTAX)
LEFT_OUT = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.strip()[:10])
def test_a_walk_finds_every_node_once(text: str) -> None:
    module = ast.parse(text)
    found = walk(module)
    assert set(found) == {n for n in ast.walk(module) if not isinstance(n, LEFT_OUT)}
    assert len(found) == len(set(found))


def test_children_come_in_the_order_of_the_fields() -> None:
    node = ast.parse("f(a, *b, c=d)", mode="eval").body
    assert [type(child) for child in children(node)] == [
        ast.Name, ast.Name, ast.Starred, ast.keyword,
    ]  # fmt: skip
    assert children(ast.Constant(1)) == []
