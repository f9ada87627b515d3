"""Columns of one colour share no row; bands get as few colours as there can be."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.sparse.colouring import coloured


@pytest.mark.parametrize("seed", range(6))
def test_columns_of_a_colour_share_no_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((40, 30)) < 0.08
    rows, columns = np.nonzero(matrix)
    order = random.permutation(rows.size)
    colours = coloured(rows[order], columns[order], 30)
    for colour in range(colours.max() + 1):
        assert np.all(matrix[:, colours == colour].sum(axis=1) <= 1)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_band_gets_its_width(width: int) -> None:
    matrix = np.abs(np.subtract.outer(np.arange(50), np.arange(50))) <= width
    assert coloured(*np.nonzero(matrix), 50).max() + 1 == 2 * width + 1


def test_nothing_is_coloured() -> None:
    nothing = np.zeros(0, int)
    assert coloured(nothing, nothing, 3).tolist() == [0, 0, 0]
    assert coloured(nothing, nothing, 0).tolist() == []
