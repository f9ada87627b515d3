"""Functions of each number and array in a structure.

Inside a derivative, the engine differentiates this code like that of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numpy import ndarray

from mooncake_py.overriding import override
from mooncake_py.tangents.kinds import Fields
from mooncake_py.utilities.flattening import Attribute, Build, Flattening

__all__ = ["tree_leaves", "tree_map"]

T = TypeVar("T")
Path = tuple[Any, ...]


def tree_map(f: Callable[..., Any], tree: T, /, *rest: Any) -> T:
    """Return a structure like `tree`, with a function of its numbers and arrays in their place.

    Parameters
    ----------
    f : callable
        Called with a leaf of `tree`, and what is at its place in each structure of `rest`.
    tree : object
        What :func:`flatten` takes: numbers and arrays in dicts, lists, tuples, dataclasses and
        objects, and gradients of these.  What is constant there is here too.
    *rest : object
        Structures with the same keys, positions and attributes: other parameters, or a gradient.

    Returns
    -------
    object
        In new containers and objects; their constants are those of `tree`.

    Raises
    ------
    TypeError
        As by :func:`flatten`.
    ValueError
        If a structure of `rest` has nothing in the place of a leaf.

    Notes
    -----
    An object that occurs twice is one object in the result, and `f` is called for its leaves once.
    It is differentiable.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import grad, tree_map
    >>> params = {"w": np.array([1.0, 2.0]), "b": [3.0], "name": "line"}
    >>> g = grad(lambda p: np.sum(p["w"] ** 2) * p["b"][0])(params)
    >>> tree_map(lambda x, dx: x - 0.1 * dx, params, g)
    {'w': array([0.4, 0.8]), 'b': [2.5], 'name': 'line'}
    """
    leaves = Leaves("tree_map")
    build = leaves.visit(tree)
    others = [[at(other, path) for path in leaves.paths] for other in rest]
    return build([f(*values) for values in zip(leaves.found, *others, strict=True)])


def tree_leaves(tree: Any, /) -> list[Any]:
    """Return the numbers and arrays in a structure, in the order of :func:`flatten`.

    Parameters
    ----------
    tree : object
        What :func:`tree_map` takes.

    Returns
    -------
    list
        The leaves themselves, no copies.

    Examples
    --------
    >>> from mooncake_py import tree_leaves
    >>> tree_leaves({"w": [1.0, 2.0], "degree": 3, "b": 0.5})
    [1.0, 2.0, 0.5]
    """
    leaves = Leaves("tree_leaves")
    leaves.visit(tree)
    return leaves.found


class Leaves(Flattening):
    """A walk that collects leaves; what it returns makes a structure of a list of others."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.found: list[Any] = []
        self.paths: list[Path] = []
        self.path: list[Any] = []

    @override
    def visit_part(self, step: Any, part: Any) -> Build:
        self.path.append(step)
        build = self.visit(part)
        self.path.pop()
        return build

    def visit_leaf(self, value: Any) -> Build:
        """Append a leaf."""
        number = len(self.found)
        self.found.append(value)
        self.paths.append(tuple(self.path))
        return lambda leaves: leaves[number]

    @override
    def visit_number(self, value: Any) -> Build:
        return self.visit_leaf(value)

    @override
    def visit_array(self, value: ndarray) -> Build:
        return self.visit_leaf(value)


def at(tree: Any, path: Path) -> Any:
    """Return the part at a place of a structure."""
    value = tree
    for k, step in enumerate(path):
        try:
            value = part_of(value, step)
        except (LookupError, TypeError, AttributeError):
            steps = [str(s) if isinstance(s, Attribute) else f"[{s!r}]" for s in path[: k + 1]]
            raise ValueError(
                f"tree_map found nothing at {''.join(steps)} of a further structure, "
                f"{type(tree).__name__}"
            ) from None
    return value


def part_of(value: Any, step: Any) -> Any:
    """Return a part of a structure: gradients of named tuples have names."""
    if isinstance(step, Attribute):
        return getattr(value, step.name)
    if isinstance(value, Fields) and isinstance(step, int):
        return value[list(value)[step]]
    return value[step]
