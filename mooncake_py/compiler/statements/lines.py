"""Lines of the functions that run statements."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CHOOSE", "OTHERWISE", "attempt", "choosing", "function", "indented"]

CHOOSE, OTHERWISE = "    return choose(C, F, V)", "    return otherwise(C, F, V)"


def function(name: str, parameters: str, lines: Iterable[str]) -> str:
    """Return the text of a function."""
    return "\n    ".join([f"def {name}({parameters}):", *lines]) + "\n"


def choosing(wrong: list[str]) -> list[str]:
    """Return the lines that look for another form if one of some tests holds."""
    return [f"if {' or '.join(wrong)}:", CHOOSE] if wrong else []


def attempt(lines: list[str]) -> list[str]:
    """Return lines whose errors are left to the reference; what follows is in the ``else``."""
    return ["try:", *indented(lines), "except Exception:", "    pass", "else:"]


def indented(lines: list[str]) -> list[str]:
    """Return lines within a block."""
    return ["    " + line for line in lines]
