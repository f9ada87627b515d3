"""What the scripts of the gallery share: a check of the gradient, its time, and pictures."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

matplotlib.use("Agg")

Array = NDArray[np.float64]

OUTPUT = Path(__file__).parents[1] / "output"


def report(
    function: Callable[..., Any],
    gradient: Callable[..., tuple[Any, Array]],
    x: Array,
    *rest: Any,
    step: float = 1e-5,
    tolerance: float = 1e-6,
    rounds: int = 15,
) -> None:
    """Compare a gradient with central differences in a random direction, and print its time.

    Parameters
    ----------
    function : callable
        From `x` and the rest of the arguments to a float.
    gradient : callable
        From the same arguments to the value and the gradient in `x`.
    x : ndarray
        The point.
    *rest
        The other arguments.
    step : float
        The length of the step of the differences, along a direction of standard normal numbers.
    tolerance : float
        The largest relative difference that passes.
    rounds : int
        How often to measure the times.
    """
    direction = np.random.default_rng(0).standard_normal(x.shape)
    slope = np.sum(gradient(x, *rest)[1] * direction)
    forward, backward = (function(x + sign * step * direction, *rest) for sign in (1.0, -1.0))
    expected = (forward - backward) / (2.0 * step)
    difference = abs(slope - expected) / abs(expected)
    assert difference < tolerance, f"derivative {slope}, by differences {expected}"
    print(f"gradient against central differences: relative difference {difference:.1e}")

    alone, both = seconds(lambda: function(x, *rest), lambda: gradient(x, *rest), rounds=rounds)
    print(f"function {1e3 * alone:.3g} ms, with gradient {1e3 * both:.3g} ms: ", end="")
    print(f"{both / alone:.3g} times as long")


def seconds(*calls: Callable[[], Any], rounds: int) -> list[float]:
    """Return the median process time of each of some calls, which take turns."""
    times = np.empty((rounds, len(calls)))
    for row in times:
        for number, call in enumerate(calls):
            start = time.process_time()
            call()
            row[number] = time.process_time() - start
    return np.median(times, axis=0).tolist()


def picture_path(script: str) -> Path:
    """Return the path on the command line, or else one in `examples/output`."""
    parser = argparse.ArgumentParser()
    default = OUTPUT / f"{Path(script).stem}.png"
    parser.add_argument("picture", type=Path, nargs="?", default=default, help=f"({default})")
    return parser.parse_args().picture


def save(figure: Figure, picture: Path) -> None:
    """Save a picture, on white, in a hundred colours or so: the repository has small files."""
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=100, bbox_inches="tight", facecolor="white")
    with Image.open(picture) as image:
        image.convert("RGB").quantize(128).save(picture, optimize=True)
    print(f"picture saved as {picture}")
