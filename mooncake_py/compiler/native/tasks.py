"""Work that takes long and is done once: readings and forms, by a thread if nobody waits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Event
from typing import Generic, TypeVar

from mooncake_py.compiler.native.machine.background import READER
from mooncake_py.compiler.native.regions.refused import NotYet
from mooncake_py.compiler.sites.pace import met
from mooncake_py.compiler.sites.spending import clock, spending
from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.waiting import waiting
from mooncake_py.errors import MooncakeWarning
from mooncake_py.rules import local, registry
from mooncake_py.runtime.compilation import is_meanwhile, meanwhile, patience

__all__ = ["Tasks", "warn_of"]

T = TypeVar("T")
SLICE = 0.05  # seconds after which it is looked whether the thread is still there


class Tasks(Generic[T]):
    """The work for one function, loop or region.

    Parameters
    ----------
    name : str
        What it is called where somebody waits.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._running: dict[Hashable, Event] = {}

    def done(self, key: Hashable, work: Callable[[], T]) -> T | None:
        """Have work done that keeps what it makes; return that, None if a thread has done it.

        Raises
        ------
        NotYet
            It takes longer than anybody waits.
        """
        seconds = patience()
        event = self._running.get(key)
        if event is None and seconds is None:
            begin = clock()
            try:
                with waiting(self.name):
                    return work()
            finally:
                spending.making += clock() - begin
        event = event or self._begun(key, work)
        if seconds == 0.0 and not event.is_set():
            met.pending = True
            raise NotYet
        with waiting(self.name):
            while not event.wait(SLICE if seconds is None else min(SLICE, seconds)):
                seconds = patience()
                if seconds == 0.0:
                    met.pending = True
                    raise NotYet
                if not READER.is_busy:  # the program ends
                    return work()
        return None

    def _begun(self, key: Hashable, work: Callable[[], T]) -> Event:
        """Have a thread do it, unless one does already."""
        event = Event()
        found = self._running.setdefault(key, event)
        rules = local.current()

        def run() -> None:
            try:
                with local.using(rules), meanwhile():
                    work()
                registry.version()  # reads the rules for libraries that it has imported
            finally:
                self._running.pop(key, None)
                event.set()

        if found is event:
            READER.add(run)
        return found


def warn_of(name: str, why: str) -> None:
    """Warn that a function is not compiled though it was to be expected.

    A filter that turns warnings into errors is not obeyed: the derivative is as it should be.
    Nobody is told of what nobody has waited for.
    """
    if is_meanwhile():
        return
    text = f"{name} runs as without compile=True: it could not be compiled ({why})"
    with suppress(MooncakeWarning):
        warnings.warn(with_page(text, "compile"), MooncakeWarning, stacklevel=2)
