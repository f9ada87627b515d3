"""Memory of objects of ctypes that a program writes to has its former bytes afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad, vjp

Double = ctypes.c_double
X = np.array([1.0, 2.0])


class Record(ctypes.Structure):
    _fields_ = (("v", Double * 3), ("a", Double))


def programs() -> Iterator[Any]:
    def put(c: Any, i: Any, v: Any) -> Callable[[], None]:
        def write() -> None:
            c[i] = v

        return write

    numbers = (Double * 3)(1.0, 2.0, 3.0)
    yield pytest.param(numbers, put(numbers, 0, 7.0), id="item")
    yield pytest.param(numbers, put(numbers, slice(0, 2), [7.0, 8.0]), id="slice")
    yield pytest.param(numbers, lambda: numbers.__setitem__(0, 7.0), id="method")
    pointer = ctypes.cast(numbers, ctypes.POINTER(Double))
    yield pytest.param(numbers, put(pointer, 1, 7.0), id="pointer")
    yield pytest.param(
        numbers, lambda: put((Double * 3).from_buffer(numbers), 0, 7.0)(), id="shared"
    )
    ints = (ctypes.c_int * 3)(1, 2, 3)
    yield pytest.param(ints, put(ints, 2, 7), id="ints")
    record = Record()
    yield pytest.param(record.v, put(record.v, 0, 7.0), id="field")
    text = ctypes.create_string_buffer(b"abc")
    yield pytest.param(text, put(text, 0, b"z"), id="text")
    texts = (ctypes.c_char_p * 2)(b"a" * 30, b"b")
    yield pytest.param(texts, put(texts, 0, b"new" * 20), id="pointers to texts")


@pytest.mark.parametrize(("c", "write"), list(programs()))
def test_memory_is_restored(c: Any, write: Callable[[], None]) -> None:
    before = list(c)

    def f(x: Any) -> Any:
        write()
        write()
        return np.sum(x * (len(c[0]) if isinstance(c[0], bytes) else c[0]))

    def after(run: Callable[[], Any]) -> Any:
        found = run()
        assert list(c) == before
        return found

    after(lambda: value_and_grad(f)(X))
    after(lambda: jvp(f, (X,), (X,)))
    _, pullback = vjp(f, X)
    after(lambda: pullback(1.0))
