"""The list of functions with rules, by family, and the kind of each rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import RefusedRule, Rule, ZeroDerivativeRule, function_name

__all__ = ["Entry", "entries", "table"]


OWN = ("mooncake_py.rules", "mooncake_py.solvers", "mooncake_py.integrations")

FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "integrations")


class Entry(NamedTuple):
    """A function with a rule: the file that declares it, the function, how it is declared."""

    family: str
    name: str
    declaration: str


def entries() -> list[Entry]:
    """Return an entry for each function with a rule, sorted; without the parts of overlays."""
    return sorted(
        {
            Entry(family(rule), function_name(function), declaration(rule))
            for function, rule in registry.registered()
            if not is_part(function)
        }
    )


def family(rule: Rule) -> str:
    """Return the name of the file that declares a rule, with the folder inside this package."""
    file = Path(rule.origin.file)
    for folder in FOLDERS:
        if folder in file.parents:
            return ".".join(file.relative_to(folder).with_suffix("").parts)
    return file.stem


def declaration(rule: Rule) -> str:
    """Return the declaration that made a rule, and its reason if it states one."""
    because = ""
    if isinstance(rule, ZeroDerivativeRule):
        because = rule.because
    elif isinstance(rule, RefusedRule):
        because = rule.why
    return f"{rule.declaration}: {because}" if because else rule.declaration


def is_part(function: Any) -> bool:
    """Return whether a function belongs to this package: overlays are written in terms of them."""
    return str(getattr(function, "__module__", "")).startswith(OWN)


def table() -> Iterator[str]:
    """Yield the lines of a table of all entries, a section for each family."""
    found = entries()
    width = max(len(entry.name) for entry in found)
    for family, members in groupby(found, key=lambda entry: entry.family):
        yield family
        for entry in members:
            yield f"    {entry.name:{width}}  {entry.declaration}"
