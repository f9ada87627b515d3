"""One forward and one reverse pass of a rule, with all data that the checks need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.application.copying import copy_jointly
from mooncake_py.errors import MissingRuleError, PullbackReuseError, UnsupportedSyntaxError
from mooncake_py.tangents import (
    CoDual,
    NoFData,
    NoTangent,
    fdata,
    increment,
    randn_tangent,
    rdata,
    zero_tangent,
)
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.testing.case import Case, path
from mooncake_py.testing.compare import freeze
from mooncake_py.testing.failure import failure
from mooncake_py.testing.pairing import Pairing, holds_nothing
from mooncake_py.testing.structure import Part, children, walk, walk_all

__all__ = ["Cycle", "zero_fdata"]


def zero_fdata(values: tuple[Any, ...]) -> list[Any]:
    """Return zero fdata for several values, which share memory as the values do."""
    tangents = zero_tangent(values)
    return [fdata(t) for t in split_tangent(tangents, len(values))]


def split_tangent(tangents: Any, count: int) -> tuple[Any, ...]:
    """Return the parts of the tangent of a tuple, also if the tangent is NoTangent."""
    return (NoTangent(),) * count if isinstance(tangents, NoTangent) else tuple(tangents)


class Cycle:
    """A run of the rule on a fresh copy of the inputs.

    Parameters
    ----------
    case : Case
        The rule and its inputs.
    constant : int, optional
        Position of an input that gets ``NoFData()`` in place of its fdata.

    Attributes
    ----------
    inputs : Inputs
        The primals given to the rule.
    fdata : list
        The fdata passed to the rule, those of the function first.
    output : CoDual
        The result of the forward pass.
    before : list
        State of the inputs before the call, bit for bit.
    exit_cotangents : tuple
        Copies of the fdata of the inputs and of the fdata and rdata of the output at the call of
        the pullback.
    rdata : tuple
        The result of the pullback.
    """

    def __init__(self, case: Case, constant: int | None = None) -> None:
        self.case = case
        self.inputs = case.inputs.copy()
        self.before = freeze(self.inputs.roots())
        self.fdata = zero_fdata(case.differentiated(self.inputs).values)
        if constant is not None:
            self.fdata[constant] = NoFData()
        self.output, self.pullback = self._forward()
        self.dy: Any = rdata(zero_tangent(self.output.primal))
        self.exit_state: tuple[Any, Any, Any] = ((), [], NoFData())
        self.exit_cotangents: tuple[Any, Any, Any] = ([], NoFData(), self.dy)
        self.rdata: tuple[Any, ...] = ()

    def _forward(self) -> tuple[Any, Callable[..., Any]]:
        pairs = zip(self.inputs.values, self.fdata, strict=True)
        duals = [CoDual(primal, shadow) for primal, shadow in pairs]
        try:
            result = self.case.rule(*duals, **self.inputs.kwargs)
        except (MissingRuleError, UnsupportedSyntaxError) as error:
            error.add_note(f"test_rule: raised by the rule of {self.case.title}")
            raise
        except Exception as error:
            raise self.raised("forward pass", error) from error
        match result:
            case (CoDual(), pullback) if callable(pullback):
                return result
        raise failure(
            "forward pass",
            of=self.case.title,
            expected="(CoDual, pullback)",
            got=repr(result)[:200],
            hint="return the pair of the output as a CoDual and the pullback",
        )

    def raised(self, check: str, error: Exception) -> Exception:
        """Build the failure for an exception that the rule raised."""
        return failure(
            check,
            of=self.case.title,
            expected="no exception, as the function itself raises none here",
            got=f"{type(error).__name__}: {error}",
            hint="see the exception above, which the rule raised",
        )

    def seed(self, positions: set[int]) -> None:
        """Add random cotangents to the output and to the fdata of some inputs.

        The order of drawing does not depend on the positions, so that runs with fewer seeds get the
        same numbers.
        """
        rng = self.case.rng(0)
        y = randn_tangent(rng, self.output.primal)
        values = self.case.differentiated(self.inputs).values
        xs = split_tangent(randn_tangent(rng, values), len(values))
        add_fdata(self.output.fdata, fdata(y))
        self.dy = rdata(y)
        for i in positions:
            add_fdata(self.fdata[i], fdata(xs[i]))

    def seed_output(self, position: int) -> Any:
        """Add a random cotangent to one part of an output that is a tuple, and return it."""
        y = split_tangent(randn_tangent(self.case.rng(0), self.output.primal), position + 1)
        dy = y[position]
        if type(self.output.fdata) is tuple:
            add_fdata(self.output.fdata[position], fdata(dy))
        if type(self.dy) is tuple:
            self.dy = (*self.dy[:position], rdata(dy), *self.dy[position + 1 :])
        return dy

    def reverse(self) -> None:
        """Run the pullback."""
        self.exit_state = copy_jointly((self.inputs.values, self.fdata, self.output.fdata))
        self.exit_cotangents = (*self.exit_state[1:], self.dy)
        self.rdata = self.call_pullback()

    def call_pullback(self) -> tuple[Any, ...]:
        """Call the pullback, and turn an exception of the rule into a failure.

        Errors for a second run, or for a missing derivative, pass unchanged.
        """
        try:
            result = self.pullback(self.dy)
        except (MissingRuleError, PullbackReuseError):
            raise
        except Exception as error:
            raise self.raised("reverse pass", error) from error
        if issubclass(type(result), tuple) and len(result) == len(self.fdata):
            return result
        count = f"{len(result)}" if issubclass(type(result), tuple) else type(result).__name__
        raise failure(
            "count of rdata",
            of=self.case.title,
            expected=f"a tuple of {len(self.fdata)}: the function first, then each argument",
            got=f"{count}: {result!r:.200}",
            hint="the pullback returns the rdata of the function itself, then of each argument; "
            "NoRData() where there is none",
        )

    def rewind(self) -> bool:
        """Restore the contents that arrays had at the call of the pullback.

        Return False, and do nothing, if the inputs or their fdata are or were not arrays, numbers,
        or tuples of these.
        """
        now = (self.inputs.values, self.fdata, self.output.fdata)
        values = [value for _, value in self.inputs.roots()]
        values += [*self.fdata, *self.exit_state[0], *self.exit_state[1]]
        if not all(_plain(part) for _, part in walk_all(("", value) for value in values)):
            return False
        for (_, part), (_, old) in zip(walk(now, ""), walk(self.exit_state, ""), strict=True):
            if issubclass(type(part), np.ndarray) and is_writeable(part):
                part[...] = old
        return True

    def entry_cotangents(self) -> list[Part]:
        """Return the cotangents of the inputs after the reverse pass, fdata and rdata."""
        fdatas = [(f"fdata of {path(i)}", shadow) for i, shadow in enumerate(self.fdata)]
        return [*fdatas, *((f"rdata of {path(i)}", value) for i, value in enumerate(self.rdata))]

    def pair_entry(self, directions: tuple[Any, ...]) -> Pairing:
        """Return the inner product of the cotangents on entry with tangents of the inputs."""
        product = Pairing()
        for shadow, value, direction in zip(self.fdata, self.rdata, directions, strict=True):
            product.add(shadow, direction)
            product.add(value, direction)
        return product

    def pair_exit(self, dy: Any, dxs: tuple[Any, ...]) -> Pairing:
        """Return the inner product of the cotangents on exit with tangents of the results."""
        shadows, output, value = self.exit_cotangents
        product = Pairing()
        for shadow, dx in zip(shadows, dxs, strict=True):
            product.add(shadow, dx)
        product.add(output, dy)
        product.add(value, dy)
        return product


def _plain(value: Any) -> bool:
    return not children(value) or issubclass(type(value), tuple)


def add_fdata(shadow: Any, delta: Any) -> None:
    """Increment fdata in place, if there are any."""
    if not holds_nothing(shadow) and not holds_nothing(delta):
        increment(shadow, delta)
