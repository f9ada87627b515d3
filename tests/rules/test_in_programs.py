"""The rules at work: each case as part of a program that writes in place before and after.

`test_rule` checks a rule by itself.  Here the arguments are memory that was written to before the
call and is overwritten after it, as are the results; and the program runs in all precisions.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.rules import cases as families
from tests.rules.cases import Case
from tests.support.marks import each_second
from tests.support.pairs import rotating

LEFT_OUT = ("nondifferentiable", "scipy")  # steps; functions with narrow domains
DECOMPOSITIONS = ("eigen", "factorizations", "linalg", "singular_values")
FAMILIES = [m.name for m in pkgutil.iter_modules(families.__path__) if m.name not in LEFT_OUT]
STEP = 1e-5
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # central, fourth order
RTOL = {np.float16: 1e-2, np.float32: 1e-4, np.longdouble: 1e-8, np.complex64: 1e-4}


def smooth_cases(family: str) -> Iterator[Case]:
    """Yield the cases of a family that have a derivative with respect to an array."""
    module = importlib.import_module(f"{families.__name__}.{family}")
    for case in module.cases() if hasattr(module, "cases") else ():
        kwargs = case.kwargs
        unset = isinstance(case.function, np.ufunc) and "where" in kwargs and "out" not in kwargs
        coarse = kwargs.get("dtype") is np.float32
        if not (case.interface_only or unset or coarse) and any(map(is_inexact, case.args)):
            yield case


def is_inexact(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.size > 0


def numbers(y: Any) -> Iterator[Any]:
    """Yield the arrays and numbers with a derivative in a result."""
    if isinstance(y, (list, tuple)):
        for part in y:
            yield from numbers(part)
    elif isinstance(y, (float, complex, np.inexact)) or is_inexact(y):
        yield y


def program(case: Case) -> Any:
    """Return a function of the arrays among the arguments, to one number."""

    def run(*arrays: Any) -> Any:
        rest = iter(arrays)
        args = []
        for x in case.args:
            if is_inexact(x):
                x = np.array(next(rest))
                x *= 1.25
            args.append(copy.deepcopy(x) if isinstance(x, list) else x)
        total = 0.0
        y = case.function(*args, **copy.deepcopy(case.kwargs))
        for part in numbers(y):
            total = total + weighted(part)
            if isinstance(part, np.ndarray) and part.flags.writeable and 0 not in part.strides:
                part *= 0.5
                total = total + weighted(part)
        for x in args:
            if is_inexact(x):
                x[...] = 0.75
        return total

    return run


def weighted(part: Any) -> Any:
    """Return an inner product with fixed numbers."""
    weights = 1.0 + 0.25 * np.cos(np.arange(float(np.size(part)))).reshape(np.shape(part))
    return np.sum(np.real(part) * weights) + np.sum(np.imag(part) * weights) * 0.5


def directional(f: Any, arrays: list[Any], directions: list[Any]) -> float:
    """Return the derivative in a direction by differences."""
    return (
        sum(
            weight * float(f(*(a + k * STEP * d for a, d in zip(arrays, directions, strict=True))))
            for k, weight in WEIGHTS
        )
        / STEP
    )


@pytest.mark.sampled(7)
@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array")
@pytest.mark.parametrize("family", each_second(FAMILIES))
def test_cases_between_writes_match_differences(family: str) -> None:
    for case in smooth_cases(family):
        f, arrays = program(case), [x.copy() for x in case.args if is_inexact(x)]
        rng = np.random.default_rng(0)
        directions = [
            rng.standard_normal(a.shape) + (1j * rng.standard_normal(a.shape) if a.dtype.kind == "c"
                                            else 0) for a in arrays
        ]  # fmt: skip
        value, gradients = value_and_grad(f, tuple(range(len(arrays))))(*arrays)
        np.testing.assert_allclose(value, f(*arrays), rtol=1e-12, err_msg=case.id)
        terms = [np.real(np.conj(g) * d) for g, d in zip(gradients, directions, strict=True)]
        scale = sum(np.sum(np.abs(t)) for t in terms) + abs(value) + 1.0
        np.testing.assert_allclose(
            sum(np.sum(t) for t in terms), directional(f, arrays, directions),
            rtol=0, atol=1e-6 * scale, err_msg=case.id,
        )  # fmt: skip


def check_dtypes(case: Case, dtype: Any) -> None:
    """Require gradients of the dtype of the arguments, and right in its precision."""
    arrays = [x for x in case.args if is_inexact(x)]
    if any(x.dtype != np.float64 for x in arrays):
        return
    f, argnums = program(case), tuple(range(len(arrays)))
    converted = [x.astype(dtype) for x in arrays]
    if not agrees(f, converted, RTOL[dtype]):
        return
    _, gradients = value_and_grad(f, argnums)(*converted)
    for g, x in zip(gradients, converted, strict=True):
        assert (g.dtype, g.shape) == (x.dtype, x.shape), case.id
    if dtype not in (np.complex64, np.float16):
        _, expected = value_and_grad(f, argnums)(*[x.astype(np.float64) for x in converted])
        for g, h in zip(gradients, expected, strict=True):
            scale = 100 * RTOL[dtype] * (1 + np.max(np.abs(h)))
            assert np.max(np.abs(g - h)) <= scale, case.id


@pytest.mark.sampled(4)
@pytest.mark.parametrize("family", each_second(FAMILIES))
def test_some_gradients_have_the_dtype_of_the_arguments(family: str) -> None:
    for case in list(smooth_cases(family))[::4]:
        check_dtypes(case, np.float32)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "dtype"), rotating(FAMILIES, RTOL, times=2))
def test_gradients_have_the_dtype_of_the_arguments(family: str, dtype: Any) -> None:
    if dtype is np.complex64 and family in DECOMPOSITIONS:
        pytest.skip("the phases of complex vectors are arbitrary, and programs see them")
    for case in smooth_cases(family):
        check_dtypes(case, dtype)


def agrees(f: Any, arrays: list[Any], rtol: float) -> bool:
    """Tell whether NumPy computes the function in this precision, to much the same number."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = f(*arrays)
            wide = np.complex128 if np.iscomplexobj(arrays[0]) else np.float64
            return bool(np.isclose(value, f(*(x.astype(wide) for x in arrays)), rtol=rtol))
    except Exception:
        return False
