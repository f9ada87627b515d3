"""Statements that write what a mask picks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from mooncake_py.compiler.statements import gathers
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.memory import undo_assign
from tests.compiler.statements.derivatives import check_to_second_order
from tests.programs.comparing import function_of
from tests.programs.driver import Sample, compare
from tests.support.gradients import check

X = np.array([2.0, 0.75, -0.5, 1.25, 0.25])
M = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0], [-1.25, 0.75, 0.5]])
H = np.array([True, False, True, True, False])


def thresholds(x: Any, m: Any) -> Any:
    for _ in range(2):
        h = x > 0.5
        x[h] = np.sin(x[h]) * 0.5 + x[h] ** 2
        x[~h] *= m[0, 1] - x[~h]
        m[m < 0.6] -= 0.25 * x[0]
        m[m > x[1]] /= 1.5
    return np.sum(x * x) + np.sum(m * m)


def leading_axes(x: Any, m: Any) -> Any:
    d = np.array([True, False, True])
    for _ in range(2):
        m[d] = m[d] * x[:3] - m[1]
        m[d] += np.mean(m[d], axis=0)
        m[~d] = x[0] * x[1] + 0.5
        d[:2] = ~d[:2]
    return np.sum(m * m)


def powers(x: Any, m: Any) -> Any:
    far = x > 0.3
    x[far] = x[far] ** -1.5
    x[~far] = x[1] ** 0.5
    m[m > 0.0] = 0.5 * m[m > 0.0] ** 2.5 + m[m > 0.0] ** -1
    return np.sum(x) * np.sum(m * m)


PROGRAMS = [thresholds, leading_axes, powers]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [0, 4096])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_to_second_order(
    program: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathers, "SMALL", size)
    check_to_second_order(lambda x, m: program(x.copy(), m.copy()), X, M)


def entries_of(statement: Any, *args: Any) -> list[Any]:
    """Return the entries of a statement, except those that restore overwritten elements."""
    ctx = ReverseContext()
    ctx.registry.activate(args[0])
    ctx.call(statement, *args)
    return [entry for entry in ctx.tape if entry[0] is not undo_assign]


def stored(x: Any, h: Any) -> None:
    x[h] = x[h] * x[h] + 0.5


def scaled(x: Any, h: Any) -> None:
    x[h] *= np.sin(x[h])


def compared(x: Any, h: Any) -> None:
    x[x > 0.5] *= x[0]


def raised_to_a_power(x: Any, h: Any) -> None:
    x[h] = x[h] ** -1.5


@pytest.mark.plain
@pytest.mark.parametrize("statement", [stored, scaled, compared, raised_to_a_power])
def test_a_write_by_a_mask_is_one_entry(statement: Any) -> None:
    assert len(entries_of(statement, X + 1.0, H)) == 1


@pytest.mark.plain
def test_what_is_kept_is_logged_as_it_is() -> None:
    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(stored, x, H)
    (undo,) = [entry for entry in ctx.tape if entry[0] is undo_assign]
    (pull,) = [entry for entry in ctx.tape if entry[0] is not undo_assign]
    assert any(undo[3] is part for part in pull)


@pytest.mark.parametrize(
    "index",
    [
        np.zeros(5, bool), np.ones(5, bool), H, np.array(True), True, 2, slice(1, 3), [0, 3],
        np.array([0, 0, 3]), (H,), (np.array([3, 1]),), Ellipsis, None,
    ],
    ids=str,
)  # fmt: skip
def test_indices_of_all_kinds(index: Any) -> None:
    def program(x: Any) -> Any:
        for i in (H, index, index, ~H, slice(0, 2)):
            x[i] = np.sin(x[i]) * x[i] - 0.5 * x[i]
            x[i] += 0.25 * x[1]
        return np.sum(x * x)

    check(lambda x: program(x.copy()), X)


def test_the_mask_is_that_of_its_time() -> None:
    def program(x: Any) -> Any:
        h = np.array([True, False, True, False, False])
        x[h] *= 3.0
        h[:] = ~h
        y = x * 2.0
        return np.sum(y)

    assert_array_equal(grad(program)(X), [6.0, 2.0, 6.0, 2.0, 2.0])


@pytest.mark.plain
@pytest.mark.parametrize("size", [0, 4096])
def test_a_mask_in_the_memory_that_is_written(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathers, "SMALL", size)

    def program(x: Any) -> Any:
        y = np.zeros(6)
        h = y.view(bool)[:5]
        h[:3] = True
        z = y[1:]
        z[h] = x[h] * 2.0 + z[h]
        z[h] *= x[4]
        return np.sum(z * z) + np.sum(x)

    check(program, X)


@pytest.mark.parametrize("shift", [0, 1])
def test_other_masks_at_the_same_place(shift: int) -> None:
    def program(x: Any) -> Any:
        h = H.copy()
        for k in range(3):
            i = h if k != shift else h[::-1]
            x[h] = np.sin(x[i]) * x[h] + x[i]
        return np.sum(x * x)

    check(lambda x: program(x.copy()), X)


def test_bits_do_not_depend_on_earlier_calls() -> None:
    def program(x: Any, turned: Any) -> Any:
        h = H.copy()
        for turn in turned:
            i = h[::-1] if turn else h
            x[h] = np.sin(x[i]) * x[h] / 3.0 + x[i]
        return np.sum(x * x)

    random = np.random.default_rng(0)
    given = [random.normal(size=5) for _ in range(20)]
    first = [grad(program)(x, (False, False)) for x in given]
    grad(program)(X, (True, True))
    for x, expected in zip(given, first, strict=True):
        assert_array_equal(grad(program)(x, (False, False)), expected)


def test_operands_in_the_memory_that_is_written() -> None:
    def program(x: Any) -> Any:
        y, z = x[1:], x[:-1]
        h = y > 0.0
        y[h] = z[h] * y[h] - 2.0 * z[h]
        z[h] += y[h] * x[0]
        x[H] = x[::2]
        return np.sum(x * x)

    check(lambda x: program(x.copy()), X)


def test_a_zero_cotangent_stays_zero_beside_infinite_slopes() -> None:
    def program(x: Any) -> Any:
        x[H] = x[H] ** 0.5
        x[0] = 0.0
        return np.sum(x[1:])

    x = X.copy()
    x[0], x[2] = 0.0, 4.0
    assert_array_equal(grad(program)(x)[:3], [0.0, 1.0, 0.25])


WRONG = [
    "x[h] = x[:2] * 2.0",
    "x[h] += x[:2] * 2.0",
    "x[h[:4]] *= x[0] + 1.0",
    "x[h] = x[np.newaxis, :3] * 2.0",
    "x[h] -= x[np.newaxis, :3] * 2.0",
    "w.flags.writeable = False; w[h] = x[h] * 2.0",
    "x[x > w[:2]] *= 2.0 * x[0]",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_the_same_words(text: str) -> None:
    head = "import numpy as np\ndef f(x, w, m):\n    h = np.array([1, 0, 1, 1, 0], bool)\n"
    lines = "".join(f"    {line}\n" for line in ("x[h] *= x[1] + 2.0", *text.split("; ")))
    number, state = (
        function_of(f"{head}{lines}    return {result}\n", f"<{text} {result}>")
        for result in ("np.sum(x) + np.sum(w)", "x, w, m")
    )
    active = (0, 1, 2)
    compare(Sample(number, lambda: (X.copy(), X + 1.0, M.copy()), (active,), active, 0, state))


def test_what_is_picked_is_restored() -> None:
    def program(x: Any) -> Any:
        for _ in range(3):
            x[x > 0.3] *= 0.9 * x[0]
            x[H] += x[1]
        return np.sum(x * x)

    given = X.copy()
    value_and_grad(program)(given)
    assert_array_equal(given, X)
    value, gradient = value_and_grad(lambda x: checkpoint(program, x))(given)
    expected = value_and_grad(program)(given)
    assert value == expected[0]
    assert_array_equal(gradient, expected[1])
    assert_array_equal(given, X)


@pytest.mark.without_modes("it is about arguments that share memory")
def test_a_write_into_what_arguments_share_is_refused() -> None:
    def program(x: Any, y: Any) -> Any:
        x[H] *= y[0] + 1.0
        return np.sum(x * y)

    given = X.copy()
    with pytest.raises(SharedArgumentsError):
        grad(program, (0, 1))(given, given)


def test_a_mask_changed_by_what_it_writes() -> None:
    def program(x: Any) -> Any:
        h = x > 0.5
        for _ in range(3):
            x[h] = 0.5 * x[h] + 0.1
            h = x > 0.5
        return np.sum(x * x)

    check(lambda x: program(x.copy()), X)


def test_along_several_directions() -> None:
    given = X.copy(), M.copy()
    directions = [(X * k, M + k) for k in (1.0, -2.0, 0.5)]
    for program in PROGRAMS:
        _, found = jvp(program, tuple(a.copy() for a in given), directions)
        each = [jvp(program, tuple(a.copy() for a in given), d)[1] for d in directions]
        np.testing.assert_allclose(found, each, rtol=1e-13)
