"""Elements that are read once: statements do the same, with fewer reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.numpy_text.elements import with_elements_read_once
from mooncake_py.compiler.native.numpy_text.helpers import cells, put_back
from mooncake_py.compiler.native.regions.mentions import unused
from mooncake_py.compiler.regions.ir import Block, Check, Load
from tests.compiler.native.elements_once import require_same_sweeps
from tests.compiler.native.writing import written
from tests.support.modes.text import printing

Array = np.ndarray[Any, Any]
KINDS = {"i": "int", "k": "int", "idx": "int"}


def read_once(text: str) -> Block:
    return with_elements_read_once(written(text, KINDS), dict(KINDS), unused("e", ()))


def loads(block: Block) -> int:
    return sum(isinstance(part, Load) for s in block for part in everything(s))


def everything(node: object) -> list[object]:
    parts = list(vars(node).values()) if hasattr(node, "__dict__") else []
    found: list[object] = [node]
    for part in parts:
        for one in part if isinstance(part, tuple) else (part,):
            if type(one).__module__.endswith("regions.ir"):
                found += everything(one)
    return found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("push(x[i])\nx[i] = x[i] - a * x[i - 1]", 3),
        ("x[i] = a * y[i]\ns = x[i] + x[i]", 2),
        ("v = d_x[i]\nd_x[i] = 0.0\nd_y[i] += v\nd_x[i] += v", 2),
        ("v = d_x[i]\nd_x[i] = 0.0\nd_x[k] += v\nd_x[i] += v", 4),
        ("v = d_x[i]\nd_x[i] = 0.0\ni = i - 1\nd_x[i] += v", 3),
        ("t = idx[i]\nk = idx[i] + 1\nl = idx[i] + k", 1),
        ("s = x[i]\nx[k] = a\ns = s + x[i]", 3),  # may be the same element
        ("s = x[i]\nx[i + 1] = a\ns = s + x[i]", 2),
        ("s = x[i]\ni = i + 1\ns = s + x[i]", 2),
        ("s = x[idx[i]]\nt = x[idx[i]]", 2),
        ("s = x[idx[i]]\nidx[k] = 3\nt = x[idx[i]]", 5),
        ("s = x[i] if a > 0.0 else 0.0\nt = x[i] if a > 1.0 else 0.0", 2),  # perhaps there is none
    ],
)
def test_which_elements_are_read_again(text: str, count: int) -> None:
    assert loads(read_once(text)) == count


def test_places_that_change_have_no_name() -> None:
    text = "x[i + 1] = a\ni = i + 1\nx[i + 1] = a"
    assert read_once(text) == written(text, KINDS)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("assert i < len(x)\ns = x[i]", 0),
        ("assert i < len(x)\nx[i] = 1.0", 0),
        ("assert i < len(x)\ns = x[i] if a > 0.0 else 0.0", 1),
        ("assert i < len(x)\ns = x[k]", 1),
        ("assert i < len(x)\ni = i - 1\ns = x[i]", 1),
        ("assert i < len(x)\ns = y[i]", 1),
        ("s = math.sin(a)\nassert abs(s) < inf\nt = s", 0),
        ("s = np.sin(a)\nassert abs(s) < inf\nt = s", 1),
        ("s = math.sin(a)\ns = s * s\nassert abs(s) < inf\nt = s", 1),
    ],
)
def test_which_checks_python_makes(text: str, count: int) -> None:
    block = with_elements_read_once(
        written(text.replace("inf", "1e999"), KINDS), dict(KINDS), unused("e", ())
    )
    assert sum(isinstance(s, Check) for s in block) == count


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", [0, pytest.param(5000, marks=pytest.mark.slow)])
def test_both_sweeps_of_random_regions_do_the_same(start: int) -> None:
    for seed in range(start, start + (20 if start == 0 else 150)):
        require_same_sweeps(seed)


def test_vectors_are_lists_where_passes_are_as_many() -> None:
    a = np.arange(6.0)
    assert type(cells(a, 4)) is list
    assert type(cells(a, 3)) is memoryview
    for passes in (3, 9):
        found: Any = cells(a, passes)
        found[2] = 7.5
        put_back(a, found)
        assert a[2] == 7.5
        a[2] = 2.0


def few(x: Array, y: Array, n: int) -> float:
    for i in range(1, n):
        x[i] = x[i - 1] * y[i] + math.sin(x[-i])
        y[i] *= x[i]
    return float(np.sum(x * y))


def until(x: Array, y: Array, n: int) -> float:
    s = 1.0
    while s > 1e-3 and n < 70:
        n += 1
        for i in range(1, len(x)):
            s = s * (0.5 + 0.4 * math.cos(x[i] * y[i - 1]))
    return s * 1e3


@pytest.mark.plain
@pytest.mark.parametrize("f", [few, until])
@pytest.mark.parametrize("n", [1, 2, 30, 60])
def test_short_and_long_loops_over_vectors(f: Callable[..., float], n: int) -> None:
    counts: Counter[str] = Counter()
    args = np.linspace(0.1, 0.9, 60), np.linspace(1.0, 0.5, 60), n
    with printing(counts):  # each derivative is compared with the general way
        value, _ = value_and_grad(f, (0, 1))(*args)
    assert value == f(*args)
    assert counts.total() == 1
