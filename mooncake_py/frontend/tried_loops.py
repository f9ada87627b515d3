"""Loops that are tried as text of NumPy before they run statement by statement.

The code of a trial is that of `compiled_loops`.  What a loop runs over is evaluated before, if that
is a range: it tells whether the loop is long enough for a trial.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.frontend.compiled_loops import PrintedLoops, is_range
from mooncake_py.frontend.outputs import OutputRewriter
from mooncake_py.syntax.compiled import FunctionNode
from mooncake_py.syntax.nodes import PREFIX, assign, forget, load, place_of, replaced, store

__all__ = ["LoopRewriter"]


class LoopRewriter(OutputRewriter):
    """Loops as a whole."""

    root: FunctionNode  # the function that is rewritten
    printed: PrintedLoops | None = None
    ranges = 0  # that have become names

    def tried_loop(self, node: ast.For | ast.While, plain: Any) -> Any:
        """Return code that tries a loop and then runs it plainly, or `plain` if it cannot be one.

        Parameters
        ----------
        node : For or While
            As it is in the function.
        plain : For or While
            Rewritten.
        """
        loop = None if self.printed is None else self.printed.loop(node)
        if self.printed is None or loop is None:
            return plain
        if isinstance(node, ast.While) or not is_range(node.iter):
            return self.printed.tried(loop, node, [plain], "", self.injected)
        place = place_of(node.iter)
        steps = f"{PREFIX}steps{self.ranges}"
        self.ranges += 1
        named = assign(store(steps, place), plain.iter, place)
        plain = replaced(plain, iter=load(steps, place))
        counted = self.names.calls_builtin(node.iter, "range")
        tried = self.printed.tried(loop, node, [plain], steps, self.injected, counted)
        return [named, *tried, forget([steps], place)]
