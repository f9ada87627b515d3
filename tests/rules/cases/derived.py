"""Cases for functions that need no rule: they are derived from NumPy's Python source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]

JOINING: Any = (np.c_, np.r_, np.s_, np.index_exp)
MASK = np.array([[True, False, True, True], [True, True, False, True], [False, True, True, True]])


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *number_cases(),
        *array_cases(),
        *making_cases(),
        *window_cases(),
        *scale_cases(),
        *calling_cases(),
    ]


def plain(function: Callable[..., Any], *args: Any, label: str = "", **kwargs: Any) -> Case:
    """Return a case without variants of the arguments."""
    return Case(function, args, kwargs, label, options=PLAIN)


def number_cases() -> list[Case]:
    """Return cases of functions of each number."""
    x, z = draw(3, 4), draw(3, 4, dtype=complex)
    odd = np.array([np.nan, np.inf, -np.inf])
    return [
        Case(np.nan_to_num, (x,), label="all-variants"),
        Case(np.nan_to_num, (odd, True, 1.5, 2.5, 3.5), label="replaced", interface_only=True,
             options=PLAIN),
        plain(replaced, draw(3), 1.5),
        plain(np.real_if_close, x),
        plain(np.real_if_close, z, label="complex"),
        Case(np.angle, (z,), label="all-variants"),
        plain(np.angle, z, True, label="degrees"),
        plain(np.angle, x, label="real"),
        plain(np.sort_complex, draw(5, dtype=complex)),
        *(plain(getattr(np.emath, name), x, label="emath")
          for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")),
        plain(np.emath.logn, 3.0, -np.abs(x), label="emath"),
        plain(np.emath.power, x, draw(3, 4, seed=1), label="emath"),
    ]  # fmt: skip


def replaced(x: np.ndarray, a: float) -> Any:
    """Replace numbers that are not finite, by values that have a derivative."""
    odd = np.concatenate([x, [np.nan, np.inf, -np.inf]])
    return np.nan_to_num(odd, copy=False, nan=a, posinf=2 * a, neginf=3 * a) * odd


def array_cases() -> list[Case]:
    """Return cases of functions that rearrange or pass on arrays."""
    x, row = draw(3, 4), draw(5)
    return [
        plain(np.block, [[draw(2, 2), draw(2, 3)], [draw(1, 2), draw(1, 3)]]),
        plain(np.block, [row, 2.5, draw(2)], label="row"),
        plain(np.append, x, draw(3)),
        plain(np.append, x, draw(2, 4), 0, label="axis"),
        Case(trimmed, (row,), options=PLAIN, covers=(np.trim_zeros,)),
        plain(np.apply_over_axes, np.sum, draw(2, 3, 4), [0, 2]),
        Case(selected_by_ix, (x,), options=PLAIN, covers=(np.ix_,)),
        Case(joined_by_subscript, (row,), options=PLAIN, covers=JOINING),
        plain(np.asarray_chkfinite, x),
        plain(np.require, x.T, None, "F"),
        plain(np.require, x.T, complex, ["C", "W", "O"], label="complex"),
        plain(np.linalg.matrix_power, draw(3, 3), 3),
        plain(np.linalg.multi_dot, [x, draw(4, 2), draw(2, 3)]),
        Case(contracted_along_a_path, (x, draw(4, 2), draw(2, 3)), options=PLAIN,
             covers=(np.einsum_path,)),
        *since("2.1.0", plain(getattr(np, "unstack", None), x, axis=1)),
        Case(methods, (x,), options=PLAIN, covers=(
            np.ndarray.T, np.ndarray.mT, np.ndarray.flat, np.ndarray.__divmod__, np.flatiter,
            np.flatiter.copy, np.flatiter.__array__, np.ndarray.__array_wrap__,
        )),
        Case(parts_of_complex, (draw(4, dtype=complex), draw(4)), options=PLAIN,
             covers=(np.ndarray.real, np.ndarray.imag)),
    ]  # fmt: skip


def trimmed(x: np.ndarray) -> Any:
    padded = np.concatenate([[0.0, 0.0], x, [0.0]])
    return np.trim_zeros(padded) * np.trim_zeros(padded[2:], "b") * np.trim_zeros(padded)[::-1]


def selected_by_ix(x: np.ndarray) -> Any:
    x[np.ix_([0, 2], [1, 3])] *= 2.0
    return x[np.ix_([True, False, True], [1, 2])]


def joined_by_subscript(x: np.ndarray) -> Any:
    table = np.c_[np.r_[x, 1.5, x[:2]], np.r_[x[0] : 3.0 : 8j]]
    return table[np.s_[1:5], np.index_exp[1][0]]


def contracted_along_a_path(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    path, _ = np.einsum_path("ij,jk,kl->il", a, b, c)
    return np.einsum("ij,jk,kl->il", a, b, c, optimize=path)


def methods(x: np.ndarray) -> Any:
    """Use attributes of arrays other than functions of the same name."""
    x.flat[5:7] = x.flat[[1, 1]]
    x.T[1] *= 2.0
    y = x.flat.copy() * sum(v * v for v in x.flat)
    quotient, rest = divmod(x, 0.75)
    y = x.__array_wrap__(y)
    return [y, x.mT @ np.asarray(x.flat).reshape(x.shape), quotient * x + rest * x]


def parts_of_complex(z: np.ndarray, a: np.ndarray) -> Any:
    z.real = a
    z.imag *= 2.0
    z.imag[1:] += a[:-1]
    return z * z.real + z.imag


def making_cases() -> list[Case]:
    """Return cases of functions that make arrays of numbers."""
    low, high = np.abs(draw(3)), 1.5 + np.abs(draw(3, seed=1))
    return [
        plain(np.geomspace, 1.0, 2.0, 5),
        plain(np.geomspace, -low, -high, 5, label="negative"),
        plain(np.logspace, 1.0, 2.0, 5, True, 3.0, label="base"),
        plain(np.logspace, low, high, 4, label="arrays"),
        plain(np.fromfunction, lambda i, j: 1.5 * i + j, (2, 3), label="constant"),
        plain(filled_by_function, 1.5),
        Case(gridded, (0.1,), options=PLAIN, covers=(np.mgrid, np.ogrid)),
        plain(np.arange, 0.1, 4.0, 0.7, label="limits"),
        plain(started_by_keyword, 0.1, 0.7),
    ]


def filled_by_function(a: float) -> Any:
    return np.fromfunction(lambda i, j: a * i + j * a * a, (2, 3))


def gridded(a: float) -> Any:
    opened = np.ogrid[a:3.0:0.7]
    return np.mgrid[a:3.0:5j] * np.mgrid[a:3.0:0.6, 0:2][0, 1, 1] + opened[0]


def started_by_keyword(a: float, step: float) -> Any:
    return np.arange(start=a, stop=4.0, step=step)


def window_cases() -> list[Case]:
    """Return cases of windows, which are constants except for the parameter of Kaiser's."""
    x = draw(5)
    return [
        plain(np.kaiser, 5, 2.5),
        *(Case(windowed, (x, window), label=window.__name__, options=PLAIN, covers=(window,))
          for window in (np.bartlett, np.blackman, np.hamming, np.hanning)),
    ]  # fmt: skip


def windowed(x: np.ndarray, window: Callable[[int], np.ndarray]) -> Any:
    return x * window(len(x))


def scale_cases() -> list[Case]:
    """Return cases of differences on grids whose places have a derivative."""
    x, places = draw(5), np.array([0.0, 0.3, 0.9, 1.3, 2.0])
    table = draw(4, 5)
    return [
        *(plain(np.gradient, x, 0.3, edge_order=order, label=f"step-{order}") for order in (1, 2)),
        # Older ones assign to the shape of an array, which is refused.
        *since(
            "2.4.0",
            plain(np.gradient, x, places, edge_order=1, label="places-1"),
            plain(np.gradient, x, places, edge_order=2, label="places-2"),
            plain(np.gradient, table, places[:4], 0.5, label="two"),
        ),
        plain(np.gradient, draw(4, 3, 5), 0.5, 0.7, axis=(0, -1), label="axes"),
        plain(np.trapezoid, table, None, 0.4, 0, label="step"),
        plain(np.trapezoid, table, draw(4, 5, seed=1), 1.0, 0, label="places"),
        plain(np.unwrap, 4 * table, 3.0, 0, label="axis"),
        plain(unwrapped_by_period, 4 * table, 3.0),
    ]


def unwrapped_by_period(x: np.ndarray, period: float) -> Any:
    return np.unwrap(x, period=period)


def calling_cases() -> list[Case]:
    """Return cases of functions that call Python code for each element."""
    x = draw(3, 4)
    return [
        Case(by_pieces, (x, 1.5), options=PLAIN, covers=(np.piecewise,)),
        Case(element_by_element, (x,), options=PLAIN, covers=(np.vectorize, np.ndenumerate)),
        Case(line_by_line, (x,), options=PLAIN, covers=(np.apply_along_axis,)),
    ]


def by_pieces(x: np.ndarray, a: float) -> Any:
    return np.piecewise(x, [x < -0.5, x > 0.5], [lambda v: a * v, lambda v: v * v, a])


def element_by_element(x: np.ndarray) -> Any:
    squares = np.vectorize(lambda v: v * v, otypes=[float])(x)
    return squares + sum(v * i * j for (i, j), v in np.ndenumerate(x))


def line_by_line(x: np.ndarray) -> Any:
    return np.apply_along_axis(lambda line: line * line[0], 1, x)
