"""Densities and distribution functions of `scipy.stats`, as formulas of numbers and arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.formulas import Formula
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, ComplexArray, Number, Unfit, Value
from mooncake_py.compiler.native.functions.truths import gathered
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Const

__all__ = ["density_reader"]

ROOT_2_PI = math.sqrt(2 * math.pi)
Std = Callable[..., Formula]


def special(name: str) -> Any:
    """Return a function of `scipy.special`, which `scipy.stats` has imported."""
    return getattr(sys.modules["scipy.special"], name)


class Standard(NamedTuple):
    """A distribution with location zero and scale one.

    Attributes
    ----------
    shapes : str
        The names of its parameters.
    functions : dict of str to callable
        By the names of methods: takes where, and the parameters.
    low, high : float
        Between them densities are not zero.
    is_discrete : bool
        Whether it is one of whole numbers, which have no scale.
    """

    shapes: str
    functions: dict[str, Std]
    low: float = -math.inf
    high: float = math.inf
    is_discrete: bool = False


def normal_log(z: Formula) -> Formula:
    """Return the logarithm of the density."""
    return -(z * z) / 2.0 - math.log(ROOT_2_PI)


def laplace(z: Formula) -> Formula:
    """Return the density."""
    return (-z(np.absolute))(np.exp) * 0.5


def gamma_log(z: Formula, a: Formula) -> Formula:
    """Return the logarithm of the density."""
    return (a - 1.0)(special("xlogy"), z) - z - a(special("gammaln"))


def beta_log(z: Formula, a: Formula, b: Formula) -> Formula:
    """Return the logarithm of the density."""
    powers = (b - 1.0)(special("xlog1py"), -z) + (a - 1.0)(special("xlogy"), z)
    log = special("gammaln")
    return powers - (a(log) + b(log) - (a + b)(log))


def student_log(z: Formula, df: Formula) -> Formula:
    """Return the logarithm of the density."""
    log, r = special("gammaln"), df * 1.0
    first = ((r + 1.0) / 2.0)(log) - (r / 2.0)(log) - (r * math.pi)(np.log) / 2.0
    return first - (r + 1.0) / 2.0 * (z * z / r)(np.log1p)


def lognormal_log(z: Formula, s: Formula) -> Formula:
    """Return the logarithm of the density."""
    log = z(np.log).kept()
    return -(log * log) / (2.0 * s * s) - (s * z * ROOT_2_PI)(np.log)


def poisson_log(k: Formula, mu: Formula) -> Formula:
    """Return the logarithm of the probability."""
    return k(special("xlogy"), mu) - (k + 1.0)(special("gammaln")) - mu


def binomial_log(k: Formula, n: Formula, p: Formula) -> Formula:
    """Return the logarithm of the probability."""
    log = special("gammaln")
    ways = (n + 1.0)(log) - ((k + 1.0)(log) + (n - k + 1.0)(log))
    return ways + k(special("xlogy"), p) + (n - k)(special("xlog1py"), -p)


def bernoulli_log(k: Formula, p: Formula) -> Formula:
    """Return the logarithm of the probability."""
    return k(special("xlogy"), p) + (1.0 - k)(special("xlog1py"), -p)


def with_density(log: Std) -> dict[str, Std]:
    """Return a density and its logarithm."""
    return {"logpdf": log, "pdf": lambda *args: log(*args)(np.exp)}


DISTRIBUTIONS: dict[str, Standard] = {
    "norm": Standard("", {
        "logpdf": normal_log, "pdf": lambda z: (-(z * z) / 2.0)(np.exp) / ROOT_2_PI,
        "cdf": lambda z: z(special("ndtr")), "logcdf": lambda z: z(special("log_ndtr")),
        "sf": lambda z: (-z)(special("ndtr")), "logsf": lambda z: (-z)(special("log_ndtr")),
    }),
    "expon": Standard("", with_density(lambda z: -z), 0.0),
    "halfnorm": Standard(
        "", with_density(lambda z: math.log(2 / math.pi) / 2.0 - z * z / 2.0), 0.0
    ),
    "halfcauchy": Standard(
        "", with_density(lambda z: math.log(2 / math.pi) - (z * z)(np.log1p)), 0.0
    ),
    "cauchy": Standard("", with_density(lambda z: -math.log(math.pi) - (z * z)(np.log1p))),
    "laplace": Standard("", {  # SciPy takes the logarithm of the density, which may be zero
        "pdf": laplace, "logpdf": lambda z: laplace(z)(np.log),
    }),
    "uniform": Standard("", with_density(lambda z: z * 0.0), 0.0, 1.0),
    "gamma": Standard("a", with_density(gamma_log), 0.0),
    "beta": Standard("a b", with_density(beta_log), 0.0, 1.0),
    "t": Standard("df", with_density(student_log)),
    "lognorm": Standard("s", with_density(lognormal_log), 0.0),
    "poisson": Standard("mu", {"logpmf": poisson_log}, 0.0, is_discrete=True),
    "binom": Standard("n p", {"logpmf": binomial_log}, 0.0, is_discrete=True),
    "bernoulli": Standard("p", {"logpmf": bernoulli_log}, 0.0, 1.0, is_discrete=True),
}  # fmt: skip
POSITIVE = frozenset({"a", "b", "df", "s"})


def density_reader(f: Any) -> Reader | None:
    """Return the reader of a method of a distribution of `scipy.stats`, None if there is none."""
    if type(f) is not MethodType:
        return None
    o = f.__self__
    name = str(getattr(o, "name", None))
    found = DISTRIBUTIONS.get(name)
    if found is None or getattr(sys.modules.get("scipy.stats"), name, None) is not o:
        return None
    std = found.functions.get(f.__name__)
    return None if std is None else read_density(found, f.__name__, std)


def read_density(d: Standard, name: str, std: Std) -> Reader:
    """Return the reader of a method of a distribution."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        b.is_exact = False  # SciPy computes the same in other steps
        first = "k" if d.is_discrete else "x"
        scale_name = "" if d.is_discrete else "scale"
        parts = arranged(b, args, given, f"{first} {d.shapes} loc {scale_name}")
        x, *rest = [None if v is None else Formula(b, operand(b, v)).kept() for v in parts]
        names = [*d.shapes.split(), "loc", *scale_name.split()]
        known = dict(zip(names, rest, strict=True))
        shapes = [v for s in d.shapes.split() if (v := known[s]) is not None]
        if x is None or len(shapes) < len(d.shapes.split()):
            raise Unfit(f"`{name}` without all parameters of the distribution", b.place)
        loc, scale = known["loc"], known.get("scale")
        for s, v in zip(d.shapes.split(), shapes, strict=True):
            if s in POSITIVE:
                require(b, v, "gt", 0.0)  # else it is nan
        z = x * 1.0 if loc is None else x - loc
        if scale is not None:
            require(b, scale, "gt", 0.0)
            z = z / scale
        z = z.kept()
        if d.is_discrete:
            require(b, z, "whole", 0.0)
        is_log = name.startswith("log")
        inside = [
            z.compared(op, bound)
            for op, bound in (("ge", d.low), ("le", d.high))
            if math.isfinite(bound)
        ]
        found = std(z, *shapes)
        if scale is not None and name == "logpdf":
            found = found - scale(np.log)
        elif scale is not None and name == "pdf":
            found = found / scale
        for test in inside:
            found = found.where(test, -math.inf if is_log else 0.0)
        return found.value

    return read


def operand(b: Builder, v: Value) -> Value:
    """Return an argument that must be a number or an array of float64 or of ints."""
    found = v if isinstance(v, Number) else array_of(b, v)
    if isinstance(found, ComplexArray) or found.kind not in (FLOAT, INT):
        raise Unfit(f"a distribution at {said(v)}: use float64", b.place)
    if isinstance(found, Array):
        return found
    return Number(found.e, "int64" if found.kind == INT else "float64")


def require(b: Builder, x: Formula, how: str, than: float) -> None:
    """Leave the region unless all numbers compare so, or are whole."""
    if how == "whole":
        test = x.compared("eq", x(np.floor))
    elif isinstance(x.value, Number) and isinstance(x.value.e, Const):
        if x.value.e.value is not None and x.value.e.value > than:
            return
        raise Unfit("a parameter of a distribution that must be positive", b.place)
    else:
        test = x.compared(how, than)
    value = test.value
    if isinstance(value, Number):
        b.require(value.e)
    elif isinstance(value, Array):
        b.require(gathered(b, "all", value, value.kind))
