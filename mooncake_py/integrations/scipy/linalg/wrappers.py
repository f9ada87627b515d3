"""How wrappers of BLAS and LAPACK take arrays: cast to their kind, overwritten where permitted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.rules.declare import from_vjp, not_implemented, overlay, zero_derivative
from mooncake_py.rules.plain_values import same_values

__all__ = ["KINDS", "each_kind", "merged", "replaces", "triangle"]

KINDS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
Places = tuple[str | None, ...]


def each_kind(
    module: Any, name: str, kinds: str = "sdcz", *, into: Places = (), in_place: bool = False
) -> Callable[[Any], Any]:
    """Replace a wrapper of every kind by the function that is made for its dtype.

    Parameters
    ----------
    module, name, kinds
        The wrappers are ``module.<kind><name>``.
    into : tuple
        For each output the name of the argument whose memory it takes if that may be overwritten,
        or None.  Further outputs have memory of their own.
    in_place : bool
        Whether the arguments `into` are overwritten in any case, without an option.
    """

    def declare(made_for: Callable[[Any], Any]) -> Any:
        for kind in kinds:
            wrapper = getattr(module, kind + name)
            replaces(wrapper, KINDS[kind], into=into, in_place=in_place)(made_for(KINDS[kind]))
        return made_for

    return declare


def replaces(
    wrapper: Any, dtype: Any, *, into: Places = (), in_place: bool = False
) -> Callable[[Any], Any]:
    """Replace a wrapper by a function of its arguments without the options to overwrite.

    The function may return None for an output that has no derivative, and raises `LinAlgError` if
    none has; whoever uses them is told.
    """

    def declare(replacement: Callable[..., Any]) -> Any:
        overlay(wrapper)(with_values_of_wrapper(wrapper, replacement, dtype, into, in_place))
        return replacement

    return declare


def with_values_of_wrapper(
    wrapper: Any, replacement: Callable[..., Any], dtype: Any, into: Places, in_place: bool
) -> Callable[..., Any]:
    """Return a replacement with the values of the wrapper, which overwrites nothing for them."""
    names = positional_names(wrapper, replacement)
    copied = into if in_place else ()
    again = partial(result_of_copies, wrapper, copied=copied, dtype=dtype)

    def run(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        taken = {name: v for name, v in given.items() if not name.startswith("overwrite_")}
        plain = result_of_copies(wrapper, taken, copied, dtype)
        outputs = plain if isinstance(plain, tuple) else (plain,)
        try:
            found = replacement(**taken)
        except np.linalg.LinAlgError:
            found = (None,) * len(outputs)
        found = found if isinstance(plain, tuple) else (found,)
        sources = tuple(taken.values())
        results = [
            undetermined(p, *sources)
            if f is None
            else same_values(f, p, wrapper, taken, again, (i,) if isinstance(plain, tuple) else ())
            for i, (f, p) in enumerate(zip(found, outputs, strict=True))
        ]
        for i, name in enumerate(into):
            overwrites = in_place or given.get(f"overwrite_{name}")
            if name is not None and is_in_place(given.get(name), overwrites, dtype):
                given[name][...] = results[i]
                results[i] = given[name]
        return tuple(results) if isinstance(plain, tuple) else results[0]

    return run


def result_of_copies(wrapper: Any, given: dict[str, Any], copied: Places, dtype: Any) -> Any:
    """Return the result of a wrapper that overwrites copies of arguments."""
    return wrapper(**{n: np.array(v, dtype) if n in copied else v for n, v in given.items()})


zero_derivative(result_of_copies, because="held: the replacement has the derivative")


def positional_names(wrapper: Any, replacement: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a wrapper in order, options to overwrite after all others.

    Text of a wrapper looks like ``x,info = dpotrs(c,b,[lower,overwrite_b])``.
    """
    parameters = inspect.signature(replacement).parameters
    names = tuple(n for n, p in parameters.items() if p.kind is not p.VAR_KEYWORD)
    line = (wrapper.__doc__ or "").partition("\n")[0]
    listed = line.rpartition("(")[2].rstrip(")").replace("[", "").replace("]", "").split(",")
    return tuple(listed) if set(names) <= set(listed) else names


def is_in_place(array: Any, overwrite: Any, dtype: Any) -> bool:
    """Return True if a wrapper that may overwrite an array works in it, not in a copy."""
    return (
        bool(overwrite)
        and isinstance(array, ndarray)
        and array.dtype == dtype
        and array.flags.f_contiguous
    )


# Outputs without a derivative.

NO_DERIVATIVE = not_implemented("this output of a wrapper of BLAS or LAPACK")


def undetermined(plain: Any, *sources: Any) -> Any:
    """Return an output of a wrapper; to use its derivative in one of the arguments is an error."""
    return laid_out_copy(plain) if isinstance(plain, ndarray) else plain


def undetermined_jvp(tangents: Any, y: Any, *args: Any) -> Any:
    """Return nan: forward mode does not know whether the output will be used."""
    return np.full(np.shape(y), np.nan)[()] if np.asarray(y).dtype.kind in "fc" else None


@from_vjp(undetermined, jvp=undetermined_jvp)
def undetermined_rule(plain: Any, *sources: Any) -> tuple[Any, Any]:
    def undetermined_pullback(dy: Any) -> Any:
        return (None, *[NO_DERIVATIVE if np.any(dy) else None for _ in sources])

    return undetermined(plain, *sources), undetermined_pullback


# Triangles, of which wrappers read one.


def triangle(a: ndarray, lower: Any, unit: Any = False) -> ndarray:
    """Return the triangle of a matrix that is read, with zeros in the other one."""
    if unit:
        strict = np.tril(a, -1) if lower else np.triu(a, 1)
        return strict + np.eye(len(a), dtype=a.dtype)
    return np.tril(a) if lower else np.triu(a)


def merged(new: ndarray, old: Any, lower: Any, unit: Any = False) -> ndarray:
    """Return the triangle that is written of `new`, and the elements of `old` elsewhere."""
    k = 1 if unit else 0
    written = np.tri(len(new), k=-k, dtype=bool) if lower else np.tri(len(new), k=-k, dtype=bool).T
    return np.where(written, new, old)
