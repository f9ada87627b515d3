"""Functions that take only some types of arrays as `out` raise for others, as in the plain call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad, vjp
from tests.support.pairs import pairwise

X = np.array([1.0, 2.0, 3.0])

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "dot": lambda x, out: np.dot(np.outer(x, x), np.outer(x, x), out=out),
    "method dot": lambda x, out: np.outer(x, x).dot(np.outer(x, x), out=out),
    "take": lambda x, out: np.take(np.outer(x, x), [0, 2, 1], axis=0, out=out),
    "einsum": lambda x, out: np.einsum("i,j->ij", x, x, out=out),
    "einsum of one": lambda x, out: np.einsum("ij->ji", np.outer(x, x), out=out),
    "sum": lambda x, out: np.sum(x[:, None, None] * np.outer(x, x), 0, out=out),
    "max": lambda x, out: np.max(x[:, None, None] * np.outer(x, x), 0, out=out),
    "add": lambda x, out: np.add(x[:, None], x, out=out),
}
OUTPUTS: dict[str, Callable[[], Any]] = {
    "same": lambda: np.zeros((3, 3)),
    "by columns": lambda: np.zeros((3, 3), order="F"),
    "single": lambda: np.zeros((3, 3), np.float32),
    "complex": lambda: np.zeros((3, 3), complex),
    "int": lambda: np.zeros((3, 3), int),
    "row": lambda: np.zeros((1, 9)),
}

IN_ANY_ORDER = pytest.mark.without_modes("compiled code writes in any order of memory", "compiled")


# NumPy 2.5 warns in `take`, and keeps to what earlier versions return.
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.filterwarnings("ignore:Implicit casting of output:DeprecationWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "output",
    [pytest.param(name, marks=IN_ANY_ORDER) if name == "by columns" else name for name in OUTPUTS],
)
def test_outputs_are_accepted_as_in_the_plain_call(call: str, output: str) -> None:
    def program(x: Any) -> Any:
        out = OUTPUTS[output]()
        CALLS[call](x, out)
        return np.sum(out.real) + x[0]

    def forward(x: Any) -> Any:
        return jvp(program, (x,), (x,))[0]

    expected = outcome(program)
    assert outcome(lambda x: value_and_grad(program)(x)[0]) == expected
    if call == "add":  # others say it in words of their own
        assert outcome(forward) == expected


def outcome(f: Callable[[Any], Any]) -> Any:
    """Return the result or the exception of a function."""
    try:
        return float(f(X))
    except (TypeError, ValueError) as error:
        return type(error), str(error)


CONVERTED: dict[str, Callable[[Any], Any]] = {
    "real part of an exponential": lambda x: np.exp(1j * x, out=np.zeros_like(x), casting="unsafe"),
    "of some elements": lambda x: np.exp(
        1j * x, out=np.zeros_like(x), where=[True, False, True], casting="unsafe"
    ),
    "of some elements, with a dtype": lambda x: np.exp(
        1j * x,
        out=np.zeros_like(x),
        where=[True, False, True],
        casting="unsafe",
        dtype=type(np.dtype(complex)),
    ),
    "real part of a product": lambda x: np.multiply(
        x + 1j, x - 2j, out=np.zeros_like(x), casting="unsafe"
    ),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", CONVERTED)
def test_partials_read_the_result_before_it_is_converted_to_the_output(name: str) -> None:
    def program(x: Any) -> Any:
        return np.sum(CONVERTED[name](x) * np.array([1.0, 2.0, 4.0]))

    h = 1e-5
    slope = (program(X + h * X) - program(X - h * X)) / (2 * h)
    value, g = value_and_grad(program)(X)
    y, dy = jvp(program, (X,), (X,))
    assert value == y == program(X)
    np.testing.assert_allclose([g @ X, dy], slope, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_integers_that_are_computed_by_force_have_no_derivative() -> None:
    def program(x: Any) -> Any:
        return np.sum(np.add(x, x, out=np.zeros(3, int), casting="unsafe") * x)

    value, g = value_and_grad(program)(X)
    y, dy = jvp(program, (X,), (X,))
    assert value == y == program(X)
    assert g @ X == dy == 28.0


@pytest.mark.parametrize("out", [[0.0, 0.0, 0.0], 5, np.float32(2)], ids=repr)
def test_outputs_that_are_no_arrays_are_a_type_error(out: Any) -> None:
    for derivative in (value_and_grad, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError, match="return arrays must be of ArrayType"):
            derivative(lambda x: np.sum(np.add(x, 1.0, out=out)))(X)


AVERAGES: list[Callable[..., Any]] = [
    np.mean, np.var, np.std, np.nanmean, np.nanvar, np.nanstd, np.ndarray.mean, np.ndarray.std,
]  # fmt: skip


@pytest.mark.parametrize(
    ("output", "dtype", "f"),
    pairwise([np.float32, np.float64], [np.float32, np.float64, None], AVERAGES),
)
def test_averages_are_computed_in_the_type_of_the_output(f: Any, dtype: Any, output: Any) -> None:
    def program(x: Any) -> Any:
        out = np.zeros(3, output)
        f(np.outer(x / 3, x / 7), axis=0, dtype=dtype, out=out)
        return np.sum(out * np.array([1.0, 2.0, 3.0]))

    value, dx = value_and_grad(program)(X)
    assert value == program(X)
    y, dy = jvp(program, (X,), (X,))
    assert y == program(X)
    np.testing.assert_allclose(dy, dx @ X, rtol=1e-5)
    if output is not np.float32 and dtype is not np.float32:
        slopes = [(program(X + e) - program(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(dx, slopes, rtol=1e-6, atol=1e-8)


PICKING: dict[str, Callable[[Any, Any], Any]] = {
    "take": lambda x, out: np.take(x, [1, 1], out=out),
    "take by clipping": lambda x, out: np.take(x, [1, 1], out=out, mode="clip"),
    "method": lambda x, out: x.take([1, 1], out=out),
    "choose": lambda x, out: np.choose([1, 1], [x, x], out=out),
    "compress": lambda x, out: np.compress([True, True], x, out=out),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    ("of", "into", "pick"), pairwise(["f8", "c16"], ["f8", "c16"], PICKING.values())
)
@pytest.mark.filterwarnings("ignore:Implicit casting of output:DeprecationWarning")
def test_elements_are_cast_to_outputs_that_the_plain_call_takes(pick, of: str, into: str) -> None:
    x = np.array([1.0 + 2.0j, 0.5 - 3.0j]).astype(of)

    def f(x):
        out = np.zeros(2, into)
        pick(x, out)
        return out * 1.0

    try:
        expected = f(x)
    except TypeError:
        for derivative in (lambda: vjp(f, x), lambda: jvp(f, (x,), (x,))):
            with pytest.raises(TypeError, match="Cannot cast"):
                derivative()
        return
    y, pullback = vjp(f, x)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(jvp(f, (x,), (x,))[1], expected)  # it is linear
    (found,) = pullback(np.ones(2, into))
    assert np.vdot(found, x).real == np.vdot(np.ones(2), expected).real


@pytest.mark.parametrize("f", [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod])
def test_cumulative_sums_into_a_number_raise(f: Callable[..., Any]) -> None:
    """NumPy's own check of such an output may end the process, if a copy of it is given."""

    def number(x: Any) -> Any:
        b = np.array(x[0])
        return sums_or(f, b, b, 2 * x[0])

    def vector(x: Any) -> Any:
        return sums_or(f, x, np.array(0.0), 2 * x[0])

    for program in (number, vector):
        value, g = value_and_grad(program)(X)
        assert value == jvp(program, (X,), (X,))[0] == 2.0
        np.testing.assert_array_equal(g, [2.0, 0.0, 0.0])


def sums_or(f: Callable[..., Any], a: Any, out: Any, otherwise: Any) -> Any:
    try:
        f(a, out=out)
    except ValueError:
        return otherwise
    return out


def reduced(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda a, out: ufunc.reduce(np.abs(a) + 1, 1, out=out)


# The last axis of 9 numbers becomes one of as many as the output has.
IN_ITS_PRECISION: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "fft": (lambda a, out: np.fft.fft(a, out=out), (5, 9)),
    "ifft": (lambda a, out: np.fft.ifft(a, norm="ortho", out=out), (5, 9)),
    "rfft": (lambda a, out: np.fft.rfft(a, 8, norm="forward", out=out), (5, 5)),
    "irfft": (lambda a, out: np.fft.irfft(a, out=out), (5, 16)),
    "ihfft": (lambda a, out: np.fft.ihfft(a, out=out), (5, 5)),
    "fftn": (lambda a, out: np.fft.fftn(a, out=out), (5, 9)),
    "rfft2": (lambda a, out: np.fft.rfft2(a, out=out), (5, 5)),
    "irfftn": (lambda a, out: np.fft.irfftn(a, out=out), (5, 16)),
    "median": (lambda a, out: np.median(a[:, :8], 1, out), (5,)),
    "subtract.reduce": (reduced(np.subtract), (5,)),
    "divide.reduce": (reduced(np.divide), (5,)),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    ("into", "of", "name"), pairwise(["f4", "f8", "c8", "c16"], ["f4", "f8"], IN_ITS_PRECISION)
)
def test_results_have_the_precision_of_an_output(name: str, of: str, into: str) -> None:
    f, shape = IN_ITS_PRECISION[name]
    a = np.random.default_rng(5).normal(size=(5, 9)).astype(of)

    def run(a: Any) -> Any:
        out = np.zeros(shape, into)
        f(a, out)
        return out

    try:
        expected = run(a)
    except TypeError:
        with pytest.raises(TypeError):
            vjp(run, a)
        return
    y, pull = vjp(run, a)
    z, dz = jvp(run, (a,), (a[::-1],))
    for value in (y, z):
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(value, expected)
    single = np.zeros(shape, into)
    single[1] = 1
    h = 1e-2 if of == "f4" or into in ("f4", "c8") else 1e-6
    difference = (run(a + h * a[::-1]).astype("c16") - run(a - h * a[::-1])) / (2 * h)
    scale = np.max(np.abs(difference))
    np.testing.assert_allclose(dz, difference, rtol=0, atol=3e-2 * h**0.5 * scale)
    product = np.sum(pull(single)[0] * a[::-1])
    np.testing.assert_allclose(product, np.sum(difference[1]).real, atol=3e-2 * h**0.5 * scale)
