"""Plain numbers in place of active ones, for code outside of the derivative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.walker import Mapper, replace_parts
from mooncake_py.boundary.captured import is_harmless, names_of
from mooncake_py.diagnostics.places import is_library
from mooncake_py.errors import InvalidTangentError
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import holds_inert
from mooncake_py.tangents.spec import TangentSpec

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Bare"]


class Bare(Mapper):
    """Replaces active numbers by plain ones, in containers and objects in place.

    A context manager: in the end the active ones are restored where nothing else was put.
    """

    by_place = False

    def __init__(self, ctx: Mode) -> None:
        super().__init__(ctx)
        self.running = (ctx, *ctx.outers)
        self.put_back: list[Callable[[], None]] = []
        self.entered: set[int] = set()  # functions

    def __enter__(self) -> Bare:
        return self

    def __exit__(self, *details: object) -> None:
        for put_back in reversed(self.put_back):
            put_back()

    @override
    def visit(self, value: Any) -> tuple[Any, Any]:
        if type(value) in (list, dict) and holds_inert(value):
            return value, None
        if type(value) is FunctionType and id(value) not in self.entered:
            self.entered.add(id(value))
            self.visit_defaults(value)
            self.visit_globals(value)
        try:
            return super().visit(value)
        except InvalidTangentError:  # what it holds cannot be reached
            return value, None

    def visit_defaults(self, f: FunctionType) -> None:
        """Replace numbers among the defaults of a function, which are not part of its tangent."""
        old = f.__defaults__, f.__kwdefaults__
        new = tuple(self.visit(part)[0] for part in old)
        if any(a is not b for a, b in zip(old, new, strict=True)):
            self.put_back.append(lambda: set_defaults(f, *old))
            set_defaults(f, *new)

    def visit_globals(self, f: FunctionType) -> None:
        """Replace numbers in the global variables that a function of the user's names."""
        if is_library(f.__code__.co_filename):
            return
        scope = f.__globals__
        for name in names_of(f.__code__).found:
            old = scope.get(name)
            new = None if is_harmless(old) else self.visit(old)[0]
            if new is not None and new is not old:
                self.put_back.append(partial(set_back, scope, name, old, new))
                scope[name] = new

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        # The numbers of a pullback that waits for its call are those of its own tape.
        while type(value) is Active and value.context in self.running:
            value = value.primal
        return value, None

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        return value, None

    @override
    def replacing(self, value: Any, spec: TangentSpec, old: Any, new: Any) -> None:
        def put_back() -> None:
            now = spec.fields(value) or {}
            kept = {name: old[name] for name, part in new.items() if now.get(name) is part}
            replace_parts(value, spec, kept)

        self.put_back.append(put_back)


def set_back(scope: dict[str, Any], name: str, old: Any, new: Any) -> None:
    """Put a global variable back, where nothing else was put since."""
    if scope.get(name) is new:
        scope[name] = old


def set_defaults(f: FunctionType, defaults: Any, keyword_defaults: Any) -> None:
    """Set the defaults of a function."""
    f.__defaults__, f.__kwdefaults__ = defaults, keyword_defaults
