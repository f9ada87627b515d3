"""Find the spec of a value or a class: a registered one, a built-in one, or the default."""

from __future__ import annotations

from typing import Any

from mooncake_py.tangents.builtin_specs import builtin_spec
from mooncake_py.tangents.spec import TangentSpec, found_specs, registered

__all__ = ["spec_of", "spec_of_class"]


def spec_of(x: Any) -> TangentSpec:
    """Return the spec of a value's type."""
    cls = type(x)
    return found_specs.found.get(id(cls)) or spec_of_class(cls)


def spec_of_class(cls: type) -> TangentSpec:
    """Return the spec of a class; what users registered, for it or a base, goes first."""
    spec = found_specs.found.get(id(cls))
    if spec is None:
        by_user = (registered[base] for base in cls.__mro__ if base in registered)
        spec = next(by_user, None) or builtin_spec(cls)
        found_specs.set(cls, spec)
    return spec
