"""Public methods of continuous distributions, in fewer operations where nothing is left out.

SciPy's find the points within the support and put values there; these take all points at once, if
parameters are valid and all points are within.  The values are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import rv_continuous

from mooncake_py.rules.axes import owned
from mooncake_py.rules.declare import elementwise, not_implemented, overlay, zero_derivative
from mooncake_py.rules.sources import without_rule

__all__ = [
    "are_within", "are_within_by_name", "is_counted", "regularity", "regularity_by_name", "whole",
]  # fmt: skip

IRREGULAR, REGULAR, SIMPLE = range(3)
PLAIN = {np.ndarray, float, int, np.float64}
OWN = {
    name: d for name, d in vars(stats).items() if isinstance(d, rv_continuous) and d.name == name
}
"""SciPy's distributions, by name.

What only looks at one is given its name: an object is watched as a whole, in each call, as it may
be of a class of the program.
"""
ATTRIBUTES = {name: frozenset(vars(d)) for name, d in OWN.items()}


def of_name(name: str) -> Any:
    """Return a distribution of SciPy, None if the program has given it a method."""
    own = OWN[name]
    return own if vars(own).keys() == ATTRIBUTES[name] else None


def regularity_by_name(name: str, *args: Any) -> int:
    """Return the same as `regularity`."""
    own = of_name(name)
    return IRREGULAR if own is None else regularity(own, *args)


def are_within_by_name(name: str, *args: Any) -> bool:
    """Return the same as `are_within`."""
    own = of_name(name)
    return own is not None and are_within(own, *args)


def regularity(self: Any, x: Any, shapes: Any, loc: Any, scale: Any, closed: bool) -> int:
    """Return 1 if parameters are valid and all points are within the support, else 0.

    It is 2 if moreover the points are a vector, need not be broadcast with parameters, and are of
    no class of arrays, whose operators could mean something else.
    """
    is_plain = {type(v) for v in (x, loc, scale)} <= PLAIN
    x, loc, scale = np.asarray(x), np.asarray(loc), np.asarray(scale)
    shapes = tuple(map(np.asarray, shapes))
    if x.size == 0 or not (is_double(x) and is_double(loc) and is_double(scale)):
        return IRREGULAR
    if not (scale > 0).all():
        return IRREGULAR
    with np.errstate(all="ignore"):
        z = np.asarray((x - loc) / scale, float)
    mask = self._support_mask if closed else self._open_support_mask
    if z.size == 0 or not np.all(self._argcheck(*shapes)) or not mask(z, *shapes).all():
        return IRREGULAR
    is_simple = is_plain and x.ndim == 1 == z.ndim and not shapes and scale.ndim == 0
    return SIMPLE if is_simple else REGULAR


def are_within(self: Any, q: Any, shapes: Any, loc: Any, scale: Any) -> bool:
    """Return whether parameters are valid and all probabilities are between zero and one."""
    q, loc, scale = np.asarray(q), np.asarray(loc), np.asarray(scale)
    if q.size == 0 or not (is_double(q) and is_double(loc) and is_double(scale)):
        return False
    valid = np.all(self._argcheck(*map(np.asarray, shapes))) and np.all(scale > 0)
    return bool(valid and np.all(np.isfinite(loc)) and np.all((q > 0) & (q < 1)))


def is_double(x: Any) -> bool:
    """Return whether SciPy computes with numbers in double precision."""
    return x.dtype == np.float64 or x.dtype.kind in "iu"


zero_derivative(
    regularity, regularity_by_name, are_within, are_within_by_name, because="chooses a formula"
)


COUNTED = frozenset({"irwinhall", "ksone", "kstwo"})


def is_counted(self: Any) -> bool:
    """Return whether the shape parameter is a count: SciPy rejects it unless it is integral."""
    return type(self).__name__.removesuffix("_gen") in COUNTED


def whole(n: Any) -> Any:
    """Return a count."""
    return n


zero_derivative(is_counted, because="tells classes apart")
elementwise(whole, not_implemented("the size of a sample is an int"))


def at_points(name: str, closed: bool = False) -> None:
    """Declare a method of x, where the support is `closed` or open."""
    method = getattr(rv_continuous, name)
    plain, private = without_rule(method), f"_{name}"
    is_density, is_log_density = name == "pdf", name == "logpdf"

    @overlay(method)
    def quick(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        if kwds or len(args) != self.numargs + 2:
            shapes, loc, scale = self._parse_args(*args, **kwds)
        else:
            shapes, loc, scale = args[:-2], args[-2], args[-1]
        own = self.name in OWN and OWN[self.name] is self
        if shapes and (self.name in COUNTED if own else is_counted(self)):
            shapes = (whole(shapes[0]),)
        if own:
            kind = regularity_by_name(self.name, x, shapes, loc, scale, closed)
        else:
            kind = regularity(self, x, shapes, loc, scale, closed)
        if kind == IRREGULAR:
            return plain(self, x, *shapes, loc, scale)
        if kind != SIMPLE:
            x, loc, scale = map(np.asarray, (x, loc, scale))
        z = (x - loc) / scale
        shape: Any = None
        if kind == REGULAR:
            z, *shapes, scale = np.broadcast_arrays(z, *shapes, scale)
            shape = z.shape
            z, *shapes, scale = [np.ravel(each) for each in (z, *shapes, scale)]
        y = getattr(self, private)(z, *shapes)
        if is_log_density:
            y = y - np.log(scale)
        elif is_density:
            y = y / scale
        return y if shape is None else owned(y, shape)


def at_probabilities(name: str) -> None:
    """Declare a method of q."""
    method = getattr(rv_continuous, name)
    plain, private = without_rule(method), f"_{name}"

    @overlay(method)
    def quick(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
        shapes, loc, scale = self._parse_args(*args, **kwds)
        own = self.name in OWN and OWN[self.name] is self
        if shapes and (self.name in COUNTED if own else is_counted(self)):
            shapes = (whole(shapes[0]),)
        if own:
            within = are_within_by_name(self.name, q, shapes, loc, scale)
        else:
            within = are_within(self, q, shapes, loc, scale)
        if not within:
            return plain(self, q, *shapes, loc, scale)
        arrays = np.broadcast_arrays(q, *shapes, scale, loc)
        shape = arrays[0].shape
        q, *shapes, scale, loc = [np.ravel(each) for each in arrays]
        y = getattr(self, private)(q, *shapes) * scale + loc
        return owned(y, shape)


if all(hasattr(rv_continuous, name) for name in ("_support_mask", "_open_support_mask")):
    at_points("pdf", closed=True)
    at_points("logpdf", closed=True)
    for each in ("cdf", "logcdf", "sf", "logsf"):
        at_points(each)
    for each in ("ppf", "isf"):
        at_probabilities(each)
