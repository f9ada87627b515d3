"""Changes by other threads while a derivative waits: events, queues, semaphores, threads.

Only what the derivative itself has written is put back.  No comparison with what was there before
can tell that from what another thread has written meanwhile; so Python code that waits runs
derived, write by write.  Who holds a lock, waits for a condition or is at a barrier stays as the
call leaves it: of this nothing is recorded.
"""

from __future__ import annotations

import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.modules import package_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS", "is_about_processes", "is_derived", "runs_in_sight"]

WAITING = frozenset({"concurrent", "queue", "threading"})
PROCESSES = frozenset({"multiprocessing", "subprocess"})
"""Actions of other processes persist, and so does the state that these packages keep about them."""


def is_derived(f: FunctionType) -> bool:
    """Return whether a function belongs to a package whose functions wait for other threads."""
    return package_of(f) in WAITING


def is_about_processes(f: FunctionType) -> bool:
    """Return whether a function belongs to a package that deals with other processes."""
    return package_of(f) in PROCESSES


def runs_in_sight(f: FunctionType) -> bool:
    """Return whether what a function is given to call runs before it returns, in this thread."""
    return f is threading.Condition.wait_for


def run_as_it_is(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of a condition: it takes and releases locks."""
    return f(*args, **kwargs)


def run_barrier(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of a barrier, derived if it may call a function of the user's."""
    if args and getattr(args[0], "_action", None) is not None:
        return ctx.call_function(f, args, kwargs)
    return f(*args, **kwargs)


def acquire(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``semaphore.acquire(...)``."""
    counted: list[int] = []
    note(ctx, count_back, args[0], counted)
    got = f(*args, **kwargs)
    if got:
        counted.append(1)
    return got


def release(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``semaphore.release(n)``."""
    counted: list[int] = []
    note(ctx, count_back, args[0], counted)
    f(*args, **kwargs)
    counted.append(-(args[1] if len(args) > 1 else kwargs.get("n", 1)))


def count_back(semaphore: threading.Semaphore, counted: list[int]) -> None:
    """Take back what the derivative has counted, whatever others have counted since."""
    if counted:
        difference = counted.pop()
        held: Any = semaphore
        with held._cond:
            held._value = max(held._value + difference, 0)
            held._cond.notify(max(difference, 0))


def methods_of(cls: type, *others: str) -> list[FunctionType]:
    """Return the methods of a class, but those that make it and `others`."""
    names = {"__init__", "__repr__", *others}
    return [f for name, f in vars(cls).items() if type(f) is FunctionType and name not in names]


HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(methods_of(threading.Condition, "wait_for"), run_as_it_is),
    **dict.fromkeys(methods_of(threading.Barrier), run_barrier),
    threading.Semaphore.acquire: acquire,
    threading.Semaphore.release: release,
    threading.BoundedSemaphore.release: release,
}
