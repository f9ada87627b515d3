"""Random statements on arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from tests.programs.random_statements import arguments, random_text
from tests.programs.ways import WAYS


def function(seed: int) -> Callable[..., Any]:
    text, name = random_text(seed), f"<random statements {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace["f"]


def compare(seed: int) -> None:
    f, args = function(seed), arguments(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = f(*[a.copy() for a in args])
        except (ValueError, IndexError, TypeError):
            return  # shapes that do not fit
        if not abs(plain) < 1e6:
            return
        for argnums in ((0, 1, 2), (0,), (2,)):
            given = [a.copy() for a in args]
            value, found = value_and_grad(f, argnums)(*given)
            reference, expected = WAYS["unfused"](f, argnums, list(args))
            assert value == reference == plain
            for a, b in zip(found, expected, strict=True):
                assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(b).max()))
            for a, b in zip(given, args, strict=True):
                assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(40))
def test_few(seed):
    compare(seed)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1600):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_text(seed)}")
            raise
