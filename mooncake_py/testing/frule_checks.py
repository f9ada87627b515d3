"""Checks of a hand-written forward rule, which runs alone on Duals."""

from __future__ import annotations

from typing import Any

from mooncake_py.errors import InvalidTangentError
from mooncake_py.rules import registry
from mooncake_py.rules.domains import rule_for
from mooncake_py.tangents import Dual
from mooncake_py.tangents.verify import verify_tangent
from mooncake_py.testing.case import Case, path
from mooncake_py.testing.compare import compare
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.failure import failure
from mooncake_py.testing.finite_differences import random_direction
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.pushforward_checks import check_duality

__all__ = ["check_frule"]


def check_frule(case: Case, cycle: Cycle, reference: Reference, atol: float) -> None:
    """Check the forward rule of a function, if it has one.

    Parameters
    ----------
    case : Case
    cycle : Cycle
        After its reverse pass, with cotangents for all inputs.
    reference : Reference
    atol : float
        Absolute tolerance.
    """
    if forward_rule(case) is None:
        return
    inputs = case.inputs.copy()
    every = set(range(len(inputs.values)))
    direction = random_direction(inputs, every, case.rng(2))
    if direction is None:
        return
    entry = cycle.pair_entry(direction.tangents)  # before the rule changes them
    duals = [Dual(*pair) for pair in zip(inputs.values, direction.tangents, strict=True)]
    out = run(case, duals, inputs.kwargs)
    roots = [*reference.inputs.roots(), ("output", reference.output)]
    for (where, expected), (_, got) in zip(
        roots, [*inputs.roots(), ("output", out.primal)], strict=True
    ):
        mismatch = compare(expected, got, where)
        if mismatch is not None:
            raise failure(
                "forward rule: primals",
                of=case.title,
                path=mismatch.path,
                expected=mismatch.expected,
                got=mismatch.got,
                hint="a forward rule returns the result of the function, and leaves its arguments "
                "as the function leaves them",
            )
    for i, dual in enumerate(duals):
        check_tangent(case, path(i), dual)
    check_tangent(case, "output", out)
    tangents = tuple(dual.tangent for dual in duals)
    forward = cycle.pair_exit(out.tangent, tangents)
    check_duality("forward rule", case, out.primal, forward, entry, atol)


def forward_rule(case: Case) -> Any:
    """Return the forward rule for the arguments of a case, or None."""
    f, *args = case.inputs.values
    return rule_for(registry.find_forward(f), args, case.inputs.kwargs)


def run(case: Case, duals: list[Dual], kwargs: dict[str, Any]) -> Dual:
    """Run the forward rule."""
    rule = forward_rule(case)
    assert rule is not None
    out = rule.rule(*duals, **kwargs)
    if isinstance(out, Dual):
        return out
    raise failure(
        "forward rule: output",
        of=case.title,
        expected="a Dual",
        got=repr(out)[:200],
        hint="return Dual(y, dy), or Dual(None, NoTangent()) where the function returns nothing",
    )


def check_tangent(case: Case, where: str, dual: Dual) -> None:
    """Check the type, dtype and shape of a tangent."""
    try:
        verify_tangent(dual.primal, dual.tangent)
    except InvalidTangentError as error:
        raise failure(
            "forward rule: tangent type",
            of=case.title,
            path=where,
            expected="a tangent of the type, dtype and shape that the primal requires",
            got=f"{type(dual.tangent).__name__} {dual.tangent!r:.80}",
            details=f"{error.what}\n{error.why}",
            hint="zero_tangent(y) shows what a tangent of y looks like",
        ) from error
