"""Random programs with what users bring, in addition to the statements of all random programs."""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random

from tests.programs.brought import (
    callbacks,
    captured,
    constants,
    draws,
    remembering,
    returned,
    scipy_objects,
    subclasses,
)
from tests.programs.brought.observing import SEEN
from tests.programs.generator import Statement, random_program
from tests.programs.program import Program

__all__ = ["brought_program", "brought_statements"]

WEIGHT = 3  # times that of the other statements
FAMILIES = (
    callbacks.STATEMENTS, captured.STATEMENTS, constants.STATEMENTS, draws.STATEMENTS,
    remembering.STATEMENTS, returned.STATEMENTS, scipy_objects.STATEMENTS, subclasses.STATEMENTS,
)  # fmt: skip
IMPORTS = {  # by the names that programs use
    r"Counter\(": "from collections import Counter", r"Decimal\(": "from decimal import Decimal",
    r"Fraction\(": "from fractions import Fraction", r"pd\.": "import pandas as pd",
    r"xr\.": "import xarray as xr", r"optimize\.": "from scipy import optimize",
    r"integrate\.": "from scipy import integrate", r"interpolate\.": "from scipy import interpolate",
    r"spatial\.": "from scipy import spatial", r"implicit\(": "from mooncake_py import implicit",
    r"Rotation\.": "from scipy.spatial.transform import Rotation",
    r"scipy\.sparse\.": "import scipy.sparse", r"scipy\.linalg\.": "import scipy.linalg",
    r"scipy\.ndimage\.": "import scipy.ndimage", r"scipy\.signal\.": "import scipy.signal",
    r"scipy\.fft\.": "import scipy.fft", r"scipy\.special\.": "import scipy.special",
    r"scipy\.integrate\.": "import scipy.integrate", r"scipy\.stats\.": "import scipy.stats",
}  # fmt: skip
MODULES = ("array", "contextlib", "contextvars", "copy", "ctypes", "dataclasses", "heapq", "io",
           "itertools", "json", "operator", "pprint", "queue", "random", "statistics", "threading",
           "weakref")  # fmt: skip


def brought_statements() -> dict[Statement, int]:
    """Return the kinds of statements with what users bring, with their weights."""
    return {kind: n * WEIGHT for family in FAMILIES for kind, n in family.items()}


def brought_program(
    rng: Random, size: int = 4, without: Collection[str] = (), prefer: Collection[str] = ()
) -> Program:
    """Return a random program with what users bring."""
    program = random_program(rng, size, without, prefer, also=brought_statements())
    heads = [
        text for name, text in IMPORTS.items() if re.search(rf"(?<![\w.]){name}", program.source)
    ]
    heads += [f"import {m}" for m in MODULES if re.search(rf"(?<![\w.]){m}\.", program.source)]
    if "seen(" in program.source:
        heads.append(SEEN)
    return program.with_source("\n".join([*heads, "", program.source]))
