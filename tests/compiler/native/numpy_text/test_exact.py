"""Values of text are those of the plain call to the last bit, or the function is not printed."""

from __future__ import annotations

import copy
import sys
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from mooncake_py.compiler.native.form import NUMPY
from mooncake_py.compiler.native.site import site_of
from mooncake_py.modes.reverse.whole import gradient_of_whole
from tests.programs.comparing import function_of

PRINTED = [
    *[f"return np.sum(np.{f}(P)) * np.{f}(a) + np.{f}(p[1])" for f in
      ("sin", "exp", "log", "tanh", "cosh", "log1p", "expm1", "sqrt", "arctan", "log10")],
    *[f"y = p * 1.0; for i in range(9): y[i] += math.{f}(p[i]) ; return np.sum(y)" for f in
      ("exp", "tanh", "log", "sinh", "log1p", "atan")],
    *[f"s = 0.0; for v in p: s += v ** ({q}) ; return s + a ** ({q}) + np.sum(P ** ({q}))" for q in
      ("2", "3", "0.5", "-1", "1.5", "a", "7")],
    *[f"y = np.zeros(9); for i in range(9): y[i] += p[i] ** {q} ; return np.sum(y)" for q in
      ("2", "3", "1.3")],
    *[f"return np.{f}({v})" for f in ("sum", "mean") for v in
      ("P", "P.T", "P[::-1]", "P[:, ::2]", "P.T * 1.5", "P.T + Q.T", "P @ Q.T", "P[k]")],
    "return np.sum(np.sum(P.T, axis=0) ** 2) + np.sum(np.mean(P + Q, axis=1))",
    "return np.sum(P.T @ Q) + p @ p + np.dot(p[::2], p[::2]) + np.sum(p * p)",
    "return np.sum(P @ Q.T @ P) + np.sum(2.0 * P @ Q.T + P @ P.T) + P[0] @ Q[1]",
    "return sum(p) + sum([v * v for v in p])",
    "return np.sum(P[P > 0.5] ** 2) + P[P > 1.0].mean() + np.sum(P[k, k[::-1]]) + np.sum(P[1, k])",
    "return np.std(P) + np.var(p) + math.atan2(a, p[0]) + np.arctan2(a, p[0])",
    "return np.linalg.norm(p) + np.linalg.norm(P[1]) + np.sum(np.cumsum(P, axis=0))",
]  # fmt: skip
LEFT = {
    "functions of ours": "return np.sum(np.power(P, 3)) + np.power(p[1], 1.5)",
    "norms of matrices": "return np.linalg.norm(P)",
    "norms of columns": "return np.linalg.norm(P[:, 0])",
    "einsum": "return np.einsum('ij,ij', P, Q) + np.einsum('ij->', P)",
    "complex numbers": "z = p + 1j * p[::-1]; return np.sum(np.abs(z * z))",
    "complex constants": "return abs(a + 2j)",
    "orders of two": "return np.sum(np.roll(P.T, 1, axis=0) * P.T)",
    "orders of elements that are picked": "return np.sum(P[k][:, k]) + np.std(P[k][:, k])",
    "orders that loops change": "y = P; for i in range(3): y = y.T * 0.5 ; return np.sum(y)",
    "choices that read too far": "return np.sum(np.where(P[1:, 1:] > 0.5, 1.5, P[1:, 1:]))",
    "triangles": "return np.sum(np.diff(np.tril(P), axis=0) ** 2)",
}


def function(text: str) -> Any:
    lines: list[str] = []
    for part in text.split("; "):
        head, colon, rest = part.partition(": ")
        body, _, after = rest.partition(" ;")
        lines += [head + colon, f"    {body}", after.strip()] if head.startswith("for ") else [part]
    body = "".join(f"    {line}\n" for line in lines)
    text = f"import math\nimport numpy as np\ndef f(P, Q, p, a, k):\n{body}"
    return function_of(text, f"<{text}>")


def arguments(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    P, Q = rng.uniform(0.05, 1.9, (2, n, n))
    p, k = rng.uniform(0.05, 1.9, max(n, 9)), rng.integers(0, n, 5)
    return P, Q, p, float(rng.uniform(0.1, 1.9)), k


def in_text(f: Any, args: tuple[Any, ...]) -> Any:
    return gradient_of_whole(f, (0, 1, 2, 3), False, copy.deepcopy(args), {}, in_text=True)


@pytest.mark.parametrize("text", PRINTED)
def test_values_to_the_last_bit(text: str) -> None:
    f, rng = function(text), np.random.default_rng(7)
    for n in (5, 9, 33):
        for _ in range(4):
            args = arguments(rng, n)
            with catch_warnings():
                simplefilter("ignore")
                y, found = f(*copy.deepcopy(args)), in_text(f, args)
            if not np.isfinite(y):
                continue
            assert found is not None, text
            assert type(found[0]) is type(y)
            assert np.asarray(found[0]).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("text", [
    "return sum([a, a * 0.1, a * 0.01])", "return sum([float(v) for v in p])",
    "y = [a]; for i in range(9): y.append(a * 0.1 * i) ; return sum(y)",
])  # fmt: skip
def test_sums_of_python_floats(text: str) -> None:
    f, rng = function(text), np.random.default_rng(2)
    for _ in range(20):
        args = arguments(rng, 9)
        found = in_text(f, args)
        assert found is None or found[0] == f(*args)
        assert (found is None) == (sys.version_info >= (3, 12))


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_numpy_does_in_another_way_is_left(text: str) -> None:
    f = function(text)
    assert in_text(f, arguments(np.random.default_rng(1), 9)) is None
    site = site_of(f, NUMPY)
    assert site is not None
    assert not site.refused  # it was read, but not printed


def test_arguments_in_another_order_are_left() -> None:
    f = function("return np.sum(P)")
    P, *rest = arguments(np.random.default_rng(1), 9)
    assert in_text(f, (P, *rest)) is not None
    for other in (P.T, np.asfortranarray(P)):
        assert in_text(f, (other, *rest)) is None
