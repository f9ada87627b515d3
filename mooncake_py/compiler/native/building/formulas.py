"""Formulas of numbers and arrays, written with the operators of Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.regions.ir import Const, Select

__all__ = ["Formula"]


@dataclass(frozen=True)
class Formula:
    """A number or an array that operators and functions of NumPy are applied to."""

    b: Builder
    value: Value

    def operated(self, op: str, other: Any, reflected: bool = False) -> Formula:
        """Return the result of an operator."""
        pair = [self.value, self.of(other).value]
        return Formula(
            self.b, operations.operated(self.b, op, *(pair[::-1] if reflected else pair))
        )

    def of(self, other: Any) -> Formula:
        """Return a number that is written down as a formula."""
        if isinstance(other, Formula):
            return other
        if isinstance(other, int | float):
            return Formula(
                self.b, Number(Const(other), "float64" if type(other) is float else "int")
            )
        return Formula(self.b, other)

    def __add__(self, other: Any) -> Formula:
        """Return a sum."""
        return self.operated("add", other)

    def __radd__(self, other: Any) -> Formula:
        """Return a sum."""
        return self.operated("add", other, reflected=True)

    def __sub__(self, other: Any) -> Formula:
        """Return a difference."""
        return self.operated("sub", other)

    def __rsub__(self, other: Any) -> Formula:
        """Return a difference."""
        return self.operated("sub", other, reflected=True)

    def __mul__(self, other: Any) -> Formula:
        """Return a product."""
        return self.operated("mul", other)

    def __rmul__(self, other: Any) -> Formula:
        """Return a product."""
        return self.operated("mul", other, reflected=True)

    def __truediv__(self, other: Any) -> Formula:
        """Return a quotient."""
        return self.operated("truediv", other)

    def __rtruediv__(self, other: Any) -> Formula:
        """Return a quotient."""
        return self.operated("truediv", other, reflected=True)

    def __neg__(self) -> Formula:
        """Return the negative."""
        return Formula(self.b, operations.negative(self.b, self.value))

    def __call__(self, f: Any, *others: Any) -> Formula:
        """Return the results of an elementwise function of these formulas and others."""
        found = operations.applied(self.b, f, [self.value, *[self.of(o).value for o in others]])
        if found is None:
            raise Unfit(f"the function {f.__name__}", self.b.place)
        return Formula(self.b, found)

    def compared(self, op: str, other: Any) -> Formula:
        """Return a comparison, by its name."""
        return Formula(
            self.b, operations.compared(self.b, [op], [self.value, self.of(other).value])
        )

    def where(self, test: Formula, other: float) -> Formula:
        """Return this where a test holds, else a number."""
        t, x, y = test.value, self.value, self.of(other).value
        if isinstance(t, Number) and isinstance(x, Number) and isinstance(y, Number):
            e = Select(t.e, operations.as_float(x.e), operations.as_float(y.e))
            return Formula(self.b, Number(e, "float64"))
        return Formula(self.b, operations.chosen(self.b, t, x, y))

    def kept(self) -> Formula:
        """Return this computed once, where it is read several times."""
        v = self.value
        if isinstance(v, Array):
            return self if v.base else Formula(self.b, self.b.kept(v))
        if isinstance(v, Number) and v.kind in operations.REAL:
            return Formula(
                self.b, Number(operations.as_element(self.b, v), v.type, v.rank, v.narrow)
            )
        return self
