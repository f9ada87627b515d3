"""Random loops with statements on slices, of several kinds, compared as one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from mooncake_py import checkpointed
from mooncake_py.compiler.native import printed_loop as printed
from tests.programs.comparing import (
    assert_as_unfused,
    assert_forward_as_unfused,
    function_of,
)
from tests.programs.random_slices import slice_arguments

__all__ = ["RandomLoops"]


@dataclass(frozen=True)
class RandomLoops:
    """Random loops of one kind: as one entry, against operation by operation.

    Attributes
    ----------
    text_of : callable
        From a seed to the text of a function that takes what `slice_arguments` returns.
    kind : str
        What they are called in tracebacks.
    """

    text_of: Callable[[int], str]
    kind: str

    def compare(self, seed: int) -> None:
        """Compare in each way."""
        self.compare_gradients(seed)
        self.compare_forward(seed)
        self.compare_checkpointed(seed)

    def compare_in_turn(self, seed: int) -> None:
        """Compare gradients, and one of the other ways."""
        self.compare_gradients(seed)
        (self.compare_forward, self.compare_checkpointed)[seed % 2](seed)

    def compare_gradients(self, seed: int) -> None:
        f = self.function(seed, "random")
        with as_one_entry():
            assert_as_unfused(f, slice_arguments(seed), ((0, 1, 2, 3), (0,), (2,), (3,)))

    def compare_forward(self, seed: int) -> None:
        f = self.function(seed, "random")
        with as_one_entry():
            assert_forward_as_unfused(f, slice_arguments(seed), seed)

    def compare_checkpointed(self, seed: int) -> None:
        """A second step finds what the first one has written, and runs again more often."""
        f = self.function(seed, "checkpointed")

        def steps(*args: Any) -> Any:
            s = 0.0
            for _ in checkpointed(range(3), 1):
                s = f(*args)
            return s

        with as_one_entry():
            assert_as_unfused(steps, slice_arguments(seed), ((0, 1, 2, 3), (2,)))

    def compare_many(self, seeds: range, *ways: Callable[[int], None]) -> None:
        """Compare programs in each of some ways, and tell which one fails."""
        for seed in seeds:
            try:
                for way in ways:
                    way(seed)
            except Exception as error:
                error.add_note(f"seed {seed}:\n{self.text_of(seed)}")
                raise

    def function(self, seed: int, way: str) -> Callable[..., Any]:
        return function_of(self.text_of(seed), f"<{way} {self.kind} {seed}>")


@contextmanager
def as_one_entry() -> Iterator[None]:
    """Let loops run as one entry, however short they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printed, "FEWEST", 0)
        yield
