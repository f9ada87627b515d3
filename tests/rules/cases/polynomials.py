"""Cases for polynomials: NumPy's functions and classes, old and new, are derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import (
    Chebyshev,
    Hermite,
    HermiteE,
    Laguerre,
    Legendre,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["FAMILIES", "cases", "common_cases", "family_cases"]

FAMILIES: tuple[tuple[Any, Any, str], ...] = (
    (polynomial, Polynomial, "poly"),
    (chebyshev, Chebyshev, "cheb"),
    (legendre, Legendre, "leg"),
    (laguerre, Laguerre, "lag"),
    (hermite, Hermite, "herm"),
    (hermite_e, HermiteE, "herme"),
)
PLACES = np.linspace(-0.9, 0.8, 6)
ROOTS = np.array([-0.7, 0.2, 1.5])


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *common_cases(),
        *(case for family in FAMILIES for case in family_cases(family)),
    ]


def common_cases() -> list[Case]:
    """Return the cases of what belongs to no family of polynomials."""
    return [*old_cases(), *poly1d_cases(), *utility_cases()]


def family_cases(family: tuple[Any, Any, str]) -> list[Case]:
    """Return the cases of one family of polynomials."""
    return [*function_cases(*family), *class_cases(*family)]


def plain(function: Callable[..., Any], *args: Any, label: str = "", **kwargs: Any) -> Case:
    """Return a case without variants of the arguments."""
    return Case(function, args, kwargs, label, options=PLAIN)


def old_cases() -> list[Case]:
    """Return cases of the functions in NumPy's main namespace."""
    p, q, y = draw(4), draw(3, seed=1), draw(6)
    weights = np.abs(draw(6, seed=2))
    return [
        plain(np.poly, draw(3)),
        plain(np.polyval, p, draw(2, 3)),
        plain(np.polyval, p, 0.7, label="number"),
        plain(np.polyadd, p, q),
        plain(np.polysub, p, q),
        plain(np.polymul, p, q),
        plain(np.polydiv, p, q),
        plain(np.polyder, p, 2),
        plain(np.polyint, p, 2),
        plain(np.polyint, p, 1, 1.5, label="constant"),
        plain(np.roots, np.poly(ROOTS)),
        plain(np.polyfit, PLACES, y, 2),
        plain(np.polyfit, PLACES, draw(6, 2), 2, label="columns"),
        plain(np.polyfit, PLACES, y, 2, None, False, weights, label="weights"),
        plain(np.polyfit, PLACES, y, 2, None, False, None, True, label="covariance"),
        plain(np.vander, p),
        plain(np.vander, p, 3, True, label="increasing"),
    ]


def poly1d_cases() -> list[Case]:
    return [
        Case(arithmetic_of_poly1d, (draw(4), draw(2, seed=1), 1.5), options=PLAIN,
             covers=(np.poly1d,)),
        Case(calculus_of_poly1d, (draw(4), draw(3)), options=PLAIN),
        Case(coefficients_of_poly1d, (draw(3), 2.5), options=PLAIN),
    ]  # fmt: skip


def arithmetic_of_poly1d(a: np.ndarray, b: np.ndarray, s: float) -> Any:
    p, q = np.poly1d(a), np.poly1d(b)
    quotient, rest = p / q
    return [((s * p - q) * q + p**2 / s - s).coeffs, (-quotient).c, rest.c, p(q).c, (q / s).c]


def calculus_of_poly1d(a: np.ndarray, x: np.ndarray) -> Any:
    p = np.poly1d(a)
    return p.deriv()(x) * p.integ(2, k=[1.0, 2.0])(x) + np.polyval(p, x)


def coefficients_of_poly1d(a: np.ndarray, v: float) -> Any:
    p = np.poly1d(a, r=True)
    p[1] = v
    return p.c * p[2] if str(p) else p.c


def utility_cases() -> list[Case]:
    x, old, new = draw(5), np.array([-1.0, 2.0]), np.array([0.0, 1.0])
    return [
        plain(polyutils.getdomain, x),
        plain(polyutils.mapdomain, x, old, new),
        plain(polyutils.mapdomain, 0.5, old, new, label="number"),
        plain(polyutils.mapparms, old, new),
        plain(polyutils.trimcoef, x),
        plain(polyutils.trimseq, x),
        plain(polyutils.as_series, [x, draw(3)]),
        plain(polyutils.format_float, 0.5),
    ]


def function_cases(module: Any, _: Any, prefix: str) -> list[Case]:
    """Return cases of the functions of one family of polynomials."""

    def f(name: str) -> Any:
        return getattr(module, prefix + name)

    c, b, x = draw(4), draw(3, seed=1), draw(2, 3)
    u, v, w = draw(4, seed=2), draw(4, seed=3), draw(4, seed=4)
    y = draw(6)
    return [
        *(plain(f(name), c, b) for name in ("add", "sub", "mul", "div")),
        *(plain(f(name), c) for name in ("mulx", "trim", "companion")),
        plain(f("pow"), b, 3),
        plain(f("line"), 1.5, 2.5),
        plain(f("val"), x, c),
        plain(f("val"), 0.5, draw(4, 2), label="columns"),
        plain(f("val"), u, draw(3, 4), False, label="pairs"),
        plain(f("val2d"), u, v, draw(3, 2)),
        plain(f("val3d"), u, v, w, draw(2, 2, 2)),
        *(  # new in NumPy 2.5
            [plain(f("valnd"), [u, v], draw(3, 2))] if hasattr(module, f"{prefix}valnd") else []
        ),
        plain(f("grid2d"), u, v[:2], draw(3, 2)),
        plain(f("grid3d"), u[:2], v[:3], w[:2], draw(2, 2, 2)),
        plain(f("vander"), u, 3),
        plain(f("vander2d"), u, v, [1, 2]),
        plain(f("vander3d"), u, v, w, [1, 1, 1]),
        plain(f("der"), c, 2, 0.7),
        plain(f("der"), draw(3, 4), axis=1, label="axis"),
        plain(f("int"), c, 1, 1.5, 0.3, 0.7),
        plain(f("int"), c, 2, [1.0, 2.0], label="twice"),
        plain(f("fromroots"), ROOTS),
        plain(f("roots"), f("fromroots")(ROOTS)),
        plain(f("fit"), PLACES, y, 2),
        plain(f("fit"), PLACES, y, [0, 2], None, False, np.abs(draw(6, seed=2)), label="weights"),
        *(own_cases(module, prefix)),
    ]


def own_cases(module: Any, prefix: str) -> list[Case]:
    """Return cases of functions that not all families have."""
    if prefix == "poly":
        return [plain(polynomial.polyvalfromroots, draw(2, 3), ROOTS)]
    found = [
        plain(getattr(module, f"poly2{prefix}"), draw(4)),
        plain(getattr(module, f"{prefix}2poly"), draw(4)),
        plain(getattr(module, f"{prefix}weight"), np.array([0.1, 0.5, 0.3])),
    ]
    if prefix == "cheb":
        found.append(Case(interpolated_sine, (0.7,), options=PLAIN,
                          covers=(chebyshev.chebinterpolate,)))  # fmt: skip
    return found


def interpolated_sine(a: float) -> Any:
    return chebyshev.chebinterpolate(lambda x: np.sin(a * x), 4)


def class_cases(_: Any, cls: Any, prefix: str) -> list[Case]:
    """Return programs that go through the methods of one class."""
    c, x, y = draw(4), draw(5), draw(6)
    programs = {
        series_arithmetic: (c, draw(3, seed=1), 1.5),
        series_in_domain: (c, np.array([-2.0, 3.0]), x),
        series_calculus: (c, 0.3, x),
        series_of_series: (draw(3), draw(2)),
        series_roots: (ROOTS,),
        series_fit: (PLACES, y, x),
        series_conversions: (c, x),
        series_parts: (c,),
    }
    name = cls.__name__
    return [
        Case(program, (cls, *args), label=name, options=PLAIN,
             covers=(cls,))
        for program, args in programs.items()
    ]  # fmt: skip


def series_arithmetic(cls: Any, a: np.ndarray, b: np.ndarray, s: float) -> Any:
    p, q = cls(a), cls(b)
    quotient, rest = divmod(p, q)
    return [((s * p - q) * q + p**2 / s - s).coef, (-quotient).coef, rest.coef, (p // q % q).coef]


def series_in_domain(cls: Any, a: np.ndarray, domain: np.ndarray, x: np.ndarray) -> Any:
    p = cls(a, domain, [-1.0, 1.2])
    places, values = p.linspace(4)
    offset, scale = p.mapparms()
    return [p(x), places, values, offset * scale]


def series_calculus(cls: Any, a: np.ndarray, low: float, x: np.ndarray) -> Any:
    p = cls(a, domain=[-2.0, 3.0])
    return p.deriv(2)(x) * p.integ(1, [1.0], low)(x)


def series_of_series(cls: Any, a: np.ndarray, b: np.ndarray) -> Any:
    """Put one polynomial into another."""
    return cls(a)(cls(b)).coef


def series_roots(cls: Any, roots: np.ndarray) -> Any:
    p = cls.fromroots(roots)
    return [p.coef, np.sort(p.roots()) * np.arange(1.0, 4.0)]


def series_fit(cls: Any, x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Any:
    w = np.abs(y) + 0.1
    return cls.fit(x, y, 2)(at) + cls.fit(x, y, 2, domain=[-1.0, 1.0], w=w)(at)


def series_conversions(cls: Any, a: np.ndarray, x: np.ndarray) -> Any:
    p = cls(a, domain=[-2.0, 3.0])
    other = p.convert(kind=Polynomial)(x) * Chebyshev.cast(cls(a))(x)
    return other * cls.basis(3)(x) * cls.identity()(x)


def series_parts(cls: Any, a: np.ndarray) -> Any:
    p = cls(a)
    same = p == p.copy() and p.has_samecoef(p) and p.has_samedomain(p) and p.has_samewindow(p)
    assert same
    assert p.has_sametype(p)
    text = len(str(p)) + len(repr(p))
    parts = [p.trim().coef, p.truncate(2).coef, p.cutdeg(1).coef]
    return [*parts, sum(v * v for v in p) * len(p) * p.degree() * (text > 0)]
