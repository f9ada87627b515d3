"""Memory of arrays that a function makes.

Each name has one piece at a time, the addresses of which are in a table.  Where an array is made
in a loop the piece stays while it is large enough; the last one is freed, or given to the caller,
on every way out::

    for i in range(n):                          if bytes > capacity:
        t = np.zeros(i)                             free(own); own = malloc(bytes)
        ...                                     ...
                                                free(own)

The table is in memory, and not in registers as other variables: from hundreds of places at which
a function may be left hundreds of addresses would come together, each by a way of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from mooncake_py.compiler.native.llvm.expressions import Expressions
from mooncake_py.compiler.native.llvm.numbers import SIZE
from mooncake_py.compiler.native.llvm.saved import STACK
from mooncake_py.compiler.native.llvm.writer import NO_MEMORY
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Alloc, Block, Grow, statements

__all__ = ["Memory"]

SIZE_OF_ADDRESS = 8


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
        names = dict.fromkeys([s.name for s in found if isinstance(s, Alloc | Grow)])
        self._places = {name: place for place, name in enumerate([*names, STACK])}
        self._once = {name for name in top if made.count(name) == 1} - self.grown
        self._can_leave = can_leave

    def is_owner(self, array: str) -> bool:
        """Return True for an array that may have memory of its own."""
        return array in self._places

    def owned(self, array: str) -> str:
        """Return the memory of an array, null where it is that of the caller."""
        return self.to.writer.do(f"load ptr, ptr {self.entry(array)}")

    def own(self, array: str, pointer: str) -> None:
        """Write what notes the memory of an array."""
        self.to.writer.line(f"store ptr {pointer}, ptr {self.entry(array)}")

    def entry(self, array: str) -> str:
        """Return the place of an array in the table."""
        place, table = self._places[array], self.table()
        return self.to.writer.do(f"getelementptr inbounds ptr, ptr {table}, i64 {place}")

    def table(self) -> str:
        """Return the table, which is empty at first."""
        size = SIZE_OF_ADDRESS * len(self._places)
        return self.to.writer.memory("owned", f"[{len(self._places)} x ptr]", size)

    # Statements.

    def make(self, s: Alloc) -> None:
        """Write what makes an array."""
        writer = self.to.writer
        lengths = [self.to.as_kind(n, INT) for n in s.shape]
        size = self.size(s, lengths)
        pointer = self.new(s.name, size) if s.name in self._once else self.kept(s.name, size)
        self.to.arrays.bind(s.name, pointer, lengths, once=s.name in self._once)
        if s.zero:
            args = f"ptr {pointer}, i8 0, i64 {size}, i1 false"
            name = "llvm.memset.p0.i64"
            writer.known_without_result(name, args, self.to.arrays.scope(s.name))

    def size(self, s: Alloc, lengths: list[str]) -> str:
        """Return how many bytes an array has, less than none where there is no such array."""
        size = str(SIZE[s.kind])
        for n in lengths:
            size = self.to.writer.helper("mc_bytes", "i64", f"i64 {size}", f"i64 {n}")
        return size

    def new(self, array: str, size: str) -> str:
        """Return new memory for an array; the function is left where there is none."""
        writer = self.to.writer
        pointer = writer.helper("mc_new", "noalias ptr", f"i64 {size}")
        self.own(array, pointer)
        code = str(NO_MEMORY)
        if self._can_leave:
            is_size = writer.do(f"icmp sge i64 {size}, 0")
            code = writer.do(f"select i1 {is_size}, i32 {NO_MEMORY}, i32 {writer.code()}")
        writer.leave_unless(writer.do(f"icmp ne ptr {pointer}, null"), code)
        return pointer

    def kept(self, array: str, size: str) -> str:
        """Return memory for an array: that which it has, or more."""
        writer = self.to.writer
        capacity = "capacity", array
        is_size = writer.do(f"icmp sge i64 {size}, 0")
        writer.leave_unless(is_size, None if self._can_leave else NO_MEMORY)
        had = writer.read(capacity, "i64", "-1")
        more, end = writer.fresh("more"), writer.fresh("had")
        writer.branch(writer.do(f"icmp sgt i64 {size}, {had}"), more, end)
        writer.begin(more)
        writer.known_without_result("mc_free", f"ptr {self.owned(array)}")
        writer.write(capacity, "i64", "-1", "-1")
        self.new(array, size)
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
        self.own(array, pointer)
        length = writer.do(f"extractvalue {type_} {both}, 1")
        if array in self.made:
            size = writer.do(f"mul nsw i64 {length}, {item}")
            writer.write(("capacity", array), "i64", "-1", size)
        arrays.bind(array, pointer, [length], once=False)
        writer.go(end)
        writer.begin(end)

    # The end.

    def end(self, given: Iterable[str]) -> None:
        """Write what frees all memory but that of the stack, and of arrays that are given away."""
        count = len(self._places) - 1
        if count == 0:
            return
        for array in given:
            if self.is_owner(array):
                self.own(array, "null")
        self.to.writer.helper_without_result("mc_free_all", f"ptr {self.table()}", f"i64 {count}")
