"""Cases for functions that join, split, leave out and put in."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import NUMPY

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*join_cases(), *split_cases(), *edit_cases()]


def join_cases() -> list[Case]:
    a, b, row, column = draw(2, 3), draw(2, 3, seed=1), draw(3), draw(2, 1)
    z = draw(2, 3, dtype=complex)
    return [
        *(
            Case(np.concatenate, ([a, b],), {"axis": axis}, f"axis={axis}")
            for axis in (0, 1, -1, None)
        ),
        Case(np.concatenate, ((a, column, b), 1), label="widths"),
        Case(np.concatenate, (([1.5], row, [2.5, 3.5]),), label="lists"),
        Case(np.concatenate, ([a, z],), label="real-and-complex"),
        Case(np.concatenate, (draw(2, 3, 2),), label="array"),
        Case(np.concatenate, ([a, b],), {"dtype": np.float32}, "dtype", interface_only=True),
        *(Case(np.stack, ([a, b, a],), {"axis": axis}, f"axis={axis}") for axis in (0, 1, 2, -1)),
        Case(np.stack, ([1.5, 2.5],), label="numbers"),
        Case(np.stack, (draw(2, 3, 2), 1), label="array"),
        Case(np.vstack, ((row, a),), label="row-and-matrix"),
        Case(np.vstack, ([1.5, 2.5],), label="numbers"),
        Case(np.hstack, ((row, draw(2)),), label="rows"),
        Case(np.hstack, ((column, a),), label="matrices"),
        Case(np.hstack, ([1.5, 2.5],), label="numbers"),
        Case(np.dstack, ((row, draw(3, seed=1)),), label="rows"),
        Case(np.dstack, ((a, draw(2, 3, 2)),), label="matrix-and-cube"),
        Case(np.column_stack, ((row, draw(3, 2)),), label="row-and-matrix"),
        Case(np.block, ([[a, column], [np.ones((1, 3)), np.ones((1, 1))]],), label="2-d"),
        Case(np.block, ([row, 1.5],), label="1-d"),
        Case(np.append, (a, b), label="flat"),
        Case(np.append, (a, b, 0), label="axis"),
        Case(np.append, (row, 1.5), label="number"),
    ]


def split_cases() -> list[Case]:
    x = draw(6, 4, 2)
    return [
        Case(np.split, (x, 3), label="equal"),
        Case(np.split, (x, [1, 4], 0), label="places"),
        Case(np.array_split, (x, 4), label="unequal"),
        Case(np.hsplit, (x, 2), label="hsplit"),
        Case(np.vsplit, (x, [2]), label="vsplit"),
        Case(np.dsplit, (x, 2), label="dsplit"),
        *([Case(np.unstack, (draw(2, 3),), {"axis": 1}, "axis")] if NUMPY >= "2.1.0" else []),
    ]


def edit_cases() -> list[Case]:
    x, row = draw(3, 4), draw(5)
    mask = np.array([True, False, False, True])
    return [
        *(
            Case(np.delete, (x, obj, 1), label=f"{label}")
            for label, obj in (
                ("int", 1), ("negative", -1), ("list", [0, 2]), ("slice", slice(0, 4, 2)),
                ("mask", mask), ("nothing", []),
            )
        ),
        Case(np.delete, (x, [0, 5]), label="flat"),
        *(
            Case(np.insert, (row, obj, values), label=f"row-{label}")
            for label, obj, values in (
                ("int", 2, 1.5), ("negative", -1, 1.5), ("several-at-one", 2, draw(3)),
                ("list", [3, 1], draw(2)), ("list-one-value", [3, 1, 1], 1.5),
                ("slice", slice(0, 4, 2), draw(2)),
            )
        ),
        Case(np.insert, (x, 1, draw(3), 1), label="axis"),
        Case(np.insert, (x, [1], draw(3, 1), 1), label="axis-list"),
        Case(np.insert, (x, 1, draw(2, 3), 1), label="axis-two-at-one"),
        Case(np.insert, (x, [2, 0], draw(3, 2), -1), label="axis-list-two"),
        Case(np.insert, (x, 2, 1.5), label="flat"),
    ]  # fmt: skip
