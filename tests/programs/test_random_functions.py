"""Random functions compiled whole, in plain Python, against operation by operation."""

from __future__ import annotations

import copy
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from mooncake_py import NoTangent, grad, jvp, value_and_grad, vjp
from mooncake_py.compiler.native import effort, form
from mooncake_py.modes.reverse import whole_pullback
from mooncake_py.runtime.compilation import is_installed
from tests.programs.comparing import function_of
from tests.programs.random_functions import (
    function_arguments,
    random_function,
    with_list,
    with_object,
)
from tests.support.interpreted import INTERPRETED

pytestmark = [
    pytest.mark.plain,
    pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite"),
]
ACTIVE = (0, 1, 2, 3)


@pytest.fixture(autouse=True)
def in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(effort, "LEAST", 1)


def compare(
    seed: int,
    orders: bool = True,
    is_narrow: bool = False,
    mixed: bool = False,
    has_waves: bool = False,
    is_made: bool | None = None,
    has_list: bool = False,
) -> None:
    text = random_function(seed, mixed, has_waves)
    if is_made is not None:
        text = with_object(text, is_made)
    if has_list:
        text = with_list(text, seed)
    f: Any = function_of(text, f"<random function {seed} {mixed} {has_waves} {is_made} {has_list}>")
    args = function_arguments(seed, is_narrow)
    if has_list:
        args = *args, [0.5, -1.0, 0.25, 1.5, -0.75]
    rtol = 1e-3 if is_narrow else 1e-8
    with catch_warnings():
        simplefilter("ignore")
        for active in (ACTIVE, (0, 3), (2,), *((ACTIVE[-1], 7), (7,)) * has_list):
            same(f, args, lambda g, **how: value_and_grad(g, active, **how), rtol)  # noqa: B023
        same(f, args, prepared, rtol)
        same(f, args, pulled_back, rtol)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(whole_pullback, "vjp_of_whole", lambda *_: None)
            same(f, args, pulled_back, rtol)
        if not orders:
            return
        along = tuple(np.cos(np.asarray(args[k])) for k in ACTIVE[:3])
        rest = args[3:]

        def directional(g: Any, **how: Any) -> Any:
            return lambda *given: jvp(lambda *p: g(*p, *given[3:]), given[:3], along, **how)

        def second(g: Any, **how: Any) -> Any:
            def gradient(*p: Any) -> Any:
                return grad(g, (0, 1, 2))(*p, *rest)

            return lambda *given: jvp(gradient, given[:3], along, **how)[1]

        same(f, args, directional, rtol)
        same(f, args, second, max(rtol, 1e-6))


def prepared(f: Any, **how: Any) -> Any:
    """Return the gradient as the second call of a prepared one gives it."""

    def run(*args: Any) -> Any:
        step = value_and_grad(f, ACTIVE, **how).prepare(*copy.deepcopy(args))
        return step(*args)

    return run


def pulled_back(f: Any, **how: Any) -> Any:
    """Return the output and the gradients of all arguments, by a pullback that waits meanwhile."""

    def run(*args: Any) -> Any:
        y, pullback = vjp(f, *args, **how)
        value_and_grad(f, ACTIVE, **how)(*copy.deepcopy(args))
        return (y, *[g for g in pullback(1.0) if not isinstance(g, NoTangent)])

    return run


def same(f: Any, args: tuple[Any, ...], of: Any, rtol: float) -> None:
    """Compare a derivative that is compiled with one that is not, and what is left of arguments."""
    results: list[Any] = []
    for how in ({}, {"compile": True}):
        given = copy.deepcopy(args)
        try:
            results.append(parts(of(f, **how)(*given)))
        except Exception as error:
            results.append(f"{type(error).__name__}: {error}")
        for a, b in zip(args, given, strict=True):
            np.testing.assert_array_equal(a, b)
    plain, compiled = results
    if isinstance(plain, str) or isinstance(compiled, str):
        assert plain == compiled
        return
    for a, b in zip(plain, compiled, strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        atol = (rtol if rtol > 1e-4 else 1e-10) * (1.0 + largest(a))
        np.testing.assert_allclose(b, a, rtol, atol)


def largest(a: Any) -> float:
    """Return the largest finite number of an array in size."""
    return float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))


def parts(value: Any) -> list[Any]:
    return [p for v in value for p in parts(v)] if isinstance(value, tuple) else [value]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_few(seed: int) -> None:
    compare(seed)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(200, 202))
def test_float32(seed: int) -> None:
    compare(seed, is_narrow=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("seed", range(500, 503))
def test_lists_of_floats(seed: int, mixed: bool) -> None:
    compare(seed, mixed=mixed, has_list=True)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(300, 302))
def test_complex(seed: int) -> None:
    compare(seed, has_waves=True)


@pytest.mark.thorough
@pytest.mark.parametrize("is_made", [True, False])
@pytest.mark.parametrize("seed", range(400, 402))
def test_attributes(seed: int, is_made: bool) -> None:
    compare(seed, is_made=is_made)


@pytest.mark.slow
@pytest.mark.parametrize("is_made", [True, False])
def test_many_with_attributes(is_made: bool) -> None:
    for seed in range(410, 422):
        compare(seed, is_made=is_made)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 140, 20))
def test_many(first: int) -> None:
    for seed in range(first, first + 20):
        compare(seed, is_narrow=seed % 3 == 1, has_waves=seed % 3 == 2)


@pytest.mark.slow
@pytest.mark.parametrize("mixed", [True, False])
def test_many_with_lists_of_floats(mixed: bool) -> None:
    for seed in range(510, 530):
        compare(seed, mixed=mixed, has_list=True)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_few_in_parts(seed: int) -> None:
    compare(seed, mixed=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 140, 20))
def test_many_in_parts(first: int) -> None:
    for seed in range(first, first + 20):
        compare(seed, is_narrow=seed % 4 == 1, mixed=True)
