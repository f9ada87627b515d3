"""NumPy code as a function of PyTorch's tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.integrations.outgoing import FlatCall, FlatDerivatives, refused_output
from mooncake_py.integrations.structure import filled, has_derivative, replacing
from mooncake_py.integrations.torch.arrays import as_numpy, as_tensor, is_differentiable
from mooncake_py.optional import import_optional

__all__ = ["to_torch"]

torch = import_optional("torch", "torch", __name__)

WITHOUT_DERIVATIVE = (int, str, bytes)
"""Outputs that are returned as they are."""


def to_torch(function: Callable[..., Any], *, compile: bool | None = None) -> Callable[..., Any]:
    """Return a function of tensors with the values and the derivatives of a NumPy function.

    Parameters
    ----------
    function : callable
        Of NumPy arrays and numbers, and of dicts, tuples and lists of these in one another; it
        returns the like, and may change its arguments in place.
    compile : bool, optional
        As for :func:`mooncake_py.vjp`.

    Returns
    -------
    callable
        Takes and returns the same with tensors.  A tensor without axes is a number for `function`,
        and any other object is passed on unchanged.  Outputs are on the device of the first tensor;
        `function` runs on the CPU, on copies of the tensors.

    Notes
    -----
    It works in ``loss.backward()``, ``torch.autograd.grad`` with ``create_graph=True``, to any
    order, in forward mode (``torch.autograd.forward_ad``), and in ``torch.func``: ``grad``,
    ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``, ``hessian``; under ``vmap`` it runs once for each
    element.  The forward pass runs `function` itself, and the backward pass runs it again to
    differentiate it: random numbers must come from a generator that `function` makes, or from an
    argument.

    Examples
    --------
    >>> def relax(u, k):
    ...     for _ in range(3):
    ...         u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    ...     return u
    >>> layer = to_torch(relax)
    >>> k = torch.tensor(0.25, dtype=torch.float64, requires_grad=True)
    >>> loss = layer(torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0], dtype=torch.float64), k)[2]
    >>> loss.backward()
    >>> k.grad
    tensor(-0.7500, dtype=torch.float64)
    """
    options = {"compile": compile}

    @functools.wraps(function)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        call = FlatCall(function, args, kwargs, torch.is_tensor)
        outputs = Evaluated.apply(FlatDerivatives(call.run, options), *call.arrays)
        return filled(call.nesting.outputs, outputs)

    return of_tensors


class Evaluated(torch.autograd.Function):
    """A function of NumPy arrays, evaluated at tensors; its derivatives are such functions too."""

    generate_vmap_rule = False

    @staticmethod
    def forward(flat: FlatDerivatives, *tensors: Any) -> Any:
        outputs = flat.function(*map(as_numpy, tensors))
        device = tensors[0].device if tensors else None
        return tuple([as_output(output, device) for output in outputs])

    @staticmethod
    def setup_context(call: Any, inputs: Any, output: Any) -> None:
        flat, *tensors = inputs
        call.flat, call.count = flat, len(output)
        call.outputs = [i for i, value in enumerate(output) if is_differentiable(value)]
        call.mark_non_differentiable(
            *[value for value in output if torch.is_tensor(value) and not is_differentiable(value)]
        )
        call.save_for_backward(*tensors)
        call.save_for_forward(*tensors)

    @staticmethod
    def backward(call: Any, *cotangents: Any) -> Any:
        tensors = call.saved_tensors
        wanted = [i for i, needed in enumerate(call.needs_input_grad[1:]) if needed]
        pullback = call.flat.pullback(wanted, call.outputs)
        found = Evaluated.apply(pullback, *[cotangents[i] for i in call.outputs], *tensors)
        return (None, *replacing([None] * len(tensors), wanted, found))

    @staticmethod
    def jvp(call: Any, _: Any, *tangents: Any) -> Any:
        tensors = call.saved_tensors
        moved = [i for i, tangent in enumerate(tangents) if tangent is not None]
        pushforward = call.flat.pushforward(moved, call.outputs)
        found = Evaluated.apply(pushforward, *[tangents[i] for i in moved], *tensors)
        return tuple(replacing([None] * call.count, call.outputs, found))

    @staticmethod
    def vmap(info: Any, in_dims: Any, flat: FlatDerivatives, *tensors: Any) -> Any:
        rows = [
            Evaluated.apply(flat, *[
                tensor if axis is None else tensor.select(axis, i)
                for tensor, axis in zip(tensors, in_dims[1:], strict=True)
            ])
            for i in range(info.batch_size)
        ]  # fmt: skip
        outputs = [
            torch.stack(column) if torch.is_tensor(column[0]) else column[0]
            for column in zip(*rows, strict=True)
        ]
        return tuple(outputs), tuple([0 if torch.is_tensor(o) else None for o in outputs])


def as_output(value: Any, device: Any) -> Any:
    """Return an array or a number with a derivative as a tensor, anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic)) or has_derivative(value):
        return as_tensor(np.asarray(value)).to(device)
    if value is not None and not isinstance(value, WITHOUT_DERIVATIVE):
        raise refused_output("to_torch", value)
    return value
