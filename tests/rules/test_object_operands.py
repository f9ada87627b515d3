"""Every function with rules on arrays of objects with active elements: as the plain call.

NumPy computes with such arrays by the operators of their elements, which are numbers or arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from tests.rules.foreign.calls import FAMILIES, OF_SCIPY, calls_on_objects, difference
from tests.rules.foreign.optional import sparse

CORRUPT_MEMORY = "scipy.spatial"
"""SciPy itself spoils memory where its distances are given arrays of objects."""
FLAT = "ndimage.shift-both-1-rows"
"""SciPy reads a shift with two axes as one with one."""
ALL = FAMILIES if sparse is None else (*FAMILIES, *sorted({*OF_SCIPY} - {CORRUPT_MEMORY}))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.sampled(30)
@pytest.mark.parametrize("family", ALL)
def test_calls_on_arrays_of_objects(family: str) -> None:
    calls = [call for call in calls_on_objects(family) if FLAT not in call.id]
    found = {call.id: difference(call) for call in calls}
    assert not {name: said for name, said in found.items() if said}
