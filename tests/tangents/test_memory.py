"""Owners and shadows: a shadow view touches exactly the bytes that the view does."""

import mmap

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from mooncake_py.tangents.memory import (
    Shadows,
    cells,
    is_in_other_field,
    overlap,
    owner,
    shadow_view,
    zeros_like_owner,
)  # fmt: skip


def permuted():
    return np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1).copy(order="K")


VIEWS = {
    "whole": (lambda: np.arange(12.0), lambda x: x),
    "slice": (lambda: np.arange(12.0), lambda x: x[3:9:2]),
    "reversed": (lambda: np.arange(12.0), lambda x: x[::-1]),
    "transposed": (lambda: np.arange(12.0).reshape(3, 4).copy(), lambda x: x.T[1:]),
    "fortran": (lambda: np.asfortranarray(np.ones((3, 4))), lambda x: x[1:, ::-2]),
    "permuted": (permuted, lambda x: x[1, ::-1]),
    "newaxis": (lambda: np.arange(4.0), lambda x: x[:, None]),
    "broadcast": (lambda: np.arange(3.0), lambda x: np.broadcast_to(x, (4, 3))),
    "diagonal": (lambda: np.ones((3, 3)), lambda x: x.diagonal()),
    "windows": (lambda: np.arange(9.0), lambda x: as_strided(x[1:], (4, 3), (8, 8))),
    "0-d": (lambda: np.arange(4.0), lambda x: x[2, ...]),
    "0-d owner": (lambda: np.array(3.0), lambda x: x.reshape(1, 1)),
    "empty": (lambda: np.arange(4.0), lambda x: x[4:]),
    "real": (lambda: np.arange(4) * 1j, lambda x: x.real[1:]),
    "imag": (lambda: np.arange(4) * 1j, lambda x: x.imag[::-1]),
    "as complex": (lambda: np.arange(8.0), lambda x: x.view(complex)[1:]),
    "misaligned": (
        lambda: np.frombuffer(bytearray(90), float, 11, 1),
        lambda x: x[1:].reshape(5, 2)[::2],
    ),
    "bytes": (lambda: np.zeros(80, np.uint8), lambda x: x[8:].view(np.float32)[::3]),
    "memoryview": (lambda: np.arange(5.0), lambda x: np.asarray(memoryview(x))[1:]),
}


@pytest.mark.parametrize("case", VIEWS)
def test_shadow_view_is_the_same_view_of_the_owner(case):
    make, take = VIEWS[case]
    x = make()
    view = take(x)
    assert owner(view) is x
    shadow = zeros_like_owner(x)
    assert shadow.flags.aligned == x.flags.aligned
    d = shadow_view(shadow, x, view)
    assert (d.shape, d.dtype) == (view.shape, view.dtype)
    if view.size > 1:
        assert d.strides == view.strides
    # Both memories hold the same bytes, and the views read the same numbers from them.
    shadow[...] = x
    np.testing.assert_array_equal(d, view, strict=True)
    d[...] = 7.0
    mirror = x.copy(order="K")
    shadow_view(mirror, x, view)[...] = 7.0
    np.testing.assert_array_equal(shadow, mirror)
    assert (d.size == 0) or np.shares_memory(d, shadow)


@pytest.mark.parametrize(
    "make", [lambda: np.ones((2, 3)), permuted, lambda: np.ones((3, 2)).T.copy("K")]
)
def test_zeros_like_owner_has_the_very_strides(make):
    x = make()
    zeros = zeros_like_owner(x)
    assert zeros.strides == x.strides
    assert zeros.dtype == x.dtype
    assert not zeros.any()


def test_zeros_like_owner_of_foreign_memory_keeps_odd_strides():
    class Foreign:
        store = np.arange(20.0)
        __array_interface__ = {
            **store[::-2].__array_interface__,
        }

    x = np.asarray(Foreign())
    zeros = zeros_like_owner(x)
    assert zeros.strides == x.strides == (-16,)
    d = shadow_view(zeros, x, x[2:5])
    d[...] = 1.0
    np.testing.assert_array_equal(zeros, [0, 0, 1, 1, 1, 0, 0, 0, 0, 0])


def test_shadow_of_a_read_only_view_may_be_written():
    x = np.arange(3.0)
    view = np.broadcast_to(x, (2, 3))
    assert not view.flags.writeable
    assert shadow_view(zeros_like_owner(x), x, view).flags.writeable


@pytest.mark.parametrize(
    "make", [lambda: bytearray(80), lambda: bytes(80), lambda: mmap.mmap(-1, 80)]
)
def test_shadows_of_one_buffer_overlap(make):
    buffer = make()
    part, whole = np.frombuffer(buffer, offset=16, count=2), np.frombuffer(buffer)
    shadows = Shadows()
    d_part, d_whole = shadows.view(part), shadows.view(whole)
    d_part[...] = [1.0, 2.0]
    np.testing.assert_array_equal(d_whole, [0, 0, 1, 2, 0, 0, 0, 0, 0, 0])


def test_memmap_is_its_own_owner(tmp_path):
    x = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(6,))
    shadows = Shadows()
    shadows.view(x[1:3])[...] = 1.0
    d = shadows.view(x)
    assert type(d) is np.ndarray
    np.testing.assert_array_equal(d, [0, 1, 1, 0, 0, 0])


def test_memory_of_an_object_that_is_its_own_base_has_an_owner():
    """As what Cython allocates is."""

    class Allocated:
        def __init__(self):
            self.base = self
            self.kept = np.arange(3.0)
            self.__array_interface__ = self.kept.__array_interface__

    x = np.asarray(Allocated())
    assert type(x.base) is Allocated
    assert owner(x[1:]) is x


def test_cells_are_addresses():
    x = np.zeros((2, 3))
    np.testing.assert_array_equal(cells(x) - cells(x)[0, 0], [[0, 8, 16], [24, 32, 40]])
    assert np.unique(cells(np.broadcast_to(x[0], (5, 3)))).size == 3


def test_elements_in_common_are_told_from_elements_in_between():
    z = np.zeros((3, 4), complex)
    assert not overlap(z.real, z.imag)
    assert not overlap(z[:, ::2], z[:, 1::2])
    assert not overlap(z[:0], z)
    assert overlap(z[:, ::2], z[::-1, 2])
    assert overlap(z.T, z[1:2].imag)


def test_ints_in_records_are_told_from_the_floats_beside_them():
    inner = np.dtype([("mass", float), ("count", int)])
    kind = np.dtype([("at", float, (2,)), ("next", int, (2,)), ("own", inner)])
    p = np.zeros((4, 3), kind)
    ints = (
        p["next"],
        p["next"][::-2, 1:, ::-1],
        p["own"]["count"],
        p[1]["next"],
        p["next"].T,
    )
    floats = p["at"], p["own"]["mass"], p["own"]
    assert all(is_in_other_field(a, p) for a in ints)
    assert not any(is_in_other_field(a, p) for a in floats)
    assert not is_in_other_field(np.ndarray((4, 3, 3), int, p, 0, (*p.strides, 8)), p)
    assert not is_in_other_field(np.ndarray((5,), int, p, 16, (8,)), p)
