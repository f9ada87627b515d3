"""Active numbers taken out of what code outside of a derivative is about to read."""

from __future__ import annotations

from typing import Any

from numpy import ndarray
from typing_extensions import override

from mooncake_py.derive.crossing.lift import Mirror, Walker, replace_parts
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.activity import holds_inert
from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.spec import TangentSpec

__all__ = ["Bare"]


class Bare(Walker):
    """Replaces active numbers by plain ones, in containers and objects in place.

    To be left with :meth:`restore`, which puts the active ones back where nothing else was put.
    """

    def __init__(self, ctx: Any) -> None:
        super().__init__(ctx)
        self.replaced: list[tuple[Any, TangentSpec, dict[Any, Any], dict[Any, Any]]] = []

    @override
    def visit(self, value: Any) -> tuple[Any, Any]:
        if type(value) in (list, dict) and holds_inert(value):
            return value, None
        try:
            return super().visit(value)
        except InvalidTangentError:  # what it holds cannot be reached
            return value, None

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        while type(value) is Active:
            value = value.primal
        return value, None

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        return value, None

    @override
    def visit_mutable(self, value: Any, spec: TangentSpec, fields: Any, mirror: Mirror) -> None:
        old = dict(fields)
        new = self.visit_parts(old, mirror)
        changed = {name: part for name, part in new.items() if part is not old[name]}
        if changed:
            self.replaced.append((value, spec, {name: old[name] for name in changed}, changed))
            replace_parts(value, spec, changed)

    def restore(self) -> None:
        """Put the active numbers back."""
        for value, spec, old, bare in reversed(self.replaced):
            now = spec.fields(value) or {}
            kept = {name: part for name, part in old.items() if now.get(name) is bare[name]}
            replace_parts(value, spec, kept)
