"""Functions written with JAX, used in ordinary NumPy code; needs the extra ``jax``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.structure import (
    FlatFunction,
    Nesting,
    like_arguments,
    nested,
    replacing,
    with_derivative,
)
from mooncake_py.optional import import_optional
from mooncake_py.rules.declare import from_vjp
from mooncake_py.words import with_article

__all__ = ["from_jax"]

jax = import_optional("jax", "jax", __name__)


def from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy arrays with the values and the derivative of a JAX function.

    Parameters
    ----------
    function : callable
        Of arrays and numbers, and of dicts, tuples and lists of these in one another (pytrees);
        it returns the like.  It may be jitted.

    Returns
    -------
    callable
        Takes and returns the same with NumPy arrays and Python's numbers, by position.  Its
        derivative is JAX's ``vjp``, computed for those arrays and numbers only that are floats
        or complex.

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

    Arguments and results may be nested:

    >>> layer = from_jax(lambda p, x: {"y": jnp.tanh(p["w"] @ x + p["b"])})
    >>> p = {"w": np.zeros((1, 2)), "b": np.zeros(1)}
    >>> grad(lambda p, x: layer(p, x)["y"][0])(p, np.array([1.5, 4.0]))
    {'w': array([[1.5, 4. ]]), 'b': array([1.])}
    """

    def run(nesting: Nesting, *leaves: Any) -> list[Any]:
        with jax.enable_x64(True):
            return list(map(as_numpy, nesting.called(function, leaves)))

    flat = FlatFunction(function, run)

    def of_some(nesting: Nesting, leaves: Any, positions: list[int]) -> Callable[..., list[Any]]:
        """Return the function of some leaves, the others being constant."""

        def of_chosen(*values: Any) -> list[Any]:
            return list(map(as_jax, nesting.called(function, replacing(leaves, positions, values))))

        return of_chosen

    def jvp(tangents: Any, y: Any, nesting: Nesting, *leaves: Any) -> list[Any]:
        moved = [i for i, t in enumerate(tangents[1:]) if t is not None]
        primals = [np.array(leaves[i]) for i in moved]
        along = [np.asarray(tangents[i + 1], p.dtype) for i, p in zip(moved, primals, strict=True)]
        with jax.enable_x64(True):
            return list(map(as_numpy, jax.jvp(of_some(nesting, leaves, moved), primals, along)[1]))

    @from_vjp(flat, jvp=jvp)
    def rule(nesting: Nesting, *leaves: Any) -> tuple[list[Any], Callable[[Any], Any]]:
        wanted = with_derivative(leaves)
        primals = [np.array(leaves[i]) for i in wanted]
        with jax.enable_x64(True):
            outputs, vjp = jax.vjp(of_some(nesting, leaves, wanted), *primals)
            y = list(map(as_numpy, outputs))

        def pullback(dy: Any) -> tuple[Any, ...]:
            with jax.enable_x64(True):
                found = vjp(list(map(cotangent_like, outputs, dy)))
            return like_arguments(leaves, wanted, [np.conj(np.asarray(g)) for g in found])

        return y, pullback

    return nested(flat)


def as_jax(value: Any) -> Any:
    """Return a number of Python as an array of JAX, anything else as it is."""
    return jax.numpy.asarray(value) if isinstance(value, (int, float, complex)) else value


def as_numpy(value: Any) -> Any:
    """Return an array of JAX as one of NumPy, a number for one without axes."""
    if value is None or getattr(value, "dtype", None) == jax.dtypes.float0:
        return None  # the tangent of integers
    array = np.array(value)
    if array.dtype.kind == "O":
        raise MissingRuleError(
            f"a function of from_jax returned {with_article(type(value).__name__)}",
            why="outputs are arrays, numbers, and dicts, tuples and lists of these",
            fix="return these",
        )
    return array if array.ndim else array[()]


def cotangent_like(output: Any, dy: Any) -> Any:
    """Return our cotangent of an output as JAX's, of its dtype."""
    if output is None:
        return None
    if output.dtype.kind not in "fc":
        return np.zeros(output.shape, jax.dtypes.float0)
    if dy is None:
        return np.zeros(output.shape, output.dtype)
    return np.conj(np.broadcast_to(np.asarray(dy, output.dtype), output.shape))
