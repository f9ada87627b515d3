"""What a derivative within a budget of memory has decided for a loop, for its user."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.errors import Location
from mooncake_py.runtime.allowance import Allowance, in_units

__all__ = ["Plan", "described"]


@dataclass
class Plan:
    """One loop.

    Attributes
    ----------
    where : Location or None
    cost : float
        Bytes that a pass keeps.
    passes : int
        That have run, in the forward pass.
    kept : float
        Bytes that the loop keeps in the end.
    why : str
        Why its passes cannot run again, "" if they can.
    recorded : int or None
        How many passes are recorded in the forward pass, None if all of them are.
    chunk : int
        Passes that are recorded together in the reverse pass.
    state : float
        Bytes of a state.
    states : int
        That were kept in the forward pass.
    """

    where: Location | None
    cost: float = 0.0
    passes: int = 0
    kept: float = 0.0
    why: str = ""
    recorded: int | None = None
    chunk: int = 1
    state: float = 0.0
    states: int = 0

    def excuse(self) -> str:
        """Return a text: how much the loop keeps, and why it was not checkpointed."""
        passes = f"{self.passes} passes of this loop keep" if self.passes else "this loop keeps"
        text = f"{passes} {in_units(self.kept)}"
        return f"{text}: {self.why}" if self.why else text

    def __str__(self) -> str:
        if self.why:
            return f"{in_units(self.kept)}: recorded, {self.why}"
        passes = f"{self.passes:,} passes, {in_units(self.cost)} each"
        if self.recorded is None:
            return f"{passes}: recorded"
        states = f"{self.states} states of {in_units(self.state)}"
        if self.chunk > 1:
            states += f", {self.chunk} passes recorded at a time"
        return f"{passes}: {self.recorded} recorded, the others run again from {states}"


def described(limit: Allowance) -> list[str]:
    """Return a line for each loop, the costliest first; loops that ran often have one."""
    found: dict[tuple[str, int], tuple[int, Plan]] = {}
    for plan in limit.plans:
        if plan.where is not None:
            key = plan.where.file, plan.where.line
            count, largest = found.get(key, (0, plan))
            found[key] = count + 1, max(largest, plan, key=whole)
    lines = [
        f"memory={in_units(limit.nbytes)!r}"
        + (", states on disk" if limit.folder is not None else "")
    ]
    for count, plan in sorted(found.values(), key=lambda item: -whole(item[1])):
        times = f" (ran {count} times; the largest)" if count > 1 else ""
        lines += [f"{plan.where}{times}", f"    {plan}"]
    return lines


def whole(plan: Plan) -> float:
    """Return the bytes that a loop would keep if all of it was recorded."""
    return plan.cost * plan.passes
