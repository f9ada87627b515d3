"""The example of a plate on several processes runs, and has the gradient of one process."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.integrations.mpi4py.launch import NEEDS_MPI, ROOT, run_on_ranks

EXAMPLE = ROOT / "examples" / "heat_mpi.py"


def number(before: str, text: str) -> float:
    found = re.search(before + r"\s*([-+.e\d]+)", text)
    assert found is not None, f"{before!r} is not in:\n{text}"
    return float(found.group(1))


@NEEDS_MPI
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_plate_is_recovered(ranks: int, tmp_path: Path) -> None:
    picture = tmp_path / "plates.png"
    text = run_on_ranks(ranks, str(EXAMPLE), "--quick", "--plot", str(picture), seconds=100)
    assert number("largest relative difference", text) < 1e-12
    assert number("recovered initial state:", text) < 45.0
    assert picture.exists() == bool(find_spec("matplotlib"))
    assert f"{ranks} processes" in text
