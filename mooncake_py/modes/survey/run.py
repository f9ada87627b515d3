"""The refusals of a derivative of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.apart import guard
from mooncake_py.boundary.arguments import ArgNums, Call
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outputs import run as run_forward
from mooncake_py.boundary.outputs import value_and_copy
from mooncake_py.errors import MooncakeError
from mooncake_py.modes.reverse.differentiate import value_and_gradient
from mooncake_py.modes.survey.context import SurveyContext
from mooncake_py.runtime.active import active_number

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["survey"]


def survey(
    f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[MooncakeError]:
    """Return the refusals of a derivative of ``f(*args, **kwargs)``, in the order of the run.

    What the function raises by itself ends the run, and is raised.
    """
    found: dict[str, MooncakeError] = {}

    def forward(outer: Mode | None, debug: bool, call: Call) -> tuple[Any, Any]:
        ctx = SurveyContext()
        guard(ctx)
        ctx.refusals = found
        with Lifter(ctx) as lifter, guarded(ctx):
            args, kwargs, trees = call.lift(lifter)
            ctx.anchor = active_number(0.0, ctx)
            value_and_copy(ctx, call, run_forward(ctx, call.f, args, kwargs))
            ctx.roll_back()
        return None, tuple(trees)

    try:
        value_and_gradient(f, argnums, False, False, args, kwargs, by=forward)
    except MooncakeError as error:
        found.setdefault(str(error), error)
    return list(found.values())
