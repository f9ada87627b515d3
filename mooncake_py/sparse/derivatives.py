"""`sparse_jacobian` and `sparse_hessian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import name_of, require_callable
from mooncake_py.errors import InvalidTangentError, SparsityError
from mooncake_py.first_order import grad
from mooncake_py.interface import jvp
from mooncake_py.optional import import_optional
from mooncake_py.runtime.compilation import Compile
from mooncake_py.sparse.patterns import Pattern, Products, compressed, detected
from mooncake_py.words import with_article

__all__ = ["sparse_hessian", "sparse_jacobian"]

CLOSE = 1e4
"""In units of the last place, how far two sums of the same products may differ."""


def sparse_jacobian(
    f: Callable[..., Any],
    pattern: Any = None,
    *,
    argnum: int = 0,
    check: bool = True,
    compile: Compile | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f` as a sparse matrix.

    Columns that share no row are computed together, in one forward derivative (:func:`jvp`): a
    tridiagonal Jacobian takes three, however large it is.

    Parameters
    ----------
    f : callable
        Function of an array that returns an array or a number; it may work in place.
    pattern : sparse matrix or ndarray, shape (m, n), optional
        Where the Jacobian may differ from zero: all entries that a sparse matrix stores, all
        nonzero ones of an array.  Without it, the pattern is detected at the first call, and again
        where a check finds that entries have become nonzero.
    argnum : int, optional
        The position of the array among the arguments.
    check : bool, optional
        If true, compare each result with one more derivative, along a random direction.
    compile : bool or "auto", optional
        As for :func:`jvp`.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns a ``scipy.sparse.csr_array`` of shape (m, n) in
        new memory, for an output of m entries and an array of n entries, in C order.

    Raises
    ------
    SparsityError
        If `pattern` lacks an entry that is not zero, or has another shape.
    InvalidTangentError
        If the argument is not an array of floats.
    ModuleNotFoundError
        If SciPy is not installed.

    Notes
    -----
    Detection takes some products with random vectors: about ``3 w log2(n)`` for a band of width
    `w`, at most about ``n``.  It finds the entries that are not zero at the point of the call; an
    entry that a branch of `f` makes nonzero elsewhere is found there by the check, which then joins
    the patterns.  Two entries of one row that cancel along the random direction are not found.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import sparse_jacobian
    >>> def step(u):
    ...     u[1:-1] += 0.5 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    ...     return u
    >>> J = sparse_jacobian(step)(np.array([1.0, 2.0, 4.0, 8.0]))
    >>> J.toarray()
    array([[ 1. ,  0. ,  0. ,  0. ],
           [ 1. , -0.5,  1. ,  0. ],
           [ 0. ,  2. , -2. ,  2. ],
           [ 0. ,  0. ,  0. ,  1. ]])
    """
    return matrix_of(f, lambda of_array: of_array, pattern, argnum, check, compile)


def sparse_hessian(
    f: Callable[..., Any],
    pattern: Any = None,
    *,
    argnum: int = 0,
    check: bool = True,
    compile: Compile | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f` as a sparse matrix.

    As :func:`sparse_jacobian`, of the gradient of `f`: each colour takes one forward derivative
    over the gradient.

    Parameters
    ----------
    f : callable
        Function of an array that returns a number.
    pattern, argnum, check, compile
        As for :func:`sparse_jacobian`; the pattern has shape (n, n).

    Returns
    -------
    callable
        Takes the arguments of `f` and returns a ``scipy.sparse.csr_array`` of shape (n, n).

    Raises
    ------
    SparsityError, InvalidTangentError, ModuleNotFoundError
        As :func:`sparse_jacobian`.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import sparse_hessian
    >>> H = sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))(np.array([1.0, 2.0, 3.0]))
    >>> H.toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    return matrix_of(f, grad, pattern, argnum, check, compile)


def matrix_of(
    f: Callable[..., Any],
    differentiated: Callable[[Callable[[ndarray], Any]], Callable[[ndarray], Any]],
    given: Any,
    argnum: int,
    check: bool,
    compile: Compile | None,
) -> Callable[..., Any]:
    """Return the function that computes the Jacobian of what is made of `f`, by a pattern."""
    require_callable(f)
    name = name_of(f)
    sparse = import_optional("scipy.sparse", "compile", f"sparse derivatives of {name}")
    known: Pattern | None = None if given is None else pattern_of(given, sparse)

    def matrix(*args: Any, **kwargs: Any) -> Any:
        nonlocal known
        x = require_array(name, args, argnum)
        before, after = args[:argnum], args[argnum + 1 :]
        g = differentiated(lambda x: f(*before, x, *after, **kwargs))

        def along(vectors: list[ndarray]) -> list[ndarray]:
            tangents = [(v.reshape(x.shape),) for v in vectors]
            y, found = jvp(g, (x,), tangents, compile=compile)
            require_real(name, y)
            return [np.ravel(dy) for dy in found]

        # Other numbers than those of a detection, which would miss what cancels there.
        random = np.random.default_rng(1).uniform(0.5, 1.5, x.size).astype(x.dtype)
        pattern = known
        if pattern is None:
            rows = along([random])[0].size
            pattern = known = detected(along, rows, x.size, x.dtype)
        found = filled(pattern, along, x, random, check)
        if found is None and given is None:
            pattern = known = pattern.joined(detected(along, pattern.shape[0], x.size, x.dtype))
            found = filled(pattern, along, x, random, check)
        if found is None:
            raise lacks(name)
        return sparse.csr_array((found, (pattern.rows, pattern.columns)), pattern.shape)

    return matrix


def filled(
    pattern: Pattern, along: Products, x: ndarray, random: ndarray, check: bool
) -> ndarray | None:
    """Return the entries of a pattern; None if a product with them is not that with the matrix."""
    rows, columns, shape, colours = pattern
    vectors = compressed(pattern, x.dtype)
    found = along([*vectors, random] if check else vectors)
    sizes = {column.size for column in found} or {shape[0]}
    if shape != (*sizes, x.size):
        raise SparsityError(
            f"the pattern has shape {shape}, the matrix {(*sizes, x.size)}",
            fix="a row for each entry of the output, a column for each entry of the array",
        )
    entries = np.array(found).reshape(len(found), shape[0])[colours[columns], rows]
    if check:
        terms = entries * random[columns]
        product = np.bincount(rows, terms, shape[0])
        scale = np.bincount(rows, np.abs(terms), shape[0]) + np.abs(found[-1])
        apart = np.abs(product - found[-1]) > CLOSE * np.finfo(x.dtype).eps * scale
        if np.any(apart):
            return None
    return entries


def require_array(name: str, args: tuple[Any, ...], argnum: int) -> ndarray:
    """Return the array by which to differentiate, or raise."""
    if argnum >= len(args):
        raise InvalidTangentError(
            f"{name} was called with {len(args)} positional arguments, but argnum={argnum}",
            fix="pass the array by position",
        )
    x = args[argnum]
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        kind = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
        raise InvalidTangentError(
            f"a sparse derivative is by an array of floats, not by {with_article(str(kind))}",
            fix="pass an array of floats; `flatten` makes one of a structure",
        )
    return x


def require_real(name: str, y: Any) -> None:
    """Raise unless an output is an array of floats or a float."""
    if isinstance(y, float) or (isinstance(y, (np.ndarray, np.generic)) and y.dtype.kind == "f"):
        return
    kind = f"array of {y.dtype}" if isinstance(y, np.ndarray) else type(y).__name__
    raise InvalidTangentError(
        f"{name} returned {with_article(kind)}, which has no sparse derivative",
        why="rows are the entries of one array of floats, or one float",
        fix="return one, for example by np.concatenate, or use `jacobian`",
    )


def pattern_of(given: Any, sparse: Any) -> Pattern:
    """Return the pattern that a user gives."""
    if np.ndim(given) != 2:
        raise SparsityError(
            f"a sparsity pattern has two axes, not {np.ndim(given)}",
            fix="a row for each entry of the output, a column for each entry of the array",
        )
    if sparse.issparse(given):
        stored = given.tocoo()
        rows, columns = stored.coords if hasattr(stored, "coords") else (stored.row, stored.col)
    else:
        given = np.asarray(given)
        rows, columns = np.nonzero(given)
    return Pattern.of(np.asarray(rows), np.asarray(columns), given.shape)


def lacks(name: str) -> SparsityError:
    """Return the error for a pattern that lacks entries."""
    return SparsityError(
        f"the pattern lacks entries of the derivative of {name} that are not zero",
        why="a derivative along a random direction differs from the product with the matrix",
        fix="give all entries that may differ from zero, or leave the pattern out: it is detected",
    )
