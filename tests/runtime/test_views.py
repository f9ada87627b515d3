"""Nodes of views: cotangents of elements that share memory add up, in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tests.support.directions import check_jvp
from tests.support.gradients import check

X = np.random.default_rng(0).normal(size=(3, 3)) + 2.0
KINDS = [
    [("p", "f8"), ("q", "i4")],  # records of no multiple of 8 bytes
    [("n", "i4"), ("p", "f8"), ("q", "i4", (2,))],
    [("p", "c16"), ("q", "i1")],
]


def field(x: Any, kind: Any) -> Any:
    records = np.zeros((3, 3), dtype=kind)
    records["p"] = 2 * x
    return records["p"].real


def broadcast(p: Any, x: Any) -> Any:
    return np.sum(np.broadcast_to(p[1], (3, 3)) * x)


def copied(p: Any, x: Any) -> Any:
    y = x * 1.0
    np.copyto(y, p[0], where=np.eye(3, dtype=bool))
    return np.sum(y * x)


def computed(p: Any, x: Any) -> Any:
    y = x * 1.0
    np.sin(np.broadcast_to(p[2], (3, 3)), out=y, where=np.eye(3, dtype=bool))
    return np.sum(y * x)


def windows(p: Any, x: Any) -> Any:
    return np.sum(sliding_window_view(p[:, 1], 2) * x[:2, :2])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("use", [broadcast, copied, computed, windows])
def test_fields_of_records_whose_elements_repeat(kind: Any, use: Any) -> None:
    def program(x: Any) -> Any:
        return use(field(x, kind), x)

    check(program, X)
    check_jvp(program, X)
