"""Records of `logging` that a part keeps: those of two runs differ in their time."""

from __future__ import annotations

import logging
import logging.handlers
import queue
from typing import Any

import pytest

from mooncake_py import checkpoint, grad

KEEPING: dict[str, Any] = {
    "memory": lambda: logging.handlers.MemoryHandler(100, flushLevel=logging.CRITICAL),
    "queue": lambda: logging.handlers.QueueHandler(queue.Queue()),
}


@pytest.mark.parametrize("name", KEEPING)
def test_the_second_run_may_log_at_another_time(name: str) -> None:
    def f(x: Any) -> Any:
        logger, handler = logging.Logger("kept"), KEEPING[name]()
        logger.addHandler(handler)
        logger.warning("%s", "text")
        return x * x, handler

    assert grad(lambda x: checkpoint(f, x)[0])(3.0) == 6.0
