"""Turn times of this package, JAX and autograd into lines of text, and into tables in Markdown."""

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import PROGRAMS, PeerTimes
from benchmarks.report import duration, geometric_mean

TITLES = {
    "compiled": "mooncake_py, `compile=True`",
    "plain": "mooncake_py",
    "jax": "JAX, jitted",
    "autograd": "autograd",
}
FIRST = {"first call, compiled": "compiled", "first call, JAX": "jax"}
PACKAGES = ("numpy", "numba", "jax", "jaxlib", "autograd")

HEADER = (
    f"{'peers':<24}{'size':>7}{'primal':>11}{'compiled':>10}{'plain':>8}{'jax':>8}"
    f"{'autograd':>22}{'functional':>12}{'first':>9}{'first jax':>11}{'rewritten':>12}"
)
LEGEND = (
    "compiled, plain, jax, autograd: time of value and gradient over the primal's, one thread.\n"
    "functional: autograd on a functional variant.  WRONG: a gradient that is wrong, no error.\n"
    "first: the first call of the compiled gradient, and of JAX's.  rewritten: lines of the\n"
    "kernel that its JAX version does not have, of all its lines."
)


def conditions() -> str:
    """Return when, where and with which versions is measured."""
    now = datetime.now(UTC)
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    load = os.getloadavg()[0]
    return (
        f"Measured on {now:%Y-%m-%d at %H:%M} UTC on {os.cpu_count()} cores of {processor()}, "
        f"with a load of {load:.1f}; one thread; {', '.join(versions)}."
    )


def processor() -> str:
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def row(times: PeerTimes) -> str:
    """Return the line of one kernel at one size."""
    cells = {name: cell(times, name) for name in PROGRAMS}
    changed, lines = times.rewritten
    return (
        f"{times.kernel:<24}{times.size:>7}{duration(times.primal):>11}{cells['compiled']:>10}"
        f"{cells['plain']:>8}{cells['jax']:>8}{cells['autograd']:>22}{cells['functional']:>12}"
        f"{seconds(times.first.get('compiled')):>9}{seconds(times.first.get('jax')):>11}"
        f"{f'{changed} of {lines}' if lines else '-':>12}"
    )


def cell(times: PeerTimes, name: str) -> str:
    """Return the ratio of one program, or why there is none."""
    if name in times.ratios:
        return digits(times.ratios[name])
    if name not in times.refused:
        return "-"
    why = times.refused[name]
    return why if why == "WRONG" else f"no {why}"


def digits(ratio: float | None) -> str:
    """Return a ratio with two digits that count."""
    if ratio is None:
        return "-"
    return f"{ratio:.{0 if ratio >= 10 else 1 if ratio >= 1 else 2 if ratio >= 0.1 else 3}f}"


def seconds(taken: float | None) -> str:
    """Return a time in seconds."""
    return "-" if taken is None else f"{taken:.2f} s"


@dataclass(frozen=True)
class Summary:
    """What one of the programs does with all kernels.

    Parameters
    ----------
    title : str
    kernels : int
        How many it can do, rewritten ones included.
    over_all, over_common : float or None
        Geometric means of gradient over primal: over all that it can do, and over those that all
        programs can do.
    first : float or None, in seconds
        The median of first calls at the smallest size, where anything is compiled.
    rewritten : str
        What is to be written again.
    """

    title: str
    kernels: int
    over_all: float | None
    over_common: float | None
    first: float | None
    rewritten: str


def summaries(measured: Sequence[PeerTimes]) -> list[Summary]:
    """Return a summary for each program, autograd with its functional variants."""
    common = [t for t in measured if all(ratio_of(t, name) is not None for name in TITLES)]
    found = []
    for name, title in TITLES.items():
        done = [t for t in measured if ratio_of(t, name) is not None]
        first = [t.first[name] for t in smallest(done) if name in t.first]
        found.append(
            Summary(
                title=title,
                kernels=count(done),
                over_all=geometric_mean(ratio_of(t, name) for t in done),
                over_common=geometric_mean(ratio_of(t, name) for t in common),
                first=statistics.median(first) if first else None,
                rewritten=REWRITTEN.get(name, lambda _: "nothing")(done),
            )
        )
    return found


def ratio_of(times: PeerTimes, name: str) -> float | None:
    """Return the ratio of a program, of autograd's functional variant if there is no other."""
    variant = times.ratios.get("functional") if name == "autograd" else None
    return times.ratios.get(name, variant)


def smallest(measured: Sequence[PeerTimes]) -> Iterable[PeerTimes]:
    """Return the times of each kernel at its smallest size."""
    ordered = sorted(measured, key=lambda times: -times.size)
    return {times.kernel: times for times in ordered}.values()


def count(measured: Iterable[PeerTimes]) -> int:
    """Return the number of kernels, whatever the number of their sizes."""
    return len({times.kernel for times in measured})


def _of_jax(done: Sequence[PeerTimes]) -> str:
    lines = {t.kernel: t.rewritten for t in done}.values()
    changed, total = sum(c for c, _ in lines), sum(n for _, n in lines)
    return f"{100 * changed / max(total, 1):.0f} % of the lines"


def _of_autograd(done: Sequence[PeerTimes]) -> str:
    return f"{count(t for t in done if 'autograd' not in t.ratios)} of them"


REWRITTEN: dict[str, Callable[[Sequence[PeerTimes]], str]] = {
    "jax": _of_jax,
    "autograd": _of_autograd,
}


def means(measured: Sequence[PeerTimes]) -> list[str]:
    """Return the lines of the summary."""
    lines = [f"{'':<30}{'kernels':>8}{'all':>8}{'common':>8}{'first':>9}  rewritten"]
    for s in summaries(measured):
        lines.append(
            f"{s.title:<30}{s.kernels:>8}{digits(s.over_all):>8}{digits(s.over_common):>8}"
            f"{seconds(s.first):>9}  {s.rewritten}"
        )
    return lines


def summary_table(measured: Sequence[PeerTimes]) -> str:
    """Return the summary in Markdown."""
    common = count(t for t in measured if all(ratio_of(t, n) is not None for n in TITLES))
    titles = (
        "",
        f"kernels, of {count(measured)}",
        "rewritten manually",
        "gradient over NumPy, all of these",
        f"the {common} that all can do",
        "first call",
    )
    lines = [markdown_row(titles), "|---" * len(titles) + "|"]
    for s in summaries(measured):
        means = digits(s.over_all), digits(s.over_common)
        cells = s.title, str(s.kernels), s.rewritten, *means, seconds(s.first)
        lines.append(markdown_row(cells))
    return "\n".join(lines)


def full_table(measured: Sequence[PeerTimes]) -> str:
    """Return the table of all kernels in Markdown; first calls are those at the smallest size."""
    titles = "kernel", "NumPy", "compiled", "plain", "JAX", "autograd", *FIRST, "lines rewritten"
    lines = [markdown_row(titles), "|---" * len(titles) + "|"]
    by_kernel: dict[str, list[PeerTimes]] = {}
    for times in measured:
        by_kernel.setdefault(times.kernel, []).append(times)
    for name, sizes in by_kernel.items():
        cells = [
            f"`{name}`, {beside(f'{t.size}' for t in sizes)}",
            beside(duration(t.primal) for t in sizes),
            *(beside(cell(t, program) for t in sizes) for program in ("compiled", "plain", "jax")),
            autograd_cell(sizes),
            *(seconds(sizes[0].first.get(program)) for program in FIRST.values()),
            "{} of {}".format(*sizes[0].rewritten),
        ]
        lines.append(markdown_row(cells))
    return "\n".join(lines)


def autograd_cell(sizes: Sequence[PeerTimes]) -> str:
    """Return autograd's ratios; where it cannot do the kernel, of the functional variant too."""
    text = beside(cell(times, "autograd") for times in sizes)
    if not any("functional" in times.ratios for times in sizes):
        return text
    return f"{text}; functional {beside(cell(times, 'functional') for times in sizes)}"


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def beside(texts: Iterable[str]) -> str:
    """Join the strings of several sizes, once if they are the same."""
    return " / ".join(dict.fromkeys(texts))
