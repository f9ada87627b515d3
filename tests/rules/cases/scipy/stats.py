"""Cases for `scipy.stats`: distributions that are made within the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st

from mooncake_py.rules.scipy.stats import attaching, defined_in
from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this part."""
    return [Case(density_of_a_frozen_one, (draw(3), 0.5, 1.5), covers=(attaching, defined_in))]


def density_of_a_frozen_one(x: np.ndarray, location: float, scale: float) -> Any:
    return st.norm(location, scale).logpdf(x)
