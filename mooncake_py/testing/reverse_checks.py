"""Checks of the reverse pass without finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mooncake_py.application.copying import copy_jointly
from mooncake_py.errors import InvalidTangentError, PullbackReuseError
from mooncake_py.tangents import verify_rdata
from mooncake_py.testing.case import Case, path
from mooncake_py.testing.compare import compare, first_change, is_zero
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.failure import failure
from mooncake_py.testing.sharing import overlap
from mooncake_py.testing.structure import Part, children, is_inexact, is_number, walk_all
from mooncake_py.words import with_article

__all__ = [
    "check_cotangent_kept",
    "check_no_nan",
    "check_pullback_twice",
    "check_rdata_type",
    "check_restored",
    "check_same",
    "check_zero_cotangent",
    "nan_cotangents",
]


def check_rdata_type(case: Case, cycle: Cycle) -> None:
    """Check that each returned rdata has exactly the type its input requires."""
    for i, (primal, value) in enumerate(zip(cycle.inputs.values, cycle.rdata, strict=True)):
        try:
            verify_rdata(primal, value)
        except InvalidTangentError as error:
            raise failure(
                "rdata type",
                of=case.title,
                path=path(i),
                expected=f"rdata for {with_article(type(primal).__name__)}",
                got=f"{type(value).__name__} {value!r:.80}",
                details=f"{error.what}\n{error.why}",
                hint="return NoRData() for arrays and all that has an address (increment its "
                "fdata instead), and a number of exactly the type of the argument for a scalar",
            ) from error


def check_restored(case: Case, cycle: Cycle) -> None:
    """Check that the pullback undid every change to the inputs, bit for bit."""
    change = first_change(cycle.before, cycle.inputs.roots())
    if change is not None:
        raise failure(
            "inputs restored",
            of=case.title,
            path=change.path,
            expected=change.expected,
            got=change.got,
            hint="save the data that the forward pass overwrites, and let the pullback first "
            "restore them",
        )


def check_zero_cotangent(case: Case, cycle: Cycle) -> None:
    """Check that a cycle without seeds gives exact zeros."""
    for where, part in walk_all(cycle.entry_cotangents()):
        if (issubclass(type(part), np.ndarray) or is_number(part)) and not is_zero(part):
            raise failure(
                "zero cotangent",
                of=case.title,
                path=where,
                expected="exactly zero, as the cotangents on exit were zero",
                got=part,
                hint="a cotangent of zero gives zero even where the derivative is inf or nan; "
                "guard 0 * inf, and add nothing that is not proportional to the cotangent",
            )


def check_no_nan(case: Case, cycle: Cycle) -> None:
    """Check that cotangents are not nan where inputs and output are finite."""
    for where, part in nan_cotangents(cycle):
        raise failure(
            "no nan at kinks",
            of=case.title,
            path=where,
            expected="no nan, as inputs and output are finite",
            got=part,
            hint="choose one of the one-sided derivatives at a kink or tie",
        )


def nan_cotangents(cycle: Cycle) -> list[Part]:
    """Return the cotangents with nan, where inputs and output are finite."""
    results = [*cycle.inputs.roots(), ("output", cycle.output.primal)]
    if any(_has_nan(part, infinite=True) for _, part in walk_all(results)):
        return []
    return [
        (where, part)
        for where, part in walk_all(cycle.entry_cotangents())
        if _has_nan(part, infinite=False)
    ]


def _has_nan(part: Any, *, infinite: bool) -> bool:
    return is_inexact(part) and bool(np.any(~np.isfinite(part) if infinite else np.isnan(part)))


def check_cotangent_kept(case: Case, cycle: Cycle) -> None:
    """Check that the pullback did not change the cotangent it was called with."""
    _, shadow, value = cycle.exit_cotangents
    inputs = [part for _, part in walk_all([("", cycle.fdata)])]
    for before, after in ((shadow, cycle.output.fdata), (value, cycle.dy)):
        for where, old, new in _own_leaves(before, after, "output", inputs):
            if compare(old, new, where, ulps=0.0) is not None:
                raise failure(
                    "incoming cotangent unchanged",
                    of=case.title,
                    path=where,
                    expected=old,
                    got=new,
                    hint="the output's cotangent may be used again: work on a copy of it",
                )


def _own_leaves(
    before: Any, after: Any, path: str, inputs: list[Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the leaves of an output's cotangent that are not part of the inputs' fdata.

    The pullback may change the fdata of the inputs.
    """
    if issubclass(type(after), np.ndarray):
        arrays = (part for part in inputs if issubclass(type(part), np.ndarray))
        if not any(overlap(after, part) for part in arrays):
            yield path, before, after
        return
    parts = children(after)
    if not parts:
        yield path, before, after
    elif issubclass(type(after), tuple) or not any(after is part for part in inputs):
        for (name, new), (_, old) in zip(parts, children(before), strict=False):
            yield from _own_leaves(old, new, path + name, inputs)


def check_same(case: Case, check: str, expected: Cycle | list[Any], got: Cycle, hint: str) -> None:
    """Check that two runs with the same seeds left the same cotangents, up to rounding."""
    old = expected.entry_cotangents() if isinstance(expected, Cycle) else expected
    for (where, value), (_, other) in zip(old, got.entry_cotangents(), strict=True):
        mismatch = compare(value, other, where)
        if mismatch is not None:
            raise failure(
                check,
                of=case.title,
                path=mismatch.path,
                expected=mismatch.expected,
                got=mismatch.got,
                hint=hint,
            )


def check_pullback_twice(case: Case, cycle: Cycle) -> None:
    """Check that a second call of the pullback returns the same, or raises PullbackReuseError.

    The state before the first call is restored first; if it consists of more than arrays and
    numbers, the check is left out.
    """
    first = copy_jointly(cycle.entry_cotangents())
    if not cycle.rewind():
        return
    try:
        cycle.rdata = cycle.call_pullback()
    except PullbackReuseError:
        return
    check_same(
        case,
        "pullback called twice",
        first,
        cycle,
        "a pullback must not use up or change its saved data; "
        "if it has to, it raises PullbackReuseError when it is called again",
    )
