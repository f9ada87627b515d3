"""Hessians and their products, in terms of `jvp`, `grad` and Jacobians.

This is ordinary code: inside another derivative it is differentiated like the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, SupportsFloat, TypeVar, cast

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.apart import arguments_apart
from mooncake_py.boundary.arguments import (
    ArgNums,
    choose_arguments,
    name_of,
    refuse_foreign,
)
from mooncake_py.compiled_columns import compiled_hessian
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import (
    InvalidTangentError,
    NonScalarOutputError,
)
from mooncake_py.hessian_vectors import require_fitting, require_product
from mooncake_py.interface import grad, jvp, value_and_grad
from mooncake_py.jacobian_blocks import arranged, collect, real_leaves, refilled
from mooncake_py.jacobians import (
    Program,
    blocks_of,
    jacobian,
    of_chosen,
)
from mooncake_py.language.draws import Draws
from mooncake_py.modes.reverse.settings import compiling
from mooncake_py.modes.reverse.whole_or_parts import whole_or_parts
from mooncake_py.pickling import Remade
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.recomputation.units import unit_parts, variables_in
from mooncake_py.runtime.compilation import Compile, require_setting
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.utilities.structures import copied

__all__ = ["hessian", "hessian_diagonal", "hvp", "value_and_hvp", "value_grad_and_hessian"]

P = ParamSpec("P")
Value = TypeVar("Value", bound=SupportsFloat)
Direction = TypeVar("Direction", bound=Any)


def hessian(
    f: Callable[P, SupportsFloat],
    argnums: ArgNums = 0,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[P, Any]:
    """Return a function that computes the Hessian of `f`, which returns one real number.

    The parameters and the structure of the result are those of :func:`jacobian` of ``grad(f,
    argnums)``: for an argument of shape ``(n, ...)`` an array of shape ``(n, ..., n, ...)``. Each
    column is one product of the Hessian with a unit vector (:func:`hvp`), for which `f` runs again.

    Examples
    --------
    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    asked: Any = {"compile": compile, "compile_timeout": compile_timeout}
    by_columns = jacobian(grad(f, argnums), argnums, mode="forward", **asked)

    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        if enclosing() is None and not kwargs:
            with boundary, compiling(**asked):
                found = compiled_hessian(f, argnums, args)
            if found is not None:
                return found[2]
        return by_columns(*args, **kwargs)

    return Remade(hessian_of, partial(hessian, **asked), f, argnums)


def hvp(
    f: Callable[..., SupportsFloat],
    args: tuple[Any, ...],
    v: Direction,
    argnums: ArgNums = 0,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Direction:
    """Return the product of the Hessian of `f` with `v`.

    Parameters
    ----------
    f : callable
        Function that returns one real number.
    args : tuple
        The arguments of `f`.
    v : object
        The vector, in the structure of the chosen argument; for a tuple of `argnums` a tuple of
        these.
    argnums : int, str or tuple, optional
        The arguments to differentiate with respect to.
    compile : bool or "auto", optional
        If true, compile the functions that run, if possible; "auto" lets them run as without until
        a thread has compiled them.  None means the setting of :func:`compile_mode`.
    compile_timeout : float, optional
        How many seconds a call waits at most for what is compiled; then it runs as without.

    Returns
    -------
    object
        The product, in the structure of `v`.

    Notes
    -----
    The engine differentiates the derivative of `f` along `v` in reverse mode, at the cost of a few
    gradients (Pearlmutter, 1994).

    Examples
    --------
    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    with boundary:
        again = None
        asked = compile is True and compile_timeout is None
        if asked and type(args) is tuple and enclosing() is None:
            # Only for those who compile.
            from mooncake_py.modes.forward.whole_again import product_again

            again = product_again(f, argnums)
            found: Any = None if again is None else again(f, args, v)
            if found is not None:
                return found
        require_product("hvp", f, args, v, argnums)
        try:
            with compiling(compile, compile_timeout=compile_timeout):
                _, product = value_and_product(f, args, v, argnums)
        except InvalidTangentError:
            require_fitting(f, args, v, argnums)
            raise
        if again is not None:
            again.ran(f, args, v)
        return product


def value_and_product(f: Any, args: tuple[Any, ...], v: Any, argnums: ArgNums) -> tuple[Any, Any]:
    """Return the value, and the product of the Hessian with `v`."""
    v = copied(v)  # it may share memory with an argument
    several = isinstance(argnums, tuple)
    tangents = v if several else (v,)

    def whole(*, in_text: bool) -> tuple[Any, Any] | None:
        found = whole_product(f, args, tangents, argnums, in_text=in_text)
        if found is None:
            return None
        value, _, products = found
        return value, products if several else products[0]

    def in_parts() -> tuple[Any, Any]:
        return product_in_parts(f, args, tangents, argnums)

    return whole_or_parts("product with the Hessian", f, args, whole, in_parts)


def product_in_parts(f: Any, args: tuple[Any, ...], tangents: Any, argnums: ArgNums) -> Any:
    """Return the value, and the product of the Hessian, operation by operation."""
    several = isinstance(argnums, tuple)
    with arguments_apart(f, argnums, args, {}) as apart:
        function, values = of_chosen(f, apart)
        # Only for those who use it.
        from mooncake_py.nesting.products import hessian_product

        found = hessian_product(f, function, values, tangents)
        if found is None:

            def along(values: Any) -> Any:
                y, dy = jvp(function, (values,), (tangents,))
                if np.size(y) != 1:
                    raise not_a_number(f, y)
                return dy if np.ndim(dy) == 0 else np.sum(dy), y

            products, value = grad(along, has_aux=True)(values)
        else:
            value, products = found
        return value, products if several else products[0]


def whole_product(
    f: Any,
    args: tuple[Any, ...],
    tangents: Any,
    argnums: ArgNums,
    *,
    with_gradient: bool = False,
    in_text: bool,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]] | None:
    """Return value, gradients and products of a function that runs whole, else None."""
    # Only where functions run whole.
    from mooncake_py.modes.forward.whole import products_of_whole

    chosen = choose_arguments(f, argnums, args, {})
    if not issubclass(type(tangents), tuple) or len(tangents) != len(chosen):
        return None  # the general way says what is wrong
    found = products_of_whole(
        f, chosen, args, [tangents], with_gradient=with_gradient, in_text=in_text
    )
    return None if found is None else (*found[:2], found[2][0])


def value_and_hvp(
    f: Callable[..., Value],
    args: tuple[Any, ...],
    v: Direction,
    argnums: ArgNums = 0,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> tuple[Value, Direction, Direction]:
    """Return the value and the gradient of `f`, and the product of its Hessian with `v`.

    The parameters are those of :func:`hvp`.

    Returns
    -------
    value, gradient, product : object
        The value is a number; gradient and product have the structure of `v`.

    Notes
    -----
    Use this function for Newton's method with conjugate gradients, line searches and trust regions.
    One run gives all three results: the derivative of `f` along `v` is linear in `v`, and its
    coefficients are the gradient.

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient, product = value_and_hvp(
    ...     lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 10.0])
    ... )
    >>> float(value)
    9.0
    >>> gradient
    array([ 3., 12.])
    >>> product
    array([  6., 120.])
    """
    with boundary:
        require_product("value_and_hvp", f, args, v, argnums)
        try:
            with compiling(compile, compile_timeout=compile_timeout):
                return value_gradient_product(f, args, v, argnums)
        except InvalidTangentError:
            require_fitting(f, args, v, argnums)
            raise


def value_gradient_product(
    f: Any, args: tuple[Any, ...], v: Any, argnums: ArgNums
) -> tuple[Any, Any, Any]:
    """Return the value, the gradient, and the product of the Hessian with `v`."""
    v = copied(v)  # it may share memory with an argument
    several = isinstance(argnums, tuple)
    tangents: Any = v if several else (v,)

    def whole(*, in_text: bool) -> Any:
        return whole_product(f, args, tangents, argnums, with_gradient=True, in_text=in_text)

    def in_parts() -> tuple[Any, Any, Any]:
        return products_in_parts(f, args, tangents, argnums)

    value, gradients, products = whole_or_parts("gradient and product", f, args, whole, in_parts)
    return (value, gradients, products) if several else (value, gradients[0], products[0])


def products_in_parts(
    f: Any, args: tuple[Any, ...], tangents: Any, argnums: ArgNums
) -> tuple[Any, Any, Any]:
    """Return the value, the gradients and the products, operation by operation."""
    with arguments_apart(f, argnums, args, {}) as apart:
        function, values = of_chosen(f, apart)
        # Only for those who use it.
        from mooncake_py.nesting.products import value_gradient_and_product

        found = value_gradient_and_product(f, function, values, tangents)
        if found is None:
            both = value_and_grad(function)
            (value, gradients), (_, products) = jvp(both, (values,), (tangents,))
        else:
            value, gradients, products = found
        return value, gradients, products


def value_grad_and_hessian(
    f: Callable[P, Value],
    argnums: ArgNums = 0,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[P, tuple[Value, Any, Any]]:
    """Return a function that computes ``(value, gradient, Hessian)`` of `f`.

    If `f` draws random numbers, all runs draw the same.  The parameters are those of
    :func:`hessian`.

    Examples
    --------
    >>> value_grad_and_hessian(lambda x: x ** 3)(2.0)
    (8.0, 12.0, 12.0)
    """
    asked: Any = {"compile": compile, "compile_timeout": compile_timeout}
    require_setting(**asked)

    def all_three(*args: Any, **kwargs: Any) -> Any:
        if enclosing() is None and not kwargs:
            with boundary, compiling(**asked):
                whole = compiled_hessian(f, argnums, args)
            if whole is not None:
                return whole
        with compiling(**asked), arguments_apart(f, argnums, args, kwargs) as apart:
            function, values = of_chosen(f, apart)
            leaves, several = real_leaves(f, apart.chosen, values), isinstance(argnums, tuple)

            def gradient_first(values: Any) -> Any:
                value, gradients = value_and_grad(function)(values)
                return gradients if several else gradients[0], value

            program = Program(f, gradient_first, has_aux=True)
            gradient, value, blocks = blocks_of(program, values, leaves, "forward")
            return value, gradient, arranged(blocks, values, several)

    return Remade(all_three, partial(value_grad_and_hessian, **asked), f, argnums)


def hessian_diagonal(
    f: Callable[..., SupportsFloat],
    argnum: ArgNums = 0,
    *,
    compile: Compile | None = None,
    compile_timeout: float | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the diagonal of the Hessian, in the shape of the argument.

    The function computes one product with the Hessian for each element, and keeps one column at a
    time.  The parameters are those of :func:`hessian`; for lists, tuples and dicts, and for a tuple
    of arguments, the diagonal has their structure.

    Examples
    --------
    >>> import numpy as np
    >>> hessian_diagonal(lambda x: np.sum(x ** 3) * x[0])(np.array([1.0, 2.0]))
    array([12., 12.])
    """
    asked: Any = {"compile": compile, "compile_timeout": compile_timeout}
    require_setting(**asked)

    def diagonal_of(*args: Any, **kwargs: Any) -> Any:
        chosen = choose_arguments(f, argnum, args, kwargs)
        function, args, positions = in_positions(f, chosen, args, kwargs)
        values = tuple([args[k] for k in positions])
        for key, value in zip(chosen, values, strict=True):
            refuse_foreign(f, key, value)
        leaves, variables = real_leaves(f, chosen, values), variables_in(values)
        several = isinstance(argnum, tuple)
        draws, runs = Draws(), Runs(f)

        def column(k: int, i: int) -> Any:
            v = refilled(values, unit_parts(leaves, variables, k, i))
            with compiling(**asked), draws.run(), runs.run():
                value, product = (
                    value_and_product(function, args, v, positions)
                    if several
                    else value_and_product(function, args, v[0], positions[0])
                )
            runs.agree(value, product, args)
            found: list[Any] = []
            collect(product, found)
            return found[k]

        def diagonal(k: int, leaf: Any) -> Any:
            if not issubclass(type(leaf), ndarray):
                return column(k, 0)
            found = [np.reshape(column(k, i), -1)[i] for i in range(np.size(leaf))]
            return np.array(found).reshape(np.shape(leaf))

        diagonals = [diagonal(k, leaf) for k, leaf in enumerate(leaves)]
        found = refilled(values, diagonals)
        return found if several else found[0]

    return Remade(diagonal_of, partial(hessian_diagonal, **asked), f, argnum)


def in_positions(
    f: Any, chosen: list[int | str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
    """Return a function without keywords, its arguments, and where the chosen ones are in these."""
    if not kwargs:
        return f, args, cast("tuple[int, ...]", tuple(chosen))
    names, count = [*kwargs], len(args)

    def function(*everything: Any) -> Any:
        return f(*everything[:count], **dict(zip(names, everything[count:], strict=True)))

    positions = [key if isinstance(key, int) else count + names.index(key) for key in chosen]
    return function, (*args, *kwargs.values()), tuple(positions)


def not_a_number(f: Any, y: Any) -> NonScalarOutputError:
    """Return the error for the Hessian of a function that does not return one number."""
    return NonScalarOutputError(
        f"{name_of(f)} returned an array of shape {np.shape(y)}, but a Hessian needs one number",
        fix="reduce it, for example with np.sum",
    )
