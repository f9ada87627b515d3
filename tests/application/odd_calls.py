"""Calls of functions with rules, of numbers and arrays of all kinds, in programs."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import mooncake_py as mp
from mooncake_py import jvp, value_and_grad, vjp
from mooncake_py.application import rule_ways, structural_ways
from mooncake_py.language import array_language, dispatch
from mooncake_py.modes.forward import handlers as forward_handlers
from mooncake_py.runtime.sites import decline

__all__ = ["ARGS", "CONTEXTS", "KINDS", "PROGRAM", "kind_of", "outcome", "without_ways"]

PROGRAM = """
import math

import numpy as np

from tests.application.odd_calls import KINDS, kind_of

it = iter


def f(x, v, m):
    w = np.zeros(3)
    x = x * 1.0
    y = None
    for _ in it([0, 1]):
        c = np.array([0.2, 0.5, 1.5])
        i3 = np.array([0, 1, 2])
        v32 = v.astype(np.float32)
        y = {call}
        z = {call}
    out = 0.0 * x
    for q in (y, z, w):
        if isinstance(q, (np.ndarray, float)):
            q = np.sum(q * 1.5)
            if np.isrealobj(q):
                out = out + q
    KINDS.append(kind_of(y))
    if isinstance(y, np.ndarray) and y.dtype == float and y.flags.writeable:
        y *= x
        out = out + np.sum(y)
    return out
"""
ARGS = 1.1, np.array([0.3, 0.6, 0.9]), np.array([[2.0, 0.1], [0.3, 3.0]])
KINDS: list[Any] = []
"""What a program notes."""
TANGENTS = 1.0, np.array([1.0, 2.0, 3.0]), np.ones((2, 2))


def kind_of(y: Any) -> Any:
    """Return the properties of a result that a program can see, other than its value."""
    if isinstance(y, np.ndarray):
        return type(y), y.dtype, y.shape, y.strides, y.base is None, y.flags.writeable
    return type(y)


def inside(f: Any) -> Callable[..., Any]:
    """Return a function that takes a derivative inside."""

    def g(x: Any, v: Any, m: Any) -> Any:
        value, (dt, du) = value_and_grad(lambda t, u: f(t * x, u, m), argnums=(0, 1))(1.0, v)
        return value + 0.5 * dt + np.sum(du * du)

    return g


def checkpointed(f: Any) -> Callable[..., Any]:
    """Return a function that runs a part again."""
    return lambda x, v, m: mp.checkpoint(f, x, v, m) * 2.0


def gradient(f: Any) -> Callable[..., Any]:
    """Return the derivatives with respect to all arguments."""
    return value_and_grad(f, argnums=(0, 1, 2))


def along(f: Any) -> Callable[..., Any]:
    """Return the derivative along one direction."""
    return lambda *args: jvp(f, args, TANGENTS)


CONTEXTS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "reverse": gradient,
    "forward": along,
    "inner": lambda f: gradient(inside(f)),
    "inner, forward": lambda f: along(inside(f)),
    "forward over reverse": lambda f: along(gradient(f)),
    "checkpointed": lambda f: gradient(checkpointed(f)),
    "pullback": lambda f: lambda *args: vjp(f, *args)[1](2.0),
}


def told(value: Any) -> Any:
    """Return a value to the last bit, and its type."""
    if isinstance(value, (tuple, list)):
        return [told(part) for part in value]
    if isinstance(value, np.ndarray):
        return kind_of(value), value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else repr(value)


def outcome(f: Callable[..., Any]) -> tuple[Any, ...]:
    """Return all that a derivative returns, raises, warns of, or leaves behind."""
    KINDS.clear()
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in ARGS]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = told(f(*args))
        except Exception as error:
            text = re.sub(r"0x[0-9a-f]{6,}(?!p)", "...", str(error))
            result = type(error), text, getattr(error, "__notes__", None)
    noted = sorted((w.category.__name__, str(w.message)) for w in caught)
    return result, noted, KINDS[-1:], told(args)


@contextmanager
def without_ways() -> Iterator[None]:
    """Let all calls go the general way in a block."""
    with (
        patch.object(rule_ways, "served_by", lambda rule, f: {}),
        patch.object(structural_ways, "OF_LANGUAGE", ()),
        patch.object(array_language, "of_operator", lambda rule, f: decline),
        patch.dict(array_language.SERVED, clear=True),
    ):
        forget_tables()
        yield
    forget_tables()


def forget_tables() -> None:
    """Let the tables of rules be made again."""
    dispatch._handlers = dispatch.Handlers((-1, ()), dispatch.ByIdentity(), rule_ways.RuleWays())
    forward_handlers._made = (
        None,
        forward_handlers.ForwardHandlers(dispatch.ByIdentity(), rule_ways.RuleWays()),
    )
