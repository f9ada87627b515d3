"""Whether a derivative leaves random state, warnings and error state as the plain call does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.support.modes.problem import ModeError, Problem
from tests.support.plain_results import outside_state, restored, set_outside_state

__all__ = ["taken_as_plain"]


def taken_as_plain(problem: Problem, take: Callable[[], Any]) -> Any:
    """Take a derivative, which may change only what the function itself changes."""
    before = outside_state()
    found = take()
    after = outside_state()
    if after != before:
        with restored():
            set_outside_state(before)
            problem.f(*copy.deepcopy(problem.args))
            expected = outside_state()
        if after != expected:
            raise ModeError("random state, warnings or error state are not as after a plain call")
    return found
