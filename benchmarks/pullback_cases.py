"""Functions of each family of rules, with handwritten adjoints in NumPy.

The adjoints are what one would write for such arguments and no others: real, of this shape, finite.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PULLBACKS", "Pullback"]

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Pullback:
    """A function of arrays of one size.

    Parameters
    ----------
    family, name : str
    function : callable
    arguments : callable
        From a generator of random numbers and the number of elements to the arguments.
    adjoint : callable
        From the cotangent of the output and the arguments to theirs, in memory of their own.
    """

    family: str
    name: str
    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], Arrays]
    adjoint: Callable[..., Arrays]


def one(random: np.random.Generator, size: int) -> Arrays:
    """Return one vector."""
    return (random.standard_normal(size),)


def two(random: np.random.Generator, size: int) -> Arrays:
    """Return two vectors."""
    return random.standard_normal(size), random.standard_normal(size)


def matrix(random: np.random.Generator, size: int) -> Arrays:
    """Return a square matrix that is far from singular."""
    n = math.isqrt(size)
    return (random.standard_normal((n, n)) + 2 * math.sqrt(n) * np.eye(n),)


def matrices(random: np.random.Generator, size: int) -> Arrays:
    """Return two such matrices."""
    return *matrix(random, size), *matrix(random, size)


def table(random: np.random.Generator, size: int) -> Arrays:
    """Return points, nodes in order and the values there."""
    nodes = np.linspace(0.0, 1.0, size) ** 1.1
    return random.uniform(0.01, 0.99, size), nodes, random.standard_normal(size)


def norm_adjoint(g: Any, x: Any) -> Arrays:
    """Return g x / |x|."""
    return (x * (g / math.sqrt(x.dot(x))),)


def max_adjoint(g: Any, x: Any) -> Arrays:
    """Give all to the largest element."""
    return (np.where(x == x.max(), g, 0.0),)


def std_adjoint(g: Any, x: Any) -> Arrays:
    """Return g (x - mean) / (n std)."""
    deviations = x - x.mean()
    deviations *= g / math.sqrt(x.size * deviations.dot(deviations))
    return (deviations,)


def median_adjoint(g: Any, x: Any) -> Arrays:
    """Give half to each of the middle elements of an even number."""
    middle = x.size // 2
    order = np.argpartition(x, (middle - 1, middle))
    dx = np.zeros(x.size)
    dx[order[middle - 1 : middle + 1]] = g / 2
    return (dx,)


def diff_adjoint(g: Any, x: Any) -> Arrays:
    """Return the differences of g the other way round."""
    dx = np.empty(x.size)
    dx[0] = -g[0]
    np.subtract(g[:-1], g[1:], out=dx[1:-1])
    dx[-1] = g[-1]
    return (dx,)


def sort_adjoint(g: Any, x: Any) -> Arrays:
    """Send each cotangent where its element came from."""
    dx = np.empty(x.size)
    dx[np.argsort(x)] = g
    return (dx,)


def inside_adjoint(g: Any, x: Any) -> Arrays:
    """Frame the cotangent of x[1:-1] by zeros."""
    dx = np.zeros(x.size)
    dx[1:-1] = g
    return (dx,)


def reordered(x: Any) -> np.ndarray:
    """Return the indices of every third element, round and round."""
    return np.arange(0, 3 * x.size, 3) % x.size


def gather_adjoint(g: Any, x: Any) -> Arrays:
    """Add each cotangent where its element was read."""
    return (np.bincount(reordered(x), g, x.size),)


def mask_adjoint(g: Any, x: Any) -> Arrays:
    """Put the cotangents where the mask holds."""
    dx = np.zeros(x.size)
    dx[x > 0] = g
    return (dx,)


def shifted(x: Any) -> Any:
    """Add each element to the next, in place."""
    x[1:] += x[:-1]
    return x


def shifted_adjoint(g: Any, x: Any) -> Arrays:
    """Add each cotangent to that of the element before."""
    dx = g.copy()
    dx[:-1] += g[1:]
    return (dx,)


def solve_adjoint(g: Any, a: Any, b: Any) -> Arrays:
    """Solve the transposed system."""
    db = np.linalg.solve(a.T, g)
    return -(db @ np.linalg.solve(a, b).T), db


def inv_adjoint(g: Any, a: Any) -> Arrays:
    """Return -Y^T G Y^T."""
    inverse = np.linalg.inv(a).T
    return (-(inverse @ g @ inverse),)


def slogdet_adjoint(g: Any, a: Any) -> Arrays:
    """Return g A^-T."""
    return (g * np.linalg.inv(a).T,)


def rfft_adjoint(g: Any, x: Any) -> Arrays:
    """Transform back; the pairs, which `irfft` counts twice, count once."""
    halved = g * 0.5
    halved[0] *= 2
    if x.size % 2 == 0:
        halved[-1] *= 2
    return (np.fft.irfft(halved, x.size, norm="forward"),)


def interp_adjoint(g: Any, x: Any, xp: Any, fp: Any) -> Arrays:
    """Share g between the nodes on both sides."""
    k = np.searchsorted(xp, x, side="right") - 1
    width = xp[k + 1] - xp[k]
    t = (x - xp[k]) / width
    dx = g * (fp[k + 1] - fp[k]) / width
    gt, dt = g * t, dx * t
    n = xp.size
    dfp = np.bincount(k, g - gt, n) + np.bincount(k + 1, gt, n)
    dxp = np.bincount(k, dt - dx, n) - np.bincount(k + 1, dt, n)
    return dx, dxp, dfp


PULLBACKS = (
    Pullback("elementwise", "exp", lambda x: np.exp(x), one, lambda g, x: (g * np.exp(x),)),
    Pullback("elementwise", "sin", lambda x: np.sin(x), one, lambda g, x: (g * np.cos(x),)),
    Pullback("elementwise", "x + y", lambda x, y: x + y, two, lambda g, x, y: (g.copy(), g.copy())),
    Pullback("elementwise", "x * y", lambda x, y: x * y, two, lambda g, x, y: (g * y, g * x)),
    Pullback("elementwise", "maximum", lambda x, y: np.maximum(x, y), two,
             lambda g, x, y: (np.where(x > y, g, 0.0), np.where(x > y, 0.0, g))),
    Pullback("reductions", "sum", lambda x: np.sum(x), one, lambda g, x: (np.full(x.shape, g),)),
    Pullback("reductions", "mean", lambda x: np.mean(x), one,
             lambda g, x: (np.full(x.shape, g / x.size),)),
    Pullback("reductions", "max", lambda x: np.max(x), one, max_adjoint),
    Pullback("norms", "norm", lambda x: np.linalg.norm(x), one, norm_adjoint),
    Pullback("cumulative", "cumsum", lambda x: np.cumsum(x), one,
             lambda g, x: (np.cumsum(g[::-1])[::-1].copy(),)),
    Pullback("differences", "diff", lambda x: np.diff(x), one, diff_adjoint),
    Pullback("joining", "concatenate", lambda x, y: np.concatenate([x, y]), two,
             lambda g, x, y: (g[: x.size].copy(), g[x.size :].copy())),
    Pullback("joining", "stack", lambda x, y: np.stack([x, y], 1), two,
             lambda g, x, y: (g[:, 0].copy(), g[:, 1].copy())),
    Pullback("shaping", "transpose", lambda a: np.transpose(a), matrix, lambda g, a: (g.T.copy(),)),
    Pullback("shaping", "roll", lambda x: np.roll(x, 3), one, lambda g, x: (np.roll(g, -3),)),
    Pullback("repeating", "tile", lambda x: np.tile(x, 3), one,
             lambda g, x: (g.reshape(3, -1).sum(0),)),
    Pullback("contraction", "x @ y", lambda x, y: x @ y, two, lambda g, x, y: (g * y, g * x)),
    Pullback("contraction", "A @ B", lambda a, b: a @ b, matrices,
             lambda g, a, b: (g @ b.T, a.T @ g)),
    Pullback("contraction", "einsum", lambda a, b: np.einsum("ij,ij->i", a, b), matrices,
             lambda g, a, b: (g[:, None] * b, g[:, None] * a)),
    Pullback("sorting", "sort", lambda x: np.sort(x), one, sort_adjoint),
    Pullback("selection", "where", lambda x, y: np.where(x > y, x, y), two,
             lambda g, x, y: (np.where(x > y, g, 0.0), np.where(x > y, 0.0, g))),
    Pullback("selection", "clip", lambda x: np.clip(x, -1.0, 1.0), one,
             lambda g, x: (g * ((x > -1.0) & (x < 1.0)),)),
    Pullback("selection", "take", lambda x: np.take(x, reordered(x)), one, gather_adjoint),
    Pullback("indexing", "x[1:-1]", lambda x: x[1:-1], one, inside_adjoint),
    Pullback("indexing", "x[indices]", lambda x: x[reordered(x)], one, gather_adjoint),
    Pullback("indexing", "x[x > 0]", lambda x: x[x > 0], one, mask_adjoint),
    Pullback("writing", "x[1:] += x[:-1]", shifted, one, shifted_adjoint),
    Pullback("linear systems", "solve", lambda a, b: np.linalg.solve(a, b), matrices,
             solve_adjoint),
    Pullback("linear systems", "inv", lambda a: np.linalg.inv(a), matrix, inv_adjoint),
    Pullback("linear systems", "slogdet", lambda a: np.linalg.slogdet(a)[1], matrix,
             slogdet_adjoint),
    Pullback("fft", "rfft", lambda x: np.fft.rfft(x), one, rfft_adjoint),
    Pullback("statistics", "var", lambda x: np.var(x), one,
             lambda g, x: ((x - x.mean()) * (2 * g / x.size),)),
    Pullback("statistics", "std", lambda x: np.std(x), one, std_adjoint),
    Pullback("statistics", "median", lambda x: np.median(x), one, median_adjoint),
    Pullback("interpolation", "interp", lambda x, xp, fp: np.interp(x, xp, fp), table,
             interp_adjoint),
)  # fmt: skip
