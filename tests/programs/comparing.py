"""Generated programs, run as one entry where they can be and operation by operation."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import jvp, value_and_grad, value_and_hvp
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.reverse.context import ReverseContext
from tests.programs.ways import WAYS

__all__ = [
    "assert_as_unfused", "assert_forward_as_unfused", "assert_mostly_one_entry", "function_of",
]  # fmt: skip


def function_of(text: str, name: str) -> Callable[..., Any]:
    """Return the function ``f`` of a text, whose source can be read under a name."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace["f"]


def assert_mostly_one_entry(
    patch: pytest.MonkeyPatch, compare: Callable[[int], None], seeds: Iterable[int]
) -> None:
    """Compare programs, and require that most trials of their loops on arrays succeed."""
    results: list[Any] = []
    attempt = RegionSite.attempt

    def counted(*args: Any) -> Any:
        results.append(attempt(*args))
        return results[-1]

    patch.setattr(RegionSite, "attempt", counted)
    for seed in seeds:
        compare(seed)
    missed = sum(result is Elsewhere for result in results)
    assert len(results) > 20
    assert missed < 0.2 * len(results)


def assert_as_unfused(
    f: Callable[..., Any], args: list[Any], choices: Iterable[tuple[int, ...]]
) -> None:
    """Compare value and gradients, for several choices of the active arguments.

    Nothing is compared where the function raises or its value is huge.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = f(*copied(args))
        except (ArithmeticError, ValueError, IndexError, TypeError):
            return  # shapes that do not fit, indices out of range, powers that overflow
        if np.ndim(plain) or not abs(plain) < 1e6:
            return
        for argnums in choices:
            given = copied(args)
            value, found = value_and_grad(f, argnums)(*given)
            reference, expected = WAYS["unfused"](f, argnums, copied(args))
            assert value == reference == plain
            for a, b in zip(found, expected, strict=True):
                assert np.shape(a) == np.shape(b)
                assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(b).max()))
            for a, b in zip(given, args, strict=True):
                assert_array_equal(a, b)


def assert_forward_as_unfused(f: Callable[..., Any], args: list[Any], seed: int) -> None:
    """Compare derivatives along directions, and products with the Hessian, with the reference.

    All arguments move, then the first alone; of the Hessian the products for each argument.
    """
    random = np.random.default_rng(seed)
    along = tuple(random.normal(size=np.shape(a))[()] for a in args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = f(*copied(args))
        except (ArithmeticError, ValueError, IndexError, TypeError):
            return
        if np.ndim(plain) or not abs(plain) < 1e6:
            return
        given = copied(args)
        found = list(forward_derivatives(f, given, along))
        for a, b in zip(given, args, strict=True):
            assert_array_equal(a, b)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            expected = list(forward_derivatives(f, copied(args), along))
    for (value, *parts), (reference, *others) in zip(found, expected, strict=True):
        assert value == reference == plain
        assert type(value) is type(reference)
        for a, b in zip(parts, others, strict=True):
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(b).max()))


def forward_derivatives(
    f: Callable[..., Any], args: list[Any], along: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """Yield values with derivatives along directions, gradients and products with the Hessian."""
    yield jvp(f, tuple(args), along)
    yield jvp(lambda x: f(x, *args[1:]), (args[0],), along[:1])
    for i, direction in enumerate(along):
        yield value_and_hvp(f, tuple(args), direction, i)


def copied(args: list[Any]) -> list[Any]:
    """Return copies of the arrays among arguments."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]
