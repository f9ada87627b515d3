"""NumPy code as a function of PyTensor's variables, as in models of PyMC; extra ``pytensor``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidModeError
from mooncake_py.integrations.outgoing import FlatCall, FlatDerivatives, refused_output
from mooncake_py.integrations.structure import filled
from mooncake_py.optional import import_optional

__all__ = ["to_pytensor"]

pytensor = import_optional("pytensor", "pytensor", __name__)
tensor = import_optional("pytensor.tensor", "pytensor", __name__)
Op = import_optional("pytensor.graph.op", "pytensor", __name__).Op
Apply, Constant, Variable = [
    getattr(import_optional("pytensor.graph.basic", "pytensor", __name__), name)
    for name in ("Apply", "Constant", "Variable")
]
DisconnectedType = import_optional("pytensor.gradient", "pytensor", __name__).DisconnectedType


def to_pytensor(
    function: Callable[..., Any], *, compile: bool | None = None, example: Any = None
) -> Callable[..., Any]:
    """Return a function of variables with the values and the derivatives of a NumPy function.

    Parameters
    ----------
    function : callable
        Of NumPy arrays and numbers, and of dicts, tuples and lists of these in one another; it
        returns the like, and may change its arguments in place.
    compile : bool, optional
        As for :func:`mooncake_py.vjp`.
    example : tuple, optional
        Positional arguments for which `function` runs once to find the types of its outputs.
        Without it, that run is given the values of constants and shared variables, and ones for
        others, whose shapes must be known.

    Returns
    -------
    callable
        Takes and returns the same with variables of PyTensor.  A variable without axes is a number
        for `function`; anything that is not a variable is passed on unchanged.

    Raises
    ------
    InvalidModeError
        If the shape of a variable is not known, and there is no `example`.
    MissingRuleError
        If `function` returns anything but arrays, numbers and containers of these.

    Notes
    -----
    It works in ``pytensor.grad``, ``Lop``, ``Rop``, ``jacobian`` and ``hessian``, to any order, and
    so in PyMC with NUTS.  The gradient runs `function` again: random numbers come from a generator
    that it makes.  The numbers of axes of outputs, and their dtypes, must not depend on values.

    Examples
    --------
    >>> def relax(u, k):
    ...     for _ in range(3):
    ...         u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    ...     return u
    >>> k = tensor.dscalar()
    >>> y = to_pytensor(relax)(tensor.constant([0.0, 0.0, 1.0, 0.0, 0.0]), k)
    >>> pytensor.grad(y[2], k).eval({k: 0.25}).item()
    -0.75
    """
    options = {"compile": compile}

    @functools.wraps(function)
    def of_variables(*args: Any, **kwargs: Any) -> Any:
        call = FlatCall(function, args, kwargs, lambda leaf: isinstance(leaf, Variable))
        inputs = [tensor.as_tensor_variable(array) for array in call.arrays]
        if example is None:
            found = call.run(*map(example_of, inputs))
        else:
            tried = FlatCall(function, example, kwargs, lambda leaf: False)
            found, call.nesting.outputs = tried.run(), tried.nesting.outputs
        has_shapes = example is None and all(None not in x.type.shape for x in inputs)
        types = [output_type(value, has_shapes) for value in found]
        outputs = Evaluated(FlatDerivatives(call.run, options), types)(*inputs, return_list=True)
        return filled(call.nesting.outputs, outputs)

    return of_variables


def example_of(variable: Any) -> Any:
    """Return a value for a variable, to find out what a function returns."""
    if isinstance(variable, Constant):
        return as_argument(variable.data)
    if hasattr(variable, "get_value"):
        return as_argument(variable.get_value())
    if None in variable.type.shape:
        raise InvalidModeError(
            f"to_pytensor does not know the shape of {variable}",
            why="the function runs once to find the types of its outputs",
            fix="give arguments for that run, to_pytensor(f, example=(...)), or give the variable "
            "a shape: pt.tensor(shape=(3,))",
        )
    return as_argument(np.ones(variable.type.shape, variable.type.dtype))


def as_argument(value: Any) -> Any:
    """Return a copy of an array, a number for one without axes."""
    array = np.array(value)
    return array if array.ndim else array[()]


def output_type(value: Any, has_shape: bool) -> Any:
    """Return the type of an output."""
    if (
        value is None
        or isinstance(value, (str, bytes))
        or np.asarray(value).dtype.kind not in "fcbiu"
    ):
        raise refused_output("to_pytensor", value)
    array = np.asarray(value)
    shape = array.shape if has_shape else (None,) * array.ndim
    return tensor.TensorType(array.dtype.name, shape)


def is_differentiable(variable: Any) -> bool:
    """Whether a variable, or a type, can have a derivative."""
    return np.dtype(variable.dtype).kind in "fc"


class Evaluated(Op):
    """A function of NumPy arrays, evaluated at variables; its derivatives are such functions too.

    Parameters
    ----------
    flat : FlatDerivatives
    types : list
        Of the outputs.
    like : list of int, optional
        The inputs whose shapes the outputs have.
    """

    def __init__(
        self, flat: FlatDerivatives, types: Sequence[Any], like: Sequence[int] | None = None
    ) -> None:
        self.flat, self.types = flat, list(types)
        self.derivatives: dict[Any, Evaluated] = {}  # equal nodes of a graph have the same Op
        if like is not None:
            self.infer_shape = lambda graph, node, shapes: [shapes[i] for i in like]

    def make_node(self, *inputs: Any) -> Any:
        """Return a node of the graph."""
        given = [tensor.as_tensor_variable(x) for x in inputs]
        return Apply(self, given, [kind() for kind in self.types])

    def perform(self, node: Any, inputs: Any, storage: Any) -> None:
        """Run the function."""
        outputs = self.flat.function(*map(as_argument, inputs))
        for cell, value, kind in zip(storage, outputs, self.types, strict=True):
            cell[0] = np.array(value, dtype=kind.dtype)

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Say from which inputs derivatives pass to which outputs."""
        pairs = [is_differentiable(kind) for kind in self.types]
        return [[is_differentiable(x) and to for to in pairs] for x in node.inputs]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """Return the cotangents of the inputs: a node that computes them."""
        wanted = [i for i, x in enumerate(inputs) if is_differentiable(x)]
        known = self.known(cotangents)
        found: list[Any] = [DisconnectedType()() for _ in inputs]
        if not (wanted and known):
            return found
        key = "pullback", tuple(wanted), tuple(known)
        if key not in self.derivatives:
            self.derivatives[key] = Evaluated(
                self.flat.pullback(wanted, known),
                [inputs[i].type for i in wanted],
                [len(known) + i for i in wanted],
            )
        given = [cotangents[i] for i in known]
        pulled = self.derivatives[key](*given, *inputs, return_list=True)
        for i, x in zip(wanted, pulled, strict=True):
            found[i] = x
        return found

    L_op = pullback  # its name before PyTensor 3

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> list[Any]:
        """Return the tangents of the outputs: a node that computes them."""
        moved = [i for i in self.known(tangents) if is_differentiable(inputs[i])]
        along = [i for i, kind in enumerate(self.types) if is_differentiable(kind)]
        found: list[Any] = [DisconnectedType()() for _ in self.types]
        if not (moved and along):
            return found
        key = "pushforward", tuple(moved), tuple(along)
        if key not in self.derivatives:
            self.derivatives[key] = Evaluated(
                self.flat.pushforward(moved, along), [self.types[i] for i in along]
            )
        given = [tangents[i] for i in moved]
        pushed = self.derivatives[key](*given, *inputs, return_list=True)
        for i, y in zip(along, pushed, strict=True):
            found[i] = y
        return found

    def R_op(self, inputs: Any, eval_points: Any) -> list[Any]:  # its name before PyTensor 3
        """Return the tangents of the outputs, None for those without."""
        found = self.pushforward(inputs, None, eval_points)
        return [None if isinstance(y.type, DisconnectedType) else y for y in found]

    def known(self, directions: Any) -> list[int]:
        """Return the positions of cotangents or tangents that are there."""
        return [
            i for i, d in enumerate(directions)
            if d is not None and not isinstance(d.type, DisconnectedType)
        ]  # fmt: skip
