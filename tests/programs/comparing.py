"""What comes out of derivatives: values and state, or what is raised; and whether two agree."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mooncake_py import NoTangent

__all__ = [
    "Outcome", "assert_close", "assert_equal", "function_of", "leaves", "outcome", "random_like",
]  # fmt: skip


def function_of(text: str, name: str) -> Callable[..., Any]:
    """Return the function ``f`` of a text, whose source can be read under a name."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace["f"]


class Outcome(NamedTuple):
    """What came out of one derivative.

    Attributes
    ----------
    name : str
    raised : tuple or None
        Type and text of what was raised.
    values, parts : list
        The numbers of the value and of the derivatives.
    arguments : list
        The numbers of the arguments as they are afterwards.
    """

    name: str
    raised: tuple[str, str] | None
    values: list[Any]
    parts: list[Any]
    arguments: list[Any]


def outcome(name: str, f: Callable[..., tuple[Any, Any]], make: Callable[[], Any]) -> Outcome:
    """Run something on arguments."""
    given = make()
    try:
        values, derivatives = f(*given)
    except Exception as error:
        text = "read-only" if "read-only" in str(error) else str(error)  # NumPy has two words
        return Outcome(name, (type(error).__name__, text), [], [], leaves(given))
    return Outcome(name, None, leaves(values), leaves(derivatives), leaves(given))


def leaves(y: Any) -> list[Any]:
    """Return copies of the arrays, and the numbers, of nested tuples, lists, dicts and objects."""
    if isinstance(y, tuple | list):
        return [part for item in y for part in leaves(item)]
    if isinstance(y, dict):
        return [part for key in y for part in leaves(y[key])]
    if hasattr(y, "__dict__") and not isinstance(y, np.ndarray | type) and not callable(y):
        return leaves(vars(y))
    return [y.copy() if isinstance(y, np.ndarray) else y]


def random_like(random: np.random.Generator, y: Any) -> Any:
    """Return random numbers like those of a value."""
    if isinstance(y, tuple | list):
        return type(y)([random_like(random, part) for part in y])
    found = random.normal(size=np.shape(y))
    if np.iscomplexobj(y):
        found = found + 1j * random.normal(size=np.shape(y))
    return found.astype(y.dtype)[()] if hasattr(y, "dtype") else found[()]


def assert_equal(found: list[Any], expected: list[Any], name: str) -> None:
    """Check that types and all bits are equal; a NaN is a NaN."""
    assert len(found) == len(expected), name
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b), (name, a, b)
        x, y = np.asarray(a), np.asarray(b)
        assert x.dtype == y.dtype, name
        if x.dtype.kind not in "fc":
            assert np.array_equal(x, y), (name, a, b)
            continue
        assert np.array_equal(x, y, equal_nan=True), (name, a, b)
        for part in (np.real, np.imag):
            p, q = part(x), part(y)
            assert np.array_equal(np.signbit(p[p == p]), np.signbit(q[q == q])), (name, a, b)


def assert_close(found: list[Any], expected: list[Any], name: str, precision: float) -> None:
    """Check that derivatives agree to rounding where they are finite."""
    assert len(found) == len(expected), name
    pairs = [pair for pair in zip(found, expected, strict=True) if not is_nothing(*pair, name)]
    sizes = [np.abs(b)[np.isfinite(b)].max(initial=0.0) for _, b in pairs]
    scale = 1.0 + max(sizes, default=0.0)
    for a, b in pairs:
        x, y = np.asarray(a), np.asarray(b)
        assert x.dtype == y.dtype, name
        at = np.isfinite(y)
        np.testing.assert_allclose(
            x[at], y[at], rtol=precision, atol=precision * scale, err_msg=name
        )


def is_nothing(a: Any, b: Any, name: str) -> bool:
    """Return whether two derivatives are none; they must be of one type."""
    assert type(a) is type(b), (name, a, b)
    if isinstance(b, str):
        assert a == b, name
    return b is None or isinstance(b, NoTangent | str)
