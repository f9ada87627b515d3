"""Python functions with a rule, as they are without it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

__all__ = ["without_rule"]


def without_rule(f: Any) -> Callable[..., Any]:
    """Return its own function with the code of `f`, which is derived where `f` has a rule."""
    copy = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    copy.__kwdefaults__ = f.__kwdefaults__
    return copy
