"""Forward mode: the tangents of what ways of rules have computed, in place of entries.

A node, to these ways, is the `Active` of a number, or the result of `find` for an array: its
tangent.  They apply where nothing is active below, and along one direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.rule_ways import RuleWays
from mooncake_py.modes.forward import pushforward, quick
from mooncake_py.modes.forward.apply import is_view
from mooncake_py.modes.forward.operations import Operations
from mooncake_py.rules.exact_zeros import pushed
from mooncake_py.rules.extrema import extremum_jvp
from mooncake_py.runtime import drops
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.quiet import Quiet, loud_again, quiet, setting
from mooncake_py.runtime.rule_pulls import NOWHERE
from mooncake_py.runtime.values import is_inexact

if TYPE_CHECKING:
    from mooncake_py.rules.kinds import BilinearRule, ElementwiseRule, LinearRule, Rule

__all__ = ["Recorder"]

NONE = RuleWays()


class Recorder(Operations):
    """The recording interface of reverse mode, with tangents."""

    is_linear_only = True  # what a linear function adds would be added to its tangent
    is_stacked = False  # whether numbers may have tangents along several directions
    ways_found: RuleWays

    @property
    def rule_ways(self) -> RuleWays:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The ways of functions with rules."""
        return self.ways_found if self.plain and not self.is_stacked else NONE

    @property
    def rules(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The token of those that sites may keep."""
        return self.ways_found.token if self.plain and not self.is_stacked else None

    def tangent_of(self, node: Any) -> Any:
        """Return the tangent of a number or an array.

        A number may have several from before this was about one direction.
        """
        return self.split(node)[1] if type(node) is Active else node

    def moved(self, node: Active) -> float:
        """Return the tangent of a real number."""
        return float(self.split(node)[1])

    def record_slope(self, y: Any, a: Active, p: float) -> Active:
        """Return a number that moves with another one, by its slope."""
        return self.fresh_number(y, product(self.moved(a), p))

    def record_slopes(self, y: Any, a: Active, p: float, b: Active, q: float) -> Active:
        """Return a number that moves with two others, by its slopes."""
        return self.fresh_number(y, product(self.moved(a), p) + product(self.moved(b), q))

    def record_sum(self, y: Any, nodes: list[Active]) -> Active:
        """Return the sum of numbers."""
        return self.fresh_number(y, sum(map(self.moved, nodes), 0.0))

    def record_array(self, y: ndarray, nodes: list[Active | None]) -> ndarray:
        """Return an array made of numbers."""
        t = np.array([0.0 if node is None else self.moved(node) for node in nodes])
        return self.fresh_array(y, t.reshape(y.shape))

    def record_one(self, rule: ElementwiseRule, y: Any, x: Any, node: Any) -> Any:
        """Return ``y = f(x)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, (x,), (self.tangent_of(node),))

    def record_two(self, rule: ElementwiseRule, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any:
        """Return ``y = f(a, b)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, (a, b), (self.tangent_of(na), self.tangent_of(nb)))

    def record_elementwise(self, rule: ElementwiseRule, y: Any, args: Any, nodes: Any) -> Any:
        """Return ``y = f(*args)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, args, tuple(map(self.tangent_of, nodes)))

    def record_linear(
        self, rule: LinearRule, f: Any, y: Any, node: Any, args: Any, kwargs: Any
    ) -> Any:
        """Return the output of a linear function of an array, the first argument."""
        if not is_inexact(y):
            return drops.output(self, rule, y, args)
        if is_view(y, args, {0: node}):
            return y
        return self.moving_linearly(f, y, (node, *args[1:]), kwargs)

    def record_total(
        self, rule: LinearRule, f: Any, y: Any, a: ndarray, node: Any, number: int
    ) -> Any:
        """Return the sum of all elements of an array, divided by a number."""
        return self.moving_linearly(f, y, (node,), {})

    def moving_linearly(self, f: Any, y: Any, tangents: tuple[Any, ...], kwargs: Any) -> Any:
        """Return the output of a linear function, whose tangent is that of tangents."""
        t, serves = None, False
        if np.size(tangents[0]):  # of a mean of nothing NumPy's Python code would warn again
            with Quiet():
                t = f(*tangents, **kwargs)
                serves = quick.fits(t, y)
        if not serves:
            t = self.lower(pushforward.of_linear_only, f, tangents, kwargs, y)
        return self.fresh(y, t)

    def record_extremum(self, rule: Rule, y: Any, a: ndarray, node: Any) -> Any:
        """Return the largest or the smallest of all elements of an array."""
        tied = a == y
        with Quiet():
            t = np.add.reduce(np.where(tied, node, 0), axis=None)
            t = t / max(int(np.count_nonzero(tied)), 1)
        if t - t != 0:
            t = self.lower(pushforward.of_jvp, extremum_jvp, (node,), y, (a,))
        return self.fresh_number(y, t)

    def record_product(
        self, rule: BilinearRule, f: Any, y: Any, a: Any, b: Any, na: Any, nb: Any
    ) -> Any:
        """Return the product of two arrays, of which one has a tangent."""
        before = setting()
        try:
            quiet()
            t = f(na, b) if nb is None else f(a, nb) if na is None else f(na, b) + f(a, nb)
            serves = quick.fits(t, y)
        finally:
            loud_again(before)
        if not serves:  # a zero drops what it is multiplied with
            t = self.lower(pushforward.of_bilinear, f, a, b, na, nb, (), {}, y)
        return self.fresh(y, t)

    def record_interpolated(
        self, y: Any, x: Any, xp: ndarray, of_xp: Any, fp: ndarray, of_fp: Any, place: Any
    ) -> Active:
        """Return an interpolation at one number, by where that is among the nodes."""
        side, k, after, t, slope = place
        total = 0.0
        if side == 0:
            moved = 0.0 if x is None else self.moved(x)
            if of_xp is not None:
                moved -= (1.0 - t) * of_xp.item(k) + t * of_xp.item(after)
            total = product(moved, slope)
            if of_fp is not None:
                total += (1.0 - t) * of_fp.item(k) + t * of_fp.item(after)
        elif side != NOWHERE and of_fp is not None:
            total = of_fp.item(0 if side < 0 else -1)
        return self.fresh_number(y, total)


def product(t: float, p: float) -> float:
    """Return ``t * p``, zero where one is zero and the other one is not finite."""
    c = t * p
    if c - c == 0.0:
        return c
    with Quiet():
        return float(pushed(t, p))
