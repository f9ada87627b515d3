"""Results within derivatives are those of the plain call: types, bits, strides, shared memory."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tests.rules.cases
from mooncake_py import grad
from tests.packages.collected import NAMES, package
from tests.rules.cases import Case
from tests.rules.cases.scipy import PARTS
from tests.support.pairs import of_each_kind
from tests.support.plain_results import differences, in_layouts

pytestmark = pytest.mark.without_modes("compares with plain calls")

INEXACT = {
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-bsr-vector-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-bsr-vectors-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-csr-matrices-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-matrices-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-vector-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-vectors-complex",
    "scipy.sparse_linalg: tests.rules.cases.scipy.sparse_linalg.by_exponential-f64(7)",
    "scipy.sparse_linalg: tests.rules.cases.scipy.sparse_linalg.by_triangle-complex",
}
"""Cases whose last digits may be others: the functions that docs/scipy.md lists."""

UP_TO_ROUNDING = {"numba: vectorize, dynamic"}
"""Jitted functions whose source has other bits than their machine code, as docs/numba.md says."""

APART = {"shares_memory", "may_share_memory"}
"""Functions of arguments that share memory, which are separate variables in a derivative."""


def modules() -> Iterator[tuple[str, Any]]:
    """Yield the families of rules, by name, with the modules of their cases."""
    for found in pkgutil.iter_modules(tests.rules.cases.__path__):
        if found.name != "scipy":
            yield found.name, import_module(f"tests.rules.cases.{found.name}")
    for part in PARTS:
        yield f"scipy.{part}", import_module(f"tests.rules.cases.scipy.{part}")


FAMILIES = {name: module.cases() for name, module in modules() if hasattr(module, "cases")}
CASES = [(name, case) for name, cases in FAMILIES.items() for case in cases]


def problems(name: str, case: Case, every_layout: bool) -> list[str]:
    """Return how results of a case differ from those of the plain call."""
    title = f"{name}: {case.id}"
    if title in INEXACT or getattr(case.function, "__name__", "") in APART:
        return []
    return [
        f"{title}, {text}" for text in found(case.function, case.args, case.kwargs, every_layout)
    ]


def found(f: Any, args: Any, kwargs: Any, every_layout: bool = True) -> Iterator[str]:
    for label, changed in in_layouts(args):
        for text in differences(f, changed, kwargs):
            yield f"{label}, {text}"
        if not every_layout:
            return


def test_some_cases() -> None:
    some = [problem for name, case in CASES[7::200] for problem in problems(name, case, False)]
    assert not some, "\n".join(some)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_all_cases_of_rules(name: str) -> None:
    first = {id(case) for case in of_each_kind(FAMILIES[name], lambda case: case.function)}
    wrong = [
        problem
        for case in FAMILIES[name]
        for problem in problems(name, case, every_layout=id(case) in first)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_functions_of_packages(name: str) -> None:
    wrong = [
        f"{case}, {text}"
        for case in package(name).cases
        if not case.refused and str(case) not in UP_TO_ROUNDING
        for text in found(case.function, case.arguments, {})
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_inexact_ones_are_inexact() -> None:
    titles = {f"{name}: {case.id}": case for name, case in CASES}
    assert titles.keys() >= INEXACT
    for title in INEXACT:
        case = titles[title]
        assert list(found(case.function, case.args, case.kwargs)), f"{title} has become exact"


# Objects of SciPy: attributes and results of methods.

X = np.array([0.0, 0.7, 1.5, 2.2, 3.0])
T = np.array([0.2, 1.1, 2.7])
POINTS = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9], [0.7, 0.8]])
TURNS = np.array([[0.3, -0.4, 1.1], [0.2, 1.7, -0.6], [2.0, 0.1, 0.4]])
KNOTS = [0, 0, 0, 0, 1, 3, 3, 3, 3]


def attributes(value: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in names)


def of_scipy() -> dict[str, tuple[Any, Any]]:
    """Return programs with objects of SciPy, and their arguments."""
    si, ss = pytest.importorskip("scipy.interpolate"), pytest.importorskip("scipy.spatial")
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    turned = rotation.from_rotvec
    rng = np.random.default_rng
    return {
        "PPoly": (lambda c: attributes(si.PPoly(c, X), "c", "x"), POINTS[:4].T),
        "KDTree": (lambda p: attributes(ss.KDTree(p), "data", "n", "m"), POINTS),
        "KDTree(copy_data=True)": (lambda p: ss.KDTree(p, copy_data=True).data, POINTS),
        "BSpline": (lambda c: attributes(si.BSpline(KNOTS, c, 3), "c", "t", "k"), POINTS),
        "BSpline.derivative": (lambda c: si.BSpline(KNOTS, c, 3).derivative().c, POINTS),
        "CubicSpline": (lambda y: attributes(si.CubicSpline(X, y), "c", "x"), POINTS),
        "interp1d": (lambda y: attributes(si.interp1d(X, y, axis=0), "x", "y"), POINTS),
        "RegularGridInterpolator": (
            lambda v: attributes(si.RegularGridInterpolator((X, X[:2]), v), "values"), POINTS,
        ),
        "UnivariateSpline": (
            lambda y: (si.UnivariateSpline(X, y, s=0)(T), si.UnivariateSpline(X, y, s=0)(0.3)),
            np.sin(X),
        ),
        "splrep": (lambda y: (si.splrep(X, y), si.splev(T, si.splrep(X, y), 1)), np.cos(X)),
        "as_quat": (lambda r: turned(r).as_quat(), TURNS),
        "as_quat of one": (lambda q: rotation.from_quat(q).as_quat(), np.arange(1.0, 5.0)),
        "apply": (lambda v: turned([0.1, 0.2, 0.3]).apply(v), TURNS),
        "power 1": (lambda r: (turned(r) ** 1.0).as_quat(), TURNS),
        "reduce": (lambda r: turned(r).reduce(rotation.create_group("O")).as_quat(), TURNS),
        "as_euler": (lambda r: turned(r).as_euler("zyx", degrees=True), TURNS),
        "permuted": (lambda p: rng(0).permuted(p), POINTS),
        "permuted(axis=0)": (lambda p: rng(0).permuted(p, axis=0), POINTS),
        "permutation(axis=1)": (lambda p: rng(0).permutation(p, axis=1), POINTS),
        "choice(axis=1)": (lambda p: rng(0).choice(p, 3, axis=1), POINTS),
    }  # fmt: skip


@pytest.mark.thorough
def test_objects_of_scipy() -> None:
    wrong = [
        f"{name}, {text}" for name, (f, a) in of_scipy().items() for text in found(f, (a,), {})
    ]
    assert not wrong, "\n".join(wrong)


def test_reduced_rotations_have_their_derivative() -> None:
    """SciPy's own version in Python returns something else."""
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    groups = rotation.create_group("O"), rotation.create_group("C3")
    for left, right in [(groups[0], None), (None, groups[1]), groups]:

        def f(r: Any, left: Any = left, right: Any = right) -> Any:
            reduced = rotation.from_rotvec(r).reduce(left, right)
            return np.sum(reduced.as_matrix() * np.arange(9.0).reshape(3, 3))

        step = 1e-6 * TURNS[::-1]
        expected = (f(TURNS + step) - f(TURNS - step)) / 2e-6
        np.testing.assert_allclose(np.sum(grad(f)(TURNS) * TURNS[::-1]), expected, rtol=1e-7)


# What the comparison finds.


def test_the_comparison_finds_differences() -> None:
    x = np.arange(6.0).reshape(2, 3) / 7 + 0.3
    calls: list[int] = []

    def unsteady(kinds: Any) -> Any:
        def f(x: Any) -> Any:
            calls.append(1)
            return kinds[min(len(calls), 2) - 1](x)

        return f

    for texts, *kinds in [
        ("bits", lambda x: x + 0.0, lambda x: x + 1e-15),
        ("type", lambda x: np.float64(x[0, 0]) * 1.0, lambda x: x[0, :1] * 1.0),
        ("strides", lambda x: x * 1.0, lambda x: np.asfortranarray(x * 1.0)),
        ("shares", lambda x: x.T, lambda x: x.T.copy("K")),
        ("may be written", lambda x: np.diagonal(x), lambda x: x.reshape(-1)[::4]),
        ("random state", lambda x: x * 1.0, lambda x: x * np.random.random() ** 0.0),  # noqa: NPY002
    ]:
        calls.clear()
        messages = list(differences(unsteady(kinds), (x,), {}))
        assert any(texts in message for message in messages), (texts, messages)
