"""Looking out for writes of a call into memory that it must not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

from numpy import ndarray

from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.mode_of import is_forward

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Checks", "keep_logging", "nodes_of", "unwatch_writes", "watch_writes"]

PATCHED = "overwritten", "log_element", "log_whole", "tries_loops"


class Checks(Protocol):
    """Who looks out for writes."""

    def is_watched(self, o: ndarray) -> bool:
        """Whether an array is memory of which every write must be seen."""
        ...

    def check(self, ctx: Mode, o: ndarray, i: Any) -> None:
        """Raise if ``o[i]`` must not be written."""


class Watch:
    """Stands between a context and its log of writes."""

    def __init__(self, ctx: ReverseMode) -> None:
        self.ctx = ctx
        self.checks: list[Checks] = []
        self.before = {name: ctx.__dict__.get(name, MISSING) for name in PATCHED}
        self.log = ctx.overwritten, ctx.log_element, ctx.log_whole
        ctx.overwritten, ctx.log_element = self.overwritten, self.log_element
        ctx.log_whole = self.log_whole
        ctx.tries_loops = False  # which write unseen, and may wait for a write to show
        ctx.__dict__["write_watch"] = self

    def leave(self) -> None:
        """Let the context log as before."""
        state = self.ctx.__dict__
        for name, value in self.before.items():
            del state[name]
            if value is not MISSING:
                state[name] = value
        del state["write_watch"]

    def overwritten(self, memory: Any, o: ndarray, i: Any) -> Any:
        """Check a write that is about to be logged."""
        self.check(o, i)
        entry = self.log[0](memory, o, i)
        self.keep_watching(memory, o)
        return entry

    def log_element(self, memory: Any, o: ndarray, i: Any, old: Any) -> None:
        """Check, and record, a write to one element."""
        self.check(o, i)
        self.log[1](memory, o, i, old)
        self.keep_watching(memory, o)

    def log_whole(self, o: ndarray, old: ndarray) -> None:
        """Check, and record, a write to the whole of an array."""
        self.check(o, Ellipsis)
        self.log[2](o, old)
        self.keep_watching(self.ctx.registry.memory_of(o), o)

    def check(self, o: ndarray, i: Any) -> None:
        """Raise if ``o[i]`` must not be written."""
        for found in self.checks:
            found.check(self.ctx, o, i)

    def keep_watching(self, memory: Any, o: ndarray) -> None:
        """Let the next write to a block be logged too: unlogged ones are not seen."""
        if any(found.is_watched(o) for found in self.checks):
            memory.protected = True


def watch_writes(ctx: ReverseMode, checks: Checks) -> ref[Any]:
    """Let a context of reverse mode check what it is about to write; return a reference to it."""
    watch = ctx.__dict__.get("write_watch") or Watch(ctx)
    if checks not in watch.checks:
        watch.checks.append(checks)
    return ref(ctx)


def unwatch_writes(contexts: list[ref[Any]], checks: Checks) -> None:
    """Let contexts no longer check what they write; without this they would be in a cycle."""
    for reference in contexts:
        ctx = reference()
        watch = None if ctx is None else ctx.__dict__.get("write_watch")
        if watch is not None and checks in watch.checks:
            watch.checks.remove(checks)
            if not watch.checks:
                watch.leave()


def nodes_of(ctx: Mode) -> dict[int, Any]:
    """Return what a context knows of memory, by the id of the array."""
    return ctx.blocks.known if is_forward(ctx) else ctx.registry.known


def keep_logging(ctx: Tracking, block: ndarray) -> None:
    """Let the next write to a block be logged, whatever was logged before."""
    for nodes in (ctx.registry.known, ctx.registry.constants):
        node = dict.get(nodes, id(block))
        if node is not None and hasattr(node, "memory") and node.ref() is block:
            node.memory.protected = True
