"""Lines of the functions that run statements."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CHOOSE",
    "OTHERWISE",
    "attempt",
    "choosing",
    "function",
    "indented",
    "mute",
    "raised",
    "watched",
]

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


def watched(write: list[str], *arrays: str) -> list[str]:
    """Return lines that write in place, and keep an error that NumPy raises afterwards.

    The first of the arrays is written, the others are operands.
    """
    return [
        "late = None", "try:", *indented(write), "except Exception as error:",
        f"    late = late_error(C, error, {', '.join(arrays)})",
    ]  # fmt: skip


def raised() -> list[str]:
    """Return the lines that raise what `watched` has kept."""
    return ["if late is not None:", "    raise late"]


def indented(lines: list[str]) -> list[str]:
    """Return lines within a block."""
    return ["    " + line for line in lines]


def mute(lines: list[str]) -> list[str]:
    """Return lines that run without warnings of NumPy; they name what `quiet.BY_NAME` has."""
    return [
        "before = setting()", "try:", *indented(["quiet()", *lines]), "finally:",
        "    loud_again(before)",
    ]  # fmt: skip
