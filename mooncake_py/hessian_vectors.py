"""The vectors that Hessians are multiplied by: errors where they do not fit the arguments."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import (
    ArgNums,
    choose_arguments,
    not_differentiable,
    require_callable,
)
from mooncake_py.boundary.outputs import described, has_shape, part_of, parts_of
from mooncake_py.errors import InvalidTangentError, NonDifferentiableArgumentError
from mooncake_py.jacobian_blocks import is_leaf
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.utilities.structures import holds_numbers
from mooncake_py.words import text_of_key, with_article

__all__ = ["require_fitting", "require_product"]


def require_product(name: str, f: Any, args: Any, v: Any, argnums: ArgNums) -> None:
    """Raise if the arguments of a product with a Hessian are not those that it takes."""
    require_callable(f)
    require_tuple(name, args)
    require_one_vector(name, f, args, v, argnums)


def require_tuple(name: str, args: Any) -> None:
    """Raise if the arguments of a function are not given as a tuple."""
    if not issubclass(type(args), tuple):
        raise InvalidTangentError(
            f"{name} takes a tuple of arguments, not {with_article(type(args).__name__)}",
            fix=f"{name}(f, (x,), v) for a function of one argument",
        )


def require_one_vector(name: str, f: Any, args: tuple[Any, ...], v: Any, argnums: ArgNums) -> None:
    """Raise if there are not as many vectors as chosen arguments."""
    is_vector = isinstance(argnums, (ndarray, float, complex))
    if is_vector or (isinstance(argnums, list) and not all(isinstance(k, int) for k in argnums)):
        raise NonDifferentiableArgumentError(
            f"{name} takes one `v`, and got something else where argnums belong: {argnums!r}",
            why="the vectors for several arguments are a tuple, and argnums says for which",
            fix=f"{name}(f, (x, y), (vx, vy), argnums=(0, 1))",
        )
    if isinstance(argnums, tuple) and issubclass(type(v), (tuple, list)) and len(v) != len(argnums):
        raise InvalidTangentError(
            f"v holds {len(v)} vectors, but argnums={argnums!r}",
            fix="pass one vector for each chosen argument, None for zero",
        )
    if type(v) is not tuple or isinstance(argnums, tuple) or len(v) != len(args):
        return
    [chosen] = choose_arguments(f, argnums, args, {})
    x: Any = args[cast("int", chosen)]
    if isinstance(x, (float, complex, np.number, ndarray)) and not has_shape(v, np.shape(x)):
        raise InvalidTangentError(
            f"v is a tuple of {len(v)}, but argnums={argnums!r}",
            why="with one argument chosen, v has the structure of that argument",
            fix=f"pass argnums={tuple(range(len(v)))} for a vector for each argument, or only "
            "that of the chosen one",
        )


def require_fitting(f: Any, args: tuple[Any, ...], v: Any, argnums: ArgNums) -> None:
    """Raise if `v` has not the structure of the chosen arguments, with the name of the part."""
    chosen = choose_arguments(f, argnums, args, {})
    values = [args[cast("int", key)] for key in chosen]
    for key, x in zip(chosen, values, strict=True):
        if not is_leaf(x) and not holds_numbers(x):
            raise not_differentiable(f, key, x)
    if isinstance(argnums, tuple):
        for k, (x, given) in enumerate(zip(values, v, strict=True)):
            require_fitting_part(x, given, f"v[{k}]")
    else:
        require_fitting_part(values[0], v, "v")


def require_fitting_part(x: Any, v: Any, path: str, above: frozenset[int] = frozenset()) -> None:
    """Raise if a part of `v` does not fit its part of an argument."""
    if v is None or type(v) is NoTangent or id(x) in above:
        return
    if is_leaf(x):
        if not has_shape(v, np.shape(x)):
            raise unfit(path, f"an array of shape {np.shape(x)}" if np.ndim(x) else "a number", v)
        return
    fields = spec_of(x).fields(x)
    if fields is None:
        return
    found = parts_of(fields.keys(), v, path, unfit)
    for key, part in fields.items():
        given = part_of(found, key, v, path, unfit)
        require_fitting_part(part, given, f"{path}[{text_of_key(key)}]", above | {id(x)})


def unfit(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a vector that does not fit the argument."""
    return InvalidTangentError(
        f"{path} does not fit the argument: expected {expected}, got {described(got)}",
        why="a Hessian is multiplied by a vector with a number for each of the argument",
        fix="pass v in the structure and the shapes of the chosen argument",
    )
