"""The code of statements that write into an array by ``out=``: ``np.minimum(d, e, out=d)``.

Their adjoint is that of a store, or of an augmented assignment where an operand is the very array
that is written; the last function writes its result there itself.
"""

from __future__ import annotations

from mooncake_py.forms.array_code import ArrayWriter
from mooncake_py.forms.contractions import operands_of
from mooncake_py.forms.fused_code import Writer

__all__ = ["OutputWriter"]


class OutputWriter(ArrayWriter):
    """Writes a form whose last step writes into the target."""

    def can_write(self) -> bool:
        """Tell whether it is a function of an array; a number that is written is spread."""
        return self.array_steps()[-1] and super().can_write()

    def value_lines(self, saved: list[str]) -> tuple[list[str], str, bool]:
        """Return the lines of the operands, and the call that writes the result."""
        last = len(self.fused.steps) - 1
        step = self.fused.steps[last]
        operands = list(map(self.operand, operands_of(step)))
        named = [*(name.removeprefix("like_") for name in saved), *operands]
        named += [*self.named_steps(), *self.masked_operands()]
        lines = [*self.forward_lines(named, last), *self.mask_lines(last)]
        return lines, f"f{step[1]}({', '.join(operands)}, out={self.slot()})", True

    def slot(self) -> str:
        """Return the name of what is written."""
        return "v0" if self.augments else "slot"

    def checks_of_value(self, value: str, is_array: bool) -> list[str]:
        """Return the lines that see to what is computed before; of the rest the function does."""
        wrong = [f"t{k}.shape != shape" for k in self.consumed()]
        return [f"if {' or '.join(wrong)}:", "    return choose(C, F, V)"] if wrong else []

    def write(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that write; what the adjoint reads of the result is copied."""
        result = f"t{len(self.fused.steps) - 1}"
        return [value, *([f"{result} = {self.slot()}.copy()"] if result in saved else [])]

    def result_of(self, k: int) -> str:
        """Return the text of the result of a step."""
        return Writer.result_of(self, k)
