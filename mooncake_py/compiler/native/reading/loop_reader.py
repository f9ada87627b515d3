"""From one loop of a function and the types of its variables to a region."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FunctionType

from mooncake_py.compiler.native.building.findings import Findings, reread
from mooncake_py.compiler.native.building.types import Met, Type
from mooncake_py.compiler.native.building.values import Array, Tuple, Unfit, Value
from mooncake_py.compiler.native.reading.loop_names import Loop
from mooncake_py.compiler.native.reading.lowering import has_return, lowered
from mooncake_py.compiler.native.reading.prepared import Body
from mooncake_py.compiler.native.reading.reader import FunctionReader, Reading
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of

__all__ = ["read_loop"]


def read_loop(
    f: FunctionType,
    loop: Loop,
    types: Mapping[str, Type],
    unserved: Mapping[str, str],
    met: Met | None = None,
    *,
    calls: bool = True,
    most: int | None = None,
) -> Reading:
    """Read a loop as a region that gives back a tuple of what is read afterwards.

    Parameters
    ----------
    f : function
        Stands for the function that the loop is in; it has its globals.
    types : dict of str to Type
        Of the variables that are bound before the loop.
    unserved : dict of str to str
        What variables are whose values cannot be passed.
    met : dict of int to Path, optional
        Where the structures among the variables are.
    calls : bool, optional
        Whether functions that are not read may be called: see `call_nodes`.
    most : int, optional
        The number of statements that may be read, in all attempts.

    Raises
    ------
    Unfit
        What cannot be compiled, and where.
    """

    def read(findings: Findings) -> Reading:
        reader = LoopReader(findings, unserved, met)
        reader.may_call = calls
        with reader.telling():
            return reader.loop_whole(f, loop, types)

    return reread(read, most)


class LoopReader(FunctionReader):
    """Reads one loop, and the functions that it calls."""

    def __init__(
        self, findings: Findings, unserved: Mapping[str, str], met: Met | None = None
    ) -> None:
        super().__init__(findings, met)
        self.unserved = unserved

    def loop_whole(self, f: FunctionType, loop: Loop, types: Mapping[str, Type]) -> Reading:
        """Read the loop."""
        b = self.b
        self.passed_first = len(types)
        nodes: list[ast.stmt] = [*loop.functions, loop.node]
        if not has_return(loop.node):
            nodes = lowered(nodes)
        scope = Scope(
            self.callees.met(f), f, Body.of(nodes), self.scope_name(f.__code__), self.slots
        )
        scope.local = set(loop.local)
        scope.bindings.update([*types, *loop.results])  # they are bound before, or read afterwards
        self.scope = scope
        self.scopes.append(scope)
        for name, type_ in types.items():
            scope.env[name] = self.parameter(name, type_, (len(scope.env),))
        for name in types:
            value = scope.env[name]
            if isinstance(value, Tuple):
                self.bind(name, value)
        self.bind_assigned()
        self.read(nodes)
        b.place = place_of(loop.node)
        results = tuple(map(self.variable, loop.results))
        self.require_apart(results)
        return self.finished(Tuple(results), list(types.values()))

    def require_apart(self, results: Sequence[Value]) -> None:
        """Raise if a variable may be another one's array afterwards, which has other memory here.

        Both would not see what the function writes to one of them.
        """
        attributes = [v for slot, v in self.slots.values.items() if not slot.is_variable]
        own = {v.base for v in (*results, *attributes) if isinstance(v, Array) and v.base}
        seen = own | self.inputs
        if any(len(pair & seen) > 1 for base in own for pair in self.pairs_with(base)):
            raise Unfit("variables that may be one array after a loop", self.b.place)

    def pairs_with(self, base: str) -> list[frozenset[str]]:
        """Return the pairs of memory with this one that may hold the same array."""
        return [pair for pair in self.aliases.pairs if base in pair]

    @override
    def require_private(self, base: str) -> None:
        if base in self.holds_input:
            raise Unfit("a write to an array that a loop assigns to its name again", self.b.place)

    @override
    def require_new(self, base: str) -> None:
        # Where it is not bound it stands for the very array that the function has.
        if base in self.from_input and (self.b.loops > 1 or not self.is_straight):
            raise Unfit("an array variable that only some passes of a loop assign", self.b.place)

    @override
    def variable(self, name: str) -> Value:
        if name in self.unserved and name in self.scope.local and name not in self.scope.env:
            raise Unfit(f"{name}, {self.unserved[name]}", self.b.place)
        return super().variable(name)
