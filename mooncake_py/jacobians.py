"""Jacobians in structures of any shape, by columns (`jvp`) or by rows (`vjp`).

This is ordinary code: inside another derivative it is differentiated like the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from mooncake_py.boundary.apart import ArgumentsApart, arguments_apart
from mooncake_py.boundary.arguments import (
    ArgNums,
    require_callable,
)
from mooncake_py.boundary.outputs import auxiliary
from mooncake_py.compiled_columns import compiled_columns
from mooncake_py.diagnostics.options import require_choice, require_flag
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import (
    DerivativeDropError,
    MissingRuleError,
)
from mooncake_py.interface import jvp_along, vjp
from mooncake_py.jacobian_blocks import (
    FEW,
    Block,
    Mode,
    arranged,
    collect,
    of_both,
    of_columns,
    real_leaves,
    refilled,
    require_numbers,
    spread,
    unit_directions,
)
from mooncake_py.language.draws import Draws
from mooncake_py.modes.reverse.settings import compiling
from mooncake_py.pickling import Remade
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.recomputation.structures import unit
from mooncake_py.recomputation.units import zero
from mooncake_py.runtime.compilation import Compile, require_setting
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.silence import silent
from mooncake_py.tangents import NoTangent

__all__ = ["jacobian", "of_chosen", "value_and_jacobian"]

P = ParamSpec("P")
Output = TypeVar("Output")
Aux = TypeVar("Aux")

MODES = "forward", "reverse", "auto"
NOTHING = NoTangent()


@overload
def jacobian(
    f: Callable[P, Any],
    argnums: ArgNums = 0,
    mode: Mode = "auto",
    has_aux: Literal[False] = False,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[P, Any]: ...
@overload
def jacobian(
    f: Callable[P, tuple[Any, Aux]],
    argnums: ArgNums = 0,
    mode: Mode = "auto",
    *,
    has_aux: Literal[True],
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[P, tuple[Any, Aux]]: ...
def jacobian(
    f: Callable[..., Any],
    argnums: ArgNums = 0,
    mode: Mode = "auto",
    has_aux: bool = False,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        Function of numbers and arrays, also in tuples, lists and dicts, that returns the same.
    argnums : int, str or tuple of int and str, optional
        The arguments to differentiate with respect to.
    mode : {"auto", "forward", "reverse"}
        "forward" computes columns by :func:`jvp`, several in one run if possible; "reverse"
        computes rows by :func:`vjp`.  "auto" computes columns for up to four inputs, or if there
        are no more inputs than outputs, and rows otherwise.
    has_aux : bool, optional
        If true, `f` returns ``(value, aux)``; the result contains a copy of `aux`, without a
        derivative.
    compile : bool or "auto", optional
        If true, compile the functions that run, if possible; "auto" lets them run as without until
        a thread has compiled them.  None means the setting of :func:`compile_mode`.
    compile_timeout : float, optional
        How many seconds a call waits at most for what is compiled; then it runs as without.

    Returns
    -------
    callable
        With the parameters of `f`.  For an output of shape ``(m, ...)`` and an argument of shape
        ``(n, ...)`` it returns an array of shape ``(m, ..., n, ...)``.  For a structured output,
        the result has the structure of the output; each number or array in it is replaced by the
        structure of the argument, with one array of this shape for each part.  For a tuple of
        `argnums` it is replaced by a tuple of these.  With `has_aux` it returns ``(jacobian,
        aux)``.

    Raises
    ------
    NonDifferentiableArgumentError
        If a chosen argument holds no floats, or holds complex numbers (pass their real and
        imaginary parts, because the Jacobian is not a complex matrix).
    SharedArgumentsError
        If `f` writes into memory that arguments share.
    InvalidModeError
        If there is no such `mode` or other option.

    Notes
    -----
    Arguments that share memory are separate variables, as for :func:`value_and_grad`.

    Examples
    --------
    >>> import numpy as np
    >>> jacobian(np.cumsum)(np.array([1.0, 2.0, 3.0]))
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """
    with boundary:
        both: Any = value_and_jacobian(
            f, argnums, mode, has_aux, compile=compile, compile_timeout=compile_timeout
        )

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    making = partial(jacobian, compile=compile, compile_timeout=compile_timeout)
    return Remade(jacobian_of, making, f, argnums, mode, has_aux)


def value_and_jacobian(
    f: Callable[P, Output],
    argnums: ArgNums = 0,
    mode: Mode = "auto",
    has_aux: bool = False,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[P, tuple[Output, Any]]:
    """Return a function that computes the output of `f` and its Jacobian.

    The parameters are those of :func:`jacobian`.

    Returns
    -------
    callable
        Function that returns ``(value, jacobian)``, or ``((value, aux), jacobian)`` with `has_aux`.
        Arrays in the value that share memory with an argument are copied.

    Notes
    -----
    The value comes from the first forward pass, at no extra cost.

    Examples
    --------
    >>> import numpy as np
    >>> def f(x):
    ...     return np.array([x[0] * x[1], x[1] ** 2])
    >>> value, found = value_and_jacobian(f)(np.array([2.0, 3.0]))
    >>> value
    array([6., 9.])
    >>> found
    array([[3., 2.],
           [0., 6.]])
    """
    with boundary:
        require_callable(f)
        require_choice("a Jacobian", "mode", mode, MODES)
        require_flag("has_aux", has_aux)
        require_setting(compile, compile_timeout)

    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with compiling(compile, compile_timeout=compile_timeout):
            if enclosing() is None and not has_aux and not kwargs and mode != "reverse":
                whole = compiled_columns(f, argnums, args, mode)
                if whole is not None:
                    return whole
            with arguments_apart(f, argnums, args, kwargs) as apart:
                function, values = of_chosen(f, apart)
                leaves = real_leaves(f, apart.chosen, values)
                y, aux, blocks = blocks_of(Program(f, function, has_aux), values, leaves, mode)
                found = arranged(blocks, values, isinstance(argnums, tuple))
                return (y, aux) if has_aux else y, found

    making = partial(value_and_jacobian, compile=compile, compile_timeout=compile_timeout)
    return Remade(both, making, f, argnums, mode, has_aux)


class Program(NamedTuple):
    """The user's function, the function of the tuple of chosen arguments, and its outputs."""

    f: Any
    function: Any
    has_aux: bool


def split(program: Program, y: Any) -> tuple[Any, Any]:
    """Return the value and the auxiliary output, None if there is none."""
    return auxiliary(program.f, y) if program.has_aux else (y, None)


def blocks_of(program: Program, values: Any, leaves: list[Any], mode: Mode) -> Any:
    """Return the outputs and, in the structure of the value, a `Block` for each leaf."""
    size = sum([np.size(leaf) for leaf in leaves])
    draws = Draws()
    if mode == "forward":
        return by_columns(program, values, leaves, draws)
    if mode == "auto" and size <= FEW and enclosing() is None:
        try:
            return by_columns(program, values, leaves, draws)
        except (MissingRuleError, DerivativeDropError):
            draws, mode = Draws(), "reverse"  # which may do
    with draws:
        y, pullback = vjp(program.function, values)
    y, aux = split(program, y)
    outputs = require_numbers(program.f, y)
    # A row of a complex output takes two pullbacks.
    count = sum([np.size(part) * (1 + np.iscomplexobj(part)) for part in outputs])
    if mode == "auto" and size <= count:
        return by_columns(program, values, leaves, draws, y)
    return y, aux, by_rows(program, y, pullback, outputs, leaves)


def by_columns(
    program: Program, values: Any, leaves: list[Any], draws: Draws, before: Any = None
) -> Any:
    """Run forward along each unit vector of the input; all runs draw the same random numbers.

    A value that was computed `before` must equal that of the runs.
    """
    directions = [(direction,) for direction in unit_directions(values, leaves)]
    runs = Runs(program.f)
    if before is not None:
        runs.agree(before)
    # A run before has printed and warned.
    with draws.run(), runs.run(), nullcontext() if before is None else silent():
        y, tangents = jvp_along(
            program.function, (values,), directions, lambda y: split(program, y)[0]
        )
    y, aux = split(program, y)
    columns = [dy[0] for dy in tangents] if program.has_aux else tangents
    if before is not None:
        runs.agree(y, columns, values)
    require_numbers(program.f, y)
    return y, aux, of_columns(y, columns, leaves)


def by_rows(program: Program, y: Any, pullback: Any, outputs: list[Any], leaves: list[Any]) -> Any:
    """Pull back each unit cotangent of the output, of complex outputs also the imaginary ones."""

    def pulled(k: int, direction: Any) -> list[Any]:
        directions = [direction if j == k else zero(part) for j, part in enumerate(outputs)]
        cotangent = refilled(y, directions)
        (g,) = pullback((cotangent, NOTHING) if program.has_aux else cotangent)
        found: list[Any] = []
        collect(g, found)
        return found

    rows: list[Any] = []
    for k, output in enumerate(outputs):
        for i in range(np.size(output)):
            row = pulled(k, unit(output, i))
            if np.iscomplexobj(output):
                imaginary = pulled(k, 1j * unit(output, i))
                row = [re + 1j * im for re, im in zip(row, imaginary, strict=True)]
            rows.append(row)
    position = [0]

    def block(part: Any, path: tuple[Any, ...]) -> Block:
        own = rows[position[0] : position[0] + np.size(part)]
        position[0] += np.size(part)
        arrays: list[Any] = []
        for j, leaf in enumerate(leaves):
            parts = [row[j] for row in own]
            if not parts:
                arrays.append(of_both(np.zeros(np.shape(part) + np.shape(leaf)), part, leaf))
            elif np.ndim(part) == 0:
                arrays.append(of_both(parts[0], part, leaf))
            else:
                found = np.stack(parts).reshape(np.shape(part) + np.shape(leaf))
                arrays.append(of_both(found, part, leaf))
        return Block(arrays)

    return spread(block, y, ())


# Numbers and arrays in structures.


def of_chosen(f: Any, arguments: ArgumentsApart) -> tuple[Any, Any]:
    """Return a function of the tuple of chosen arguments alone, and that tuple."""
    chosen, args, kwargs = arguments.chosen, arguments.args, arguments.kwargs
    values = tuple([args[key] if isinstance(key, int) else kwargs[key] for key in chosen])
    if list(chosen) == list(range(len(chosen))):  # nothing for the derivative but the call itself
        rest = args[len(chosen) :]
        if not rest and not kwargs:
            return lambda values: f(*values), values
        return lambda values: f(*values, *rest, **kwargs), values
    # The function must not reach the chosen ones otherwise.
    others = [None if i in chosen else value for i, value in enumerate(args)]
    named = {key: None if key in chosen else value for key, value in kwargs.items()}

    def function(values: Any) -> Any:
        positional, keywords = list(others), dict(named)
        for key, value in zip(chosen, values, strict=True):
            if isinstance(key, int):
                positional[key] = value
            else:
                keywords[key] = value
        return f(*positional, **keywords)

    return function, values
