"""Cases for `scipy.stats`: distributions made within the function, and methods with rules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.stats as st

from mooncake_py.integrations.scipy.special.incomplete import times
from mooncake_py.integrations.scipy.stats.compiled import log_i0e
from mooncake_py.integrations.scipy.stats.entropies import entropy_term
from mooncake_py.integrations.scipy.stats.limits import along, log_power, once
from mooncake_py.integrations.scipy.stats.methods import (
    are_within,
    are_within_by_name,
    is_counted,
    regularity,
    regularity_by_name,
    whole,
)
from mooncake_py.integrations.scipy.stats.multivariate import held, spectrum
from mooncake_py.integrations.scipy.stats.parsers import attaching, defined_in, freezing, fresh
from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

_continuous_distns: Any = import_module("scipy.stats._continuous_distns")
_multivariate: Any = import_module("scipy.stats._multivariate")
_stats: Any = import_module("scipy.stats._stats")

DENSITIES = ("logpdf", "pdf")
TAILS = ("cdf", "sf")
QUANTILES = ("ppf", "isf")
# Name, shape parameters, points, and methods that have rules.
METHODS: list[tuple[str, tuple[float, ...], tuple[float, ...], tuple[str, ...]]] = [
    ("genpareto", (0.0,), (0.4, 1.3), ("logpdf", "logsf")),
    ("genpareto", (-0.2,), (0.4, 1.3), ("logpdf", "logsf")),
    ("genextreme", (0.0,), (0.4, 1.3), ("logpdf", "logcdf")),
    ("genextreme", (0.3,), (0.4, 1.3), ("logpdf", "logcdf")),
    ("genextreme", (0.0,), (0.4, 0.7), QUANTILES),
    ("kappa4", (0.0, 0.0), (0.4, 1.3), ("logpdf", "logcdf")),
    ("kappa4", (0.3, -0.4), (0.4, 1.3), ("logpdf", "logcdf")),
    ("kappa4", (0.3, -0.4), (0.4, 0.7), ("ppf",)),
    ("skewnorm", (0.0,), (0.4, -1.3), DENSITIES),
    ("ncx2", (2.5, 1.3), (0.4, 1.3), (*DENSITIES, *TAILS)),
    ("ncx2", (2.5, 1.3), (0.4, 0.7), QUANTILES),
    ("pearson3", (0.6,), (0.4, 1.3), ("logpdf", *TAILS)),
    ("pearson3", (0.6,), (0.4, 0.7), ("ppf",)),
    ("vonmises", (1.3,), (0.4, -1.3), DENSITIES),
]


def cases() -> list[Case]:
    """Return all cases of this part."""
    real = {"dtypes": False, "special_points": False}
    return [
        Case(density_of_a_frozen_one, (draw(3), 0.5, 1.5), covers=(freezing, fresh)),
        Case(
            density_of_a_new_one,
            (draw(3), 0.5),
            covers=(attaching, defined_in, regularity, is_counted),
            options=PLAIN,
        ),
        Case(
            quantile_of_a_new_one,
            (np.array([0.2, 0.6]), 0.5),
            covers=(are_within,),
            options=PLAIN,
        ),
        Case(log_power, (np.array([0.0, 1e-3, 0.4, -2.0]), np.full(4, 1.3)), options=real),
        Case(times, (np.array([0.0, 1.3]), np.array([2.0, 0.4])), options=real),
        Case(entropy_term, (np.array([0.4, 1.7]),), options=real),
        Case(log_i0e, (np.array([0.5, 2.0]),), options=real),
        Case(along, (draw(3), draw(3, seed=1), 0.5), interface_only=True, covers=(once,)),
        *map(method_case, METHODS),
        Case(counted, (draw(3),), covers=(whole,), options=PLAIN),
        *compiled_cases(),
        *multivariate_cases(),
    ]


def density_of_a_frozen_one(x: np.ndarray, location: float, scale: float) -> Any:
    return st.norm(location, scale).logpdf(x)  # pyright: ignore[reportAttributeAccessIssue]


class Exponential(st.rv_continuous):
    def _pdf(self, x: Any, rate: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return rate * np.exp(-rate * x)

    def _ppf(self, q: Any, rate: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return -np.log1p(-q) / rate


def density_of_a_new_one(x: np.ndarray, rate: float) -> Any:
    return Exponential(a=0.0, name="exponential").pdf(x * x, rate)


def quantile_of_a_new_one(q: np.ndarray, rate: float) -> Any:
    return Exponential(a=0.0, name="exponential").ppf(q, rate)


def method_case(row: tuple[str, tuple[float, ...], tuple[float, ...], tuple[str, ...]]) -> Case:
    name, shapes, points, methods = row
    owner = getattr(_continuous_distns, f"{name}_gen")
    private = ["_loglogcdf" if (name, m) == ("genextreme", "logcdf") else f"_{m}" for m in methods]
    covers = (
        *(getattr(owner, m) for m in private if hasattr(owner, m)),
        *(getattr(st.rv_continuous, m) for m in methods),
        *(regularity_by_name, are_within_by_name),
    )
    label = f"{name}-{shapes}-{methods[0]}"
    args = np.array(points), *shapes
    return Case(summed(name, methods), args, covers=covers, label=label, options=PLAIN)


def summed(name: str, methods: tuple[str, ...]) -> Callable[..., Any]:
    def of_methods(x: np.ndarray, *shapes: float) -> Any:
        distribution: Any = getattr(st, name)
        return np.sum([getattr(distribution, m)(x, *shapes) for m in methods], axis=0)

    return of_methods


def counted(x: np.ndarray) -> Any:
    return st.irwinhall.cdf(1.5 + x / 9, 3)


def compiled_cases() -> list[Case]:
    """Functions in Cython that this version of SciPy has."""
    found: list[Case] = []
    if hasattr(_stats, "von_mises_cdf"):
        args = np.array([0.7, 2.0]), np.array([0.4, -1.3])
        found.append(Case(_stats.von_mises_cdf, args, options=PLAIN))
    for name in ("genhyperbolic_pdf", "genhyperbolic_logpdf"):
        if hasattr(_stats, name):
            found.append(Case(getattr(_stats, name), (0.4, 0.7, 1.5, -0.5), options=PLAIN))
    if hasattr(_stats, "geninvgauss_logpdf"):
        found.append(Case(_stats.geninvgauss_logpdf, (0.4, 0.7, 1.5), options=PLAIN))
    return found


def multivariate_cases() -> list[Case]:
    """Covariances of full and of lower rank, with equal eigenvalues, and kernel estimates."""
    x, a = draw(4, 3), draw(3, 3, seed=1)
    factors = spectrum, held, _multivariate._PSD.__init__
    kernels = tuple(
        kernel
        for name in ("gaussian_kernel_estimate", "gaussian_kernel_estimate_log")
        for kernel in map(getattr(_stats, name).__signatures__.get, ("float", "double"))
    )
    return [
        Case(normal_density, (x, x[0], a @ a.T), covers=factors, options=PLAIN),
        Case(normal_density, (x, x[0], 2 * np.eye(3)), label="sphere", options=PLAIN),
        Case(singular_density, (x, a[:, :2]), options={**PLAIN, "order": 1}),
        Case(kernel_estimate, (draw(7), draw(2, seed=2)), covers=kernels, options=PLAIN),
        Case(kernel_estimate, (draw(2, 7), draw(2, 3)), label="plane", options=PLAIN),
    ]


def normal_density(x: np.ndarray, mean: np.ndarray, cov: Any) -> Any:
    return st.multivariate_normal.logpdf(x, mean, (cov + cov.T) / 2)


def singular_density(x: np.ndarray, root: Any) -> Any:
    points = x[:, :2] @ root.T
    return st.multivariate_normal.logpdf(points, cov=root @ root.T, allow_singular=True)


def kernel_estimate(data: np.ndarray, x: np.ndarray) -> Any:
    kernels = st.gaussian_kde(data)
    return kernels(x) + kernels.logpdf(x)
