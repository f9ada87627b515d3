"""Peaks of memory: a gradient takes little more than the bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import compiled_memory, report
from benchmarks.memory import CASES, MEMORY_LIMIT, Memory, bytes_of


@pytest.mark.sampled(2)
@pytest.mark.without_modes("takes minutes where compiled functions run as plain Python", "compiled")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_peak_of_a_gradient_is_near_what_its_adjoint_needs(case: Memory) -> None:
    measured, counted = bytes_of(case)
    assert measured <= MEMORY_LIMIT * counted


def test_row_marks_what_is_above_its_limit() -> None:
    assert report.memory_row(CASES[0], 1_400_000, 1_000_000).endswith("1.40!")
    assert report.memory_row(CASES[0], 1_200_000, 1_000_000).endswith("1.20 ")


def test_row_of_a_compiled_gradient() -> None:
    line = compiled_memory.memory_row(CASES[0], 1_500_000, 1_000_000)
    assert line.endswith("1.50")
    assert CASES[0].kernel in line


@pytest.mark.slow
def test_peak_of_a_compiled_gradient() -> None:
    pytest.importorskip("llvmlite")
    if not compiled_memory.is_measurable():
        pytest.skip("the operating system does not tell peaks")
    large = replace(CASES[0], size=1200)  # other memory of the process is small in comparison
    measured, counted = compiled_memory.compiled_bytes_of(large)
    assert 0.9 * counted <= measured <= 1.5 * counted
