"""Random numbers: draws run as they are, and a draw with parameters is differentiated pathwise.

A draw from a family of location and scale is ``loc + scale * z``, where z has no parameters; its
derivative keeps z fixed.  Of other families the parameters must be constant.  A draw moves the
generator on, as the primal does, and the reverse pass does not move it back.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator, RandomState

from mooncake_py.rules.declare import from_vjp, not_implemented, overlay, zero_derivative
from mooncake_py.rules.kinds import NotImplementedDerivative

__all__ = ["CONSTANT_PARAMETERS", "WITHOUT_PARAMETERS"]

GENERATORS = (Generator, RandomState)

WITHOUT_PARAMETERS = frozenset({
    "bytes", "get_state", "integers", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "seed", "set_state", "spawn", "standard_cauchy", "standard_exponential",
    "standard_normal", "tomaxint",
})  # fmt: skip
"""Methods of NumPy's generators that take no parameter with a derivative."""

CONSTANT_PARAMETERS = frozenset({
    "beta", "binomial", "chisquare", "dirichlet", "f", "gamma", "geometric", "hypergeometric",
    "logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "pareto", "poisson", "power",
    "standard_gamma", "standard_t", "triangular", "vonmises", "wald", "weibull", "zipf",
})  # fmt: skip
"""Methods whose parameters must be constant."""


def methods(name: str) -> Iterator[Any]:
    """Yield the method of that name of each generator class that has it."""
    for owner in GENERATORS:
        if name in vars(owner):
            yield vars(owner)[name]


# Draws without parameters, and the making of generators.

zero_derivative(
    *(method for name in sorted(WITHOUT_PARAMETERS) for method in methods(name)),
    np.random.default_rng, np.random.seed, np.random.sample, np.random.ranf, np.random.SeedSequence, np.random.RandomState,
    np.random.Generator, np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64,
    random.Random.random, random.Random.getrandbits, random.Random.randrange,
    random.Random.randint, random.Random.seed, random.Random.getstate, random.Random.setstate,
    random.Random,
    because="draws without parameters that have a derivative",
)  # fmt: skip


# Draws whose parameters must be constant.


def declare_constant_parameters(method: Any, name: str) -> None:
    """Declare a draw that raises if one of its parameters is active."""

    @from_vjp(method)
    def draw_rule(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        missing: NotImplementedDerivative = not_implemented(
            f"{name} draws are not differentiated with respect to their parameters"
        )
        return method(*args, **kwargs), lambda dy: (missing,) * len(args)


for _name in sorted(CONSTANT_PARAMETERS):
    for _method in methods(_name):
        declare_constant_parameters(_method, _name)


# Location and scale: y = loc + scale * z.


@from_vjp(Generator.normal, RandomState.normal)
def normal_rule(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    return of_location_and_scale(self.normal(loc, scale, size), loc, scale)


@from_vjp(Generator.laplace, RandomState.laplace)
def laplace_rule(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    return of_location_and_scale(self.laplace(loc, scale, size), loc, scale)


@from_vjp(Generator.logistic, RandomState.logistic)
def logistic_rule(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    return of_location_and_scale(self.logistic(loc, scale, size), loc, scale)


@from_vjp(Generator.gumbel, RandomState.gumbel)
def gumbel_rule(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    return of_location_and_scale(self.gumbel(loc, scale, size), loc, scale)


def of_location_and_scale(y: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
    """Return a draw with its pullback; a scale of zero gives the scale no derivative."""

    def draw_pullback(dy: Any) -> tuple[Any, ...]:
        return None, dy, lambda: dy * quotient_or_zero(y - np.asarray(loc), scale)

    return y, draw_pullback


def quotient_or_zero(a: Any, b: Any) -> Any:
    """Return a / b, and zero where b is zero."""
    b = np.broadcast_to(np.asarray(b, dtype=float), np.shape(a))
    return np.divide(a, b, out=np.zeros_like(b), where=b != 0)


@from_vjp(Generator.exponential, RandomState.exponential)
def exponential_rule(self: Any, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    y = self.exponential(scale, size)
    return y, lambda dy: (None, dy * quotient_or_zero(y, scale))


@from_vjp(Generator.rayleigh, RandomState.rayleigh)
def rayleigh_rule(self: Any, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    y = self.rayleigh(scale, size)
    return y, lambda dy: (None, dy * quotient_or_zero(y, scale))


@from_vjp(Generator.uniform, RandomState.uniform)
def uniform_rule(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    """y = low + (high - low) u:  dlow = (1 - u) dy,  dhigh = u dy."""
    y = self.uniform(low, high, size)

    def uniform_pullback(dy: Any) -> tuple[Any, ...]:
        u = quotient_or_zero(y - np.asarray(low), np.asarray(high) - np.asarray(low))
        return None, dy * (1 - u), dy * u

    return y, uniform_pullback


@from_vjp(Generator.lognormal, RandomState.lognormal)
def lognormal_rule(self: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """y = exp(mean + sigma z):  dmean = y dy,  dsigma = y z dy."""
    y = self.lognormal(mean, sigma, size)

    def lognormal_pullback(dy: Any) -> tuple[Any, ...]:
        z = quotient_or_zero(np.log(y) - np.asarray(mean), sigma)
        return None, dy * y, dy * y * z

    return y, lognormal_pullback


# The `random` module, as its documentation defines it in terms of draws without parameters.


@overlay(random.Random.uniform)
def python_uniform(self: random.Random, a: Any, b: Any) -> Any:
    return a + (b - a) * self.random()


@overlay(random.Random.gauss)
def python_gauss(self: random.Random, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + standard_gauss(self) * sigma


@overlay(random.Random.normalvariate)
def python_normalvariate(self: random.Random, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + standard_normalvariate(self) * sigma


def standard_gauss(generator: random.Random) -> float:
    """Draw a number with mean 0 and deviation 1 by `gauss`."""
    return generator.gauss(0.0, 1.0)


def standard_normalvariate(generator: random.Random) -> float:
    """Draw a number with mean 0 and deviation 1 by `normalvariate`."""
    return generator.normalvariate(0.0, 1.0)


# Order at random: the same draws shuffle an array of positions, which is then an index.


@overlay(Generator.shuffle)
def shuffle(self: Generator, x: Any, axis: int = 0) -> None:
    if isinstance(x, ndarray):
        rows = np.moveaxis(x, axis, 0)
        rows[...] = rows[shuffled(self, len(rows))]
    else:
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        x[:] = [x[i] for i in shuffled(self, len(x)).tolist()]


@overlay(RandomState.shuffle)
def legacy_shuffle(self: RandomState, x: Any) -> None:
    order = shuffled(self, len(x))
    x[:] = x[order] if isinstance(x, ndarray) else [x[i] for i in order.tolist()]


@overlay(random.Random.shuffle)
def python_shuffle(self: random.Random, x: Any) -> None:
    """Swap element by element, as the original: with rows of an array that is no permutation."""
    for i, j in swaps(self, len(x)):
        x[i], x[j] = x[j], x[i]


@overlay(random.Random.choice)
def python_choice(self: random.Random, seq: Any) -> Any:
    return seq[python_chosen(self, len(seq))]


@overlay(random.Random.choices)
def python_choices(
    self: random.Random, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
) -> list[Any]:
    picked = python_chosen_several(self, len(population), weights, cum_weights, k)
    return [population[i] for i in picked]


@overlay(Generator.permutation)
def permutation(self: Generator, x: Any, axis: int = 0) -> Any:
    if isinstance(x, (int, np.integer)):
        return shuffled(self, x, "permutation")
    rows = np.moveaxis(np.asarray(x), axis, 0)
    return np.moveaxis(rows[shuffled(self, len(rows))], 0, axis)


@overlay(RandomState.permutation)
def legacy_permutation(self: RandomState, x: Any) -> Any:
    if isinstance(x, (int, np.integer)):
        return shuffled(self, x, "permutation")
    rows = np.asarray(x)
    return rows[shuffled(self, len(rows))]


@overlay(Generator.permuted)
def permuted(self: Generator, x: Any, *, axis: Any = None, out: Any = None) -> Any:
    values = np.asarray(x)
    order = permuted_positions(self, values.shape, axis)
    result = np.reshape(np.reshape(values, -1)[order], values.shape)
    if out is None:
        return result
    out[...] = result
    return out


@overlay(Generator.choice)
def choice(
    self: Generator,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Any:
    if isinstance(a, (int, np.integer)):
        return chosen(self, a, size, replace, p, shuffle=shuffle)
    values = np.asarray(a)
    picked = chosen(self, values.shape[axis], size, replace, p, shuffle=shuffle)
    return np.take(values, picked, axis)


@overlay(RandomState.choice)
def legacy_choice(
    self: RandomState, a: Any, size: Any = None, replace: bool = True, p: Any = None
) -> Any:
    if isinstance(a, (int, np.integer)):
        return chosen(self, a, size, replace, p)
    values = np.asarray(a)
    return values[chosen(self, len(values), size, replace, p)]


def shuffled(generator: Any, n: int, method: str = "shuffle") -> ndarray:
    """Return the positions 0 to n - 1 as the generator orders them."""
    if method == "permutation":
        return generator.permutation(n)
    order = np.arange(n)
    generator.shuffle(order)
    return order


def swaps(generator: random.Random, n: int) -> list[tuple[int, int]]:
    """Return the swaps that shuffling a list of length `n` makes."""
    recorder = RecordedSwaps(range(n))
    generator.shuffle(recorder)
    return list(zip(recorder.writes[::2], recorder.writes[1::2], strict=True))


class RecordedSwaps(list[int]):
    """A list that notes where it is written; each swap makes two writes."""

    def __init__(self, items: Iterable[int]) -> None:
        super().__init__(items)
        self.writes: list[int] = []

    def __setitem__(self, i: Any, value: Any) -> None:
        super().__setitem__(i, value)
        self.writes.append(i)


def permuted_positions(generator: Generator, shape: tuple[int, ...], axis: Any) -> ndarray:
    """Return the flat positions that `permuted` puts in place of 0, 1, 2, ..."""
    positions = np.arange(int(np.prod(shape))).reshape(shape)
    return generator.permuted(positions, axis=axis).reshape(-1)


def chosen(generator: Any, n: int, size: Any, replace: bool, p: Any, **options: Any) -> Any:
    """Return the positions that `choice` picks."""
    return generator.choice(n, size, replace, p, **options)


def python_chosen(generator: random.Random, n: int) -> int:
    """Return the position that `choice` picks."""
    return generator.choice(range(n))


def python_chosen_several(
    generator: random.Random, n: int, weights: Any, cum_weights: Any, k: int
) -> list[int]:
    """Return the positions that `choices` picks."""
    return generator.choices(range(n), weights, cum_weights=cum_weights, k=k)


zero_derivative(
    standard_gauss, standard_normalvariate, shuffled, swaps, permuted_positions, chosen,
    python_chosen, python_chosen_several,
    because="draws without parameters that have a derivative",
)  # fmt: skip
