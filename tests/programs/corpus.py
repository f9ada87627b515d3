"""The programs that the driver runs: those of each random generator, kernels and whole functions.

``GENERATORS[kind](seed)`` returns a `Sample`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from benchmarks.kernels import KERNELS
from mooncake_py.compiler.statements import gathers, masks, row_forms
from tests.compiler.native.whole_functions import FUNCTIONS
from tests.programs import random_objects
from tests.programs.changing_operands import arguments as changing_arguments
from tests.programs.changing_operands import random_calls
from tests.programs.checking import plain_value, require_trust
from tests.programs.chosen_loops import CALLING
from tests.programs.chosen_programs import chosen_loops, chosen_program
from tests.programs.comparing import function_of
from tests.programs.driver import Sample, compare
from tests.programs.generator import random_program
from tests.programs.program import Program, scope_of
from tests.programs.random_appends import random_loop_with_appends
from tests.programs.random_arrays import random_loop_on_arrays
from tests.programs.random_calls import random_loop_of_calls
from tests.programs.random_complex import complex_text
from tests.programs.random_functions import (
    function_arguments,
    random_function,
    with_list,
    with_object,
)
from tests.programs.random_loops import CHANGES, change_functions, loop_arguments, random_loop
from tests.programs.random_masks import masked_text
from tests.programs.random_slices import random_loop_on_slices, slice_arguments
from tests.programs.random_statements import (
    STATE,
    TAIL,
    arguments,
    random_text,
    special_arguments,
)
from tests.programs.random_warnings import argument, random_program_that_warns
from tests.programs.truth import Untestable
from tests.programs.user_programs import PROGRAMS
from tests.support.gradients import numbers

__all__ = ["GENERATORS", "comparing"]

WITH_STEPS = re.compile(r"np\.(sin|tanh|arctan|arctan2)\(.*out=")
"""Of such functions NumPy has other loops, with other last bits, for results in steps."""
LARGEST = 1e6
OF_LOOPS = ((0, 1, 2, 3), (0,), (2,), (3,))
OF_STATEMENTS = ((0, 1, 2), (0,), (2,), (0, 1))


# Loops.


def loop(text_of: Callable[[int], str], make: Callable[[int], list[Any]], seed: int) -> Sample:
    """Return a random loop: a function of two vectors, a matrix and a number."""
    f = function_of(text_of(seed), f"<{text_of.__name__} {seed}>")
    others = [partial(nullcontext, change(*make(seed))) for change in KINDS]
    return Sample(
        f, lambda: tuple(make(seed)), OF_LOOPS, (0, 1, 2, 3), seed, precision=1e-9, most=LARGEST,
        others=tuple(others),
    )  # fmt: skip


def overlapping(x: Any, y: Any, m: Any, a: Any) -> tuple[Any, ...]:
    """Return vectors that share memory."""
    both = np.concatenate([x, y[-1:]])
    return both[:-1], both[1:], m, a


KINDS: tuple[Callable[..., tuple[Any, ...]], ...] = (
    lambda x, y, m, a: (np.append(x, 0.5), np.append(y, 0.5), np.ones((7, 7)), a),
    lambda x, y, m, a: (np.repeat(x, 2)[::2], y[::-1], m.T, np.float64(a)),
    lambda x, y, m, a: (x.astype(np.float32), y, m, a),
    lambda x, y, m, a: (x, x, m, 2),
    lambda x, y, m, a: (m[0], m[:, 1], m, a),
    overlapping,
)
"""Arguments of other kinds: lengths, layouts, types, and memory that they share."""


def changed_loop(seed: int) -> Sample:
    """Return a loop of which the functions that it calls change between calls."""
    text_of = random_loop if seed % 3 else calling
    sample = loop(text_of, loop_arguments, seed)
    scope = sample.number.__globals__  # type: ignore[attr-defined]
    changes = [partial(functions_changed, scope, sample.make, k) for k in range(CHANGES)]
    return replace(sample, others=tuple(changes))


def calling(seed: int) -> str:
    """Return the text of loops that call functions."""
    return CALLING


@contextmanager
def functions_changed(
    scope: dict[str, Any], make: Callable[[], tuple[Any, ...]], kind: int
) -> Iterator[tuple[Any, ...]]:
    """Give arguments while functions that a program calls are changed."""
    held = dict(scope)
    functions = [g for g in scope.values() if isinstance(g, FunctionType)]
    before = [(g.__code__, g.__defaults__, dict(g.__kwdefaults__ or {})) for g in functions]
    step = scope["Plain"].step
    try:
        change_functions(scope, kind)
        yield make()
    finally:
        for name in {*scope} - {*held}:
            del scope[name]
        scope.update(held)
        scope["Plain"].step = step
        with suppress(AttributeError):
            del scope["Halved"].step
        for g, (code, defaults, keywords) in zip(functions, before, strict=True):
            g.__code__, g.__defaults__, g.__kwdefaults__ = code, defaults, keywords or None


# Statements.


def statements(write: Callable[..., str], seed: int) -> Sample:
    """Return random statements on arrays; every second program is an odd one."""
    odd = seed % 2 == 1
    text = write(seed, odd=odd)
    bits = not WITH_STEPS.search(text)
    finite = seed % 8 < 4 or not bits  # the sine of a huge number tells its last bit

    def make() -> tuple[Any, ...]:
        return special_arguments(seed, finite) if seed % 4 >= 2 else arguments(seed)

    return of_statements(text, write(seed, odd=odd, tail=STATE), make, seed, 1e-10, bits)


def single(seed: int) -> Sample:
    """Return random statements whose arrays are of float32, and some numbers of float64."""
    write = masked_text if seed % 3 == 0 else random_text
    number, state = (
        in_single(write(seed, odd=seed % 4 == 1, tail=tail), seed) for tail in (TAIL, STATE)
    )
    bits = not WITH_STEPS.search(number)
    make = lambda: tuple([a.astype(np.float32) for a in arguments(seed)])  # noqa: E731
    return of_statements(number, state, make, seed, 1e-4, bits)


def in_single(text: str, seed: int) -> str:
    """Return the text of statements for arrays of float32."""
    for made in ("np.ones((3, 3)", "np.zeros((2, 3, 3)", "np.ones(5"):
        text = text.replace(made + ")", made + ", np.float32)")
    text = text.replace("(3, 3), (8, 8))", "(3, 3), (4, 4))")
    return text.replace("a = x[4]", "a = float(x[4])" if seed % 2 else "a = x[4]")


def of_statements(
    number: str, state: str, make: Any, seed: int, precision: float, bits: bool
) -> Sample:
    """Return the sample of two sources of statements, one of which returns the state."""
    functions = [
        function_of(text, f"<statements {seed} {precision} {len(text)}>")
        for text in (number, state)
    ]
    return Sample(
        functions[0], make, OF_STATEMENTS, (0, 1, 2), seed, functions[1], precision, bits,
        around=partial(sizes_for, seed),
    )  # fmt: skip


@contextmanager
def sizes_for(seed: int) -> Iterator[None]:
    """Take small arrays for large ones in every third program."""
    with pytest.MonkeyPatch.context() as patch:
        if seed % 3 == 0:
            patch.setattr(masks, "SMALL", 2)  # masks are kept as bits
            patch.setattr(gathers, "SMALL", 2)  # index arrays are kept as they are
            patch.setattr(row_forms, "SMALL", 2)  # tangents are computed one after the other
        yield


# Functions.


def function(
    seed: int,
    mixed: bool = False,
    has_waves: bool = False,
    is_narrow: bool = False,
    is_made: bool | None = None,
    has_list: bool = False,
) -> Sample:
    """Return a random function of arrays and numbers, such as is read whole."""
    text = random_function(seed, mixed, has_waves)
    if is_made is not None:
        text = with_object(text, is_made)
    if has_list:
        text = with_list(text, seed)
    more = ([0.5, -1.0, 0.25, 1.5, -0.75],) * has_list

    def make() -> tuple[Any, ...]:
        reached[:] = before  # which earlier calls have changed
        return *function_arguments(seed, is_narrow), *copy.deepcopy(more)

    active = ((0, 1, 2, 3), (0, 3), (2,), *((3, 7), (7,)) * has_list)
    f = function_of(text, f"<function {seed} {mixed} {has_waves} {is_made} {has_list}>")
    reached: list[float] = f.__globals__.get("GS", [])
    before = list(reached)
    return Sample(
        f, make, active, (0, 1, 2), seed, precision=1e-3 if is_narrow else 1e-6, most=LARGEST,
        reached=reached,
    )  # fmt: skip


def objects(seed: int) -> Sample:
    """Return a random function of an object, which changes between calls."""
    scope = random_objects.program(seed)
    every = len(random_objects.CHANGES)
    changes = range(every) if random_objects.has_each(seed) else range(seed * 7, seed * 7 + 6)
    return Sample(
        scope["f"], lambda: (random_objects.made(scope, seed),), ((0,),), (), seed,
        precision=1e-5,
        others=tuple([
            partial(random_objects.changed, scope, seed + k % 2, n % every)
            for k, n in enumerate(changes)
        ]),
    )  # fmt: skip


# Others.


def warned(seed: int) -> Sample:
    """Return a program that tells what it was warned of, on memory of a random layout."""
    text = "import warnings\nimport numpy as np\n\n" + random_program_that_warns(seed)
    f = function_of(text, f"<program that warns {seed}>")
    return Sample(f, lambda: (argument(seed),), ((0,),), (0,), seed, has_aux=True)


def changing_operands(seed: int) -> Sample:
    """Return one statement that is called with operands of several kinds."""
    text = random_calls(seed)
    if text is None:
        return changing_operands(seed + 7919)
    f = function_of(text, f"<changing operands {seed}>")
    precision = 1e-6 if "float32" in text or "float16" in text else 1e-10
    return Sample(f, changing_arguments, ((0, 1), (0,)), (0, 1), seed, precision=precision)


def of_program(make: Callable[[Random, int], Program], seed: int) -> Sample:
    """Return a random program that writes, whose arguments may share memory."""
    program = make(Random(seed), (3, 6, 9)[seed % 3])
    try:
        require_trust(program, plain_value(program))
    except Untestable:
        return of_program(make, seed + 7919)
    f = function_of(program.source, f"<{make.__name__} {seed}>", scope_of())
    arguments = program.build(copy.deepcopy(program.bases))
    with suppress(Exception):
        f(*arguments)  # some have state that later calls leave as it is
    moving = [k for k in program.argnums if type(arguments[k]) in (float, np.ndarray)]
    return Sample(
        f, lambda: tuple(program.build(copy.deepcopy(program.bases))), (program.argnums,),
        tuple(moving), seed, precision=1e-3 if "F32" in program.source else 1e-6, most=LARGEST,
    )  # fmt: skip


def user_program(seed: int) -> Sample:
    """Return a program of loops over elements as users write them."""
    f = PROGRAMS[seed % len(PROGRAMS)]
    x = np.array([0.61, 0.23, 0.87, 0.42, 0.74, 0.35])
    y = np.array([0.52, 0.94, 0.31, 0.68, 0.17, 0.83])
    return Sample(anew(f), lambda: (x.copy(), y.copy()), ((0, 1), (1,)), (0, 1), seed)


def anew(f: Any) -> Any:
    """Return the same function, of which nothing is known yet."""
    made = FunctionType(
        f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__
    )
    made.__kwdefaults__ = f.__kwdefaults__
    made.__qualname__ = f.__qualname__
    return made


def kernel(seed: int) -> Sample:
    """Return a kernel of the benchmarks, on small arguments."""
    found = KERNELS[seed % len(KERNELS)]
    size = min(8, *found.sizes)
    return Sample(
        anew(found.function), lambda: found.make_arguments(size), (tuple(found.argnums),),
        tuple(found.argnums), seed, precision=1e-7,
    )  # fmt: skip


def whole(seed: int) -> Sample:
    """Return a function that tests compile whole."""
    f, args = [*FUNCTIONS.values()][seed % len(FUNCTIONS)]
    active = tuple([k for k, a in enumerate(args) if any(True for _ in numbers(a))])
    return Sample(anew(f), lambda: copy.deepcopy(args), (active,), active, seed, precision=1e-7)


GENERATORS: dict[str, Callable[[int], Sample]] = {
    "loops": partial(loop, random_loop, loop_arguments),
    "changed loops": changed_loop,
    "slices": partial(loop, random_loop_on_slices, slice_arguments),
    "arrays": partial(loop, random_loop_on_arrays, slice_arguments),
    "appends": partial(loop, random_loop_with_appends, slice_arguments),
    "calls": partial(loop, random_loop_of_calls, slice_arguments),
    "chosen": partial(loop, chosen_program, slice_arguments),
    "chosen loops": partial(loop, chosen_loops, slice_arguments),
    "user programs": user_program,
    "programs": partial(of_program, random_program),
    "changing operands": changing_operands,
    "statements": partial(statements, random_text),
    "masks": partial(statements, masked_text),
    "complex": partial(statements, complex_text),
    "single": single,
    "functions": function,
    "functions in parts": partial(function, mixed=True),
    "functions on complex": partial(function, has_waves=True),
    "functions on float32": partial(function, is_narrow=True),
    "functions on objects": lambda seed: function(seed, is_made=seed % 2 == 0),
    "objects": objects,
    "functions on lists": lambda seed: function(seed, mixed=seed % 2 == 0, has_list=True),
    "warnings": warned,
    "kernels": kernel,
    "whole functions": whole,
}


def comparing(ways: Iterable[str], *kinds: str) -> Callable[[int], None]:
    """Return a comparison of programs of some kinds with a seed by some ways, in every mode."""

    def compare_each(seed: int) -> None:
        for kind in kinds:
            compare(GENERATORS[kind](seed), ways)

    return compare_each
