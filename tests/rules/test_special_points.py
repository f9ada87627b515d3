"""Second derivatives at points where a partial derivative has a case apart."""

from __future__ import annotations

import math
import operator
import statistics
import warnings
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hessian, jvp
from mooncake_py.errors import DerivativeDropError, MissingRuleError
from tests.rules.cases import Case
from tests.rules.special_points import comparisons, special_points
from tests.rules.test_second_derivatives import NAMES, smooth_cases

RTOL = 2e-4

# Cases of one function that are checked at all special points.
MOST = 1

# What trims leading zeros, or groups elements that are equal: its pieces meet at special points.
IN_PIECES = (
    "polynomials.", "numpy.poly", "real_if_close", "groupby", "cases.sets.", "unique",
    "tklmbda", "kolmog",  # at the ends of the support
)  # fmt: skip
# SciPy's code for matrices runs statement by statement, and is linear except for a few functions:
# zeros are what it tells apart, as elements that need not be kept.
OF_MATRICES = (".scipy.sparse", ".scipy.sparse_linalg")
WITH_ZEROS = ("given", "all 0", "with_a_zero")
# Slopes in parameters are differences there, which takes minutes: tests/science compares them.
BY_DIFFERENCES = ".scipy.stats"
ZERO, ONE = np.zeros(2), np.ones(2)
X = np.array([0.7, -1.3])
SINGULAR = np.outer([1.0, -2.0, 0.5], [0.3, 1.0, 2.0])


def correlation(x: np.ndarray, y: np.ndarray) -> Any:
    return np.corrcoef(np.append(x, 0.4), np.append(y, 1.8))[0, 1]


def projections(a: np.ndarray) -> Any:
    """Return functions of singular vectors that do not depend on their signs."""
    u, _, vh = np.linalg.svd(a)
    return (u * np.array([1.0, 2.0, 4.0])) @ u.T + (vh.T * np.array([3.0, 1.0, 5.0])) @ vh


POINTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (np.logaddexp, (X, X)), (np.logaddexp2, (X, X)), (np.logaddexp, (0.0, 0.0)),
    (np.sinc, (ZERO,)), (np.sinc, (ZERO + 0j,)), (np.i0, (ZERO,)), (np.i0, (25 * ONE,)),
    (np.power, (2 * ONE, ZERO)), (np.power, (2 * ONE, 0.0)), (np.power, (2 * ONE, 2.0)),
    (np.power, (-2 * ONE, np.array([2, 0]))), (np.power, (ZERO, np.array([2, 0]))),
    (np.power, (ZERO, np.array([3, 1]))), (np.float_power, (2 * ONE, ZERO)),
    (np.power, (2 * ONE + 1j, ZERO)), (np.power, (-ONE, 2 * ONE + 0j)),
    (operator.pow, (2.0, 0.0)), (operator.pow, (2.0, 2.0)),
    (operator.pow, (0.0, 3)), (operator.pow, (0.0, 2)), (operator.pow, (0.0, 0)),
    (operator.pow, (1 + 2j, 0.0)), (math.pow, (2.0, 0.0)), (math.pow, (1.5, 1.0)),
    (np.std, (X,)), (np.divmod, (np.array([2.2, 2.6]), 0.9 * ONE)), (np.prod, (np.zeros(3),)),
    (np.prod, (np.array([0.0, 0.0, 2.0]),)), (np.cumprod, (np.array([2.0, 0.0, 3.0, 0.0]),)),
    (np.var, (ONE,)), (correlation, (X, 2 * X + 1)),
    (np.linalg.det, (np.zeros((2, 2)),)), (np.linalg.det, (SINGULAR,)),
    (np.linalg.det, (np.stack([SINGULAR, np.eye(3)]),)), (np.linalg.det, (SINGULAR * (1 + 1j),)),
    (np.linalg.det, (np.zeros((3, 3)),)), (np.linalg.det, (np.diag([2.0, 2.0, 2.0, 0.0]),)),
    (projections, (np.array([[0.0, 0.2, 0.0], [-0.5, 0.0, 0.6], [0.0, -0.7, 0.0]]),)),
    (np.linalg.slogdet, (np.eye(2) + np.ones((2, 2)),)),
    (np.linalg.eigvals, (np.array([[1.0, 2.0], [0.5, 3.0]]),)),
]  # fmt: skip

if find_spec("scipy") is not None:
    from scipy import ndimage as nd
    from scipy import special as ss

    def integrals(x: np.ndarray) -> np.ndarray:
        """Return the sine integral and the hyperbolic one, smooth at zero."""
        return ss.sici(x)[0] + 2 * ss.shichi(x)[0]

    POINTS += [
        (ss.logsumexp, (ZERO,)), (ss.logsumexp, (ONE, None, abs(X))), (ss.softmax, (ZERO,)),
        (ss.log_softmax, (ZERO,)), (ss.spence, (ONE,)), (ss.spence, (0.76 * ONE,)),
        (ss.spence, (ONE + 0j,)), (ss.xlogy, (ZERO, ONE)), (ss.xlog1py, (ZERO, ONE)),
        (ss.kl_div, (ONE, ONE)), (ss.rgamma, (np.array([0.0, -1.0, -3.0]),)),
        (ss.binom, (2 * ONE, 3 * ONE)), (integrals, (ZERO,)), (integrals, (X,)),
        (ss.fresnel, (ZERO,)), (ss.poch, (np.array([0.0, -1.0]), 2)),
        (ss.eval_legendre, (1, -ONE)), (nd.correlate1d, (np.arange(4.0), np.zeros(3))),
        (ss.struve, (0, ZERO)),
        (ss.modstruve, (1, ZERO)), (ss.exprel, (ZERO,)), (ss.jv, (0, ZERO)), (ss.airy, (ZERO,)),
    ]  # fmt: skip


def named(point: tuple[Callable[..., Any], tuple[Any, ...]]) -> str:
    return Case(*point).id


def check_at(case: Case, args: tuple[Any, ...], name: str) -> int:
    """Compare the second derivatives at a point, and return how many there were."""
    count = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for program, found, expected, scale in comparisons(case, args):
            assert_allclose(
                found, expected, rtol=0, atol=RTOL * scale, err_msg=f"{case.id}, {name}, {program}"
            )
            count += 1
    return count


@pytest.mark.sampled(5)
@pytest.mark.parametrize("point", POINTS, ids=named)
def test_smooth_at_special_points(point: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    case = Case(*point)
    name, args = next(special_points(case))
    assert check_at(case, args, name) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if not name.endswith(BY_DIFFERENCES)],
    ids=lambda name: name.rpartition(".")[2],
)
def test_all_cases_at_special_points(name: str) -> None:
    wrong = []
    checked = Counter[Any]()
    for case in smooth_cases(name):
        checked[case.function] += 1
        if checked[case.function] > MOST or is_single(case) or in_pieces(case):
            continue
        for point, args in special_points(case):
            if name.endswith(OF_MATRICES) and point not in WITH_ZEROS:
                continue
            try:
                check_at(case, args, point)
            except AssertionError as error:
                wrong.append(str(error))
            except (MissingRuleError, DerivativeDropError):
                pass  # refused is not wrong
            except (ValueError, ArithmeticError, RuntimeError):
                pass  # the point is not in the domain, or spans no triangles
    assert not wrong, "\n".join(wrong)


def in_pieces(case: Case) -> bool:
    """Whether a case computes something else where numbers are zero or equal."""
    return any(part in case.id for part in IN_PIECES)


def is_single(case: Case) -> bool:
    """Whether a case computes in single precision, in which differences are of no use."""
    single = (np.float32, np.complex64, np.float16)
    dtypes = [case.kwargs.get("dtype"), *(getattr(x, "dtype", None) for x in case.args)]
    return "float32" in case.id or any(dtype in single for dtype in dtypes)


# Orders above the second, in closed form.


def derivative(f: Callable[[float], Any], order: int) -> Callable[[float], Any]:
    """Return the derivative of a function of one number, of any order."""
    for _ in range(order):
        f = grad(f)
    return f


ENDS = [
    ("gammainc", (2,), 0.0, 1.0), ("gammainc", (1,), 0.0, -1.0), ("gammaincc", (2,), 0.0, -1.0),
    ("betainc", (2, 3), 0.0, 12.0), ("betainc", (1, 3), 0.0, -6.0), ("betainc", (2, 2), 1.0, -6.0),
    ("chdtr", (4,), 0.0, 1 / 4), ("pdtr", (1,), 0.0, -1.0), ("pdtr", (0,), 0.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "x", "expected"), ENDS)
def test_second_derivative_of_distributions_at_the_ends(
    name: str, shapes: tuple[int, ...], x: float, expected: float
) -> None:
    special = pytest.importorskip("scipy.special")

    def distribution(z: float) -> Any:
        return getattr(special, name)(*shapes, z)

    assert_allclose(derivative(distribution, 2)(x), expected)


@pytest.mark.thorough
def test_third_and_fourth_derivatives_at_special_points() -> None:
    def softplus(x: float) -> Any:
        return np.logaddexp(0.0, x)

    def square_by_power(p: float) -> Any:
        return 3.0**p

    log_3 = math.log(3)
    assert_allclose([derivative(softplus, k)(0.0) for k in (2, 3, 4)], [1 / 4, 0, -1 / 8])
    assert_allclose([derivative(np.sinc, k)(0.0) for k in (2, 4)], [-(np.pi**2) / 3, np.pi**4 / 5])
    assert_allclose(
        [derivative(square_by_power, k)(0.0) for k in (1, 2, 3)], [log_3, log_3**2, log_3**3]
    )
    cube = np.array([0.0]), np.array([1.0])
    assert_allclose(jvp(lambda x: jvp(hessian(lambda z: np.sum(z**3)), (x,), cube[1:])[1],
                        cube[:1], cube[1:])[1], [[0.0]], atol=1e-12)  # fmt: skip


@pytest.mark.thorough
def test_fourth_derivative_of_the_bessel_function_at_zero() -> None:
    def bessel(x: float) -> Any:
        return np.i0(np.array([x]))[0]

    assert_allclose([derivative(bessel, k)(0.0) for k in (2, 3, 4)], [1 / 2, 0, 3 / 8])


# Programs.


@pytest.mark.parametrize(
    ("variance", "count"), [(statistics.variance, 2), (statistics.pvariance, 3)]
)
def test_variance_of_equal_numbers_is_smooth(variance: Callable[..., Any], count: int) -> None:
    def of_list(x: np.ndarray) -> Any:
        return variance([x[0], x[1], x[2]])

    assert_allclose(hessian(of_list)(np.ones(3)), 2 * (np.eye(3) - 1 / 3) / count, atol=1e-14)


def test_hessian_of_a_logistic_regression_at_zero() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((6, 3)), np.array([1.0, -1, 1, 1, -1, -1])

    def loss(w: np.ndarray) -> Any:
        return np.sum(np.logaddexp(0.0, -labels * (features @ w)))

    assert_allclose(hessian(loss)(np.zeros(3)), features.T @ features / 4, rtol=1e-12)
    assert np.isfinite(hessian(loss)(np.full(3, 1e3))).all()  # where exponentials overflow


def test_hessian_of_a_determinant_is_made_of_minors() -> None:
    diagonal = np.diag([1.0, 0.0, 0.0])
    second = hessian(np.linalg.det)(diagonal)
    expected = np.zeros((3, 3, 3, 3))
    expected[1, 1, 2, 2] = expected[2, 2, 1, 1] = 1.0
    expected[1, 2, 2, 1] = expected[2, 1, 1, 2] = -1.0
    assert_allclose(second, expected, atol=1e-12)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("values", [
    np.linalg.eigvalsh, np.linalg.eigvals, lambda a: np.linalg.svd(a, compute_uv=False),
    lambda a: np.linalg.eigh(a)[0], lambda a: np.linalg.svd(a)[1],
])  # fmt: skip
def test_second_derivatives_of_values_that_coincide_are_refused(values: Any) -> None:
    def of_squares(a: np.ndarray) -> Any:
        return np.sum(np.real(values(a) ** 2))

    assert np.isfinite(hessian(of_squares)(np.diag([1.0, 2.0]))).all()
    with pytest.raises(MissingRuleError, match="coincide"):
        hessian(of_squares)(np.eye(2))


@pytest.mark.thorough
@pytest.mark.without_modes("forward mode is refused there too: it transposes the pullback")
def test_second_derivative_of_a_logarithm_on_its_branch_cut_is_refused() -> None:
    linalg = pytest.importorskip("scipy.linalg")

    def log(a: np.ndarray) -> Any:
        return np.sum(np.real(linalg.logm(a)) ** 2)

    assert np.isfinite(hessian(log)(np.diag([2.0, 0.5]))).all()
    assert np.isfinite(grad(log)(np.array([[2.0, 0.1], [0.3, -0.5]]))).all()
    with pytest.raises(MissingRuleError, match="branch cut"):
        hessian(log)(np.array([[2.0, 0.1], [0.3, -0.5]]))


@pytest.mark.without_modes("it is NaN there", "compiled")
def test_zero_tangent_beside_an_infinite_slope_keeps_its_derivative() -> None:
    def roots(x: float) -> Any:
        return np.sum(np.sqrt(np.array([0.0 * x, x])))

    def tangent(c: float) -> Any:
        return jvp(roots, (4.0,), (c,))[1]

    assert_allclose(grad(tangent)(0.0), 1 / 4)
