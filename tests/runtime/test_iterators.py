"""Copies of iterators in C."""

from __future__ import annotations

import itertools
import warnings

from mooncake_py.runtime.iterators import copied, reduced, set_state


def test_a_copy_goes_on_where_the_iterator_is() -> None:
    iterator = iter([1, 2, 3])
    next(iterator)
    assert list(copied(iterator)) == [2, 3]
    assert list(iterator) == [2, 3]


def test_generators_have_no_copy() -> None:
    generator = (i for i in range(2))
    assert copied(generator) is None
    assert list(generator) == [0, 1]


def test_nothing_warns() -> None:
    iterator = itertools.count(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = copied(iterator)
        found = reduced(zip([1.0], [2.0]))  # noqa: B905
    assert new is None or next(new) == next(iterator)
    assert found is None or found[0] is zip


def test_the_state_of_another() -> None:
    new = iter([1, 2, 3])
    set_state(new, 2)
    assert list(new) == [3]
