"""Functions that read or write buffers in ways that once went unseen: `out` by position, others.

Each program uses a buffer after the call that took it, so that an adjoint which reads the buffer
by reference, or a write that is not undone, gives a wrong derivative.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.test_found import MATRIX, verify

BUFFERS = """
w = np.zeros(5); w[:] = [1.0, 2.0, 3.0, 4.0, 5.0]
m = np.zeros(5, bool); m[:3] = True
ix = np.zeros(3, int); ix[:] = [0, 2, 4]
times = np.zeros(5, int); times[:] = [1, 2, 1, 0, 1]
"""
OVERWRITTEN = "w[:] = w[::-1] ** 2\nm[:] = ~m\nix[:] = 1\ntimes[:] = 3\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", [
    "np.sum(x * x, where=m)", "np.mean(x * x, where=m)", "np.max(x * x, where=m, initial=0.1)",
    "np.prod(x + 1, where=m)", "np.add.reduce(x * x, where=m)", "np.var(x, where=m)",
    "np.sum(np.take(x, indices=ix) ** 2)", "np.sum(x.take(indices=ix) ** 2)",
    "np.sum(np.add.reduceat(x, indices=ix) ** 2)", "np.sum(np.repeat(x, repeats=times) ** 2)",
    "np.sum(np.compress(condition=m, a=x) ** 2)", "np.average(x * x, weights=w)",
    "np.trapezoid(x * x, x=w)", "np.sum(np.convolve(v=w, a=x) ** 2)",
    "np.sum(np.clip(x, a_min=-w, a_max=w) ** 2)", "np.sum(np.interp(x=x + 2, xp=w, fp=w * w))",
])  # fmt: skip
def test_buffer_overwritten_after_it_was_passed(call: str) -> None:
    verify(f"{BUFFERS}y = {call}\n{OVERWRITTEN}return y")


CALLS = [
    "np.sum(a, 0, None, out)", "a.sum(0, None, out)", "np.mean(a, 0, None, out)",
    "np.cumsum(a[0], 0, None, out)", "a[0].cumprod(0, None, out)", "np.dot(a, a[0], out)",
    "a.dot(a[0], out)", "np.matmul(a, a[0], out)", "np.take(a[0], [0, 2, 2], 0, out)",
    "a[0].take([0, 2, 2], 0, out)", "np.add.reduce(a, 0, None, out)",
    "np.multiply.accumulate(a[0], 0, None, out)", "np.maximum.reduce(a, 0, None, out)",
    "np.add.reduceat(a[0], [0, 1, 2], 0, None, out)", "np.compress([1, 1, 1], a[0], 0, out)",
    "np.max(a, 0, out)", "a.min(0, out)", "np.prod(a, 0, None, out)", "np.var(a, 0, None, out)",
    "np.around(a[0], 1, out)", "a[0].round(1, out)", "np.clip(a[0], 0.1, 0.5, out)",
    "np.choose([0, 1, 0], [a[0], a[1]], out)", "np.choose([0, 1, 0], [a[0], a[1]], out=out)",
    "np.ptp(a, 0, out)", "np.ptp(a, 0, out=out)", "np.median(a, 0, out)",
    "np.nansum(a, 0, None, out)", "np.concatenate([a[0, :1], a[1, 1:]], 0, out)",
    "np.modf(a[0], out, spare)", "np.divmod(a[0], 0.3, out, spare)", "np.percentile(a, 40, 0, out)",
    "np.trace(a[:, :, None] * np.ones(3), 0, 0, 1, None, out)", "np.sin(a[0], out)",
]  # fmt: skip
# Each call has both sources and both targets, and all four pairs come up.
PAIRS = (
    (("x * x", "np.zeros(3)"), ("np.arange(9.0).reshape(3, 3)", "x[0] * 2")),
    (("x * x", "x[0] * 2"), ("np.arange(9.0).reshape(3, 3)", "np.zeros(3)")),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("call", "source", "target"),
    [(call, *pair) for k, call in enumerate(CALLS) for pair in PAIRS[k % 2]],
)
def test_out_by_position(call: str, source: str, target: str) -> None:
    verify(
        f"""
        a = {source} + np.diag([0.11, 0.22, 0.33])
        out, spare = {target}, np.ones(3)
        before = out * x[1]
        {call}
        x[2] += out
        total = np.sum(out * before) + np.sum(x * x) + spare[1]
        out *= 3.0
        return total
    """,
        MATRIX,
    )


@pytest.mark.parametrize("call", [
    "np.dot(x, x, x)", "np.dot(np.outer(x, x), x, out=x[::-1])", "np.sum(x, out=x)",
    "np.take(x, [0, 1], out=x)", "np.concatenate([x, x], out=x)",
])  # fmt: skip
def test_output_that_numpy_does_not_accept(call: str) -> None:
    verify(f"try:\n    {call}\nexcept ValueError:\n    x[0] *= 2.0\nreturn np.sum(x * x)")


@pytest.mark.parametrize("call", ["np.argmax(a, 0, i)", "a.argmin(0, i)", "np.argmax(a, 0, out=i)"])
def test_integers_written_by_position(call: str) -> None:
    verify(
        f"a = x * x\ni = np.zeros(3, int)\ni[:] = 4\nb = i * x\n{call}\nreturn np.sum(b * i)",
        MATRIX,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("buffer", ["np.exp(x)", "np.arange(9.0)[::-1].reshape(3, 3).copy()"])
@pytest.mark.parametrize("call", [
    "np.median(a, overwrite_input=True)", "np.median(a, 0, None, True).sum()",
    "np.percentile(a, 40, overwrite_input=True)", "np.quantile(a, 0.3, 0, None, True).sum()",
])  # fmt: skip
def test_input_that_is_overwritten(call: str, buffer: str) -> None:
    verify(
        f"""
        a = {buffer}
        z = a * x
        s = {call}
        return np.sum(z) + s * x[0, 0] + np.sum(a * x)
    """,
        MATRIX + np.arange(9.0).reshape(3, 3) / 50,
    )


# Arrays whose elements share memory with each other.

WINDOWS = "w = np.lib.stride_tricks.as_strided(x, (4, 2), (x.strides[0],) * 2)\n"


@pytest.mark.parametrize("write", [
    "w[1] = w[0] * 2", "w[:, 1] += w[0, 0]", "w[2][:] = x[1]", "w[::2] *= x[2]",
    "w[[0, 2]] = x[:2]", "v = w[1:][:, 0]; v *= v", "w[1:] = 0.5", "w[0, 1] += w[3, 1]",
    "np.sin(w[0], out=w[0])",
])  # fmt: skip
def test_write_to_a_window(write: str) -> None:
    verify(f"{WINDOWS}{write}\nreturn np.sum(x * x) + np.sum(w * np.arange(8.0).reshape(4, 2))")


@pytest.mark.parametrize("write", [
    "w[...] = np.arange(8.0).reshape(4, 2) * x[4]", "w += x[0]", "w *= x[0]", "w *= 2.0",
    "w[1:] -= x[1:4, None]", "np.sin(w, out=w)", "v = w[1:]; v[...] = x[0]", "w[[0, 0]] = x[:2]",
])  # fmt: skip
def test_write_to_windows_that_overlap(write: str) -> None:
    verify(f"{WINDOWS}{write}\nreturn np.sum(x * x)")


# An array of no dimensions as a bound of a slice, which changes while the view is in use.


@pytest.mark.parametrize("index", ["k:", ":k", "k - 1:k + 1", "::k", "k:, None"])
def test_bound_of_a_slice_changes(index: str) -> None:
    verify(f"""
        k = np.array(2)
        v = x[{index}]
        k -= 1
        v *= x[3]
        k += 2
        return np.sum(v * v) + x[0]
    """)


def test_read_by_nditer_into_memory_of_its_own() -> None:
    verify("""
        c = x.size + np.arange(3.0)
        with np.nditer([c, None]) as iterator:
            for a, b in iterator:
                b[...] = 2 * a
            return x[:3] @ iterator.operands[1]
    """)
