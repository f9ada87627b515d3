"""Loops over counters: the order of counters, what stands in one loop, and sums."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mooncake_py.compiler.native.form import Compiler
from mooncake_py.compiler.native.llvm.nests import nested
from mooncake_py.compiler.native.regions.contractions import Contraction
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.regions.ir import ForAll
from tests.compiler.native.test_golden import Shown
from tests.compiler.native.writing import written
from tests.support.interpreted import PLAIN, QUICKLY

FOLDER = Path(__file__).parents[1] / "golden"
EMPTY = np.empty(0)
KINDS = {"k": "int", "c": "int", "on": "bool", "i": "int", "j": "int", "m": "int"}

# For each its text, its arrays with their shapes, and what it computes.
Arrays = dict[str, np.ndarray]
CASES: dict[str, tuple[str, str, Callable[[Arrays], Arrays]]] = {
    "product_of_matrices": (
        "for i, j, m in all(len(x), size(y, 1), size(x, 1)):\n    z[i, j] += x[i, m] * y[m, j]",
        "x:3,4 y:4,5 z:3,5",
        lambda a: {"z": a["z"] + a["x"] @ a["y"]},
    ),
    "its_adjoint": (
        """
for i, j, m in all(len(x), size(y, 1), size(x, 1)):
    v = d_z[i, j]
    d_x[i, m] += v * y[m, j]
    d_y[m, j] -= v * x[i, m]
""",
        "x:3,4 y:4,5 d_x:3,4 d_y:4,5 d_z:3,5",
        lambda a: {
            "d_x": a["d_x"] + a["d_z"] @ a["y"].T,
            "d_y": a["d_y"] - a["x"].T @ a["d_z"],
        },
    ),
    "two_products": (
        """
for i, j, m in all(len(x), size(y, 1), size(x, 1)):
    z[i, j] -= x[i, m] * y[m, j] - w[m, i] * y[m, j]
""",
        "x:3,4 y:4,5 w:4,3 z:3,5",
        lambda a: {"z": a["z"] - a["x"] @ a["y"] + a["w"].T @ a["y"]},
    ),
    "matrix_times_vector": (
        "for i, j in all(len(x), size(x, 1)):\n    y[i] -= x[i, j] * z[j]",
        "x:3,4 y:3 z:4",
        lambda a: {"y": a["y"] - a["x"] @ a["z"]},
    ),
    "transposed_matrix_times_vector": (
        "for i, j in all(size(x, 1), len(x)):\n    y[i] += x[j, i] * z[j]",
        "x:3,4 y:4 z:3",
        lambda a: {"y": a["y"] + a["x"].T @ a["z"]},
    ),
    "column_times_row": (
        "for i in all(len(x)):\n    y[0] += x[i, 1] * x[2, i]",
        "x:4,4 y:1",
        lambda a: {"y": a["y"] + a["x"][:, 1] @ a["x"][2]},
    ),
    "adjoint_of_a_stencil": (
        """
for i in all(len(d_x) - 2):
    v = d_y[i + 1]
    d_y[i + 1] = 0.0
    d_x[i] += v
    d_x[i + 2] += v * z[i]
    d_z[i] += v * x[i + 2]
""",
        "x:6 z:4 d_x:6 d_y:6 d_z:4",
        lambda a: {
            "d_x": a["d_x"] + np.r_[a["d_y"][1:-1], 0, 0] + np.r_[0, 0, a["d_y"][1:-1] * a["z"]],
            "d_z": a["d_z"] + a["d_y"][1:-1] * a["x"][2:],
            "d_y": np.r_[a["d_y"][0], 0, 0, 0, 0, a["d_y"][-1]],
        },
    ),
    "adjoint_of_a_stencil_along_a_column": (
        """
for i in all(len(d_x) - 2):
    v = d_y[i + 1, 0]
    d_y[i + 1, 0] = 0.0
    d_x[i, 1] += v
    d_x[i + 2, 1] += 2.0 * v
""",
        "d_x:6,2 d_y:6,1",
        lambda a: {
            "d_x": a["d_x"]
            + np.outer(np.r_[a["d_y"][1:-1, 0], 0, 0], [0, 1])
            + np.outer(np.r_[0, 0, a["d_y"][1:-1, 0]], [0, 2]),
            "d_y": np.r_[a["d_y"][:1], np.zeros((4, 1)), a["d_y"][-1:]],
        },
    ),
    "stores_that_are_read_again": (
        "for i in all(4):\n    y[i] = x[i] * 2.0\n    d_x[i] += y[i]\n    d_x[i + 1] += y[i]",
        "x:4 y:4 d_x:5",
        lambda a: {
            "y": 2 * a["x"],
            "d_x": a["d_x"] + np.r_[2 * a["x"], 0] + np.r_[0, 2 * a["x"]],
        },
    ),
    "stores_at_two_places": (
        "for i in all(3):\n    v = y[i]\n    y[i] = 0.0\n    x[i + 1] = v\n    x[i] = v",
        "x:4 y:3",
        lambda a: {"y": np.zeros(3), "x": np.r_[a["y"], a["y"][-1]]},
    ),
    "sums_that_are_read": (
        "for i in all(4):\n    v = d_x[i]\n    d_y[i] += v\n    d_y[i + 1] += v\n    d_x[i] += v",
        "d_x:4 d_y:5",
        lambda a: {
            "d_x": 2 * a["d_x"],
            "d_y": a["d_y"] + np.r_[a["d_x"], 0] + np.r_[0, a["d_x"]],
        },
    ),
    "one_element_in_two_ways": (
        "for i in all(4):\n    d_x[0] += y[i]\n    d_x[1] += y[i] * 2.0",
        "d_x:2 y:4",
        lambda a: {"d_x": a["d_x"] + np.sum(a["y"]) * np.array([1.0, 2.0])},
    ),
    "back_from_an_elimination": (
        """
for i, j in all(len(x) - 1, size(x, 1) - 1):
    v = d_x[i + 1, j + 1]
    d_x[0, j + 1] -= v * x[i + 1, 0]
    d_x[i + 1, 0] -= v * x[0, j + 1]
""",
        "x:4,5 d_x:4,5",
        lambda a: {
            "d_x": a["d_x"]
            - np.block([
                [np.zeros((1, 1)), a["x"][1:, :1].T @ a["d_x"][1:, 1:]],
                [a["d_x"][1:, 1:] @ a["x"][:1, 1:].T, np.zeros((3, 4))],
            ]),
        },
    ),
    "back_to_front": (
        "for i in all(4):\n    y[i] = x[3 - i]", "x:4 y:4", lambda a: {"y": a["x"][::-1]},
    ),
    "ints_in_sums": (
        "for i in all(4):\n    y[0] += i * 2 * x[i]\n    y[1] += x[i] > 0.5",
        "x:4 y:2",
        lambda a: {
            "y": a["y"] + [np.arange(4) * 2 @ a["x"], np.sum(a["x"] > 0.5)],
        },
    ),
}  # fmt: skip


def arguments(arrays: str) -> Arrays:
    """Return the arguments of a case."""
    rng = np.random.default_rng(1)
    shapes = dict(each.split(":") for each in arrays.split())
    return {n: rng.random(tuple(map(int, shape.split(",")))) for n, shape in shapes.items()}


def agrees(name: str, way: Compiler) -> None:
    """Check what a case computes."""
    text, arrays, computed = CASES[name]
    given = arguments(arrays)
    printer = way.printer(KINDS, {name: a.ndim for name, a in given.items()})
    printer.forward(written(text, KINDS), list(given), [])
    expected = {n: a.copy() for n, a in given.items()} | computed(given)
    way.built(printer)["forward"](EMPTY, *given.values())
    for array, value in given.items():
        np.testing.assert_allclose(value, expected[array], rtol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_loops(name: str) -> None:
    agrees(name, PLAIN)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_compiled_loops(name: str) -> None:
    pytest.importorskip("llvmlite")
    agrees(name, QUICKLY)


@pytest.mark.parametrize("name", [*list(CASES)[:8], "back_from_an_elimination"])
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    lines: list[str] = []
    for loops in written(CASES[name][0], KINDS):
        assert isinstance(loops, ForAll)
        for s in nested(loops, lambda e: kind_of(e, KINDS)):
            if isinstance(s, Contraction):
                lines += ["by BLAS, or:", *Shown().block(s.loops)]
            else:
                lines += Shown().lines(s)
    golden(FOLDER / f"{name}.txt", "\n".join(lines))


@pytest.mark.parametrize("way", [PLAIN, QUICKLY], ids=["interpreted", "compiled"])
def test_sums_of_names(way: Compiler) -> None:
    if way is QUICKLY:
        pytest.importorskip("llvmlite")
    text = "for i in all(len(x)):\n    s += x[i] * x[i]\nfor m in all(len(x)):\n    k += m"
    text += "\nfor j in all(len(x)):\n    c += x[j] > 1.5"
    printer = way.printer(KINDS, {"x": 1})
    printer.forward(written(text, KINDS), ["x"], ["s", "k", "c"])
    found = way.built(printer)["forward"](EMPTY, np.arange(4.0))[3:]
    assert found == (14.0, 6, 2)
    assert [type(each) for each in found[1:]] == [int, int]
