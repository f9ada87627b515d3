"""Print functions of numbers and arrays as Python, for plain Python and for Numba alike.

How statements are printed::

    Push(FLOATS, Name("v0"))                       S[U(p)] = v0
                                                   p += 1
    ForAll(("i",), (n,), (Push(FLOATS, e),))       i = 0
                                                   while i < n:
                                                       S[U(p + i)] = e
                                                       i += 1
                                                   p += n
    Assign(Name("s"), Pop(FLOATS))                 p -= 1
                                                   s = S[U(p)]
    Check(test)                                    if not (test):
                                                       return False, S, 0, 0.0, none_y

Arrays are C-contiguous and do not overlap; `S` is one stack of float64 numbers, for floats, ints
and bools, and `p` how many are on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mooncake_py.compiler.native.printing.emit_expressions import Expressions
from mooncake_py.compiler.native.printing.emit_statements import DTYPES, INDENT, Statements
from mooncake_py.compiler.native.printing.saved import STACK, TOP
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.native.regions.unbound import expressions_in, unbound
from mooncake_py.compiler.regions.ir import Alloc, Block, Check, Length, Push, statements, walk

__all__ = ["Printed", "Printer"]

ZEROS = {FLOAT: "0.0", FLOAT32: "np.float32(0.0)", INT: "0", BOOL: "False"}


class Printed(NamedTuple):
    """A function.

    Attributes
    ----------
    types : tuple of (str, int)
        Of its parameters: the kind, and the number of axes.
    """

    text: str
    types: tuple[tuple[str, int], ...]


class Printer:
    """Prints functions that belong together.

    Parameters
    ----------
    kinds : mapping of str to str
        Of names and arrays; what is not there is a float.
    arrays : mapping of str to int
        Of the arrays the number of axes.

    Attributes
    ----------
    functions : dict of str to Printed
        By their names.
    scope : dict
        What they call, by the names that it has in the text.
    """

    def __init__(self, kinds: Mapping[str, str], arrays: Mapping[str, int]) -> None:
        self.kinds = {**kinds, TOP: INT}
        self.arrays = {**arrays, STACK: 1}
        self.functions: dict[str, Printed] = {}
        self.expressions = Expressions(self.kinds)
        self.scope = self.expressions.scope

    @property
    def text(self) -> str:
        """All functions."""
        return "\n\n".join([printed.text for printed in self.functions.values()])

    def count(self, body: Block, inputs: Sequence[str]) -> None:
        """Print ``count(*inputs) -> p``: how many numbers `forward`, printed next, will save.

        Of what the body pushes only the size counts; where it pushes nothing nothing is printed.
        """
        if not any(isinstance(s, Push) for s in statements(body)):
            return
        printer = self.statements(body, "", is_count=True)
        lines = [*self.bound_before(printer, body, inputs, ()), "p = 0"]
        self.add("count", inputs, [*lines, *printer.body(body), "return p"])

    def forward(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``forward(S, *inputs) -> (ok, S, p, *results)``.

        The stack grows, unless `count` was printed before and tells how large it must be.
        """
        names = self.names(inputs)
        nothing = {name: self.nothing(name, inputs) for name in results}
        failure = ", ".join(["return False, S, 0", *(value for value, _ in nothing.values())])
        printer = self.statements(body, failure, grows="count" not in self.functions)
        lines = ["p = 0"]
        if "count" in self.functions:
            lines += [f"p = count({', '.join(names)})", "if p > S.size:"]
            lines += [f"{INDENT}S = grow(S, p)", "p = 0"]
        if any(isinstance(s, Check) for s in statements(body)):
            lines += [line for _, line in nothing.values() if line]
        lines += self.bound_before(printer, body, inputs, results)
        lines += printer.body(body)
        lines.append(", ".join(["return True, S, p", *self.names(results)]))
        self.add("forward", [STACK, *inputs], lines)

    def reverse(self, body: Block, inputs: Sequence[str], results: Sequence[str]) -> None:
        """Print ``reverse(S, p, *inputs) -> results``."""
        printer = self.statements(body, "")
        lines = self.bound_before(printer, body, inputs, results)
        lines += printer.body(body)
        lines.append(f"return ({''.join(f'{name}, ' for name in self.names(results))})")
        self.add("reverse", [STACK, TOP, *inputs], lines)

    # Parts of functions.

    def add(self, name: str, parameters: Sequence[str], lines: list[str]) -> None:
        """Take up a function."""
        head = f"def {name}({', '.join(self.names(parameters))}):"
        text = "\n".join([head, *(INDENT + line for line in lines)]) + "\n"
        types = tuple(
            [(self.kinds.get(name, FLOAT), self.arrays.get(name, 0)) for name in parameters]
        )
        self.functions[name] = Printed(text, types)

    def names(self, names: Sequence[str]) -> list[str]:
        """Return names unchanged in the text."""
        return [self.expressions.spelled(name) for name in names]

    def statements(
        self, body: Block, failure: str, *, grows: bool = False, is_count: bool = False
    ) -> Statements:
        """Return what prints a body."""
        parts = [part for s in statements(body) for e in expressions_in(s) for part in walk(e)]
        measured = list(dict.fromkeys(part for part in parts if isinstance(part, Length)))
        made = frozenset(s.name for s in statements(body) if isinstance(s, Alloc))
        return Statements(self.expressions, measured, made, failure, grows=grows, is_count=is_count)

    def bound_before(
        self, printer: Statements, body: Block, inputs: Sequence[str], results: Sequence[str]
    ) -> list[str]:
        """Return the lines that measure arrays, and bind what may be read before it is bound."""
        lines = [line for name in inputs if name in self.arrays for line in printer.lengths(name)]
        numbers = [name for name in results if name not in self.arrays]
        early: dict[str, list[str]] = {}
        for name in unbound(body, (*inputs, STACK, TOP), numbers):
            early.setdefault(self.kinds.get(name, FLOAT), []).append(name)
        return lines + [
            " = ".join([*self.names(names), ZEROS[kind]]) for kind, names in early.items()
        ]

    def nothing(self, name: str, inputs: Sequence[str]) -> tuple[str, str]:
        """Return what stands for a result where a check fails, and the line that makes it."""
        kind = self.kinds.get(name, FLOAT)
        text = self.expressions.spelled(name)
        if name in inputs:
            return text, ""
        if name not in self.arrays:
            return ZEROS[kind], ""
        shape = "(0,)" if self.arrays[name] == 1 else f"({', '.join(['0'] * self.arrays[name])})"
        empty = self.expressions.named(("nothing", name), f"none_{text}")
        return empty, f"{empty} = np.empty({shape}, {DTYPES[kind]})"
