"""The public functions `vjp`, `jvp` and `build_rrule`; `first_order` has the gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from mooncake_py.boundary.arguments import (
    name_of,
    require_callable,
    require_direction,
    require_plain,
)
from mooncake_py.diagnostics.options import require_flag
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import NonScalarOutputError
from mooncake_py.first_order import grad, value_and_grad
from mooncake_py.modes.reverse.derived_rule import derived_rule
from mooncake_py.modes.reverse.pullback import Vjp
from mooncake_py.modes.reverse.settings import compiling, settings
from mooncake_py.modes.reverse.whole_or_parts import whole_or_parts
from mooncake_py.rules.frule import frule
from mooncake_py.rules.rrule import rrule
from mooncake_py.runtime.allowance import Disk, MemorySize, allowed, allowing
from mooncake_py.runtime.compilation import Compile
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.limits import limits_raised

__all__ = ["build_rrule", "grad", "jvp", "value_and_grad", "vjp"]

Output = TypeVar("Output")


def vjp(
    f: Callable[..., Output],
    *args: Any,
    debug: bool = False,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
    memory: MemorySize | None = None,
    memory_on_disk: Disk = False,
) -> tuple[Output, Callable[[Any], tuple[Any, ...]]]:
    """Return the output of `f` and its pullback.

    Parameters
    ----------
    f : callable
        Function that returns a number, an array, or a tuple, list, dict or object of these.
    *args
        The arguments of `f`; ints, strings and other values without a derivative are constants.
    debug : bool, optional
        If true, run `f` and the pullback in :func:`debug_mode`.
    compile : bool or "auto", optional
        If true, compile the functions that run, if possible; "auto" lets them run as without until
        a thread has compiled them.  None means the setting of :func:`compile_mode`.
    compile_timeout : float, optional
        How many seconds a call waits at most for what is compiled; then it runs as without.
    memory : int or str, optional
    memory_on_disk : bool or path, optional
        As for :func:`value_and_grad`.

    Returns
    -------
    y : object
        The output; arrays that share memory with an argument are copied.
    pullback : callable
        Function from a cotangent in the structure of `y` (for an object a gradient of it, or None
        for zero) to a tuple with the gradient of each argument.  `f` runs on copies of the
        arguments, so the arguments never change.  You may call the pullback at any time and several
        times; from the second call on it runs `f` again, which then prints and warns of nothing.

    Raises
    ------
    InvalidTangentError
        If the cotangent of the pullback does not have the structure or the shape of `y`, or is
        complex where `y` is real.
    SharedArgumentsError
        If `f` writes into memory that two arguments share, or an argument and a captured or global
        array.

    Notes
    -----
    Arguments that share memory are separate variables, as for :func:`value_and_grad`.

    Examples
    --------
    >>> import numpy as np
    >>> y, pullback = vjp(np.square, np.array([1.0, 2.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    with boundary:
        again = None
        usual = memory is None and memory_on_disk is False and debug is False
        if compile is True and compile_timeout is None and usual:
            # Only for those who compile.
            from mooncake_py.modes.reverse.pullback_again import pullback_again

            again = pullback_again(f)
            found = None if again is None else again(f, args)
            if found is not None:
                return found
        with (
            limits_raised(),
            compiling(compile, debug, compile_timeout),
            allowing(allowed(memory, memory_on_disk)),
        ):
            found = pulled(f, args, debug)
        if again is not None:
            again.ran(f, args)
        return found


def pulled(f: Callable[..., Any], args: tuple[Any, ...], debug: bool) -> tuple[Any, Any]:
    """Return the output of `f` and its pullback."""
    require_flag("debug", debug)
    require_callable(f)
    require_plain(f, args)
    outer = enclosing()
    if outer is not None:
        # Only where derivatives nest.
        from mooncake_py.nesting.inside import vjp_inside

        return vjp_inside(outer, f, args)

    def whole(*, in_text: bool) -> tuple[Any, Any] | None:
        # Only where functions run whole.
        from mooncake_py.modes.reverse.whole_pullback import vjp_of_whole

        return vjp_of_whole(f, args, in_text)

    def in_parts() -> tuple[Any, Any]:
        return Vjp(f, args, settings(debug)).start()

    return whole_or_parts("pullback", f, args, whole, in_parts, debug)


@overload
def jvp(
    f: Callable[..., Output],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> tuple[Output, Output]: ...
@overload
def jvp(
    f: Callable[..., Output],
    primals: tuple[Any, ...],
    tangents: list[tuple[Any, ...]],
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> tuple[Output, list[Output]]: ...
def jvp(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...] | list[tuple[Any, ...]],
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> tuple[Any, Any]:
    """Return the output of `f` and its derivative along `tangents`, in forward mode.

    Parameters
    ----------
    f : callable
        Function of ordinary Python and NumPy code; it may work in place.
    primals : tuple
        The arguments.
    tangents : tuple
        One tangent for each argument, in the structure of a gradient: an array for an array (same
        shape), a number for a float, a list, dict, tuple or dataclass of tangents.  None means
        zero, also for arguments without a derivative.  For several directions pass a list of
        tuples.
    compile : bool or "auto", optional
        If true, compile the functions that run, if possible; "auto" lets them run as without until
        a thread has compiled them.  None means the setting of :func:`compile_mode`.
    compile_timeout : float, optional
        How many seconds a call waits at most for what is compiled; then it runs as without.

    Returns
    -------
    y, dy : object
        The output and its tangent, in new memory and with the structure of a gradient of the
        output; ``NoTangent()`` for parts without a derivative.  For a list of directions `dy` is a
        list with one tangent for each.

    Raises
    ------
    InvalidTangentError
        If a tangent does not have the structure or the shape of its argument.
    NestedDerivativeError
        If `f` runs more than once for several directions, and its outputs differ.
    NonScalarOutputError
        If `f` returns None.

    Notes
    -----
    Forward mode keeps no tape.  After the call, the arguments have their old values.  Arguments
    that share memory are separate variables, each with its own tangent.

    Along several directions, `f` runs once for up to 16 directions, which takes the memory of as
    many tangents.  It runs once for each direction, with the same random numbers, if it contains an
    operation that supports only one tangent (a loop that is one entry, an inner derivative, a
    forward rule for Duals), in debug mode, and inside another derivative.

    Examples
    --------
    >>> import numpy as np
    >>> def smooth(u):
    ...     u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return u
    >>> jvp(smooth, (np.array([0.0, 1.0, 0.0]),), (np.array([1.0, 0.0, 0.0]),))
    (array([0. , 0.5, 0. ]), array([1.  , 0.25, 0.  ]))
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), [(1.0, 0.0), (0.0, 1.0)])
    (6.0, [3.0, 2.0])
    """
    with boundary:
        again = None
        are_tuples = type(primals) is tuple and type(tangents) is tuple
        if compile is True and compile_timeout is None and are_tuples:
            # Only for those who compile.
            from mooncake_py.modes.forward.whole_again import push_again

            again = push_again(f)
            found = None if again is None else again(f, primals, tangents)
            if found is not None:
                return found
        with compiling(compile, compile_timeout=compile_timeout):
            found = pushed(f, primals, tangents)
        if again is not None:
            again.ran(f, primals, tangents)
        return found


def pushed(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Return the output of `f` and its derivative along `tangents`, or along each of a list."""
    require_callable(f)
    if isinstance(tangents, list):
        return with_result(f, jvp_along(f, primals, tangents))
    require_direction(primals, tangents)
    require_plain(f, primals)

    def whole(*, in_text: bool) -> tuple[Any, Any] | None:
        # Only where functions run whole.
        from mooncake_py.modes.forward.whole import push_whole

        return push_whole(f, primals, tangents, in_text)

    def in_parts() -> tuple[Any, Any]:
        # Only for those who use it.
        from mooncake_py.modes.forward.call import push_forward

        with limits_raised():
            return with_result(f, push_forward(f, primals, tangents))

    return whole_or_parts("derivative along a direction", f, primals, whole, in_parts)


def with_result(f: Callable[..., Any], found: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return an output and its tangent; raise if the output is None, which has none."""
    if found[0] is None:
        raise NonScalarOutputError(
            f"{name_of(f)} returned None, which has no tangent",
            fix="return the number or the array: is a `return` missing?",
        )
    return found


def jvp_along(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    directions: list[tuple[Any, ...]],
    compared: Callable[[Any], Any] | None = None,
) -> tuple[Any, list[Any]]:
    """Return the output of `f` and a list of its derivatives along several directions.

    If `f` runs more than once, ``compared(output)`` must be the same in each run.
    """
    with boundary, limits_raised():
        for tangents in directions:
            require_direction(primals, tangents)
        require_plain(f, primals)

        def whole(*, in_text: bool) -> tuple[Any, list[Any]] | None:
            # Only where functions run whole.
            from mooncake_py.modes.forward.whole import push_whole_along

            return push_whole_along(f, primals, directions, in_text)

        def in_parts() -> tuple[Any, list[Any]]:
            # Only for those who use it.
            from mooncake_py.modes.forward.several import push_forward_along

            return push_forward_along(f, primals, directions, compared)

        return whole_or_parts("derivatives along directions", f, primals, whole, in_parts)


def build_rrule(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """Return the rule of `f`, in the interface of :func:`~mooncake_py.rrule`.

    Parameters
    ----------
    f : callable
        The function; its rule is declared, or derived from its source.
    *args
        Example arguments; accepted for symmetry with Mooncake.jl, and ignored, as a rule works for
        all types.

    Returns
    -------
    callable
        ``rule(CoDual(f, ...), *coduals, **kwargs) -> (CoDual, pullback)``.

    Examples
    --------
    >>> from mooncake_py import CoDual, NoFData
    >>> def f(x):
    ...     return x * x
    >>> out, pullback = build_rrule(f, 3.0)(CoDual(f, NoFData()), CoDual(3.0, NoFData()))
    >>> out, pullback(1.0)
    (CoDual(9.0, NoFData()), (NoRData(), 6.0))
    """
    return derived_rule


def _derived_frule(*duals: Any, **kwargs: Any) -> Any:
    # Forward mode is imported by those who use it.
    from mooncake_py.modes.forward.frule import derived_frule

    return derived_frule(*duals, **kwargs)


rrule.derive_with(derived_rule)
frule.derive_with(_derived_frule)
