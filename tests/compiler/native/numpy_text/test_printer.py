"""NumPy code against plain derivatives: values to the last bit, derivatives in every mode."""

from __future__ import annotations

import copy
from collections import Counter
from types import FunctionType
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.kernels import KERNELS
from mooncake_py import hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.numpy_text import printer
from mooncake_py.compiler.native.printed_loop import PrintedLoop
from mooncake_py.compiler.native.site import report
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.runtime.compilation import is_installed
from tests.programs.comparing import function_of
from tests.support.modes.text import printing
from tests.support.sweeps_of_text import noted_sweeps

rng = np.random.default_rng(5)
ARGUMENTS = (
    rng.standard_normal(6),
    rng.standard_normal((5, 6)),
    rng.standard_normal((6, 4)),
    rng.integers(-6, 6, 7),
)
FLOATS = (0, 1, 2)

BODIES = {
    "views": "return np.sum(A[1:, ::2] * A[:-1, 1::2]) + np.sum(A.T[::-1] @ A) + A[2, 3] * x[-1]",
    "diagonals": "return np.trace(A[:, :5]) * np.sum(np.diag(A[:, 1:]) * x[:5])",
    "new axes": "return np.sum(x[:, None] * B[None, :, :] - B ** 2) + np.sum(np.outer(x, x) * x)",
    "written parts": """
A[1:-1, 1:-1] += 0.5 * (A[:-2, 1:-1] + A[2:, 1:-1])
A[:, 0] = A[:, -1] * x[:5]
A.T[1] *= 3.0
return np.sum(A * A)""",
    "rows that go on": """
for i in range(1, 5):
    A[i] = A[i] / (2.0 + A[i - 1] ** 2) - A[i - 1] * x
return np.sum(A * A)""",
    "whole arrays again and again": """
y = x * 1.0
for i in range(4):
    y = np.tanh(A[:5, :6] @ y + x[:5]) @ A
    x[:] = x + y
return np.sum(y * x)""",
    "elements": """
y = np.zeros(6)
for i in range(6):
    y[i] = x[i] * y[i - 1] + np.sin(x[i])
return np.sum(y * y)""",
    "names of parts": "y = A[0]; A[0] = A[1] * x; A[1] = y * y; return np.sum(A[1] * y + A[2])",
    "parts that are cleared": "y = A[0]; z = A[1].copy(); A[:2] = 0.0; return np.sum((y + z) * x)",
    "rows into others": """
for i in range(4):
    y = A[i] * x
    A[i] = A[i + 1] - y
    A[i + 1] = y * y
return np.sum(A * A)""",
    "whole arrays that are overwritten": """
y = A * 1.0
for i in range(3):
    y = A * A
    A[...] = np.sin(y) + A
    A *= 0.5
    A[2] /= 1.0 + x * x
return np.sum(A * y)""",
    "arrays of arrays": """
y = np.zeros((3, 6))
for i in range(3):
    y[i] += x * A[i]
    y[i, :3] = y[i, 3:] * 2.0
    y[i] = y[i][::-1] * x
return np.sum(y * y)""",
    "new arrays that are added to": """
y = np.zeros(6)
y += x
y[:] = y * x
z = np.zeros(6)
z[:] = z - x * y
return np.sum(y * z)""",
    "sums that go on": """
y = np.zeros(7)
y[0] = 1.0
for i in range(6):
    y[i + 1] += y[i] * x[i]
return np.sum(y * y)""",
    "arrays that are saved twice": """
s = 0.0
for i in range(3):
    y = A * x
    s += np.sum(y * y)
    y[0] = y[1] * x
    s += np.sum(y ** 3)
return s""",
    "rolled and joined": """
y = np.concatenate([x[1:], x * 2])
return np.sum(np.roll(x, 2) * x) + np.sum(y ** 3)""",
    "branches": """
s = 0.0
for i in range(6):
    if x[i] > 0.0:
        y = x * x[i]
    else:
        y = x[::-1] - x[i]
    s += np.sum(y * y)
return s""",
    "extrema": "return np.max(A) * np.min(x) + np.sum(np.max(A, axis=1) ** 2 + A.min(axis=0)[:5])",
    "places": "return A[:, np.argmax(x)].sum() * x[np.argmin(x)] + np.sum(x[np.argmax(B, axis=0)])",
    "masks": "x[x > 0.5] = 0.25; return np.sum(x[x > 0] ** 3) + np.sum(np.where(A > 0, A, -2 * A))",
    "index arrays": "return np.sum(x[k] * A[0, 0]) + np.sum(B[k[:3] % 2] * A[1, 2])",
    "added at": "y = np.zeros(6); np.add.at(y, k, x[k] * 2.0); return np.sum(y ** 3) + np.sum(y)",
    "cumulative": "return np.sum(np.cumsum(x * x) * x) + np.sum(A.cumsum(axis=0)[3] * A[1])",
    "softmax": """
e = np.exp(A - np.max(A, axis=1, keepdims=True))
return np.sum(e / e.sum(axis=1, keepdims=True) * A)""",
    "deviations": "return np.std(A) + np.sum(np.var(B, axis=0)) + np.linalg.norm(x) + np.mean(x)",
    "systems": """
S = A @ A.T + 5.0 * np.eye(5)
y = np.linalg.solve(S, x[:5])
return np.sum(y * x[:5]) + np.sum(np.linalg.cholesky(S)) + np.linalg.det(S)""",
    "lists": """
ys = []
for i in range(6):
    ys.append(x[i] * x[i - 1])
return sum(ys) * ys[2]""",
    "python numbers": """
s = 1.0
for v in x:
    s = s * 0.5 + v ** 2 / (1.0 + abs(v))
return s ** 1.5""",
    "functions of math": """
s = 0.7
for i in range(2, 6):
    s += math.hypot(x[i], s, x[i - 1]) + math.hypot(x[i], s) * math.dist((x[i], s), (x[0], 1.0))
    s += math.fmod(5 * x[i], 0.3 + s) + math.cbrt(s) * math.log(s, 2.0 + s)
return s * math.dist((s, 1, x[0]), (x[1], 2, x[2])) + math.hypot(x[3])""",
    "sums of nothing": "return np.sum(x[3:3]) + np.sum(A[:, 2:2] @ B[2:2]) + x[0]",
}


@pytest.fixture(autouse=True)
def printed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each sweep forward came to its end."""
    if not is_installed():
        pytest.skip("compile=True needs llvmlite")
    found = noted_sweeps(monkeypatch)
    monkeypatch.setattr(form, "COMPILER", form.NUMPY)
    return found


def function(text: str) -> Any:
    lines = text.strip().split("\n") if "\n" in text else text.split("; ")
    body = "".join(f"    {line}\n" for line in lines)
    return function_of(
        f"import math\nimport numpy as np\ndef f(x, A, B, k):\n{body}", f"<text {text}>"
    )


def met_by_nobody(f: FunctionType) -> FunctionType:
    """Return a function of which nothing is known by tests that ran before."""
    return FunctionType(f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__)


def agree(plain: Any, text: Any, rtol: float = 1e-11) -> None:
    for a, b in zip(plain, text, strict=True):
        assert type(a) is type(b)
        assert_allclose(b, a, rtol=rtol, atol=rtol)


@pytest.mark.plain
@pytest.mark.parametrize("name", BODIES)
def test_values_and_derivatives(name: str, printed: list[bool]) -> None:
    f = function(BODIES[name])
    (y, g), (z, h) = (
        value_and_grad(f, FLOATS, compile=way)(*copy.deepcopy(ARGUMENTS)) for way in (False, True)
    )
    assert report(f)[0].found == "compiled", report(f)
    assert printed
    assert all(printed)
    assert np.asarray(y).tobytes() == np.asarray(z).tobytes()
    agree(g, h)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BODIES)
def test_other_modes(name: str, printed: list[bool]) -> None:
    f = function(BODIES[name])
    along = tuple([np.cos(a) for a in ARGUMENTS[:3]])
    ways = []
    for way in (False, True):
        x, A, B, k = copy.deepcopy(ARGUMENTS)
        y, pullback = vjp(f, x, A, B, k, compile=way)
        pulled = pullback(2.0)[:3]
        assert_allclose(pullback(4.0)[1], 2 * pulled[1])  # what is saved is as it was
        pushed = jvp(f, copy.deepcopy(ARGUMENTS), (*along, None), compile=way)
        second = hvp(f, copy.deepcopy(ARGUMENTS), along, argnums=FLOATS, compile=way)
        ways.append([y, *pulled, *pushed, *second])
    agree(ways[0], ways[1], rtol=1e-9)
    assert all(printed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BODIES)
def test_careful_text_does_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer, "as_quick", lambda run, restored: lambda *given: None)
    monkeypatch.setattr(
        form,
        "COMPILER",
        form.NUMPY._replace(built=lambda p: printer.built(p) | {"quick": None}),
    )
    f = function(BODIES[name])
    ways = [
        value_and_grad(f, FLOATS, compile=way)(*copy.deepcopy(ARGUMENTS))[1]
        for way in (False, True)
    ]
    agree(ways[0], ways[1])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_kernels(kernel: Any, printed: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference runs statement by statement, its loops too."""
    monkeypatch.setattr(PrintedLoop, "tried", lambda *given: Elsewhere)
    f, size = met_by_nobody(kernel.function), kernel.sizes[0]
    (y, g), (z, h) = (
        value_and_grad(f, kernel.argnums, compile=way)(*kernel.make_arguments(size))
        for way in (False, True)
    )
    if kernel.name not in ("mandelbrot", "masked_bodies"):  # complex numbers; NumPy would warn
        assert printed == [True]
    assert np.asarray(y).tobytes() == np.asarray(z).tobytes()
    for a, b in zip(g, h, strict=True):
        for p, q in zip(*[v if isinstance(v, list) else [v] for v in (a, b)], strict=True):
            assert_allclose(q, p, rtol=1e-9, atol=1e-10 * np.max(np.abs(p)))


def test_memory_of_large_arrays_is_used_again() -> None:
    def f(x):
        for _ in range(3):
            x[:] = np.sin(x) * x
        return np.sum(x * x)

    x = np.cos(np.arange(10_000.0))
    expected = value_and_grad(f)(x)[1]
    gradient = value_and_grad(f, compile=True)
    for _ in range(3):
        assert_allclose(gradient(x)[1], expected, rtol=1e-12)
    _, first = vjp(f, x, compile=True)
    _, second = vjp(f, x * 0.5, compile=True)
    assert_allclose(gradient(x)[1], expected, rtol=1e-12)
    assert_allclose(first(1.0)[0], expected, rtol=1e-12)
    assert_allclose(second(1.0)[0], value_and_grad(f)(x * 0.5)[1], rtol=1e-12)
    step = gradient.prepare(x)
    for _ in range(3):
        assert_allclose(step(x)[1], expected, rtol=1e-12)


def masked(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def unused_root(x):
    return np.sum(np.sqrt(x) * np.array([0.0, 1.0, 1.0]))


def root_of_numbers(x):
    s = 0.0
    for v in x:
        s += np.sqrt(v) * 0.0 + v
    return s


def overwritten(x):
    y = 1.0 / (x + 1e-320)
    y[0] = 2.0
    return np.sum(y)


def saved_twice(x):
    s = np.sum(np.sqrt(x) * 0.0)
    for _ in range(3):
        y = np.outer(x + 1.0, x + 2.0)
        s += np.sum(y * y)
        y[0] = y[1] * x
        s += np.sum(y**3)
    return s


@pytest.mark.parametrize("f", [masked, unused_root, root_of_numbers, overwritten, saved_twice])
def test_zero_beside_infinity(f: Any) -> None:
    ways = []
    with catch_warnings():
        simplefilter("ignore")
        for way in (False, True):
            x = np.array([0.0, 1.0, 4.0])
            _, pullback = vjp(f, x, compile=way)
            (pulled,) = pullback(1.0)
            g = value_and_grad(f, compile=way)
            ways.append((g(x)[1], g(x)[1], pulled))
    agree(ways[0], ways[1])
    assert np.isfinite(ways[1]).all()


def test_unusual_cases_run_as_before(printed: list[bool]) -> None:
    def largest(x):
        return np.max(x) * x[0]

    def quotient(x):
        s = 1.0
        for v in x:
            s = s / v
        return s

    def outside(x, k):
        y = x[k]
        y[0] = 1.0
        return x[0] * 2.0

    def unread(x, k):
        return x[0] * x[k].shape[0]

    def before_the_start(x, k):
        return x[k[0]] * 2.0

    def beyond_the_end(x):
        return np.sum(x[1:9] * x[1])

    x = np.array([1.0, np.nan, 2.0])
    with catch_warnings():
        simplefilter("ignore")
        ways = [value_and_grad(largest, compile=way)(x)[1] for way in (False, True)]
        np.testing.assert_array_equal(*ways)
        zeros = np.zeros(3)
        ways = [value_and_grad(quotient, compile=way)(zeros)[1] for way in (False, True)]
        np.testing.assert_array_equal(*ways)
    assert not any(printed)
    for f, k in ((outside, [0, 3]), (unread, [0, 3]), (before_the_start, [-4, 0])):
        for way in (False, True):
            with pytest.raises(IndexError):
                value_and_grad(f, compile=way)(np.ones(3), np.array(k))
    ways = [value_and_grad(beyond_the_end, compile=way)(np.arange(3.0))[1] for way in (False, True)]
    np.testing.assert_array_equal(*ways)


def test_float32_and_products_of_all_are_left() -> None:
    with catch_warnings():
        simplefilter("ignore")
        for f, x in ((np.sum, np.ones(3, np.float32)), (np.prod, np.array([2.0, 0.0, 3.0]))):
            text = f"import numpy as np\ndef f(x):\n    return np.{f.__name__}(x) * x[0]\n"
            g = function_of(text, f"<left {f.__name__}>")
            ways = [value_and_grad(g, compile=way)(x)[1] for way in (False, True)]
            np.testing.assert_array_equal(*ways)


@pytest.mark.plain
def test_text_is_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    built = form.NUMPY._replace(built=lambda p: texts.append(p.text) or printer.built(p))
    monkeypatch.setattr(form, "COMPILER", built)
    f = function("y = A @ x; A[0] = y[0] * x; return np.sum(A * A) + np.max(y)")
    value_and_grad(f, FLOATS, compile=True)(*copy.deepcopy(ARGUMENTS))
    (text,) = texts
    for line in ("(u1_A @ u1_x)", "np.maximum.reduce(", "np.add.reduce((u1_A * u1_A), axis=None)"):
        assert line in text


@pytest.mark.plain
def test_what_no_pass_changes_is_asked_before_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    built = form.NUMPY._replace(built=lambda p: texts.append(p.text) or printer.built(p))
    monkeypatch.setattr(form, "COMPILER", built)
    f = function("""
s = 0.0
m = int(k[0])
for i in range(4):
    for j in range(4):
        s += A[i + m, 2:] @ B[2:, j]
        if s > 1e9:
            s += A[i, 50]
return s""")
    args = copy.deepcopy(ARGUMENTS)
    for m in (1, 0):
        args[3][0] = m
        ways = [value_and_grad(f, FLOATS, compile=w)(*copy.deepcopy(args)) for w in (False, True)]
        assert ways[0][0] == ways[1][0]
        agree(ways[0][1], ways[1][1])
    (text,) = texts
    asked = [line for line in text.splitlines() if line.endswith("raise f_Leave")]
    depths = {line.strip(): len(line) - len(line.lstrip()) for line in asked}
    assert depths["if not (2 <= n1_u1_A): raise f_Leave"] == 4
    assert [n for line, n in depths.items() if "< n1_u1_B)" in line] == [12]
    assert ", 50]" in text  # in a branch; the element asks by itself
    assert "50 < n1_u1_A" not in text
    args[3][0] = 9
    for way in (False, True):
        with pytest.raises(IndexError):
            value_and_grad(f, FLOATS, compile=way)(*copy.deepcopy(args))


@pytest.mark.plain
def test_the_way_back_multiplies_matrices_as_they_lie_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    built = form.NUMPY._replace(built=lambda p: texts.append(p.text) or printer.built(p))
    monkeypatch.setattr(form, "COMPILER", built)
    f = function("y = x[:5] @ A[:5, 1:]; return np.sum(y * y)")
    value_and_grad(f, FLOATS, compile=True)(*copy.deepcopy(ARGUMENTS))
    (text,) = texts
    back = text[text.index("def reverse") :]
    assert "(u1_A[:5, 1:] @ " in back
    assert ".T" not in back


LOOP = """
import numpy as np

def f(a, x, more):
    for i in range(1, len(x)):
        x[i] = x[i] * np.sum(a[:i]) + x[i - 1] * x[0]
    return np.sum(x * x) + (np.sum(a ** 3) if more else 0.0)
"""


@pytest.mark.plain
@pytest.mark.parametrize("more", [False, True])
def test_a_way_back_that_fails_leaves_nothing(more: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[int] = []

    def spoiling(run: Any, restored: Any) -> Any:
        def quick(stack: Any, top: int, *given: Any) -> None:
            for k in restored:
                given[k][...] = 7.0
                failed.append(k)

        return quick

    ways = []
    for quick in (printer.as_quick, spoiling):
        monkeypatch.setattr(printer, "as_quick", quick)
        g = value_and_grad(function_of(LOOP, "<loop>"), (0, 1))
        ways.append(g(np.linspace(0.3, 0.9, 30), np.linspace(0.5, 1.5, 30), more)[1])
    assert failed
    agree(ways[0], ways[1])


@pytest.mark.plain
def test_a_sum_of_one_item_is_no_sum_of_an_element() -> None:
    def f(x):
        items = [2.0 * x[i] for i in range(1)]
        return items[0] * sum(items) + sum(x)

    counts: Counter[str] = Counter()
    with printing(counts):
        value, dx = value_and_grad(f)(np.array([3.0, -1.0]))
    assert counts["derivatives that ran as text"] == 1
    assert value == 38.0
    np.testing.assert_allclose(dx, [25.0, 1.0])
