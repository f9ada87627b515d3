"""Copies of iterators in C."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import Any

import pytest

from mooncake_py.runtime.iterators import Copies, reduced, set_state


def copied(iterator: Any) -> Any:
    """Return an iterator over what another one has left, None if there is none."""
    made = Copies().of(iterator)
    return None if made is None else made[-1][1]


def test_a_copy_goes_on_where_the_iterator_is() -> None:
    iterator = iter([1, 2, 3])
    next(iterator)
    assert list(copied(iterator)) == [2, 3]
    assert list(iterator) == [2, 3]


def test_generators_have_no_copy() -> None:
    generator = (i for i in range(2))
    assert copied(generator) is None
    assert list(generator) == [0, 1]


class Counting(list):
    calls = 0

    def __iter__(self) -> Any:
        self.calls += 1
        return super().__iter__()

    def __reversed__(self) -> Any:
        self.calls += 1
        return super().__reversed__()


class Indexed:
    def __len__(self) -> int:
        raise AssertionError

    def __getitem__(self, i: int) -> int:
        raise AssertionError


@pytest.mark.parametrize("make", [iter, reversed, lambda s: enumerate(iter(s))])
def test_methods_of_classes_do_not_run(make: Any) -> None:
    items = Counting([1, 2, 3])
    iterator = make(items)
    new = copied(iterator)
    assert items.calls == 1
    assert list(new) == list(iterator)
    assert copied(iter(Indexed())) is None


@pytest.mark.parametrize("make", [
    dict.fromkeys, set, tuple, lambda s: zip(iter(s), s, strict=True), "".join,
    lambda s: enumerate(map(str, s)), lambda s: filter(None, iter(s)),
])  # fmt: skip
def test_what_is_left_is_the_same(make: Any) -> None:
    def made() -> Any:
        kind = ["a", "b", "c", "d"]
        return iter(make(kind))

    for n in range(5):
        iterator, other = made(), made()
        for _ in range(n):
            next(iterator, None)
            next(other, None)
        new = copied(iterator)
        assert list(new) == list(other) == list(iterator)


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


def test_a_file_stays_open() -> None:
    class Encoded(io.TextIOWrapper):
        pass

    file = Encoded(io.BytesIO(b"a\nb\n"))
    assert next(file) == "a\n"
    assert reduced(file) is None
    assert next(file) == "b\n"
