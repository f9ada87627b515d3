"""The calls: of each function, with each argument in turn replaced by each object."""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MethodDescriptorType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py import MooncakeError, jvp, value_and_grad
from mooncake_py.rules.kinds import function_name
from tests.rules import cases as families
from tests.rules import foreign
from tests.rules.cases import Case
from tests.rules.foreign.objects import ACTIVE, ARRAYS_OF_OBJECTS, MAKERS, kinds, total

__all__ = ["FAMILIES", "KNOWN", "OF_SCIPY", "Call", "calls_of", "calls_on_objects",
           "difference"]  # fmt: skip

FAMILIES = (
    "averages", "binning", "contraction", "creation", "derived", "differences", "eigen",
    "elementwise", "fft", "inplace", "joining", "linalg", "math_functions", "norms", "operators",
    "polynomials", "reductions", "selection", "sets", "shaping", "sorting", "statistics",
    "ufunc_methods",
)  # fmt: skip
OF_SCIPY = (
    "scipy.fft", "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.signal",
    "scipy.sparse", "scipy.sparse_linalg", "scipy.spatial", "scipy.spatial_transform",
    "scipy.special", "scipy.stats", "scipy.trees", "solvers",
)  # fmt: skip
LIBRARIES = (
    "numpy.", "scipy.", "math.", "cmath.", "operator.", "_operator.", "statistics.",
    "tests.rules.cases.scipy.", "tests.rules.foreign.",
)  # fmt: skip
HOLDERS = ACTIVE | ARRAYS_OF_OBJECTS
STEP = 1e-5
KNOWN = re.compile(
    r"\.at-.*range|percentile.*-1-(Fraction|Decimal)|clip.*-0-(Unconverted|csr_)|ipow.*range"
    r"|nan(cum)?prod.*Multiplied-active|spatial.*(generator|csr_.*)|by_lfiltic.*generator"
    r"|(lfilter_zi|by_lfiltic).*Unconverted$"
    r"|on_grid.*masked|(over_triangles|by_griddata).*(generator|csr_)"
)
"""Calls that differ for other reasons, which the test leaves out."""


@dataclass
class Call:
    """A call of a function of an active array, with an object among the other arguments.

    Where `holding` is true the object holds the active array, which is no other argument.
    """

    case: Case
    place: Any
    active: Any
    kind: str
    holding: bool = False

    @property
    def id(self) -> str:
        return f"{self.case.id}-{self.place}-{self.kind}{'-active' * self.holding}"

    def program(self) -> Any:
        """Return a function of the active array, to a number and what the result is of."""
        case = self.case
        given: dict[Any, Any] = {**dict(enumerate(case.args)), **case.kwargs}
        given = {place: copy.deepcopy(v) for place, v in given.items()}
        make = HOLDERS[self.kind] if self.holding else None
        if make is None:
            given[self.place] = MAKERS[self.kind](given[self.place])
        count, place, active, f = len(case.args), self.place, self.active, case.function
        arrays = [v for v in given.values() if isinstance(v, ndarray)]

        def run(x: Any) -> Any:
            new = dict(given)
            new[active] = x * 1.0
            if make is not None:
                new[place] = make(new[place])
            args = [new[k] for k in range(count)]
            y = f(*args, **{k: v for k, v in new.items() if not isinstance(k, int)})
            results = y if y is not None else args[0]
            return total(results), list(kinds(results, [*arrays, new[active]]))

        return run

    def point(self) -> Any:
        case = self.case
        x = case.args[self.active] if isinstance(self.active, int) else case.kwargs[self.active]
        return np.array(x, float)


def calls_of(family: str) -> Iterator[Call]:
    """Yield the calls of a family with each argument in turn an object."""
    for case in cases_of(family):
        yield from calls_with(case)


def calls_on_objects(family: str) -> Iterator[Call]:
    """Yield the calls with each active array in turn an array of objects."""
    for case in cases_of(family):
        given: dict[Any, Any] = {**dict(enumerate(case.args)), **case.kwargs}
        for place, value in given.items():
            if type(value) is ndarray and value.ndim and is_active(value):
                for kind in ARRAYS_OF_OBJECTS:
                    yield Call(case, place, place, kind, holding=True)


def cases_of(family: str) -> Iterator[Case]:
    """Yield the cases of a family: of each function once with the same number of arguments."""
    own = family == "solvers"
    module = importlib.import_module(f"{(foreign if own else families).__name__}.{family}")
    known = set()
    for case in module.cases():
        key = case.function, len(case.args), *case.kwargs, *map(type, case.args)
        if key in known or not is_of_libraries(case.function):
            continue
        known.add(key)
        yield case


def is_of_libraries(f: Any) -> bool:
    """Return whether a function is one of Python's, NumPy's or SciPy's, or a test's of these."""
    return isinstance(f, np.ufunc) or function_name(f).startswith(LIBRARIES)


def calls_with(case: Case) -> Iterator[Call]:
    given: dict[Any, Any] = {**dict(enumerate(case.args)), **case.kwargs}
    floats = [place for place, v in given.items() if is_active(v)]
    for place, value in given.items():
        if place == 0 and isinstance(case.function, MethodDescriptorType):
            continue  # which raises
        others = [other for other in floats if other != place]
        for kind, make in MAKERS.items() if others else ():
            try:
                make(value)
            except (TypeError, ValueError, OverflowError):
                continue
            yield Call(case, place, others[0], kind)
        if place in floats and isinstance(value, ndarray):
            for kind in ACTIVE:
                yield Call(case, place, place, kind, holding=True)


def is_active(value: Any) -> bool:
    """Return whether an argument is an array of floats, or a float, that can be active."""
    return type(value) is float or (
        type(value) is ndarray and value.dtype == np.float64 and value.size > 0
    )


def difference(call: Call) -> str:
    """Return the difference from the plain call; '' if there is none, or if it is refused."""
    x = call.point()
    try:
        plain, of = call.program()(x.copy())
        plain = float(plain)
    except Exception as error:
        plain, of = error, []
    direction = 0.5 + np.cos(np.arange(float(x.size))).reshape(x.shape)
    smooth = not call.case.interface_only and not isinstance(plain, Exception)
    expected = slope(call, x, direction) if smooth else None
    for mode in ("grad", "jvp"):
        try:
            if mode == "grad":
                (value, found), g = value_and_grad(call.program(), has_aux=True)(x.copy())
                got = np.sum(g * direction)
            else:
                (value, found), (got, _) = jvp(call.program(), (x.copy(),), (direction,))
        except MooncakeError:
            continue
        except Exception as error:
            if not isinstance(plain, Exception):
                return f"{mode} raises {type(error).__name__}: {error}"
            if not isinstance(error, type(plain)):
                return f"{mode} raises {type(error).__name__} for {type(plain).__name__}: {plain}"
            continue
        if isinstance(plain, Exception):
            return f"{mode} gives {value} where the plain call raises {plain!r}"
        if found != of:
            return f"{mode} returns {found} for {of}"
        if not np.isclose(float(value), plain, rtol=1e-10, atol=1e-12, equal_nan=True):
            return f"{mode} gives {value} for {plain}"
        if expected is not None and not np.isclose(float(got), expected, rtol=1e-4, atol=1e-5):
            return f"{mode} has the derivative {got} for {expected}"
    return ""


def slope(call: Call, x: Any, direction: Any) -> float | None:
    """Return the derivative in a direction by differences; None where they do not agree.

    At a kink those of the two sides do not agree, though central ones may.
    """

    def run(x: Any) -> float:
        return float(call.program()(x)[0])  # again, as a function may write to other arguments

    found = []
    for step in (STEP, STEP / 4):
        try:
            ends = [run(x + k * step * direction) for k in (-2, -1, 1, 2)]
        except Exception:
            return None
        found.append((8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12 * step))
    scale, middle = 1 + abs(found[0]), run(x.copy())
    if abs(middle) * 1e-15 / STEP > 1e-5 * scale:
        return None
    right = (4 * ends[2] - ends[3] - 3 * middle) / (STEP / 2)
    left = (3 * middle - 4 * ends[1] + ends[0]) / (STEP / 2)
    if not np.isfinite(found).all() or np.ptp([*found, left, right]) > 1e-4 * scale:
        return None
    return found[0]
