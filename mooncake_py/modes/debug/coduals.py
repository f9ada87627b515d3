"""Checks of hand-written rules: inputs, outputs, and changes of memory."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.own_pullbacks import Checked
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.errors import InvalidRuleError, InvalidTangentError, Location
from mooncake_py.modes.debug.broken import broken, misfit
from mooncake_py.modes.debug.operands import arrays_in
from mooncake_py.modes.debug.outside import leaving_outside
from mooncake_py.modes.debug.snapshot import first_difference, restore
from mooncake_py.modes.debug.summaries import summary
from mooncake_py.rules.kinds import CoDualRule
from mooncake_py.tangents import CoDual, NoFData
from mooncake_py.tangents.memory import address, owner
from mooncake_py.tangents.verify import verify_fdata, verify_rdata

__all__ = ["checked_codual", "checked_derived"]

UNKNOWN = Location("<compiled code>", 0)


def checked_derived(rule: Any, f: CoDual, args: tuple[CoDual, ...], kwargs: Any) -> Any:
    """Run a derived rule with the same checks."""
    origin = definition_of(f.primal) or UNKNOWN
    return checked_codual(CoDualRule((f.primal,), origin, rule, None)).rule(f, *args, **kwargs)


def checked_codual(rule: CoDualRule) -> CoDualRule:
    """Return the rule with checks around it and its pullback."""

    @functools.wraps(rule.rule)
    def run(f: CoDual, *args: CoDual, **kwargs: Any) -> Any:
        call = _Call(rule, args)
        call.verify_inputs()
        result = rule.rule(f, *args, **kwargs)
        with call.put_back():
            out, pullback = call.output_and_pullback(result)
            call.check_memory()
            call.check_output(out)

        def checked_pullback(dy: Any) -> Any:
            with leaving_outside(rule):
                rdata = pullback(dy)
            with call.put_back():
                call.check_rdata(f, rdata)
                call.check_restored()
            return rdata

        return out, Checked(pullback, checked_pullback)

    return CoDualRule(rule.functions, rule.origin, run, rule.mutates)


class _Call:
    """One call of a rule: its arguments, and their arrays as they were before."""

    def __init__(self, rule: CoDualRule, args: tuple[CoDual, ...]) -> None:
        self.rule = rule
        self.args = args
        self.data = [codual.fdata for codual in args]
        self.primals = [
            (i, a, np.array(a))
            for i, codual in enumerate(args)
            for a in arrays_in(codual.primal, set())
            if a.dtype != object
        ]
        self.shadows = [(i, d, np.array(d)) for i, d in self.arrays_of_data()]

    def arrays_of_data(self) -> list[tuple[int, ndarray]]:
        """Return the arrays in the fdata of the arguments, with the argument's position."""
        return [(i, d) for i, data in enumerate(self.data) for d in arrays_in(data, set())]

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Restore the arguments if a check fails: the rule will not be asked to do it."""
        try:
            yield
        except InvalidRuleError:
            for _, a, old in self.primals:
                restore(a, old)
            raise

    # Forward.

    def verify_inputs(self) -> None:
        """Raise if the fdata of the arguments do not fit."""
        primals = tuple(codual.primal for codual in self.args)
        self.verify(primals, tuple(self.data), "was called with fdata that do not fit", True)

    def verify(self, primals: Any, data: Any, what: str, constants: bool) -> None:
        """Raise if fdata do not fit, or do not share memory as the primals do."""
        try:
            nothing = all(d is NoFData() for d in data)  # a tuple of these is one of them
            verify_fdata(primals, NoFData() if nothing else data, constants=constants)
        except InvalidTangentError as error:
            raise misfit(
                self.rule,
                what,
                error,
                "make fdata with zero_codual; a view of an argument has the same view of its fdata",
            ) from error

    def output_and_pullback(self, result: Any) -> Any:
        """Return the two parts of what the rule returned."""
        fix = "return the output as a CoDual, and the pullback"
        if type(result) is not tuple or len(result) != 2:
            raise broken(
                self.rule,
                "did not return a pair",
                "a tuple (CoDual, pullback)",
                summary(result),
                fix,
            )
        out, pullback = result
        if not isinstance(out, CoDual):
            raise broken(self.rule, "did not return a CoDual", "a CoDual", summary(out), fix)
        if not callable(pullback):
            raise broken(
                self.rule,
                "did not return a pullback",
                "a function of the rdata of the output",
                summary(pullback),
                fix,
            )
        return out, pullback

    def check_memory(self) -> None:
        """Raise if the forward pass wrote what it must not."""
        mutates = self.rule.mutates
        for i, a, old in self.primals:
            found = first_difference(a, old)
            if found is not None and mutates is not None and i not in mutates:
                index, new, before = found
                raise broken(
                    self.rule,
                    f"wrote into argument {i}, which it does not declare",
                    f"{before} at {index}, as before the call",
                    new,
                    f"declare it: rrule.register(..., mutates={(*mutates, i)})",
                )
        for i, d, old in self.shadows:
            found = first_difference(d, old)
            if found is not None:
                raise broken(
                    self.rule,
                    f"changed the fdata of argument {i} on the forward pass",
                    f"{found[2]} at {found[0]}",
                    found[1],
                    "add cotangents in the pullback only",
                )

    def check_output(self, out: CoDual) -> None:
        """Raise if the fdata of the output do not fit, are not zero, or are somebody else's."""
        owners = {id(owner(a)) for _, a, _ in self.primals}
        shares = any(id(owner(a)) in owners for a in arrays_in(out.primal, set()))
        what = "returned fdata that do not fit"
        self.verify((out.primal,), (out.fdata,), what, constants=shares)
        if not any(out is codual for codual in self.args):
            joint = (*(c.primal for c in self.args), out.primal), (*self.data, out.fdata)
            self.verify(*joint, what, constants=True)
        for d in arrays_in(out.fdata, set()):
            taken = any(owner(d) is owner(other) for _, other in self.arrays_of_data())
            if taken and not shares:
                raise broken(
                    self.rule,
                    "returned the fdata of an argument with a new output",
                    "fdata of its own, as the output has memory of its own",
                    summary(d),
                    "return zero_codual(output)",
                )
            if not shares and np.any(d):
                raise broken(
                    self.rule,
                    "returned fdata that are not zero",
                    "zeros",
                    summary(d),
                    "return zero_codual(output)",
                )

    # Reverse.

    def check_rdata(self, f: CoDual, rdata: Any) -> None:
        """Raise if there is not one fitting rdata for the function and for each argument."""
        coduals = (f, *self.args)
        fix = "return a tuple with one rdata for the function and one for each argument"
        if type(rdata) is not tuple:
            raise broken(
                self.rule,
                "returned no tuple of rdata",
                f"a tuple of {len(coduals)}",
                summary(rdata),
                fix,
            )
        if len(rdata) != len(coduals):
            raise broken(
                self.rule, "returned the wrong number of rdata", len(coduals), len(rdata), fix
            )
        for i, (codual, r) in enumerate(zip(coduals, rdata, strict=True)):
            label = f"argument {i - 1}" if i else "the function"
            try:
                verify_rdata(codual.primal, r)
            except InvalidTangentError as error:
                raise misfit(
                    self.rule,
                    f"returned rdata for {label} that do not fit",
                    error,
                    "return NoRData() for arrays, containers and constants, a number of the "
                    "argument's type for a number",
                ) from error

    def check_restored(self) -> None:
        """Raise if the pullback left memory changed, or put other arrays into the fdata."""
        for i, a, old in self.primals:
            found = first_difference(a, old)
            if found is not None:
                raise broken(
                    self.rule,
                    f"did not restore argument {i}",
                    f"{found[2]} at {found[0]}, as before the call",
                    found[1],
                    "undo every change at the beginning of the pullback",
                )
        after = [(i, place(d)) for i, d in self.arrays_of_data()]
        for (i, old, _), (_, new) in zip(self.shadows, after, strict=False):
            if place(old) != new:
                raise broken(
                    self.rule,
                    f"put a new array into the fdata of argument {i}",
                    "the array that was there, added to in place",
                    "another one",
                    "write `d += g` or increment(x, g), not `data[i] = d + g`",
                )


def place(d: ndarray) -> tuple[Any, ...]:
    """Return a key that identifies the memory of an array."""
    return address(d), d.shape, d.strides, d.dtype
