"""Cases for the `math` and `cmath` modules."""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable
from typing import Any

from mooncake_py.rules.math_functions import dist_of_points, fsum_of_list
from tests.rules.cases import Case

REAL: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (math.exp, (0.7, -3.0)), (math.exp2, (0.7, -3.0)), (math.expm1, (0.7, -1.5)),
    (math.log, (0.3, 5.0)), (math.log2, (0.3, 5.0)), (math.log10, (0.3, 5.0)),
    (math.log1p, (-0.5, 5.0)), (math.sqrt, (0.3, 5.0)), (math.cbrt, (0.3, -5.0)),
    (math.sin, (0.7, -2.0)), (math.cos, (0.7, -2.0)), (math.tan, (0.7, -0.4)),
    (math.asin, (0.7, -0.4)), (math.acos, (0.7, -0.4)), (math.atan, (0.7, -4.0)),
    (math.sinh, (0.7, -2.0)), (math.cosh, (0.7, -2.0)), (math.tanh, (0.7, -2.0)),
    (math.asinh, (0.7, -2.0)), (math.acosh, (1.3, 4.0)), (math.atanh, (0.7, -0.4)),
    (math.degrees, (0.7,)), (math.radians, (40.0,)), (math.erf, (0.3, -1.2)),
    (math.erfc, (0.3, -1.2)), (math.gamma, (0.3, 4.5, -0.6, -2.4)),
    (math.lgamma, (0.3, 4.5, -0.6, 30.0)), (math.fabs, (0.7, -2.0)), (math.modf, (1.3, -2.4)),
    (math.frexp, (1.3, -0.2)),
]  # fmt: skip

SEVERAL: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (math.log, (3.0, 2.0)), (math.log, (0.4, 10)), (math.pow, (1.5, 0.7)), (math.pow, (-1.5, 3)),
    (math.atan2, (0.5, -0.7)), (math.atan2, (-0.5, 0.7)), (math.copysign, (1.5, -2.0)),
    (math.copysign, (-1.5, -2.0)), (math.nextafter, (1.5, 3)), (math.fmod, (2.7, 1.2)),
    (math.fmod, (-2.7, 1.2)), (math.remainder, (2.7, 1.2)), (math.remainder, (2.7, -1.5)),
    (math.ldexp, (1.5, -3)), (math.hypot, (1.5,)), (math.hypot, (1.5, -0.5)),
    (math.hypot, (1.5, -0.5, 2.0)), (math.dist, ([1.0, 2.0], [0.5, 2.5])),
    (math.dist, ((1.0, 2.0), (0.5, 2.5))), (math.fsum, ([1.5, 2.5, -0.5],)),
    (math.fsum, ((1.5, 2.5),)), (math.prod, ([1.5, 2.5, -0.5],)), (math.prod, ((0.0, 2.5),)),
    (fsum_of_list, ([1.5, 2.5, -0.5],)), (dist_of_points, ([1.0, 2.0], (0.5, 2.5))),
]  # fmt: skip

HOLOMORPHIC: list[Callable[..., Any]] = [
    cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan, cmath.asin,
    cmath.acos, cmath.atan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.asinh, cmath.acosh,
    cmath.atanh,
]  # fmt: skip


def math_cases() -> list[Case]:
    """Functions of `math` at smooth points."""
    cases = [Case(f, (x,), label=str(x)) for f, points in REAL for x in points]
    cases += [Case(f, args) for f, args in SEVERAL]
    cases.append(Case(math.prod, ([1.5, 2.5],), {"start": 0.5}))
    if sys.version_info >= (3, 12):
        from mooncake_py.rules.math_functions import sumprod_of_lists

        for f in (math.sumprod, sumprod_of_lists):
            cases.append(Case(f, ([1.5, 2.5], [0.5, -1.0])))
    if sys.version_info >= (3, 13):
        cases.append(Case(math.fma, (1.5, 2.5, 0.5)))
    return cases


def cmath_cases() -> list[Case]:
    """Functions of `cmath` off their branch cuts, for complex and for real arguments."""
    points = (0.6 - 0.4j, -0.5 - 0.7j, 0.4)
    cases = [Case(f, (z,), label=str(z)) for f in [*HOLOMORPHIC, cmath.phase] for z in points
             if not (f is cmath.acosh and z == 0.4)]  # fmt: skip
    return [
        *cases,
        Case(cmath.log, (0.6 - 0.4j, 2.0 + 1j)),
        Case(cmath.polar, (0.6 - 0.4j,)),
        Case(cmath.rect, (1.5, 0.7)),
    ]


def kink_cases() -> list[Case]:
    """Kinks and poles: a documented choice, never an exception."""
    points: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (math.sqrt, (0.0,)), (math.cbrt, (0.0,)), (math.asin, (1.0,)), (math.acos, (-1.0,)),
        (math.acosh, (1.0,)), (math.fabs, (0.0,)), (math.copysign, (0.0, -1.0)),
        (math.atan2, (0.0, 0.0)), (math.hypot, (0.0, 0.0)), (math.dist, ([1.0], [1.0])),
        (math.pow, (0.0, 0.5)), (math.pow, (0.0, 0.0)), (math.frexp, (0.0,)),
        (cmath.sqrt, (0j,)), (cmath.phase, (0j,)), (cmath.polar, (0j,)), (cmath.asin, (1 + 0j,)),
        (cmath.acos, (1 + 0j,)), (cmath.acosh, (1 + 0j,)),
    ]  # fmt: skip
    return [Case(f, args, label="kink", interface_only=True) for f, args in points]


def cases() -> list[Case]:
    """All cases of the family."""
    return [*math_cases(), *cmath_cases(), *kink_cases()]
