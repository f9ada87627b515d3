"""The code of statements on arrays whose value is a number: ``s += np.sum(a * b)``, ``x @ y / n``.

The value is bound to a name or stored in an element; either is one entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.forms.array_adjoint import FULL, PART
from mooncake_py.forms.array_code import ArrayWriter
from mooncake_py.forms.contractions import is_sum
from mooncake_py.forms.fused_code import scalar_times

__all__ = ["NumberWriter"]


class NumberWriter(ArrayWriter):
    """Writes a form whose arrays end in sums of one shape, or in inner products."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        steps = enumerate(self.fused.steps)
        self.sums = [k for k, step in steps if is_sum(step, self.functions)]
        self.scope |= {"full": np.full, "spread": spread}

    # Forward.

    def checks_of_shapes(self) -> list[str]:
        """Return the lines that see that what was read has the kinds of the form."""
        wrong = self.other_kinds()
        if self.target is not None:
            wrong.append("type(slot) is not float64")
        return [f"if {' or '.join(wrong)}:", "    return choose(C, F, V)"] if wrong else ["pass"]

    def named_steps(self) -> list[str]:
        """Return the steps that need a name in the forward pass: what is summed too."""
        return [*super().named_steps(), *(name for name in self.summands() if name[0] == "t")]

    def summands(self) -> list[str]:
        """Return the names of what is summed."""
        return [self.operand(self.fused.steps[k][2]) for k in self.sums]

    def checks_of_value(self, value: str, is_array: bool) -> list[str]:
        """Return the lines that see that what was summed has one shape, and the value's type."""
        lines = [
            f"if type({value}) is not float64 and type({value}) is not float:",
            "    return otherwise(C, F, V)",
        ]
        if self.sums:
            first, *others = self.summands()
            wrong = ["not shape", *(f"{name}.shape != shape" for name in others if name != first)]
            wrong += [f"t{k}.shape != shape" for k in self.consumed() if f"t{k}" != first]
            wrong += self.misshapen([k for k in self.full() if f"v{k}" != first])
            lines += [
                f"shape = {first}.shape",
                f"if {' or '.join(wrong)}:",
                "    return choose(C, F, V)",
            ]
        return lines

    def give(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that make the active number."""
        if not self.records:
            return [f"return {value}"]
        return [
            *self.keep(saved),
            "y = Active()", f"y.primal = {value}", "y.grad = 0.0", "y.context = C",
            f"C.record(({', '.join(['pull', 'y', *self.entry(saved)])}))", "return y",
        ]  # fmt: skip

    def entry(self, saved: list[str]) -> list[str]:
        """Return what the entry holds, after the function that reverses it."""
        return [*super().entry(saved), *(["shape"] if self.sums else [])]

    # Adjoint.

    def unpacked(self, saved: list[str]) -> list[str]:
        """Return the names of what the entry holds."""
        return [*super().unpacked(saved), *(["shape"] if self.sums else [])]

    def seed(self, totals: dict[int, str], lines: list[str]) -> list[str]:
        """Return the lines that find the cotangent of the number."""
        if self.target is None:
            return ["g = out.grad", "if not g:", "    return"]
        assert type(self.target) is tuple
        o, i = self.target
        return [f"slot = n{o}.grad", "if slot is None:", "    return", f"g = slot[a{i}]",
                "if not g:", "    return"]  # fmt: skip

    def cleared(self) -> str:
        """Return the line that takes the cotangent of what is overwritten."""
        assert type(self.target) is tuple
        return f"slot[a{self.target[1]}] = 0.0"

    def copies(self, totals: dict[int, str], lines: list[str]) -> bool:
        """A number needs no copy."""
        return False

    def is_of_one_array(self) -> bool:
        """Tell whether it is a sum over one active array."""
        return (
            len(self.sums) == 1
            and not self.forms.contractions
            and not self.chooses()
            and PART not in self.leaves.values()
            and [self.leaves[k] for k in self.active] == [FULL]
        )

    def slope_first(self) -> tuple[list[str], dict[int, str]]:
        """Return the lines that multiply the slope of the sum by g in the end."""
        self.spreads = False
        lines, totals = self.adjoint_lines(self.active, "1.0", scalar_times)
        self.spreads = True
        ((k, slope),) = totals.items()
        total = f"s{len(lines)}"
        return [*lines, f"{total} = spread(g * {slope}, shape)"], {k: total}


def spread(d: Any, shape: tuple[int, ...]) -> ndarray:
    """Return the cotangent of what was summed as an array."""
    return d if type(d) is ndarray else np.full(shape, d)
