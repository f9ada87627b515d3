"""The scripts of the gallery run, check themselves, and stand on the page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from examples.gallery.__main__ import EXTRAS, NAMES

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "examples" / "gallery"
PICTURES = ROOT / "docs" / "gallery"
LARGEST = 60_000  # bytes of a picture in the repository


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_script_runs_and_checks_itself(name: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    picture = tmp_path / f"{name}.png"
    # The package may be installed or not: the repository is on the path in any case.
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    finished = subprocess.run(
        [sys.executable, str(GALLERY / f"{name}.py"), str(picture)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=600 if name in EXTRAS else 120,
    )
    assert finished.returncode == 0, finished.stderr
    assert "times as long" in finished.stdout
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("name", NAMES)
def test_page_has_command_output_and_picture(name: str) -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert f"[{name}.py](../examples/gallery/{name}.py)" in page
    assert f"python examples/gallery/{name}.py\n" in page
    _, _, rest = page.partition(f"<!-- output: {name} -->\n```text\n")
    assert "times as long" in rest.partition("```")[0], "run python -m examples.gallery"
    assert f"(gallery/{name}.png)" in page
    assert (PICTURES / f"{name}.png").stat().st_size < LARGEST
