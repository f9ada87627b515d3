"""What comes out of derivatives: values and state, or what is raised; and whether two agree."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mooncake_py import NoTangent

__all__ = [
    "Outcome", "assert_close", "assert_equal", "function_of", "leaves", "outcome", "random_like",
]  # fmt: skip


def function_of(text: str, name: str, scope: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Return the function ``f`` of a text, whose source can be read under a name."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = dict(scope or {})
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
    state : list
        Those of what else the program changes.
    warned : set of str
        What the program was warned of.
    """

    name: str
    raised: tuple[str, str] | None
    values: list[Any]
    parts: list[Any]
    arguments: list[Any]
    state: list[Any]
    warned: set[str]


def outcome(
    name: str, f: Callable[..., tuple[Any, Any]], make: Callable[[], Any], state: Any = ()
) -> Outcome:
    """Run something on arguments; `state` is what else it changes."""
    given = make()
    raised, values, derivatives = None, [], []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            values, derivatives = f(*given)
        except Exception as error:
            text = "read-only" if "read-only" in str(error) else str(error)  # NumPy has two words
            raised = type(error).__name__, text
    warned = {f"{w.category.__name__}: {w.message}" for w in told}
    return Outcome(
        name, raised, leaves(values), leaves(derivatives), leaves(given), leaves(state), warned
    )


def leaves(y: Any, met: dict[int, Any] | None = None) -> list[Any]:
    """Return copies of the arrays, and the numbers, of nested tuples, lists, dicts and objects.

    Of what is met again it is told which one that is.
    """
    met = {} if met is None else met
    if isinstance(y, tuple):
        return [part for item in y for part in leaves(item, met)]
    if not isinstance(y, list | dict | np.ndarray) and not is_object(y):
        return [type(y) if callable(y) else y]
    if id(y) in met:
        return [f"the same as {met[id(y)][0]}"]
    met[id(y)] = len(met), y
    if isinstance(y, np.ndarray):
        return [y.copy()]
    if isinstance(y, list):
        return [part for item in y for part in leaves(item, met)]
    items = y if isinstance(y, dict) else attributes(y)
    return [part for key in items for part in (key, *leaves(items[key], met))]


def is_object(y: Any) -> bool:
    """Return whether something has attributes of its own, and is no function or class."""
    return not callable(y) and (hasattr(y, "__dict__") or hasattr(y, "__slots__"))


def attributes(y: Any) -> dict[str, Any]:
    """Return the attributes of an object."""
    slots = [name for name in getattr(y, "__slots__", ()) if hasattr(y, name)]
    return {name: getattr(y, name) for name in slots} | getattr(y, "__dict__", {})


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
    if isinstance(b, str | type):
        assert a == b, name
    return b is None or isinstance(b, NoTangent | str | type)
