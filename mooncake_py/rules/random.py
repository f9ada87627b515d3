"""Random numbers: draws run natively, and draws with parameters have pathwise derivatives.

A draw from a family of location and scale is ``loc + scale * z``, where z has no parameters; its
derivative keeps z fixed.  For other families the parameters must be constant.  A draw advances the
generator as in the primal, and the reverse pass does not restore it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import BitGenerator, Generator, RandomState, SeedSequence

from mooncake_py.rules.declare import from_vjp, not_implemented, overlay, refused, zero_derivative
from mooncake_py.rules.generator_states import rewound, source_of, state_of
from mooncake_py.rules.kinds import NotImplementedDerivative

__all__ = [
    "CONSTANT_PARAMETERS",
    "WITHOUT_PARAMETERS",
    "constant_parameter",
    "drawn",
]

GENERATORS = (Generator, RandomState)

WITHOUT_PARAMETERS = frozenset({
    "bytes", "get_state", "integers", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "seed", "set_state", "spawn", "standard_cauchy", "standard_exponential",
    "standard_normal", "tomaxint",
})  # fmt: skip
"""Methods of NumPy's generators that take no parameter with a derivative."""

CONSTANT_PARAMETERS = frozenset({
    "binomial", "geometric", "hypergeometric", "logseries", "multinomial",
    "multivariate_hypergeometric", "negative_binomial", "poisson", "zipf",
})  # fmt: skip
"""Methods that draw integers: their parameters must be constant."""


def methods(name: str) -> Iterator[Any]:
    """Yield the method of that name of each generator class that has it."""
    for owner in GENERATORS:
        if name in vars(owner):
            yield vars(owner)[name]


# Draws without parameters, and the making of generators.

zero_derivative(
    *(method for name in sorted(WITHOUT_PARAMETERS) for method in methods(name)),
    *(vars(cls)["spawn"] for cls in (BitGenerator, SeedSequence) if hasattr(cls, "spawn")),
    np.random.default_rng, np.random.seed, np.random.sample, np.random.ranf,
    np.random.SeedSequence, np.random.RandomState, np.random.Generator, np.random.PCG64,
    np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64,
    random.Random, random.Random.random, random.Random.getrandbits, random.Random.randrange,
    random.Random.randint, random.Random.seed, random.Random.getstate, random.Random.setstate,
    because="draws without parameters that have a derivative",
)  # fmt: skip


# Draws whose parameters must be constant.


INTEGERS = "draws integers, which jump where the parameter changes"
HOLD_CONSTANT = "hold the parameter constant, or use a score-function estimator"


refused(
    *(method for name in sorted(CONSTANT_PARAMETERS) for method in methods(name)),
    why=INTEGERS,
    fix=HOLD_CONSTANT,
)  # fmt: skip


def constant_parameter(name: str, parameter: str) -> NotImplementedDerivative:
    """Return a stand-in for the derivative with respect to such a parameter."""
    return not_implemented(
        f"{name} draws by rejection, and the derivative of its distribution function is missing\n"
        f"it is the parameter {parameter!r}; argument 0 is the generator"
    )


# Location and scale: y = loc + scale * z.  Of a scale of zero, z is drawn again by itself.


def drawn(
    name: str, self: Any, parameters: tuple[Any, ...], size: Any, scale: Any, standard: Any
) -> tuple[Any, Any]:
    """Return a draw, and where a scale is zero what the standard parameters would have drawn."""
    method = getattr(Generator if isinstance(self, Generator) else RandomState, name)
    if np.all(scale):
        return method(self, *parameters, size), None
    source = source_of(self)
    before = state_of(source)
    y = method(self, *parameters, size)
    with rewound(source, before):
        return y, method(self, *standard, np.shape(y))


def declare_location_and_scale(name: str) -> None:
    """Declare the derivatives of the draws of such a family."""

    def rule(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
        y, z = drawn(name, self, (loc, scale), size, scale, (0.0, 1.0))

        def pullback(dy: Any) -> tuple[Any, ...]:
            return None, dy, lambda: dy * ((y - np.asarray(loc)) / scale if z is None else z)

        return y, pullback

    from_vjp(getattr(Generator, name), getattr(RandomState, name))(rule)


def declare_scale(name: str) -> None:
    """Declare the derivatives of the draws of a family with a scale alone."""

    def rule(self: Any, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
        y, z = drawn(name, self, (scale,), size, scale, (1.0,))
        return y, lambda dy: (None, dy * (y / np.asarray(scale) if z is None else z))

    from_vjp(getattr(Generator, name), getattr(RandomState, name))(rule)


for family in ("normal", "laplace", "logistic", "gumbel"):
    declare_location_and_scale(family)
for family in ("exponential", "rayleigh"):
    declare_scale(family)


@from_vjp(Generator.uniform, RandomState.uniform)
def uniform_rule(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    """Return y = low + (high - low) u:  dlow = (1 - u) dy,  dhigh = u dy."""
    width = np.asarray(high) - np.asarray(low)
    y, z = drawn("uniform", self, (low, high), size, width, (0.0, 1.0))

    def uniform_pullback(dy: Any) -> tuple[Any, ...]:
        u = (y - np.asarray(low)) / width if z is None else z
        return None, dy * (1 - u), dy * u

    return y, uniform_pullback


@from_vjp(Generator.lognormal, RandomState.lognormal)
def lognormal_rule(self: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """Return y = exp(mean + sigma z):  dmean = y dy,  dsigma = y z dy."""
    y, one = drawn("lognormal", self, (mean, sigma), size, sigma, (0.0, 1.0))

    def lognormal_pullback(dy: Any) -> tuple[Any, ...]:
        z = (np.log(y) - np.asarray(mean)) / sigma if one is None else np.log(one)
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


zero_derivative(
    standard_gauss, standard_normalvariate,
    because="draws without parameters that have a derivative",
)  # fmt: skip
