"""The parts of `test_rule`: joint copies, the pairing, differences, snapshots and sharing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from mooncake_py.application.copying import copy_jointly
from mooncake_py.tangents import NoFData, zero_tangent
from mooncake_py.testing.case import Inputs, repeats_cells
from mooncake_py.testing.compare import compare, first_change, freeze, is_zero, largest_number
from mooncake_py.testing.derivative_checks import promoted
from mooncake_py.testing.finite_differences import STEPS, random_direction
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.layouts import LAYOUTS, RESHAPES, as_broadcast
from mooncake_py.testing.pairing import Pairing
from mooncake_py.testing.sharing import memory_conflict, shared_parts
from mooncake_py.testing.structure import walk
from mooncake_py.testing.variants import (
    Variant,
    accept,
    aliasing_variants,
    dtype_variants,
    layout_variants,
)


def layouts_of(x: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "whole": x,
        "reversed": x[::-1, ::-1],
        "transposed": x.T,
        "strided": x[1::2, ::3],
        "broadcast": np.broadcast_to(x[0], (3, x.shape[1])),
        "0-d": x[1, 1, ...],
        "empty": x[:0],
        "windows": np.lib.stride_tricks.sliding_window_view(x, (2, 2)),
    }


X = np.arange(24.0).reshape(4, 6)


# Copies.


@pytest.mark.parametrize("name", list(layouts_of(X)))
@pytest.mark.parametrize("order", ["C", "F"])
def test_copy_keeps_each_view_of_its_owner(name: str, order: Any) -> None:
    x = np.array(X, order=order)
    view = layouts_of(x)[name]
    new_x, new_view = copy_jointly((x, view))
    assert new_x.strides == x.strides
    assert new_view.strides == view.strides
    assert new_view.flags.writeable == view.flags.writeable
    np.testing.assert_array_equal(new_view, view, strict=True)
    new_x[...] += 100.0
    np.testing.assert_array_equal(new_view, view + 100.0)
    np.testing.assert_array_equal(x, X)


def test_copy_of_a_view_without_its_owner_keeps_overlaps() -> None:
    x = np.arange(5.0)
    a, b = copy_jointly([x[1:], x[:-1]])
    a[0] = 50.0
    assert b[1] == 50.0


@pytest.mark.parametrize("name", list(layouts_of(X)))
def test_copy_to_another_dtype_keeps_views(name: str) -> None:
    x = X.astype(np.float32)
    view = layouts_of(x)[name]
    new_x, new_view = copy_jointly((x, view), lambda v: np.array(v, dtype=np.float64))
    np.testing.assert_array_equal(new_view, view.astype(np.float64), strict=True)
    new_x += 1.0
    np.testing.assert_array_equal(new_view, view + 1.0)


def test_copy_of_the_real_part_is_the_real_part_of_the_copy() -> None:
    z = np.arange(3) + 1j
    new_z, real, imag = copy_jointly((z, z.real, z.imag))
    new_z[...] = 5 + 7j
    np.testing.assert_array_equal(real, [5, 5, 5])
    np.testing.assert_array_equal(imag, [7, 7, 7])


def test_copy_follows_cycles_and_shared_objects() -> None:
    class Node:
        def __init__(self) -> None:
            self.w = np.ones(2)
            self.next: Any = None

    a = Node()
    a.next = a
    b, items, same = copy_jointly((a, [a.w], a))
    assert b is same
    assert b is not a
    assert b.next is b
    assert items[0] is b.w


def test_copy_of_closures() -> None:
    w, n = np.ones(2), 3

    def captures_data(x):
        return x * w

    def captures_number(x):
        return x * n

    def captures_function(x):
        return math.sin(captures_number(x))

    def captures_module(x):
        return helper(x)

    helper = math.sin
    copied, copied_w = copy_jointly((captures_data, w))
    copied_w[...] = 7.0
    np.testing.assert_array_equal(copied(1.0), [7.0, 7.0])
    np.testing.assert_array_equal(captures_data(1.0), [1.0, 1.0])
    assert copy_jointly(captures_module) is captures_module
    assert copy_jointly(captures_number)(2) == 6
    assert copy_jointly(captures_function)(1) == captures_function(1)


def test_copy_of_a_random_generator_draws_the_same() -> None:
    rng = np.random.default_rng(0)
    assert copy_jointly(rng).normal() == copy_jointly(rng).normal() == rng.normal()


# Inner product.


def pair(c: Any, t: Any) -> tuple[float, float]:
    product = Pairing()
    product.add(c, t)
    return product.value, product.magnitude


def test_pairing_is_real_and_counts_shared_memory_once() -> None:
    c, t = np.array([1.0, -2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    assert pair(c, t) == (60.0, 140.0)
    assert pair([c, c], [t, t]) == (60.0, 140.0)
    assert pair([c[:2], c[1:]], [t[:2], t[1:]]) == (60.0, 140.0)
    assert pair([c, c.copy()], [t, t]) == (120.0, 280.0)
    assert pair(np.broadcast_to(c[:1], (4,)), np.full(4, 5.0)) == (5.0, 5.0)
    assert pair((2.0, NoFData()), (3.0, 4.0)) == (6.0, 6.0)
    z: Any = np.array([1 + 2j])
    w: Any = np.array([3 - 4j])
    assert pair(z, w) == (-5.0, 5.0)
    assert pair([z, z.real], [w, w.real])[0] == -5.0
    assert pair([z.real, z], [w.real, w])[0] == -5.0
    items = [2.0]
    assert pair((items, items), ([5.0], [5.0])) == (10.0, 10.0)


# Finite differences.


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_ladder_finds_the_derivative_on_every_scale(scale: float) -> None:
    def f(x):
        return scale * math.exp(x / scale)

    direction = random_direction(Inputs((f, 0.7 * scale), {}), {1}, np.random.default_rng(0))
    assert direction is not None
    truth = direction.tangents[1] * math.exp(0.7)

    def product(dy: Any, dxs: Any) -> Pairing:
        result = Pairing()
        result.add(1.0, dy)
        return result

    errors = {e.label: abs(e.value / truth - 1) for _, e in direction.estimates(product)}
    assert len(errors) == 2 * len(STEPS) - 1
    assert min(errors.values()) < 1e-10
    assert errors["step 1e-02"] > 1e-8 > errors["step 1e-02 and step 1e-03"]


def test_direction_moves_arguments_that_share_memory_together() -> None:
    x = np.arange(4.0)
    inputs = Inputs((np.dot, x, x[::-1]), {})
    direction = random_direction(inputs, {1}, np.random.default_rng(0))
    assert direction is not None
    np.testing.assert_array_equal(direction.tangents[2], direction.tangents[1][::-1])


def test_no_direction_for_an_argument_without_tangent() -> None:
    assert random_direction(Inputs((math.sin, 3), {}), {0, 1}, np.random.default_rng(0)) is None


def test_steps_outside_the_domain_are_left_out() -> None:
    inputs = Inputs((math.sqrt, 0.0), {})
    direction = random_direction(inputs, {1}, np.random.default_rng(0))
    assert direction is not None
    assert [direction.difference(step) for step in STEPS] == [None] * len(STEPS)


def test_single_precision_is_promoted_for_differences() -> None:
    x = np.ones(3, np.float32)
    double = promoted(Inputs((np.multiply, x, x[::-1]), {}))
    assert double is not None
    assert double.values[1].dtype == np.float64
    assert np.shares_memory(double.values[1], double.values[2])
    assert promoted(Inputs((np.sin, np.ones(3)), {})) is None

    def single_only(x):
        if x.dtype != np.float32:
            raise TypeError
        return x

    assert promoted(Inputs((single_only, x), {})) is None


# Comparison.


@pytest.mark.parametrize(
    ("expected", "got", "path"),
    [
        (1.0, np.float64(1.0), "v"),
        (np.ones(2), np.ones(2, np.float32), "v"),
        (np.ones(2), np.ones((2, 1)), "v"),
        (np.array([1.0, np.nan]), np.array([np.nan, 1.0]), "v"),
        (np.array([1.0, np.inf]), np.array([1.0, -np.inf]), "v"),
        ([1.0, {"a": (2.0, 3)}], [1.0, {"a": (2.0, 4)}], "v[1]['a'][1]"),
        ([1.0, 2.0], [1.0], "v"),
        ({"a": 1.0}, {"b": 1.0}, "v"),
        (1.0, 1.0 + 1e-12, "v"),
        ("a", "b", "v"),
    ],
)
def test_compare_finds_the_difference(expected: Any, got: Any, path: str) -> None:
    mismatch = compare(expected, got, "v")
    assert mismatch is not None
    assert mismatch.path == path
    assert compare(expected, expected, "v") is None
    assert compare(got, copy_jointly(got), "v") is None


def test_compare_allows_rounding_only() -> None:
    x = np.array([1.0, 1e6])
    assert compare(x, x * (1 + 1e-15), "x") is None
    assert compare(x, x * (1 + 1e-15), "x", ulps=0.0) is not None
    assert compare(x, x * (1 + 1e-12), "x") is not None


def test_first_change_sees_every_bit() -> None:
    items: list[Any] = [np.array([0.0, 1.0]), 2.0, {"k": np.ones(1)}, None]
    roots = [("x", items)]
    before = freeze(roots)
    assert first_change(before, roots) is None
    items[0][0] = -0.0
    changed = first_change(before, roots)
    assert changed is not None
    assert changed.path == "x[0]"
    items[0][0] = 0.0
    items[2]["k"] = np.ones(1)
    changed = first_change(before, roots)
    assert changed is not None
    assert (changed.path, changed.expected) == ("x[2]['k']", "the same object")


def test_zero_and_size() -> None:
    assert is_zero(np.array([0.0, -0.0]))
    assert not is_zero(np.nan)
    assert is_zero(np.zeros(0))
    assert largest_number([("x", [1.0, np.array([-3.0, np.inf]), 2j, 99, np.zeros(0)])]) == 3.0


# Sharing.


def test_shared_parts_are_listed() -> None:
    x, items = np.arange(4.0), [1.0]
    links = shared_parts([("a", x), ("b", x[1:]), ("c", (x, items)), ("d", items)])
    assert ("a", "b", "a view 8 bytes on, with strides (8,)") in links
    assert ("a", "c[0]", "the same array") in links
    assert ("c[1]", "d", "the same object") in links
    assert shared_parts([("a", x), ("b", x.copy()), ("c", [1.0]), ("d", [1.0])]) == []


def test_memory_conflicts() -> None:
    x = np.arange(4.0)
    d, other = np.zeros(4), np.zeros(4)
    assert memory_conflict([("x", x, d), ("y", x[1:], d[1:])]) is None
    assert memory_conflict([("x", x[::2], d[::2]), ("y", x[1::2], d[1::2])]) is None
    conflict = memory_conflict([("x", x, d), ("y", x[1:], other[1:])])
    assert conflict == ("x", "y", "the arrays overlap")
    assert memory_conflict([("x", x, d), ("y", x[1:], d[:-1])]) is not None
    assert memory_conflict([("x", x, d), ("y", x.copy(), d)]) is not None
    assert memory_conflict([("x", [x, 1], [d, None]), ("y", x.copy(), other)]) is None


# Variants.


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_layouts_keep_values(name: str) -> None:
    for x in (X, X.T):
        changed = LAYOUTS[name](x)
        if changed is not None:
            np.testing.assert_array_equal(changed, x, strict=True)
            assert not np.shares_memory(changed, x)
            assert changed.strides != x.strides


def test_reshapes() -> None:
    shapes = {name: change(X) for name, change in RESHAPES.items()}
    found = {name: None if x is None else x.shape for name, x in shapes.items()}
    assert found == {"0-d": (), "of size 1": (1, 1), "empty": (0, 6)}
    assert all(isinstance(x, np.ndarray) for x in shapes.values())


def test_broadcast_repeats_cells_and_is_read_only() -> None:
    x = as_broadcast(X)
    assert x is not None
    assert x.shape == X.shape
    assert repeats_cells(x)
    assert not x.flags.writeable
    assert not any(repeats_cells(y) for y in (X, X.T, X[::2, ::-1], X[:0], 3.0))


def by_label(variants: Iterable[Variant]) -> dict[str, Inputs]:
    return {variant.label: variant.inputs for variant in variants}


def test_variants_cover_layouts_shapes_dtypes_and_sharing() -> None:
    inputs = Inputs((np.multiply, X, X + 1.0), {})
    rng = np.random.default_rng(0)
    layouts = by_label(layout_variants(inputs))
    assert {"Fortran order", "strided views", "negative strides", "empty"} <= set(layouts)
    assert {"args[0] broadcast", "args[1] of size 1", "0-d"} <= set(layouts)
    dtypes = by_label(dtype_variants(inputs, rng))
    assert dtypes["float32"].values[2].dtype == np.float32
    assert dtypes["args[1] complex"].values[1].dtype == np.float64
    assert dtypes["args[1] complex"].values[2].dtype == np.complex128
    shared = by_label(aliasing_variants(inputs))
    assert shared["args[0] is args[1]"].values[1] is shared["args[0] is args[1]"].values[2]
    overlapping = shared["args[1] overlaps args[0]"].values
    assert np.shares_memory(overlapping[1], overlapping[2])
    np.testing.assert_array_equal(overlapping[1], X)


def test_what_the_function_refuses_is_no_variant() -> None:
    def real_only(x):
        if np.iscomplexobj(x):
            raise TypeError
        return x + 1.0

    def casts(x):
        y = np.zeros(3)
        y[...] = x  # warns that it drops the imaginary part
        return y

    for f in (real_only, casts):
        inputs = Inputs((f, np.ones(3)), {})
        base = Reference.of(inputs)
        assert accept(inputs, base) is not None
        assert accept(Inputs((f, np.ones(3) + 1j), {}), base) is None
    log = Inputs((np.log, np.ones(1)), {})
    assert accept(Inputs((np.log, np.zeros(1)), {}), Reference.of(log)) is None


def test_walk_names_parts_as_the_user_would() -> None:
    tangent = zero_tangent({"w": [1.0, (2.0, np.ones(1))]})
    paths = [path for path, _ in walk(tangent, "args[0]")]
    assert paths == [
        "args[0]",
        "args[0]['w']",
        "args[0]['w'][0]",
        "args[0]['w'][1]",
        "args[0]['w'][1][0]",
        "args[0]['w'][1][1]",
    ]
