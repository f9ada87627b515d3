"""Tables in which objects are found without running any code of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.by_identity import ByIdentity, Types, answers_itself


class Loud:
    """Raises when it is hashed or compared."""

    def __hash__(self) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    def method(self) -> None: ...


class LoudType(type):
    """A metaclass of classes that raise when they are hashed or compared."""

    def __hash__(cls) -> int:
        raise AssertionError

    def __eq__(cls, other: object) -> bool:
        raise AssertionError


def test_objects_are_found_by_identity() -> None:
    first, second = Loud(), Loud()
    table: ByIdentity[int] = ByIdentity([(first, 1)])
    assert first in table
    assert second not in table
    table[second] = 2
    assert [table[first], table.get(second), table.get(Loud()), len(table)] == [1, 2, None, 2]
    del table[first]
    assert first not in table
    assert table.values_at == {id(second): 2}
    assert [id(o) for o in table] == [id(second)]
    with pytest.raises(KeyError):
        del table[first]


@pytest.mark.parametrize(
    "bind",
    [lambda: np.add.reduce, lambda: dict.fromkeys, lambda: LOUD.method, lambda: LOUD.__init__],
)  # fmt: skip
def test_methods_are_found_however_they_are_bound(bind: Callable[[], Any]) -> None:
    kept = bind()  # so that the second is another object
    table: ByIdentity[int] = ByIdentity([(kept, 1)])
    assert bind() is not kept
    assert table.get(bind()) == 1
    assert bind() in table
    table[bind()] = 2
    assert (table[kept], table.values_at[id(kept)], len(table)) == (2, 2, 1)
    del table[bind()]
    assert not table
    assert not table.values_at
    assert kept not in table


LOUD = Loud()


def test_a_copy_is_on_its_own() -> None:
    table: ByIdentity[int] = ByIdentity({len: 1})
    other = table.copy()
    other[max] = 2
    assert max not in table
    assert dict(other) == {len: 1, max: 2}


def test_sets_of_types_do_not_ask_a_metaclass() -> None:
    class Odd(metaclass=LoudType): ...

    types = Types({int, float})
    assert int in types
    assert Odd not in types
    assert Odd not in (types | {str})
    assert str in types | {str}
    assert int not in types - {int}


@pytest.mark.parametrize(
    ("o", "expected"),
    [
        (LOUD, True), (LoudType("L", (), {}), True), (len, False), (3.0, False),
        (test_a_copy_is_on_its_own, False),
    ],
)  # fmt: skip
def test_who_answers_itself(o: Any, expected: bool) -> None:
    assert answers_itself(o, "__hash__", "__eq__") is expected
