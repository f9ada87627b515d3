"""One driver: a program by every way, in every mode, to second order, with one comparison.

The reference is the tape, operation by operation.  Statements and loops that run as one entry, and
functions that run whole as text of NumPy, give the same values and leave the same state to the last
bit; compiled text, which adds in its own order, to rounding.  Derivatives agree to rounding of
their terms, and what is raised is the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpointed, debug_mode, grad, jvp, value_and_grad, value_and_hvp, vjp
from mooncake_py.compiler.native import effort, entering_again, form, printed_loop
from mooncake_py.modes.reverse import whole_or_parts, whole_pullback
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.compilation import is_installed, using
from tests.programs.comparing import (
    Outcome,
    assert_close,
    assert_equal,
    leaves,
    outcome,
    random_like,
)
from tests.support.interpreted import INTERPRETED
from tests.support.modes.text import in_parts

__all__ = ["MODES", "WAYS", "Sample", "compare", "in_turn"]

Function = Callable[..., Any]
EXACT = ("entries", "text", "debug")
"""The ways that compute what the tape does to the last bit."""
LATE = ("OverflowError",)  # raised by derivatives of which another way takes other intermediates
SECOND = ("hvp", "jvp of")
ANY = 1 << 30  # bytes


@dataclass(frozen=True)
class Sample:
    """A program with arguments.

    Attributes
    ----------
    number : callable
        Returns a number, and an auxiliary output if it `has_aux`.
    make : callable
        Returns the arguments, the same ones each time, in memory of their own.
    active : tuple of tuple of int
        The arguments of which gradients are taken.
    moving : tuple of int
        Those along which derivatives are taken: floats and arrays of these.
    seed : int
        Of directions and cotangents.
    state : callable, optional
        The same program, but it returns a tuple of arrays.
    precision : float
        Of derivatives, relative to their terms.
    bits : bool
        Whether values in forward mode are equal to the last bit too.
    most : float or None
        The largest value that is compared: slopes beyond are of chaotic programs.
    around : callable
        Returns a block in which the program runs.
    has_aux : bool
    others : tuple of callable
        Each returns a block with other arguments, and perhaps another state, for a mode that takes
        gradients for all of them in turn.
    reached : object
        State, other than of the arguments, that the program changes.
    """

    number: Function
    make: Callable[[], tuple[Any, ...]]
    active: tuple[tuple[int, ...], ...]
    moving: tuple[int, ...]
    seed: int = 0
    state: Function | None = None
    precision: float = 1e-10
    bits: bool = True
    most: float | None = None
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    has_aux: bool = False
    others: tuple[Callable[[], AbstractContextManager[tuple[Any, ...]]], ...] = ()
    reached: Any = ()

    def directions(self, count: int) -> list[list[Any]]:
        """Return random directions, for the arguments that move."""
        random = np.random.default_rng(self.seed)
        args = self.make()
        return [[random_like(random, args[k]) for k in self.moving] for _ in range(count)]

    def moved(self, f: Function, given: tuple[Any, ...], moving: tuple[int, ...]) -> Function:
        """Return a function of some arguments, with the others as they are given."""
        if len(moving) == len(given):
            return f

        def partly(*values: Any) -> Any:
            every = list(given)
            for k, value in zip(moving, values, strict=True):
                every[k] = value
            return f(*every)

        return partly


Taken = tuple[str, Callable[..., tuple[Any, Any]]]
"""A name, and what returns value and derivatives for arguments."""


# Ways.


@contextmanager
def on_the_tape() -> Iterator[None]:
    """Record operation by operation."""
    with pytest.MonkeyPatch.context() as patch, in_parts():
        patch.setattr(ReverseContext, "fuses", False)
        yield


@contextmanager
def as_entries() -> Iterator[None]:
    """Let statements, and loops, however short they are, run as one entry."""
    with pytest.MonkeyPatch.context() as patch, in_parts():
        for limit in ("FEWEST", "LEAST", "ENOUGH"):
            patch.setattr(printed_loop, limit, 0)
        for limit in ("COPIED", "OF_OPERATION", "SMALL"):
            patch.setattr(effort, limit, ANY)
        patch.setattr(entering_again, "USED", 1)
        yield


@contextmanager
def as_text() -> Iterator[None]:
    """Let whole functions run as text at each call, where that is possible."""

    def text_or_parts(
        kind: str, f: Any, in_text: Function, in_parts: Function, agree: Function
    ) -> Any:
        found = in_text()
        return in_parts() if found is None else found

    with as_entries(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_or_parts, "either", text_or_parts)
        yield


@contextmanager
def as_compiled() -> Iterator[None]:
    """Compile functions and loops; the text runs node by node (see `interpreted`)."""
    with pytest.MonkeyPatch.context() as patch, using(True):
        patch.setattr(form, "COMPILER", INTERPRETED)
        patch.setattr(effort, "LEAST", 1)
        yield


@contextmanager
def as_compiled_loops() -> Iterator[None]:
    """Compile, but take pullbacks of what is on the tape."""
    with as_compiled(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_pullback, "vjp_of_whole", lambda *_: None)
        yield


@contextmanager
def in_debug_mode() -> Iterator[None]:
    """Let debug mode compare what runs as one entry with its parts."""
    with as_entries(), debug_mode(check_finite=False):
        yield


WAYS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "entries": as_entries, "text": as_text, "debug": in_debug_mode,
}  # fmt: skip
if is_installed():
    WAYS |= {"compiled": as_compiled, "compiled, on the tape": as_compiled_loops}


# Modes.


def gradients(s: Sample) -> Iterator[Taken]:
    """Yield gradients of several choices of arguments."""
    for active in s.active:
        f = value_and_grad(s.number, active, has_aux=s.has_aux)
        yield f"gradient {active}", first_and_rest(f)


def prepared(s: Sample) -> Iterator[Taken]:
    """Yield the gradient as the second call of a prepared one gives it."""

    def again(*given: Any) -> Any:
        step = value_and_grad(s.number, s.active[0], has_aux=s.has_aux).prepare(*s.make())
        step(*s.make())
        return step(*given)

    yield "prepared", first_and_rest(again)


def pullbacks(s: Sample) -> Iterator[Taken]:
    """Yield the results of pullbacks that have waited, and are called twice."""
    for name, f in (("number", s.number), ("state", s.state)):
        if f is None or s.has_aux:
            continue

        def pulled(*given: Any, f: Function = f) -> Any:
            y, pullback = vjp(f, *given)
            value_and_grad(s.number, s.active[0])(*s.make())
            seeds = random_like(np.random.default_rng(s.seed), y)
            return y, [pullback(seeds), pullback(seeds)]

        yield f"pullback of {name}", pulled


def steps_again(s: Sample) -> Iterator[Taken]:
    """Yield gradients of steps that run again, the later ones on what the first one has left."""

    def steps(*given: Any) -> Any:
        y = 0.0
        for _ in checkpointed(range(3), 1):
            y = s.number(*given)
        return y

    if not s.has_aux:
        for active in (s.active[0], s.active[-1]):
            yield f"checkpointed {active}", first_and_rest(value_and_grad(steps, active))


def along(s: Sample) -> Iterator[Taken]:
    """Yield derivatives along directions: of all, of one, and of several at once."""
    u, *others = s.directions(3)
    for name, f in (("number", s.number), ("state", s.state)):
        if f is None:
            continue

        def pushed(*given: Any, f: Function = f, at: Any = s.moving, t: Any = tuple(u)) -> Any:
            values = tuple([given[k] for k in at])
            return jvp(s.moved(f, given, at), values, t)

        yield f"{name} along all", pushed
        for k, direction in zip(s.moving, u, strict=True):
            one = {"at": (k,), "t": (direction,)}
            yield f"{name} along {k}", lambda *given, f=pushed, one=one: f(*given, **one)
        if not s.has_aux:
            several = {"t": [tuple(each) for each in (u, *others)]}
            yield f"{name} along several", lambda *g, f=pushed, t=several: f(*g, **t)


def second(s: Sample) -> Iterator[Taken]:
    """Yield second derivatives: products with the Hessian, and forward mode over both modes."""
    if s.has_aux:
        return
    u, v = s.directions(2)
    for k, direction in zip(s.moving, u, strict=True):

        def products(*given: Any, k: int = k, t: Any = direction) -> Any:
            value, *found = value_and_hvp(s.number, given, t, k)
            return value, found

        yield f"hvp {k}", products

    def twice(*given: Any) -> Any:
        f = s.moved(s.number, given, s.moving)
        values = tuple([given[k] for k in s.moving])
        return [], jvp(lambda *a: jvp(f, a, tuple(u)), values, tuple(v))

    def of_gradient(*given: Any) -> Any:
        f = s.moved(grad(s.number, s.moving), given, s.moving)
        values = tuple([given[k] for k in s.moving])
        return [], jvp(f, values, tuple(u))

    yield "jvp of jvp", twice
    yield "jvp of gradient", of_gradient


def in_between(s: Sample) -> Iterator[Taken]:
    """Yield gradients for other arguments, and after each of them for the usual ones."""
    for k, other in enumerate(s.others):

        def taken(*given: Any, other: Any = other) -> Any:
            gradient = value_and_grad(s.number, s.active[0])
            with other() as changed:
                try:
                    found: Any = gradient(*changed)
                except Exception as error:
                    found = type(error).__name__
                left = leaves(changed)
            y, found_again = gradient(*given)
            return y, [found, left, found_again]

        yield f"gradient in between {k}", taken


MODES: dict[str, Callable[[Sample], Iterator[Taken]]] = {
    "gradients": gradients, "prepared": prepared, "pullbacks": pullbacks, "steps": steps_again,
    "along": along, "second": second, "in between": in_between,
}  # fmt: skip


def in_turn(seed: int) -> tuple[list[str], list[str]]:
    """Return two ways and two modes by a seed, where all of them would take long."""
    ways, modes = [*WAYS], [*MODES]
    return (
        [ways[seed % len(ways)], ways[(seed // 2 + 1) % len(ways)]],
        [modes[0], modes[1 + seed % (len(modes) - 1)]],
    )


# The comparison.


def compare(
    sample: Sample, ways: Iterable[str] | None = None, modes: Iterable[str] | None = None
) -> None:
    """Raise if a program does by some way, in some mode, what it does not do on the tape.

    Nothing is compared where its value is larger than it may be, or no number.

    Parameters
    ----------
    ways, modes : iterable of str, optional
        By default all.
    """
    ways = WAYS if ways is None else [way for way in ways if way in WAYS]
    with warnings.catch_warnings(), sample.around():
        warnings.simplefilter("ignore")
        with on_the_tape():  # its own derivatives too: their last digits depend on the way
            plain = outcome("plain", lambda *a: (sample.number(*a), []), sample.make)
        if not is_compared(sample, plain):
            return
        state = None
        if sample.state is not None:
            state = outcome("plain", lambda *a: (sample.state(*a), []), sample.make)  # type: ignore[misc]
        for mode in MODES if modes is None else modes:
            taken = list(MODES[mode](sample))
            with on_the_tape():
                expected = [outcome(*each, sample.make, sample.reached) for each in taken]
            for reference in expected:
                require_reference(sample, reference, state if "state" in reference.name else plain)
            for way in ways:
                with WAYS[way]():
                    found = [outcome(*each, sample.make, sample.reached) for each in taken]
                for a, b in zip(found, expected, strict=True):
                    require_same(sample, way, a, b)


def is_compared(sample: Sample, found: Outcome) -> bool:
    """Whether a value, and slopes of a program with this value, tell anything."""
    if sample.most is None or found.raised is not None:
        return True
    return not found.values or (not np.ndim(y := found.values[0]) and abs(y) < sample.most)


def require_reference(sample: Sample, found: Outcome, plain: Outcome | None) -> None:
    """Check the tape itself: the value is that of the plain call, arguments are restored."""
    if found.raised is not None:
        return
    if plain is not None and found.name.startswith(("gradient", "pullback", "prepared")):
        assert_equal(found.values, plain.values, f"value of {found.name}")
    assert_equal(found.arguments, leaves(sample.make()), f"arguments of {found.name}")


def require_same(sample: Sample, way: str, a: Outcome, b: Outcome) -> None:
    """Check that a way gives what the tape does."""
    name = f"{a.name}, {way}"
    precision = sample.precision
    if a.name.startswith("gradient in between"):
        precision = max(precision, 1e-4)  # some arguments are of float32
    if b.raised and b.raised[0] in LATE and b.name.startswith(SECOND):
        return
    if b.name.startswith("checkpointed") and not is_compared(sample, b):
        return
    assert a.raised == b.raised, (name, a.raised, b.raised)
    if way == "entries" and a.name.startswith("gradient"):
        assert a.warned == b.warned, (name, a.warned, b.warned)
    if way in EXACT and (sample.bits or a.name.startswith("gradient")):
        assert_equal(a.values, b.values, f"value of {name}")
    else:
        assert_close(a.values, b.values, f"value of {name}", precision)
    assert_equal(a.arguments, b.arguments, f"arguments of {name}")
    if way in EXACT:
        assert_equal(a.state, b.state, f"state after {name}")
    else:
        assert_close(a.state, b.state, f"state after {name}", precision)
    assert_close(a.parts, b.parts, name, precision)


def first_and_rest(f: Function) -> Function:
    """Return functions of the first of several results, and of the others."""

    def run(*given: Any) -> Any:
        y, *rest = f(*given)
        return y, rest

    return run
