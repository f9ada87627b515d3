"""Copies of structures, and whether they hold numbers, in plain calls and in derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.rules.declare import contextual

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["copied", "holds_numbers"]


def copied(value: Any) -> Any:
    """Return a copy of a value, with arrays in new memory."""
    # Only for those who use it.
    from mooncake_py.boundary.inner_outputs import Apart

    return Apart(None).copy(value)


@contextual(copied)
def copied_inside(ctx: Mode, value: Any) -> Any:
    """Copy a value inside a derivative."""
    from mooncake_py.boundary.inner_outputs import Apart

    return Apart(ctx).copy(value)


def holds_numbers(value: Any) -> bool:
    """Return whether a value of any other type holds numbers that can have a derivative."""
    return holds_numbers_inside(None, value)


@contextual(holds_numbers)
def holds_numbers_inside(ctx: Mode | None, value: Any) -> bool:
    """Return the answer inside a derivative."""
    from mooncake_py.boundary.inner_outputs import Leaves

    leaves = Leaves(ctx)
    leaves.visit(value)
    return bool(leaves.found)
