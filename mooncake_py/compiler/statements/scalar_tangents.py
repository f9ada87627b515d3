"""Statements on numbers and elements in forward mode, where nothing is active below.

s * math.sin(x[i])      def run(C, F, V):
...                     values and slopes as in reverse mode
t = e1 * d0 + e0 * d1   one tangent, or those of all directions

Numbers that are not finite go the general way, in which zeros are exact next to infinite
numbers.
"""

from __future__ import annotations

from mooncake_py.compiler.regions.ir import Const, Expr, Name, Op
from mooncake_py.compiler.regions.simplify import added, product
from mooncake_py.compiler.statements.forward_forms import READ, is_finite
from mooncake_py.compiler.statements.lines import mute
from mooncake_py.compiler.statements.scalars import ScalarForm
from mooncake_py.overriding import override
from mooncake_py.runtime.quiet import BY_NAME
from mooncake_py.tangents.memory import has_overlaps

__all__ = ["ScalarRows", "ScalarTangent"]


class ScalarTangent(ScalarForm):
    """Prints the form of a statement on numbers and elements, with the tangent."""

    marker = "C.pushes and C.plain"
    look_up = "tangent_of"
    active = "type(a{p}) is Active and a{p}.context is C"

    @property
    def tangent(self) -> Expr:
        """The tangent of the value, from those of the operands."""
        total: Expr = Const(0.0)
        for k, slope in self.slopes.items():
            total = added(total, product(Name(f"d{k}"), slope))
        return total

    @override
    def nodes(self) -> list[str]:
        lines = ["B = C.blocks", "known = B.known"] if self.on else []
        for p, active in self.on.items():
            wrong = "None" if active else "not None"
            lines += READ.format(p=p, wrong=wrong, look_up=self.look_up).split("\n")
        return lines

    @override
    def numbers(self) -> list[str]:
        lines = super().numbers()
        for k, p in self.names.items():
            if k in self.slopes:
                lines += [f"d{k} = a{p}.grad", *self.unless_tangent(k)]
        return lines

    def unless_tangent(self, k: int) -> list[str]:
        """Return the lines that check that the tangent of a number is supported."""
        return [
            f"if type(d{k}) is not float:",
            f"    if type(d{k}) is not float64:",
            "        return otherwise(C, F, V)",
            f"    d{k} = float(d{k})",
        ]

    @override
    def reads(self) -> list[str]:
        lines = super().reads()
        for k, part in enumerate(self.layout):
            if isinstance(part, tuple) and k in self.slopes:
                lines.append(f"d{k} = {self.element(*part[:2])}")
        return lines

    def element(self, p: int, i: int) -> str:
        """Return the text of the tangent of an element."""
        return f"T{p}.item(a{i})"

    @override
    def computation(self) -> list[str]:
        *lines, _ = super().computation()
        total = self.text.operand(self.root)
        if self.slopes:
            lines.append(f"t = {self.text.text(self.tangent)}")
            total += " + t"
        return [*lines, f"total = {total}"]

    @override
    def given(self) -> tuple[str, list[str]]:
        if not self.slopes:
            return "", [f"return {self.result}"]
        return "", [
            "y = Active()", f"y.primal = {self.result}", "y.grad = t", "y.context = C", "return y",
        ]  # fmt: skip

    @override
    def old_element(self) -> list[str]:
        return []

    @override
    def stored(self) -> tuple[str, list[str]]:
        assert self.target is not None
        o, i = self.target
        self.scope["has_overlaps"] = has_overlaps
        lines = [
            f"if a{o}.base is not None and has_overlaps(a{o}):",
            "    return otherwise(C, F, V)",
            f"m = B.constants.get(id(a{o}))",
            f"if m is None or m.ref() is not a{o}:",
            f"    m = C.registry.memory_of(a{o})",
            *([] if self.on[o] else [f"T{o} = B.activate(a{o})"]),
            "if m.protected:",
            f"    C.log_write(m, a{o}, a{i})",
            f"a{o}[a{i}] = {self.text.text(self.root)}",
            f"T{o}[a{i}] = {'t' if self.slopes else '0.0'}",
            "return None",
        ]
        return "", lines


class ScalarRows(ScalarTangent):
    """Prints the form of an expression on numbers, with tangents along several directions."""

    marker = "C.several"
    look_up = "rows_of"

    @override
    def element(self, p: int, i: int) -> str:
        return f"T{p}[{f':, a{i}' if dict(self.statement.ints)[i] == 1 else f'(ALL, *a{i})'}]"

    @override
    def unless_tangent(self, k: int) -> list[str]:
        return [f"if type(d{k}) is not ndarray:", "    return otherwise(C, F, V)"]

    @override
    def computation(self) -> list[str]:
        *lines, total = super().computation()
        if not self.slopes:
            return [*lines, total]
        self.scope |= {"ALL": slice(None), "is_finite": is_finite, **BY_NAME}
        tangent = self.tangent
        if isinstance(tangent, Name):  # of an operand
            tangent = Op("pos", (tangent,))
        line = f"t = {self.text.text(tangent)}"
        unless = ["if not is_finite(t):", "    return otherwise(C, F, V)"]
        rest = f"total = {self.text.operand(self.root)}"
        return [*lines[:-1], *mute([line]), *unless, rest]
