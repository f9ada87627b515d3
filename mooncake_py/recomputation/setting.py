"""What an inner derivative depends on besides memory and containers, whose changes are undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.dicts import restore_key, value_at
from mooncake_py.containers.state import old_cell, restore_cell
from mooncake_py.language.draws import Draws
from mooncake_py.rules import local
from mooncake_py.runtime.attribute_lookup import MISSING

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Setting"]


class Setting:
    """The setting of a first run, for a second one.

    Parameters
    ----------
    outer : Mode
        Of the call that the run is a part of.

    Attributes
    ----------
    rules : LocalRules or None
        That hold in the block.
    draws : Draws
        Generators of random numbers.
    cells : dict
        By id: a captured variable of a function that ran, and what it was bound to.
    globals : list
        Global variables that the functions round the run bind, with what they are bound to.
    """

    def __init__(self, outer: Mode) -> None:
        self.rules = local.current()
        self.draws = Draws()
        self.cells: dict[int, tuple[CellType, Any]] = {}
        self.globals = [
            (scope, name, value_at(scope, name))
            for ctx in (outer, *outer.outers)
            for (_, name), scope in ctx.rebound.items()
        ]

    def entering(self, f: FunctionType) -> None:
        """Note what the captured variables of a function that is about to run are bound to."""
        for cell in f.__closure__ or ():
            self.note_cell(cell)

    def note_cell(self, cell: CellType) -> None:
        """Note what a captured variable is bound to, before anything changes it."""
        if id(cell) not in self.cells and (value := old_cell(cell)) is not MISSING:
            self.cells[id(cell)] = cell, value

    @contextmanager
    def again(self) -> Iterator[None]:
        """Let a block find the setting of the first run."""
        now = [(cell, old_cell(cell)) for cell, _ in self.cells.values()]
        bound = [(scope, name, value_at(scope, name)) for scope, name, _ in self.globals]
        try:
            for cell, value in self.cells.values():
                cell.cell_contents = value
            for variable in self.globals:
                restore_key(*variable)
            with self.draws.again(), local.using(self.rules):
                yield
        finally:
            for cell, value in now:
                restore_cell(cell, value)
            for variable in bound:
                restore_key(*variable)
