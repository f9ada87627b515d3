"""Memory of arrays that a function makes.

Each name has one piece at a time.  Where an array is made in a loop the piece stays while it is
large enough; the last one is freed, or given to the caller, on every way out::

    for i in range(n):                          if bytes > capacity:
        t = np.zeros(i)                             free(own); own = malloc(bytes)
        ...                                     ...
                                                free(own)
"""

from __future__ import annotations

from collections.abc import Iterable

from mooncake_py.compiler.native.llvm.expressions import Expressions
from mooncake_py.compiler.native.llvm.numbers import SIZE
from mooncake_py.compiler.native.llvm.writer import NO_MEMORY
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Alloc, Block, Grow, statements

__all__ = ["Memory"]


class Memory:
    """The arrays that one function makes, or lets grow.

    Parameters
    ----------
    body : Block
        Of the function.
    can_leave : bool
        Whether the function may be left where a length is none.

    Attributes
    ----------
    made, grown : frozenset of str
        The arrays that it makes, and those that it lets grow.
    """

    def __init__(self, to: Expressions, body: Block, *, can_leave: bool) -> None:
        found = list(statements(body))
        made = [s.name for s in found if isinstance(s, Alloc)]
        top = [s.name for s in body if isinstance(s, Alloc)]
        self.to = to
        self.made = frozenset(made)
        self.grown = frozenset([s.name for s in found if isinstance(s, Grow)])
        self._names = list(dict.fromkeys([s.name for s in found if isinstance(s, Alloc | Grow)]))
        self._once = {name for name in top if made.count(name) == 1} - self.grown
        self._can_leave = can_leave

    def owned(self, array: str) -> str:
        """Return the memory of an array, null where it is that of the caller."""
        return self.to.writer.read(("own", array), "ptr", "null")

    def is_owner(self, array: str) -> bool:
        """Return True for an array that may have memory of its own."""
        return self.to.writer.has_slot(("own", array))

    # Statements.

    def make(self, s: Alloc) -> None:
        """Write what makes an array."""
        writer = self.to.writer
        lengths = [self.to.as_kind(n, INT) for n in s.shape]
        size = self.size(s, lengths)
        if s.name in self._once:
            pointer = self.malloc(s.name, size)
        else:
            pointer = self.kept(s.name, size)
        self.to.arrays.bind(s.name, pointer, lengths, once=s.name in self._once)
        if s.zero:
            args = f"ptr {pointer}, i8 0, i64 {size}, i1 false"
            name = "llvm.memset.p0.i64"
            writer.known_without_result(name, args, self.to.arrays.scope(s.name))

    def size(self, s: Alloc, lengths: list[str]) -> str:
        """Return how many bytes an array has; the function is left where there is no such array."""
        writer = self.to.writer
        size = str(SIZE[s.kind])
        for n in lengths:
            size = writer.helper("mc_bytes", "i64", f"i64 {size}", f"i64 {n}")
            is_size = writer.do(f"icmp sge i64 {size}, 0")
            writer.leave_unless(is_size, None if self._can_leave else NO_MEMORY)
        return size

    def malloc(self, array: str, size: str) -> str:
        """Return new memory for an array, at least a byte."""
        writer = self.to.writer
        some = writer.do(f"or i64 {size}, 1")
        pointer = writer.known("mc_malloc", "noalias ptr", f"i64 {some}")
        writer.write(("own", array), "ptr", "null", pointer)
        writer.leave_unless(writer.do(f"icmp ne ptr {pointer}, null"), NO_MEMORY)
        return pointer

    def kept(self, array: str, size: str) -> str:
        """Return memory for an array: that which it has, or more."""
        writer = self.to.writer
        capacity = "capacity", array
        had = writer.read(capacity, "i64", "-1")
        more, end = writer.fresh("more"), writer.fresh("had")
        writer.branch(writer.do(f"icmp sgt i64 {size}, {had}"), more, end)
        writer.begin(more)
        writer.known_without_result("mc_free", f"ptr {self.owned(array)}")
        writer.write(capacity, "i64", "-1", "-1")
        self.malloc(array, size)
        writer.write(capacity, "i64", "-1", size)
        writer.go(end)
        writer.begin(end)
        return self.owned(array)

    def grow(self, s: Grow) -> None:
        """Write what makes room in an array."""
        self.room(s.name, self.to.as_kind(s.least, INT))

    def room(self, array: str, least: str) -> None:
        """Write what makes room for so many elements; those that are there stay."""
        writer, arrays = self.to.writer, self.to.arrays
        n = arrays.length(array, 0)
        more, end = writer.fresh("more"), writer.fresh("had")
        test = writer.do(f"icmp sgt i64 {least}, {n}")
        writer.branch(test, more, end, writer.module.rare)
        writer.begin(more)
        item = SIZE[arrays.kind(array)]
        args = f"ptr {arrays.pointer(array)}", f"i64 {n}", f"ptr {self.owned(array)}"
        type_ = "{ ptr, i64 }"
        both = writer.helper("mc_grow", type_, *args, f"i64 {least}", f"i64 {item}")
        pointer = writer.do(f"extractvalue {type_} {both}, 0")
        writer.leave_unless(writer.do(f"icmp ne ptr {pointer}, null"), NO_MEMORY)
        writer.write(("own", array), "ptr", "null", pointer)
        length = writer.do(f"extractvalue {type_} {both}, 1")
        if array in self.made:
            size = writer.do(f"mul nsw i64 {length}, {item}")
            writer.write(("capacity", array), "i64", "-1", size)
        arrays.bind(array, pointer, [length], once=False)
        writer.go(end)
        writer.begin(end)

    # The end.

    def free(self, arrays: Iterable[str]) -> None:
        """Write what frees the memory of arrays."""
        for array in arrays:
            if self.is_owner(array):
                pointer = self.owned(array)
                self.to.writer.known_without_result("mc_free", f"ptr {pointer}")

    def end(self, given: Iterable[str]) -> None:
        """Write what frees all memory but that of arrays that are given to the caller."""
        kept = set(given)
        self.free([name for name in self._names if name not in kept])
