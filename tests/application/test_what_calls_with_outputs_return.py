"""What NumPy returns for an `out` of another shape than the operands, or without axes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([1.3, 0.7])

# One output larger than the operands: the other results are broadcast with it.

LARGER: dict[str, Callable[[Any], Any]] = {
    "modf": lambda x: np.modf(x, out=(None, np.zeros((3, 2)))),
    "modf, in columns": lambda x: np.modf(x, out=(None, np.zeros((3, 2), order="F"))),
    "modf of a number": lambda x: np.modf(x[0], np.zeros(3)),
    "modf, no larger": lambda x: np.modf(np.outer(x, x), out=(np.zeros((2, 2)).T, None)),
    "divmod": lambda x: np.divmod(x, 0.3, np.zeros((3, 2))),
    "frexp": lambda x: np.frexp(x, out=(np.zeros((3, 2)), None)),
    "frexp, exponents": lambda x: np.frexp(x, out=(None, np.zeros((3, 2), np.int32))),
}
if find_spec("scipy") is not None:
    from scipy import special as sp

    LARGER["sici"] = lambda x: sp.sici(x, out=(np.zeros((3, 2)), None))
    LARGER["airy"] = lambda x: sp.airy(x, out=(None, np.zeros((2, 2)), None, None))


@pytest.mark.parametrize("name", LARGER)
def test_one_output_that_is_larger(name: str) -> None:
    f = LARGER[name]

    def total(x: Any) -> Any:
        ys = f(x)
        return sum((k + 1) * (y * y).sum() for k, y in enumerate(ys)), ys

    value, expected = total(X)
    (got, ys), slopes = value_and_grad(total, has_aux=True)(X)
    assert got == value
    for y, z in zip(ys, expected, strict=True):
        assert (y.shape, y.strides, y.dtype) == (z.shape, z.strides, z.dtype)
        assert y.tobytes() == z.tobytes()
    h = 1e-6
    for e, slope in zip(np.eye(2), slopes, strict=True):
        difference = (total(X + h * e)[0] - total(X - h * e)[0]) / (2 * h)
        np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-8)
        y, dy = jvp(lambda x: total(x)[0], (X,), (e,))
        assert y == value
        np.testing.assert_allclose(dy, slope, rtol=1e-12)


# An output without axes: of a NumPy scalar NumPy returns a number, not the output.

NAMES = [
    "sum", "prod", "max", "amin", "mean", "std", "var", "round", "around", "nansum", "nanprod",
    "nanmax", "nanmean", "nanvar", "median", "conj", "absolute",
]  # fmt: skip


def into(f: Any) -> Callable[[Any, Any], Any]:
    return lambda a, o: f(a, out=o)


INTO_ONE: dict[str, Callable[[Any, Any], Any]] = {
    **{name: into(getattr(np, name)) for name in NAMES},
    "round to tens": lambda a, o: np.round(a, -1, o),
    "max with a start": lambda a, o: np.max(a, initial=0.1, out=o),
    "min without a start": lambda a, o: np.amin(a, out=o, initial=None),
    "sum by position": lambda a, o: np.sum(a, None, None, o),
    "clip": lambda a, o: np.clip(a, -0.5, 0.5, o),
    "take": lambda a, o: np.take(a, 0, None, o, "clip"),
    "dot": lambda a, o: np.dot(a, 2.0, out=o),
    "reduce": lambda a, o: np.add.reduce([a], out=o),
    "add": lambda a, o: np.add(a, 1, out=o),
    "method": lambda a, o: a.max(out=o),
    "method round": lambda a, o: a.round(1, o),
}  # fmt: skip
OPERANDS: dict[str, Callable[[Any], Any]] = {
    "scalar": lambda x: x[0],
    "array": lambda x: np.asarray(x[0]),
    "number": lambda x: float(x[0]),
    "single": lambda x: np.float32(x[0]),
}


@pytest.mark.parametrize(("name", "operand"), rotating(INTO_ONE, OPERANDS, times=2))
def test_an_output_without_axes(name: str, operand: str) -> None:
    f, make = INTO_ONE[name], OPERANDS[operand]

    def program(x: Any) -> Any:
        o = np.zeros(())
        r = f(make(x), o)
        kind = r is o, type(r).__name__
        r += 1
        return o * 1.0 + x[1], kind

    try:
        value, kind = program(X)
    except (AttributeError, TypeError):
        pytest.skip("not for such an operand")
    (got, found), _ = value_and_grad(program, has_aux=True)(X)
    assert (got, found) == (value, kind)
    got, _ = jvp(lambda x: program(x)[0], (X,), (X,))
    assert got == value


# What NumPy refuses.


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x, out=...),
        lambda x: np.sum([1, 2], out=...) * x[0],
        lambda x: np.mean(x, out=...),
        lambda x: np.var(x, out=...),
        lambda x: np.concatenate([x], out=np.zeros(2), dtype=float).sum(),
    ],
)
def test_outputs_that_numpy_refuses(f: Callable[[Any], Any]) -> None:
    try:
        f(X)
    except TypeError as error:
        text = str(error)
    else:
        pytest.skip("this version of NumPy takes it")
    with pytest.raises(TypeError) as found:
        value_and_grad(f)(X)
    assert str(found.value) == text
    with pytest.raises(TypeError) as found:
        jvp(f, (X,), (X,))
    assert str(found.value) == text


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_draws_into_outputs_are_drawn_once(name: str, shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        generator, out = np.random.default_rng(1), np.empty(shape)
        drawn = getattr(generator, name)(out=out)
        kind = 10.0 if type(drawn) is np.ndarray else 20.0
        return x * np.sum(out) * generator.random() + kind * np.sum(drawn)

    assert value_and_grad(f)(1.5)[0] == f(1.5)
    assert jvp(f, (1.5,), (1.0,))[0] == f(1.5)
