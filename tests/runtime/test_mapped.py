"""What is written through a map of a file, or to shared memory, must not be read by another way."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad, jvp, vjp

X = np.array([0.7, 1.3])
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what is mapped")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "data.npy"
    np.save(found, np.zeros(2))
    return found


def of_file(path: Path) -> Any:
    return np.load(path, mmap_mode="r+")


READERS = {
    "map": lambda path: np.load(path, mmap_mode="r"),
    "load": np.load,
    "bytes": lambda path: np.frombuffer(path.read_bytes()[128:]),
    "open": lambda path: np.frombuffer(open(path, "rb").read()[128:]),  # noqa: SIM115
}
WAYS = {
    "grad": lambda f: grad(f)(X),
    "jvp": lambda f: jvp(f, (X,), (np.ones(2),)),
    "vjp": lambda f: vjp(f, X),
    "debug": lambda f: grad(f, debug=True)(X),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", READERS)
def test_a_file_is_not_read_back(path: Path, read: str, way: str) -> None:
    def f(x: Any) -> Any:
        written = of_file(path)
        written[:] = x
        return np.prod(READERS[read](path))

    with pytest.raises(DerivativeDropError, match=r"reads a file|mapped twice"):
        WAYS[way](f)


@ON_LINUX
@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_mapped_twice(path: Path, way: str) -> None:
    a, b = of_file(path), np.asarray(of_file(path))

    def f(x: Any) -> Any:
        np.multiply(x, 1.0, out=a)
        return b[0] * b[1]

    with pytest.raises(DerivativeDropError, match="mapped twice"):
        WAYS[way](f)
    assert a.tolist() == [0.0, 0.0]


@pytest.fixture
def shared() -> Iterator[SharedMemory]:
    memory = SharedMemory(create=True, size=16)
    yield memory
    memory.close()
    memory.unlink()


@ON_LINUX
@pytest.mark.parametrize("compile", [False, True])
def test_shared_memory_under_two_names(shared: SharedMemory, compile: bool) -> None:
    if compile:
        pytest.importorskip("llvmlite")
    other = SharedMemory(name=shared.name)
    held = [np.ndarray(2, buffer=m.buf) for m in (shared, other)]
    a, b = held

    def f(x: Any) -> Any:
        a[:] = x
        return b[0] * b[1]

    with pytest.raises(DerivativeDropError, match="mapped twice"):
        grad(f, compile=compile)(X)
    assert b.tolist() == [0.0, 0.0]
    a = b = np.zeros(2)  # which `f` holds in place of the memory to be closed
    held.clear()
    gc.collect()
    other.close()


@pytest.mark.parametrize("way", WAYS)
def test_one_map_is_written_and_read(path: Path, way: str) -> None:
    def f(x: Any) -> Any:
        written = of_file(path)
        written[:] = x
        return written[0] * written[1]

    for _ in range(2):
        WAYS[way](f)
    np.testing.assert_allclose(grad(f)(X), X[::-1])


def test_a_later_run_maps_the_file_again(path: Path) -> None:
    def f(x: Any) -> Any:
        written = of_file(path)
        written[:] = x * x
        return written[0] * written[1]

    expected = [2 * X[0] * X[1] ** 2, 2 * X[1] * X[0] ** 2]
    _, pullback = vjp(f, X)
    for _ in range(3):
        assert pullback(1.0)[0].tolist() == pytest.approx(expected)
    v = np.array([0.5, -2.0])
    g = grad(lambda x: jvp(f, (x,), (v,))[1])(X)
    h = np.array([[2 * X[1] ** 2, 4 * X[0] * X[1]], [4 * X[0] * X[1], 2 * X[0] ** 2]])
    assert g.tolist() == pytest.approx((h @ v).tolist())
    assert jvp(grad(f), (X,), (v,))[1].tolist() == pytest.approx((h @ v).tolist())
