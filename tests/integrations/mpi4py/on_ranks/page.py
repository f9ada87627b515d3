"""The programs of the page on several machines."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

from mpi4py import MPI

PAGE = Path(__file__).parents[4] / "docs" / "distributed.md"


def check_the_programs_run(comm: MPI.Intracomm) -> None:
    """Run the programs of the page one after the other, from a file, as their source is read."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    programs = [block for block in blocks if ">>>" not in block and "mpi4py" in blocks[0]]
    assert len(programs) >= 3
    code = "\n".join(programs)
    names: dict[str, object] = {"__name__": "page"}
    file = "<the page>"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    exec(compile(code, file, "exec"), names)
    comm.Barrier()
