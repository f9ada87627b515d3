"""Functions in C that iterate over their arguments: elements of vectors are active.

Each asks an object for its iterator, and for its length, as often as the original does.
"""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.positions import position
from mooncake_py.rules.python_builtins import items_of, iterating

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]


def run_iterating(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over its arguments; elements of vectors are active."""
    return f(*map(ctx.iter, args), **kwargs)


def run_listing(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``list(items)`` and others that make a list or a tuple of each argument."""
    return f(*map(ctx.items, args), **kwargs)


def run_iterating_first(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over its first argument."""
    return f(*map(ctx.iter, args[:1]), *args[1:], **kwargs)


def run_iterating_to(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over its first argument; the others are positions."""
    items: Any = ctx.items if f in CHOOSING else ctx.iter
    first = [ctx.call(iter, v) for v in args[:1]] if f is itertools.tee else args[:1]
    return f(*map(items, first), *[position(ctx, v) for v in args[1:]], **kwargs)


def run_repeating(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.repeat(item, times)``."""
    times = [position(ctx, v) for v in args[1:]]
    named = {k: position(ctx, v) if k == "times" else v for k, v in kwargs.items()}
    return f(*args[:1], *times, **named)


def run_chaining(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over each item of its argument."""
    (items,) = args
    return f(map(ctx.iter, ctx.iter(items)), **kwargs)


def run_chain(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.chain(*iterables)``, which asks each for its iterator when it gets there."""
    if kwargs or SEQUENCES.issuperset(map(type, args)):
        return f(*args, **kwargs)
    return f.from_iterable(map(ctx.iter, args))


def run_product(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.product(*iterables)``, which reads one after the other."""
    named = {k: position(ctx, v) if k == "repeat" else v for k, v in kwargs.items()}
    return f(*[tuple(ctx.items(v)) for v in args], **named)


SEQUENCES = frozenset({list, tuple, str, range})
ITERATING = (
    zip, itertools.zip_longest, itertools.pairwise, itertools.cycle,
)  # fmt: skip
ITERATING_FIRST = (itertools.compress, dict.fromkeys)
CHOOSING = (
    itertools.permutations,
    itertools.combinations,
    itertools.combinations_with_replacement,
)
ITERATING_TO = (
    enumerate, itertools.islice, itertools.tee, collections.deque, *CHOOSING,
)  # fmt: skip

HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(ITERATING, run_iterating),
    **dict.fromkeys((list, tuple), run_listing),
    itertools.chain: run_chain,
    itertools.product: run_product,
    **dict.fromkeys(ITERATING_FIRST, run_iterating_first),
    **dict.fromkeys(ITERATING_TO, run_iterating_to),
    itertools.repeat: run_repeating,
    itertools.chain.from_iterable: run_chaining,
    iterating: lambda ctx, f, args, kwargs: iter(ctx.iter(*args)),
    items_of: lambda ctx, f, args, kwargs: [*iter(ctx.iter(*args))],  # no length is asked for
}
