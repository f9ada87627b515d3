"""Elements of arrays of objects, and of structured ones, are those of the plain call."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.pairs import rotating

MASK = np.array([True, False, True])


def made_of(make: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, x: make([x[0], 2, "text"])


def written(write: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    def f(a: Any, x: Any) -> Any:
        write(a, x)
        return a

    return f


def set_flat(a: Any, v: Any) -> None:
    a.flat = v


def set_part_of_flat(a: Any, v: Any) -> None:
    a.flat[1:] = v


# fmt: off
MADE = {
    "flat of a list": written(lambda a, x: set_flat(a, [x[0], 2, "text"])),
    "flat of a tuple": written(lambda a, x: set_flat(a, (x[0],))),
    "flat of None": written(lambda a, x: set_flat(a, [None, x[0]])),
    "flat of lists": written(lambda a, x: set_flat(a, [[x[0], 2], 3, "text"])),
    "flat of a row": written(lambda a, x: set_flat(a, [[x[0], 2]])),
    "flat of an array": written(set_flat),
    "part of flat": written(lambda a, x: set_part_of_flat(a, [x[0], 2])),
    "put": written(lambda a, x: np.put(a, [0, 2], [x[0], 2])),
    "put a number": written(lambda a, x: np.put(a, [0, 2], x[0])),
    "put an array": written(lambda a, x: np.put(a, [0, 2], x)),
    "method put": written(lambda a, x: a.put([0, 2], (x[0], "text"))),
    "place": written(lambda a, x: np.place(a, MASK, [x[0], "text"])),
    "putmask": written(lambda a, x: np.putmask(a, MASK, [x[0], 1, "text"])),
    "asarray": made_of(lambda v: np.asarray(v, object)),
    "asarray by name": made_of(lambda v: np.asarray(v, dtype="O")),
    "asanyarray": made_of(lambda v: np.asanyarray(v, dtype=object)),
    "ascontiguousarray": made_of(lambda v: np.ascontiguousarray(v, object)),
    "asfortranarray": made_of(lambda v: np.asfortranarray((v,), object)[0]),
}
# fmt: on


@pytest.mark.parametrize(("name", "dtype"), rotating(MADE, [np.float32, np.float64]))
def test_types_of_elements(name: str, dtype: Any) -> None:
    x = np.arange(3).astype(dtype) + 1

    def run(x: Any) -> Any:
        a = MADE[name](np.zeros(3, object), x)
        found = [type(v) for v in a.tolist()]
        return found, a[0]

    def f(x: Any) -> Any:
        types, first = run(x)
        assert types == expected
        return x[0] * 3 if first is None or isinstance(first, list) else x[0] + first * 2

    expected = run(x)[0]
    factor = f(x) / x[0]
    np.testing.assert_array_equal(grad(f)(x), [factor, 0, 0])
    assert jvp(f, (x,), (np.array([1, 0, 0], dtype),))[1] == factor


@pytest.mark.parametrize("values", [[(1.0, 2.0)], (1.0, 2.0), [(1.0, 2.0), (3.0, 4.0)]])
@pytest.mark.parametrize("write", [set_flat, lambda a, v: np.put(a, [0, 1, 2], v)])
def test_rows_of_structured_arrays(write: Any, values: Any) -> None:
    def f(x: Any) -> Any:
        a = np.zeros(3, [("left", float), ("right", float)])
        write(a, values)
        return x[0] * np.sum(a["left"]) + x[1] * np.sum(a["right"])

    x = np.array([3.0, 5.0])
    expected = [f(np.array([1.0, 0.0])), f(np.array([0.0, 1.0]))]
    np.testing.assert_array_equal(grad(f)(x), expected)
