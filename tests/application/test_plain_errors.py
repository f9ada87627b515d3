"""What compiled functions check of their arguments: their replacements raise the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.application import plain_errors

X = np.random.default_rng(5).standard_normal((3, 4))


def drawing(method: str, *args: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a call of a method of a new generator."""

    def call(x: Any) -> Any:
        given = {key: v.copy() if type(v) is np.ndarray else v for key, v in options.items()}
        return np.sum(getattr(np.random.default_rng(0), method)(x, *args, **given))

    return call


def assign_ragged(x: Any) -> Any:
    x[0] = [1.0, [2.0], x[1, 1], 3.0]
    return np.sum(x)


CALLS: dict[str, Callable[[Any], Any]] = {
    "permuted into another shape": drawing("permuted", axis=0, out=np.zeros((2, 3, 4))),
    "permuted into less": drawing("permuted", axis=0, out=np.zeros((2, 2))),
    "permuted into float32": drawing("permuted", axis=0, out=np.zeros((3, 4), np.float32)),
    "permuted": drawing("permuted", axis=0, out=np.zeros((3, 4))),
    "permutation along no axis": drawing("permutation", axis=4),
    "permutation": drawing("permutation", axis=1),
    "choice of too many": drawing("choice", 9, False),
    "fft into real numbers": lambda x: np.sum(np.fft.fft(x, out=np.zeros((3, 4))).real),
    "ragged row": assign_ragged,
}
OF_SCIPY: dict[str, Callable[[Any, Any], Any]] = {
    "hstack of dense arrays": lambda sp, x: sp.sparse.hstack([x, x]).toarray().sum(),
    "vstack of dense arrays": lambda sp, x: sp.sparse.vstack([x, x]).toarray().sum(),
    "vstack of other widths": lambda sp, x: sp.sparse.vstack(
        [sp.sparse.csr_array(x), sp.sparse.csr_array(x[:, :2])]
    ).sum(),
    "bmat of other heights": lambda sp, x: sp.sparse.bmat(
        [[sp.sparse.csr_array(x), sp.sparse.csr_array(x[:2])]]
    ).sum(),
    "vstack": lambda sp, x: sp.sparse.vstack([sp.sparse.csr_array(x)] * 2).sum(),
    "expm of no square": lambda sp, x: sp.sparse.linalg.expm(sp.sparse.csc_array(x)).sum(),
    "expm_multiply of no square": lambda sp, x: np.sum(sp.sparse.linalg.expm_multiply(x, x)),
    "expm_multiply of another length": lambda sp, x: np.sum(
        sp.sparse.linalg.expm_multiply(x[:, :3], x[:2])
    ),
    "expm_multiply": lambda sp, x: np.sum(sp.sparse.linalg.expm_multiply(x[:, :3], x)),
    "cg of no square": lambda sp, x: sp.sparse.linalg.cg(sp.sparse.csr_array(x), x[0])[0].sum(),
    "fewer values": lambda sp, x: sp.interpolate.LinearNDInterpolator(x[:, :2], x[:2, 0]) and 1.0,
    "fewer nearest values": lambda sp, x: sp.interpolate.NearestNDInterpolator(x, x[:2]) and 1.0,
    "cdist into float32": lambda sp, x: np.sum(
        sp.spatial.distance.cdist(x, x, out=np.zeros((3, 3), np.float32))
    ),
    "cdist in another order": lambda sp, x: np.sum(
        sp.spatial.distance.cdist(x, x, out=np.zeros((3, 3), order="F"))
    ),
    "cdist of other points": lambda sp, x: np.sum(sp.spatial.distance.cdist(x, x[:, :2])),
    "cdist": lambda sp, x: np.sum(sp.spatial.distance.cdist(x, x + 1, out=np.zeros((3, 3)))),
}
MODULES = "ndimage", "sparse.linalg", "interpolate", "spatial.distance"


def outcome(run: Callable[[], Any]) -> str:
    """Return the result or the exception of a call, in words."""
    try:
        return f"{run():.9g}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(call: Callable[[Any], Any]) -> None:
    """Compare the outcomes of a call with those in derivatives, twice."""
    expected = outcome(lambda: call(X.copy()))
    for _ in range(2):
        assert outcome(lambda: value_and_grad(lambda x: call(x) * 1.0)(X)[0]) == expected
        assert outcome(lambda: jvp(lambda x: call(x) * 1.0, (X,), (X,))[0]) == expected


@pytest.mark.plain
@pytest.mark.parametrize("name", CALLS)
def test_errors_are_those_of_the_plain_call(name: str) -> None:
    check(CALLS[name])


@pytest.mark.plain
@pytest.mark.parametrize("name", OF_SCIPY)
def test_errors_of_scipy_are_those_of_the_plain_call(name: str) -> None:
    scipy = pytest.importorskip("scipy")
    for module in MODULES:
        pytest.importorskip(f"scipy.{module}")
    check(lambda x: OF_SCIPY[name](scipy, x))


def test_functions_run_once_for_types_and_shapes() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    calls = []

    def counted(*args: Any) -> Any:
        calls.append(args)
        return np.sum(args[0])

    counted.__module__ = linalg.__name__
    for x in (X, 2 * X, X, X[:2], X.T, X.astype(np.float32)):
        plain_errors.check_first(counted, (x, 1.0), {})
    assert len(calls) == 4
    assert all(args[0] is not X for args in calls)
    plain_errors.check_first(counted, (X, 2.0), {})
    assert len(calls) == 4
    plain_errors.check_first(counted, (X, 2), {})
    assert len(calls) == 5


def test_global_draws_of_the_check_are_put_back() -> None:
    pytest.importorskip("scipy.sparse.linalg")
    generator: Any = np.random.random.__self__

    def drawn(a: Any) -> None:
        generator.random(3)

    drawn.__module__ = "scipy.linalg"
    before = generator.get_state()[1].copy()
    plain_errors.check_first(drawn, (X,), {})
    np.testing.assert_array_equal(generator.get_state()[1], before)


PROGRAM = """
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as spl
from mooncake_py import grad
x = np.random.default_rng(5).standard_normal((3, 4))
for matrix in (lambda x: x, sp.csr_array):
    def f(x):
        return np.sum(spl.expm_multiply(matrix(x), x))
    for _ in range(50):
        try:
            grad(f)(x)
        except ValueError as error:
            assert "square" in str(error), error
        else:
            raise SystemExit(1)
"""


@pytest.mark.slow
def test_compiled_code_gets_no_matrix_that_is_not_square(tmp_path: Path) -> None:
    pytest.importorskip("scipy.sparse.linalg")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    found = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
