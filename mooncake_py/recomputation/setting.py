"""The state of a run other than memory and containers, whose changes are undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.containers.decimals import Flags
from mooncake_py.containers.dicts import restore_key, value_at
from mooncake_py.containers.state import old_cell, restore_cell
from mooncake_py.language.draws import Draws
from mooncake_py.recomputation.changes import is_alone
from mooncake_py.rules import local
from mooncake_py.runtime.compilation import Compile, compiles, using
from mooncake_py.runtime.quiet import error_modes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Setting", "copied"]

FEW = 32

Name = tuple[Callable[[], Any], Callable[[Any], None], Any]
"""How to read and to bind a name, and what it was bound to."""


def copied(caches: dict[int, Any]) -> dict[int, Any]:
    """Return the caches of a call as they are now."""
    return {key: cache.copy() for key, cache in caches.items()}


class Setting:
    """The setting of a first run, a part of some calls, for a second one.

    A `part` that is checkpointed is one of this call.
    """

    def __init__(self, *contexts: Mode, part: Mode | None = None) -> None:
        self.rules = local.current()
        self.compiles: Compile = compiles()
        self.errors = error_modes()  # the reverse pass is silent
        self.draws = Draws(part)
        self.flags = Flags()
        # By id, captured variables of functions that ran: those that they are local to bind them
        # again, and nobody is told.
        self.cells: dict[int, tuple[CellType, Any]] = {}
        self.limit = FEW
        self.globals: list[Name] = [
            (read := partial(value_at, scope, name), partial(restore_key, scope, name), read())
            for ctx in contexts
            for (_, name), scope in ctx.rebound.items()
        ]

    def entering(self, f: FunctionType) -> None:
        """Save the bindings of the captured variables of a function that is about to run."""
        for cell in f.__closure__ or ():
            if id(cell) not in self.cells:
                self.note_cell(cell)

    def note_cell(self, cell: CellType) -> None:
        """Save the binding of a captured variable before it changes."""
        if id(cell) in self.cells:
            return
        self.cells[id(cell)] = cell, old_cell(cell)
        if len(self.cells) > self.limit:
            self.cells = {
                key: kept for key, kept in self.cells.items() if not is_alone([kept[0]], 1)
            }
            self.limit = FEW + 2 * len(self.cells)

    @contextmanager
    def again(self, keeps_bindings: bool = False) -> Iterator[None]:
        """Let a block find the setting of the first run.

        What was bound before the block is bound afterwards, unless it keeps what it binds itself.
        """
        cells: list[Name] = [
            (partial(old_cell, cell), partial(restore_cell, cell), value)
            for cell, value in self.cells.values()
        ]
        names = [*cells, *self.globals]
        now = [read() for read, _, _ in names]
        try:
            for _, bind, value in names:
                bind(value)
            self.flags.put_back()
            with (
                self.draws.again(),
                local.using(self.rules),
                using(self.compiles),
                np.errstate(**self.errors),
            ):
                yield
        finally:
            for (read, bind, then), value in zip(names, now, strict=True):
                if not keeps_bindings or read() is then:
                    bind(value)
