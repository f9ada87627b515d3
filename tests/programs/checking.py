"""Check one program: value, gradient, restored arguments, agreement of a second call."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mooncake_py import value_and_grad
from mooncake_py.errors import MooncakeError
from mooncake_py.tangents.bits import bits_of
from tests.programs.overlapping import with_sources_copied
from tests.programs.program import Bases, Program, defined
from tests.programs.truth import Untestable, active_bases, difference, largest_number, primal
from tests.programs.ways import WAYS, gradient_of_memory

__all__ = [
    "Finding", "by_bases", "check", "close", "frozen", "inner", "plain_value",
    "random_direction", "require_trust", "same_value",
]  # fmt: skip

RTOL, RTOL_SINGLE = 2e-6, 2e-3
LARGEST_NUMBER = 1e7


@dataclass(frozen=True)
class Finding:
    """A defect that a program shows.

    Attributes
    ----------
    kind : str
        ``wrong gradient``, ``wrong value``, ``not restored``, ``unsteady``, ``spurious error`` or
        ``refused`` (an error of the package itself, which may be a documented limit); followed
        by the name of another way to the gradient, if it is there that it shows.
    expected, got : str
        What differs.
    program : Program
    """

    kind: str
    expected: str
    got: str
    program: Program

    def __str__(self) -> str:
        return f"{self.kind}\n  expected {self.expected}\n  got      {self.got}\n\n{self.program}\n"


def check(program: Program, seed: int = 0) -> Finding | None:
    """Return an error in the derivative of a program, or None.

    Raises
    ------
    Untestable
        If the program itself fails, or has no derivative that differences could find.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a random program may well be odd
        return _checked(program, seed)


def _checked(program: Program, seed: int) -> Finding | None:
    value = plain_value(program)
    found = _found(program, value, seed)
    if found is not None:
        require_trust(program, value)
    return found


def require_trust(program: Program, value: Any, *, exact: bool = False) -> None:
    """Raise Untestable where NumPy itself, or rounding, may be to blame for a finding."""
    if _value(with_sources_copied(program.source), program, exact=exact) != value:
        raise Untestable("NumPy copies between views that overlap")
    if largest_number(program) > LARGEST_NUMBER:
        raise Untestable("large numbers on the way swallow small changes")


def _found(program: Program, value: Any, seed: int) -> Finding | None:
    rng = np.random.default_rng(seed)
    directions = [random_direction(program, rng) for _ in range(2)]
    slopes = [difference(program, d) for d in directions]
    with defined(program.source) as f, np.errstate(all="ignore"):
        differentiated = _by(partial(gradient_of_memory, differentiate=value_and_grad), f, program)
        found = _one_call(program, differentiated, value)
        if isinstance(found, Finding):
            return found
        again = _one_call(program, differentiated, value)
        if isinstance(again, Finding):
            return again
        others = {
            name: _one_call(program, _by(way, f, program), value) for name, way in WAYS.items()
        }
    for direction, (slope, error) in zip(directions, slopes, strict=True):
        got = inner(found, direction)
        if not close(got, slope, error, _tolerance(program)):
            return _wrong_gradient(program, found)
        if got != inner(again, direction):
            return Finding("unsteady", str(found), str(again), program)
    return _other_ways(program, found, others, directions)


def _by(way: Any, f: Any, program: Program) -> Any:
    return lambda *arguments: way(f, program.argnums, list(arguments))


def _other_ways(
    program: Program, found: Bases, others: dict[str, Any], directions: list[Bases]
) -> Finding | None:
    """Return in what the gradients found in other ways differ."""
    for name, other in others.items():
        if isinstance(other, Finding):
            return replace(other, kind=f"{other.kind} {name}")
        for direction in directions:
            got, expected = inner(other, direction), inner(found, direction)
            if not abs(got - expected) <= _tolerance(program) * max(1.0, abs(expected)):
                kind = f"wrong gradient {name}"
                return Finding(kind, _shown(found), _shown(other), program)
    return None


def plain_value(program: Program, *, exact: bool = False) -> Any:
    """Return the value of the primal, if it does not depend on memory nobody has written."""
    values = [
        _value(program.source.replace("np.empty", creator), program, exact=exact)
        for creator in ("np.empty", "np.zeros", "np.ones")
    ]
    if not isinstance(values[0], float | np.floating) or values[1] != values[2]:
        raise Untestable("the primal reads memory before it is written, or is no real number")
    return values[1]


def _value(source: str, program: Program, *, exact: bool = False) -> Any:
    with defined(source, exact=exact) as f, np.errstate(all="raise", under="ignore"):
        try:
            return primal(program, f, program.bases)
        except Exception as error:
            raise Untestable(f"the primal raised {error!r}") from error


def random_direction(program: Program, rng: np.random.Generator) -> Bases:
    """Return a random change of the bases that are differentiated."""
    return {name: _random_like(program.bases[name], rng) for name in active_bases(program)}


def _random_like(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, float):
        return float(rng.uniform(0.3, 1.0))
    numbers = rng.uniform(0.3, 1.0, value.shape) * rng.choice([-1.0, 1.0], value.shape)
    if np.iscomplexobj(value):
        return numbers + 1j * rng.uniform(0.3, 1.0, value.shape)
    return numbers


def _one_call(program: Program, differentiated: Any, value: Any) -> Bases | Finding:
    """Return the gradient by bases, or what went wrong."""
    bases = copy.deepcopy(program.bases)
    arguments = program.build(bases)
    before = frozen(arguments)
    try:
        got, gradients = differentiated(*arguments)
    except Exception as error:
        kind = "refused" if isinstance(error, MooncakeError) else "spurious error"
        message = f"{type(error).__name__}: {error}"
        return Finding(kind, f"value {value!r}", message, program)
    if not same_value(program, got, value):
        return Finding("wrong value", repr(value), repr(got), program)
    if frozen(arguments) != before:
        return Finding("not restored", str(program.build(program.bases)), str(arguments), program)
    return by_bases(program, gradients)


def same_value(program: Program, got: Any, value: Any) -> bool:
    """Tell whether a value is that of the plain call, to the last bit.

    Only an inner derivative may be rounded otherwise within another one.
    """
    if type(got) is not type(value):
        return False
    if any(f"{name}(" in program.source for name in ("grad", "vjp", "jvp")):
        rounding = 1e-5 if _is_single(program) else 1e-12
        return bool(abs(got - value) <= rounding * max(1.0, abs(value)))
    return got == value


def frozen(value: Any) -> Any:
    """Return an argument as bytes, types and identities, to be compared bit for bit."""
    if isinstance(value, np.ndarray):
        return id(value), value.dtype.str, value.shape, value.strides, bits_of(value)
    if isinstance(value, dict):
        return id(value), [(k, frozen(v)) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [frozen(v) for v in value]
    return type(value), repr(value)


class _Slot:
    """Stands for a number among the bases, which has no address."""

    def __init__(self) -> None:
        self.gradient: Any = None


def by_bases(program: Program, gradients: Any) -> Bases | Finding:
    """Put the gradients of the arguments together to gradients of the bases."""
    names = active_bases(program)
    slots: Bases = {
        name: _Slot() if isinstance(v, float) else np.full_like(v, np.nan)
        for name, v in program.bases.items()
    }
    places = program.build(slots)
    for i, gradient in zip(program.argnums, gradients, strict=True):
        if not _put(places[i], gradient):
            return Finding(
                "wrong gradient", "one cotangent for shared memory", str(gradients), program
            )
    return {n: s.gradient if isinstance(s, _Slot) else s for n, s in slots.items() if n in names}


def _put(place: Any, gradient: Any) -> bool:
    """Put a gradient into its place; tell whether it agrees with what is there already."""
    if isinstance(place, _Slot):
        consistent = place.gradient in (None, gradient)
        place.gradient = gradient
        return consistent
    if isinstance(place, np.ndarray):
        if np.shape(gradient) != place.shape:
            return False
        fresh = np.isnan(place)
        consistent = bool(np.all(fresh | np.isnan(gradient) | (place == gradient)))
        place[...] = gradient
        return consistent
    if isinstance(place, dict):
        return all(_put(place[key], gradient[key]) for key in place)
    if isinstance(place, list | tuple):
        return all(_put(p, g) for p, g in zip(place, gradient, strict=True))
    return True


def inner(gradient: Bases, direction: Bases) -> float:
    """Return Re<gradient, direction>; a nan stays one."""
    return float(sum(np.sum(np.real(np.conj(gradient[n]) * d)) for n, d in direction.items()))


def _tolerance(program: Program) -> float:
    return RTOL_SINGLE if _is_single(program) else RTOL


def _is_single(program: Program) -> bool:
    """Tell whether a program computes in single precision."""
    return "F32" in program.source or "h0" in program.bases


def close(got: float, expected: float, error: float, rtol: float) -> bool:
    """Compare with a difference that has an error of its own."""
    return bool(abs(got - expected) <= rtol * max(1.0, abs(expected)) + 10 * error)


def _wrong_gradient(program: Program, found: Bases) -> Finding:
    """Return the finding with the whole gradient, element by element."""
    expected = {name: _elements(program, name) for name in found}
    return Finding("wrong gradient", _shown(expected), _shown(found), program)


def _elements(program: Program, name: str) -> Any:
    base = program.bases[name]
    if isinstance(base, float):
        return _element(program, {name: 1.0})
    units = np.eye(base.size).reshape(base.size, *base.shape)
    real = np.array([_element(program, {name: unit}) for unit in units]).reshape(base.shape)
    if not np.iscomplexobj(base):
        return real
    imaginary = np.array([_element(program, {name: 1j * unit}) for unit in units])
    return real + 1j * imaginary.reshape(base.shape)


def _element(program: Program, direction: Bases) -> float:
    try:
        return difference(program, direction)[0]
    except Untestable:
        return np.nan


def _shown(gradient: Bases) -> str:
    with np.printoptions(precision=6, suppress=True):
        return ", ".join(f"{n}: {g}" for n, g in gradient.items())
