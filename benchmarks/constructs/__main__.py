"""Command line: `python -m benchmarks.constructs [--quick] [--filter NAME] [--json FILE]`."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.constructs.construct import Construct
from benchmarks.constructs.functions import FUNCTIONS
from benchmarks.constructs.language import LANGUAGE, LOOPS
from benchmarks.constructs.measure import ConstructTimes, call_time, measure

HEADER = f"{'construct':<36}{'plain us':>10}{'gradient':>11}{'limit':>8}{'jvp':>10}{'loop':>8}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the constructs and print the tables as they grow."""
    options = parse(arguments)
    budget = 0.1 if options.quick else 0.6
    call = call_time(0.5)
    print(f"a plain call of an empty function: {call:.3f} us")
    found: list[ConstructTimes] = []
    for title, constructs, unit in [
        ("language: gradient and jvp above the plain run, in plain calls", LANGUAGE, call),
        ("functions: gradient and jvp above the plain run, in us", FUNCTIONS, 1.0),
        ("whole loops: gradient over plain in the last column, which has the limit", LOOPS, 1.0),
    ]:
        print(f"\n{title}\n{HEADER}")
        chosen = [each for each in constructs if options.filter in each.name]
        for times in measure(chosen, budget):
            found.append(times)
            print(row(times, unit, whole=constructs is LOOPS), flush=True)
    if options.json is not None:
        result = {"call": call, "constructs": [asdict(times) for times in found]}
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def row(times: ConstructTimes, unit: float, whole: bool) -> str:
    """Return the line of one construct; `!` marks what is above its limit."""
    construct: Construct = times.construct
    if times.problem:
        return f"{construct.name:<36}{times.problem}"
    gradient = times.gradient / unit
    limited = times.loop if whole else gradient
    limit = "" if construct.limit is None else f"{construct.limit:g}"
    mark = "!" if construct.limit is not None and limited > construct.limit else " "
    return (
        f"{construct.name:<36}{times.plain:>10.2f}{gradient:>10.1f}{mark}{limit:>8}"
        f"{times.jvp / unit:>10.1f}{times.loop:>8.1f}"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constructs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look at each")
    parser.add_argument("--filter", default="", metavar="NAME", help="constructs with this name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
