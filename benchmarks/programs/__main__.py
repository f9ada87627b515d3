"""Command line: `python -m benchmarks.programs [--quick] [--filter NAME] [--json FILE]`."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.programs.measure import GROUPS, ProgramTimes, all_programs, measure
from benchmarks.report import geometric_mean

HEADER = (
    f"{'program':<26}{'group':>10}{'plain ms':>10}{'gradient':>10}{'jvp':>8}{'compiled':>10}"
    f"{'auto':>8}"
    f"{'first s':>9}{'compiled':>10}{'MB':>8}"
)
LEGEND = (
    'gradient, jvp, compiled gradient, with compile="auto": over the plain program.  '
    "first s: the first call.\n"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the programs and print the table as it grows."""
    options = parse(arguments)
    print(HEADER)
    found: list[ProgramTimes] = []
    for name, program in all_programs():
        if options.filter in name:
            found.append(measure(name, program, 0.5 if options.quick else 3.0))
            print(row(found[-1]), flush=True)
    print(*means(found), LEGEND, sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(times) for times in found], indent=1) + "\n")


def row(times: ProgramTimes) -> str:
    """Return the line of one program."""
    line = (
        f"{times.name:<26}{times.group:>10}{1e3 * times.primal:>10.2f}{text(times.gradient):>10}"
        f"{text(times.jvp):>8}{text(times.compiled):>10}{text(times.auto):>8}"
        f"{text(times.first, 2):>9}"
        f"{text(times.first_compiled, 2):>10}{times.memory / 1e6:>8.1f}"
    )
    return f"{line}\n    {times.problem}" if times.problem else line


def means(found: list[ProgramTimes]) -> list[str]:
    """Return the lines of the geometric means, of each group and of all."""
    lines: list[str] = []
    for group in (*GROUPS, "all"):
        chosen = [times for times in found if group in (times.group, "all")]
        gradient, forward, compiled, auto = (
            text(geometric_mean(getattr(times, way) for times in chosen))
            for way in ("gradient", "jvp", "compiled", "auto")
        )
        if chosen:
            lines.append(
                f"{'mean of ' + group:<46}{gradient:>10}{forward:>8}{compiled:>10}{auto:>8}"
            )
    return lines


def text(value: float | None, digits: int = 1) -> str:
    """Return a number as it appears in the table."""
    return "-" if value is None else f"{value:.{digits}f}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look at each")
    parser.add_argument("--filter", default="", metavar="NAME", help="programs with this name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
