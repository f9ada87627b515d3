"""Sources of functions whose code does not say which file it is from.

Functions that are pickled by value arrive as copies of their code: the file may be on another
machine, and cloudpickle writes ``<dynamic-code>`` in place of its name.  So the sources that came
with derivatives are kept here, and :mod:`source` looks in all of them for the one that compiles to
the instructions of the copy.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mooncake_py.notebook import files_of_cells

__all__ = ["Text", "carry", "texts_to_search"]


class Text(NamedTuple):
    """The lines of a file, under the name that it has where it was written."""

    file: str
    lines: tuple[str, ...]


_carried: dict[Text, None] = {}


def carry(file: str, lines: list[str]) -> None:
    """Keep a text that another process sent."""
    _carried[Text(file, tuple(lines))] = None


def texts_to_search(globals_: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the sources that a copied function may be from.

    Those that were sent come first; then the script that the global variables of the copy name, for
    workers with the same files; then the cells of this notebook, for copies made in it.
    """
    yield from reversed(list(_carried))
    for file in (globals_.get("__file__"), *files_of_cells()):
        if isinstance(file, str) and (lines := linecache.getlines(file)):
            yield Text(file, tuple(lines))
