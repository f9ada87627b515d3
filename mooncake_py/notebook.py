"""IPython's knowledge of the cells of a notebook: their names, and the text of measured ones.

IPython is not imported: where it runs, it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["MEASURED", "MEASURED_WITHOUT_TEXT", "files_of_cells", "measured_texts", "name_of_cell"]

MEASURED = ("<timed exec>", "<timed eval>")
"""The files in whose names IPython compiles what ``%time`` and ``%%time`` measure."""

MEASURED_WITHOUT_TEXT = "<magic-timeit>"
"""The same for ``%timeit``: its text stands within a loop of IPython's."""


def name_of_cell(file: str) -> str | None:
    """Return the name ("cell In[3]") of the cell that was compiled as a file; None if none was."""
    compiler = getattr(_shell(), "compile", None)
    names = getattr(compiler, "format_code_name", None)
    found = None if names is None else names(file)
    return None if found is None else f"cell {found[1]}"


def files_of_cells() -> list[str]:
    """Return the names under which IPython compiled the cells, the latest first."""
    names = getattr(getattr(_shell(), "compile", None), "_filename_map", {})
    return list(reversed(names))


def measured_texts() -> Iterator[str]:
    """Yield the sources that ``%time`` and ``%%time`` may have measured, the latest first."""
    shell = _shell()
    if shell is None:
        return
    for cell in reversed(shell.history_manager.input_hist_raw):
        first, _, rest = cell.lstrip().partition("\n")
        if first.startswith("%%time"):
            yield shell.transform_cell(rest)
        for line in cell.splitlines():
            _, found, measured = line.partition("%time ")
            if found:
                yield measured


def _shell() -> Any:
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
