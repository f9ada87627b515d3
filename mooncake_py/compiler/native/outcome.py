"""The outcome of compiling a function or a loop, and how a report shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["COMPILED", "NOT_COMPILED", "Outcome", "grouped"]

COMPILED = "compiled"
NOT_COMPILED = "not compiled"


@dataclass(frozen=True)
class Outcome:
    """The outcome of compiling a function or a loop.

    Attributes
    ----------
    where : str
        Its name, and the file and line of its definition.
    found : str
        ``"compiled"``, ``"not compiled"``, or how it runs otherwise.
    why : str
        Why it was not compiled, else empty.
    line : int or None
        The line that prevented compilation, if one did.
    """

    where: str
    found: str
    why: str = ""
    line: int | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}"
        return ": ".join(filter(None, [self.where, self.found, line, self.why]))


def grouped(outcomes: Iterable[Outcome]) -> list[str]:
    """Return lines that show outcomes by reason.

    Code that was not compiled comes first, the most frequent reason at its head; compiled code
    comes last.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.found, outcome.why), []).append(outcome)
    lines: list[str] = []
    for (found, why), members in sorted(groups.items(), key=order):
        lines.append(f"{found}: {why}" if why else found)
        lines += [f"    {in_group(member)}" for member in members]
    return lines


def order(group: tuple[tuple[str, str], list[Outcome]]) -> tuple[bool, bool, int]:
    """Return the key by which groups are ordered."""
    (found, _), members = group
    return found == COMPILED, found != NOT_COMPILED, -len(members)


def in_group(outcome: Outcome) -> str:
    """Return the line of an outcome below its reason."""
    return outcome.where if outcome.line is None else f"{outcome.where}, line {outcome.line}"
