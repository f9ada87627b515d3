"""The names bound along with an array: its lengths, and its elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from mooncake_py.compiler.native.numpy_text.helpers import cells, memory_of, put_back
from mooncake_py.compiler.native.numpy_text.scalars import Scalars
from mooncake_py.compiler.native.regions.linear import minus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Const, Expr, For, Length, Name, Op, parts_of

__all__ = ["Defining"]

WORD = re.compile(r"\w+")
UP, DOWN = Const(1), Const(-1)


class Defining:
    """Lines of one function, which are made once all others are.

    Parameters
    ----------
    scalars : Scalars
        It knows which lengths and elements are wanted.
    kinds, arrays
        See `Printer`.
    """

    def __init__(
        self, scalars: Scalars, kinds: Mapping[str, str], arrays: Mapping[str, int]
    ) -> None:
        self.scalars = scalars
        self.kinds = kinds
        self.arrays = arrays
        self.inputs: frozenset[str] = frozenset()
        self.writes: Counter[str] = Counter()
        self.listed: frozenset[str] = frozenset()

    def begin(self, inputs: frozenset[str], writes: Counter[str]) -> None:
        """Note what a function is given, and how many statements bind names and write arrays."""
        self.inputs = inputs
        self.writes = writes

    def extents(self, loop: For) -> tuple[str, ...]:
        """Return how often the loops around and this one run, as far as what is given tells."""
        assert isinstance(loop.range, Op)
        first, last, step = loop.range.args
        if step not in (UP, DOWN) or not (self.is_given(first) and self.is_given(last)):
            return self.scalars.extents
        extent = minus(last, first) if step == UP else minus(first, last)
        return *self.scalars.extents, self.scalars.text(extent)

    def is_given(self, e: Expr) -> bool:
        """Return True for an int that is the same wherever it is computed."""
        match e:
            case Name(name=name):
                return name in self.inputs and not self.writes[name]
            case Length(array=array):
                return array in self.inputs
            case Const() | Op():
                return all(map(self.is_given, parts_of(e)))
        return False

    def end(self, lines: Iterable[str]) -> None:
        """Find the vectors that are given of which nothing but elements is asked, in loops."""
        words = {word for line in lines for word in WORD.findall(line)}
        self.listed = frozenset(
            name
            for name, passes in self.scalars.passes.items()
            if passes and name in self.inputs and self.arrays[name] == 1
            if self.kinds[name] == FLOAT or (self.kinds[name] == INT and not self.writes[name])
            if self.scalars.name(name) not in words
        )

    def lengths(self, array: str) -> list[str]:
        """Return the lines that bind the lengths of an array that are wanted."""
        name = self.scalars.name(array)
        lengths = [Length(array, axis) for axis in range(self.arrays.get(array, 0))]
        wanted = [n for n in lengths if n in self.scalars.measured]
        return [f"{self.scalars.length(n)} = {name}.shape[{n.axis}]" for n in wanted]

    def memory(self, array: str) -> list[str]:
        """Return the lines that bind the elements of an array, if they are wanted."""
        if array not in self.scalars.elements:
            return []
        f = self.scalars.texts.function(memory_of)
        return [f"{self.scalars.memory(array)} = {f}({self.scalars.name(array)})"]

    def elements(self, array: str) -> list[str]:
        """Return the same of an array that is given; see `cells`."""
        if array not in self.listed:
            return self.memory(array)
        f, passes = self.scalars.texts.function(cells), " * ".join(self.scalars.passes[array])
        return [f"{self.scalars.memory(array)} = {f}({self.scalars.name(array)}, {passes})"]

    def put_back(self, array: str) -> list[str]:
        """Return the lines that write the elements of a given array back, if they are in a list."""
        if array not in self.listed or not self.writes[array]:
            return []
        f = self.scalars.texts.function(put_back)
        return [f"{f}({self.scalars.name(array)}, {self.scalars.memory(array)})"]
