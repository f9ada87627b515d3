"""Draw gradient over NumPy program for each kernel and each of the programs."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import PeerTimes
from benchmarks.peers_report import TITLES, ratio_of

# Of medium lightness, for pages that are light or dark; the background is left out.
GREY = "#808890"
STYLES = {
    "compiled": ("o", "#d9542b"),
    "plain": ("D", "#d99a2b"),
    "jax": ("s", "#3f8fd2"),
    "autograd": ("^", "#4aa564"),
}


def largest(measured: Sequence[PeerTimes]) -> list[PeerTimes]:
    """Return the times at the largest size of each kernel, by the first program's ratio."""
    found = {times.kernel: times for times in sorted(measured, key=lambda times: times.size)}
    return sorted(found.values(), key=lambda times: times.ratios.get("compiled", 0.0))


def draw(measured: Sequence[PeerTimes], file: Path) -> None:
    """Draw a point for each kernel at its largest size, and each program that can do it."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "peers", "text.color": GREY}
    matplotlib.rcParams |= {f"{axis}tick.color": GREY for axis in "xy"}
    matplotlib.rcParams |= {"axes.edgecolor": GREY, "axes.labelcolor": GREY}
    import matplotlib.pyplot as plt

    kernels = largest(measured)
    figure, axis = plt.subplots(figsize=(9, 3.8))
    axis.set_yscale("log")
    axis.set_facecolor("none")
    axis.axhline(1.0, color=GREY, linewidth=1)
    for name, (marker, colour) in STYLES.items():
        points = [(k, ratio_of(times, name)) for k, times in enumerate(kernels)]
        known = [(k, ratio) for k, ratio in points if ratio is not None]
        axis.plot(
            [k for k, _ in known], [ratio for _, ratio in known], marker, color=colour,
            markersize=4, zorder=3 - 0.1 * len(axis.lines), label=TITLES[name].replace("`", ""),
        )  # fmt: skip
    axis.set_xticks(range(len(kernels)), [times.kernel for times in kernels], rotation=90)
    axis.tick_params(axis="x", labelsize=7)
    axis.set_xlim(-1, len(kernels))
    axis.set_ylabel("gradient over NumPy program")
    axis.yaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}")
    axis.grid(axis="both", color=GREY, alpha=0.25, linewidth=0.5)
    axis.minorticks_off()
    axis.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None}, transparent=True)
    plt.close(figure)
