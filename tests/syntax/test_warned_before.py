"""The compiler's warnings about a function: given by Python, and not again by a derivative."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import pytest

from mooncake_py import grad
from mooncake_py.syntax.warned_before import without_warnings

TEXTS = {
    "literal": "def f(x, mode=None):\n    s = 2.0 if mode is 'double' else 1.0\n    return x * s\n",
    "escape": "def f(x):\n    'Energy \\sum x'\n    return x * 1.0\n",
}


def defined(define: Any, text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return define(text)


@pytest.mark.parametrize("action", ["always", "error"])
@pytest.mark.parametrize("name", ["literal", "escape"])
def test_the_compiler_does_not_warn_again(define: Any, name: str, action: Any) -> None:
    f = defined(define, TEXTS[name])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        assert grad(f)(3.0) == 1.0
    assert seen == []


def test_filters_are_as_they_were() -> None:
    before = list(warnings.filters)
    with contextlib.suppress(SyntaxError), without_warnings():
        assert len(warnings.filters) > len(before)
        compile("not a program", "text", "exec")
    assert list(warnings.filters) == before


def test_warnings_that_are_given_once_are_not_given_again() -> None:
    def f(x: float) -> float:
        warnings.warn("of the program", stacklevel=1)
        return x * x

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        registry = globals().setdefault("__warningregistry__", {})
        f(1.0)
        version = registry["version"]
        with without_warnings():
            compile("x = 1 is 1", "text", "exec")
        f(1.0)
    assert registry["version"] == version
    assert len(seen) == 1
