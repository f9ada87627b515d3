"""The formulas of contraction and einsum, checked directly against finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mooncake_py.rules.einsum as einsum_rules
from mooncake_py.rules import contraction
from tests.rules.direct import check_rule, cotangents
from tests.support.pairs import of_each_kind, rotating

DTYPES = (float, complex)

PAIRS = [
    (np.vdot, (4,), (4,)), (np.vdot, (2, 3), (3, 2)), (np.vdot, (), ()),
    (np.outer, (3,), (4,)), (np.outer, (2, 2), (3,)), (np.linalg.outer, (3,), (2,)),
    (np.dot, (), (3,)), (np.dot, (2, 3), ()), (np.dot, (3,), (3,)), (np.dot, (2, 3), (3,)),
    (np.dot, (3,), (3, 2)), (np.dot, (2, 3), (3, 4)), (np.dot, (2, 3, 4), (4, 2)),
    (np.dot, (4,), (2, 4, 3)), (np.dot, (2, 3, 4), (5, 4, 2)), (np.dot, (3, 4), (2, 4, 3)),
    (np.dot, (2, 3, 4), (4,)), (np.dot, (0, 3), (3, 2)), (np.dot, (2, 0), (0, 3)),
    (np.inner, (3,), (3,)), (np.inner, (2, 3), (3,)), (np.inner, (3,), (2, 3)),
    (np.inner, (2, 3), (4, 3)), (np.inner, (2, 2, 3), (4, 3)), (np.inner, (), (2,)),
    (np.matmul, (3,), (3,)), (np.matmul, (2, 3), (3,)), (np.matmul, (3,), (3, 2)),
    (np.matmul, (2, 3), (3, 4)), (np.matmul, (5, 2, 3), (5, 3, 4)), (np.matmul, (2, 3), (5, 3, 4)),
    (np.matmul, (5, 2, 3), (3, 4)), (np.matmul, (5, 2, 3), (3,)), (np.matmul, (3,), (5, 3, 4)),
    (np.matmul, (4, 1, 2, 3), (5, 3, 2)), (np.matmul, (1, 2, 3), (5, 3, 2)),
    (np.linalg.matmul, (2, 3), (3, 4)),
    (np.vecdot, (3,), (3,)), (np.vecdot, (2, 3), (3,)), (np.vecdot, (4, 1, 3), (2, 3)),
    (np.kron, (2,), (3,)), (np.kron, (2, 2), (3, 2)), (np.kron, (2, 3), (2,)),
    (np.kron, (), (2, 2)), (np.kron, (2,), (2, 3, 2)),
    (contraction.cross_of_rows, (3,), (3,)), (contraction.cross_of_rows, (2, 3), (3,)),
]  # fmt: skip
if hasattr(np, "matvec"):
    PAIRS += [
        (np.matvec, (2, 3), (3,)), (np.matvec, (5, 2, 3), (3,)), (np.matvec, (2, 3), (5, 3)),
        (np.vecmat, (3,), (3, 2)), (np.vecmat, (3,), (5, 3, 2)), (np.vecmat, (5, 3), (3, 2)),
    ]  # fmt: skip


def name(value: Any) -> str:
    return (
        "-".join(map(name, value))
        if type(value) is tuple
        else getattr(value, "__name__", str(value))
    )


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if dtype is complex else x, dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("pair", "dtype_a", "dtype_b"), rotating(PAIRS, DTYPES, DTYPES), ids=name)
def test_bilinear_matches_differences(
    pair: tuple[Any, Any, Any], dtype_a: Any, dtype_b: Any
) -> None:
    function, a, b = pair
    rng = np.random.default_rng(1)
    check_rule(function, draw(rng, a, dtype_a), draw(rng, b, dtype_b))


@pytest.mark.parametrize(
    ("function", "a", "b"), of_each_kind(PAIRS, lambda pair: pair[0]), ids=name
)
def test_float32_stays(function: Any, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    x, z = draw(rng, a, np.float32), draw(rng, b, np.float32)
    y = function(x, z)
    for g in cotangents(function, (x, z), {}, y):
        assert np.asarray(g).dtype == np.float32


TENSORDOTS = [
    ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2, 3), (4,), 0),
    ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
    ((2, 3, 4), (4, 3, 5), ([2, 1], [0, 1])), ((2, 3, 4), (5, 2), (0, 1)),
    ((2, 3, 4), (5, 3), (-2, -1)),
    ((4, 2, 3), (3, 4, 2), ([0, 2, 1], [1, 0, 2])),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b", "axes"), TENSORDOTS, ids=str)
def test_tensordot_matches_differences(a: Any, b: Any, axes: Any, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    x, z = draw(rng, a, dtype), draw(rng, b, dtype)
    check_rule(np.tensordot, x, z, kwargs={"axes": axes})


def test_vecdot_axis_matches_differences() -> None:
    rng = np.random.default_rng(4)
    x, z = draw(rng, (3, 2), complex), draw(rng, (3, 2), complex)
    check_rule(np.vecdot, x, z, kwargs={"axis": 0})
    check_rule(np.vecdot, x, draw(rng, (4, 3, 2), complex), kwargs={"axis": -2})


EINSUMS = [
    ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ij->", [(2, 3)]),
    ("iij->j", [(2, 2, 3)]), ("...ii->...i", [(4, 3, 3)]), ("ij->i", [(2, 3)]), ("ba", [(2, 3)]),
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij,ij->", [(2, 3), (2, 3)]),
    ("i,j->ij", [(2,), (3,)]), ("ij,j->", [(2, 3), (3,)]), ("ij,k->k", [(2, 3), (4,)]),
    ("...ij,...jk->...ik", [(4, 2, 3), (3, 2)]), ("...i,...i", [(2, 3), (4, 1, 3)]),
    ("ii,ij->j", [(3, 3), (3, 2)]), ("ij,ij->ij", [(1, 3), (2, 1)]), ("ij,ij->", [(1, 3), (2, 1)]),
    ("i,i->", [(1,), (3,)]), ("i,ij,j->", [(2,), (2, 3), (3,)]),
    ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 2)]),
    ("a,a,a->a", [(3,), (3,), (3,)]), ("iji,j->i", [(2, 3, 2), (3,)]), ("i...->...", [(2, 3)]),
    ("ij , jk -> ik", [(2, 3), (3, 2)]), (",i->i", [(), (3,)]),
]  # fmt: skip


def of_operands(subscripts: str, shapes: list[tuple[int, ...]]) -> Any:
    return einsum_rules.einsum_of_one if len(shapes) == 1 else einsum_rules.einsum_of_several


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("call", "dtype"), rotating(EINSUMS, DTYPES), ids=str)
def test_einsum_matches_differences(call: tuple[str, Any], dtype: Any) -> None:
    subscripts, shapes = call
    rng = np.random.default_rng(5)
    operands = [draw(rng, shape, dtype) for shape in shapes]
    wrt = range(1, len(shapes) + 1)
    check_rule(of_operands(subscripts, shapes), subscripts, *operands, wrt=wrt)


def einsum_calls() -> Iterator[tuple[Any, ...]]:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    yield ("ij,jk->ik", a, b)
    yield (a, [0, 1], b, [1, 2], [2, 0])
    yield (a, [0, 1], b, [1, 2])
    yield (a, [1, 0])
    yield (a, [Ellipsis, 1], [1, Ellipsis])
    yield (a, [27, 3])


@pytest.mark.parametrize("call", list(einsum_calls()))
def test_einsum_overlay_equals_numpy(call: tuple[Any, ...]) -> None:
    assert_allclose(einsum_rules.einsum(*call), np.einsum(*call), strict=True)


def test_einsum_of_one_operand_is_a_view() -> None:
    a = np.zeros((3, 3))
    einsum_rules.einsum("ii->i", a)[...] = 1
    assert_allclose(a, np.eye(3))


def test_einsum_with_path_matches_differences() -> None:
    rng = np.random.default_rng(6)
    x, y, z = (draw(rng, s, float) for s in [(2, 3), (3, 4), (4, 2)])
    path = np.einsum_path("ab,bc,cd->ad", x, y, z)[0]
    for optimize in (True, "optimal", path):
        check_rule(
            einsum_rules.einsum_of_several, "ab,bc,cd->ad", x, y, z,
            wrt=(1, 2, 3), kwargs={"optimize": optimize},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((3,), (3,), {}), ((2, 3), (3,), {}), ((3, 2), (2, 3), {"axisa": 0}),
        ((3, 2), (3, 2), {"axis": 0}), ((2, 3), (2, 3), {"axisc": 0}),
    ],
    ids=str,
)  # fmt: skip
def test_cross_overlay_equals_numpy(a: Any, b: Any, axes: dict[str, int]) -> None:
    rng = np.random.default_rng(7)
    x, z = draw(rng, a, float), draw(rng, b, float)
    assert_allclose(contraction.cross(x, z, **axes), np.cross(x, z, **axes), strict=True)
