"""Pullbacks to parameters, which a function does not take as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.application.copying import copy_jointly
from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outgoing import independent
from mooncake_py.boundary.outputs import run, seed
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import PullbackReuseError
from mooncake_py.modes.reverse.settings import new_context, settings
from mooncake_py.runtime.compilation import Compile, compiles, using
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.tangents.equality import value_mismatch
from mooncake_py.tangents.subclasses import plain_parts
from mooncake_py.utilities.parameters import Grads, Params

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["PullbackToParameters"]


class PullbackToParameters:
    """The pullback of ``f(*args)`` with respect to parameters.

    `vjp` copies its arguments, but parameters cannot be copied, because the function reads the
    originals.  So the forward pass is undone at once, and the pullback runs it again.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], params: Params) -> None:
        self.f = f
        self.args = args
        self.params = params
        self.settings = settings()
        self.compiles: Compile = compiles()

    def start(self) -> tuple[Any, Callable[[Any], Grads]]:
        """Return the output and the pullback."""
        self.before = copy_jointly((self.args, tuple(self.params)))
        y, _ = self.differentiate(independent)
        return y, self

    def __call__(self, cotangent: Any) -> Grads:
        """Return the gradients of the parameters for a cotangent of the output."""
        cotangent = copy_jointly(cotangent, share_others=True)  # the function may write to it

        def reverse(ctx: ReverseMode, output: Any) -> None:
            seed(ctx, output, cotangent, "dy")
            ctx.run_backwards()

        with boundary, using(self.compiles):
            self.require_unchanged()
            _, trees = self.differentiate(reverse)
            memo: dict[int, Any] = {}
            pairs = zip(self.params, trees, strict=True)
            return Grads(self.params, [gradient_of(v, m, memo) for v, m in pairs])

    def differentiate(self, finish: Callable[[Any, Any], Any]) -> tuple[Any, list[Any]]:
        """Run forward and finish; return the result and the nodes of the parameters.

        All changes are undone before this returns.
        """
        values = tuple(self.params)
        ctx = new_context(self.settings, self.f, (*self.args, *values), {})
        with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
            trees = [lifter.visit(value)[1] for value in values]
            output = plain_parts(run(ctx, self.f, self.args, {}))
            lifter.settle(ctx.tape)
            result = finish(ctx, output)
            ctx.roll_back()
        return result, trees

    def require_unchanged(self) -> None:
        """Raise if parameters or arguments have changed since the forward pass."""
        found = value_mismatch(self.before, (self.args, tuple(self.params)))
        if found is not None:
            raise PullbackReuseError(
                "a parameter or an argument was changed since the forward pass",
                why="the pullback runs the function again, which finds the parameters by itself",
                fix="call the pullback before the parameters are updated",
            )
