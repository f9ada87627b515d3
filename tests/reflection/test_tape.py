"""The tape as it is shown."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import checkpoint, tape_of, value_and_grad

pytestmark = pytest.mark.without_modes("shows what runs where nothing is compiled", "compiled")

X = np.linspace(0.1, 1.0, 100)


def kernel(u, c):
    v = np.exp(u)
    u[1:] *= c
    w = v * u
    return np.sum(w)


def test_entries_in_order() -> None:
    u = X.copy()
    tape = tape_of(kernel, u, 2.0)
    np.testing.assert_array_equal(u, X)
    first = kernel.__code__.co_firstlineno
    assert [
        (e.where and e.where.line - first, e.source, e.operation, e.shape, e.nbytes)
        for e in tape.entries
    ] == [
        (1, "np.exp(u)", "elementwise", (100,), 800),
        (2, "u[1:] *= c", "fused expression", (100,), 0),
        (2, "u[1:] *= c", "undo: overwritten elements", (100,), 792),
        (3, "v * u", "elementwise", (100,), 0),
        (4, "np.sum(w)", "linear: numpy.sum", None, 0),
    ]
    assert tape.nbytes == 800 + 792
    assert len(tape) == 5
    assert str(tape).splitlines()[-1] == "5 entries, 1,592 bytes saved"


def test_shapes_and_dtypes_of_what_is_saved() -> None:
    [entry, _] = tape_of(lambda a, b: np.sum(*[a @ b]), np.ones((2, 3)), np.ones((3, 4))).entries
    assert entry.operation == "product: numpy.matmul"
    assert entry.shape == (2, 4)
    assert sorted(shape for shape, _ in entry.saved) == [(2, 3), (3, 4)]
    assert entry.nbytes == 0  # the caller holds them anyway


def test_containers_keywords_and_checkpoints() -> None:
    class State:
        t = 0.0

    def f(items, *, scale):
        s = State()
        s.t = items[0] * scale
        items.append(s.t)
        return checkpoint(lambda: s.t * items[1])

    items = [2.0]
    tape = tape_of(f, items, scale=3.0)
    assert items == [2.0]
    assert [e.operation for e in tape.entries] == [
        "fused expression",
        "undo: object or container",
        "undo: object or container",
        "part that runs again",
    ]


def test_exception_restores() -> None:
    u = X.copy()

    def fails(u):
        u *= 2.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tape_of(fails, u)
    np.testing.assert_array_equal(u, X)


def test_derivatives_are_not_disturbed() -> None:
    value, du = value_and_grad(kernel)(X.copy(), 2.0)
    tape_of(kernel, X.copy(), 2.0)
    again, du_again = value_and_grad(kernel)(X.copy(), 2.0)
    assert value == again
    np.testing.assert_array_equal(du, du_again)
