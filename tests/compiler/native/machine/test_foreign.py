"""Python functions that compiled code calls: read, and compiled for themselves, or by Numba."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.llvm.signature import Foreign
from mooncake_py.compiler.native.machine import foreign as foreign_module
from mooncake_py.compiler.native.machine.built import built
from mooncake_py.compiler.native.machine.foreign import foreign_address
from mooncake_py.compiler.native.machine.levels import BEST, QUICK
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.rules.declare import elementwise
from tests.compiler.native.writing import written

pytest.importorskip("llvmlite")

EMPTY = np.empty(0)
RNG = np.random.default_rng(0)
FACTOR = 2.0


# Functions of arrays.


def by_address(f: Callable[..., Any], *arrays: np.ndarray) -> int:
    """Call the function of C."""
    foreign = Foreign(f, tuple([("float", a.ndim) for a in arrays]), "bool")
    address = foreign_address(foreign, QUICK if len(arrays[-1]) % 2 else BEST)
    types: list[Any] = []
    passed: list[int] = []
    for a in arrays:
        types += [ctypes.c_void_p, *[ctypes.c_int64] * a.ndim]
        passed += [a.ctypes.data, *a.shape]
    return ctypes.CFUNCTYPE(ctypes.c_int8, *types)(address)(*passed)


def agrees(f: Callable[..., Any], *arrays: np.ndarray) -> None:
    """Require that a function does the same as plain Python and by its address."""
    plain, compiled = ([a.copy() for a in arrays] for _ in range(2))
    with np.errstate(all="ignore"):
        done = f(*plain)
    assert by_address(f, *compiled) == int(done)
    for a, b in zip(plain, compiled, strict=True):
        assert_allclose(b, a, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 48, 51])
def test_systems(n: int) -> None:
    a, b, y = RNG.standard_normal((n, n)), RNG.standard_normal((n, 2)), np.empty((n, 2))
    p, low = a @ a.T + np.eye(n), np.zeros((n, n))
    assert systems.cholesky(low, p)
    agrees(systems.solve, y, a, b)
    agrees(systems.solve_transposed, y[:, :1].copy(), a, b[:, :1].copy())
    agrees(systems.cholesky, np.empty((n, n)), p)
    agrees(systems.solve_lower, y, low, b)
    agrees(systems.solve_lower_transposed, y, low, b)
    agrees(systems.cholesky_back, np.zeros((n, n)), low, RNG.standard_normal((n, n)))
    agrees(systems.determinant, np.empty(1), a / 3)
    agrees(systems.cofactors, np.empty((n, n)), a, np.ones(1))


def test_systems_without_solution() -> None:
    y = np.empty((2, 1))
    for a in (np.ones((2, 2)), np.diag([1.0, np.inf]), np.diag([1.0, np.nan])):
        agrees(systems.solve, y, a, np.ones((2, 1)))
    agrees(systems.solve, y, np.eye(2), np.full((2, 1), np.nan))
    assert not by_address(systems.cholesky, np.empty((2, 2)), np.diag([1.0, -1.0]))
    assert not by_address(systems.determinant, np.empty(1), np.diag([1.0, 1e-7]))


# Functions of numbers.


def compiled(f: Callable[..., Any], inputs: str = "a b", *, result: str = "s") -> Any:
    """Return a caller of a function of numbers."""
    kinds = {"k": "int", "t": "bool"}
    printer = Printer(kinds, {})
    printer.forward(
        written(f"{result} = f({', '.join(inputs.split())})", kinds, {"f": f}),
        inputs.split(),
        [result],
    )
    forward = built(printer)["forward"]
    return lambda *args: forward(EMPTY, *args)


def smooth(a: float, b: float) -> float:
    total = 0.0
    for k in range(3):
        total += math.sin(a) * k if a > b else b**k
    return total + inner(a)


def inner(a: float) -> float:
    return max(a, 0.5)


def rooted(a: float, b: float) -> float:
    return math.sqrt(a) / b


def as_text(a: float, b: float) -> float:
    return float(len(f"{a}")) + b


def scaled(a: float, b: float) -> float:
    return FACTOR * a + b


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(foreign_module, "MADE", {})


@pytest.mark.usefixtures("without_numba")
def test_functions_are_read() -> None:
    of = compiled(smooth)
    for a, b in ((0.3, 1.5), (1.5, -0.3), (-2.0, -3.0)):
        ok, *_, value = of(a, b)
        assert ok
        assert value == pytest.approx(smooth(a, b), rel=1e-15)


@pytest.mark.usefixtures("without_numba")
def test_kinds_of_arguments_and_results() -> None:
    def count(a: float, k: int) -> float:
        return a * k if k > 2 else k

    of = compiled(count, "a k")
    assert [of(1.5, k)[-1] for k in (1, 3)] == [1.0, 4.5]

    def always(a: float, b: float) -> float:
        return 2

    assert compiled(always)(0.5, 0.5)[-1] == 2.0


@pytest.mark.usefixtures("without_numba")
def test_partial_derivatives_do_not_raise() -> None:
    of = compiled(rooted)
    assert of(4.0, 0.5)[::3] == (True, 4.0)
    assert of(4.0, 0.0)[::3] == (True, math.inf)
    assert not of(-1.0, 0.5)[0]  # `math` raises in any case


@pytest.mark.usefixtures("without_numba")
def test_where_a_function_with_a_rule_raises_the_region_is_left() -> None:
    def over(a: float, b: float) -> float:
        return a / b

    elementwise(over, lambda a, b, y: 1 / b, lambda a, b, y: -y / b)
    of = compiled(over)
    assert of(4.0, 0.5)[::3] == (True, 8.0)
    assert not of(4.0, 0.0)[0]


@pytest.mark.usefixtures("without_numba")
def test_what_cannot_be_read_needs_numba() -> None:
    with pytest.raises(CannotCompile, match="numba"):
        compiled(as_text)


@pytest.mark.parametrize("f", [scaled, lambda a, b: scaled(a, b)])
def test_what_may_change_is_no_constant(f: Callable[..., Any]) -> None:
    with pytest.raises(CannotCompile, match="scaled reads the global variable FACTOR"):
        compiled(f)


def tried(a: float, b: float) -> float:
    if a < 0.0:
        raise ValueError("no root")
    found = (a, b)
    return sum(found)


def test_numba_compiles_what_cannot_be_read() -> None:
    pytest.importorskip("numba")
    of = compiled(tried)
    assert of(1.0, 2.0)[::3] == (True, 3.0)
    assert not of(-1.0, 2.0)[0]


def test_jitted_functions_with_rules() -> None:
    """They are what Numba compiled, also where their Python is something else."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def smoothed(a, b):
        return a * b + math.sin(a)

    @numba.njit("float64(int64)")
    def halved(a):
        return a / 2

    def power(k):
        r = 1
        for _ in range(k):
            r *= 3
        return r

    wrapping = numba.njit(power)
    of = compiled(smoothed)
    assert of(0.5, 2.0)[::3] == (True, pytest.approx(1.0 + math.sin(0.5)))
    assert compiled(halved, "a")(5.5)[::3] == (True, halved(5.5))
    assert compiled(wrapping, "k")(4)[::3] == (True, 81.0)
    wrapped = (3**41 + 2**63) % 2**64 - 2**63
    assert compiled(wrapping, "k")(41)[::3] == (True, float(wrapped))
