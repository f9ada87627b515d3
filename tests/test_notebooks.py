"""The notebooks of the examples run; so do functions of cells, whose names are in messages."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
# In a process of its own: kernels leave sockets and event loops behind.
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.reads(sys.stdin.read(), 4)
NotebookClient(book, timeout=300, allow_errors=True).execute()
print(nbformat.writes(book))
"""
CELLS = [
    """\
import numpy as np
from mooncake_py import grad, show

def energy(u):
    u[1:-1] += u[2:] + u[:-2]
    return np.sum(u * u)

grad(energy)(np.ones(3))""",
    """\
def refused(x):
    y = 2.0 * x
    return np.frombuffer(y).sum()

grad(refused)(np.ones(3))""",
    """\
def wrong(x):
    return x / np.ones(7)

grad(wrong)(np.ones(3))""",
    """\
%%time
grad(lambda x: x**2)(3.0)""",
    """\
%timeit -n 1 -r 1 grad(lambda x: x**2)(3.0)""",
]


def executed(book: dict[str, Any]) -> list[str]:
    """Execute a notebook, and return what each of its cells of code puts out, as text."""
    for package in ("ipykernel", "nbclient", "nbformat"):
        pytest.importorskip(package)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    finished = subprocess.run(
        [sys.executable, "-c", EXECUTE],
        input=json.dumps(book),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stderr
    cells = json.loads(finished.stdout)["cells"]
    return ["\n".join(map(text_of, c["outputs"])) for c in cells if c["cell_type"] == "code"]


def text_of(output: dict[str, Any]) -> str:
    """Return the text of an output, without the colours of a traceback."""
    if output["output_type"] == "error":
        return re.sub(r"\x1b\[[\d;]*m", "", "Traceback\n" + "\n".join(output["traceback"]))
    return "".join(output.get("text") or output["data"]["text/plain"])


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path) -> None:
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    outputs = executed(json.loads(notebook.read_text(encoding="utf-8")))
    assert "Traceback" not in "\n".join(outputs)
    assert "Figure" in "\n".join(outputs)


@pytest.mark.slow
def test_functions_of_cells_are_differentiated_and_messages_name_their_cells() -> None:
    cells = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "execution_count": None,
         "outputs": [], "source": text}
        for number, text in enumerate(CELLS)
    ]  # fmt: skip
    right, refused, wrong, measured, looped = executed(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    )
    assert right == "array([8., 6., 8.])"
    assert "where: cell In[2], line 3 in refused\n" in refused
    assert "^^^^^^" in refused
    assert "at cell In[3], line 2 in wrong\n" in wrong
    assert "6.0" in measured
    assert "without %timeit" in looped
    assert not re.search(r"ipykernel_\d+", refused + wrong)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if "outputs" in c)
