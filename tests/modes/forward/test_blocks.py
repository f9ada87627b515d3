"""Tangents of arrays that are gone."""

from __future__ import annotations

from weakref import getweakrefs

import numpy as np

from mooncake_py.modes.forward.blocks import ROOM, SPARE, Blocks
from mooncake_py.runtime.registry import Registry


def made() -> Blocks:
    return Blocks(Registry(RuntimeError), RuntimeError)


def test_arrays_get_no_references_with_callbacks() -> None:
    a = np.ones(3)
    for blocks in (made(), made()):
        blocks.activate(a)
    assert [r.__callback__ for r in getweakrefs(a)] == [None]


def test_a_dead_array_has_no_tangent() -> None:
    blocks, a = made(), np.ones(3)
    blocks.activate(a)
    key = id(a)
    assert blocks.of_id(key) is not None
    del a
    assert blocks.of_id(key) is None


def test_few_tangents_of_dead_arrays_are_kept() -> None:
    blocks, alive = made(), [np.ones(3) for _ in range(20)]
    for a in alive:
        blocks.activate(a)
    short_lived = []
    for _ in range(100):
        short_lived = [np.ones(3) for _ in range(3)]
        for a in short_lived:
            blocks.activate(a)
        assert len(blocks.known) <= 23 * 3 // 2 + ROOM
    assert all(blocks.tangent_of(a) is not None for a in (*alive, *short_lived))


def test_large_tangents_of_dead_arrays_take_little_memory() -> None:
    blocks, alive = made(), [np.ones(SPARE) for _ in range(4)]
    for a in alive:
        blocks.activate(a)
    for _ in range(10):
        blocks.activate(np.ones(SPARE))
        kept = sum(block.tangent.nbytes for block in blocks.known.values())
        assert kept <= 4 * 8 * SPARE * 5 // 4 + SPARE + 8 * SPARE


def test_a_first_tangent_is_copied_in_the_layout_of_its_array() -> None:
    blocks, a, given = made(), np.asfortranarray(np.ones((2, 3))), np.arange(6.0).reshape(2, 3)
    assert blocks.put_first(a, given)
    tangent = blocks.tangent_of(a)
    assert tangent is not None
    assert tangent is not given
    assert tangent.strides == a.strides
    assert np.array_equal(tangent, given)
    assert not blocks.put_first(a, given)  # it has one


def test_an_array_in_steps_of_other_memory_gets_its_tangent_otherwise() -> None:
    whole = np.zeros((3, 3), np.dtype([("x", float), ("y", float)]))
    assert not made().put_first(whole["x"], np.ones((3, 3)))
