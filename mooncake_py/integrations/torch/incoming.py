"""Functions written with PyTorch, in NumPy code; needs the extra ``torch``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.integrations.structure import (
    FlatFunction,
    Nesting,
    like_arguments,
    nested,
    replacing,
    with_derivative,
)
from mooncake_py.integrations.torch.arrays import as_numpy, as_tensor, is_differentiable
from mooncake_py.optional import import_optional
from mooncake_py.rules.declare import from_vjp

__all__ = ["from_torch"]

torch = import_optional("torch", "torch", __name__)


def from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy arrays with the values and the derivative of a PyTorch function.

    Parameters
    ----------
    function : callable
        Of tensors and numbers, and of dicts, tuples and lists of these in one another; a module
        for instance.  It returns the like.

    Returns
    -------
    callable
        Takes and returns the same with NumPy arrays and Python's numbers, by position.  Its
        derivative is that of ``torch.autograd``, for those arrays and numbers only that are
        floats or complex; parameters of a module are constants.

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

    def run(nesting: Nesting, *leaves: Any) -> list[Any]:
        with torch.no_grad():
            return list(map(as_numpy, nesting.called(function, [*map(as_tensor, leaves)])))

    flat = FlatFunction(function, run)

    def jvp(tangents: Any, y: Any, nesting: Nesting, *leaves: Any) -> list[Any]:
        moved = [i for i, t in enumerate(tangents[1:]) if t is not None]
        primals = tuple(torch.as_tensor(as_tensor(leaves[i])) for i in moved)
        along = tuple(
            torch.as_tensor(as_tensor(np.asarray(tangents[i + 1]))).to(p.dtype)
            for i, p in zip(moved, primals, strict=True)
        )

        has_tangent: list[bool] = []

        def of_moved(*values: Any) -> tuple[Any, ...]:
            copies = [value.clone() for value in values]  # the function may change them in place
            given = replacing(map(as_tensor, leaves), moved, copies)
            outputs = nesting.called(function, given)
            has_tangent[:] = map(is_differentiable, outputs)
            return tuple(filter(is_differentiable, outputs))

        found = iter(torch.autograd.functional.jvp(of_moved, primals, along)[1])
        return [as_numpy(next(found)) if has else None for has in has_tangent]

    @from_vjp(flat, jvp=jvp)
    def rule(nesting: Nesting, *leaves: Any) -> tuple[list[Any], Callable[[Any], Any]]:
        wanted = with_derivative(leaves)
        tensors = list(map(as_tensor, leaves))
        with torch.enable_grad():
            for i in wanted:
                # A number must be a tensor to have a gradient.
                tensors[i] = torch.as_tensor(tensors[i]).requires_grad_()
            # A copy, as a leaf that wants a gradient cannot be changed in place.
            copies = [t.clone() if torch.is_tensor(t) else t for t in tensors]
            outputs = nesting.called(function, copies)

        def pullback(dy: Any) -> tuple[Any, ...]:
            pairs = [
                (o, as_tensor(np.asarray(d)).to(o.dtype).expand(o.shape))
                for o, d in zip(outputs, dy, strict=True)
                if d is not None and torch.is_tensor(o) and o.requires_grad
            ]
            found: Any = [None] * len(wanted)
            if pairs:
                found = torch.autograd.grad(
                    [output for output, _ in pairs],
                    [tensors[i] for i in wanted],
                    [cotangent for _, cotangent in pairs],
                    retain_graph=True,
                    allow_unused=True,
                )
            gradients = [None if g is None else as_numpy(g) for g in found]
            return like_arguments(leaves, wanted, gradients)

        return list(map(as_numpy, outputs)), pullback

    return nested(flat)
