"""Times of whole programs: gradients, forward derivatives and compiled gradients."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    gradient, jvp, compiled : float or None
        Over the primal's time; `jvp` along one direction.  None for what raises.
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


def all_programs() -> Iterator[tuple[str, Program]]:
    """Yield the name of each program, and the program."""
    for found in pkgutil.iter_modules(programs.__path__):
        module = importlib.import_module(f"{programs.__name__}.{found.name}")
        if isinstance(vars(module).get("PROGRAM"), Program):
            yield found.name, module.PROGRAM


def measure(name: str, program: Program, budget: float) -> ProgramTimes:
    """Measure a program, for about `budget` seconds."""
    ways = {
        "gradient": value_and_grad(program.run, argnums=program.argnums),
        "jvp": forward(program),
        "compiled": value_and_grad(program.run, argnums=program.argnums, compile=True),
    }
    candidates: dict[str, Callable[..., Any]] = {"primal": program.run}
    first: dict[str, float] = {}
    problems: list[str] = []
    for way, derivative in ways.items():
        start = time.perf_counter()
        # One that fails belongs in the table like any other result; the others still count.
        try:
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
    )


def forward(program: Program) -> Callable[..., Any]:
    """Return the derivative of a program along one direction, as a function of its arguments."""

    def derivative(*args: Any) -> Any:
        def of_active(*active: Any) -> Any:
            full = list(args)
            for k, a in zip(program.argnums, active, strict=True):
                full[k] = a
            return program.run(*full)

        primals = tuple(args[k] for k in program.argnums)
        return jvp(of_active, primals, tuple(map(ones_like, primals)))

    return derivative


def ones_like(value: Any) -> Any:
    """Return a direction for an argument: numbers, arrays, and lists, tuples or dicts of them."""
    if isinstance(value, dict):
        return {key: ones_like(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(ones_like, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0
