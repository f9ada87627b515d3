"""Files: what is stored there comes back as a constant."""

from __future__ import annotations

import numpy as np

from mooncake_py.rules.declare import refused, zero_derivative

__all__: list[str] = []

refused(
    np.save, np.savez, np.savez_compressed,
    np.ndarray.tofile, np.ndarray.dump, np.ndarray.dumps,
    why="files and pickles carry no derivative: what is read back from them is constant",
    mend="return the array as auxiliary output (has_aux=True), and store it outside",
)  # fmt: skip

zero_derivative(np.load, np.fromfile, because="reads constants")
