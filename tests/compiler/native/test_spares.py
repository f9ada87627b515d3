"""Arrays that are kept between calls: nobody has one twice, and they do not stay for ever."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from mooncake_py.compiler.native import spares as module
from mooncake_py.compiler.native.spares import FEW, STACK, Kept, Spares, Stack


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """What is kept by the test alone."""
    found = Kept()
    monkeypatch.setattr(module, "_kept", found)
    return found


def test_an_array_serves_one_at_a_time(kept: Kept) -> None:
    spares = Spares()
    a = np.empty(1000)
    spares.give("x", a)
    assert kept.bytes == 8000
    assert spares.taken("y") is None
    assert spares.taken("x") is a
    assert spares.taken("x") is None
    assert kept.bytes == 0


def test_copies_have_the_shape_and_the_values() -> None:
    spares = Spares()
    u = np.arange(6.0).reshape(2, 3)
    first = spares.copied("u", u)
    spares.give("u", first)
    again = spares.copied("u", 2 * u.T.copy().T)
    assert again is first
    assert again.flags.c_contiguous
    np.testing.assert_array_equal(again, 2 * u)
    spares.give("u", again)
    np.testing.assert_array_equal(spares.copied("u", u[:1]), u[:1])


def test_what_is_kept_is_bounded(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    spares = Spares()
    for _ in range(2 * FEW):
        spares.give("x", np.empty(10))
    assert kept.bytes == FEW * 80
    monkeypatch.setattr(module, "MOST", 1000)
    spares.give("y", np.empty(100))
    assert spares.taken("y") is None
    Spares().give("z", np.empty(80))
    assert kept.bytes == FEW * 80 + 640


def test_what_nobody_takes_is_dropped(kept: Kept) -> None:
    spares = Spares()
    spares.give("x", np.empty(10))
    kept.drop_old()
    spares.give("y", np.empty(20))
    kept.drop_old()
    assert spares.taken("x") is None
    assert kept.bytes == 160
    assert spares.taken("y") is not None


def test_full_collections_drop_it() -> None:
    (own,) = [f.__self__ for f in gc.callbacks if type(getattr(f, "__self__", None)) is Kept]
    spares = Spares()
    own.all.add(spares)
    spares.arrays["x"] = [(np.empty(10), own.age)]
    gc.collect(1)
    assert spares.arrays["x"]
    gc.collect()
    gc.collect()
    assert not spares.arrays["x"]


def test_nobody_waits_for_the_lock(kept: Kept) -> None:
    spares = Spares()
    spares.give("x", np.empty(10))
    with kept.lock:
        assert spares.taken("x") is None
        spares.give("x", np.empty(10))
        kept.drop_old()
    assert kept.bytes == 80


def test_a_stack_comes_back_when_nobody_has_it() -> None:
    spares = Spares()
    array = spares.stack()
    stack = Stack(array, 3, spares)
    other = stack
    del stack
    assert spares.taken(STACK) is None
    del other
    assert spares.stack() is array
