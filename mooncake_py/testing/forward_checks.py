"""Checks of the forward pass: its effects equal those of the function, and fdata are zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import verify_fdata
from mooncake_py.testing.case import Case, Inputs, path
from mooncake_py.testing.compare import compare, first_change, freeze, is_zero
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.failure import failure
from mooncake_py.testing.layouts import other_layout
from mooncake_py.testing.pairing import holds_nothing
from mooncake_py.testing.sharing import Link, memory_conflict, shared_parts
from mooncake_py.testing.structure import is_number, walk

__all__ = ["Reference", "check_forward"]


@dataclass(frozen=True)
class Reference:
    """The results of the function itself: its output, its inputs afterwards, and which changed."""

    output: Any
    inputs: Inputs
    mutated: frozenset[int]
    links: list[Link]

    @classmethod
    def of(cls, inputs: Inputs) -> Reference:
        """Call the function on a copy of its inputs."""
        copied = inputs.copy()
        before = [freeze([(path(i), value)]) for i, value in enumerate(copied.values)]
        output = copied.call()
        mutated = {
            i
            for i, value in enumerate(copied.values)
            if first_change(before[i], [(path(i), value)]) is not None
        }
        links = shared_parts([*copied.roots(), ("output", output)])
        return cls(output, copied, frozenset(mutated), links)


def check_forward(case: Case, reference: Reference, cycle: Cycle) -> None:
    """Run all checks of the forward pass on a cycle without seeds."""
    check_output(case, reference, cycle)
    check_inputs_after(case, reference, cycle)
    check_sharing(case, reference, cycle)
    check_output_fdata_type(case, cycle)
    check_fdata_memory(case, cycle)
    check_fdata_zero(case, cycle)


def check_output(case: Case, reference: Reference, cycle: Cycle) -> None:
    """Check that the rule returns the output of the function: value, type, shape and layout."""
    mismatch = compare(reference.output, cycle.output.primal, "output")
    if mismatch is not None:
        raise failure(
            "primal value",
            of=case.title,
            path=mismatch.path,
            expected=mismatch.expected,
            got=mismatch.got,
            hint="the forward pass returns exactly the result of the function: "
            "the same type, dtype, shape and value",
        )
    other = other_layout(reference.output, cycle.output.primal, "output")
    if other is not None:
        raise failure(
            "layout of the output",
            of=case.title,
            path=other[0],
            expected=other[1],
            got=other[2],
            hint="the program may depend on it, as by ravel('K'): return the result of the "
            "function, or a copy with the same layout: y.copy('K')",
        )


def check_inputs_after(case: Case, reference: Reference, cycle: Cycle) -> None:
    """Check that the forward pass changes its inputs exactly as the function does."""
    pairs = zip(reference.inputs.roots(), cycle.inputs.roots(), strict=True)
    for (where, expected), (_, got) in pairs:
        mismatch = compare(expected, got, where)
        if mismatch is not None:
            raise failure(
                "inputs after the call",
                of=case.title,
                path=mismatch.path,
                expected=mismatch.expected,
                got=mismatch.got,
                hint="the forward pass leaves its arguments as the function leaves them, "
                "changed in place where it changes them and untouched where it does not",
            )


def check_sharing(case: Case, reference: Reference, cycle: Cycle) -> None:
    """Check that the output shares objects and memory with the inputs as that of the function."""
    links = shared_parts([*cycle.inputs.roots(), ("output", cycle.output.primal)])
    for link in reference.links:
        if link not in links:
            raise _sharing_failure(case, link[1], _connection(link), "no such connection")
    for link in links:
        if link not in reference.links:
            raise _sharing_failure(case, link[1], "no such connection", _connection(link))


def _connection(link: Link) -> str:
    return f"{link[1]} is, seen from {link[0]}, {link[2]}"


def _sharing_failure(case: Case, where: str, expected: str, got: str) -> Exception:
    return failure(
        "aliasing of the output",
        of=case.title,
        path=where,
        expected=expected,
        got=got,
        hint="return the argument itself, a view or a copy, as the function does",
    )


def check_output_fdata_type(case: Case, cycle: Cycle) -> None:
    """Check type, dtype and shape of the output's fdata."""
    primal, shadow = cycle.output.primal, cycle.output.fdata
    try:
        verify_fdata(primal, shadow)
    except InvalidTangentError as error:
        raise failure(
            "fdata of the output",
            of=case.title,
            path="output",
            expected="fdata of the type, dtype and shape that the output requires",
            got=f"{type(shadow).__name__} {shadow!r:.80}",
            details=f"{error.what}\n{error.why}",
            hint="zero_codual(y) pairs a fresh output with the right fdata; "
            "a view of an argument gets the same view of the argument's fdata",
        ) from error


def check_fdata_memory(case: Case, cycle: Cycle) -> None:
    """Check that fdata overlap where, and only where, the primals overlap."""
    if case.differentiated(cycle.inputs) is not cycle.inputs:
        return
    pairs = [
        (path(i), primal, shadow)
        for i, (primal, shadow) in enumerate(zip(cycle.inputs.values, cycle.fdata, strict=True))
    ]
    conflict = memory_conflict([*pairs, ("output", cycle.output.primal, cycle.output.fdata)])
    if conflict is not None:
        raise failure(
            "aliasing of the fdata",
            of=case.title,
            path=conflict[1],
            expected=f"fdata that share memory as {conflict[0]} and {conflict[1]} do: "
            f"{conflict[2]}",
            got="fdata that do not",
            hint="an output that is an argument, or a view of it, carries that argument's fdata "
            "or the same view of it; a fresh output carries fresh zeros",
        )


def check_fdata_zero(case: Case, cycle: Cycle) -> None:
    """Check that all fdata are zero after the forward pass."""
    shadows = [(path(i), shadow) for i, shadow in enumerate(cycle.fdata)]
    for root, shadow in [*shadows, ("output", cycle.output.fdata)]:
        for where, part in walk(shadow, root):
            if holds_nothing(part) or not (issubclass(type(part), np.ndarray) or is_number(part)):
                continue
            if not is_zero(part):
                raise failure(
                    "zero fdata after the forward pass",
                    of=case.title,
                    path=where,
                    expected="zeros",
                    got=part,
                    hint="the forward pass returns zero fdata and writes no cotangents; "
                    "use zero_codual(y), not an uninitialised or a shared array",
                )
