"""Values and gradients of what all ranks compute together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from mooncake_py.derivatives import Derivative, Grad
from mooncake_py.errors import NestedDerivativeError, RankError
from mooncake_py.integrations.mpi4py.session import Session, is_running, over
from mooncake_py.modes.reverse.differentiate import run_both_ways, value_and_gradient
from mooncake_py.modes.reverse.settings import new_context, settings

if TYPE_CHECKING:
    from mooncake_py.boundary.arguments import Call
    from mooncake_py.modes.reverse.storage import Workspace
    from mooncake_py.runtime.mode import Mode

__all__ = ["DistributedGrad", "DistributedValueAndGrad"]


class DistributedValueAndGrad(Derivative):
    """Returned by :func:`value_and_grad` for a communicator."""

    name = "value and gradient over ranks"

    def __init__(self, *parts: Any, comm: Any, output: str) -> None:
        super().__init__(*parts)
        self.comm = comm
        self.output = output

    def __reduce__(self) -> Any:
        raise TypeError("a gradient over a communicator cannot be pickled: make it on each rank")

    def value_and_gradient(  # noqa: D102
        self, args: Any, kwargs: Any, workspace: Workspace | None = None
    ) -> tuple[Any, Any]:
        f, argnums, has_aux, debug = self._parts
        if is_running():
            raise NestedDerivativeError(
                "value_and_grad or grad with comm= inside another block over a communicator",
                why="the block says already which ranks take part",
                fix="leave comm= out there: the derivatives within the block are those of the "
                "sum over ranks",
            )

        def run(outer: Mode | None, debug: bool, call: Call) -> Any:
            ctx = new_context(settings(debug), call.f, call.args, call.kwargs)
            counts = self.output == "sum" or session.top.rank == 0
            return run_both_ways(ctx, call, counts)

        with over(self.comm) as session:
            result, gradient = value_and_gradient(f, argnums, has_aux, debug, args, kwargs, run)
            value, aux = result if has_aux else (result, None)
            session.end()
            value = self.combined(session, value)
        return (value, aux) if has_aux else value, gradient

    def combined(self, session: Session, value: Any) -> Any:
        """Return the value of all ranks together."""
        x = np.array([value], np.float64).reshape(1)
        if self.output == "sum":
            return like(value, session.reduced(x))
        pair = session.reduced(np.array([x[0], -x[0]]), MPI.MAX)
        if pair[0] != -pair[1] and not np.isnan(pair).all():
            raise RankError(
                f"with output='same', ranks returned {-pair[1]!r} and {pair[0]!r}",
                why="one number that all ranks return counts once; these are different numbers",
                fix="return the same reduced number on all ranks, or pass output='sum' for the "
                "sum of the returned numbers",
            )
        return value


class DistributedGrad(DistributedValueAndGrad):
    """Returned by :func:`grad` for a communicator."""

    name = "gradient over ranks"
    given_back = Grad.given_back


def like(value: Any, total: Any) -> Any:
    """Return a sum as what the function has returned: a float, or an array with one element."""
    if isinstance(value, np.ndarray):
        return total.reshape(value.shape).astype(value.dtype)
    return type(value)(total[0]) if isinstance(value, np.floating) else float(total[0])
