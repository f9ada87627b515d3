"""Captured variables that change within a part which runs twice, by code that no one sees."""

import json
from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, checkpointed, grad, value_and_grad, vjp

Run = Callable[[Any], Any]


def by_dir(o: Any) -> Any:
    return dir(o)


def by_json(o: Any) -> Any:
    return json.dumps({"o": 1, "p": o}, default=lambda o: o.__dir__())


def by_bytes(o: Any) -> Any:
    return bytes(o)


class Counter:
    """Counts in a captured variable how often native code has called it."""

    def __init__(self) -> None:
        count = 0

        def write() -> None:
            nonlocal count
            count += 1

        self.write, self.read = write, lambda: count

        class Hooked:
            def __dir__(self) -> list[str]:
                write()
                return ["a"]

            def __bytes__(self) -> bytes:
                write()
                return b"a"

        self.hooked = Hooked()


DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "checkpoint": lambda f, x: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(x),
    "nested": lambda f, x: value_and_grad(lambda x: checkpoint(lambda x: checkpoint(f, x), x))(x),
    "inner": lambda f, x: grad(
        lambda x: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(x)[1] * x
    )(x),
    "pullback": lambda f, x: vjp(lambda x: checkpoint(f, x) * 1.0, x)[1](1.0),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("run", [by_dir, by_json, by_bytes])
def test_counts(run: Run, derivative: str) -> None:
    counter = Counter()

    def f(x: float) -> float:
        run(counter.hooked)
        before = counter.read()
        run(counter.hooked)
        return x * (before + 10.0 * counter.read())

    found = DERIVATIVES[derivative](f, 2.0)
    expected = {"inner": 21.0, "pullback": (21.0,)}.get(derivative, (42.0, 21.0))
    assert found == expected
    assert counter.read() == 0


def test_loop() -> None:
    counter = Counter()

    def f(x: float) -> float:
        y = 0.0
        for _ in checkpointed(range(4)):
            by_dir(counter.hooked)
            y += x * counter.read()
        return y

    assert value_and_grad(f)(2.0) == (20.0, 10.0)
    assert counter.read() == 0


def test_errors_leave_no_change() -> None:
    counter = Counter()

    def f(x: float) -> float:
        by_dir(counter.hooked)
        if counter.read():
            raise ValueError("of the part")
        return x

    with pytest.raises(ValueError, match="of the part"):
        grad(lambda x: checkpoint(f, x) * 1.0)(2.0)
    assert counter.read() == 0


@pytest.mark.parametrize("changed", [[1.0], {0: 1.0}, np.ones(1)], ids=["list", "dict", "array"])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_variable_of_a_part_within_a_part_held_what_that_has_changed(
    changed: Any, at_once: bool
) -> None:
    def f(x):
        def change():
            changed[0] = 2.0

        change() if at_once else checkpoint(change)
        q = changed

        def rebinds(w):
            nonlocal q
            q = None
            return w * x

        assert q is changed
        return checkpoint(rebinds, x)

    assert value_and_grad(lambda x: checkpoint(f, x) * 1.0)(2.0) == (4.0, 4.0)
    assert changed[0] == 1.0


class Kept:
    def __init__(self, x: Any) -> None:
        self.x = x


class Read(Kept):
    @property
    def x(self) -> Any:
        return self.held

    @x.setter
    def x(self, value: Any) -> None:
        self.held = value


class Writing(Kept):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("kinds", [(Read, Kept, Read), (Writing, Kept, Writing, Read)])
def test_parts_in_a_derivative_inside_find_the_variables_of_their_loop(kinds: Any) -> None:
    cells = [kind(0.4) for kind in kinds]

    def f(z):
        for cell in cells:

            def update(u):
                cell.x = np.sin(u)  # noqa: B023
                return u * 1.0

            z = z + checkpoint(update, z) + cell.x
        return z

    slope = (grad(f)(0.7 + 1e-5) - grad(f)(0.7 - 1e-5)) / 2e-5
    assert grad(grad(f))(0.7) == pytest.approx(slope, rel=1e-6)


DESCRIPTOR = CellType.__dict__["cell_contents"]


def by_attribute(cell: Any, v: Any) -> None:
    cell.cell_contents = v


def by_descriptor(cell: Any, v: Any) -> None:
    DESCRIPTOR.__set__(cell, v)


def emptied_before(cell: Any, v: Any) -> None:
    del cell.cell_contents
    cell.cell_contents = v


@pytest.mark.parametrize("put", [by_attribute, by_descriptor, emptied_before])
def test_variables_set_through_their_cells(put: Any) -> None:
    def made() -> Any:
        v = 1.0

        def g():
            return v

        def f(x):
            put(g.__closure__[0], x * x)
            return g() * x

        return f, g

    for derive in (
        value_and_grad,
        lambda f: value_and_grad(f, debug=True),
        lambda f: value_and_grad(lambda z: checkpoint(f, z)),
        lambda f: value_and_grad(lambda z: checkpoint(lambda z: checkpoint(f, z), z) * 1.0),
        lambda f: value_and_grad(lambda z: value_and_grad(f)(z)[0]),
    ):
        f, g = made()
        assert derive(f)(2.0) == (8.0, 12.0)
        assert g() == 1.0
