"""Random regions of the compiler, by parts of it: what reads no program shows in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.compiler.native.elements_once import require_same_sweeps
from tests.compiler.native.numpy_text import test_elements, test_first_additions, test_lengths
from tests.compiler.native.random_regions import random_region, random_values
from tests.compiler.native.sweeping import agrees
from tests.compiler.native.sweeps import test_counting, test_fusing, test_normal, test_overlaps

__all__ = ["REGIONS"]


def against_tangents(seed: int, second: bool = False) -> None:
    """Check both sweeps of a random region against its tangent, or those of the tangent."""
    _, region = random_region(seed, 6 + seed % 10)
    agrees(region, random_values(seed), seed, second)


TESTS: tuple[Callable[..., None], ...] = (
    test_elements.test_which_elements_are_read_again,
    test_elements.test_which_checks_python_makes,
    test_first_additions.test_first_additions,
    test_first_additions.test_results_are_kept,
    test_lengths.test_checks_in_branches_are_not,
    test_lengths.test_names_that_are_bound_again_tell_nothing,
    test_lengths.test_arrays_that_are_made_twice_are_of_no_known_length,
    test_elements.test_places_that_change_have_no_name,
    test_normal.test_normal_form,
    test_counting.test_all_elements_are_counted,
    test_fusing.test_loops_that_stay_apart,
    test_overlaps.test_only_what_is_read_is_saved,
)
"""Of statements that no program has, since the reader gives ints new names where they change."""


def run_test(seed: int) -> None:
    """Run one of the tests, with all that it is given."""
    test = TESTS[seed % len(TESTS)]
    for case in cases_of(test):
        test(*case)


def cases_of(test: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of a test."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    if not marks:
        yield ()
        return
    names, cases = marks[0].args
    for case in cases:
        yield (case,) if isinstance(names, str) and "," not in names else tuple(case)


REGIONS: dict[str, Callable[[int], None]] = {
    "sweeps": against_tangents,
    "second sweeps": lambda seed: against_tangents(seed, second=True),
    "elements": require_same_sweeps,
    "tests": run_test,
}
"""What compares a region with a seed, by the part that it compares."""
