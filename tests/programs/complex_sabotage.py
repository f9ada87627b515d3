"""Statements on complex arrays broken on purpose, one way at a time: random ones must find each.

``python -m tests.programs.complex_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

from mooncake_py.compiler.statements import (
    array_adjoint,
    array_forms,
    array_pull,
    dtypes,
    plan,
    pushforward,
)
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.corpus import comparing

__all__ = ["BREAKS", "complex_statement_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def complex_statement_that_finds(change: Change, most: int = 300) -> int | None:
    """Return the seed of a random function that finds a break, or None."""
    return seed_that_raises(comparing(["entries"], "complex"), change, most, array_forms.printed)


@breaks
def partials_are_not_conjugated(patch: Patch) -> None:
    patch.setattr(array_adjoint, "conjugated", lambda e, names: e)


@breaks
def what_is_real_receives_all(patch: Patch) -> None:
    patch.setattr(array_adjoint.Adjoint, "of_dtype", lambda self, let, a, c: c)


@breaks
def functions_are_holomorphic(patch: Patch) -> None:
    patch.setattr(array_adjoint, "is_arithmetic", lambda e: True)
    patch.setattr(pushforward, "is_arithmetic", lambda e: True)


@breaks
def signs_are_constant(patch: Patch) -> None:
    for module in (plan, dtypes):
        patch.setattr(module, "has_complex_partials", lambda e: True)


@breaks
def parts_are_all_of_an_array(patch: Patch) -> None:
    original = array_pull.through
    patch.setattr(
        array_pull, "through", lambda part, text: original(part, text).removesuffix(".imag")
    )


if __name__ == "__main__":
    tell(BREAKS.values(), complex_statement_that_finds, 300)
