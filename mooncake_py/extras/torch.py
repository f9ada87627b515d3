"""Functions written with PyTorch, in NumPy code; needs the extra ``torch``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.extras.structure import (
    ForeignFunction,
    differentiable_positions,
    has_derivative,
    like_arguments,
    mapped,
    replacing,
)
from mooncake_py.optional import import_optional
from mooncake_py.rules.declare import from_vjp

__all__ = ["from_torch"]

torch = import_optional("torch", "torch", __name__)


def from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy arrays with the values and the derivative of a PyTorch function.

    Parameters
    ----------
    function : callable
        Of tensors and numbers, a module for instance; it returns a tensor, a number, or a tuple
        or list of these.

    Returns
    -------
    callable
        Takes and returns NumPy arrays and Python's numbers.  Its derivative is that of
        ``torch.autograd``, for those arguments only that are floats or complex; parameters of a
        module are constants.

    Notes
    -----
    Arrays are copied on their way in and out, so the function may work in place on its tensors.
    An active number becomes a tensor without axes.  PyTorch's convention for complex gradients
    is ours.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import grad
    >>> norm = from_torch(lambda x: torch.sqrt((x * x).sum()))
    >>> def f(x):
    ...     x[0] *= 2.0
    ...     return norm(x)
    >>> grad(f)(np.array([1.5, 4.0]))
    array([1.2, 0.8])
    """

    def run(*args: Any) -> Any:
        with torch.no_grad():
            return mapped(as_numpy, function(*map(as_tensor, args)))

    of_arrays = ForeignFunction(function, run)

    def jvp(tangents: Any, y: Any, *args: Any) -> Any:
        moved = [i for i, t in enumerate(tangents) if t is not None]
        primals = tuple(torch.as_tensor(as_tensor(args[i])) for i in moved)
        along = tuple(
            torch.as_tensor(as_tensor(np.asarray(tangents[i]))).to(p.dtype)
            for i, p in zip(moved, primals, strict=True)
        )

        def of_moved(*values: Any) -> Any:
            copies = [value.clone() for value in values]  # the function may change them in place
            return flattened(function(*replacing(map(as_tensor, args), moved, copies)))

        found = iter(torch.autograd.functional.jvp(of_moved, primals, along)[1])
        return tangent_like(y, found)

    @from_vjp(of_arrays, jvp=jvp)
    def rule(*args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
        of_arrays.refuse(kwargs)
        wanted = differentiable_positions(args)
        tensors = list(map(as_tensor, args))
        with torch.enable_grad():
            for i in wanted:
                # A number must be a tensor to have a gradient.
                tensors[i] = torch.as_tensor(tensors[i]).requires_grad_()
            # A copy, as a leaf that wants a gradient cannot be changed in place.
            out = function(*(t.clone() if torch.is_tensor(t) else t for t in tensors))
        y = mapped(as_numpy, out)

        def pullback(dy: Any) -> tuple[Any, ...]:
            pairs = [
                (o, as_tensor(np.asarray(d)).to(o.dtype).expand(o.shape))
                for o, d in paired(out, dy)
            ]
            found: Any = [None] * len(wanted)
            if pairs:
                outputs, cotangents = zip(*pairs, strict=True)
                found = torch.autograd.grad(
                    outputs,
                    [tensors[i] for i in wanted],
                    cotangents,
                    retain_graph=True,
                    allow_unused=True,
                )
            gradients = [None if g is None else as_numpy(g) for g in found]
            return like_arguments(args, wanted, gradients)

        return y, pullback

    return of_arrays


def as_tensor(value: Any) -> Any:
    """Return a copy of an array as a tensor; anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return torch.from_numpy(np.array(value, order="C"))
    return value


def as_numpy(value: Any) -> Any:
    """Return a copy of a tensor as an array, a number for one without axes."""
    if not torch.is_tensor(value):
        return value
    array = value.detach().resolve_conj().resolve_neg().cpu().numpy().copy()
    return array if array.ndim else array[()]


def paired(out: Any, dy: Any) -> list[tuple[Any, Any]]:
    """Return the outputs through which a derivative flows, with their cotangents."""
    if dy is None:
        return []
    if isinstance(out, (tuple, list)):
        return [pair for o, d in zip(out, dy, strict=True) for pair in paired(o, d)]
    return [(out, dy)] if torch.is_tensor(out) and out.requires_grad else []


def flattened(out: Any) -> tuple[Any, ...]:
    """Return the outputs that can have a derivative, in order."""
    if isinstance(out, (tuple, list)):
        return tuple(leaf for part in out for leaf in flattened(part))
    return (out,) if torch.is_tensor(out) and (out.is_floating_point() or out.is_complex()) else ()


def tangent_like(y: Any, found: Any) -> Any:
    """Return the tangents of the outputs in the structure of what was returned."""
    if isinstance(y, (tuple, list)):
        return type(y)(tangent_like(part, found) for part in y)
    return as_numpy(next(found)) if has_derivative(y) else None
