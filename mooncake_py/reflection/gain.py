"""The gain of compilation in one call, and the obstacles to a larger one."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import Any

from mooncake_py.compiler.sites.spending import spending
from mooncake_py.errors import MooncakeError
from mooncake_py.reflection.profile import LineProfile, ProfileContext, once
from mooncake_py.runtime.compilation import PLAINLY, using

__all__ = ["gain_lines"]

MOST = 3  # lines that are named
LEAST = 0.01  # of the time, which a line takes that is named
RUNS = 3  # of each way, of which the fastest counts
ENOUGH = 1.0  # seconds after which a way is not run again
GENERAL = "move computations with numbers and arrays into a function of its own, and pass it these"
ADVICE = ("write ", "pass ", "use ", "call ", "instead", "assign ", "make ")
"""Words in reasons that tell what to write."""


@spending.unlimited()
def gain_lines(
    f: Callable[..., Any], args: Any, kwargs: Any, called: list[FunctionType]
) -> list[str]:
    """Return a sentence on what compilation gains in a call, and the lines that it loses most by.

    The function runs several times, without what it prints.

    Parameters
    ----------
    called : list of function
        Those that the call has run.
    """
    with redirect_stdout(io.StringIO()):
        profile = plain_profile(f, args, kwargs)
        with suppress(MooncakeError):
            compiled = seconds_of(partial(derivative, f, args, kwargs))
            with using(PLAINLY):
                plain = seconds_of(partial(derivative, f, args, kwargs))
            return described(profile, called, compiled / plain)
    return described(profile, called, None)


def plain_profile(f: Callable[..., Any], args: Any, kwargs: Any) -> list[LineProfile]:
    """Return the time of each line without compilation; without numbers, the forward pass alone."""
    ctx = ProfileContext()
    with using(PLAINLY):
        for _ in range(2):  # the first run derives what is called
            ctx = ProfileContext()
            with suppress(MooncakeError):
                once(f, args, kwargs, ctx)
    return [line for line in ctx.lines.values() if line.seconds > 0.0]


def derivative(f: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Take the derivative of a function with respect to all its arguments."""
    # Only here, as it is above.
    from mooncake_py.interface import vjp

    y, pullback = vjp(partial(f, **kwargs) if kwargs else f, *args)
    if isinstance(y, float):  # else the forward pass tells
        pullback(type(y)(1.0))


def seconds_of(run: Callable[[], None]) -> float:
    """Return how long something takes at best."""
    run()
    found: list[float] = []
    while len(found) < RUNS and sum(found) < ENOUGH:
        begin = perf_counter()
        run()
        found.append(perf_counter() - begin)
    return min(found)


def described(
    profile: list[LineProfile], called: list[FunctionType], ratio: float | None
) -> list[str]:
    """Return the sentence and the lines."""
    # Only where functions are compiled.
    from mooncake_py.compiler.native.shares import compiled_spans, reasons

    spans, why = compiled_spans(called), reasons(called)
    total = sum([line.seconds for line in profile]) or 1.0
    left = [p for p in profile if not any(span.holds(p.file, p.line) for span in spans)]
    share = 1.0 - sum([line.seconds for line in left]) / total
    gain = "" if ratio is None else f": the derivative takes {ratio:.2g} times as long as that"
    lines = [f"Compiled code runs {share:.0%} of the call, by its time without{gain}."]
    left = [line for line in sorted(left, key=lambda p: -p.seconds) if line.seconds > LEAST * total]
    if left:
        lines.append("Lines that are not compiled and cost most:")
    said = ""
    for line in left[:MOST]:
        place = f"{os.path.basename(line.file)}:{line.line}"
        lines.append(f"    {line.seconds / total:4.0%}  {place}  {line.source}")
        around = [r for r in why if r.span.holds(line.file, line.line)]
        for reason in sorted(around, key=lambda r: r.line != line.line)[:1]:
            where = "" if reason.line in (None, line.line) else f"line {reason.line}: "
            before, said = said, f"          {where}{with_advice(reason.why)}"
            lines += [] if said == before else [said]
    return [*lines, ""]


def with_advice(why: str) -> str:
    """Return a reason that says what to write instead."""
    return why if any(word in why for word in ADVICE) else f"{why}; {GENERAL}"
