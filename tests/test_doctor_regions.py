"""Ten functions of `doctor`: each is compiled, and a wrong one is told."""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py import doctor_regions
from mooncake_py.compiler.native import form
from mooncake_py.doctor_regions import REGIONS, differences

pytest.importorskip("llvmlite")
pytestmark = [pytest.mark.plain, pytest.mark.without_modes("what is wrong is so on purpose")]


def test_all_are_as_without_compilation() -> None:
    assert differences() == []
    assert len(REGIONS) == 10


def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    built = form.LLVM.built

    def wrong(printer: Any) -> Any:
        found = built(printer)
        forward = found["forward"]

        def scaled(*args: Any) -> Any:
            return tuple([2 * y if type(y) is float else y for y in forward(*args)])

        return found | {"forward": scaled}

    def fails(printer: Any) -> Any:
        raise OSError("no code")

    monkeypatch.setattr(doctor_regions, "REGIONS", ("numbers", "lists"))
    monkeypatch.setattr(form, "COMPILER", form.LLVM._replace(built=wrong))
    assert [line.split(":")[0] for line in differences()] == ["numbers", "lists"]
    monkeypatch.setattr(form, "COMPILER", form.LLVM._replace(built=fails))
    found = differences()
    assert len(found) == 2
    assert all("no code" in line for line in found)
