"""The variants of the arguments of all cases: layouts, shapes, dtypes and shared memory.

In the tests of the families only some cases go through them, see `parameters`.
"""

from __future__ import annotations

import importlib
import pkgutil
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np
import pytest

from tests.rules import cases as families
from tests.rules.cases import repeated

NAMES = [
    m.name
    for m in pkgutil.walk_packages(families.__path__, f"{families.__name__}.")
    if not m.name.endswith(".scipy") and (".scipy." not in m.name or find_spec("scipy"))
]
# Some points are poles.
POLES = (".scipy.", ".elementwise", ".math_functions", ".nondifferentiable", ".operators")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_variants_of_repeated_calls(name: str) -> None:
    module = importlib.import_module(name)
    poles = any(part in name for part in POLES)
    with np.errstate(all="ignore") if poles else nullcontext():
        for case, options in repeated(module.cases() if hasattr(module, "cases") else ()):
            if any(case.options.get(option, True) for option in options):
                case.check()
