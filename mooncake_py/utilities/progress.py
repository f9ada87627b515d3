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
    ...     print(p.phase, "pass:", p.steps, "of", p.total_steps, "steps")
    >>> with progress(tell, every=60.0):
    ...     du = grad(energy)(np.linspace(0.0, 1.0, 5))
    forward pass: 1000 of 1000 steps
    reverse pass: 1000 of 1000 steps
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
    """A bar of `tqdm` for each pass: of the steps of loops, of entries if there are none."""

    def __init__(self) -> None:
        self.make: Any = import_optional(
            "tqdm.auto", "progress", "progress() without a callback"
        ).tqdm
        self.bar: Any = None
        self.shown = "", ""  # the pass, and what is counted

    def __call__(self, found: Progress) -> None:
        """Show how far a derivative is."""
        if found.steps is None:
            unit, done, total = " entries", found.entries, found.total_entries
        else:
            unit, done, total = " steps", found.steps, found.total_steps
        if (found.phase, unit) != self.shown:
            self.close()
            self.shown = found.phase, unit
            # Without the initial count, all that is done would count as done in no time.
            self.bar = self.make(
                desc=found.phase, unit=unit, total=total, initial=done, leave=False
            )
        self.bar.total = total
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
        self.bar = None
        self.shown = "", ""
