"""Printers that are wrong on purpose: LLVM refuses their code, or random regions find them."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions.region import NativeRegion
from tests.compiler.native.llvm.kernels import Memory, kernels_of
from tests.compiler.native.llvm.random_sweeps import printed, run
from tests.compiler.native.llvm.sabotage import Place, Sabotage, places_noted, sabotaged
from tests.compiler.native.random_regions import SIZE, random_region

pytest.importorskip("llvmlite")

LENGTHS = (SIZE, 32, 41, 36)
"""Elements of an axis: longer ones are added up in several parts, with a rest or without."""
SECONDS = 10
"""After which a child is taken to run for ever."""
MOST = 40
"""Regions that are tried with one sabotage."""

# What nothing can find, as the result is the same; each with the function of the printer.
SAME = {
    ("counted", "icmp", "one more"): "no loop that is written down has no pass",
    ("kept", "icmp", "equals"): "no array here has no elements",
    ("kept", "icmp", "one more"): "no array here has no elements",
    ("count", "sext", "zext"): "codes of what is counted are above zero",
    ("kept", "store", "left out"): "a function that has no memory is left",
    ("converted", "zext", "sext"): "a truth that is saved is only compared with zero",
    ("stepped", "sub", "one more"): "only a step that is written down, which goes up",
    ("new", "icmp", "negated"): "no array here has less than no elements",
    ("new", "icmp", "equals"): "no array here has no elements",
    ("new", "icmp", "one more"): "no array here has no elements",
    ("new", "select", "sides"): "no array here has less than no elements",
    ("half_power", "and", "or"): "both ways give the same up to the last bits of tiny numbers",
    ("stepped", "icmp", "equals"): "a step of zero was refused before",
    ("guarded", "fcmp", "swapped"): "`x == 0` is `0 == x`",
    ("is_nan", "fcmp", "swapped"): "nan compares with zero in both orders",
    ("room", "icmp", "equals"): "grows a moment earlier",
    ("room", "icmp", "unsigned"): "no length is below zero",
    ("kept", "icmp", "unsigned"): "no array here has less than no elements",
    ("new", "icmp", "unsigned"): "no array here has less than no elements",
    ("in_parts", "icmp", "unsigned"): "no loop here has less than no passes",
    ("half_power", "fcmp", "nan"): "nan fails the other one of the two tests",
    ("converted", "sitofp", "uitofp"): "no int that becomes a float here is below zero",
}

UNSEEN = {"listen"}
"""Functions of the printer for what regions here do not meet: signals."""


class Inputs(NamedTuple):
    """What a region is given.

    Attributes
    ----------
    seed : int
    odd : bool
    left : int or None
        How many pieces of memory there are, None for any number.
    """

    seed: int
    odd: bool = False
    left: int | None = None


INPUTS = (
    *(Inputs(seed) for seed in range(4)), Inputs(4, odd=True), Inputs(5, odd=True),
    Inputs(0, left=0), Inputs(0, left=1), Inputs(0, left=2), Inputs(0, left=4),
)  # fmt: skip


class Case(NamedTuple):
    """A random region, and what its kernels compute and do with memory."""

    seed: int
    found: list[list[Any]]


def length_of(seed: int) -> int:
    """Return the length of the axes of a region."""
    return LENGTHS[seed // 2 % 4]


def made(seed: int) -> tuple[NativeRegion, Any, Any]:
    """Return a random region, its printer, and its sweeps."""
    _, found = random_region(seed, 6 + seed % 8, length_of(seed), hard=seed % 2 == 1)
    active = {n for n in found.kinds if found.kinds[n] == "float"}
    return found, *printed(Printer, found, active)


def outcomes(seed: int, found: NativeRegion, printer: Any, sweeps: Any) -> Iterator[list[Any]]:
    """Yield the results of a region's kernels for each input."""
    memory = Memory()
    kernels = kernels_of(printer.text, printer.functions, memory, 0)
    for inputs in INPUTS:
        memory.left, memory.given = inputs.left, 0
        try:
            with np.errstate(all="ignore"):
                values = run(kernels, found, sweeps, inputs.seed, length_of(seed), odd=inputs.odd)
        except ArithmeticError as error:  # the reverse sweep was left
            values = [*error.args]
        yield [*values, *memory.faults, memory.given, len(memory.pieces)]
        memory.faults.clear()


def same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    if np.asarray(a).dtype == bool:  # of which each has one byte
        return np.asarray(a).tobytes() == np.asarray(b).tobytes()
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


def are_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def finds(case: Case, sabotage: Sabotage | None) -> bool:
    """Return whether a region finds a sabotage, in a process of its own that may die of it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            faulthandler.disable()
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            code = int(is_other(case, sabotage))
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def is_other(case: Case, sabotage: Sabotage | None) -> bool:
    """Return whether kernels of a region do something else if the printer is broken."""
    if sabotage is None:
        parts = made(case.seed)
        parts[1].text  # noqa: B018 (writes what is left out so far)
    else:
        with sabotaged(sabotage):
            parts = made(case.seed)
            parts[1].text  # noqa: B018
    try:
        return not all(map(are_same, outcomes(case.seed, *parts), case.found))
    except Exception:
        return True


def sabotages(seeds: range) -> tuple[dict[Sabotage, list[Case]], list[Case]]:
    """Return possible breaks of the printing of regions, with the regions that would show them."""
    where: dict[Sabotage, list[Case]] = defaultdict(list)
    cases = []
    for seed in seeds:
        with places_noted() as notes:
            found, printer, sweeps = made(seed)
            printer.text  # noqa: B018
        cases.append(Case(seed, list(outcomes(seed, found, printer, sweeps))))
        for sabotage in notes:
            where[sabotage].append(cases[-1])
    return where, cases


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each runs in a process that may die")
def test_random_regions_find_broken_printers() -> None:
    where, cases = sabotages(range(120))
    assert not finds(cases[0], None)
    changing = [(s, known) for s, known in where.items() if not is_same_anyway(s)]
    assert len(changing) >= 200
    unfound = [s for s, known in changing if not any(finds(case, s) for case in known[:MOST])]
    assert unfound == []


def is_same_anyway(sabotage: Sabotage) -> bool:
    """Return whether a change of the printer changes nothing that can be seen."""
    place: Place = sabotage.place
    return place.function in UNSEEN or (place.function, place.opcode, sabotage.change) in SAME


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
