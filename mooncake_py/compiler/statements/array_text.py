"""Print expressions on arrays, and what serves their cotangents, as Python.

Op("summed", (Op("mul", (g, v1)),))             inner(g, v1)
Op("fitted", (Op("mul", (g, v1)), shape0))      reduced(g, v1, shape0)
Op("mul", (g, share of operand 0))              g * w_t1_0, or selected(g, w_t1, 0)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mooncake_py.compiler.emit_scalar import INFIX, Emitter
from mooncake_py.compiler.ir import Expr, Name, Op
from mooncake_py.overriding import override

__all__ = ["ArrayText", "is_share"]


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
    """

    def __init__(self, scope: dict[str, Any], together: Collection[str] = ()) -> None:
        super().__init__()
        self.scope = scope | self.scope
        self.together = together

    @override
    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return the text of an operator on arrays."""
        if op == "matmul":
            return f"{self.operand(args[0])} @ {self.operand(args[1])}"
        if op == "mul" and is_share(args[1]):
            return self.share_of(*args)
        if op in ("summed", "fitted"):
            first, *rest = args
            if isinstance(first, Op) and first.op == "mul" and not is_share(first.args[1]):
                name = "inner" if op == "summed" else "reduced"
                return f"{name}({', '.join(map(self.text, (*first.args, *rest)))})"
        return super().operation(op, args)

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
