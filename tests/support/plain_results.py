"""The result of a call, as a program sees it within a derivative, compared with the plain call.

Types, bits, strides, and which memory results share with arguments.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mooncake_py import MooncakeError, jvp, vjp
from mooncake_py.rules.declare import zero_derivative
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.tangents import NoTangent, randn_tangent
from mooncake_py.tangents.bits import bits_of
from mooncake_py.testing.case import Inputs
from mooncake_py.testing.layouts import LAYOUTS, layout
from mooncake_py.testing.sharing import shared_parts
from mooncake_py.testing.structure import children, is_number

__all__ = ["differences", "in_layouts", "outside_state", "restored", "set_outside_state"]

Found = dict[str, Any]

_seen: list[tuple[Any, Any]] = []


def note(y: Any, args: Any) -> None:
    """Note what a program sees of a result and of its arguments."""
    _seen.append((described("output", y), sorted(links(y, args))))


zero_derivative(note, because="looks at values only")


def described(path: str, value: Any) -> list[Any]:
    """Return types, bits and layout of all parts of a value, each with its path."""
    return list(parts(path, value, {}))


def parts(path: str, value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    value = unwrapped(value)
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        yield path, "type", kind
        yield path, "dtype and shape", (value.dtype.str, value.shape)
        yield path, "bits", None if value.dtype.hasobject else bits_of(value)
        strides, is_writeable = layout(value)
        yield path, "strides", strides
        yield path, "may be written", is_writeable
    elif is_number(value):
        yield path, "type", kind
        yield path, "bits", bits_of(np.asarray(value))
    else:
        yield path, "type", kind
        if id(value) not in seen:
            seen[id(value)] = value
            for name, part in children(value):
                yield from parts(path + name, part, seen)


def links(y: Any, args: Any) -> list[Any]:
    """Return which parts of the result and of the arguments are one object, or share memory."""
    roots = [*((f"args[{i}]", unwrapped(a)) for i, a in enumerate(args)), ("output", unwrapped(y))]
    found = [link for link in shared_parts(roots) if link[1].startswith("output")]
    return [(a, b, how.partition(", with strides")[0]) for a, b, how in found]


def observed(f: Callable[..., Any], kwargs: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that notes what the program sees."""

    def program(*args: Any) -> Any:
        y = f(*args, **kwargs)
        note(y, args)
        return y

    return program


def differences(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return in words what is otherwise within a derivative: in reverse mode, and in forward mode.

    What has no derivative there is left out.
    """
    inputs = Inputs(args, kwargs)
    found: list[str] = []
    with restored(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        before = outside_state()
        copies = inputs.copy()
        expected = run(lambda: observed(f, copies.kwargs)(*copies.values))
        if expected is None:
            return []
        after = outside_state()
        for mode, take in (("reverse", in_reverse), ("forward", in_forward)):
            set_outside_state(before)
            copies = inputs.copy()
            program = observed(f, copies.kwargs)
            got = run(lambda take=take, copies=copies, program=program: take(program, copies))
            if got is not None:
                found += [f"{mode}: {text}" for text in compared(expected, got)]
                if outside_state() != after:
                    found.append(f"{mode}: the random state is not that after the plain call")
    return found


def run(call: Callable[[], Any]) -> Any:
    """Return the notes of a call; None if it raises, or a MooncakeError refuses it."""
    _seen.clear()
    try:
        call()
    except MooncakeError:
        return None
    except Exception:
        if _seen:  # the call itself returned
            raise
        return None
    return _seen[0] if _seen else None  # without a derivative nothing runs


def in_reverse(program: Any, inputs: Inputs) -> None:
    y, pullback = vjp(program, *inputs.values)
    pullback(randn_tangent(np.random.default_rng(0), y))


def in_forward(program: Any, inputs: Inputs) -> None:
    tangents = randn_tangent(np.random.default_rng(0), inputs.values)
    if not isinstance(tangents, NoTangent):
        jvp(program, inputs.values, tangents)


def compared(expected: Any, got: Any) -> Iterator[str]:
    """Yield how notes differ."""
    for (path, what, value), (other, kind, new) in zip(expected[0], got[0], strict=False):
        if (path, what) != (other, kind):
            yield f"{path} has other parts"
            return
        if value != new:
            yield f"{what} of {path}" + ("" if what == "bits" else f": {new}, not {value}")
            if what != "bits":
                return
    if expected[1] != got[1]:
        yield f"shares {got[1]}, not {expected[1]}"


def in_layouts(args: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield arguments as they are, and with arrays in other layouts."""
    yield "as given", args
    for label, change in LAYOUTS.items():
        changed = [changed_or_same(a, change) for a in args]
        if any(new is not old for new, old in zip(changed, args, strict=True)):
            yield label, tuple(changed)


def changed_or_same(a: Any, change: Any) -> Any:
    if type(a) is not np.ndarray or a.dtype.kind not in "fc":
        return a
    changed = change(a)
    return a if changed is None else changed


# What rules must leave alone.


def outside_state() -> tuple[Any, ...]:
    """Return the state of the global generators, of warnings and of floating-point errors."""
    filters = tuple(map(repr, warnings.filters))
    state: Any = np.random.get_state()  # noqa: NPY002
    kind, key, *rest = state
    return (kind, tuple(key.tolist()), *rest), random.getstate(), filters, np.geterr()


def set_outside_state(state: tuple[Any, ...]) -> None:
    np.random.set_state(state[0])  # noqa: NPY002
    random.setstate(state[1])


@contextmanager
def restored() -> Iterator[None]:
    """Let the global generators go on as if a block had drawn nothing."""
    before = outside_state()
    try:
        yield
    finally:
        set_outside_state(before)
