"""The entries of what ways of rules have computed: see `application.rule_ways`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.apply import shares_memory
from mooncake_py.modes.reverse.tape import Tape
from mooncake_py.rules.kinds import Like
from mooncake_py.runtime import drops, pulls, rule_pulls
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.values import FLOAT64, is_inexact

if TYPE_CHECKING:
    from mooncake_py.rules.kinds import BilinearRule, LinearRule, Rule

__all__ = ["Recorder"]


class Recorder(Tape):
    """Records the common calls of rules; each method returns the value that the program sees."""

    is_linear_only = False  # what a linear function adds has no part in the way back

    # Numbers.

    def record_slope(self, y: Any, a: Active, p: float) -> Active:
        """Record a number that moves with another one, by its slope; return it, active."""
        y = active_number(y, self)
        self.record((pulls.pull_scalar_one, y, a, p))
        return y

    def record_slopes(self, y: Any, a: Active, p: float, b: Active, q: float) -> Active:
        """Record a number that moves with two others, by its slopes; return it, active."""
        y = active_number(y, self)
        self.record((pulls.pull_scalar_two, y, a, p, b, q))
        return y

    def record_sum(self, y: Any, nodes: list[Active]) -> Active:
        """Record the sum of numbers; return it, active."""
        y = active_number(y, self)
        self.record((rule_pulls.pull_sum, y, nodes))
        return y

    def record_array(self, y: ndarray, nodes: list[Active | None]) -> ndarray:
        """Record an array made of numbers; return it, active."""
        memory = self.known[id(y)] = Memory.of(y)
        self.record((rule_pulls.pull_numbers, memory, nodes))
        return y

    # Arrays.

    def record_linear(
        self, rule: LinearRule, f: Any, y: Any, node: Any, args: Any, kwargs: Any
    ) -> Any:
        """Record what a linear function has made of an array, the first argument."""
        a = args[0]
        t = type(y)
        if t is ndarray and y.dtype is FLOAT64 and y.base is None and y is not a:
            result = y
            out: Any = Memory.of(y)
            self.known[id(y)] = out
        elif t is np.float64:
            out = result = active_number(y, self)
        elif not is_inexact(y):
            return drops.output(self, rule, y, args)
        elif shares_memory(self, y, (node,), args, (0,)):
            return y
        else:
            result, out = self.fresh_output(y)
        saved = Like(a.shape, FLOAT64, a.strides), *args[1:]
        fits = ((a.shape, FLOAT64),)
        self.record((rule_pulls.pull_linear, out, rule, rule.adjoint, (node,), fits, saved, kwargs))
        return result

    def record_total(
        self, rule: LinearRule, f: Any, y: Any, a: ndarray, node: Any, number: int
    ) -> Active:
        """Record the sum of all elements of an array, divided by a number."""
        result = active_number(y, self)
        self.record((rule_pulls.pull_total, result, rule, node, a.shape, number))
        return result

    def record_extremum(self, rule: Rule, y: Any, a: ndarray, node: Any) -> Active:
        """Record the largest or the smallest of all elements of an array."""
        result = active_number(y, self)
        node.protect()
        self.record((rule_pulls.pull_extremum, result, rule, node, a, y))
        return result

    def record_product(
        self, rule: BilinearRule, f: Any, y: Any, a: ndarray, b: ndarray, na: Any, nb: Any
    ) -> Any:
        """Record the product of two arrays, of which one is active."""
        t = type(y)
        if t is ndarray:
            is_usual = y.dtype is FLOAT64 and y.base is None
        else:
            is_usual = t is np.float64
        if not is_usual or a.dtype is not FLOAT64 or b.dtype is not FLOAT64:
            return self.record_bilinear(rule, y, a, b, (na, nb), (), {})
        of_a = of_b = None
        if na is not None:
            of_a = Like(a.shape, FLOAT64, a.strides), self.as_kept(b, nb)
        if nb is not None:
            of_b = self.as_kept(a, na), Like(b.shape, FLOAT64, b.strides)
        if t is ndarray:
            pull, result = rule_pulls.pull_bilinear, y
            node: Any = Memory.of(y)
            self.known[id(y)] = node
        else:
            pull = rule_pulls.pull_dot if a.ndim == b.ndim == 1 else rule_pulls.pull_bilinear
            node = result = active_number(y, self)
        fits = (a.shape, FLOAT64), (b.shape, FLOAT64)
        self.record((pull, node, rule, rule.adjoints, (na, nb), fits, (of_a, of_b), {}))
        return result

    def record_interpolated(
        self, y: Any, x: Any, xp: ndarray, of_xp: Any, fp: ndarray, of_fp: Any, place: Any
    ) -> Active:
        """Record an interpolation at one number, by where that is among the nodes."""
        result = active_number(y, self)
        nodes = None if of_xp is None else self.registry.activate(xp)
        values = None if of_fp is None else self.registry.activate(fp)
        self.record((rule_pulls.pull_interpolated, result, x, nodes, values, place))
        return result

    def as_kept(self, a: ndarray, node: Any) -> ndarray:
        """Return an array as the tape may refer to it."""
        if node is not None:
            return node.keep(a)
        self.registry.protect(a)
        return a
