"""Memory of objects of ctypes that a program writes to has its former bytes afterwards."""

from __future__ import annotations

import ctypes
import io
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    DerivativeDropError,
    MooncakeError,
    checkpoint,
    grad,
    jvp,
    value_and_grad,
    vjp,
)

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
    yield pytest.param(texts, put(texts, 0, b"new" * 20), id="pointers to strings")


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


class Holder(ctypes.Structure):
    _fields_ = (("v", Double * 3), ("p", ctypes.POINTER(Double)))


def unseen_writes() -> Iterator[Any]:
    c = (Double * 3)(1.0, 2.0, 3.0)
    address = ctypes.addressof(c)
    yield pytest.param(c, lambda: ctypes.memset(c, 0, 8), id="memset")
    yield pytest.param(c, lambda: ctypes.memset(address, 0, 8), id="memset of an address")
    yield pytest.param(c, lambda: ctypes.memset(ctypes.byref(c, 8), 0, 8), id="memset of a part")
    yield pytest.param(c, lambda: ctypes.memmove(c, b"\1" * 24, 24), id="memmove")
    yield pytest.param(c, lambda: c.__init__(7.0, 8.0), id="init")
    yield pytest.param(c, lambda: struct.pack_into("d", c, 0, 7.0), id="pack_into")
    yield pytest.param(c, lambda: io.BytesIO(b"\1" * 24).readinto(c), id="readinto")
    moved = (Double * 3)(1.0, 2.0, 3.0)  # of its own: no address of it stays valid
    yield pytest.param(moved, lambda: ctypes.resize(moved, 48), id="resize")
    text = ctypes.create_string_buffer(b"abc", 24)
    yield pytest.param(text, lambda: ctypes.pythonapi.memset(text, 1, 8), id="foreign function")
    holder = Holder((1.0, 2.0, 3.0))
    yield pytest.param(holder, lambda: setattr(holder, "v", (7.0, 8.0, 9.0)), id="field")
    new = ctypes.pointer(Double(7.0))
    yield pytest.param(holder, lambda: setattr(holder, "p", new), id="pointer in a field")
    yield pytest.param(holder, lambda: Holder.v.__set__(holder, (7.0,) * 3), id="descriptor")
    yield pytest.param(holder, lambda: holder.v.__setitem__(0, 7.0), id="part")
    pointer = ctypes.cast(c, ctypes.POINTER(Double))
    yield pytest.param(c, lambda: pointer.__setitem__(1, 7.0), id="pointer")


@pytest.mark.parametrize(("o", "write"), list(unseen_writes()))
def test_every_write_is_undone(o: Any, write: Callable[[], Any]) -> None:
    def f(x: Any) -> Any:
        write()
        return np.sum(2.0 * x)

    def check() -> None:
        assert ctypes.sizeof(o) == size
        assert ctypes.string_at(ctypes.addressof(o), size) == before

    size = ctypes.sizeof(o)
    before = ctypes.string_at(ctypes.addressof(o), size)
    for run in (f, lambda x: checkpoint(f, x)):
        assert np.array_equal(grad(run)(X), [2.0, 2.0])
        check()
        _, pullback = vjp(run, X)
        check()
        pullback(1.0)
        check()


def test_what_a_foreign_function_may_write_to_is_known_or_it_is_refused() -> None:
    c = (Double * 3)(1.0, 2.0, 3.0)
    where = ctypes.c_void_p(ctypes.addressof(c))

    def f(x: Any) -> Any:
        ctypes.pythonapi.memset(where, 0, 8)
        return np.sum(x)

    with pytest.raises(MooncakeError, match="address"):
        grad(f)(X)
    assert c[0] == 1.0


def written_through(name: str, o: Any) -> None:
    """Write to an array of ctypes through another object."""
    if name == "pointer":
        ctypes.cast(o, ctypes.POINTER(ctypes.c_double))[0] = 5.0
    elif name == "contents":
        ctypes.pointer(o).contents[0] = 5.0
    elif name == "address":
        ctypes.memset(ctypes.addressof(o), 0, 8)
    elif name == "part":
        o[1].x = 5.0
    else:
        np.ctypeslib.as_array(o)[0] = 5.0


@pytest.mark.parametrize("name", ["pointer", "contents", "address", "part", "array"])
def test_memory_that_moves_after_it_was_written_by_its_address(name: str) -> None:
    class Place(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]

    o = (Place * 2)() if name == "part" else (ctypes.c_double * 4)(1.0, 2.0, 3.0, 4.0)
    before = bytes(o)

    def f(x):
        written_through(name, o)
        ctypes.resize(o, 80_000)
        return x

    match = "whose memory an array uses" if name == "array" else "through another object"
    for derivative in (grad(f), lambda x: jvp(f, (x,), (1.0,)), grad(lambda x: checkpoint(f, x))):
        with pytest.raises(DerivativeDropError, match=match):
            derivative(2.0)
    assert bytes(o) == before


def test_memory_that_moves() -> None:
    o = (ctypes.c_double * 4)(1.0, 2.0, 3.0, 4.0)

    def f(x):
        o[0] = 5.0
        ctypes.resize(o, 8_000)
        o[1] = 7.0
        ctypes.resize(o, 80_000)
        return x * o[0] * o[1]

    for _ in range(3):
        assert grad(f)(2.0) == 35.0
        assert list(o) == [1.0, 2.0, 3.0, 4.0]
        assert ctypes.sizeof(o) == 32
