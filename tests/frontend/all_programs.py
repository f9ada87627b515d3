"""The programs of all modules."""

from __future__ import annotations

from tests.frontend import (
    condition_programs,
    definition_programs,
    failing_programs,
    flow_programs,
    programs,
)
from tests.frontend.cases import CASES

__all__ = ["CASES", "FILES"]

MODULES = (
    programs, flow_programs, definition_programs, condition_programs, failing_programs,
)  # fmt: skip
FILES = tuple(str(module.__file__) for module in MODULES)
