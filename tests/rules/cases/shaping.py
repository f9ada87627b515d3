"""Cases for functions that rearrange and repeat elements."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *reshape_cases(),
        *broadcast_cases(),
        *transpose_cases(),
        *flip_cases(),
        *diagonal_cases(),
        *repeat_cases(),
        *pad_cases(),
    ]


def reshape_cases() -> list[Case]:
    x, strided = draw(2, 6), draw(6, 4).T[:, ::2]
    return [
        Case(np.reshape, (x, (3, 4)), label="view"),
        Case(np.reshape, (x, -1), label="flat"),
        Case(np.reshape, (strided, (6, 2)), label="copy"),
        Case(np.reshape, (strided, (2, 6)), {"order": "F"}, "copy-F"),
        *since("2.1.0", Case(np.reshape, (x, (3, 4)), {"copy": True}, "forced-copy")),
        Case(np.reshape, ([1.0, 2.0, 3.0, 4.0], (2, 2)), label="list"),
        Case(np.ndarray.reshape, (x, 4, 3), label="method"),
        Case(np.ndarray.reshape, (strided, (3, -1)), {"order": "F"}, "method-copy"),
        Case(np.ravel, (x,), label="view"),
        Case(np.ravel, (strided,), label="copy"),
        Case(np.ravel, (x,), {"order": "F"}, "F"),
        Case(np.ravel, (2.0,), label="number"),
        Case(np.ndarray.ravel, (strided, "F"), label="method"),
        Case(np.ndarray.flatten, (x,), label="C"),
        Case(np.ndarray.flatten, (strided, "F"), label="F"),
        Case(np.expand_dims, (x, 1), label="one"),
        Case(np.expand_dims, (x, (0, -1)), label="two"),
        Case(np.expand_dims, (2.0, 0), label="number"),
        Case(np.squeeze, (draw(1, 3, 1),), label="all"),
        Case(np.squeeze, (np.float64(2.0),), label="number"),
        Case(np.squeeze, (draw(1, 3, 1),), {"axis": -1}, "axis"),
        Case(np.ndarray.squeeze, (draw(1, 3, 1), 0), label="method"),
        *(
            Case(function, (draw(*shape),), label=f"{len(shape)}-d")
            for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
            for shape in ((), (3,), (2, 3), (2, 3, 2))
        ),
        Case(np.atleast_2d, (draw(3), draw(2, 2)), label="two"),
    ]


def broadcast_cases() -> list[Case]:
    return [
        Case(np.broadcast_to, (draw(3), (2, 3)), label="added"),
        Case(np.broadcast_to, (draw(2, 1), (2, 3)), label="stretched"),
        Case(np.broadcast_to, (1.5, (2, 2)), label="number"),
        Case(np.broadcast_arrays, (draw(3), draw(2, 1)), label="two", options={"layouts": False}),
    ]


def transpose_cases() -> list[Case]:
    x, z = draw(2, 3, 4), draw(2, 3, dtype=complex)
    return [
        Case(np.transpose, (x,), label="reverse"),
        Case(np.transpose, (x, (1, 2, 0)), label="cycle"),
        Case(np.transpose, (x, (-1, 0, 1)), label="negative"),
        Case(np.transpose, (z,), label="complex"),
        Case(np.ndarray.transpose, (x,), label="reverse"),
        Case(np.ndarray.transpose, (x, 2, 0, 1), label="arguments"),
        Case(np.ndarray.transpose, (x, (2, 0, 1)), label="tuple"),
        Case(np.matrix_transpose, (x,), label="3-d"),
        Case(np.swapaxes, (x, 0, -1), label="ends"),
        Case(np.ndarray.swapaxes, (x, 0, 1), label="first"),
        Case(np.moveaxis, (x, 0, -1), label="one"),
        Case(np.moveaxis, (x, (0, 1), (-1, 0)), label="two"),
        Case(np.rollaxis, (x, 2), label="to-front"),
        Case(np.rollaxis, (x, 0, 3), label="to-end"),
        Case(np.rollaxis, (x, 1, -1), label="negative"),
    ]


def flip_cases() -> list[Case]:
    x = draw(2, 3, 4)
    return [
        *(Case(np.flip, (x,), {"axis": axis}, f"axis={axis}") for axis in (None, 1, (0, 2))),
        Case(np.fliplr, (x,), label="3-d"),
        Case(np.flipud, (x,), label="3-d"),
        *(Case(np.rot90, (x, k), label=f"k={k}") for k in (0, 1, 2, 3, -1)),
        Case(np.rot90, (x, 1, (1, 2)), label="axes"),
        Case(np.roll, (x, 2), label="flat"),
        Case(np.roll, (x, -1, 1), label="axis"),
        Case(np.roll, (x, (1, 2), (0, 2)), label="axes"),
        Case(np.roll, (x, (1, 1), (2, 2)), label="same-axis-twice"),
        Case(np.roll, (x, 1, (0, 1)), label="one-shift"),
        Case(np.roll, (x, np.uint8(1), 2), label="unsigned"),
        Case(np.roll, (x, True), label="bool"),
    ]


def diagonal_cases() -> list[Case]:
    x, cube = draw(3, 4), draw(3, 4, 2)
    return [
        *(
            Case(function, (x, k), label=f"k={k}")
            for function in (np.diagonal, np.ndarray.diagonal, np.trace, np.ndarray.trace)
            for k in (0, 1, -1, 5)
        ),
        Case(np.diagonal, (cube, 0, 0, 2), label="axes"),
        Case(np.trace, (cube, 1, -2, 0), label="axes"),
        *(
            Case(function, (x, k), label=f"k={k}")
            for function in (np.tril, np.triu)
            for k in (0, 1, -2)
        ),
        Case(np.tril, (draw(3),), label="1-d"),
        Case(np.triu, (cube,), label="3-d"),
        *(Case(np.diag, (draw(3), k), label=f"make-{k}") for k in (0, 2, -1)),
        *(Case(np.diag, (x, k), label=f"read-{k}") for k in (0, 2, -1)),
        *(Case(np.diagflat, (draw(2, 2), k), label=f"k={k}") for k in (0, 1, -1)),
        Case(np.tri, (3, 4), label="constant"),
    ]


def repeat_cases() -> list[Case]:
    x, z = draw(2, 3), draw(2, 3, dtype=complex)
    return [
        Case(np.repeat, (x, 2), label="flat"),
        Case(np.repeat, (x, 3), {"axis": -1}, "axis"),
        Case(np.repeat, (x, [2, 0, 1]), {"axis": 1}, "counts"),
        Case(np.repeat, (x, np.array([2])), {"axis": 0}, "one-count"),
        Case(np.repeat, (z, 2, 0), label="complex"),
        Case(np.repeat, (x, 0), label="none"),
        Case(np.repeat, (1.5, 3), label="number"),
        Case(np.repeat, (np.array(1.5), 3, 0), label="0-d"),
        Case(np.ndarray.repeat, (x, 2, 0), label="method"),
        *(
            Case(np.tile, (x, reps), label=f"{reps}")
            for reps in (2, (1, 2), (2, 3, 2), (1, 1), (3, 1, 1), (0, 2), [2, 1])
        ),
        Case(np.tile, (1.5, (2, 2)), label="number"),
        *(Case(np.resize, (x, shape), label=f"{shape}") for shape in (4, (2, 4), (3, 4), (0, 2))),
    ]


def pad_cases() -> list[Case]:
    x, row = draw(3, 4), draw(4)
    modes = ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum")
    return [
        *(Case(np.pad, (x, ((1, 2), (0, 3)), mode), label=mode) for mode in modes),
        *(Case(np.pad, (row, 6, mode), label=f"{mode}-far") for mode in modes[1:5]),
        Case(np.pad, (row, 2), label="default"),
        Case(np.pad, (np.array(1.5), 2), label="0-d"),
        Case(np.pad, (x, (1, 0)), label="same-for-all-axes"),
        Case(np.pad, (row, 2), {"constant_values": (1.0, 2.0)}, "values"),
        Case(np.pad, (row, 2, "reflect"), {"reflect_type": "odd"}, "odd"),
        Case(np.pad, (draw(2, 2, dtype=complex), 1, "edge"), label="complex"),
    ]
