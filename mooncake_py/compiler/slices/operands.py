"""Read the expression of a statement on slices.

What cannot be an operand of such a statement gets a name before it:

    u += (h * a) @ u            p0 = h * a
                                u += p0 @ u
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mooncake_py.compiler.derivatives.declared import SMALL
from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.compiler.regions.ir import Expr, Name, Op
from mooncake_py.compiler.statements.read import StatementReader, plain_index
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of, replaced
from mooncake_py.syntax.trees import walk

if TYPE_CHECKING:
    from mooncake_py.compiler.slices.read import SlicedLoopReader

__all__ = ["OperandReader", "takes"]


class OperandReader(StatementReader):
    """Reads the expression of a statement; what may be an index is decided when it is read.

    A factor of a product that is computed gets a name: ``(h * a) @ u``.  So does a number that is
    computed in another way than arrays are: ``u * math.exp(-t)``, ``d / (d @ d) ** 1.5``.
    """

    def __init__(self, loop: SlicedLoopReader) -> None:
        super().__init__(loop.names, peeks=False, is_first=False)
        self.loop = loop

    @override
    def contraction(
        self, node: ast.expr, function: ast.expr | str | None, a: ast.expr, b: ast.expr
    ) -> Expr:
        return super().contraction(node, function, self.factor(a), self.factor(b))

    def factor(self, node: ast.expr) -> ast.expr:
        """Return a factor, or the name that it gets."""
        if isinstance(node, ast.BinOp):
            is_computed = not isinstance(node.op, ast.MatMult)
        else:
            is_computed = isinstance(node, ast.UnaryOp)
        return self.loop.named_before(node) if is_computed else node

    @override
    def power(self, node: ast.BinOp) -> Expr:
        match node.right:
            case ast.Constant(value=int(n)) if n in SMALL:
                return super().power(node)
        if isinstance(node.left, ast.Subscript):
            read = super().power(node)
            if self.of_numbers:
                raise Unfit
            return read
        base = node.left
        if any(map(self.loop.makes_arrays, walk(base))):
            base = self.loop.named_before(base)
        return self.value(self.loop.number_before(replaced(node, left=base)))

    @override
    def call(self, node: ast.Call) -> Expr:
        if self.loop.is_of_numbers(node):
            return self.value(self.loop.number_before(node))
        if self.loop.copies(node.func):
            return self.copied(node)
        return super().call(node)

    def copied(self, node: ast.Call) -> Expr:
        """Read ``x.copy()`` or ``np.copy(x)``."""
        of = [node.func.value] if self.loop.is_method(node.func) else node.args  # type: ignore[attr-defined]
        if len(of) != 1 or node.keywords or (of is not node.args and node.args):
            raise Unfit
        return Op("pos", (self.value(of[0]),), place=place_of(node))

    @override
    def item(self, node: ast.Subscript) -> Name:
        if self.loop.is_of_list(node):
            return self.name(self.loop.number_before(node))
        return super().item(node)

    @override
    def index(self, node: ast.expr) -> ast.expr | None:
        return plain_index(node, self.names) or node

    @override
    def view(self, node: ast.expr, function: ast.expr | str) -> Name:
        if self.loop.is_of_list(node) or (isinstance(node, ast.Subscript) and takes(node.slice)):
            raise Unfit  # no view, but a copy
        return super().view(node, function)


def takes(index: ast.expr) -> bool:
    """Return True for an index that takes ints from an array."""
    return isinstance(index, ast.Subscript) and isinstance(index.slice, ast.Slice)
