"""Checks of gradients against finite differences, independent of the package's own tester."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mooncake_py import value_and_grad
from mooncake_py.runtime.compilation import compiles
from mooncake_py.tangents.bits import bits_of

STEP = 1e-3
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # central, fourth order


class Programs(list[Any]):
    """Functions with arguments, collected by decoration, to be parametrized over."""

    def __call__(self, *args: Any, **options: Any) -> Callable[[Any], Any]:
        """Collect a function; `args` are floats, arrays, containers or objects of these."""

        def add(f: Any) -> Any:
            self.append(Program(f, args, options))
            return f

        return add


@dataclasses.dataclass
class Program:
    """A function, the arguments to differentiate it with respect to, and options of `check`."""

    f: Any
    args: tuple[Any, ...]
    options: dict[str, Any]

    def check(self) -> None:
        check(self.f, *self.args, **self.options)

    def __str__(self) -> str:
        return self.f.__name__


def check(
    f: Any,
    *args: Any,
    rtol: float = 1e-6,
    argnums: tuple[int, ...] | None = None,
    rests: bool = False,
) -> None:
    """Check value, gradient, restored arguments and a second call of a function.

    Parameters
    ----------
    rests : bool, optional
        Whether a loop of it runs as text in one call and rests in the next, as it has too little to
        do in some of its runs: the last bits of gradients differ then.
    """
    before = copy.deepcopy(args)
    if argnums is None:
        argnums = tuple(i for i, a in enumerate(args) if any(True for _ in numbers(a)))
    expected_value = f(*copy.deepcopy(args))
    value, gradients = value_and_grad(f, argnums)(*args)
    assert type(value) is type(expected_value)
    if compiles():  # sums are taken in another order
        np.testing.assert_allclose(value, expected_value, rtol=1e-13, atol=1e-15)
    else:
        np.testing.assert_array_equal(value, expected_value)
    assert bits(args) == bits(before), "the arguments are not as they were before the call"
    for i, gradient in zip(argnums, gradients, strict=True):
        got = np.array(list(numbers(gradient)))
        np.testing.assert_allclose(
            got, differences(f, before, i), rtol=rtol, atol=1e-9, err_msg=f"argument {i}"
        )
    again, gradients_again = value_and_grad(f, argnums)(*args)
    assert bits(again) == bits(value)
    if not rests:
        assert bits(gradients_again) == bits(gradients)
        return
    for one, other in zip(gradients_again, gradients, strict=True):
        got, expected = (np.array(list(numbers(part))) for part in (one, other))
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def differences(f: Any, args: tuple[Any, ...], position: int) -> np.ndarray:
    """Return the derivatives with respect to the numbers in one argument, in their order."""
    center = list(numbers(args[position]))
    return np.array([derivative(f, args, position, center, k) for k in range(len(center))])


def derivative(f: Any, args: Any, position: int, center: list[float], k: int) -> float:
    """Return the derivative with respect to one number."""
    total = 0.0
    for multiple, weight in WEIGHTS:
        moved = list(center)
        moved[k] += multiple * STEP
        shifted = list(copy.deepcopy(args))
        shifted[position] = rebuilt(shifted[position], iter(moved))
        total += weight * float(f(*shifted))
    return total / STEP


def numbers(value: Any) -> Iterator[float]:
    """Yield the floats in a value, in order; ints and the like are not among them."""
    if isinstance(value, (float, np.floating)):
        yield float(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield from value.ravel().tolist()
    else:
        for part in parts(value):
            yield from numbers(part)


def parts(value: Any) -> list[Any]:
    """Return the contents of a container or an object."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, deque)):
        return list(value)
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    fields = getattr(value, "_fields", None) or getattr(value, "__dict__", {})
    return list(fields.values())


def rebuilt(value: Any, source: Iterator[float]) -> Any:
    """Return a value of the same structure with other numbers; objects are changed in place."""
    if isinstance(value, (float, np.floating)):
        return type(value)(next(source))
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f":
            return value
        return np.array([next(source) for _ in range(value.size)], value.dtype).reshape(value.shape)
    if isinstance(value, dict):
        for key, part in value.items():
            value[key] = rebuilt(part, source)
        return value
    if isinstance(value, tuple):
        items = [rebuilt(part, source) for part in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        value[:] = [rebuilt(part, source) for part in value]
        return value
    names = (
        [field.name for field in dataclasses.fields(value)]
        if dataclasses.is_dataclass(value)
        else list(getattr(value, "__dict__", ()))
    )
    for name in names:
        object.__setattr__(value, name, rebuilt(getattr(value, name), source))
    return value


def bits(value: Any) -> Any:
    """Return something equal for two values exactly if all their numbers agree bit for bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, bits_of(value)
    if isinstance(value, (float, np.floating)):
        return type(value).__name__, float(value).hex()
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    found = parts(value)
    if found:
        return type(value).__name__, [bits(part) for part in found]
    return repr(value) if type(value).__module__ == "builtins" else type(value).__name__
