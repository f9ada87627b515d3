"""Regions of tests by LLVM instead of plain Python, where MOONCAKE_TEST_LLVM is set.

Text that is wrong ends the process: `pytest -x` shows in which test.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.machine.built import Work
from mooncake_py.compiler.native.machine.levels import QUICK

__all__ = ["install"]


def install() -> None:
    """Put LLVM in the place of plain Python, if that is wanted."""
    if os.environ.get("MOONCAKE_TEST_LLVM"):
        form.INTERPRETED = form.Compiler(form.LLVM.printer, built_quickly)
        form.COMPILER = form.LLVM


def built_quickly(printer: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed, at the quick level."""
    work = Work(printer)
    return work.entries(work.kept(QUICK) or work.made(QUICK))[0]
