"""Values of many kinds that leave a checkpointed part keep their derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, checkpointed, grad, value_and_grad, vjp
from tests.support.carriers import CARRIERS, Kept, read_from
from tests.support.pairs import rotating

X = np.array([2.0, 3.0])


def returned(make: Any, v: Any) -> Any:
    return checkpoint(make, v)


def stored(make: Any, v: Any) -> Any:
    kept = Kept()

    def part(v: Any) -> None:
        kept.o = make(v)  # type: ignore[attr-defined]

    checkpoint(part, v)
    return kept.o  # type: ignore[attr-defined]


def bound(make: Any, v: Any) -> Any:
    found = None

    def part(v: Any) -> None:
        nonlocal found
        found = make(v)

    checkpoint(part, v)
    return found


def carried(make: Any, v: Any) -> Any:
    found = None
    for i in checkpointed(range(3), slots=1):
        if i == 0:
            found = make(v)
    return found


def within(make: Any, v: Any) -> Any:
    return checkpoint(lambda v: checkpoint(make, v), v)


WAYS = [returned, stored, bound, carried, within]


@pytest.mark.parametrize(("name", "way"), rotating(CARRIERS, WAYS, times=2))
def test_carriers_keep_their_derivative(name: str, way: Any) -> None:
    np.testing.assert_allclose(grad(read_from(name, way))(X), [12.0, 4.0])


def squared(o: Any, x: Any) -> None:
    o[0] = x[0] * x[1]


def whole(o: Any, x: Any) -> None:
    o[:] = x * x


def raised(o: Any, x: Any) -> None:
    o[0] += x[0] * x[1]


def twice(o: Any, x: Any) -> None:
    o[0] = x[0]
    o[1] = o[0] * x[1]
    o[0] = o[1] * x[0]


def by_view(o: Any, x: Any) -> None:
    o[::-1][0] = x[0] * x[1]


def by_mask(o: Any, x: Any) -> None:
    o[np.array([True, False])] = x[0] * x[1]


def inactive_after_active(o: Any, x: Any) -> None:
    o[0] = x[0]
    o[0] = 5.0
    o[1] = x[0] * x[1]


def sorted_before(o: Any, x: Any) -> None:
    o.sort()
    o[1] = x[0] * x[0]


WRITES = [
    squared, whole, raised, twice, by_view, by_mask, inactive_after_active, sorted_before,
    lambda o, x: o.fill(x[0] * x[1]), lambda o, x: o.put([1], [x[0] * x[1]]),
    lambda o, x: np.copyto(o, x * x),
    lambda o, x: o.__setitem__(0, [x[0] * x[1]]), lambda o, x: o.__setitem__(0, x * x),
]  # fmt: skip


def total(o: Any) -> Any:
    parts = [v[0] if isinstance(v, (list, np.ndarray)) else v for v in o.tolist()]
    return parts[0] + 2.0 * parts[1]


@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_into_an_array_of_objects_keeps_its_derivative(write: Any) -> None:
    captured = np.array([1.0, 2.0], dtype=object)

    def run(x: Any, o: Any, checkpointing: bool) -> Any:
        def part(x: Any) -> None:
            write(o, x)

        def both(x: Any) -> None:
            if checkpointing:
                checkpoint(part, x)
                checkpoint(part, 1.5 * x)
            else:
                part(x)
                part(1.5 * x)

        checkpoint(both, x) if checkpointing else both(x)
        return total(o) * x[1]

    def of_captured(x: Any, checkpointing: bool) -> Any:
        return run(x, captured, checkpointing)

    def of_own(x: Any, checkpointing: bool) -> Any:
        return run(x, np.array([x[0], 1.0], dtype=object), checkpointing)

    for f in (of_captured, of_own):
        expected, g = value_and_grad(f)(X, False)
        for debug in (False, True):
            value, got = value_and_grad(f, debug=debug)(X, True)
            np.testing.assert_allclose(value, expected)
            np.testing.assert_allclose(got, g)
        _, pullback = vjp(lambda x, f=f: f(x, True), X)
        np.testing.assert_allclose(pullback(1.0)[0], g)
        assert captured.tolist() == [1.0, 2.0]
