"""Compile the text of generated functions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from mooncake_py.diagnostics.places import GENERATED
from mooncake_py.syntax.names import BUILTINS

__all__ = ["Lines", "define", "forget"]


def define(text: str, scope: dict[str, Any]) -> dict[str, Any]:
    """Run generated definitions in a scope; equal sources are compiled once.

    They have the builtins as they were: what a program binds one to is meant for its own code.
    """
    scope["__builtins__"] = BUILTINS
    exec(_compiled(text), scope)
    return scope


class Lines:
    """The lines of a function that goes another way where something is not as it was.

    Attributes
    ----------
    otherwise : str
        What it returns there.
    lines : list of str
    constants : dict of str to object
        What the lines refer to.
    """

    otherwise = "None"

    def __init__(self, constants: Mapping[str, Any]) -> None:
        self.lines: list[str] = []
        self.constants = {**constants}

    def refuse(self, condition: str) -> None:
        """Go another way where a condition is met."""
        self.lines += [f"if {condition}:", f"    return {self.otherwise}"]

    def constant(self, value: Any) -> str:
        """Return the name of a constant."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name


def forget() -> None:
    """Forget all sources, so that timings include compiling them again."""
    _compiled.cache_clear()


@lru_cache(maxsize=2048)
def _compiled(text: str) -> CodeType:
    return compile(text, f"{GENERATED}fused expression>", "exec")
