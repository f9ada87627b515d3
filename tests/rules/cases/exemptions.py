"""Functions with a rule but without a case in this folder, and what checks them instead."""

from __future__ import annotations

import collections
import itertools
import operator
import os
import time
from collections.abc import Hashable
from typing import Any

import numpy as np

from mooncake_py.rules import random as drawing
from mooncake_py.rules import shaped_draws, shuffling, transformed_draws
from mooncake_py.rules.coverage import is_part
from mooncake_py.rules.kinds import ContextRule, RefusedRule, Rule, function_name
from mooncake_py.tangents.memory import has_overlaps
from tests.rules.cases.versions import NUMPY

__all__ = ["EXEMPTIONS", "is_fortran", "reason"]

UNDISPATCHED: Any = np.concatenate.__wrapped__  # type: ignore[attr-defined]

EXEMPTIONS: dict[str, tuple[Hashable, ...]] = {
    "clocks do not give the same value twice": (
        time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic,
        time.monotonic_ns, time.process_time, time.process_time_ns, time.thread_time,
        time.thread_time_ns, time.sleep,
    ),
    "returns an iterator, compared with the original in test_python_builtins_direct": (
        itertools.groupby,
    ),
    "called through its instances, which have cases": (
        operator.itemgetter.__call__, operator.attrgetter.__call__, operator.methodcaller.__call__,
    ),
    "called through the ufuncs, whose methods have cases": (
        np.ufunc.at, np.ufunc.outer, np.ufunc.reduce, np.ufunc.accumulate, np.ufunc.reduceat,
    ),
    "refuses, as test_inplace_direct checks": (
        np.ndarray.resize, np.ndarray.byteswap, np.ndarray.setfield,
    ),
    "is what numpy.concatenate itself calls": (UNDISPATCHED,),
    "makes an iterator, checked in test_nditer": (np.broadcast, np.nditer, np.nested_iters),
    "called through its instances, checked in test_callbacks_of_numpy": (
        np.vectorize.__call__,
    ),
    "fills a Counter, compared with the original in test_calling_iterators": (
        *filter(None, [vars(collections).get("_count_elements")]),
    ),
    "reads a file of bytes": (np.fromfile,),
    "asks for a layout, as overlays in place do, which have cases": (has_overlaps,),
    **({"warns that it is deprecated": (np.fix, np.typename)} if NUMPY >= "2.5.0" else {}),
}  # fmt: skip

# A generator has state: the cases are programs that make one and draw, and each distribution is
# checked in test_random_direct.
_SPARSE = os.path.join("integrations", "scipy", "sparse")
_PIECEWISE = os.path.join("integrations", "scipy", "interpolate", "piecewise.py")
_DRAWING = tuple(
    module.__file__ for module in (drawing, shaped_draws, shuffling, transformed_draws)
)


def reason(function: Hashable, rule: Rule) -> str | None:
    """Return why a function needs no case of its own; None if it does."""
    if is_part(function):
        return "part of an overlay, reached by the cases of that"
    if isinstance(rule, RefusedRule):
        return "refuses active arguments, as test_refused checks"
    if isinstance(rule, ContextRule):
        return "is about the derivative that is under way, checked in tests/utilities"
    if _SPARSE in rule.origin.file:
        return "called with sparse matrices, made in the programs of cases.scipy.sparse"
    if rule.origin.file.endswith(_PIECEWISE):
        return "called through objects, checked in test_scipy"
    if is_compiled_part(function):
        return "called by public functions of SciPy, which have cases"
    if rule.origin.file in _DRAWING:
        return "drawn in cases.random, test_random_direct and test_shaped_draws"
    return next((why for why, exempt in EXEMPTIONS.items() if function in exempt), None)


def is_compiled_part(function: Any) -> bool:
    """Tell whether a function is one of those that SciPy keeps private, or Fortran."""
    name = function_name(function)
    return is_fortran(function) or (name.startswith("scipy.") and "._" in name)


def is_fortran(function: Any) -> bool:
    """Tell whether a function was made by f2py, which does not say its module."""
    return type(function).__name__ == "fortran"
