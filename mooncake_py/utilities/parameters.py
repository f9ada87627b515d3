"""Gradients with respect to arrays and objects that a function does not take as arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.errors import NonDifferentiableArgumentError
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.structures import holds_numbers
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["Grads", "Params", "WithoutParameters", "as_params"]


class Params:
    """Arrays and objects to differentiate with respect to, identified by `id`.

    Parameters
    ----------
    values : iterable
        Arrays, and lists, dicts and objects that hold numbers or arrays.  Duplicates count once.

    Raises
    ------
    NonDifferentiableArgumentError
        For a number, which has no identity, and for a value without a derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import Params, gradient
    >>> W, b = np.array([[1.0, 2.0]]), np.array([0.5])
    >>> x = np.array([3.0, 4.0])
    >>> def linear(x):
    ...     return W @ x + b
    >>> grads = gradient(lambda: np.sum(linear(x)), params=Params([W, b]))
    >>> grads[W], grads[b]
    (array([[3., 4.]]), array([1.]))
    """

    def __init__(self, values: Iterable[Any]) -> None:
        if isinstance(values, (ndarray, dict, str)):
            raise TypeError(
                f"Params takes a list of parameters, not {summary(values)}: Params([x]) makes one "
                "of it"
            )
        self._values: dict[int, Any] = {}  # keeps the object whose id is the key
        for i, value in enumerate(values):
            require_parameter(i, value)
            self._values.setdefault(id(value), value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._values

    def __repr__(self) -> str:
        return f"Params([{', '.join(map(summary, self))}])"


class Grads:
    """A mapping from parameters, identified by `id`, to gradients: ``grads[W]``.

    Iterating yields the parameters; :meth:`items` yields them with their gradients.
    """

    def __init__(self, params: Params, gradients: Iterable[Any]) -> None:
        self.params = params
        self._gradients = dict(zip(map(id, params), gradients, strict=True))

    def __getitem__(self, parameter: Any) -> Any:
        try:
            return self._gradients[id(parameter)]
        except KeyError:
            raise KeyError(
                f"{summary(parameter)} is not one of the parameters, which are found by identity: "
                "another array is another parameter, even if it is equal or a view"
            ) from None

    def __contains__(self, parameter: Any) -> bool:
        return parameter in self.params

    def __iter__(self) -> Iterator[Any]:
        return iter(self.params)

    def __len__(self) -> int:
        return len(self.params)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the parameters with their gradients."""
        return zip(self.params, self._gradients.values(), strict=True)

    def __repr__(self) -> str:
        return f"Grads of {self.params!r}"


class WithoutParameters:
    """A function of parameters that it does not take as arguments.

    Called with the parameters, it runs ``f(*args)``, which reads them as globals or attributes.

    Attributes
    ----------
    reaches_arguments : bool
        Whether the parameters are active under all their names, not only as arguments.
    """

    reaches_arguments = True

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.f = f
        self.args = args
        for name in ("__name__", "__qualname__", "__code__"):  # by which messages name it
            if hasattr(f, name):
                setattr(self, name, getattr(f, name))

    def __call__(self, *parameters: Any) -> Any:
        """Run the function."""
        return self.f(*self.args)


@contextual(WithoutParameters.__call__)
def call_inside(ctx: Language, function: WithoutParameters, *parameters: Any) -> Any:
    """Run the function inside a derivative."""
    return ctx.call(function.f, *function.args)


def as_params(params: Any) -> Params:
    """Return parameters given as `Params`, or as a list."""
    params = params if isinstance(params, Params) else Params(params)
    if not len(params):
        raise NonDifferentiableArgumentError(
            "there are no parameters to take a gradient with respect to",
            fix="name arrays or objects: Params([W, b])",
        )
    return params


def require_parameter(i: int, value: Any) -> None:
    """Raise if a value cannot be a parameter."""
    if isinstance(value, (int, float, complex)) or value is None or issubclass(type(value), tuple):
        raise NonDifferentiableArgumentError(
            f"cannot make parameter {i} of {value!r} of type {type(value).__name__}",
            why="parameters are found by identity, which numbers and tuples do not have",
            fix="keep numbers in an array, a list, a dict or an object, and pass that",
        )
    if not holds_numbers(value):
        raise NonDifferentiableArgumentError(
            f"cannot make parameter {i} of {summary(value)}",
            why="only float and complex values have derivatives",
            fix="pass floats, by x.astype(float) for an array",
        )


def summary(value: Any) -> str:
    """Return a short description of a parameter."""
    if issubclass(type(value), ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    return with_article(type(value).__name__)
