"""The states of random generators: read, set, compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.rules.generator_states import (
    is_in_state,
    set_state,
    source_of,
    source_of_children,
    state_of,
)

HAVE_CHILDREN: dict[str, Any] = {
    "SeedSequence": lambda: np.random.SeedSequence(5),
    "BitGenerator": lambda: np.random.Philox(5),
    "Generator": lambda: np.random.default_rng(5),
}


@pytest.mark.parametrize("name", HAVE_CHILDREN)
def test_the_children_of_seeds_are_part_of_the_state(name: str) -> None:
    parent = HAVE_CHILDREN[name]()
    source = source_of_children(parent)
    parent.spawn(2)
    state = state_of(source)
    expected = state_of(source_of_children(parent.spawn(1)[0])), source.generate_state(4)
    assert not is_in_state(source, state)
    set_state(source, state)
    assert is_in_state(source, state)
    child = parent.spawn(1)[0]
    assert (state_of(source_of_children(child)), *source.generate_state(4)) == (
        expected[0],
        *expected[1],
    )
    assert source_of_children(child).spawn_key == (2,)


def test_what_has_no_seeds_has_no_children() -> None:
    assert source_of_children(np.random.RandomState(1)) is None
    assert source_of_children(1.0) is None
    seeds = np.random.SeedSequence(1)
    assert source_of(seeds) is seeds
