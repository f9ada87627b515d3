"""Queues in C: what waits in them is put back, and may be active."""

import queue
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from tests.containers.ways import WAYS, X


@pytest.mark.parametrize("way", WAYS)
def test_items_are_put_back(way: str) -> None:
    waiting: queue.SimpleQueue[float] = queue.SimpleQueue()
    waiting.put(2.0)
    waiting.put(5.0)

    def f(x: Any) -> Any:
        waiting.put(7.0)
        return np.sum(x * x) * waiting.get() * waiting.qsize()

    np.testing.assert_allclose(WAYS[way](f), 8.0 * X)
    assert [waiting.get(), waiting.get()] == [2.0, 5.0]
    assert waiting.empty()


def test_items_may_be_active() -> None:
    def f(x: Any) -> Any:
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for part in x:
            waiting.put(part**2)
        return waiting.get() * waiting.get_nowait()

    np.testing.assert_allclose(grad(f)(X), [2 * 2.0 * 9.0, 4.0 * 2 * 3.0])
