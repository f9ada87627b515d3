"""Cases that need a certain version of NumPy."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case

__all__ = ["NUMPY", "since"]

NUMPY = np.lib.NumpyVersion(np.__version__)


def since(version: str, *cases: Case) -> tuple[Case, ...]:
    """Return the cases if NumPy is of this version or newer, else none."""
    is_new = np.lib.NumpyVersion(np.__version__) >= version
    return cases if is_new else ()
