"""Times of whole programs: gradients, forward derivatives and compiled gradients."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import programs
from benchmarks.memory import peak
from benchmarks.programs.program import Program
from benchmarks.timing import interleaved_medians
from mooncake_py import jvp, value_and_grad

__all__ = ["GROUPS", "ProgramTimes", "all_programs", "measure"]

GROUPS = ("objects", "scalars", "arrays", "callbacks")


@dataclass(frozen=True)
class ProgramTimes:
    """What one program costs.

    Parameters
    ----------
    name, group : str
    primal : float, in seconds
    gradient, jvp, compiled, auto : float or None
        Over the primal's time; `jvp` along the gradient.  None for what raises.
    first, first_compiled : float or None, in seconds
        The first call of the gradient.
    memory : float, in bytes
        The peak of the gradient beyond the primal's.
    problem : str
        What went wrong, empty if nothing did.
    """

    name: str
    group: str
    primal: float
    gradient: float | None
    jvp: float | None
    compiled: float | None
    first: float | None
    first_compiled: float | None
    memory: float
    problem: str = ""
    auto: float | None = None


def all_programs() -> Iterator[tuple[str, Program]]:
    """Yield the name of each program, and the program."""
    for found in pkgutil.iter_modules(programs.__path__):
        module = importlib.import_module(f"{programs.__name__}.{found.name}")
        if isinstance(vars(module).get("PROGRAM"), Program):
            yield found.name, module.PROGRAM


def measure(name: str, program: Program, budget: float) -> ProgramTimes:
    """Measure a program, for about `budget` seconds."""
    run, argnums = program.run, program.argnums
    ways = {
        "gradient": lambda: value_and_grad(run, argnums=argnums),
        "jvp": lambda: forward(program),
        "compiled": lambda: value_and_grad(run, argnums=argnums, compile=True),
        "auto": lambda: value_and_grad(run, argnums=argnums, compile="auto"),
    }
    candidates: dict[str, Callable[..., Any]] = {"primal": program.run}
    first: dict[str, float] = {}
    problems: list[str] = []
    for way, make in ways.items():
        # One that fails belongs in the table like any other result; the others still count.
        try:
            derivative = make()
            start = time.perf_counter()
            derivative(*program.arguments())
        except Exception as error:
            text = (str(error).splitlines() or [""])[0]
            problems.append(f"{way}: {type(error).__name__}: {text}")
            continue
        first[way] = time.perf_counter() - start
        candidates[way] = derivative
    times = interleaved_medians(candidates, program.arguments(), budget)
    ratios = {way: times[way] / times["primal"] for way in ways if way in times}
    peaks = [
        peak(candidates[way], program.arguments())
        for way in ("primal", "gradient")
        if way in candidates
    ]
    return ProgramTimes(
        name,
        program.group,
        times["primal"],
        ratios.get("gradient"),
        ratios.get("jvp"),
        ratios.get("compiled"),
        first.get("gradient"),
        first.get("compiled"),
        peaks[-1] - peaks[0],
        "; ".join(problems),
        ratios.get("auto"),
    )


def forward(program: Program) -> Callable[..., Any]:
    """Return the derivative of a program along its gradient, as a function of its arguments."""
    args = program.arguments()
    gradient = value_and_grad(program.run, argnums=program.argnums)(*args)[1]
    tangents: list[Any] = [None] * len(args)
    for k, part in zip(program.argnums, gradient, strict=True):
        tangents[k] = part
    return lambda *args: jvp(program.run, args, tuple(tangents))
