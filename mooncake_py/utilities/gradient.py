"""`gradient` and `pullback`: derivatives with respect to all arguments, or to parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooncake_py.boundary.arguments import name_of
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import NonDifferentiableArgumentError
from mooncake_py.interface import grad, vjp
from mooncake_py.tangents import NoTangent
from mooncake_py.utilities.parameters import Grads, Params, WithoutParameters, as_params
from mooncake_py.utilities.pullback import PullbackToParameters
from mooncake_py.utilities.structures import holds_numbers

__all__ = ["gradient", "pullback"]


def gradient(f: Callable[..., Any], *args: Any, params: Params | None = None) -> Any:
    """Return the gradients of `f` with respect to all its arguments, or to parameters.

    Parameters
    ----------
    f : callable
        Function that returns one real number.
    *args
        Numbers, arrays, containers, objects, closures.  Values without numbers (strings, True and
        False, None, a function that captures no number) are constants.
    params : Params, optional
        Arrays and objects that `f` reads as globals, captured variables or attributes.  If given,
        the gradients are with respect to these, and `args` are constants.

    Returns
    -------
    tuple or Grads
        One gradient for each argument, as of :func:`grad`, and ``NoTangent()`` for constants.  With
        `params` a :class:`Grads`, a mapping from parameters to gradients.

    Raises
    ------
    NonDifferentiableArgumentError
        If an argument is an int or an array of ints.

    Examples
    --------
    >>> from mooncake_py import gradient
    >>> gradient(lambda a, b: a * b, 2.0, 3.0)
    (3.0, 2.0)
    """
    with boundary:
        if params is not None:
            params = as_params(params)
            # One argument, as parameters that share memory are not separate variables.
            return Grads(params, grad(WithoutParameters(f, args))(tuple(params)))
        argnums = tuple(i for i, a in enumerate(args) if not is_constant(a))
        if not argnums and callable(f):
            raise NonDifferentiableArgumentError(
                f"there is nothing to take the gradient of {name_of(f)} with respect to",
                why=f"it was called with {len(args)} arguments, of which none is a number or holds "
                "one",
                fix="pass floats or arrays, or name other data that the function reads: "
                "params=Params([...])",
            )
        gradients = dict(zip(argnums, grad(f, argnums)(*args), strict=True))
        return tuple(gradients.get(i, NoTangent()) for i in range(len(args)))


def is_constant(value: Any) -> bool:
    """Return whether an argument is a constant, for which no gradient is expected."""
    if isinstance(value, (bool, str, bytes)) or value is None:
        return True
    return callable(value) and not holds_numbers(value)


def pullback(
    f: Callable[..., Any], *args: Any, params: Params | None = None
) -> tuple[Any, Callable[[Any], Any]]:
    """Return the output of `f` and its pullback: :func:`vjp`, also for parameters.

    Parameters
    ----------
    f, *args
        As for :func:`vjp`.
    params : Params, optional
        The parameters to differentiate with respect to, instead of `args`.  The pullback then
        returns :class:`Grads`, and runs `f` again; the parameters must be unchanged.

    Examples
    --------
    >>> import math
    >>> from mooncake_py import pullback
    >>> y, back = pullback(math.sin, 0.5)
    >>> y, back(1.0)
    (0.479425538604203, (0.8775825618903728,))
    """
    with boundary:
        if params is None:
            return vjp(f, *args)
        return PullbackToParameters(f, args, as_params(params)).start()
