"""Sources of dicts: the engine derives the methods of mappings written in Python."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.methods import derivable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["filling", "run_defaultdict", "run_dict"]


def run_dict(ctx: Language, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``dict(mapping or pairs)``."""
    if len(args) > 1:
        return f(*args, **kwargs)  # raises
    return f(*[filling(ctx, a, issubclass(f, OrderedDict)) for a in args], **kwargs)


def run_defaultdict(ctx: Language, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``defaultdict(factory, mapping or pairs)``."""
    if len(args) > 2:
        return f(*args, **kwargs)  # raises
    return f(*args[:1], *[filling(ctx, a) for a in args[1:]], **kwargs)


def filling(ctx: Language, value: Any, ordered: bool = False) -> Any:
    """Return the source of a dict, as a mapping or an iterator of pairs.

    An ordered dict asks dicts of other classes for their keys; a dict reads what they store.
    """
    if ordered and type(value) is not dict and derivable(value, "keys") is not None:
        found = {key: ctx.getitem(value, key) for key in ctx.iter(ctx.method(value, "keys"))}
    else:
        found = ctx.mapping(value)
    if hasattr(found, "keys"):
        return found
    return (pair if type(pair) is tuple else ctx.iter(pair) for pair in ctx.iter(found))
