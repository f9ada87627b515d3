"""Functions of published packages, unmodified: derivatives against differences, or an error."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.errors import MooncakeError
from tests.support.gradients import WEIGHTS as DIFFERENCES
from tests.support.gradients import bits

WEIGHTS = np.random.default_rng(11).uniform(0.5, 1.5, 50_000)  # of what a function returns
STEP = 1e-4


@dataclass(frozen=True)
class Case:
    """A function that calls a package, and arguments to differentiate it with respect to.

    Parameters
    ----------
    package, name : str
        As the page shows them.
    function : callable
        Returns numbers, arrays, or tuples and lists of these.
    arguments : tuple
        Floats and float arrays.
    rtol : float
        Of the derivative along a direction, against differences.
    refused : str
        Why no derivative is given, for the reader; empty if it is.
    error : str
        What stands in the error, if it is refused.
    forward : bool
        Whether `jvp` has a derivative too: unlike the gradient it needs those of results that
        nobody reads.
    """

    package: str
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    rtol: float = 1e-5
    refused: str = ""
    error: str = ""
    forward: bool = True

    def __str__(self) -> str:
        return f"{self.package}: {self.name}"

    def problem(self) -> str:
        """Return the error; empty if there is none."""
        try:
            self.check()
        except (Exception, pytest.fail.Exception) as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def check(self) -> None:
        """Compare with differences, or see that the error is raised."""
        if self.refused:
            with pytest.raises(MooncakeError, match=self.error):
                value_and_grad(self.total, self.positions)(*self.arguments)
        else:
            self.check_derivatives()

    def check_derivatives(self) -> None:
        """Compare gradient and `jvp` with differences along a direction; arguments are kept."""
        before = copy.deepcopy(self.arguments)
        value, gradients = value_and_grad(self.total, self.positions)(*self.arguments)
        assert bits(self.arguments) == bits(before), "the arguments are not as they were"
        np.testing.assert_allclose(value, self.total(*copy.deepcopy(before)), rtol=1e-12)
        direction = direction_for(before)
        terms = [float(np.vdot(g, d)) for g, d in zip(gradients, direction, strict=True)]
        expected = self.difference(before, direction)
        scale = max(abs(expected), *(abs(term) for term in terms), 1e-9)
        assert abs(sum(terms) - expected) <= self.rtol * scale, (sum(terms), expected)
        if not self.forward:
            return
        _, tangent = jvp(self.total, self.arguments, direction)
        assert abs(tangent - sum(terms)) <= 1e-9 * scale, (tangent, sum(terms))

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(range(len(self.arguments)))

    def total(self, *arguments: Any) -> Any:
        """Return a weighted sum of what the function returns, of real and imaginary parts."""
        total = 0.0
        for part in leaves(self.function(*arguments)):
            flat = np.reshape(part, -1)
            total = total + np.dot(WEIGHTS[: flat.size], np.real(flat))
            if np.iscomplexobj(flat):
                total = total + np.dot(WEIGHTS[: flat.size], np.imag(flat)) / 2
        return total

    def difference(self, center: tuple[Any, ...], direction: tuple[Any, ...]) -> float:
        """Return the derivative along a direction by central differences."""
        total = 0.0
        for multiple, weight in DIFFERENCES:
            step = multiple * STEP
            moved = [a + step * d for a, d in zip(center, direction, strict=True)]
            total += weight * float(self.total(*moved))
        return total / STEP


def direction_for(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return floats and arrays of the shapes of the arguments, seeded."""
    draw = np.random.default_rng(3)
    return tuple(
        draw.uniform(-1.0, 1.0, np.shape(a)) if np.ndim(a) else float(draw.uniform(-1.0, 1.0))
        for a in arguments
    )


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in nested tuples and lists."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


@dataclass
class Package:
    """The cases of one package, in the order of the page."""

    name: str
    cases: list[Case] = field(default_factory=list)

    def works(
        self, name: str, function: Any, *arguments: Any, rtol: float = 1e-5, forward: bool = True
    ) -> None:
        """Add a function whose derivatives are right."""
        self.cases.append(Case(self.name, name, function, arguments, rtol, forward=forward))

    def refuses(self, name: str, why: str, error: str, function: Any, *arguments: Any) -> None:
        """Add a function that is refused: why, for the reader, and a part of the error."""
        self.cases.append(Case(self.name, name, function, arguments, refused=why, error=error))

    def failures(self) -> list[str]:
        """Check all cases; return what is wrong with each that fails."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages
            return [f"{case}: {problem}" for case in self.cases if (problem := case.problem())]
