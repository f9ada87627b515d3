"""Functions written with JAX, used in ordinary NumPy code; needs the extra ``jax``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.extras.structure import (
    ForeignFunction,
    differentiable_positions,
    like_arguments,
    mapped,
    replacing,
)
from mooncake_py.optional import import_optional
from mooncake_py.rules.declare import from_vjp

__all__ = ["from_jax"]

jax = import_optional("jax", "jax", __name__)


def from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy arrays with the values and the derivative of a JAX function.

    Parameters
    ----------
    function : callable
        Of arrays and numbers; it returns an array, a number, or a tuple or list of these.  It
        may be jitted.

    Returns
    -------
    callable
        Takes and returns NumPy arrays and Python's numbers.  Its derivative is JAX's ``vjp``,
        computed for those arguments only that are floats or complex.

    Notes
    -----
    JAX computes in double precision within the call if that is the precision of the arguments,
    whatever its configuration says.  Its convention for complex gradients, the conjugate of
    ours, is converted.  The function must be pure, as JAX demands.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from mooncake_py import grad
    >>> norm = from_jax(jax.jit(lambda x: jnp.sqrt(jnp.sum(x * x))))
    >>> def f(x):
    ...     x[0] *= 2.0
    ...     return norm(x)
    >>> grad(f)(np.array([1.5, 4.0]))
    array([1.2, 0.8])
    """

    def run(*args: Any) -> Any:
        with jax.enable_x64(True):
            return mapped(as_numpy, function(*args))

    of_arrays = ForeignFunction(function, run)

    def of_chosen(args: Any, positions: list[int]) -> Callable[..., Any]:
        """Return the function of some of its arguments."""
        return lambda *values: function(*replacing(args, positions, values))

    def jvp(tangents: Any, y: Any, *args: Any) -> Any:
        moved = [i for i, t in enumerate(tangents) if t is not None]
        primals = tuple(np.array(args[i]) for i in moved)
        along = tuple(np.asarray(tangents[i], p.dtype) for i, p in zip(moved, primals, strict=True))
        with jax.enable_x64(True):
            return mapped(as_numpy, jax.jvp(of_chosen(args, moved), primals, along)[1])

    @from_vjp(of_arrays, jvp=jvp)
    def rule(*args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
        of_arrays.refuse(kwargs)
        wanted = differentiable_positions(args)
        with jax.enable_x64(True):
            out, vjp = jax.vjp(of_chosen(args, wanted), *(np.array(args[i]) for i in wanted))
        y = mapped(as_numpy, out)

        def pullback(dy: Any) -> tuple[Any, ...]:
            with jax.enable_x64(True):
                found = vjp(cotangent_like(out, dy))
            return like_arguments(args, wanted, [np.conj(np.asarray(g)) for g in found])

        return y, pullback

    return of_arrays


def as_numpy(value: Any) -> Any:
    """Return an array of JAX as one of NumPy, a number for one without axes."""
    if getattr(value, "dtype", None) == jax.dtypes.float0:  # the tangent of integers
        return None
    array = np.array(value)
    return array if array.ndim else array[()]


def cotangent_like(out: Any, dy: Any) -> Any:
    """Return our cotangent of an output as JAX's, of its dtypes."""
    if isinstance(out, (tuple, list)):
        parts = dy if dy is not None else [None] * len(out)
        return type(out)(cotangent_like(o, d) for o, d in zip(out, parts, strict=True))
    if out.dtype.kind not in "fc":
        return np.zeros(out.shape, jax.dtypes.float0)
    if dy is None:
        return np.zeros(out.shape, out.dtype)
    return np.conj(np.broadcast_to(np.asarray(dy, out.dtype), out.shape))
