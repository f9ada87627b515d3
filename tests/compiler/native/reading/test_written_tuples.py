"""Tuples and lists of numbers that are written to elements of arrays."""

from __future__ import annotations

import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "y = 2 * x; y[:2] = x[0] * x[1], x[2]**2; y @ x",
    "C = A * 1; C[:2, 1:3] = x[0], 3; C[4] = [x[1], 1, 2.0, A[2, 2], y[0]]; (C * B).sum()",
    "y = x * 1; y[:2] = y[1], y[0]; y[:2] = y[1] * 2, y[0]; y @ x",
    "C = A * 1; C[:2, :2] = (C[1, 0], 1), (x[0], C[0, 0]); (C * B).sum()",
    "C = A * 1; C[[0, 1], [1, 2]] = x[0], x[1] * 2; (C * B).sum()",
    "J = I * 1; J[0, :2] = 1, 0; x[J[0, 0]] * y[J[0, 1]]",
]
REFUSED = [
    # NumPy writes the first row before it reads the last one.
    "C = A * 1; C[:3] = C[1], x, C[0]; (C * B).sum()",
    "y = x * 1; y[:2] = True, x[0]; y @ x",
    "J = I * 1; J[0, :2] = 1.5, 0.5; x[J[0, 0]] * y[J[0, 1]]",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_tuples_are_written_as_arrays(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize("text", REFUSED)
def test_rows_and_numbers_of_other_kinds_are_written_without_compilation(
    text: str, tried: list[bool]
) -> None:
    f = function(text)
    agree(f)
    assert report(f)[0].found == "not compiled"


@pytest.mark.thorough
def test_too_few_numbers_are_numpys_error() -> None:
    pytest.importorskip("llvmlite")
    f = function("y = x * 1; y[:] = x[0], x[1]; y @ x")
    with pytest.raises(ValueError, match=r"could not broadcast .* shape \(2,\) into shape \(5,\)"):
        value_and_grad(f, compile=True)(*copies())
