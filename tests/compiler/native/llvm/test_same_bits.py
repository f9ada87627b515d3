"""Random regions that are printed as they are written give the bits that interpreting gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.native.sweeps.tangent import tangent
from tests.compiler.native.llvm.as_written import print_as_written
from tests.compiler.native.llvm.kernels import Memory, kernels
from tests.compiler.native.llvm.random_sweeps import printed, run
from tests.compiler.native.random_regions import random_region, random_values
from tests.support.interpreted import PLAIN

pytest.importorskip("llvmlite")

CHAOTIC = 302549, 304662, 306034, 304484, 305658
"""Regions that multiply a rounding error by a million and more: where the order of sums is another
one they differ in the ninth digit."""


def outcome(made: Any, *given: Any, **options: Any) -> list[Any]:
    """Return the results of sweeps."""
    with np.errstate(all="ignore"):
        try:
            return run(made, *given, **options)
        except ArithmeticError:
            return ["left"]


def bits(found: Any) -> np.ndarray:
    """Return the bits of numbers, of those that are nan the same ones."""
    a = np.atleast_1d(np.asarray(found))
    if a.dtype.kind != "f":
        return a
    return np.where(np.isnan(a), np.nan, a).view(np.int64)


def values_of(found: NativeRegion, names: dict[str, str], seed: int, length: int) -> dict[str, Any]:
    """Return values for a region and for the tangents of its inputs."""
    rng = np.random.default_rng(seed)
    values = random_values(seed, length, odd=seed % 7 == 0)
    for name, t in names.items():
        if name in values:
            noise = rng.normal(size=np.shape(values[name]))
            values[t] = noise if noise.ndim else float(noise)
    return values


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize(
    "seeds",
    [
        range(4),
        pytest.param(range(100, 145), marks=pytest.mark.slow),
        pytest.param(CHAOTIC, marks=pytest.mark.slow),
    ],
)
def test_random_regions(seeds: range, second: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    print_as_written(monkeypatch)
    for seed in seeds:
        length = (6, 6, 6, 13, 41)[seed % 5]
        text, found = random_region(seed, 6 + seed % 12, length, hard=seed % 2 == 1)
        active = {m for m in found.kinds if found.kinds[m] == "float"}
        names: dict[str, str] = {}
        if second:
            found, names = tangent(found, active_parts(found.body, {"x", "m", "a"}, {}))
            active = active_parts(found.body, {"x", "y", "a", *names.values()}, {})
        values = values_of(found, names, seed, length)
        memory = Memory()
        ours, sweeps = printed(Printer, found, active)
        plain, _ = printed(PLAIN.printer, found, active)
        got = outcome(kernels(ours, memory, level=0), found, sweeps, seed, values=values)
        expected = outcome(PLAIN.built(plain), found, sweeps, seed, values=values)
        memory.check()
        if got[0] is False:  # with another code
            assert expected[0] is False
            continue
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_array_equal(bits(a), bits(b), err_msg=f"seed {seed}:\n{text}")
