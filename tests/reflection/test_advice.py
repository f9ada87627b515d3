"""Advice on memory where a gradient keeps much of it."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, jvp, profile_gradient, tape_of
from mooncake_py.reflection import advice

pytestmark = pytest.mark.plain

PAGE = "docs/checkpointing.md"


def energy(u):
    for _ in range(3):
        u *= np.sin(u)
    return np.sum(u * u)


def test_large_tapes_name_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    u = np.ones(100)
    assert PAGE not in str(tape_of(energy, u))
    assert PAGE not in str(profile_gradient(energy, u))
    monkeypatch.setattr(advice, "LARGE", 1000)
    assert PAGE in str(tape_of(energy, u)).splitlines()[-1]
    assert PAGE in str(profile_gradient(energy, u)).splitlines()[-1]


def exhausted(u):
    v = u * u
    raise MemoryError(v.size)


def test_a_memory_error_of_a_gradient_names_the_page() -> None:
    with pytest.raises(MemoryError) as caught:
        grad(exhausted)(np.ones(3))
    assert any(PAGE in note for note in caught.value.__notes__)
    with pytest.raises(MemoryError) as caught:
        jvp(exhausted, (np.ones(3),), (np.ones(3),))
    assert not any(PAGE in note for note in caught.value.__notes__)


def test_a_memory_error_on_the_way_back_does_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from mooncake_py import from_vjp

    def f(x):
        return x + 1.0

    @from_vjp(f)
    def rule(x):
        def pullback(dy):
            raise MemoryError

        return x + 1.0, pullback

    with pytest.raises(MemoryError) as caught:
        grad(f)(1.0)
    assert sum(PAGE in note for note in caught.value.__notes__) == 1
