"""HIPS autograd on the same kernels, where it can run at all; an optional extra."""

import importlib
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.functional import FUNCTIONAL
from benchmarks.kernel import Kernel


@dataclass(frozen=True)
class Peer:
    """A way to have a peer compute the gradient of a kernel.

    Parameters
    ----------
    gradient : callable
        From the kernel's arguments to the value and a tuple of gradients.
    modified : bool
        True if the peer runs the functional variant, not the kernel itself.
    """

    gradient: Callable[..., tuple[Any, tuple[Any, ...]]]
    modified: bool


def candidate_peers(kernel: Kernel) -> list[Peer]:
    """Return the ways in which autograd may do this kernel, none if it is not installed.

    They may fail when called: whether autograd can run a function shows only then.
    """
    try:
        autograd = importlib.import_module("autograd")
        wrapped_numpy = importlib.import_module("autograd.numpy")
    except ImportError:
        return []

    def peer(function: types.FunctionType, modified: bool) -> Peer:
        rebound = _with_numpy(function, wrapped_numpy)

        # autograd hands a tuple of arguments over as one box that cannot be starred.
        def of_selected(selected: Any, *arguments: Any) -> Any:
            complete = list(arguments)
            for place, argnum in enumerate(kernel.argnums):
                complete[argnum] = selected[place]
            return rebound(*complete)

        differentiated = autograd.value_and_grad(of_selected)

        def gradient(*arguments: Any) -> tuple[Any, tuple[Any, ...]]:
            return differentiated(tuple(arguments[n] for n in kernel.argnums), *arguments)

        return Peer(gradient, modified)

    functions = [(kernel.function, False)]
    if kernel.name in FUNCTIONAL:
        functions.append((FUNCTIONAL[kernel.name], True))
    return [
        peer(function, modified)
        for function, modified in functions
        if isinstance(function, types.FunctionType)
    ]


def _with_numpy(function: types.FunctionType, module: types.ModuleType) -> Callable[..., Any]:
    """Return the same function for which the global name `np` means another module."""
    return types.FunctionType(
        function.__code__, {**function.__globals__, "np": module}, function.__name__
    )
