"""Flags of arrays that a program sets: they are put back, also those of views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad, jvp, value_and_grad, vjp

WINDOWS = np.lib.stride_tricks.as_strided(np.arange(4.0), (3, 2), (8, 8))
ARRAYS = {
    "owner": np.arange(4.0),
    "slice": np.arange(6.0)[1:],
    "reversed": np.arange(6.0)[::-1],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "buffer": np.frombuffer(bytearray(32)),
    "windows": WINDOWS,
}


def by_attribute(x):
    x.flags.writeable = False
    return (x * x).sum() + x.flags.writeable


def by_method(x):
    x.setflags(write=False)
    return (x * x).sum() + x.flags.writeable


@pytest.mark.parametrize("f", [by_attribute, by_method])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_writeable_again(name: str, f: Any) -> None:
    x = ARRAYS[name]
    value, gradient = value_and_grad(f)(x)
    assert value == vjp(f, x)[0] == jvp(f, (x,), (x,))[0] == np.sum(x * x)
    if name != "windows":  # an element of which counts wherever it stands
        np.testing.assert_array_equal(gradient, 2 * x)
    assert x.flags.writeable


@pytest.mark.parametrize("f", [by_attribute, by_method])
def test_what_cannot_be_undone_is_refused(f: Any) -> None:
    def of_a_list(arrays):
        return f(arrays[0])

    for run in (grad(of_a_list), lambda x: jvp(of_a_list, (x,), (x,))):
        with pytest.raises(DerivativeDropError, match="does not make writeable again"):
            run([WINDOWS])
        assert WINDOWS.flags.writeable
    np.testing.assert_array_equal(grad(of_a_list)([ARRAYS["slice"]])[0], 2 * ARRAYS["slice"])


class Signal(np.ndarray):
    """A class that changes nothing."""


@pytest.mark.parametrize("of_class", [np.ma.array, lambda x: x.view(Signal)])
@pytest.mark.parametrize("active", [True, False])
def test_flags_of_instances_of_subclasses(of_class: Any, active: bool) -> None:
    shared = of_class(np.arange(4.0))

    def f(x):
        a = of_class(2 * x) if active else shared
        a.setflags(write=False)
        try:
            a[0] = 30.0
        except ValueError:
            return np.sum(x) * (1.0 if a.flags.writeable else 5.0)
        return np.sum(x)

    x = np.arange(4.0)
    value, gradient = value_and_grad(f)(x)
    assert value == vjp(f, x)[0] == jvp(f, (x,), (x,))[0] == 30.0
    np.testing.assert_array_equal(gradient, np.full(4, 5.0))
    assert shared.flags.writeable
