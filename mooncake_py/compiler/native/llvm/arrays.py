"""Arrays: where they are in memory, how long they are, and their elements.

Arrays do not overlap: what is read of one is not changed by what is written to another one.
Those who pass arrays look for it; those that are made have memory of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mooncake_py.compiler.native.llvm.numbers import IN_MEMORY
from mooncake_py.compiler.native.llvm.writer import Writer
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT
from mooncake_py.compiler.regions.ir import Const, Expr, Load

__all__ = ["Arrays"]

APART = 128
"""More arrays than these are not told apart, as each must list all the others."""


class Arrays:
    """The arrays of one function.

    Parameters
    ----------
    axes : mapping of str to int
        Of each array the number of axes.
    index : callable
        Writes an index, and returns it.

    Attributes
    ----------
    group : int or None
        The node of accesses that no other pass of a loop changes, while one is written.
    """

    def __init__(
        self,
        writer: Writer,
        kinds: Mapping[str, str],
        axes: Mapping[str, int],
        index: Callable[[Expr], str],
    ) -> None:
        self.writer = writer
        self.axes = axes
        self._kinds = kinds
        self._index = index
        self.group: int | None = None
        self._fixed: dict[str, tuple[str, list[str], list[str]]] = {}
        self._scopes: dict[str, tuple[int, int, int]] = {}

    def kind(self, array: str) -> str:
        """Return the kind of the elements."""
        return self._kinds.get(array, FLOAT)

    # Where, and how long.

    def pointer(self, array: str) -> str:
        """Return the address of the first element."""
        if array in self._fixed:
            return self._fixed[array][0]
        return self.writer.read(("data", array), "ptr", "null")

    def length(self, array: str, axis: int) -> str:
        """Return the length along an axis."""
        if array in self._fixed:
            return self._fixed[array][1][axis]
        return self.writer.read(("length", array, axis), "i64", "0")

    def stride(self, array: str, axis: int) -> str:
        """Return how many elements lie between two neighbours along an axis other than the last."""
        if array in self._fixed:
            return self._fixed[array][2][axis]
        return self.writer.read(("stride", array, axis), "i64", "0")

    def bind(self, array: str, pointer: str, lengths: Sequence[str], *, once: bool) -> None:
        """Bind an array to memory.

        Parameters
        ----------
        once : bool
            Whether that is done nowhere else, and before anything that reads it.
        """
        strides: list[str] = []
        for n in reversed(lengths[1:]):
            last = strides[0] if strides else None
            strides.insert(0, n if last is None else self.writer.do(f"mul nsw i64 {n}, {last}"))
        if once:
            self._fixed[array] = pointer, list(lengths), strides
            return
        self.writer.write(("data", array), "ptr", "null", pointer)
        for axis, n in enumerate(lengths):
            self.writer.write(("length", array, axis), "i64", "0", n)
        for axis, n in enumerate(strides):
            self.writer.write(("stride", array, axis), "i64", "0", n)

    def hidden(self, size: int) -> str:
        """Return the name of a new array of floats that is on the machine's stack."""
        name = f".own{len(self._fixed)}"
        memory = self.writer.room(name, f"[{size} x double], align 64")
        self._fixed[name] = memory, [str(size)], []
        return name

    # Elements.

    def address(self, e: Load) -> str:
        """Return the address of an element."""
        place: str | None = None
        for axis, i in enumerate(e.index):
            if i == Const(0) and (place is not None or axis < len(e.index) - 1):
                continue
            part = self._index(i)
            if axis < len(e.index) - 1:
                part = self.writer.do(f"mul nsw i64 {part}, {self.stride(e.array, axis)}")
            place = part if place is None else self.writer.do(f"add nsw i64 {place}, {part}")
        return self.element(e.array, "0" if place is None else place)

    def element(self, array: str, place: str) -> str:
        """Return the address of an element, of which it is known how many are before it."""
        t = IN_MEMORY[self.kind(array)]
        return self.writer.do(f"getelementptr inbounds {t}, ptr {self.pointer(array)}, i64 {place}")

    def load(self, array: str, address: str) -> str:
        """Return an element."""
        kind = self.kind(array)
        found = self.writer.do(f"load {IN_MEMORY[kind]}, ptr {address}{self.scope(array)}")
        return self.writer.do(f"icmp ne i8 {found}, 0") if kind == BOOL else found

    def store(self, array: str, address: str, value: str) -> None:
        """Write an element."""
        kind = self.kind(array)
        if kind == BOOL:
            value = self.writer.do(f"zext i1 {value} to i8")
        self.writer.line(f"store {IN_MEMORY[kind]} {value}, ptr {address}{self.scope(array)}")

    # Declarations that arrays do not overlap.

    def scope(self, array: str) -> str:
        """Return the metadata written after an access to an array."""
        found = self._scopes.get(array)
        if found is None:
            if len(self._scopes) < APART:
                node = self.writer.module.node
                found = node(nothing), node(nothing), node(nothing)
            else:
                found = next(reversed(self._scopes.values()))
            self._scopes[array] = found
        group = "" if self.group is None else f", !llvm.access.group !{self.group}"
        return f", !alias.scope !{found[1]}, !noalias !{found[2]}{group}"

    def end(self, name: str) -> None:
        """Write what the scopes are, once the function is written."""
        module = self.writer.module
        domain = module.node(lambda k: f'distinct !{{!{k}, !"{name}"}}')
        scopes = list(dict.fromkeys(self._scopes.values()))
        for own, alone, others in scopes:
            module.set_node(own, f"distinct !{{!{own}, !{domain}}}")
            module.set_node(alone, f"!{{!{own}}}")
            rest = [f"!{other}" for other, *_ in scopes if other != own]
            module.set_node(others, f"!{{{', '.join(rest)}}}")


def nothing(number: int) -> str:
    """Return a node that is written later."""
    return "!{}"
