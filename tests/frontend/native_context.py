"""A context that does what Python does: rewritten code under it must equal the original."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from mooncake_py.contexts import OPERATORS, Context
from mooncake_py.frontend.load import derive, instantiate

INPLACE = [name for name in OPERATORS if name.startswith("i") and name != "invert"]
BINARY = list(OPERATORS[: len(INPLACE)])


class NativeContext(Context):
    """Run every operation natively, and note which there are.

    Parameters
    ----------
    within : tuple of str, optional
        Python functions from these files are derived when they are called, as an engine would.
    """

    def __init__(self, within: tuple[str, ...] = ()) -> None:
        self.within = within
        self.seen: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name not in ("within", "seen", "run"):
            object.__getattribute__(self, "seen").append(name)
        return object.__getattribute__(self, name)

    def enters(self, f: FunctionType) -> bool:
        return f.__code__.co_filename in self.within

    def run(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        new = instantiate(derive(f.__code__, f.__globals__), f)
        return new(*args, **kwargs, _mk_ctx=self)
