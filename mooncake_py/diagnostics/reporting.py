"""The protocol by which the engine reports errors to a call."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from mooncake_py.errors import DerivativeDropError, Location, MissingRuleError, MooncakeError

__all__ = ["Error", "Reporting", "dropped", "unsupported"]

Error = TypeVar("Error", bound=MooncakeError)


class Reporting(Protocol):
    """Whoever runs the user's code, as far as errors are concerned."""

    # The first error of the engine, raised again at the end of the call: user code that catches
    # everything must not turn it into a wrong answer.
    failure: MooncakeError | None

    # Remember an error of the engine and return it, to be raised.
    def failed(self, error: Error) -> Error: ...
    # Return the place in the user's source that is being run; None if there is none.
    def user_location(self) -> Location | None: ...
    # Tell whether a value is active, or holds something active at any depth.
    def contains_active(self, value: Any) -> bool: ...


def dropped(ctx: Reporting, what: str, *, why: str, fix: str) -> DerivativeDropError:
    """Return the error for a derivative that would be lost; the call remembers it."""
    return ctx.failed(DerivativeDropError(what, where=ctx.user_location(), why=why, fix=fix))


def unsupported(ctx: Reporting, what: str, *, why: str, fix: str) -> MissingRuleError:
    """Return the error for what no rule covers; the call remembers it."""
    return ctx.failed(MissingRuleError(what, where=ctx.user_location(), why=why, fix=fix))
