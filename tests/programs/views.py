"""Random views of arrays: expressions, and the shapes that result."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.programs.scope import Shape

__all__ = ["random_view", "view_of_shape"]

VECTOR = (
    "[1:]", "[:-1]", "[::-1]", "[::2]", "[1::2]", "[-2:]", "[:2]", "[1:-1]", "[2:0:-1]", "[...]",
    "[None]", "[:, None]", ".reshape(2, 2)", ".reshape(-1, 1)", "[:]", ".T", "[:3]", "[-3:]",
    "[::-2]", "[1:][:-1]", "[slice(1, None)]",
)  # fmt: skip
MATRIX = (
    "[0]", "[1]", "[-1]", "[:, 0]", "[:, 1]", "[:, -1]", "[1:]", "[:, 1:]", "[:-1]", "[:, :-1]",
    "[::-1]", "[:, ::-1]", "[::-1, ::-1]", ".T", ".ravel()", ".reshape(-1)", "[1:, :-1]",
    "[..., 0]", "[0, 1:]", "[:2, 1]", ".swapaxes(0, 1)", "[:2, :2]", "[::2]", "[:, ::2]",
    ".transpose()", "[:, None, 0]", "[1, ::-1]", ".T[1:]", "[2:0:-1]", ".flatten()", "[0:1]",
    "[:, 1:2]", "[None, 1]", ".T.ravel()", ".reshape(-1, 1)", ".squeeze()", "[1:-1, 1:-1]",
)  # fmt: skip
SOLID = ("[0]", "[:, 0]", "[..., 0]", ".reshape(-1)", "[0, 0]", ".T", "[-1]")
BY_NDIM = {1: VECTOR, 2: MATRIX, 3: SOLID}
FUNCTIONS = (  # most of them return a view, some the array itself
    "np.asarray({0})", "np.atleast_2d({0})", "np.squeeze({0})", "np.transpose({0})",
    "np.expand_dims({0}, 0)", "np.moveaxis({0}, 0, -1)", "np.ravel({0})", "np.reshape({0}, -1)",
    "np.flip({0})", "np.flip({0}, 0)", "{0}.real", "np.real({0})", "np.split({0}, 3)[1]",
    "np.array_split({0}, 2)[0]", "np.ascontiguousarray({0})", "{0}.astype(float, copy=False)",
    "np.swapaxes({0}, 0, -1)", "np.atleast_1d({0})", "np.rot90(np.atleast_2d({0}))",
    "np.array({0}, copy=None)", "np.asarray({0}, dtype=float)", "np.require({0})",
    "np.hsplit({0}, [1])[1]",
)  # fmt: skip


def random_view(rng: Random, text: str, shape: Shape, links: int = 1) -> tuple[str, Shape]:
    """Return an expression for a chain of at most `links` views of an array, and its shape."""
    array = np.zeros(shape)
    for _ in range(links):
        for _ in range(4):
            form = _form(rng, array.ndim)
            result = _applied(array, form)
            if result is not None:
                text, array = form.format(text), result
                break
    return text, array.shape


def view_of_shape(
    rng: Random, text: str, shape: Shape, wanted: Shape, tries: int = 8
) -> str | None:
    """Return a view of an array that has the wanted shape, if one is found."""
    for _ in range(tries):
        view, got = random_view(rng, text, shape, rng.choice((1, 1, 2)))
        if got == wanted:
            return view
    return None


def _form(rng: Random, ndim: int) -> str:
    if rng.random() < 0.15:
        return rng.choice(FUNCTIONS)
    return "{0}" + rng.choice(BY_NDIM.get(ndim, ("[()]",)))


def _applied(array: np.ndarray, form: str) -> np.ndarray | None:
    try:
        result = eval(form.format("a"), {"a": array, "np": np})
    except (IndexError, ValueError):
        return None
    return result if result.size and 0 < result.ndim <= 3 else None
