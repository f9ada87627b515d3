"""Print expressions on slices; a number that comes out of arrays becomes a float of Python.

Arithmetic on it takes half the time then, and has the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mooncake_py.compiler.regions.ir import Call, Expr, Name, Op
from mooncake_py.compiler.slices.texts import Texts
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum, ndim_of
from mooncake_py.overriding import override

__all__ = ["SlicedText"]


class SlicedText(ArrayText):
    """Prints expressions; see `ArrayText`.

    Attributes
    ----------
    are_vectors : callable
        Whether names are of vectors of one length.
    """

    are_vectors: Callable[..., bool]

    @classmethod
    def of(cls, texts: Texts, scope: dict[str, Any], arrays: Iterable[str] = ()) -> SlicedText:
        """Return what prints the expressions of a statement.

        All texts of a region share its scope, so that functions of one name are told apart.
        """
        plan = texts.plan
        found = cls(scope, (), arrays, plan.axes, plan.int_names)
        scope |= found.scope
        found.scope = scope
        found.are_vectors = texts.are_vectors
        return found

    @override
    def text(self, e: Expr) -> str:
        found = super().text(e)
        return f"float({found})" if self.is_of_arrays(e) else found

    @override
    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        if op == "summed":
            match args[0]:
                case Op(op="mul", args=(Name(name=a), Name(name=b))) if self.are_vectors(a, b):
                    return f"float({a}.dot({b}))"
        return super().operation(op, args)

    def is_of_arrays(self, e: Expr) -> bool:
        """Return True for a number that is a sum, or a product of two vectors."""
        if not is_contraction(e):
            return is_sum(e)
        axes = self.axes_of(*e.args)  # type: ignore[union-attr]
        return axes == (1, 1) and ndim_of(e, 1, 1) == 0

    def is_float(self, e: Expr) -> bool:
        """Return True if a number is a float of Python for certain: functions make others."""
        return not isinstance(e, Call) or self.is_of_arrays(e)
