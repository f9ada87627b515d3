"""Command line: `python -m benchmarks [--quick] [--filter NAME] [--json FILE]`."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.kernels import KERNELS
from benchmarks.measure import measure
from benchmarks.memory import measure_memory
from benchmarks.modes import STEPS, measure_jacobian, measure_modes
from benchmarks.overheads import derive_time, import_time
from benchmarks.pullbacks import SIZES, measure_pullbacks


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the kernels and print the table as it grows."""
    options = parse(arguments)
    budget = 0.15 if options.quick else 1.0
    print(report.HEADER)
    measurements = []
    for kernel in KERNELS:
        if options.filter not in kernel.name:
            continue
        for size in kernel.sizes[:1] if options.quick else (*kernel.tiny, *kernel.sizes):
            measurements.append(measure(kernel, size, budget))
            print(report.row(measurements[-1]), flush=True)
    print(*report.group_means(measurements), report.LEGEND, sep="\n")
    print(report.MODES_HEADER)
    modes = []
    for times in measure_modes(options.filter, budget):
        modes.append(times)
        print(report.mode_row(times), flush=True)
    print(*report.mode_means(modes), report.MODES_LEGEND, sep="\n")
    jacobian = None
    if options.filter in "integrator":
        steps = STEPS[options.quick]
        run, jacobian = measure_jacobian(steps, budget)
        print(report.jacobian_row(steps, run, jacobian))
    print(report.PULLBACK_HEADER)
    pullbacks = []
    sizes = SIZES[:1] if options.quick else SIZES
    for measured in measure_pullbacks(options.filter, sizes, budget / 3):
        pullbacks.append(measured)
        print(report.pullback_row(measured), flush=True)
    print(*report.pullback_means(pullbacks), report.PULLBACK_LEGEND, sep="\n")
    print(report.MEMORY_HEADER)
    memory = []
    for case, bytes_taken, counted in measure_memory(options.filter):
        memory.append({"kernel": case.kernel, "measured": bytes_taken, "counted": counted})
        print(report.memory_row(case, bytes_taken, counted), flush=True)
    derive = derive_time(3 if options.quick else 25)
    derive_new = derive_time(3 if options.quick else 25, new_texts=True)
    importing = import_time(3 if options.quick else 15)
    print(*report.overheads(derive, derive_new, importing), sep="\n")
    if options.json is not None:
        result = {
            "measurements": [asdict(measured) for measured in measurements],
            "modes": [asdict(times) for times in modes],
            "jacobian": jacobian,
            "pullbacks": [
                {"name": m.case.name, "size": m.size, "vjp": m.ratios[0], "rule": m.ratios[1]}
                for m in pullbacks
            ],
            "memory": memory,
            "derive_seconds": derive,
            "derive_new_seconds": derive_new,
            "import_seconds": importing,
        }
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smallest sizes, a short look at each")
    parser.add_argument("--filter", default="", metavar="NAME", help="kernels whose name has this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
