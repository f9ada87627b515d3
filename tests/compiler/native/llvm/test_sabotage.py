"""Texts that are wrong on purpose: LLVM refuses them, or random regions find them."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from tests.compiler.native.llvm.kernels import Memory, kernels_of
from tests.compiler.native.llvm.random_sweeps import printed, run
from tests.compiler.native.random_regions import random_region

pytest.importorskip("llvmlite")

# What a line does, and what it does after somebody was careless.
CARELESS = (
    ("fadd double", "fsub double"), ("fsub double", "fadd double"), ("fmul double", "fadd double"),
    ("fdiv double", "fmul double"), ("fcmp oeq", "fcmp une"), ("fcmp olt", "fcmp oge"),
    ("fcmp ogt", "fcmp ole"), ("fneg double", "fadd double 1.0,"),
    ("call double @llvm.sin", "call double @llvm.cos"),
    ("call double @llvm.exp", "call double @llvm.fabs"),
)  # fmt: skip


def broken(text: str, seed: int) -> str | None:
    """Return a text with one line that does something else; None if no line can."""
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines) if line.startswith("define i32")]
    places = [
        (k, what, other)
        for k, line in enumerate(lines)
        for what, other in CARELESS
        if k > heads[0] and f"= {what}" in line
    ]
    if not places:
        return None
    k, what, other = random.Random(seed).choice(places)
    lines[k] = lines[k].replace(f"= {what}", f"= {other}", 1)
    declares = {
        name: f"declare double @llvm.{name}.f64(double)"
        for name in ("cos", "fabs")
        if f"@llvm.{name}.f64" in lines[k]
    }
    missing = [text_ for name, text_ in declares.items() if f"@llvm.{name}.f64(double)" not in text]
    return "\n".join([*missing, *lines])


def differs(found: Any, sweeps: Any, good: Any, bad: Any) -> bool:
    """Return True if two sets of sweeps compute something else for one of some inputs."""
    for seed in range(6):
        with np.errstate(all="ignore"):
            first, second = (run(made, found, sweeps, seed) for made in (good, bad))
        if len(first) != len(second):
            return True
        if not all(map(same, first, second)):
            return True
    return False


def same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_random_regions_find_what_is_wrong(count: int) -> None:
    tried = found_out = 0
    seed = 0
    while tried < count:
        seed += 1
        _, found = random_region(seed, 6 + seed % 8)
        active = {n for n in found.kinds if found.kinds[n] == "float"}
        printer, sweeps = printed(Printer, found, active)
        text = broken(printer.text, seed)
        if text is None:
            continue
        tried += 1
        good = kernels_of(printer.text, printer.functions, Memory(), 0)
        bad = kernels_of(text, printer.functions, Memory(), 0)
        found_out += differs(found, sweeps, good, bad)
    # Others are on sides that are not taken, among them sums of more numbers than there are here.
    assert found_out >= 0.55 * count


WRONG = (
    (r"= fadd double (%t\d+), (%t\d+)", r"= fadd float \1, \2"),
    (r"br label %(\w+)", r"br label %nowhere"),
    (r"store double (%t\d+)", r"store double %never"),
    (r"phi i64 \[ 0,", r"phi double [ 0,"),
    (r"ret i32 0", r"ret i64 0"),
    (r"= icmp slt i64", r"= icmp slt double"),
)


@pytest.mark.parametrize(("what", "other"), WRONG)
def test_llvm_refuses_what_makes_no_sense(what: str, other: str) -> None:
    _, found = random_region(3, 12)
    printer, _ = printed(Printer, found, {"x", "a"})
    text, count = re.subn(what, other, printer.text, count=1)
    assert count
    with pytest.raises(RuntimeError, match="LLVM IR"):
        kernels_of(text, printer.functions, Memory(), 0)
