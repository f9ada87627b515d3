"""Cases for `scipy.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.distributions import found
from mooncake_py.integrations.scipy.special.incomplete import beta_density, gamma_density
from tests.rules.cases import Case, layouts_once

__all__ = ["cases"]

Interval = tuple[float, float]


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return np.random.default_rng(11).uniform(low, high, shape or (2, 3))


def complex_within(radius: float) -> np.ndarray:
    """Return numbers off the axes, on which the branch cuts lie."""
    rng = np.random.default_rng(13)
    parts = rng.uniform(0.2, 1.0, (2, 2, 3)) * rng.choice([-1, 1], (2, 2, 3))
    return radius * (parts[0] + 1j * parts[1])


# Functions of one real argument, and intervals from which points are drawn.
UNARY: list[tuple[Callable[..., Any], *tuple[Interval, ...]]] = [
    (ss.gamma, (0.3, 4), (-0.8, -0.2)), (ss.gammaln, (0.3, 4), (-0.8, -0.2)),
    (ss.loggamma, (0.3, 4)), (ss.rgamma, (0.3, 4), (-1.8, -1.2)),
    (ss.psi, (0.3, 4), (-0.8, -0.2)), (ss.erf, (-2, 2)), (ss.erfc, (-2, 2)), (ss.erfi, (-2, 2)),
    (ss.erfcx, (-2, 2), (2, 9), (40, 60)), (ss.dawsn, (-2, 2), (2, 9), (-60, -40)),
    (ss.erfinv, (-0.9, 0.9)), (ss.erfcinv, (0.1, 1.9)), (ss.ndtr, (-2, 2)),
    (ss.log_ndtr, (-2, 2), (-60, -2)), (ss.ndtri, (0.1, 0.9)), (ss.ndtri_exp, (-3, -0.1)),
    (ss.wofz, (-2, 2)), (ss.fresnel, (-2, 2)), (ss.cbrt, (0.3, 3), (-3, -0.3)),
    (ss.exp2, (-2, 2)), (ss.exp10, (-1, 1)), (ss.expm1, (-2, 2)), (ss.log1p, (-0.7, 3)),
    (ss.cosm1, (-2, 2)), (ss.exprel, (-2, 2), (-60, -30)), (ss.expit, (-3, 3)),
    (ss.logit, (0.1, 0.9)), (ss.log_expit, (-3, 3)), (ss.sindg, (-80, 80)),
    (ss.cosdg, (-80, 80)), (ss.tandg, (-60, 60)), (ss.cotdg, (20, 80)), (ss.exp1, (0.3, 3)),
    (ss.expi, (0.3, 3), (-3, -0.3)), (ss.spence, (0.3, 3)), (ss.sici, (0.3, 3)),
    (ss.shichi, (0.3, 3)), (ss.lambertw, (0.3, 3), (-0.2, 0.2)), (ss.wrightomega, (-2, 2)),
    (ss.entr, (0.3, 3)), (ss.j0, (-4, 4)), (ss.j1, (-4, 4)), (ss.y0, (0.3, 4)),
    (ss.y1, (0.3, 4)), (ss.i0, (-4, 4)), (ss.i1, (-4, 4)), (ss.k0, (0.3, 4)), (ss.k1, (0.3, 4)),
    (ss.i0e, (-4, -0.3), (0.3, 4)), (ss.i1e, (-4, -0.3), (0.3, 4)), (ss.k0e, (0.3, 4)),
    (ss.k1e, (0.3, 4)), (ss.airy, (-3, 2)), (ss.ber, (0.3, 3)), (ss.bei, (0.3, 3)),
    (ss.ker, (0.3, 3)), (ss.kei, (0.3, 3)), (ss.ellipk, (0.1, 0.9), (-5, -0.1)),
    (ss.ellipkm1, (0.1, 0.9)), (ss.ellipe, (0.1, 0.9), (-5, -0.1)), (ss.round, (0.1, 0.4)),
]  # fmt: skip

COMPLEX: list[Callable[..., Any]] = [
    ss.gamma, ss.loggamma, ss.rgamma, ss.psi, ss.erf, ss.erfc, ss.erfi, ss.erfcx, ss.dawsn,
    ss.wofz, ss.log_ndtr, ss.fresnel, ss.expm1, ss.log1p, ss.exp1, ss.expi, ss.spence,
    ss.sici, ss.shichi, ss.lambertw, ss.wrightomega, ss.airy,
]  # fmt: skip

BINARY: list[tuple[Callable[..., Any], Interval, Interval]] = [
    (ss.beta, (0.3, 3), (0.3, 3)), (ss.betaln, (0.3, 3), (0.3, 3)), (ss.poch, (0.3, 3), (0.2, 2)),
    (ss.binom, (3.1, 5), (0.2, 2.8)), (ss.xlogy, (-2, 2), (0.3, 3)),
    (ss.xlog1py, (-2, 2), (-0.7, 3)),
    (ss.boxcox, (0.3, 3), (-2, 2)), (ss.boxcox1p, (-0.7, 3), (-2, 2)),
    (ss.inv_boxcox, (-0.5, 0.5), (-1, 1)), (ss.inv_boxcox1p, (-0.5, 0.5), (-1, 1)),
    (ss.rel_entr, (0.3, 3), (0.3, 3)), (ss.kl_div, (0.3, 3), (0.3, 3)),
    (ss.huber, (0.3, 1), (-0.3, 0.3)), (ss.huber, (0.3, 1), (1.1, 3)),
    (ss.huber, (0.3, 1), (-3, -1.1)),
    (ss.pseudo_huber, (0.3, 3), (-3, 3)), (ss.owens_t, (-2, 2), (-2, 2)),
    (ss.ellipkinc, (-1.2, 1.2), (-2, 0.8)), (ss.ellipkinc, (2, 8), (-2, 0.8)),
    (ss.ellipeinc, (-1.2, 1.2), (-2, 0.8)), (ss.ellipeinc, (2, 8), (-2, 0.8)),
    (ss.agm, (0.3, 3), (0.3, 3)),
]  # fmt: skip

# Functions of a real argument after orders or parameters, which are constants.
ORDERS = ((0,), (1,), (3,), (np.array([2, 0, 1]),))
WITH_ORDER: list[tuple[Callable[..., Any], Interval]] = [
    (ss.polygamma, (0.3, 4)), (ss.expn, (0.3, 3)), (ss.jv, (0.3, 4)), (ss.yv, (0.3, 4)),
    (ss.iv, (0.3, 4)), (ss.kv, (0.3, 4)), (ss.yn, (0.3, 4)), (ss.kn, (0.3, 4)),
    (ss.jve, (0.3, 4)), (ss.yve, (0.3, 4)), (ss.ive, (0.3, 4)), (ss.kve, (0.3, 4)),
    (ss.hankel1, (0.3, 4)), (ss.hankel2, (0.3, 4)), (ss.hankel1e, (0.3, 4)),
    (ss.hankel2e, (0.3, 4)), (ss.spherical_jn, (0.3, 4)), (ss.spherical_yn, (0.3, 4)),
    (ss.spherical_in, (0.3, 4)), (ss.spherical_kn, (0.3, 4)), (ss.struve, (0.3, 4)),
    (ss.modstruve, (0.3, 4)), (ss.pdtr, (0.3, 4)), (ss.pdtrc, (0.3, 4)),
    (ss.eval_legendre, (-2, 2)), (ss.eval_sh_legendre, (-2, 2)), (ss.eval_chebyt, (-2, 2)),
    (ss.eval_chebyu, (-2, 2)), (ss.eval_sh_chebyt, (-2, 2)), (ss.eval_sh_chebyu, (-2, 2)),
    (ss.eval_laguerre, (-2, 2)), (ss.eval_hermite, (-2, 2)), (ss.eval_hermitenorm, (-2, 2)),
]  # fmt: skip
WITH_PARAMETERS: list[tuple[Callable[..., Any], tuple[int, ...], Interval]] = [
    (ss.gammainc, (2,), (0.3, 4)), (ss.gammaincc, (2,), (0.3, 4)),
    (ss.gammaincinv, (2,), (0.1, 0.9)), (ss.gammainccinv, (2,), (0.1, 0.9)),
    (ss.betainc, (2, 3), (0.1, 0.9)), (ss.betaincinv, (2, 3), (0.1, 0.9)),
    (ss.betaincc, (2, 3), (0.1, 0.9)), (ss.betainccinv, (2, 3), (0.1, 0.9)),
    (ss.chdtr, (3,), (0.3, 4)), (ss.chdtrc, (3,), (0.3, 4)), (ss.stdtr, (3,), (-2, 2)),
    (ss.stdtrit, (3,), (0.1, 0.9)), (ss.zeta, (3,), (0.3, 4)), (ss.hyp0f1, (2,), (-2, 2)),
    (ss.hyp1f1, (2, 3), (-2, 2)), (ss.hyperu, (2, 3), (0.3, 4)),
    (ss.hyp2f1, (1, 2, 4), (-0.8, 0.8)), (ss.eval_jacobi, (2, 1, 3), (-2, 2)),
    (ss.eval_jacobi, (0, 1, 3), (-2, 2)), (ss.eval_gegenbauer, (3, 2), (-2, 2)),
    (ss.eval_genlaguerre, (3, 2), (-2, 2)),
]  # fmt: skip
# Functions of distributions, with respect to parameters as well: intervals of all arguments.
DISTRIBUTIONS: list[tuple[str, tuple[Interval, ...]]] = [
    ("gammainc", ((0.5, 4), (0.3, 4))), ("gammaincc", ((0.5, 4), (0.3, 4))),
    ("gammaincinv", ((0.5, 4), (0.1, 0.9))), ("gammainccinv", ((0.5, 4), (0.1, 0.9))),
    ("betainc", ((0.5, 4), (0.5, 4), (0.1, 0.9))), ("betaincc", ((0.5, 4), (0.5, 4), (0.1, 0.9))),
    ("betaincinv", ((0.5, 4), (0.5, 4), (0.1, 0.9))),
    ("betainccinv", ((0.5, 4), (0.5, 4), (0.1, 0.9))),
    ("chdtr", ((0.5, 4), (0.3, 4))), ("chdtrc", ((0.5, 4), (0.3, 4))),
    ("chdtri", ((0.5, 4), (0.1, 0.9))), ("stdtr", ((0.5, 4), (-2, 2))),
    ("stdtrit", ((0.5, 4), (0.1, 0.9))),
    ("fdtr", ((0.5, 4), (0.5, 4), (0.3, 4))), ("fdtrc", ((0.5, 4), (0.5, 4), (0.3, 4))),
    ("fdtri", ((1.5, 4), (1.5, 4), (0.1, 0.9))),
    ("chndtr", ((0.3, 4), (0.5, 4), (0.3, 4))), ("chndtrix", ((0.1, 0.9), (1.5, 4), (0.3, 4))),
    ("_ncx2_pdf", ((0.3, 4), (0.5, 4), (0.3, 4))), ("_ncx2_sf", ((0.3, 4), (0.5, 4), (0.3, 4))),
    ("_ncx2_isf", ((0.1, 0.9), (1.5, 4), (0.3, 4))),
    ("ncfdtr", ((1.5, 4), (2.5, 4), (0.3, 4), (0.3, 4))),
    ("ncfdtri", ((1.5, 4), (2.5, 4), (0.3, 4), (0.1, 0.9))),
    ("_ncf_pdf", ((0.3, 4), (1.5, 4), (2.5, 4), (0.3, 4))),
    ("_ncf_sf", ((0.3, 4), (1.5, 4), (2.5, 4), (0.3, 4))),
    ("_ncf_isf", ((0.1, 0.9), (1.5, 4), (2.5, 4), (0.3, 4))),
    ("nctdtr", ((1.5, 4), (-2, 2), (-2, 2))), ("nctdtrit", ((1.5, 4), (-2, 2), (0.1, 0.9))),
    ("_nct_pdf", ((-2, 2), (1.5, 4), (-2, 2))), ("_nct_sf", ((-2, 2), (1.5, 4), (-2, 2))),
    ("_nct_isf", ((0.1, 0.9), (1.5, 4), (-2, 2))),
    ("_beta_pdf", ((0.1, 0.9), (0.5, 4), (0.5, 4))),
    ("_beta_ppf", ((0.1, 0.9), (0.5, 4), (0.5, 4))),
    ("_skewnorm_cdf", ((-2, 2), (-1, 1), (0.5, 2), (-3, 3))),
    ("_skewnorm_ppf", ((0.1, 0.9), (-1, 1), (0.5, 2), (-3, 3))),
    ("_skewnorm_isf", ((0.1, 0.9), (-1, 1), (0.5, 2), (-3, 3))),
    ("_invgauss_ppf", ((0.1, 0.9), (0.5, 2), (0.5, 2))),
    ("_invgauss_isf", ((0.1, 0.9), (0.5, 2), (0.5, 2))),
    ("_cauchy_ppf", ((0.1, 0.9), (-1, 1), (0.5, 2))),
    ("_cauchy_isf", ((0.1, 0.9), (-1, 1), (0.5, 2))),
    ("_landau_pdf", ((-2, 4), (-1, 1), (0.5, 2))), ("_landau_cdf", ((-2, 4), (-1, 1), (0.5, 2))),
    ("_landau_sf", ((-2, 4), (-1, 1), (0.5, 2))), ("_landau_ppf", ((0.1, 0.9), (-1, 1), (0.5, 2))),
    ("_landau_isf", ((0.1, 0.9), (-1, 1), (0.5, 2))),
    ("_cosine_cdf", ((-3, 3),)), ("_cosine_invcdf", ((0.1, 0.9),)),
    ("tklmbda", ((-0.4, 0.4), (-1, 1))), ("powm1", ((0.3, 3), (-2, 2))),
    ("_log1mexp", ((-3, -0.1),)), ("_kolmogp", ((0.5, 2),)), ("kolmogorov", ((0.5, 2),)),
    ("_kolmogc", ((0.5, 2),)), ("kolmogi", ((0.1, 0.9),)), ("_kolmogci", ((0.1, 0.9),)),
]  # fmt: skip
# Distributions of counts, sums over them, hypergeometric functions: the ints are constants.
COUNTS: list[tuple[str, tuple[Any, ...]]] = [
    *((f"_binom_{name}", (2, 5, 0.3)) for name in ("pmf", "cdf", "sf")),
    *((f"_binom_{name}", (k, 1, 0.3)) for name in ("pmf", "cdf", "sf") for k in (0, 1)),
    *((f"_nbinom_{name}", (2, 3.5, 0.3)) for name in ("pmf", "cdf", "sf")),
    ("hyp0f1", (1.7, 0.6)), ("hyp1f1", (0.7, 1.3, 0.6)), ("hyperu", (0.7, 1.3, 0.6)),
    ("hyp2f1", (0.7, 1.3, 2.6, 0.3)),
    ("_normalized_gen_harmonic", (2, 5, 7, 1.3)), ("zeta", (1.3, 0.7)), ("zeta", (4.0, 2.5)),
]  # fmt: skip
QUANTILES_OF_COUNTS = ("_binom_ppf", "_binom_isf", "_nbinom_ppf", "_nbinom_isf")
# Piecewise polynomials: between knots.
SMIRNOV = (
    ("_smirnovp", 0.25),
    ("smirnov", 0.25),
    ("_smirnovc", 0.25),
    ("smirnovi", 0.3),
    ("_smirnovci", 0.3),
)
COMPLEX_WITH_ORDER = (
    ss.jv, ss.yv, ss.iv, ss.kv, ss.jve, ss.yve, ss.ive, ss.kve, ss.hankel1, ss.hankel2,
    ss.hankel1e, ss.hankel2e, ss.spherical_jn, ss.spherical_yn, ss.spherical_in, ss.spherical_kn,
)  # fmt: skip

# A complex variant may lie on a branch cut, and single precision beyond the domain.
REAL = {"dtypes": False}


def argument_cases() -> list[Case]:
    unary = [(f, interval) for f, *intervals in UNARY for interval in intervals]
    return [
        *(Case(f, (between(*i),), label=f"{i}", options=REAL) for f, i in unary),
        *(Case(f, (complex_within(1.5),), label="complex") for f in COMPLEX),
        *(
            Case(f, (between(*a), between(*b)[::-1]), label=f"{a}-{b}", options=REAL)
            for f, a, b in BINARY
        ),
        *(
            Case(f, (between(*a, 3, 1), between(*b, 4)), label=f"broadcast-{a}-{b}", options=REAL)
            for f, a, b in BINARY
        ),
        Case(ss.erf, (0.3,), label="number"),
        Case(ss.erf, (between(-1, 1),), {"out": np.zeros((2, 3))}, "out"),
        Case(ss.lambertw, (between(-0.3, -0.1), -1), label="other-branch", options=REAL),
        Case(ss.ellipj, (between(-1, 1), 0), label="u", options=REAL),
        Case(ellipj_of, (between(-1, 1),), options=REAL),
        Case(ss.voigt_profile, (between(-1, 1), between(0.5, 2), between(0.2, 1)), options=REAL),
    ]


def ellipj_of(u: np.ndarray) -> Any:
    return ss.ellipj(u, 0.4)


def order_cases() -> list[Case]:
    z = complex_within(2)
    return [
        *(
            Case(f, (*order, between(*i)), label=f"order-{order[0]}", options=REAL)
            for f, i in WITH_ORDER
            for order in ORDERS
        ),
        *(Case(f, (*p, between(*i)), label=f"{p}", options=REAL) for f, p, i in WITH_PARAMETERS),
        *(Case(f, (n, z), label=f"complex-{n}") for f in COMPLEX_WITH_ORDER for n in (0, 2)),
        *(
            Case(f, (n, between(0.3, 4), True), label=f"derivative-{n}", options=REAL)
            for f in (ss.spherical_jn, ss.spherical_yn, ss.spherical_in, ss.spherical_kn)
            for n in (0, 2)
        ),
        Case(bessel_of_half_order, (between(0.3, 4),), options=REAL),
    ]


def distribution_cases() -> list[Case]:
    """Functions that SciPy has in this version."""
    first = Case(
        beta_density, (0.7, 1.3, 2.2, 1.4, between(0.1, 0.9)), label="parameters", options=REAL
    )
    return [
        first,
        Case(gamma_density, (0.7, 1.6, between(0.3, 4)), label="parameters", options=REAL),
        *(
            Case(
                f,
                tuple(between(*interval, 3) for interval in intervals),
                label=f"{name}-parameters",
                options=REAL if name != "_ncf_isf" else REAL | {"aliasing": False},
            )  # of which differences are too coarse where a probability is a parameter, too
            for name, intervals in DISTRIBUTIONS
            if (f := found(name)) is not None
        ),
        *(
            Case(f, args, label=f"{args[0]}-parameters", options=REAL)
            for name, args in COUNTS
            if (f := found(name)) is not None
        ),
        *(
            Case(f, (0.4, 5, 0.3), label=f"{name}-parameters", options=REAL)
            for name in QUANTILES_OF_COUNTS
            if (f := found(name)) is not None
        ),
        *(
            Case(f, (5, np.array([x])), label=f"{name}-parameters", options=REAL)
            for name, x in SMIRNOV
            if (f := found(name)) is not None
        ),
    ]


def bessel_of_half_order(x: np.ndarray) -> Any:
    return ss.jv(0.5, x) + ss.iv(-1.5, x) * ss.kv(2.5, x) + ss.yv(-0.5, x) + ss.struve(0.5, x)


def weighted_sum(x: np.ndarray, b: np.ndarray) -> Any:
    return ss.logsumexp(x, axis=1, b=b, keepdims=True)


def sum_with_sign(x: np.ndarray) -> Any:
    return ss.logsumexp(x, axis=0, b=np.array([[1.0], [-3.0]]), return_sign=True)[0]


def derived_cases() -> list[Case]:
    """Functions of SciPy's that are written in Python."""
    x = between(-1, 1)
    return [
        Case(ss.logsumexp, (x,), options=REAL),
        Case(ss.logsumexp, (x,), {"axis": 1, "keepdims": True}, "keepdims", options=REAL),
        Case(weighted_sum, (x, between(0.5, 2)), options=REAL),
        Case(sum_with_sign, (x,), options=REAL),
        Case(ss.softmax, (x,), {"axis": 0}, options=REAL),
        Case(ss.log_softmax, (x,), {"axis": -1}, options=REAL),
        Case(ss.multigammaln, (between(2, 4), 3), options=REAL),
        Case(ss.comb, (between(3.1, 5), between(0.2, 2.8)), options=REAL),
        Case(ss.sinc, (x,), options=REAL),
    ]


def edge_cases() -> list[Case]:
    """Ends of domains, kinks and poles: never nan where the function is finite."""
    zero, one = np.zeros(2), np.ones(2)
    points: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (ss.xlogy, (zero, zero)), (ss.xlog1py, (zero, -one)), (ss.rel_entr, (zero, zero)),
        (ss.rel_entr, (zero, one)), (ss.kl_div, (zero, zero)), (ss.kl_div, (zero, one)),
        (ss.entr, (zero,)), (ss.huber, (one, one)), (ss.huber, (zero, zero)),
        (ss.pseudo_huber, (zero, zero)), (ss.logit, (zero,)), (ss.logit, (one,)),
        (ss.expit, (np.array([-800.0, 800.0]),)), (ss.log_expit, (np.array([-800.0, 800.0]),)),
        (ss.erfinv, (one,)), (ss.ndtri, (zero,)), (ss.rgamma, (np.array([0.0, -1.0, -2.0]),)),
        (ss.binom, (np.array([2.0, 3.0]), np.array([3.0, 7.0]))), (ss.spence, (one,)),
        (ss.spence, (zero,)), (ss.boxcox, (one, zero)), (ss.boxcox, (zero, one)),
        (ss.inv_boxcox, (zero, zero)), (ss.exprel, (zero,)), (ss.ellipk, (zero,)),
        (ss.ellipe, (one,)), (ss.ellipkinc, (zero, one)), (ss.ellipeinc, (zero, zero)),
        (ss.agm, (one, one)), (ss.jv, (0, zero)), (ss.jv, (1, zero)), (ss.iv, (0, zero)),
        (ss.j1, (zero,)), (ss.i0e, (zero,)), (ss.spherical_jn, (0, zero)),
        (ss.spherical_jn, (2, zero)), (ss.gammainc, (2, zero)), (ss.gammainc, (1, zero)),
        (ss.betainc, (2, 3, zero)), (ss.betainc, (2, 3, one)), (ss.eval_legendre, (3, one)),
        (ss.cbrt, (zero,)), (ss.loggamma, (zero,)), (ss.gamma, (zero,)), (ss.exp1, (zero,)),
        (ss.lambertw, (zero,)), (ss.sici, (zero,)), (ss.fresnel, (zero,)), (ss.kv, (1, zero)),
        (ss.log_ndtr, (np.array([-1e5, 1e5]),)), (ss.erfcx, (np.array([1e9]),)),
        (ss.dawsn, (np.array([-1e9]),)),
    ]  # fmt: skip
    return [
        Case(f, args, label=f"edge-{args[-1][0]}", interface_only=True,
             options={"layouts": False, "dtypes": False})
        for f, args in points
    ]  # fmt: skip


def harmonic_cases() -> list[Case]:
    harmonic: Any = getattr(ss, "sph_harm_y", None)  # since SciPy 1.15
    angles = np.array([0.3, 1.2, 2.9]), np.array([0.5, -1.4, 4.0])
    options = {"layouts": False, "dtypes": False, "special_points": False}
    orders = ((0, 0), (2, 1), (3, -3), (4, 0), (3, 3))
    return [] if harmonic is None else [
        *(Case(harmonic, (*nm, *angles), label=f"{nm}", options=options) for nm in orders),
        Case(harmonic, (2, np.array([[1], [0], [-2]]), *angles), label="orders", options=options),
        Case(harmonic, (2, 0, 0.0, 0.4), label="pole", options=options),
        Case(harmonic, (2, 1, 0.0, 0.4), label="kink", options=options, interface_only=True),
        Case(harmonic, (3, 1, -angles[0], angles[1]), label="negative", options=options),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases of the family."""
    elementwise = layouts_once([*argument_cases(), *order_cases(), *distribution_cases()])
    return [*elementwise, *derived_cases(), *edge_cases(), *harmonic_cases()]
