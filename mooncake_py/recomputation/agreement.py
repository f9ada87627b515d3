"""Check that the second run of a function agrees with the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from mooncake_py.boundary.arguments import name_of
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.errors import MooncakeError, NestedDerivativeError
from mooncake_py.modules import module_of
from mooncake_py.recomputation.structures import is_leaf
from mooncake_py.runtime.activity import parts, unwrapped
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.tangents.subclasses import is_instance, plain

__all__ = ["Fingerprint", "Runs", "repeating", "something_else", "something_later"]

AS_THEY_ARE = (MooncakeError, MemoryError, RecursionError)  # also where a first run has not failed
LEFT_OUT = (set, frozenset, type, FunctionType, MethodType, BuiltinFunctionType)
RTOL = {"e": 1e-1, "f": 1e-3, "F": 1e-3}  # of low precision, by the character of the dtype
RTOL_DOUBLE = 1e-7
NOISE = 1e-10  # of what arguments contribute, relative to them: rounding, where terms cancel


AGAIN = (
    "a derivative inside another one runs its function again, and here it does not find what\n"
    "the first run has found: a file, the clock, or,\n"
    "for a pullback, arrays, lists or attributes that were changed after the call of vjp"
)
LATER = (
    "this call of the pullback, or this row of a Jacobian, runs the function again, and it does\n"
    "not find what the first run has found: names bound to something else after the call of vjp,\n"
    "arrays, lists or attributes that were changed, a generator that moved on, a file, the clock"
)
SEVERAL = (
    "this derivative takes a run for each number of the arguments, and a later run does not find "
    "what\nthe first one has found: a file, the clock"
)


ANEW = "pass the data that change as an argument, or call vjp again after the change"


class repeating:
    """Run a function again within the block; refuse exceptions, as the first run raised none.

    A class, as `contextlib.contextmanager` would raise a StopIteration in place of the refusal.
    """

    def __init__(self, refusal: Callable[[Exception], MooncakeError]) -> None:
        self.refusal = refusal

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, AS_THEY_ARE):
            raise self.refusal(error) from error


class Fingerprint:
    """Sums over the numbers in an output: enough to tell another run from rounding."""

    def __init__(self, output: Any) -> None:
        self.sums = [sums_of(unwrapped(leaf)) for leaf in numbers_in(output, set())]

    def matches(self, other: Fingerprint, noise: float = 0.0) -> bool:
        """Return whether two outputs are the same up to rounding, or differ by some noise."""
        return len(self.sums) == len(other.sums) and all(
            distance(a, b) <= tolerance * size + noise or (a != a and b != b) or a == b
            for (a, size, tolerance), (b, _, _) in zip(self.sums, other.sums, strict=True)
        )


def distance(a: complex, b: complex) -> float:
    """Return ``|a - b|``, infinity where it overflows: `abs` raises there."""
    return math.hypot(a.real - b.real, a.imag - b.imag)


class Runs:
    """The runs that one derivative takes of a function, which must have one result."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.first: Fingerprint | None = None

    def run(self) -> AbstractContextManager[None]:
        """Return a block for a run; a later one must not raise where the first one has not."""
        return nullcontext() if self.first is None else repeating(self.refusal)

    def refusal(self, raised: Exception | None = None) -> NestedDerivativeError:
        """Return the error for a run that differs from the first one."""
        error = something_else(definition_of(self.f), name_of(self.f), SEVERAL, raised=raised)
        outer = enclosing()
        return error if outer is None else outer.failed(error)

    def agree(self, result: Any, tangents: Any = (), arguments: Any = ()) -> None:
        """Raise if the result of a run is not that of the first one.

        Runs along several directions and along one round otherwise, which shows where terms cancel,
        as those of a gradient do at a minimum: the `tangents` of the result, times the `arguments`,
        tell how large the terms are.
        """
        found = Fingerprint(result)
        if self.first is None:
            self.first = found
        elif not found.matches(self.first, noise_of(tangents, arguments)):
            raise self.refusal()


def noise_of(tangents: Any, arguments: Any) -> float:
    """Return by how much the rounding of arguments may change what has these tangents."""
    of_tangents = [sums_of(unwrapped(t))[1] for t in numbers_in(tangents, set())]
    of_arguments = [sums_of(unwrapped(x))[1] for x in numbers_in(arguments, set())]
    noise = NOISE * sum(of_tangents) * sum(of_arguments)
    return noise if math.isfinite(noise) else 0.0


def numbers_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the numbers and arrays in containers and objects, not what functions captured.

    Instances of subclasses count as plain arrays: the results of one run may be these.
    """
    value = plain(value) if is_instance(value) else value
    if is_leaf(value):
        yield value
    elif id(value) not in seen and not issubclass(type(value), LEFT_OUT):
        seen.add(id(value))
        module = module_of(type(value))
        if module == "builtins" or not is_native_module(module):
            for part in parts(value):
                yield from numbers_in(part, seen)


def sums_of(leaf: Any) -> tuple[complex, float, float]:
    """Return a sum that tells the elements apart, its scale, and how exact it is."""
    flat = np.asarray(leaf).reshape(-1)
    weights = 1.0 + np.arange(flat.size) % 7
    with np.errstate(all="ignore"):
        total, size = np.sum(flat * weights), np.sum(np.abs(flat * weights))
    return complex(total), float(size), RTOL.get(flat.dtype.char, RTOL_DOUBLE)


def something_later(f: Any, raised: Exception | None = None) -> NestedDerivativeError:
    """Return the error for a pullback whose function returns another result in a later call."""
    return something_else(definition_of(f), name_of(f), LATER, ANEW, raised)


def something_else(
    where: Any,
    name: str,
    why: str = AGAIN,
    fix: str = "pass the data that change as an argument, or pass a copy of them",
    raised: Exception | None = None,
) -> NestedDerivativeError:
    """Return the error for a function with another result, or an exception, when run again."""
    what = "returned another result" if raised is None else f"raised {type(raised).__name__}"
    return NestedDerivativeError(
        f"{name} {what} in its second run",
        where=where,
        why=why,
        fix=fix,
    )
