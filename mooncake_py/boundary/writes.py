"""Detection of writes into memory that a call must not change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from weakref import ref

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.runtime.mode_of import is_forward

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Mode, Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Copies", "Watcher", "keep_logging", "nodes_of"]

Copies = Iterable[tuple[Any, Any]]
"""Pairs of an original and its copy."""


class Watcher:
    """Looks out for writes of a call, in all contexts that run it."""

    why: str  # a write is an error
    fix: str

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.contexts: list[ref[ReverseMode]] = []

    def watch(self, ctx: Mode) -> None:
        """Look out in a new context of the call."""
        raise NotImplementedError

    def note_further_copies(self, copies: Copies) -> None:
        """Note the copied memory and its copies, which may be of protected memory."""
        raise NotImplementedError

    def forget_copies(self, copies: Copies) -> None:
        """Forget copies, when the call that they are for has ended and may undo them."""

    def begin(self) -> None:
        """Note that the function of the call is about to run."""

    def ended(self, ctx: Mode) -> None:
        """Check unwatched memory after a function has run."""

    def is_watched(self, o: ndarray) -> bool:
        """Return whether an array is memory of which every write must be seen."""
        raise NotImplementedError

    def check(self, ctx: Mode, o: ndarray, i: Any) -> None:
        """Raise if ``o[i]``, which is about to be written, must not be."""
        raise NotImplementedError

    def watch_writes(self, ctx: ReverseMode) -> None:
        """Check a write in the context that is about to make it."""
        watch = ctx.__dict__.get("write_watch") or Watch(ctx)
        if self not in watch.watchers:
            watch.watchers.append(self)

    def leave(self) -> None:
        """Look out no longer, the call has ended; without this contexts would be in a cycle."""
        for reference in self.contexts:
            ctx = reference()
            watch = None if ctx is None else ctx.__dict__.get("write_watch")
            if watch is not None and self in watch.watchers:
                watch.watchers.remove(self)
                if not watch.watchers:
                    watch.leave()

    def written(self, ctx: Reporting, names: str) -> SharedArgumentsError:
        """Return the error for a write into what some names share."""
        return ctx.failed(
            SharedArgumentsError(
                f"{name_of(self.f)} writes into memory that {names} share",
                where=ctx.user_location(),
                why=self.why,
                fix=self.fix,
            )
        )


class Watch:
    """Stands between a context and its log of writes."""

    def __init__(self, ctx: ReverseMode) -> None:
        self.ctx = ctx
        self.watchers: list[Watcher] = []
        self.log = ctx.overwritten, ctx.log_element, ctx.log_whole
        patches = {
            "overwritten": self.overwritten,
            "log_element": self.log_element,
            "log_masked": self.log_masked,
            "log_whole": self.log_whole,
            "tries_loops": False,  # which write unseen, and may wait for a write to show
            "write_watch": self,
        }
        self.patched = tuple(patches)  # without what refers to this object
        ctx.__dict__.update(patches)

    def leave(self) -> None:
        """Restore the context's logging."""
        for name in self.patched:
            del self.ctx.__dict__[name]

    def overwritten(self, memory: Any, o: ndarray, i: Any) -> Any:
        """Check a write that is about to be logged."""
        self.check(o, i)
        entry = self.log[0](memory, o, i)
        self.keep_watching(memory, o)
        return entry

    def log_element(self, memory: Any, o: ndarray, i: Any, old: Any) -> bool:
        """Check, and record, a write to one element."""
        self.check(o, i)
        needed = self.log[1](memory, o, i, old)
        self.keep_watching(memory, o)
        return needed

    def log_masked(self, memory: Any, o: ndarray, i: Any, old: Any, kept: bool) -> bool:
        """Check, and record, a write by a mask."""
        return bool(self.ctx.log_write(memory, o, i))

    def log_whole(self, o: ndarray, old: ndarray) -> None:
        """Check, and record, a write to the whole of an array."""
        self.check(o, Ellipsis)
        self.log[2](o, old)
        self.keep_watching(self.ctx.registry.memory_of(o), o)

    def check(self, o: ndarray, i: Any) -> None:
        """Raise if ``o[i]`` must not be written."""
        for watcher in self.watchers:
            watcher.check(self.ctx, o, i)

    def keep_watching(self, memory: Any, o: ndarray) -> None:
        """Let the next write to a block be logged too: unlogged ones are not seen."""
        if any(watcher.is_watched(o) for watcher in self.watchers):
            memory.protected = True


def nodes_of(ctx: Mode) -> dict[int, Any]:
    """Return the memory that a context has registered, by the id of the array."""
    return ctx.blocks.known if is_forward(ctx) else ctx.registry.known


def keep_logging(ctx: Tracking, block: ndarray) -> None:
    """Require that the next write to a block is logged, even if it was logged before."""
    for nodes in (ctx.registry.known, ctx.registry.constants):
        node = dict.get(nodes, id(block))
        if node is not None and hasattr(node, "memory") and node.ref() is block:
            node.memory.protected = True
