"""Errors of Python for an active number name its class, as in the plain call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad, vjp
from tests.support.pairs import rotating

X = np.array([2.1, 0.7])
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "call": lambda v: v(),
    "len": len,
    "iter": iter,
    "list": list,
    "tuple": tuple,
    "set": set,
    "sum": sum,
    "any": any,
    "in": lambda v: 1 in v,
    "reversed": reversed,
    "next": lambda v: next(v),
    "zip": lambda v: list(zip(v)),
    "enumerate": lambda v: list(enumerate(v)),
    "extend": lambda v: [].extend(v),
    "update": lambda v: {}.update(v),
    "map": lambda v: list(map(v, [1])),
    "star": lambda v: [*v],
    "setattr": lambda v: setattr(v, "foo", 1),
    "delattr": lambda v: delattr(v, "foo"),
    "mapping": lambda v: {**v},
    "next of an array": lambda v: next(np.array([v, v])),
}


def program(function: Callable[[Any], Any]) -> Any:
    """Add a program that consists of statements."""
    PROGRAMS[function.__name__] = function
    return function


@program
def unpacked(v):
    a, b = v
    return a + b


@program
def unpacked_in_a_loop(v):
    for a, b in [v]:
        v = a + b


@program
def looped_over(v):
    for item in v:
        v = item


@program
def set_item(v):
    v[0] = 1.0


@program
def deleted_item(v):
    del v[0]


@program
def set_attribute(v):
    v.foo = 1.0


@program
def entered(v):
    with v:
        pass


KINDS: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: x[0],
    "float": lambda x: float(x[0]),
    "float32": lambda x: np.float32(x[0]),
}
MODES: dict[str, Callable[..., Any]] = {
    "reverse": lambda f: value_and_grad(f, has_aux=True)(X)[0],
    "forward": lambda f: value_and_grad(f, has_aux=True, mode="forward")(X)[0],
    "debug": lambda f: value_and_grad(f, has_aux=True, debug=True)(X)[0],
    "vjp": lambda f: vjp(f, X)[0],
    "jvp": lambda f: jvp(f, (X,), (X,))[0],
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x), has_aux=True)(X)[0],
}


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize(("name", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_the_text_is_that_of_the_plain_call(name: str, mode: str) -> None:
    run = PROGRAMS[name]
    for kind in KINDS.values():

        def f(x: Any, kind: Callable[[Any], Any] = kind) -> Any:
            try:
                run(kind(x))
            except (TypeError, AttributeError) as error:
                return x[0] * 1.0, f"{type(error).__name__}: {error}"
            return x[0] * 1.0, ""

        expected = f(X)[1]
        assert expected
        assert MODES[mode](f)[1] == expected


READ_ONLY: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(1),
    "put": lambda x: np.put(x, [0], 1.0),
    "put of the array": lambda x: x.put([0], [1.0]),
    "fill_diagonal": lambda x: np.fill_diagonal(x.reshape(1, 2), 3.0),
    "item": lambda x: x.__setitem__(0, 1.0),
    "fill": lambda x: x.fill(1.0),
    "out": lambda x: np.add(x, 1.0, out=x),
    "copyto": lambda x: np.copyto(x, 1.0),
}


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize(
    ("name", "mode"),
    rotating(READ_ONLY, ["reverse", "forward", "debug", "vjp", "jvp", "checkpoint"], times=2),
)
def test_read_only_arrays_raise_what_numpy_raises(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = X.copy()
    x.flags.writeable = False
    monkeypatch.setitem(globals(), "X", x)

    def f(x: Any) -> Any:
        try:
            READ_ONLY[name](x)
        except ValueError as error:
            return x[0] * 1.0, str(error)
        return x[0] * 1.0, ""

    expected = f(x)[1]
    assert "read-only" in expected
    assert MODES[mode](f)[1] == expected
