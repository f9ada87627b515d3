"""Random loops over numbers and elements: as one entry, against operation by operation."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from mooncake_py.derive.loops import run
from mooncake_py.derive.recording.fusion import Elsewhere
from tests.programs.random_loops import loop_arguments, random_loop
from tests.programs.ways import WAYS


def function(seed: int) -> Callable[..., Any]:
    text, name = random_loop(seed), f"<random loop {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace["f"]


def copied(args: list[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def compare(seed: int) -> None:
    f, args = function(seed), loop_arguments(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = f(*copied(args))
        except IndexError:
            return
        if not abs(plain) < 1e6:
            return
        for argnums in ((0, 1, 2, 3), (0,), (2,), (3,)):
            given = copied(args)
            value, found = value_and_grad(f, argnums)(*given)
            reference, expected = WAYS["unfused"](f, argnums, copied(args))
            assert value == reference == plain
            for a, b in zip(found, expected, strict=True):
                assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(b).max()))
            for a, b in zip(given, args, strict=True):
                assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(30))
def test_few(seed):
    compare(seed)


@pytest.mark.plain
def test_most_are_one_entry(monkeypatch):
    results = []
    attempt = run.Loop.attempt

    def counted(*args):
        results.append(attempt(*args))
        return results[-1]

    monkeypatch.setattr(run.Loop, "attempt", counted)
    for seed in range(30):
        compare(seed)
    missed = sum(result is Elsewhere for result in results)
    assert len(results) > 60
    assert missed < 0.1 * len(results)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1600):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop(seed)}")
            raise
