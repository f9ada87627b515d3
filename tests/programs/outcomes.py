"""What comes out of derivatives: values and state, or what is raised; and whether two agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import NoTangent, checkpointed, jvp, value_and_grad, value_and_hvp, vjp
from mooncake_py.modes.reverse.context import ReverseContext

__all__ = ["Outcome", "assert_agrees", "derivatives"]

Function = Callable[..., Any]
SECOND = ("hvp", "jvp of jvp")
ACTIVE = ((0, 1, 2), (0,), (2,), (0, 1))


class Outcome(NamedTuple):
    """What came out of one derivative.

    Attributes
    ----------
    name : str
    raised : tuple or None
        Type and text of what was raised.
    values, parts : list of ndarray
        The numbers of the value and of the derivatives.
    arguments : list of ndarray
        As they are afterwards.
    """

    name: str
    raised: tuple[str, str] | None
    values: list[Any]
    parts: list[Any]
    arguments: list[Any]


def assert_agrees(
    number: Function, state: Function, args: tuple[Any, ...], seed: int, to_the_bit: bool = True
) -> None:
    """Compare quick forms with the general way, in every mode and to second order.

    Values, state and exceptions to the bit, derivatives to rounding.  Where the general way finds
    a finite derivative, so do quick forms; they may find exact zeros in more places.

    Parameters
    ----------
    number, state : callable
        The same function, which returns a number or a tuple of arrays.
    args : tuple of ndarray
    seed : int
        Of the directions.
    to_the_bit : bool
        Whether values in forward mode must be equal, not only near.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(derivatives(number, state, args, seed))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            expected = list(derivatives(number, state, args, seed))
        plain = {f: outcome("plain", f, args, lambda y: ([y], [])) for f in (number, state)}
    for a, b in zip(found, expected, strict=True):
        if b.raised and b.raised[0] == "OverflowError" and b.name.startswith(SECOND):
            continue  # in a derivative that quick forms compute otherwise
        assert a.raised == b.raised, (a.name, a.raised, b.raised)
        if to_the_bit or a.name.startswith("gradient"):
            assert_equal(a.values, b.values, a.name)
        else:
            assert_close(a.values, b.values, a.name)
        assert_equal(a.arguments, b.arguments, f"arguments of {a.name}")
        assert_close(a.parts, b.parts, a.name)
        reference = plain[state if a.name.startswith("state") else number]
        if a.raised is None and a.name.startswith(("gradient", "state, pulled")):
            assert_equal(a.values, reference.values, f"plain {a.name}")


def derivatives(
    number: Function, state: Function, args: tuple[Any, ...], seed: int
) -> Iterator[Outcome]:
    """Yield what comes out of gradients, products with Jacobians, and second derivatives."""
    random = np.random.default_rng(seed)
    u, v = ([random.normal(size=a.shape) for a in args] for _ in range(2))

    def steps(*given: Any) -> Any:
        s = 0.0
        for _ in checkpointed(range(2), 1):
            s = number(*given)
        return s

    for active in ACTIVE:
        name = f"gradient {active}"
        yield outcome(name, value_and_grad(number, active), args, first_and_rest)
    yield outcome("checkpointed", value_and_grad(steps, (0, 1, 2)), args, first_and_rest)
    yield outcome("state, pulled back", lambda *a: pulled(state, a, seed), args, first_and_rest)
    yield outcome("state, along all", lambda *a: jvp(state, a, tuple(u)), args, first_and_rest)
    for k in range(len(args)):
        yield outcome(
            f"state, along {k}", lambda *a, k=k: along(state, a, k, u), args, first_and_rest
        )
        yield outcome(
            f"hvp {k}", lambda *a, k=k: value_and_hvp(number, a, u[k], k), args, first_and_rest
        )
    yield outcome(
        "jvp of jvp",
        lambda *a: jvp(lambda *b: jvp(number, b, tuple(u)), a, tuple(v)),
        args,
        lambda y: ([], [*y[0], *y[1]]),
    )


def along(f: Function, args: tuple[Any, ...], k: int, u: list[Any]) -> Any:
    """Return value and derivative where one argument moves."""
    return jvp(lambda a: f(*args[:k], a, *args[k + 1 :]), (args[k],), (u[k],))


def pulled(f: Function, args: tuple[Any, ...], seed: int) -> Any:
    """Return the value, and what the arguments receive for random cotangents."""
    random = np.random.default_rng(seed)
    value, pullback = vjp(f, *args)
    return value, pullback(tuple(random_like(random, part) for part in value))


def random_like(random: np.random.Generator, part: Any) -> Any:
    """Return random numbers like those of a part of a value."""
    found = random.normal(size=np.shape(part))[()]
    return found + 1j * random.normal(size=np.shape(part))[()] if np.iscomplexobj(part) else found


def first_and_rest(y: Any) -> tuple[list[Any], list[Any]]:
    return [y[0]], list(y[1:])


def outcome(
    name: str,
    f: Function,
    args: tuple[Any, ...],
    parts: Callable[[Any], tuple[list[Any], list[Any]]],
) -> Outcome:
    """Run something on copies of arguments."""
    given = [a.copy() for a in args]
    try:
        values, derivatives = parts(f(*given))
    except Exception as error:
        text = "read-only" if "read-only" in str(error) else str(error)  # NumPy has two words
        return Outcome(name, (type(error).__name__, text), [], [], given)
    return Outcome(name, None, leaves(values), leaves(derivatives), given)


def leaves(y: Any) -> list[Any]:
    """Return the arrays and numbers of nested tuples and lists."""
    return [part for item in y for part in leaves(item)] if isinstance(y, tuple | list) else [y]


def assert_equal(found: list[Any], expected: list[Any], name: str) -> None:
    """Check that types and all bits are equal; a NaN is a NaN."""
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b), (name, a, b)
        if a is None:
            continue
        x, y = np.asarray(a), np.asarray(b)
        assert x.dtype == y.dtype, name
        assert np.array_equal(x, y, equal_nan=True), (name, a, b)
        if x.dtype.kind == "f":
            assert np.array_equal(np.signbit(x[x == x]), np.signbit(y[y == y])), (name, a, b)


def assert_close(found: list[Any], expected: list[Any], name: str) -> None:
    """Check that derivatives agree to rounding where they are finite."""
    numbers = [np.asarray(b) for b in expected if not isinstance(b, NoTangent)]
    finite = [np.abs(b)[np.isfinite(b)].max(initial=0.0) for b in numbers]
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b), (name, a, b)
        if isinstance(b, NoTangent):
            continue
        x, y = np.asarray(a), np.asarray(b)
        at = np.isfinite(y)
        scale = 1.0 + max(finite, default=0.0)
        np.testing.assert_allclose(x[at], y[at], rtol=1e-10, atol=1e-12 * scale, err_msg=name)
