"""`frule` leaves values, arguments and tangents as the function and `jvp`'s machinery do."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

from mooncake_py import Dual, frule
from mooncake_py.modes.forward.call import push_state_forward
from mooncake_py.tangents.verify import verify_tangent
from mooncake_py.testing.case import Inputs
from mooncake_py.testing.compare import compare
from mooncake_py.testing.finite_differences import random_direction
from mooncake_py.testing.forward_checks import Reference
from tests.rules import cases as families
from tests.rules.cases import Case

PREFIX = f"{families.__name__}."


def sampled(step: int) -> list[Case]:
    """Return one case out of `step` of each family."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(families.__path__, PREFIX)
    ]
    return [c for module in modules if hasattr(module, "cases") for c in module.cases()[::step]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", sampled(40), ids=lambda case: case.id)
def test_state_after_frule(case: Case) -> None:
    base = Inputs((case.function, *case.args), dict(case.kwargs))
    once, again = base.copy(), base.copy()
    every = set(range(len(base.values)))
    direction = random_direction(once, every, np.random.default_rng(0))
    if direction is None:
        pytest.skip("nothing in the arguments has a derivative")
    given = random_direction(again, every, np.random.default_rng(0))
    assert given is not None
    with np.errstate(all="ignore"):
        y, dy, dxs = push_state_forward(once.values, once.kwargs, direction.tangents)
        duals = [Dual(*pair) for pair in zip(again.values, given.tangents, strict=True)]
        out = frule(*duals, **again.kwargs)
    verify_tangent(out.primal, out.tangent)
    after = Reference.of(base).inputs.roots()
    pairs = [(y, out.primal), (dy, out.tangent)]
    pairs += [(dx, dual.tangent) for dx, dual in zip(dxs, duals, strict=True)]
    pairs += [(old, new) for (_, old), (_, new) in zip(after, again.roots(), strict=True)]
    for expected, got in pairs:
        assert compare(expected, got, "") is None
