"""Every function with rules, each argument in turn an object that is no array: as the plain call.

The result has the value, the classes, the memory and the derivative of the plain call, or the call
is refused, or raises what the plain call raises.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from tests.rules.foreign.calls import FAMILIES, KNOWN, calls_of, difference

EACH = 97
"""Of the calls of a family the fast set has so many fewer."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def check(family: str, each: int) -> None:
    calls = [call for call in calls_of(family) if not KNOWN.search(call.id)][::each]
    found = {call.id: difference(call) for call in calls}
    assert not {name: said for name, said in found.items() if said}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("family", FAMILIES)
def test_some_calls_with_foreign_operands(family: str) -> None:
    check(family, EACH)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_with_foreign_operands(family: str) -> None:
    check(family, 1)
