"""Reverse mode: the context that records operations of rewritten code on a tape.

`tape` records, `arithmetic`, `indexing` and `inplace` are the operations on numbers and arrays,
`apply` applies rules, and `context` is the language (calls, attributes, iteration).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.reverse.inplace import InPlace
from mooncake_py.runtime.active import Active, shared_number
from mooncake_py.runtime.values import NUMBERS

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["ReverseContext"]


class ReverseContext(InPlace):
    """One reverse-mode call; see `runtime.mode` and `runtime.reverse_mode` for attributes."""

    fuses = True  # expressions; tests compare with the general way
    tries_loops = True
    has_gate = True  # not in debug mode, which goes by what runs without ways
    is_reversed = True  # false below forward mode, for which it undoes writes only
    is_suspended = False
    level = 0
    nesting = 1
    outers: Sequence[Mode] = ()
    receiver: Mode | None = None
    numbers = NUMBERS | {Active}

    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        """Run a region by its sweeps."""
        if not self.fuses or not self.tries_loops:
            return Elsewhere
        return site.record(self, functions, steps, inputs)

    def run_statement(self, site: Any, functions: Any, values: Any) -> Any:
        """Run a statement by a form that records one entry, where there is one."""
        if self.fuses:
            return site.record(self, functions, values)
        return self.run_generally(site, functions, values, self)

    def node_at(self, key: int) -> Any:
        """Return the node of the array with this id, if it is active."""
        return self.known.get(key)

    def entering(self, f: FunctionType) -> None:
        """Note a Python function that an inner derivative is about to run."""
        if self.rehearsal is not None:
            self.rehearsal.setting.entering(f)

    def notes_functions(self) -> bool:
        """Return whether a part runs of which the functions are noted."""
        return self.rehearsal is not None

    def note_cell(self, cell: CellType) -> None:
        """Note a captured variable that is about to change, not by code that runs here."""
        if self.rehearsal is not None:
            self.rehearsal.setting.note_cell(cell)

    def leave(self, value: Any) -> None:
        """Note a value that the function returns or raises."""

    def carry_out(self, error: BaseException, held: Any) -> None:
        """Note the data of an exception that leaves the call."""

    def meet(self, number: Active) -> None:
        """Note a number that is active in another call; only those around this one may be met."""
        raise shared_number(number)

    def meet_numbers(self, entry: tuple[Any, ...]) -> None:
        """Note the numbers of calls around this one to which an entry gives cotangents."""

    def outside(self) -> AbstractContextManager[None]:
        """Return a block for code that is not a part of the call: its changes persist."""
        return self.outers[0].outside() if self.outers else nullcontext()


if TYPE_CHECKING:  # that nothing which the mode promises is missing
    _reverse: ReverseMode = ReverseContext()
