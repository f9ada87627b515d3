"""Cases for products that sum over shared axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules import contraction, einsum
from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

Shape = tuple[int, ...]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *vector_cases(), *dot_cases(), *tensordot_cases(), *matmul_cases(), *kron_cases(),
        *cross_cases(), *einsum_cases(),
    ]  # fmt: skip


def pair(function: Any, a: Shape, b: Shape, dtype: Any = float, **kwargs: Any) -> Case:
    """Return a case with two random operands."""
    label = f"{a}-{b}" + ("-complex" if dtype is complex else "")
    if kwargs:
        label += f"-{kwargs}"
    return Case(function, (draw(*a, dtype=dtype), draw(*b, dtype=dtype, seed=1)), kwargs, label)


def vector_cases() -> list[Case]:
    return [
        pair(np.vdot, (4,), (4,)),
        pair(np.vdot, (2, 3), (3, 2), complex),
        pair(np.outer, (3,), (4,)),
        pair(np.outer, (2, 2), (3,), complex),
        pair(np.linalg.outer, (3,), (2,)),
        pair(np.inner, (3,), (3,)),
        pair(np.inner, (2, 3), (4, 3)),
        pair(np.inner, (2, 2, 3), (3,), complex),
        pair(np.inner, (), (2,)),
        pair(np.vecdot, (3,), (3,), complex),
        pair(np.vecdot, (4, 1, 3), (2, 3)),
        pair(np.vecdot, (3, 2), (3, 2), axis=0),
        pair(np.linalg.vecdot, (2, 3), (3,)),
    ]


def dot_cases() -> list[Case]:
    shapes: list[tuple[Shape, Shape]] = [
        ((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
        ((2, 3, 4), (4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (2, 4, 2)), ((2, 0), (0, 3)),
    ]  # fmt: skip
    return [
        *(pair(np.dot, a, b) for a, b in shapes),
        pair(np.dot, (2, 3), (3, 4), complex),
        pair(np.ndarray.dot, (2, 3), (3, 2)),
        Case(np.dot, ([1.0, 2.0], draw(2)), label="list"),
    ]


def tensordot_cases() -> list[Case]:
    return [
        pair(np.tensordot, (2, 3), (3, 4), axes=1),
        pair(np.tensordot, (2, 3), (4,), axes=0),
        pair(np.tensordot, (2, 3, 4), (3, 4, 2)),
        pair(np.tensordot, (2, 3, 4), (4, 3, 5), complex, axes=([2, 1], [0, 1])),
        pair(np.tensordot, (2, 3, 4), (5, 3), axes=(-2, -1)),
        pair(np.linalg.tensordot, (2, 3), (2, 3), axes=2),
    ]


def matmul_cases() -> list[Case]:
    shapes: list[tuple[Shape, Shape]] = [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
        ((2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)),
        ((4, 1, 2, 3), (5, 3, 2)), ((1, 2, 3), (5, 3, 2)), ((2, 0), (0, 3)),
    ]  # fmt: skip
    found = [
        *(pair(np.matmul, a, b) for a, b in shapes),
        pair(np.matmul, (2, 3), (3, 4), complex),
        pair(np.linalg.matmul, (2, 3), (3, 4)),
    ]
    if hasattr(np, "matvec"):  # NumPy 2.2 and newer
        found += [
            pair(np.matvec, (5, 2, 3), (3,), complex),
            pair(np.matvec, (2, 3), (5, 3)),
            pair(np.vecmat, (3,), (5, 3, 2), complex),
            pair(np.vecmat, (5, 3), (3, 2)),
        ]
    return found


def kron_cases() -> list[Case]:
    return [
        pair(np.kron, (2,), (3,)),
        pair(np.kron, (2, 2), (3, 2), complex),
        pair(np.kron, (2,), (2, 3, 2)),
        pair(np.kron, (), (2, 2)),
        Case(np.kron, (0.7, -1.3), {}, "numbers"),
        Case(np.kron, (0.7 - 0.4j, -1.3), {}, "complex-number"),
        Case(np.kron, (0.7, np.complex128(1.3j)), {}, "real-number"),
        Case(np.kron, (0.7 - 0.4j, draw(2, 3)), {}, "number-and-array"),
    ]


def cross_cases() -> list[Case]:
    return [
        pair(contraction.cross_of_rows, (2, 3), (3,)),
        pair(np.cross, (3,), (3,)),
        pair(np.cross, (2, 3), (3,), complex),
        pair(np.cross, (3, 2), (2, 3), axisa=0, axisc=0),
        pair(np.cross, (3, 2), (3, 2), axis=0),
        pair(np.linalg.cross, (2, 3), (2, 3)),
    ]


def einsum_cases() -> list[Case]:
    calls: list[tuple[str, list[Shape]]] = [
        ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ij->", [(2, 3)]),
        ("...ii->...i", [(2, 3, 3)]), ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]),
        ("...ij,...jk->...ik", [(4, 2, 3), (3, 2)]), ("ii,ij->j", [(3, 3), (3, 2)]),
        ("ij,ij->ij", [(1, 3), (2, 1)]), ("ij,k->k", [(2, 3), (4,)]),
        ("i,ij,j->", [(2,), (2, 3), (3,)]), ("a,a,a->a", [(3,), (3,), (3,)]),
    ]  # fmt: skip
    # Of shape (0, 3) the diagonal that NumPy returns is memory that was never written.
    once = {"layouts": False}
    found = [
        Case(
            np.einsum,
            (subscripts, *operands(shapes)),
            label=subscripts,
            options=once if subscripts == "ii->i" else {},
        )
        for subscripts, shapes in calls
    ]
    a, b = operands([(2, 3), (3, 4)])
    z, w = operands([(2, 2), (2, 3)], complex)
    return [
        *found,
        Case(np.einsum, ("ij,jk->ik", z, w), label="complex"),
        Case(np.einsum, ("ij,jk->ik", a, b), {"optimize": True}, "optimize"),
        Case(np.einsum, (a, [0, 1], b, [1, 2], [2, 0]), label="lists"),
        Case(np.einsum, (a, [1, 0]), label="lists-one"),
        Case(einsum.einsum_of_one, ("ij->j", a), label="ij->j"),
        Case(einsum.einsum_of_several, ("ij,jk->ki", a, b), label="ij,jk->ki"),
        Case(diagonal_set_to, (draw(3, 3), draw(3)), label="written"),
    ]


def diagonal_set_to(a: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Write through the view of the diagonal that einsum returns."""
    a = a * 2
    np.einsum("ii->i", a)[...] = v
    return a


def operands(shapes: list[Shape], dtype: Any = float) -> list[np.ndarray]:
    """Return one random array for each shape."""
    return [draw(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]
