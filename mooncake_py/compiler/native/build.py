"""From printed text to functions."""

from __future__ import annotations

from typing import Any

from mooncake_py.compiler.native.emit import Printer
from mooncake_py.compiler.native.emit_expressions import GLOBALS
from mooncake_py.compiler.native.helpers import grow

__all__ = ["interpreted"]


def interpreted(printer: Printer) -> dict[str, Any]:
    """Return the functions that were printed, as plain Python runs them: slowly, for tests."""
    scope = {**GLOBALS, "grow": grow, **printer.scope}
    exec(compile(printer.text, "<native region>", "exec"), scope)
    return {name: scope[name] for name in printer.texts}
