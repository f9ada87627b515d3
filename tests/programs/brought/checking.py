"""Check a program with state in several modes: value, derivative, and what is left behind."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import numpy as np

from mooncake_py import (
    checkpoint,
    hvp,
    jvp,
    prepare,
    value_and_grad,
    value_and_hvp,
    vjp,
)
from mooncake_py.errors import MooncakeError
from tests.programs.brought.reachable import held, names_of
from tests.programs.checking import Finding, by_bases, close, frozen, inner, random_direction
from tests.programs.overlapping import with_sources_copied
from tests.programs.program import Bases, Program, defined
from tests.programs.second import tangents_along
from tests.programs.truth import Untestable, largest_number, moved, two_sided

__all__ = ["MODES", "check_brought", "check_in"]

RTOL = 2e-6
RTOL_SINGLE = 2e-3
LARGEST_NUMBER = 1e6
COTANGENT = 0.75
SEED = 11

Function = Callable[..., Any]
Result = tuple[Any, float]  # a value, None if the mode gives none, and a derivative
Mode = Callable[[Function, Program, list[Any], Bases], Result]


def seed_all() -> None:
    """Put the generators of the process into one state."""
    np.random.seed(SEED)
    random.seed(SEED)


@contextmanager
def anew(source: str, *, exact: bool = False) -> Any:
    """Define a program and its module again, and seed what it may draw from."""
    before = np.random.get_state(), random.getstate()
    seed_all()
    try:
        with defined(source, exact=exact) as f:
            yield f
    finally:
        np.random.set_state(before[0])
        random.setstate(before[1])


# What is right.


def plain(program: Program, source: str | None = None, *, exact: bool = False) -> Any:
    """Return the value of the plain call, and the state of random generators after it."""
    text = (source or program.source).replace("np.empty(", "np.zeros(")
    try:
        with anew(text, exact=exact) as f, np.errstate(all="raise", under="ignore"):
            value = f(*program.build(copy.deepcopy(program.bases)))
            return value, drawn(f)
    except Exception as error:
        raise Untestable(f"the primal raised {error!r}") from error


def drawn(f: Function) -> Any:
    """Return the state of all generators that a program may have drawn from."""
    found = [random.getstate(), repr(np.random.get_state())]
    for name, value in sorted(names_of(f).items()):
        if name.startswith("GENERATOR"):
            state = value.getstate() if isinstance(value, random.Random) else None
            bits = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", None)
            found.append(repr(state or bits.state))
    return found


def slope_of(program: Program, direction: Bases) -> tuple[float, float]:
    """Return the derivative along a direction by differences, each from a newly made state."""

    def along(t: float) -> float:
        there = Program(program.source, moved(program.bases, direction, t), program.arguments,
                        program.argnums)  # fmt: skip
        try:
            with anew(program.source, exact=True) as f, np.errstate(all="ignore"):
                value = float(f(*there.build(there.bases)))
        except Exception as error:
            raise Untestable(f"the primal raised {error!r}") from error
        if not abs(value) < LARGEST_NUMBER:
            raise Untestable("the primal is not finite, or large")
        return value

    return two_sided(along)


# Modes.


def by_gradient(differentiate: Any, f: Function, p: Program, args: Any, d: Bases) -> Result:
    value, gradients = differentiate(f, p.argnums)(*args)
    return value, paired(p, gradients, d)


def paired(program: Program, gradients: Any, direction: Bases) -> float:
    by_name = by_bases(program, gradients)
    if isinstance(by_name, Finding):
        raise AssertionError(f"the gradients have another structure: {gradients}")
    return inner(by_name, direction)


def gradient(f: Function, p: Program, args: Any, d: Bases) -> Result:
    return by_gradient(value_and_grad, f, p, args, d)


def debug(f: Function, p: Program, args: Any, d: Bases) -> Result:
    return by_gradient(partial(value_and_grad, debug=True), f, p, args, d)


def compiled(f: Function, p: Program, args: Any, d: Bases) -> Result:
    return by_gradient(partial(value_and_grad, compile=True), f, p, args, d)


def forward_gradient(f: Function, p: Program, args: Any, d: Bases) -> Result:
    return by_gradient(partial(value_and_grad, mode="forward"), f, p, args, d)


def checkpointed(f: Function, p: Program, args: Any, d: Bases) -> Result:
    return by_gradient(value_and_grad, lambda *a: checkpoint(f, *a), p, args, d)


def pulled(f: Function, p: Program, args: Any, d: Bases) -> Result:
    value, pullback = vjp(f, *args)
    first, second = pullback(COTANGENT), pullback(COTANGENT)
    if frozen(first) != frozen(second) and repr(first) != repr(second):
        raise AssertionError(f"a second call of the pullback gives {second}, not {first}")
    return value, paired(p, [first[i] for i in p.argnums], d) / COTANGENT


def pushed(f: Function, p: Program, args: Any, d: Bases) -> Result:
    value, slope = jvp(f, tuple(args), tangents_along(p, d))
    return value, number(slope)


def prepared(f: Function, p: Program, args: Any, d: Bases) -> Result:
    run = value_and_grad(f, p.argnums).prepare(*args)
    random_state_again(f)
    run(*args)
    random_state_again(f)
    value, gradients = run(*args)
    return value, paired(p, gradients, d)


def prepared_push(f: Function, p: Program, args: Any, d: Bases) -> Result:
    tangents = tangents_along(p, d)
    run = prepare(jvp, f, tuple(args), tangents)
    random_state_again(f)
    value, slope = run(tuple(args), tangents)
    return value, number(slope)


def twice(f: Function, p: Program, args: Any, d: Bases) -> Result:
    differentiated = value_and_grad(f, p.argnums)
    differentiated(*args)
    random_state_again(f)
    value, gradients = differentiated(*args)
    return value, paired(p, gradients, d)


def number(slope: Any) -> float:
    return float(slope) if isinstance(slope, (float, np.floating)) else 0.0


def nested(f: Function, p: Program, args: Any, d: Bases) -> Result:
    """Return value and slope out of the product of the Hessian with a direction."""
    v = tuple(tangents_along(p, d)[i] for i in p.argnums)
    value, gradients, _ = value_and_hvp(f, tuple(args), v, p.argnums)
    return value, paired(p, gradients, d)


def second(f: Function, p: Program, args: Any, d: Bases) -> Result:
    """Return the derivative of the gradient by `hvp`, compared where the gradient is right."""
    v = tuple(tangents_along(p, d)[i] for i in p.argnums)
    return None, paired(p, hvp(f, tuple(args), v, p.argnums), d)


def random_state_again(f: Function) -> None:
    """Put generators back to where they were before the first call."""
    seed_all()
    for name, value in names_of(f).items():
        if name.startswith("GENERATOR"):
            fresh: Any = {np.random.Generator: lambda: np.random.default_rng(3),
                          np.random.RandomState: lambda: np.random.RandomState(5)}  # fmt: skip
            if isinstance(value, random.Random):
                value.seed(7)
            elif isinstance(value, np.random.RandomState):
                value.set_state(fresh[type(value)]().get_state())
            else:
                value.bit_generator.state = fresh[type(value)]().bit_generator.state


MODES: dict[str, Mode] = {
    m.__name__: m for m in (gradient, debug, forward_gradient, checkpointed, pulled, pushed,
                            prepared, prepared_push, twice, nested, second, compiled)
}  # fmt: skip
AGAIN = ("prepared", "prepared_push", "twice")
USUAL = [name for name in MODES if name not in ("gradient", "compiled")]


def check_brought(program: Program, seed: int = 0) -> Finding | None:
    """Return an error of a program in reverse mode and in three other modes, or None.

    Raises
    ------
    Untestable
        If the program itself fails, or has no derivative that differences could find.
    """
    rng = Random(f"{seed} {len(program.source)}")
    modes = ["gradient", *rng.sample(USUAL, 3), *(["compiled"] if rng.random() < 0.03 else [])]
    return check_in(modes, program, seed)


def check_in(
    modes: list[str], program: Program, seed: int = 0, counts: dict[str, int] | None = None
) -> Finding | None:
    """Return an error of a program in some modes, or None.

    `counts` gets the number of right ones, and of refused ones, by mode.
    """
    counts = {} if counts is None else counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, draws = plain(program)
        if not isinstance(value, (float, np.floating)) or not np.isfinite(value):
            raise Untestable("the primal is no finite real number")
        if plain(program) != (value, draws):
            raise Untestable("the primal is not the same each time")
        if plain(program, program.source.replace("np.empty(", "np.ones(")) != (value, draws):
            raise Untestable("the primal reads memory before it is written")
        direction = random_direction(program, np.random.default_rng(seed))
        slope = slope_of(program, direction)
        found: Finding | None = None
        for name in modes:
            if name in AGAIN and "ITER" in program.source:
                continue  # the second call finds the iterator where the first has left it
            at = second_slope(program, direction) if name == "second" else slope
            finding = None if at is None else in_mode(name, program, value, draws, direction, at)
            kind = "right" if finding is None else finding.kind.partition(" ")[0]
            key = f"{name}: {kind}" if at is not None else f"{name}: without differences"
            counts[key] = counts.get(key, 0) + 1
            if finding is not None and (found is None or found.kind.startswith("refused")):
                found = finding
        if found is not None and not found.kind.startswith("refused"):
            require_trust(program, value)
    return found


def require_trust(program: Program, value: Any) -> None:
    """Raise Untestable where NumPy itself, or rounding, may be to blame for a finding."""
    if plain(program, with_sources_copied(program.source))[0] != value:
        raise Untestable("NumPy copies between views that overlap")
    if largest_number(program) > LARGEST_NUMBER:
        raise Untestable("large numbers on the way swallow small changes")


def in_mode(
    name: str, program: Program, value: Any, draws: Any, d: Bases, slope: tuple[float, float]
) -> Finding | None:
    """Return an error of a program in one mode, or None."""
    bases = copy.deepcopy(program.bases)
    args = program.build(bases)
    d = {k: v.astype(bases[k].dtype) if isinstance(v, np.ndarray) else v for k, v in d.items()}
    with anew(program.source) as f, np.errstate(all="ignore"):
        arguments, reached = frozen(args), held(names_of(f))
        try:
            got, derivative = MODES[name](f, program, args, d)
        except MooncakeError as error:
            return unlike(f"refused {name}", repr(value), told(error), program)
        except Exception as error:
            return unlike(f"spurious error {name}", repr(value), told(error), program)
        drawn_now, reached_now = drawn(f), held(names_of(f))
    rtol = RTOL_SINGLE if "F32" in program.source else RTOL * (50 if name == "second" else 1)
    if got is not None and not same_value(name, got, value):
        return unlike(f"wrong value {name}", repr(value), repr(got), program)
    if not close(derivative, *slope, rtol):
        return unlike(f"wrong derivative {name}", str(slope[0]), str(derivative), program)
    if frozen(args) != arguments:
        return unlike(f"not restored {name}", "the arguments", str(args), program)
    if reached_now != reached:
        return unlike(f"not restored {name}", *differing(reached, reached_now), program)
    if drawn_now != draws:
        return unlike(f"other draws {name}", "the generators as after the plain call", "", program)
    return None


def same_value(mode: str, got: Any, value: Any) -> bool:
    """Return whether a value is that of the plain call; compiled sums may round otherwise."""
    rounding = 1e-12 * max(1.0, abs(value)) if mode == "compiled" else 0.0
    return type(got) is type(value) and bool(abs(got - value) <= rounding)


def second_slope(program: Program, d: Bases) -> tuple[float, float] | None:
    """Return the second derivative along a direction, by differences of gradients."""

    def along(t: float) -> float:
        there = Program(program.source, moved(program.bases, d, t), program.arguments,
                        program.argnums)  # fmt: skip
        with anew(program.source, exact=True) as f, np.errstate(all="ignore"):
            return gradient(f, there, there.build(there.bases), d)[1]

    if "F32" in program.source:
        return None
    try:
        return two_sided(along)
    except Exception:
        return None


def differing(before: Any, after: Any) -> tuple[str, str]:
    """Return the parts that differ of two states of what is reachable."""
    old, new = dict(before[1]), dict(after[1])
    names = [n for n in [*old, *new] if old.get(n) != new.get(n)]
    return str({n: old.get(n) for n in names})[:900], str({n: new.get(n) for n in names})[:900]


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def unlike(kind: str, expected: str, got: str, program: Program) -> Finding:
    return Finding(kind, expected, got, program)
