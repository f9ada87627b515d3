"""Print functions of numbers and arrays as the text of LLVM's intermediate representation.

What is printed is described by `signature`: kernels that take numbers and arrays in slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mooncake_py.compiler.native.llvm.called import has_blas
from mooncake_py.compiler.native.llvm.function import Function
from mooncake_py.compiler.native.llvm.module import Module
from mooncake_py.compiler.native.llvm.saved import STACK, TOP
from mooncake_py.compiler.native.llvm.signature import Foreign, Signature, slots
from mooncake_py.compiler.native.llvm.sums import LANE
from mooncake_py.compiler.native.regions.kinds import Known
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Block, Push, Statement, statements

__all__ = ["Printer"]


class Printer:
    """Prints functions that belong together.

    Parameters
    ----------
    kinds : mapping of str to str
        Of names and arrays; those that are missing are floats.
    arrays : mapping of str to int
        Of the arrays the number of axes.
    by_blas : bool, optional
        Whether there is a BLAS; by default where SciPy is.

    Attributes
    ----------
    functions : dict of str to Signature
        By their names.
    """

    def __init__(
        self, kinds: Mapping[str, str], arrays: Mapping[str, int], by_blas: bool | None = None
    ) -> None:
        self.kinds = {**kinds, TOP: INT, LANE.name: INT}
        self.arrays = {**arrays, STACK: 1}
        self.functions: dict[str, Signature] = {}
        self._module = Module(has_blas=has_blas if by_blas is None else lambda: by_blas)
        self._known: Known = {}
        self._has_count = False

    @property
    def text(self) -> str:
        """All functions."""
        return self._module.text

    @property
    def foreign(self) -> dict[str, Foreign]:
        """Functions of Python that are called, by their symbols."""
        return self._module.foreign

    @property
    def checks(self) -> list[Statement]:
        """The checks that may end a function early, which then returns their number, from 1."""
        return self._module.checks

    @property
    def is_lasting(self) -> bool:
        """Whether the text means the same in every process."""
        return self._module.is_lasting

    def count(self, body: Block, inputs: Sequence[str]) -> None:
        """Print what tells how many numbers `forward`, printed next, will save.

        Of what the body pushes only the size counts; where it pushes nothing nothing is printed.
        """
        if not any(isinstance(s, Push) for s in statements(body)):
            return
        given = slots([STACK, *inputs], self.kinds, self.arrays)
        self._function(body, is_count=True).count(given[1:])
        self._has_count = True

    def forward(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``forward``: it takes the stack first, and gives back it and its top first.

        The stack grows, unless `count` was printed before and tells how large it must be.
        """
        function = self._function(body, asks=True, grows=not self._has_count, listens=True)
        signature = self._signature("forward", [STACK, *inputs], [STACK, TOP, *results])
        function.kernel(signature, has_count=self._has_count)

    def reverse(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``reverse``: it takes the stack and its top first."""
        signature = self._signature("reverse", [STACK, TOP, *inputs], results)
        self._function(body, listens=True).kernel(signature, has_count=False)

    def alone(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``alone``: a function that saves nothing, and may be left."""
        signature = self._signature("alone", inputs, results)
        self._function(body, asks=True).kernel(signature, has_count=False)

    def _function(
        self,
        body: Block,
        *,
        asks: bool = False,
        grows: bool = False,
        is_count: bool = False,
        listens: bool = False,
    ) -> Function:
        return Function(
            self._module, self.kinds, self.arrays, self._known, body,
            asks=asks, grows=grows, is_count=is_count, listens=listens,
        )  # fmt: skip

    def _signature(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Signature:
        arrays = [name for name in outputs if name in self.arrays]
        if len(set(arrays)) < len(arrays):
            raise ValueError(f"an array is given back twice: {arrays}")
        found = self.functions[name] = Signature(
            f"mc_{name}",
            slots(inputs, self.kinds, self.arrays),
            slots(outputs, self.kinds, self.arrays, inputs),
        )
        return found
