"""Which generators have code for their end."""

from __future__ import annotations

import ast

import pytest

from mooncake_py.syntax.cleanup import cleans_up

WITH_CODE = [
    "try: yield\nfinally: pass",
    "try: x = yield 1\nexcept GeneratorExit: pass",
    "try: yield\nexcept BaseException: pass",
    "try: yield\nexcept (ValueError, Exits): pass",
    "try: yield\nexcept: pass",
    "with a: yield",
    "for i in a:\n  with b:\n    if c: yield from d",
    "try: pass\nexcept ValueError: yield\nfinally: pass",
    "try: yield\nexcept* ValueError: pass\nfinally: pass",
    "try: yield\nexcept* BaseException: pass",
]
WITHOUT = [
    "yield",
    "try: pass\nfinally: pass\nyield",
    "try: yield\nexcept ValueError: pass",
    "try: yield\nexcept (KeyError, OSError): pass",
    "try: yield\nexcept* ValueError: pass",
    "with a: pass\nyield",
    "with a:\n  def g(): yield\nyield g",
    "with a: b = (c for c in d)\nyield b",
    "with a: b = lambda: (yield)\nyield b",
]


@pytest.mark.parametrize("body", [*WITH_CODE, *WITHOUT])
def test_cleans_up(body: str) -> None:
    lines = "\n".join("  " + line for line in body.split("\n"))
    (function,) = ast.parse(f"def f():\n{lines}").body
    assert isinstance(function, ast.FunctionDef)
    assert cleans_up(function) is (body in WITH_CODE)
