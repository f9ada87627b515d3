"""Files: data read from files are constants, and serialized bytes carry no derivative."""

from __future__ import annotations

import numpy as np

from mooncake_py.rules.declare import refused, zero_derivative

__all__: list[str] = []

refused(
    np.ndarray.dumps,
    why="a pickle carries no derivative: data read back from it are constants",
    fix="return the array as auxiliary output (has_aux=True), and store it outside",
)  # fmt: skip

zero_derivative(np.load, np.fromfile, because="reads constants")
