"""Save pictures into `examples/output`, or wherever `--plot` says."""

from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent / "output"


def plotter() -> Any:
    """Return `matplotlib.pyplot` set to draw into files, or None if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, file: Path) -> None:
    """Save a figure, close it, and print where the picture is."""
    import matplotlib.pyplot as plt

    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120, bbox_inches="tight")
    plt.close(figure)
    print(f"picture saved as {file}")
