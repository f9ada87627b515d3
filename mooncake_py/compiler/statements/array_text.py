"""Print expressions on arrays, and on their cotangents, as Python.

Op("summed", (Op("mul", (g, v1)),))             inner(g, v1)
Op("fitted", (Op("mul", (g, v1)), shape0))      reduced(g, v1, shape0)
Op("mul", (g, share of operand 0))              g * w_t1_0, or selected(g, w_t1, 0)

What has the very result of what it stands for is printed in its place, if that takes less time.
Measured on 20 numbers: ``c * v0`` with an array c of no axes 260 ns, ``1.5 * v0`` 390;
``v0.dot(v1)`` 260 ns, ``np.dot(v0, v1)`` 390, ``v0 @ v1`` 480; ``np.add.reduce`` of 60 numbers
along two axes 1.3 us, ``np.sum`` 1.9; ``d.dot(v1.T)`` of matrices 4 by 4 370 ns, the adjoint that
is declared for ``v0 @ v1`` 950.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.printing.emit_scalar import INFIX, LEVELS, Emitter
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, Name, Op, Statement, parts_of
from mooncake_py.compiler.statements.choices import by_order, order_of
from mooncake_py.compiler.statements.contractions import ADJOINT_TEXTS, is_mean, is_sum
from mooncake_py.compiler.statements.fitting import mean
from mooncake_py.compiler.statements.reductions import ALL_AXES, is_reduction
from mooncake_py.overriding import override

__all__ = ["FORWARDS", "ArrayText", "is_share"]

REDUCTIONS = ((np.sum, np.add), (np.max, np.maximum), (np.min, np.minimum))
"""Functions, and the ufuncs of which they are the reductions."""
WITHIN_NAMES = str.maketrans({".": "_", "-": "m", "+": None})
FORWARDS = frozenset([(8 * n,) for n in range(1, 1025)])
"""Strides of vectors of floats whose inner product is the same by ``@`` and by ``dot``.

NumPy's ``dot`` gives copies to BLAS of those that go backwards, ``@`` computes them in a loop.
"""
EXACT = 1 << 53  # up to which ints are floats


NO_AXES: Mapping[str, int] = {}


def is_share(e: Expr) -> bool:
    """Return True for a partial derivative that was worked out in the forward pass."""
    return isinstance(e, Name) and e.name.startswith("w_")


class ArrayText(Emitter):
    """Prints expressions on arrays.

    Parameters
    ----------
    scope : dict
        Takes the functions that the text calls.
    together : collection of str
        The operations of which both shares are kept as one.
    arrays : collection of str
        The names that are arrays of floats for certain.
    axes : mapping of str to int
        Of those of which it is known, the number of axes.
    ints : collection of str
        The names that are ints.
    """

    def __init__(
        self,
        scope: dict[str, Any],
        together: Collection[str] = (),
        arrays: Iterable[str] = (),
        axes: Mapping[str, int] = NO_AXES,
        ints: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.scope = scope | self.scope
        self.together = together
        self.arrays = set(arrays)
        self.axes = axes
        self.ints = set(ints)

    @override
    def lines(self, s: Statement) -> list[str]:
        """Return the lines of a statement."""
        lines = super().lines(s)
        if isinstance(s, Let) and self.is_array(s.value):
            self.arrays.add(s.name)
        return lines

    @override
    def text(self, e: Expr) -> str:
        """Return the text of an expression."""
        parts = order_of(e)
        if parts is not None:
            *chosen, rest = map(self.text, parts)
            return f"{self.name_of(by_order)}({', '.join(chosen)}, lambda: {rest})"
        if isinstance(e, Call) and self.is_array(e.args[0]):
            if e.function is np.dot:
                return f"{self.operand(e.args[0])}.dot({self.text(e.args[1])})"
            if is_mean(e):
                return f"{self.name_of(mean)}({self.text(e.args[0])})"
            ufunc = next((u for f, u in REDUCTIONS if e.function is f), None)
            if ufunc is not None and (is_sum(e) or is_reduction(e)):
                axes = e.args[1] if is_reduction(e) else ALL_AXES
                return f"{self.name_of(ufunc)}.reduce({self.text(e.args[0])}, {self.text(axes)})"
            found = self.adjoint_of_product(e)
            if found is not None:
                return found
        return super().text(e)

    def adjoint_of_product(self, e: Call) -> str | None:
        """Return the text of one call of BLAS for an adjoint of a product, if it is known."""
        texts = ADJOINT_TEXTS.get(e.function)
        if texts is None:
            return None
        d, a, b = e.args
        text = texts.get(self.axes_of(a, b))
        return (
            None if text is None else text.format(d=self.operand(d), a=self.text(a), b=self.text(b))
        )

    def axes_of(self, a: Expr, b: Expr) -> tuple[int | None, ...]:
        """Return the numbers of axes of two factors, of which one may only be described."""
        names = [e.name.removeprefix("like_") if isinstance(e, Name) else "" for e in (a, b)]
        return tuple(map(self.axes.get, names))

    @override
    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return the text of an operator on arrays."""
        if op == "matmul":
            a, b = args
            if isinstance(a, Name) and isinstance(b, Name) and self.axes_of(a, b) == (1, 1):
                self.scope["FORWARDS"] = FORWARDS
                test = f"{a.name}.strides in FORWARDS and {b.name}.strides in FORWARDS"
                return f"{a.name}.dot({b.name}) if {test} else {a.name} @ {b.name}"
            return f"{self.operand(a)} @ {self.operand(b)}"
        if op == "mul" and is_share(args[1]):
            return self.share_of(*args)
        if op == "real":
            return f"{self.operand(args[0])}.real"
        if op == "conj":
            return f"{self.operand(args[0])}.conjugate()"
        if op in ("summed", "fitted"):
            first, *rest = args
            if isinstance(first, Op) and first.op == "mul" and not is_share(first.args[1]):
                name = "inner" if op == "summed" else "reduced"
                return f"{name}({', '.join(map(self.text, (*first.args, *rest)))})"
        if op in LEVELS and op != "pow":
            a, b = args
            if self.is_array(b):
                a = self.constant(a)
            elif self.is_array(a):
                b = self.constant(b)
            args = a, b
        return super().operation(op, args)

    def constant(self, e: Expr) -> Expr:
        """Return a number that is written down as an array of no axes, an int as it takes least.

        Anything else is returned as it is.
        """
        match e:
            case Name(name=name) if name in self.ints:
                return Op("array", (Op("float", (e,)),))
            case Const(value=float(number)):
                value = float(number)
            case Const(value=int(number)) if type(number) is int and abs(number) <= EXACT:
                value = float(number)
            case _:
                return e
        name = f"c_{repr(value).translate(WITHIN_NAMES)}"
        self.scope[name] = np.array(value)
        return Name(name)

    def is_array(self, e: Expr) -> bool:
        """Return True for what is an array of floats for certain."""
        if isinstance(e, Name):
            return e.name in self.arrays
        if isinstance(e, Op):
            return (e.op in LEVELS or e.op == "neg") and any(map(self.is_array, parts_of(e)))
        return (
            isinstance(e, Call)
            and type(e.function) is np.ufunc
            and any(map(self.is_array, parts_of(e)))
        )

    def share_of(self, d: Expr, share: Expr) -> str:
        """Return the text of a cotangent times the share of an operand."""
        assert isinstance(share, Name)
        name, _, k = share.name.rpartition("_")
        if name.removeprefix("w_") in self.together:
            return f"selected({self.text(d)}, {name}, {k})"
        return f"{self.operand(d)} * {share.name}"

    @override
    def operand(self, e: Expr) -> str:
        """Return the text of an expression within another one."""
        if isinstance(e, Name):
            return e.name
        if isinstance(e, Op) and (e.op == "matmul" or e.op in INFIX):
            return f"({self.text(e)})"
        return super().operand(e)
