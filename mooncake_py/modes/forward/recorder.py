"""Forward mode: the tangents of what ways of rules have computed, in place of entries.

What these ways call a node is the `Active` of a number, and what `find` returns of an array: its
tangent.  They serve where nothing is active below, and along one direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.rule_ways import RuleWays
from mooncake_py.modes.forward.operations import Operations
from mooncake_py.rules.exact_zeros import pushed
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.quiet import Quiet

if TYPE_CHECKING:
    from mooncake_py.rules.kinds import ElementwiseRule

__all__ = ["Recorder"]

NONE = RuleWays()


class Recorder(Operations):
    """What reverse mode records, with tangents."""

    ways_found: RuleWays

    @property
    def rule_ways(self) -> RuleWays:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The ways of functions with rules."""
        return self.ways_found if self.plain and not self.several else NONE

    @property
    def rules(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The token of those that sites may keep."""
        return self.ways_found.token if self.plain and not self.several else None

    def record_slope(self, y: Any, a: Active, p: float) -> Active:
        """Return a number that moves with another one, by its slope."""
        return self.fresh_number(y, along(a, p))

    def record_slopes(self, y: Any, a: Active, p: float, b: Active, q: float) -> Active:
        """Return a number that moves with two others, by its slopes."""
        return self.fresh_number(y, along(a, p) + along(b, q))

    def record_sum(self, y: Any, nodes: list[Active]) -> Active:
        """Return the sum of numbers."""
        return self.fresh_number(y, sum([node.grad for node in nodes], 0.0))

    def record_array(self, y: ndarray, nodes: list[Active | None]) -> ndarray:
        """Return an array made of numbers."""
        t = np.array([0.0 if node is None else float(node.grad) for node in nodes])
        return self.fresh_array(y, t.reshape(y.shape))

    def record_one(self, rule: ElementwiseRule, y: Any, x: Any, node: Any) -> Any:
        """Return ``y = f(x)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, (x,), (tangent_of(node),))

    def record_two(self, rule: ElementwiseRule, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any:
        """Return ``y = f(a, b)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, (a, b), (tangent_of(na), tangent_of(nb)))

    def record_elementwise(self, rule: ElementwiseRule, y: Any, args: Any, nodes: Any) -> Any:
        """Return ``y = f(*args)`` for an elementwise rule."""
        return self.push_elementwise(rule, y, args, tuple(map(tangent_of, nodes)))


def along(a: Active, p: float) -> float:
    """Return the tangent that a slope makes of that of a number."""
    t = float(a.grad)
    c = t * p
    if c - c == 0.0:
        return c
    with Quiet():
        return float(pushed(t, p))


def tangent_of(node: Any) -> Any:
    """Return the tangent of a number or an array."""
    return node.grad if type(node) is Active else node
