"""Random views of arrays: text to append to an expression, and the shape that results."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.programs.scope import Shape

__all__ = ["random_view", "view_of_shape"]

VECTOR = (
    "[1:]", "[:-1]", "[::-1]", "[::2]", "[1::2]", "[-2:]", "[:2]", "[1:-1]", "[2:0:-1]", "[...]",
    "[None]", "[:, None]", ".reshape(2, 2)", ".reshape(-1, 1)", "[:]", ".T", "[:3]", "[-3:]",
    "[::-2]", "[1:][:-1]", "[slice(1, None)]",
)
MATRIX = (
    "[0]", "[1]", "[-1]", "[:, 0]", "[:, 1]", "[:, -1]", "[1:]", "[:, 1:]", "[:-1]", "[:, :-1]",
    "[::-1]", "[:, ::-1]", "[::-1, ::-1]", ".T", ".ravel()", ".reshape(-1)", "[1:, :-1]",
    "[..., 0]", "[0, 1:]", "[:2, 1]", ".swapaxes(0, 1)", "[:2, :2]", "[::2]", "[:, ::2]",
    ".transpose()", "[:, None, 0]", "[1, ::-1]", ".T[1:]", "[2:0:-1]", ".flatten()", "[0:1]",
    "[:, 1:2]", "[None, 1]", ".T.ravel()", ".reshape(-1, 1)", ".squeeze()", "[1:-1, 1:-1]",
)
SOLID = ("[0]", "[:, 0]", "[..., 0]", ".reshape(-1)", "[0, 0]", ".T", "[-1]")
BY_NDIM = {1: VECTOR, 2: MATRIX, 3: SOLID}


def random_view(rng: Random, shape: Shape, links: int = 1) -> tuple[str, Shape]:
    """Return a chain of at most `links` views that is not empty, with its shape."""
    text, array = "", np.zeros(shape)
    for _ in range(links):
        for _ in range(4):
            suffix = rng.choice(BY_NDIM.get(array.ndim, ("[()]",)))
            result = _applied(array, suffix)
            if result is not None:
                text, array = text + suffix, result
                break
    return text, array.shape


def view_of_shape(rng: Random, shape: Shape, wanted: Shape, tries: int = 8) -> str | None:
    """Return a view of an array of a shape that has the wanted shape, if one is found."""
    for _ in range(tries):
        text, got = random_view(rng, shape, rng.choice((1, 1, 2)))
        if got == wanted:
            return text
    return None


def _applied(array: np.ndarray, suffix: str) -> np.ndarray | None:
    try:
        result = eval("a" + suffix, {"a": array})
    except (IndexError, ValueError):
        return None
    return result if result.size and 0 < result.ndim <= 3 else None
