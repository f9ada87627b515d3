"""Elements that are read once: statements do the same, with fewer reads."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.numpy_text.elements import with_elements_read_once
from mooncake_py.compiler.native.numpy_text.first_additions import with_first_additions
from mooncake_py.compiler.native.numpy_text.helpers import cells, put_back
from mooncake_py.compiler.native.regions.mentions import unused
from mooncake_py.compiler.native.sweeps.adjoint import adjoint
from mooncake_py.compiler.regions.ir import Block, Check, Load, blocks_of, with_blocks
from tests.compiler.native.ir_text import written
from tests.compiler.native.random_regions import random_region, random_values
from tests.compiler.native.sweeping import Values, ran, values_of
from tests.support.interpreter import STACK, TOP
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("check(i < len(x, 0))\ns = x[i]", 0),
        ("check(i < len(x, 0))\nx[i] = 1.0", 0),
        ("check(i < len(x, 0))\ns = x[i] if a > 0.0 else 0.0", 1),
        ("check(i < len(x, 0))\ns = x[k]", 1),
        ("check(i < len(x, 0))\ni = i - 1\ns = x[i]", 1),
        ("check(i < len(x, 0))\ns = y[i]", 1),
        ("s = math.sin(a)\ncheck(abs(s) < inf)\nt = s", 0),
        ("s = np.sin(a)\ncheck(abs(s) < inf)\nt = s", 1),
        ("s = math.sin(a)\ns = s * s\ncheck(abs(s) < inf)\nt = s", 1),
    ],
)
def test_which_checks_python_makes(text: str, count: int) -> None:
    block = with_elements_read_once(
        written(text.replace("inf", "1e999"), KINDS), dict(KINDS), unused("e", ())
    )
    assert sum(isinstance(s, Check) for s in block) == count


def everywhere(block: Block, kinds: dict[str, str]) -> Block:
    """Return a block in which elements are read once, as the printer does it within loops."""
    fresh = unused("e", kinds)

    def within(inner: Block) -> Block:
        inner = with_elements_read_once(inner, kinds, fresh)
        return tuple([with_blocks(s, within) if blocks_of(s) else s for s in inner])

    return within(block)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", [0, pytest.param(5000, marks=pytest.mark.slow)])
def test_both_sweeps_of_random_regions_do_the_same(start: int) -> None:
    for seed in range(start, start + (20 if start == 0 else 300)):
        text, region = random_region(seed, 6 + seed % 10)
        given = random_values(seed)
        names = {n for n in region.inputs if region.kinds[n] == "float"}
        sweeps = adjoint(region, active_parts(region.body, names, {}))
        kinds = dict(sweeps.kinds)
        once = everywhere(sweeps.forward, kinds)
        back = everywhere(with_first_additions(sweeps.reverse, kinds, sweeps.gives), kinds)
        scopes = [ran(b, kinds, values_of(region, given)) for b in (sweeps.forward, once)]
        same(scopes, [*region.results, *region.inputs], text)
        assert scopes[0][TOP] == scopes[1][TOP]
        stacks = [scope[STACK][: scope[TOP]] for scope in scopes]
        np.testing.assert_array_equal(stacks[0], stacks[1])
        rng = np.random.default_rng(seed)
        wanted = {d: rng.normal(size=np.shape(scopes[0][d[2:]])) for d in sweeps.cotangents}
        ways: list[Values] = []
        for body, scope in zip((sweeps.reverse, back), scopes, strict=True):
            values = {n: copy.copy(scope[n]) for n in sweeps.values}
            values |= {d: np.array(v) if v.ndim else float(v) for d, v in wanted.items()}
            values |= {n: scope[n] for n in region.inputs if n in region.arrays and n not in values}
            ways.append(ran(body, kinds, values, copy.deepcopy(dict(scope))))
        same(ways, [*sweeps.gives, *(d for d in wanted if np.ndim(wanted[d]))], text)


def same(ways: list[Values], names: list[str], text: str) -> None:
    a, b = ways
    for name in names:
        np.testing.assert_array_equal(a[name], b[name], err_msg=f"{name} of\n{text}")


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
