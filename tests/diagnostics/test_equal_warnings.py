"""A derivative issues the warnings of the plain call: as many, in order, at the same places."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.pairs import rotating

X = np.random.default_rng(9).standard_normal((3, 4))
HILBERT = 1.0 / (1.0 + np.add.outer(np.arange(13), np.arange(13)))


def divided_elements(x: Any) -> Any:
    y = np.zeros(20)
    for i in range(20):
        y[i] = x[0, i % 4] / (i - 5.0)
    for i in range(20):
        y[i] = 1.0 / np.log(float(i) + 0 * x[0, 0])
    return y


def written(x: Any) -> Any:
    y = x * 1.0
    y[1:] /= y[:-1] * 0
    y += y * 1e308 * 10
    return y


def in_place_by_larger_numbers(x: Any) -> Any:
    y = x.astype(np.float32)
    y[:2] *= np.array([1e300, 1.0, 1.0, 1.0])
    return y


def repeated(x: Any) -> Any:
    return np.hypot(x * 1e308, x * 1e308) + np.log(-x * x) * np.log(-x * x)


def repeated_numbers(x: Any) -> Any:
    a = abs(x[0, 0])
    return a * 1e308 * 1e9 + a * 1e308 * 1e9


def ignored(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.prod(x * 1e200) + np.median(x[:, 0] / 0)


# fmt: off
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: np.add(x, 1j).astype(float),
    "number over zero": lambda x: x[0, 0] / 0,
    "complex over zero": lambda x: (x + 1j) / 0,
    "complex number": lambda x: abs(x[0, 0] * 1j * 1e308 * 10),
    "mean": lambda x: np.mean(x[:0]),
    "std": lambda x: np.std(x[:0]),
    "median": lambda x: np.median(x[:0]),
    "average": lambda x: np.average(x[:0]),
    "var": lambda x: np.var(x[:1], axis=0, ddof=1),
    "nanstd": lambda x: np.nanstd(x * np.nan),
    "nanmean": lambda x: np.nanmean(x * np.nan, axis=0),
    "nanmedian": lambda x: np.nanmedian(x * np.nan),
    "nanmedian along an axis": lambda x: np.nanmedian(x * np.nan, axis=0),
    "nansum": lambda x: np.nansum(abs(x) * 1e308),
    "prod": lambda x: np.prod(x * 1e200),
    "cumprod": lambda x: np.cumprod(abs(x) * 1e100),
    "cumsum": lambda x: np.cumsum(abs(x) * 1e308),
    "det": lambda x: np.linalg.det(np.eye(4) * x[0] * 1e200),
    "quantile": lambda x: np.quantile(x * np.inf, 0.3),
    "corrcoef": lambda x: np.corrcoef(np.stack([x[0], x[0] * 0])),
    "outer": lambda x: np.subtract.outer(x[0] * np.inf, x[0] * np.inf),
    "divmod": lambda x: np.divmod(x, 0)[1],
    "clip": lambda x: np.clip(x * 1e308 * 9, -1, 1),
    "reduce": lambda x: np.multiply.reduce(x * 1e200, axis=0),
    "accumulate": lambda x: np.add.accumulate(abs(x) * 1e308),
    "sum": lambda x: np.sum(abs(x) * 1e308) + np.sum(x),
    "into an array": lambda x: np.multiply(x, x[0] / 0, out=x * 1.0),
    "into an array by an empty mean": lambda x: np.multiply(x, np.mean(x[:0]), out=x * 1.0),
    "masked": lambda x: np.where(x > 0, np.sqrt(x), 0),
    "elements": divided_elements,
    "element as a smaller type": lambda x: (x[0, 0] * 1e300).astype(np.float32),
    "complex element as a float": lambda x: (x[0, 0] * 1j).astype(float),
    "maximum of complex nan": lambda x: np.fmax(x * (1j + np.nan), np.maximum(x * 1j, np.nan)),
    "clip of complex nan": lambda x: np.clip(x * (1j + np.nan), 0, 2),
    "maximum with too large a number": lambda x: np.maximum(x.astype(np.float32), 1e39),
    "fill": lambda x: np.zeros(3, np.float32).fill(x[0, 0] * 1e300),
    "copy of a number": lambda x: np.copyto(x.astype(np.float32), 1e300, where=x > 0),
    "copy to floats": lambda x: np.copyto(np.zeros((3, 4)), x + 1j, casting="unsafe"),
    "into a smaller type": lambda x: np.multiply(x, 1e300, out=np.zeros((3, 4), np.float32)),
    "into floats": lambda x: np.add(x, 1j, out=np.zeros((3, 4)), casting="unsafe"),
    "sum into a smaller type": lambda x: np.sum(abs(x) * 1e300, out=np.zeros((), np.float32)),
    "elements into a smaller type": lambda x: np.take(
        x * 1e300, [0, 1], out=np.zeros(2, np.float32), mode="clip"
    ),
    "in place by larger numbers": in_place_by_larger_numbers,
    "variance of nothing": lambda x: np.var(x[:0], axis=0) + np.std(x, axis=0, where=x > 99),
    "written": written,
    "repeated": repeated,
    "repeated numbers": repeated_numbers,
    "ignored": ignored,
}
# fmt: on
OF_SCIPY: dict[str, Callable[[Any, Any], Any]] = {
    "centre of mass": lambda scipy, x: scipy.ndimage.center_of_mass(x * 0),
    "ill-conditioned": lambda scipy, x: scipy.linalg.solve(HILBERT * x[0, 0] ** 2, np.ones(13)),
    "grid": lambda scipy, x: scipy.interpolate.RegularGridInterpolator(
        ([0, 1, 2], [0, 1, 2, 3]), x * np.inf
    )([[0.5, 0.5]]),
    "softmax": lambda scipy, x: scipy.special.softmax(x * np.inf),
    "skew": lambda scipy, x: scipy.stats.skew(x * 0, axis=None),
}
MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: value_and_grad(f, has_aux=True)(X.copy())[0][1],
    "debug": lambda f: value_and_grad(f, has_aux=True, debug=True)(X.copy())[0][1],
    "compile": lambda f: value_and_grad(f, has_aux=True, compile=True)(X.copy())[0][1],
    "jvp": lambda f: jvp(f, (X.copy(),), (0.3 * X,))[0][1],
}


def noting(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function with the warnings of a program as a second result."""

    def run(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            program(x)
        return np.sum(x), [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in log]

    return run


@pytest.mark.plain
@pytest.mark.parametrize(("name", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_warnings_are_those_of_the_plain_call(name: str, mode: str) -> None:
    f = noting(PROGRAMS[name])
    assert MODES[mode](f) == f(X.copy())[1]


QUIETLY: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: value_and_grad(f)(X.copy()),
    "jvp": lambda f: jvp(f, (X.copy(),), (0.3 * X,)),
}


# Expressions that stand in a statement twice may be computed once.
@pytest.mark.plain
@pytest.mark.parametrize(
    ("name", "mode"), rotating([n for n in PROGRAMS if not n.startswith("repeated")], QUIETLY)
)
def test_what_computes_the_derivative_issues_none(name: str, mode: str) -> None:
    def f(x: Any) -> Any:
        y = PROGRAMS[name](x)
        return np.sum(x) if y is None else np.real(np.sum(y)) + np.sum(x)

    def noted(run: Callable[[], Any]) -> list[str]:
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            run()
        return [str(w.message) for w in log]

    assert noted(lambda: QUIETLY[mode](f)) == noted(lambda: f(X.copy()))


@pytest.mark.plain
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OF_SCIPY)
def test_warnings_of_scipy_are_those_of_the_plain_call(name: str, mode: str) -> None:
    scipy = pytest.importorskip("scipy")
    for module in ("ndimage", "linalg", "interpolate", "special", "stats"):
        pytest.importorskip(f"scipy.{module}")
    f = noting(lambda x: OF_SCIPY[name](scipy, x))
    assert MODES[mode](f) == f(X.copy())[1]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("ignored", "written")])
def test_warnings_that_are_errors_are_caught_where_they_arise(name: str) -> None:
    def strict(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                PROGRAMS[name](x)
            except (RuntimeWarning, np.exceptions.ComplexWarning):
                return np.sum(x) * 2.0
        return np.sum(x) * 3.0

    expected = strict(X.copy())
    assert value_and_grad(strict)(X.copy())[0] == expected
    assert jvp(strict, (X.copy(),), (X,))[0] == expected


def test_what_numpy_is_set_to_raise_is_raised() -> None:
    def strict(x: Any) -> Any:
        with np.errstate(all="raise"):
            try:
                return np.prod(x * 1e200)
            except FloatingPointError:
                return np.sum(x) * 2.0

    np.testing.assert_array_equal(value_and_grad(strict)(X)[1], np.full((3, 4), 2.0))
    assert jvp(strict, (X,), (X,)) == (2.0 * np.sum(X), 2.0 * np.sum(X))
