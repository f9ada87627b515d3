"""Jacobians, Hessians and their products, in terms of `jvp`, `vjp` and `grad`.

This is ordinary code: inside another derivative it is differentiated like the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from mooncake_py.derive.calls.draws import Draws
from mooncake_py.derive.crossing.arguments import ArgNums, choose_arguments, name_of
from mooncake_py.derive.nesting.structures import unit
from mooncake_py.errors import NonDifferentiableArgumentError, NonScalarOutputError
from mooncake_py.interface import grad, jvp, value_and_grad, vjp

__all__ = ["hessian", "hessian_diagonal", "hvp", "jacobian", "value_grad_and_hessian"]

Mode = Literal["auto", "forward", "reverse"]


class Block(NamedTuple):
    """The Jacobians of one number or array of the output, one for each of the input."""

    arrays: list[Any]


def jacobian(f: Callable[..., Any], argnums: ArgNums = 0, mode: Mode = "auto") -> Any:
    """Return a function that computes the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        Takes and returns numbers and arrays, also in tuples, lists and dicts.
    argnums : int, str or tuple of int and str, optional
        The arguments to differentiate with respect to.
    mode : {"auto", "forward", "reverse"}
        Columns by :func:`jvp`, rows by :func:`vjp`, or what needs fewer runs.

    Returns
    -------
    callable
        With the parameters of `f`.  For an output of shape ``(m, ...)`` and an argument of shape
        ``(n, ...)`` it returns an array of shape ``(m, ..., n, ...)``; in place of each number or
        array of a structured output stands the structure of the argument, with such an array for
        each part.  For a tuple of `argnums`, a tuple of these stands there.

    Raises
    ------
    NonDifferentiableArgumentError
        If a chosen argument holds no floats, or complex numbers (of which a Jacobian would not be
        a matrix of complex numbers: pass real and imaginary parts).

    Examples
    --------
    >>> import numpy as np
    >>> jacobian(np.cumsum)(np.array([1.0, 2.0, 3.0]))
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        if mode not in ("auto", "forward", "reverse"):
            raise ValueError(f"mode {mode!r} of a Jacobian is none of auto, forward, reverse")
        function, values = of_chosen(f, argnums, args, kwargs)
        leaves: list[Any] = []
        collect(values, leaves)
        for leaf in leaves:
            if np.iscomplexobj(leaf):
                raise complex_argument(f)
        if not leaves:
            raise nothing_to_differentiate(f)
        blocks = blocks_of(function, values, leaves, mode)
        return arranged(blocks, values, isinstance(argnums, tuple))

    return jacobian_of


def blocks_of(function: Any, values: Any, leaves: list[Any], mode: Mode) -> Any:
    """Return, in the structure of the output, a `Block` for each number or array."""
    size = sum([np.size(leaf) for leaf in leaves])
    if mode == "forward":
        return by_columns(function, values, leaves, Draws())
    draws = Draws()
    with draws:
        y, pullback = vjp(function, values)
    outputs: list[Any] = []
    collect(y, outputs)
    count = sum([np.size(part) for part in outputs])
    if mode == "auto" and (size <= count or any(np.iscomplexobj(p) for p in outputs)):
        return by_columns(function, values, leaves, draws)
    return by_rows(y, pullback, outputs, leaves)


def by_columns(function: Any, values: Any, leaves: list[Any], draws: Draws) -> Any:
    """Run forward along each unit vector of the input; all runs draw the same random numbers."""
    columns: list[Any] = []
    y: Any = None
    for k in range(len(leaves)):
        for i in range(np.size(leaves[k])):
            directions = [unit(leaf, i) if j == k else zero(leaf) for j, leaf in enumerate(leaves)]
            with draws.run():
                y, dy = jvp(function, (values,), (refilled(values, directions),))
            columns.append(dy)

    def block(part: Any, path: tuple[Any, ...]) -> Block:
        arrays: list[Any] = []
        start = 0
        for leaf in leaves:
            found = [at(dy, path) for dy in columns[start : start + np.size(leaf)]]
            start += np.size(leaf)
            if not found:
                arrays.append(np.zeros(np.shape(part) + np.shape(leaf)))
            elif np.ndim(leaf) == 0:
                arrays.append(found[0])
            else:
                arrays.append(np.stack(found, axis=-1).reshape(np.shape(part) + np.shape(leaf)))
        return Block(arrays)

    if y is None:  # empty arrays only
        y = function(values)
    return spread(block, y, ())


def by_rows(y: Any, pullback: Any, outputs: list[Any], leaves: list[Any]) -> Any:
    """Pull back each unit cotangent of the output."""
    rows: list[Any] = []
    for k in range(len(outputs)):
        for i in range(np.size(outputs[k])):
            directions = [unit(p, i) if j == k else zero(p) for j, p in enumerate(outputs)]
            (g,) = pullback(refilled(y, directions))
            found: list[Any] = []
            collect(g, found)
            rows.append(found)
    position = [0]

    def block(part: Any, path: tuple[Any, ...]) -> Block:
        own = rows[position[0] : position[0] + np.size(part)]
        position[0] += np.size(part)
        arrays: list[Any] = []
        for j, leaf in enumerate(leaves):
            parts = [row[j] for row in own]
            if not parts:
                arrays.append(np.zeros(np.shape(part) + np.shape(leaf)))
            elif np.ndim(part) == 0:
                arrays.append(parts[0])
            else:
                arrays.append(np.stack(parts).reshape(np.shape(part) + np.shape(leaf)))
        return Block(arrays)

    return spread(block, y, ())


def hessian(f: Callable[..., Any], argnums: ArgNums = 0) -> Any:
    """Return a function that computes the Hessian of `f`, which returns one real number.

    Parameters and structure are those of :func:`jacobian` of ``grad(f, argnums)``: for an argument
    of shape ``(n, ...)`` an array of shape ``(n, ..., n, ...)``.  Each column is one product of
    the Hessian with a unit vector (:func:`hvp`).

    Examples
    --------
    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums, mode="forward")


def hvp(f: Callable[..., Any], args: tuple[Any, ...], v: Any, argnums: ArgNums = 0) -> Any:
    """Return the product of the Hessian of `f` with `v`.

    Parameters
    ----------
    f : callable
        Returns one real number.
    args : tuple
        Its arguments.
    v : object
        In the structure of the chosen argument; for a tuple of `argnums` a tuple of these.
    argnums : int, str or tuple, optional
        The arguments that the Hessian is taken with respect to.

    Returns
    -------
    object
        In the structure of `v`.

    Notes
    -----
    The derivative of `f` along `v` is differentiated in reverse, at the cost of a few gradients
    (Pearlmutter, 1994).

    Examples
    --------
    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    function, values = of_chosen(f, argnums, args, {})
    v = copied(v)  # it may share memory with an argument
    tangents = v if isinstance(argnums, tuple) else (v,)
    # Only for those who use it.
    from mooncake_py.derive.nesting.products import hessian_product

    products = hessian_product(f, function, values, tangents)
    if products is not None:
        return products if isinstance(argnums, tuple) else products[0]

    def along(values: Any) -> Any:
        y, dy = jvp(function, (values,), (tangents,))
        if np.size(y) != 1:
            raise not_a_number(f, y)
        return dy if np.ndim(dy) == 0 else np.sum(dy)

    products = grad(along)(values)
    return products if isinstance(argnums, tuple) else products[0]


def value_grad_and_hessian(f: Callable[..., Any], argnums: ArgNums = 0) -> Any:
    """Return a function that computes ``(value, gradient, Hessian)`` of `f`.

    Examples
    --------
    >>> value_grad_and_hessian(lambda x: x ** 3)(2.0)
    (8.0, 12.0, 12.0)
    """

    def all_three(*args: Any, **kwargs: Any) -> Any:
        value, gradient = value_and_grad(f, argnums)(*args, **kwargs)
        return value, gradient, hessian(f, argnums)(*args, **kwargs)

    return all_three


def hessian_diagonal(f: Callable[..., Any], argnum: int = 0) -> Any:
    """Return a function that computes the diagonal of the Hessian, in the shape of the argument.

    It takes one product with the Hessian for each element, and keeps one column at a time.

    Examples
    --------
    >>> import numpy as np
    >>> hessian_diagonal(lambda x: np.sum(x ** 3) * x[0])(np.array([1.0, 2.0]))
    array([12., 12.])
    """

    def diagonal_of(*args: Any) -> Any:
        x = args[argnum]
        if np.ndim(x) == 0:
            return hvp(f, args, 1.0, argnum)
        draws = Draws()
        products: list[Any] = []
        for i in range(np.size(x)):
            with draws.run():
                products.append(hvp(f, args, unit(x, i), argnum).reshape(-1)[i])
        return np.array(products).reshape(np.shape(x))

    return diagonal_of


# Numbers and arrays in structures.


def of_chosen(f: Any, argnums: ArgNums, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return a function of the tuple of chosen arguments alone, and that tuple."""
    chosen = choose_arguments(f, argnums, args, kwargs)

    def function(values: Any) -> Any:
        positional, keywords = list(args), dict(kwargs)
        for key, value in zip(chosen, values, strict=True):
            if isinstance(key, int):
                positional[key] = value
            else:
                keywords[key] = value
        return f(*positional, **keywords)

    values = tuple([args[key] if isinstance(key, int) else kwargs[key] for key in chosen])
    return function, values


def is_leaf(value: Any) -> bool:
    """Tell whether a value is a number or an array that can have a derivative."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def collect(value: Any, found: list[Any]) -> None:
    """Append the numbers and arrays in a value, in order."""
    if is_leaf(value):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            collect(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            collect(part, found)


def spread(f: Any, value: Any, path: tuple[Any, ...]) -> Any:
    """Apply ``f(leaf, path)`` to the numbers and arrays in a value; the rest becomes None."""
    if is_leaf(value):
        return f(value, path)
    if isinstance(value, (list, tuple)):
        parts = [spread(f, part, (*path, i)) for i, part in enumerate(value)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, dict):
        return {key: spread(f, part, (*path, key)) for key, part in value.items()}
    return None


def refilled(value: Any, parts: list[Any]) -> Any:
    """Return the structure of a value with other numbers and arrays, in order."""
    rest = iter(parts)
    return spread(lambda leaf, path: next(rest), value, ())


def copied(value: Any) -> Any:
    """Return a value whose arrays are memory of their own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    if type(value) is list or type(value) is tuple:
        parts = [copied(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the part of a structure at a path."""
    for key in path:
        value = value[key]
    return value


def zero(leaf: Any) -> Any:
    """Return zero like a number or an array."""
    if np.ndim(leaf) == 0 and not isinstance(leaf, np.ndarray):
        return 0.0
    return np.zeros(np.shape(leaf), leaf.dtype)


def arranged(blocks: Any, values: Any, several: bool) -> Any:
    """Put, for each part of the output, the arrays into the structure of the arguments."""
    if isinstance(blocks, Block):
        filled = refilled(values, blocks.arrays)
        return filled if several else filled[0]
    if isinstance(blocks, dict):
        return {key: arranged(part, values, several) for key, part in blocks.items()}
    if isinstance(blocks, (list, tuple)):
        parts = [arranged(part, values, several) for part in blocks]
        return parts if isinstance(blocks, list) else tuple(parts)
    return blocks


def complex_argument(f: Any) -> NonDifferentiableArgumentError:
    """Return the error for a Jacobian with respect to complex numbers."""
    return NonDifferentiableArgumentError(
        f"the Jacobian of {name_of(f)} with respect to complex numbers was asked for",
        why="the derivative with respect to a complex number is no complex number, unless the "
        "function is holomorphic",
        mend="pass real and imaginary parts as real arrays",
    )


def nothing_to_differentiate(f: Any) -> NonDifferentiableArgumentError:
    """Return the error for arguments without floats."""
    return NonDifferentiableArgumentError(
        f"the Jacobian of {name_of(f)} was asked for with respect to arguments without floats",
        why="only float values in tuples, lists and dicts have derivatives here",
        mend="pass floats: x.astype(float), or choose other argnums",
    )


def not_a_number(f: Any, y: Any) -> NonScalarOutputError:
    """Return the error for the Hessian of a function that does not return one number."""
    return NonScalarOutputError(
        f"{name_of(f)} returned an array of shape {np.shape(y)}, but a Hessian needs one number",
        mend="reduce it, for example with np.sum",
    )
