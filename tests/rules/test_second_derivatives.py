"""Second derivatives through every rule: forward mode over reverse mode and the other way round."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest

from mooncake_py.errors import DerivativeDropError, MissingRuleError
from tests.rules import cases as families
from tests.rules.cases import Case
from tests.rules.second_derivatives import curvatures, is_inexact

NAMES = [
    m.name for m in pkgutil.walk_packages(families.__path__, f"{families.__name__}.")
    if not m.name.endswith((".nondifferentiable", ".scipy"))
    and (".scipy." not in m.name or find_spec("scipy") is not None)
]
RTOL = 1e-4

# What has no second derivative yet; each of these raises.
GAUGE = (
    "complement", "null_spaces", "projections", "singular_pairs", "singular_projections",
    "hermitian_pairs",
)
REFUSED = (
    *(f".{name}-" for name in GAUGE),  # the phases of complex vectors, vectors of no value
    "det-rank-one", "pinv-equal-values", "polar-complex", "-subset",
    "special.ber-", "special.bei-", "special.ker-", "special.kei-",  # of the derivatives
    "ellipkinc-", "ellipeinc-", "ellipj_of-",
)


def smooth_cases(name: str) -> Iterator[Case]:
    """Yield the cases of a family that have a derivative."""
    module = importlib.import_module(name)
    for case in module.cases() if hasattr(module, "cases") else ():
        if not case.interface_only and any(map(is_inexact, case.args)):
            yield case


def check(case: Case) -> None:
    """Compare with differences; what is refused must be known."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found, expected, scale = curvatures(case)
        except (MissingRuleError, DerivativeDropError):
            if any(name in case.id for name in REFUSED):
                return
            raise
    for way, got in found.items():
        np.testing.assert_allclose(
            got, expected, rtol=0, atol=RTOL * scale, err_msg=f"{case.id}, {way}"
        )


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_some_second_derivatives_match_differences(name: str) -> None:
    for case in list(smooth_cases(name))[::40]:
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_all_second_derivatives_match_differences(name: str) -> None:
    for case in smooth_cases(name):
        check(case)
