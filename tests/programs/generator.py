"""Random in-place programs: every choice comes from one source of randomness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from random import Random

import numpy as np

from tests.programs import (
    bindings,
    buffers,
    classes,
    containers,
    dtypes,
    idioms,
    laziness,
    nesting,
    numerics,
    repeating,
    special_points,
    truths,
    writes,
)
from tests.programs.control import control_statements
from tests.programs.functions import function_statements
from tests.programs.program import Bases, Program
from tests.programs.scope import Scope, Shape
from tests.programs.writer import Writer

__all__ = ["Statement", "random_program"]

Statement = Callable[[Writer], bool | None]
LARGEST = 60  # lines of a function
PREFERRED = 20  # times the weight of other statements

SHAPES: tuple[Shape, ...] = ((3,), (4,), (4,), (5,), (3, 4), (3, 3), (4, 3))
SHARED = (  # arguments that share memory with the block m0, by its number of dimensions
    ("m0", (1, 2)), ("m0[1:]", (1, 2)), ("m0[::-1]", (1, 2)), ("m0[:-1]", (1, 2)), ("m0.T", (2,)),
    ("m0[:, 1:]", (2,)), ("m0[0]", (2,)), ("m0.ravel()", (1, 2)), ("m0[::2]", (1, 2)),
)  # fmt: skip


def random_program(
    rng: Random,
    size: int = 8,
    without: Collection[str] = (),
    prefer: Collection[str] = (),
    also: Mapping[Statement, int] | None = None,
) -> Program:
    """Return a random program.

    Parameters
    ----------
    rng : Random
        Decides everything; the same state gives the same program.
    size : int
        The number of statements, not counting those in blocks.
    without : collection of str
        Names of kinds of statements to leave out.
    prefer : collection of str
        Names of kinds of statements to choose much more often.
    also : mapping, optional
        More kinds of statements with their weights.  Arguments share no memory then.
    """
    table = statements(without)
    table.update({kind: n for kind, n in (also or {}).items() if kind.__name__ not in without})

    def fill(w: Writer, count: int) -> None:
        done = 0
        for _ in range(4 * count):
            if done == count or len(w.lines) > LARGEST:
                break
            done += rng.choices(kinds, weights)[0](w) is not False
        if not done:
            w.write("pass")

    table.update({
        kind: weight for family in (control_statements(fill), function_statements(fill))
        for kind, weight in family.items() if kind.__name__ not in without
    })  # fmt: skip
    kinds = list(table)
    weights = [table[kind] * (PREFERRED if kind.__name__ in prefer else 1) for kind in kinds]
    bases, arguments, argnums, scope, parameters = random_arguments(
        rng, 1.0 if special_points.smooth.__name__ in prefer else 0.3, apart=also is not None
    )
    w = Writer(rng, scope, [])
    fill(w, size)
    w.write(f"return {result(w)}")
    head = f"def f({', '.join(parameters)}):"
    source = "\n\n\n".join([*w.prelude, "\n".join([head, *w.lines])]) + "\n"
    return Program(source, bases, arguments, argnums)


def statements(without: Collection[str]) -> dict[Statement, int]:
    """Return the simple statements with their weights."""
    families = (bindings.STATEMENTS, writes.STATEMENTS, containers.STATEMENTS, dtypes.STATEMENTS,
                idioms.STATEMENTS, laziness.STATEMENTS, buffers.STATEMENTS, numerics.STATEMENTS,
                truths.STATEMENTS, classes.STATEMENTS, repeating.STATEMENTS, nesting.STATEMENTS,
                special_points.STATEMENTS)  # fmt: skip
    return {
        kind: weight
        for family in families
        for kind, weight in family.items()
        if kind.__name__ not in without
    }


def result(w: Writer) -> str:
    """Return a number that depends on everything in sight."""
    parts = [f"np.sum(np.sin({n.text}))" for n in w.scope.of("array", "single")]
    parts += [f"np.sum({n.text} ** 2)" for n in w.scope.of("array")[:1]]
    parts += [n.text for n in w.scope.of("float")]
    parts += [f"np.sum(np.abs({n.text} + 0.1) ** 2)" for n in w.scope.of("complex")]
    parts += [f"sum({n.text})" for n in w.scope.of("numbers")]
    parts += [f"np.sum({n.text}[0] * {n.text}[1])" for n in w.scope.of("list")]
    w.rng.shuffle(parts)
    kept = parts[: w.rng.choice((1, 3, 30, 30))]
    return " + ".join(kept) or "0.0"


# Arguments.


def random_arguments(
    rng: Random, special: float, apart: bool = False
) -> tuple[Bases, tuple[str, ...], tuple[int, ...], Scope, list[str]]:
    """Return bases, arguments, differentiated positions, the scope and the parameters.

    `special` is the chance of an argument for special points.  With `apart`, arguments share no
    memory and are no containers.
    """
    scope = Scope()
    bases: Bases = {"m0": block(rng, rng.choice(SHAPES))}
    arguments: list[str] = []
    parameters: list[str] = []

    def add(expression: str, kind: str, shape: Shape = ()) -> None:
        name = "xyzpqr"[len(arguments)]
        arguments.append(expression)
        parameters.append(name)
        scope.add(name, kind, shape)

    add("m0", "array", bases["m0"].shape)
    if not apart and rng.random() < 0.3:
        expression = rng.choice(shared_expressions(bases))
        add(expression, "array", eval(expression, dict(bases)).shape)
    if rng.random() < 0.5:
        bases["m1"] = block(rng, rng.choice((bases["m0"].shape, rng.choice(SHAPES))))
        add("m1", "array", bases["m1"].shape)
    if rng.random() < 0.5:
        bases["c0"] = round(rng.uniform(0.2, 1.1), 3)
        add("c0", "float")
    if apart:
        pass
    elif rng.random() < 0.15:
        add_container(rng, bases, add, scope)
    elif rng.random() < 0.2:
        add_other_dtype(rng, bases, add)
    if not apart and rng.random() < special:
        bases["n0"] = special_points.special_block(rng)
        add("n0", "special", bases["n0"].shape)
    count = len(arguments)
    argnums = tuple(range(count)) if rng.random() < 0.6 else (rng.randrange(count),)
    if not covers(arguments, argnums):
        argnums = (0, *argnums)
    return bases, tuple(arguments), argnums, scope, parameters


def shared_expressions(bases: Bases) -> list[str]:
    """Return the expressions that give views of the block m0, not copies, in its layout."""
    block = bases["m0"]
    texts = [text for text, ndims in SHARED if block.ndim in ndims]
    return [text for text in texts if np.shares_memory(eval(text, dict(bases)), block)]


def covers(arguments: list[str], argnums: tuple[int, ...]) -> bool:
    """Tell whether the differentiated arguments show every block that they touch as a whole."""
    return "m0" in [arguments[i] for i in argnums] or not any(
        arguments[i].startswith(("m0.", "m0[")) for i in argnums
    )


def add_container(rng: Random, bases: Bases, add: Callable[..., None], scope: Scope) -> None:
    """Add a list or a dict of an array and a number to the arguments."""
    bases["m2"], bases["c1"] = block(rng, (3,)), round(rng.uniform(0.2, 0.9), 3)
    if rng.random() < 0.5:
        add("[m2, c1, m2]", "sequence")
        text = scope.names[-1].text
        first, second = f"{text}[0]", f"{text}[1]"
    else:
        add("{'a': m2, 's': c1}", "dict", (3,))
        text = scope.names[-1].text
        first, second = f"{text}['a']", f"{text}['s']"
    scope.add(first, "array", (3,))
    scope.add(second, "float")


def add_other_dtype(rng: Random, bases: Bases, add: Callable[..., None]) -> None:
    """Add an array of complex numbers or of single precision to the arguments."""
    values = block(rng, bases["m0"].shape)
    if rng.random() < 0.6:
        bases["z0"] = values + 1j * block(rng, values.shape)
        add("z0", "complex", values.shape)
    else:
        bases["h0"] = values.astype(np.float32)
        add("h0", "single", values.shape)


def block(rng: Random, shape: Shape) -> np.ndarray:
    """Return numbers of both signs, away from zero and all different."""
    values = np.random.default_rng(rng.randrange(2**32)).uniform(0.15, 0.95, shape)
    signs = np.where(np.arange(values.size) % 3 == 1, -1.0, 1.0).reshape(shape)
    values = np.round(values * signs, 3)
    return np.asfortranarray(values) if rng.random() < 0.3 else values
