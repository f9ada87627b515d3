"""Compile the text of generated functions."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any

from mooncake_py.diagnostics.places import GENERATED
from mooncake_py.syntax.names import BUILTINS

__all__ = ["define", "forget"]


def define(text: str, scope: dict[str, Any]) -> dict[str, Any]:
    """Run generated definitions in a scope; equal sources are compiled once.

    They have the builtins as they were: what a program binds one to is meant for its own code.
    """
    scope["__builtins__"] = BUILTINS
    exec(_compiled(text), scope)
    return scope


def forget() -> None:
    """Forget all sources, so that timings include compiling them again."""
    _compiled.cache_clear()


@lru_cache(maxsize=2048)
def _compiled(text: str) -> CodeType:
    return compile(text, f"{GENERATED}fused expression>", "exec")
