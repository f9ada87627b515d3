"""Progress reports of long derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mooncake_py.diagnostics.meter import Progress, Reporter, reporter
from mooncake_py.optional import import_optional

__all__ = ["Bars", "progress"]


@contextmanager
def progress(
    callback: Callable[[Progress], object] | None = None, *, every: float = 0.1
) -> Iterator[None]:
    """Report the progress of derivatives that begin within this block.

    Parameters
    ----------
    callback : callable, optional
        Called with a :class:`Progress` at intervals, and at the end of each pass.  An exception of
        the callback ends the derivative, and the engine restores all arguments.  Without a
        callback, bars of `tqdm` are shown, which comes with the extra ``mooncake_py[progress]``.
    every : float, optional
        The minimal number of seconds between two calls.

    Raises
    ------
    ModuleNotFoundError
        If there is no callback, and no `tqdm`.

    Notes
    -----
    Derivatives in reverse mode report progress: `grad`, `value_and_grad`, `vjp` and functions made
    of them.  Inner derivatives do not, nor do those that the callback takes.  The block affects
    only the thread or task that runs it; outside of it, progress costs no time.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import grad, progress
    >>> def energy(u):
    ...     for _ in range(1000):
    ...         u[1:] += 0.1 * np.sin(u[:-1])
    ...     return np.sum(u * u)
    >>> def tell(p):
    ...     print(p.phase, "pass:", p.entries > 1000, p.entries == p.total_entries)
    >>> with progress(tell, every=60.0):
    ...     du = grad(energy)(np.linspace(0.0, 1.0, 5))
    forward pass: True False
    reverse pass: True True
    """
    bars = Bars() if callback is None else None
    to = Reporter(bars or callback, every)  # type: ignore[arg-type]
    token = reporter.set(to)
    try:
        yield
    finally:
        reporter.reset(token)
        to.closed = True
        if bars is not None:
            bars.close()


class Bars:
    """A bar of `tqdm` for each pass, or one for the steps of checkpointed loops."""

    def __init__(self) -> None:
        self.make: Any = import_optional(
            "tqdm.auto", "progress", "progress() without a callback"
        ).tqdm
        self.bar: Any = None
        self.title = ""

    def __call__(self, found: Progress) -> None:
        """Show the progress of a derivative."""
        if found.steps is None:
            title, unit, done, total = found.phase, " entries", found.entries, found.total_entries
        else:
            title, unit, done, total = "steps", " steps", found.steps, found.total_steps
        if title != self.title:
            self.close()
            self.title = title
            self.bar = self.make(desc=title, unit=unit, total=total, leave=False)
        self.bar.total = total
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.close()
        self.bar = None
        self.title = ""
