"""Second derivatives through every rule, and first ones at special points, by `test_rule`.

The other tests of the rules leave both out, for time: here one case of a family is in the fast
set, all are in the slow one.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import pytest

from mooncake_py.testing import test_rule
from tests.rules import cases as families
from tests.rules.cases import PLAIN, Case
from tests.rules.special_points import is_inexact
from tests.support.marks import each_third

NAMES = [
    m.name
    for m in pkgutil.walk_packages(families.__path__, f"{families.__name__}.")
    if not m.name.endswith((".nondifferentiable", ".scipy"))
    and (".scipy." not in m.name or find_spec("scipy") is not None)
]

# What has no second derivative yet; each of these raises.
GAUGE = (
    "complement", "null_spaces", "projections", "singular_pairs", "singular_projections",
    "hermitian_pairs",
)  # fmt: skip
REFUSED = (
    *(f".{name}-" for name in GAUGE),  # the phases of complex vectors, vectors of no value
    "det-rank-one", "pinv-equal-values", "polar-complex", "-subset", "rebuilt_from_schur",
    "special.ber-", "special.bei-", "special.ker-", "special.kei-",  # of the derivatives
    "ellipkinc-", "ellipeinc-", "ellipj_of-",
)  # fmt: skip

# Cases not compared at zeros, ones, ties and equal rows.
TRIMMED = ("polymul", "polydiv", "numpy.polynomial.", "cases.polynomials.")  # leading zeros go
# fmt: off
DEGENERATE = (
    "numpy.interp-", "clip", "linalg.qr-", "solve_sylvester", "logm", "cases.sets.",
    "partition-two-places", "pow-complex result", "special.comb", "use_groupby", "drawn_together",
    "scipy.linalg.lu", "sqrtm", "median-axis=1", "linalg.slogdet",
)  # no derivative with respect to all arguments together, or a path of its own at ties
# fmt: on
EDGES = (
    "spence-complex",
    "special.poch",
    "special.agm",
    "xlogy-broadcast",
    "rel_entr-broadcast",
    "kl_div-broadcast",
    "special.ellipeinc",
    "special.voigt_profile",
    "-parameters",
    "genhyperbolic_pdf",
    "cdist-js",
    "pdist-js",
    "sparse_linalg.by_sparse",  # which elements the result has depends on them, here too:
    "sparse.made_of_dense",
    "sparse.made_by_keys",
    "sparse.made_by_lists",  # of a dense column
)  # zeros and ones are on the edge of the domain, where slopes are infinite  # fmt: skip
# Nodes that coincide, elements that tie, matrices that are singular.
COINCIDING = (
    "scipy.interpolate.", "scipy.ndimage.", "linalg.by_eig", "scipy.linalg.schur",
    "schur_of_symmetric", "rebuilt_from_schur", "scipy.linalg.hessenberg", "by_ldl", "balanced",
    "scipy.linalg.signm", "fractional_matrix_power", "_riccati", "banded", "by_gesv", "by_gbsv",
    "lfilter_zi", "lfiltic", "filtfilt", "highest", "of_prominence", "medfilt", "by_blas",
    "cases.scipy.trees", "spatial_transform.of_matrix", "special.sph_harm_y",
)  # fmt: skip
NOT_SPECIAL = (*TRIMMED, *DEGENERATE, *EDGES, *COINCIDING)


# Cases of one function of which second derivatives are compared.
MOST = 2


def smooth_cases(name: str) -> Iterator[Case]:
    """Yield the cases of a family that have a derivative."""
    module = importlib.import_module(name)
    for case in module.cases() if hasattr(module, "cases") else ():
        smooth = not (case.interface_only or case.options.get("interface_only"))
        if smooth and any(map(is_inexact, case.args)):
            yield case


def check(case: Case) -> None:
    """Require second derivatives, unless it is known that there are none."""
    refused = any(name in case.id for name in REFUSED)
    options = {
        **case.options,
        **PLAIN,
        "order": None if refused else 2,
        "special_points": not any(name in case.id for name in NOT_SPECIAL),
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        test_rule(case.function, *case.args, kwargs=case.kwargs, **options)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", each_third(NAMES), ids=lambda name: name.rpartition(".")[2])
def test_some_second_derivatives_match_differences(name: str) -> None:
    for case in islice(smooth_cases(name), 1):
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_all_second_derivatives_match_differences(name: str) -> None:
    checked = Counter[Any]()
    for case in smooth_cases(name):
        checked[case.function] += 1
        if checked[case.function] <= MOST:
            check(case)
