"""A number computed from the results of a function, and its second derivatives.

The engine derives this code like that of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.interface import grad, jvp
from mooncake_py.testing.case import Inputs, path
from mooncake_py.words import text_of_key

__all__ = ["NESTINGS", "Program"]


class Program:
    """The weighted sum and the sum of squares of all results, as a function of the arguments.

    Parameters
    ----------
    inputs : Inputs
        The function and its arguments.  Values other than numbers, arrays, and lists, tuples and
        dicts of these are constants.
    mutated : set of int
        Positions of the arguments that the function changes, which are results too.
    rng : Generator
        Generator for the random direction.

    Attributes
    ----------
    direction : tuple
        The direction, with the types of the arguments.
    size : float
        Size of the arguments along the direction.
    """

    def __init__(self, inputs: Inputs, mutated: frozenset[int], rng: np.random.Generator) -> None:
        self.inputs = inputs
        self.mutated = mutated
        named = [
            leaf for i, value in enumerate(inputs.values) if i for leaf in leaves(value, path(i))
        ]
        self.names = [name for name, _ in named]
        self.leaves = [value for _, value in named]
        self.direction = tuple(random_like(value, rng) for value in self.leaves)
        sizes = [float(np.max(np.abs(value))) for value in self.leaves]
        self.size = max(sizes, default=0.0) or 1.0
        self.argnums = tuple(range(len(self.leaves)))

    @property
    def serves(self) -> bool:
        """Whether there are variables of differentiation."""
        return bool(self.leaves)

    def moved(self, t: float) -> tuple[Any, ...]:
        """Return the arguments at a distance along the direction."""
        pairs = zip(self.leaves, self.direction, strict=True)
        return tuple(same_type(x, x + t * d) for x, d in pairs)

    def fresh(self) -> Callable[..., Any]:
        """Return the function of the arguments, with its own copy of the constants."""
        copied = self.inputs.copy()
        f, mutated = self.inputs.values[0], self.mutated
        constants, kwargs = copied.values[1:], copied.kwargs
        # Properties of the arguments are found here, where no engine runs.
        chosen_at = [(i, is_variable(x)) for i, x in enumerate(constants) if any(leaves(x, ""))]

        def run(*chosen: Any) -> Any:
            args, rest = list(constants), list(chosen)
            for i, alone in chosen_at:
                args[i] = rest.pop(0) if alone else rebuilt(args[i], rest)
            y = f(*args, **kwargs)
            total = weighted_sum(y)
            for i in mutated:
                if i > 0:
                    total = total + weighted_sum(args[i - 1])
            return total

        return run

    def vector(self, gradients: Any) -> Any:
        """Return gradients with respect to all arguments as one vector of floats."""
        parts: list[Any] = []
        for g in gradients:
            flat = np.ravel(g)
            parts.append(np.real(flat))
            if is_complex(flat):
                parts.append(np.imag(flat))
        return np.concatenate(parts).astype(np.float64)

    def name_of(self, index: int) -> str:
        """Return the argument and position of an element of such a vector."""
        for name, value in zip(self.names, self.leaves, strict=True):
            count = np.size(value) * (2 if is_complex(value) else 1)
            if index < count:
                if np.ndim(value) == 0:
                    return name
                place = np.unravel_index(index % np.size(value), np.shape(value))
                return f"{name}[{', '.join(map(str, place))}]"
            index -= count
        raise IndexError(index)


def is_complex(value: Any) -> bool:
    """Return whether an array or a number is complex."""
    return bool(np.iscomplexobj(value))


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number, or an array with elements, that has a derivative."""
    if issubclass(type(value), ndarray):
        return type(value) is ndarray and value.dtype.kind in "fc" and value.size > 0
    return isinstance(value, (float, complex, np.inexact))


def is_variable(value: Any) -> bool:
    """Return whether the tester perturbs an argument: a finite number or an array."""
    return is_leaf(value) and (issubclass(type(value), ndarray) or bool(np.isfinite(value)))


def leaves(value: Any, name: str, seen: list[Any] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays in an argument, with their names.

    A list or a dict that occurs again, also within itself, is one variable.
    """
    seen = [] if seen is None else seen
    if is_variable(value):
        yield name, value
    elif type(value) is tuple:
        for i, part in enumerate(value):
            yield from leaves(part, f"{name}[{i}]", seen)
    elif type(value) in (list, dict) and all(value is not known for known in seen):
        seen.append(value)
        for key, part in value.items() if type(value) is dict else enumerate(value):
            yield from leaves(part, f"{name}[{text_of_key(key)}]", seen)


def rebuilt(value: Any, rest: list[Any], made: list[Any] | None = None) -> Any:
    """Return an argument with its numbers and arrays taken from a list, in order of `leaves`.

    It has the same list or dict wherever the argument has.
    """
    made = [] if made is None else made
    if is_variable(value):
        return rest.pop(0)
    if type(value) is tuple:
        return tuple([rebuilt(part, rest, made) for part in value])
    for known, copy in made:
        if known is value:
            return copy
    if type(value) is dict:
        new: Any = {}
        made.append((value, new))
        for key, part in value.items():
            new[key] = rebuilt(part, rest, made)
        return new
    if type(value) is list:
        new = []
        made.append((value, new))
        for part in value:
            new.append(rebuilt(part, rest, made))
        return new
    return value


def weighted_sum(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """Return a sum of the numbers in a result and of their squares, with fixed weights.

    What contains itself is entered once: `above` are the containers that this value is in.
    """
    if is_leaf(value):
        weights = 1.0 + 0.25 * np.cos(np.arange(float(np.size(value)))).reshape(np.shape(value))
        if not np.iscomplexobj(value):
            return np.sum(weights * (value + 0.3 * value * value))
        real, imaginary = np.real(value), np.imag(value)
        return np.sum(
            weights * (real + 0.3 * real * real + 0.5 * imaginary + 0.2 * imaginary * imaginary)
        )
    total = 0.0
    if issubclass(type(value), (dict, list, tuple)):
        for container in above:
            if container is value:
                return total
        above = (*above, value)
        for part in value.values() if issubclass(type(value), dict) else value:
            total = total + weighted_sum(part, above)
    return total


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """Return a random direction for a number or an array."""
    d = rng.standard_normal(np.shape(value))
    if is_complex(value):
        d = d + 1j * rng.standard_normal(np.shape(value))
    return same_type(value, d)


def same_type(model: Any, value: Any) -> Any:
    """Return a value as an array or a number of the type of another one."""
    if issubclass(type(model), ndarray):
        return np.asarray(value, dtype=model.dtype)
    return type(model)(value)


def forward_over_reverse(program: Program) -> Any:
    """Return the derivative of the gradient along the direction."""
    gradient = grad(program.fresh(), program.argnums)
    return jvp(gradient, program.moved(0.0), program.direction)[1]


def reverse_over_forward(program: Program) -> Any:
    """Return the gradient of the derivative along the direction."""
    run, direction = program.fresh(), program.direction

    def slope(*leaves: Any) -> Any:
        return jvp(run, leaves, direction)[1]

    return grad(slope, program.argnums)(*program.moved(0.0))


def reverse_over_reverse(program: Program) -> Any:
    """Return the gradient of <gradient, direction>."""
    gradient, direction = grad(program.fresh(), program.argnums), program.direction

    def slope(*leaves: Any) -> Any:
        total = 0.0
        for g, d in zip(gradient(*leaves), direction, strict=True):
            total = total + np.sum(np.real(np.conj(d) * g))
        return total

    return grad(slope, program.argnums)(*program.moved(0.0))


NESTINGS: dict[str, Callable[[Program], Any]] = {
    "forward over reverse": forward_over_reverse,
    "reverse over forward": reverse_over_forward,
    "reverse over reverse": reverse_over_reverse,
}
