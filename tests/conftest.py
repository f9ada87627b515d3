"""What all tests share."""

from __future__ import annotations

import gc
import itertools
import math
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from mooncake_py.compiler.sites import choice, spending
from mooncake_py.runtime import compilation
from mooncake_py.runtime.compilation import is_installed
from tests.support.short_loops import short_loops_are_tried

__all__ = ["short_loops_are_tried", "without_compiler"]


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Leave out of the fast set the tests that are ``thorough``, and most of many cases."""
    found = yield
    if isinstance(found, list):  # the cases of one function
        leave_out([item for item in found if item.get_closest_marker("slow") is None])
        if collector.config.option.markexpr == "not slow":  # two thirds of them: sooner is cheaper
            return [item for item in found if item.get_closest_marker("slow") is None]
    return found


@pytest.fixture(autouse=True)
def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``compile=True`` run as without if there is no compiler: tests check other modes too."""
    asked.clear()
    monkeypatch.setattr(choice, "FIRST", 10**9)  # no test but its own goes by the clock
    for limit in ("LOOPS", "OTHERS"):
        monkeypatch.setattr(spending, limit, spending.Limit(math.inf, 1.0))
    if not is_installed():
        monkeypatch.setattr(compilation, "can_compile", cannot_compile)


asked: list[bool] = []
"""Not empty where a test has asked for a compiler that is not there."""


def cannot_compile() -> bool:
    """Return False, and note that a compiler was asked for."""
    asked.append(True)
    return False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip a test that needs what is compiled, where there is no compiler."""
    try:
        return (yield)
    except (Exception, pytest.fail.Exception):
        if not asked:
            raise
        pytest.skip("compile=True needs llvmlite")


MOST = 4
"""Cases of one test that the fast set has, spread evenly, unless the test says otherwise."""


def leave_out(cases: list[pytest.Item]) -> None:
    """Mark what of the cases of one test is not in the fast set."""
    each = -(-len(cases) // MOST)
    for k, case in enumerate(cases):
        sampled = case.get_closest_marker("sampled")
        if k % (each if sampled is None else sampled.args[0]) != 0:
            case.add_marker("thorough")
        if case.get_closest_marker("thorough") is not None:
            case.add_marker("slow")


@pytest.fixture
def define(tmp_path: Path) -> Callable[[str], Any]:
    """Write text to a file of its own, run it, and return its function ``f``."""
    numbers = itertools.count()

    def define_f(text: str) -> Any:
        path = tmp_path / f"defined_{next(numbers)}.py"
        path.write_text(text)
        namespace: dict[str, Any] = {"__name__": path.stem}
        exec(compile(text, str(path), "exec", dont_inherit=True), namespace)
        return namespace["f"]

    return define_f


@pytest.fixture
def only_new_objects() -> None:
    """Let ``gc.collect()`` look at what a test makes, not at all that the session has made."""
    gc.freeze()
