"""Checks of second derivatives: the derivative of the gradient against finite differences."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from mooncake_py.errors import DerivativeDropError, MissingRuleError, UnsupportedSyntaxError
from mooncake_py.interface import grad
from mooncake_py.rules.local import OperatorRuleError, local_rules
from mooncake_py.rules.rrule import rrule
from mooncake_py.testing.case import Case
from mooncake_py.testing.derivative_checks import promoted
from mooncake_py.testing.failure import failure
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.left_out import NO_DERIVATIVE, PARTS, LeftOut
from mooncake_py.testing.program import NESTINGS, Program
from mooncake_py.testing.quiet import quiet
from mooncake_py.testing.smoothness import is_smooth
from mooncake_py.testing.stencil import Disagreement, Stencil

__all__ = ["SecondDerivatives"]

RTOL = 1e-5
NOISE = 1e-7
"""Relative to the largest Hessian-vector product, and to the largest gradient."""

ABSENT = (MissingRuleError, DerivativeDropError, UnsupportedSyntaxError)

_HINT = (
    "the gradient is right and its own derivative is not: look for a number or an array that the "
    "rule takes out of the computation (`float(x)` in compiled code, a value kept from another "
    "call), and for a branch such as `np.where(x == 0, constant, ...)`: the constant has the "
    "derivative zero"
)


class SecondDerivatives:
    """The check of second derivatives at one point and at special ones.

    Parameters
    ----------
    case : Case
        The check at the original point.
    given : bool
        Whether the caller passed the rule, so that a call does not find it in the registry.
    derived : bool
        Whether the rule is derived from source: it is then as good as its parts at special points.
    required : bool
        Whether a missing second derivative counts as a defect.
    left_out : LeftOut
        Gets the points at which there is no second derivative.
    """

    def __init__(
        self, case: Case, given: bool, derived: bool, required: bool, left_out: LeftOut
    ) -> None:
        self.case = case
        self.derived = derived
        self.left_out = left_out
        self.given = given
        self.required = required
        self.absent = False

    def check(self, case: Case, reference: Reference, special: bool) -> None:
        """Compare the nestings of two derivatives with differences at one point.

        Parameters
        ----------
        case : Case
        reference : Reference
            The results of the function there.
        special : bool
            Whether the point is special, so that a derivative may not exist.
        """
        if self.absent:
            return
        inputs = promoted(case.inputs) or case.inputs
        program = Program(inputs, reference.mutated, case.rng(4))
        if not program.serves:
            return
        try:
            with quiet(), self._rules():
                self._compare(case, program, special)
        except OperatorRuleError:
            self.absent = True  # a rule behind an operator cannot be replaced for a test
        except ABSENT as error:
            self.absent = not special
            if self.required and not special:
                raise no_second_derivative(case, error) from error

    def why_absent(self, case: Case, program: Program) -> str | None:
        """Return why a second derivative may be missing at a special point, None if it may not."""
        if not is_smooth(case, program.mutated):
            return NO_DERIVATIVE
        return PARTS if self.derived else None

    def _rules(self) -> Any:
        """Return a context manager that registers the checked rule."""
        return registered(self.case) if self.given else nullcontext()

    def _compare(self, case: Case, program: Program, special: bool) -> None:
        line = Stencil(lambda t: gradient_at(program, t), program.size)
        for order, nesting in NESTINGS.items():
            if special and order == "reverse over reverse":
                continue
            try:
                found = program.vector(nesting(program))
            except ABSENT:
                raise
            except Exception as error:
                if special:
                    return  # the gradient need not exist there
                raise raised(case, order, error) from error
            here = line.at(line.size * 1e-3)
            size = 0.0 if here is None else float(np.abs(here[np.isfinite(here)]).max(initial=0.0))
            wrong = line.refute(found, RTOL, NOISE * size)
            if wrong is not None and special:
                why = self.why_absent(case, program)
                if why is not None:
                    self.left_out.add(case.variant, why)
                    return
            if wrong is not None:
                raise disagreement(case, program, order, wrong)


def registered(case: Case) -> Any:
    """Return a context manager that registers the rule of a case for its function."""

    class Block(local_rules):
        def __enter__(self) -> None:
            super().__enter__()
            try:
                rrule.register(case.inputs.values[0])(case.rule)
            except BaseException:
                self.__exit__()
                raise

    return Block()


def gradient_at(program: Program, t: float) -> Any:
    """Return the gradient at a distance along the direction of a program; None if it has none."""
    try:
        leaves = program.moved(t)
        return program.vector(grad(program.fresh(), program.argnums)(*leaves))
    except ABSENT:
        raise
    except Exception:
        return None  # outside the domain


def no_second_derivative(case: Case, error: Exception) -> Exception:
    """Return the failure for a required but missing second derivative."""
    return failure(
        "second derivative",
        of=case.title,
        expected="a second derivative, as order=2 requires",
        got=f"{type(error).__name__}: {str(error).splitlines()[0]}",
        hint="a rule by rrule.register also needs a forward rule, by frule.register; a rule "
        "by from_vjp computes with NumPy alone, or with functions that have rules;\n"
        "or pass order=1: the rule has first derivatives only, and the engine raises an error "
        "where second ones are asked for",
    )


def raised(case: Case, order: str, error: Exception) -> Exception:
    """Return the failure for an exception in a second derivative."""
    return failure(
        "second derivative",
        of=case.title,
        path=order,
        expected="no exception, as the gradient has raised none",
        got=f"{type(error).__name__}: {error}",
        hint="see the exception above",
    )


def disagreement(case: Case, program: Program, order: str, wrong: Disagreement) -> Exception:
    """Return the failure for a second derivative that differences refute."""
    return failure(
        "second derivative",
        of=case.title,
        path=f"{program.name_of(wrong.index)}, {order}",
        expected=f"{wrong.expected:.12e}  (differences of the gradient)",
        got=f"{wrong.got:.12e}  (derivative of the gradient)",
        details=wrong.ladder(),
        hint=_HINT,
    )
