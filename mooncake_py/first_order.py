"""The public functions `grad` and `value_and_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Literal, SupportsFloat, TypeVar, Unpack, overload

from mooncake_py.boundary.arguments import (
    ArgNums,
    require_argnums,
    require_callable,
)
from mooncake_py.derivatives import (
    Derivative,
    ForwardGrad,
    ForwardValueAndGrad,
    Grad,
    Mode,
    Options,
    OverRanks,
    P,
    ValueAndGrad,
)
from mooncake_py.diagnostics.options import (
    require_choice,
    require_flag,
    require_output,
    require_reverse,
)
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import InvalidModeError
from mooncake_py.runtime.allowance import Allowance, Disk, MemorySize, allowed
from mooncake_py.runtime.compilation import Compile, require_setting

__all__ = ["grad", "value_and_grad"]

X = TypeVar("X", bound=Any)
X2 = TypeVar("X2", bound=Any)
Value = TypeVar("Value", bound=SupportsFloat)
Aux = TypeVar("Aux")

# Signatures of `value_and_grad` and `grad` for type checkers: with respect to the first argument,
# or the first two, a gradient has the type of its argument; with respect to others it has any type.
# The bound of `X` lets parameters of lambdas have any type.


@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], Value],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, P], tuple[Value, X]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, X2, P], Value],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, X2, P], tuple[Value, tuple[X, X2]]]: ...
@overload
def value_and_grad(
    f: Callable[P, Value],
    argnums: int | str = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[P, tuple[Value, Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, Value],
    argnums: tuple[int | str, ...],
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[P, tuple[Value, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], tuple[Value, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, P], tuple[tuple[Value, Aux], X]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[Value, Aux]],
    argnums: ArgNums,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Derivative[P, tuple[tuple[Value, Aux], Any]]: ...
def value_and_grad(
    f: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    debug: bool = False,
    mode: Mode = "reverse",
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
    comm: Any = None,
    output: OverRanks = "sum",
    memory: MemorySize | None = None,
    memory_on_disk: Disk = False,
) -> Derivative[..., Any]:
    """Return a function that computes the value and the gradient of `f`.

    Parameters
    ----------
    f : callable
        Function of ordinary Python and NumPy code that returns one real number.  It may work in
        place.
    argnums : int, str or tuple of int and str, optional
        The arguments to differentiate with respect to: positions (negative ones count from the
        end) or names.
    has_aux : bool, optional
        If true, `f` returns ``(value, aux)``; the result contains a copy of `aux`, without a
        derivative.
    debug : bool, optional
        If true, run in :func:`debug_mode`, which is slow and checks rules, memory and cotangents.
    mode : {"reverse", "forward"}, optional
        "reverse" runs one forward and one reverse pass for any number of inputs.  "forward"
        propagates one tangent for each real number in the chosen arguments (two for a complex
        number), up to 16 in one run as :func:`jvp` does, and keeps no tape; use it for few inputs.
    compile : bool or "auto", optional
        If true, compile the functions that run, if possible; "auto" lets them run as without until
        a thread has compiled them.  None means the setting of :func:`compile_mode`.
    compile_timeout : float, optional
        How many seconds a call waits at most for what is compiled; then it runs as without.
    comm : MPI.Intracomm or list of MPI.Intracomm, optional
        The communicator of all ranks that compute `f` together, by mpi4py, and call the derivative
        together, each with its own arguments.  Further communicators that `f` uses as in
        :func:`mooncake_py.integrations.mpi4py.over`.
    output : {"sum", "same"}, optional
        With `comm`, the value is the sum over ranks of what each returns; or all return the same
        number, which counts once.  All ranks get the value, and each the gradient of it with
        respect to its own arguments.
    memory : int or str, optional
        How much the derivative may keep between its passes, in bytes or as ``"2 GB"``: loops that
        would keep more are checkpointed, as :func:`checkpointed` does it.
    memory_on_disk : bool or path, optional
        If true, states of these loops are kept in files, in the folder for temporary files or in
        another one; they do not count.

    Returns
    -------
    callable
        With the parameters of `f`; see :class:`~mooncake_py.derivatives.Derivative` for its method
        `prepare`.  Returns ``(value, gradient)`` or
        ``((value, aux), gradient)``.  The gradient has the structure of the argument: an array for
        an array (same shape and dtype, new memory), a float for a float, a list, dict, tuple or
        dataclass of gradients, and ``NoTangent()`` for parts without a derivative.  For a tuple of
        `argnums` it is a tuple.

    Raises
    ------
    NonScalarOutputError
        If `f` does not return one real number.
    NonDifferentiableArgumentError
        If a chosen argument has no derivative (int, bool, str, ...), or does not exist.
    MissingRuleError, SourceUnavailableError, UnsupportedSyntaxError, DerivativeDropError
        If the engine cannot differentiate an operation of `f`.  Exceptions of `f` itself pass
        unchanged, with a note that names the line.
    SharedArgumentsError
        If `f` writes into memory that two arguments share, or an argument and a captured or global
        array.
    InvalidModeError
        If there is no such `mode`, `output` or other option, or `comm` is given for forward mode.
    MemoryBudgetError
        If there is not enough `memory`, also with checkpoints; it names the loop.
    RankError
        With `comm`, if another rank has raised an exception, or values differ that should be the
        same.

    Notes
    -----
    After the call, all arguments have their old values, bit for bit, also after an exception.  A
    value that shares memory with an argument is a copy.  The engine also restores captured and
    global objects that `f` changes: a global list that `f` fills is empty again afterwards; return
    it with `has_aux` instead.  Arguments are separate variables, even if they share memory:
    ``grad(f)(x, x)`` is the partial derivative, and `f` gets arrays that do not share memory.  A
    write into shared memory raises an error: pass a copy, or differentiate ``lambda x: f(x, x)``
    for the total derivative.  An object that one argument holds twice is one variable.  A captured
    or global array is a constant, even if it is also an argument.  For complex arguments the
    gradient is dL/dx + i dL/dy.  All this holds in both modes; all runs of forward mode draw the
    same random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> def energy(u, steps):
    ...     for _ in range(steps):
    ...         u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return np.sum(u * u)
    >>> u = np.array([0.0, 1.0, 0.0, 0.0])
    >>> value, du = value_and_grad(energy)(u, 1)
    >>> float(value)
    0.3125
    >>> du
    array([0.25 , 0.625, 0.5  , 0.125])
    >>> u
    array([0., 1., 0., 0.])

    Differentiate a long computation with respect to one parameter, without a tape:

    >>> def decay(rate):
    ...     y = 1.0
    ...     for _ in range(1000):
    ...         y -= 0.001 * rate * y
    ...     return y
    >>> value, slope = value_and_grad(decay, mode="forward")(0.5)
    >>> round(value, 6), round(slope, 6)
    (0.606455, -0.606758)
    """
    with boundary:
        return derivative_of(
            f,
            argnums,
            has_aux,
            debug,
            mode,
            (compile, compile_timeout),
            comm,
            output,
            allowed(memory, memory_on_disk),
            with_value=True,
        )


@overload
def grad(
    f: Callable[Concatenate[X, P], Value],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, P], X]: ...
@overload
def grad(
    f: Callable[Concatenate[X, X2, P], Value],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, X2, P], tuple[X, X2]]: ...
@overload
def grad(
    f: Callable[P, Value],
    argnums: int | str = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[P, Any]: ...
@overload
def grad(
    f: Callable[P, Value],
    argnums: tuple[int | str, ...],
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Derivative[P, tuple[Any, ...]]: ...
@overload
def grad(
    f: Callable[Concatenate[X, P], tuple[Value, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Derivative[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def grad(
    f: Callable[P, tuple[Value, Aux]],
    argnums: ArgNums,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Derivative[P, tuple[Any, Aux]]: ...
def grad(
    f: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    debug: bool = False,
    mode: Mode = "reverse",
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
    comm: Any = None,
    output: OverRanks = "sum",
    memory: MemorySize | None = None,
    memory_on_disk: Disk = False,
) -> Derivative[..., Any]:
    """Return a function that computes the gradient of `f`.

    The parameters are those of :func:`value_and_grad`.

    Returns
    -------
    callable
        Function that returns the gradient, or ``(gradient, aux)`` with `has_aux`.

    Examples
    --------
    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    with boundary:
        return derivative_of(
            f,
            argnums,
            has_aux,
            debug,
            mode,
            (compile, compile_timeout),
            comm,
            output,
            allowed(memory, memory_on_disk),
            with_value=False,
        )


def derivative_of(
    f: Callable[..., Any],
    argnums: ArgNums,
    has_aux: bool,
    debug: bool,
    mode: Mode,
    compiled: tuple[Compile | None, float | None],
    comm: Any,
    output: OverRanks,
    memory: Allowance | None,
    *,
    with_value: bool,
) -> Derivative[..., Any]:
    """Return the derivative that the options ask for, or raise if they do not fit."""
    require_callable(f)
    require_argnums(f, argnums)
    require_flag("has_aux", has_aux)
    require_flag("debug", debug)
    require_setting(*compiled)
    require_output(output)
    if memory is not None:
        require_recorded(mode, comm)
    if comm is not None:
        # Only for programs that run on several ranks.
        from mooncake_py.integrations.mpi4py import gradients as over

        require_reverse(mode)
        distributed = over.DistributedValueAndGrad if with_value else over.DistributedGrad
        return distributed(f, argnums, has_aux, debug, *compiled, comm=comm, output=output)
    require_choice("a gradient", "mode", mode, ("reverse", "forward"))
    if mode == "reverse":
        kind = ValueAndGrad if with_value else Grad
    else:
        kind = ForwardValueAndGrad if with_value else ForwardGrad
    return kind(f, argnums, has_aux, debug, *compiled, memory)


def require_recorded(mode: Mode, comm: Any) -> None:
    """Raise if a derivative has no tape of its own that a limit of memory could be about."""
    if mode != "reverse":
        raise InvalidModeError(
            f"memory= is not for mode={mode!r}",
            why="forward mode keeps no tape",
            fix="leave it out",
        )
    if comm is not None:
        raise InvalidModeError(
            "memory= is not for gradients over ranks",
            why="ranks would have to run the same parts again at the same time",
            fix="mark loops by checkpointed(...), or leave it out",
        )
