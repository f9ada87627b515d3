"""Sources of dicts: the engine derives the methods of mappings written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["filling", "run_defaultdict", "run_dict"]


def run_dict(ctx: Language, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``dict(mapping or pairs)``."""
    return f(*[filling(ctx, a) for a in args], **kwargs)


def run_defaultdict(ctx: Language, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``defaultdict(factory, mapping or pairs)``."""
    return f(*args[:1], *[filling(ctx, a) for a in args[1:]], **kwargs)


def filling(ctx: Language, value: Any) -> Any:
    """Return the source of a dict, as a mapping or an iterator of pairs."""
    found = ctx.mapping(value)
    if hasattr(found, "keys"):
        return found
    return (pair if type(pair) is tuple else ctx.iter(pair) for pair in ctx.iter(found))
