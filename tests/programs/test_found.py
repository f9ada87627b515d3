"""Programs that once had a wrong derivative, as small as they could be made.

Each was found by the random programs or manually.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from tests.programs.checking import Finding, check
from tests.programs.program import Program

VECTOR = np.array([0.69, -0.646, 0.6, 0.727, -0.41])
MATRIX = np.array([[0.5, -0.8, 0.4], [0.7, 0.2, 0.3], [0.9, -0.7, 0.2]])


def found_in(body: str, base: Any = VECTOR, prelude: str = "") -> Finding | None:
    """Return an error in the derivative of ``def f(x)`` with a given body."""
    source = f"{prelude}def f(x):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    return check(Program(source, {"m0": base}, ("m0",), (0,)))


def verify(body: str, base: Any = VECTOR, prelude: str = "") -> None:
    """Check the derivative of ``def f(x)`` with a given body."""
    finding = found_in(body, base, prelude)
    assert finding is None, str(finding)


# Writes through index arrays: an element that is written repeatedly keeps the last value only.


def test_repeated_column_augmented() -> None:
    verify(
        """
        x[:, [2, 2, 2]] *= 0.5
        return np.sum(x)
    """,
        MATRIX,
    )


def test_repeated_column_assigned() -> None:
    verify(
        """
        x[:, [0, 0]] = x[:, 1:]
        return np.sum(x * x)
    """,
        MATRIX,
    )


def test_repeated_column_by_array_in_tuple() -> None:
    verify(
        """
        x[1:, np.array([0, 0])] = x[:2, :2]
        return np.sum(x * x)
    """,
        MATRIX,
    )


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_repeated_row_augmented() -> None:
    verify(
        """
        x[[2, 2]] *= 0.5
        return np.sum(x)
    """,
        MATRIX,
    )


# Constant buffers whose id a view that is gone had before.


def test_constant_factor_overwritten_after_a_view_died() -> None:
    verify("""
        x[None]
        a = np.ones(5)
        y = a * x
        a += 1.0
        return np.sum(y)
    """)


def test_constant_target_multiplied_after_a_view_died() -> None:
    verify("""
        x[None]
        a = np.ones(5)
        a *= x
        return np.sum(a)
    """)


def test_part_of_a_constant_factor_overwritten_after_a_view_died() -> None:
    verify("""
        a = np.ones_like(x[:, None][:])
        a[3] *= x[1]
        return np.sum(a)
    """)


# Iteration over an array that becomes active meanwhile.


def test_vector_becomes_active_within_its_loop() -> None:
    verify("""
        z = np.ones(3)
        total = 0.0
        for e in z:
            total += e
            z[:] = x[:3]
        return total
    """)


def test_vector_becomes_active_after_iter() -> None:
    verify("""
        z = np.ones(3)
        it = iter(z)
        z[:] = x[:3]
        return sum(it)
    """)


def test_vector_becomes_active_after_zip() -> None:
    verify("""
        z = np.ones(5)
        pairs = zip(z, x)
        z += x
        return sum(a * b for a, b in pairs)
    """)


def test_vector_becomes_active_after_enumerate() -> None:
    verify("""
        z = np.ones(5)
        numbered = enumerate(z)
        z += x
        return sum(i * a for i, a in numbered)
    """)


def test_vector_becomes_active_before_a_generator_expression_runs() -> None:
    verify("""
        z = np.ones(5)
        squares = (e * e for e in z)
        z += x
        return sum(squares)
    """)


def test_reversed_vector_changes_within_its_loop() -> None:
    verify("""
        total = 0.0
        for e in reversed(x):
            total += e
            x[0] *= 0.5
        return total
    """)


def test_reversed_constant_vector_becomes_active_within_its_loop() -> None:
    verify("""
        z = np.zeros(5)
        total = 0.0
        for e in reversed(z):
            z[0] += x[1]
            total += e
        return total
    """)


# Sequences and NumPy scalars: the sum is an array.


@pytest.mark.parametrize("statement", [
    "t = (5.0, 3.0) + x.sum()", "t = x.sum() + (5.0, 3.0)", "t = (5.0, 3.0); t += x.sum()",
    "t = (5.0, 3.0) / (2.0 + x.sum())", "t = [5.0, 3.0] - x.sum()",
])  # fmt: skip
def test_numpy_scalar_with_a_sequence(statement: str) -> None:
    verify(f"{statement}\nreturn np.sum(t)")


# Values and errors other than the primal's.


@pytest.mark.parametrize("index", ["()", "...", "None", "(None, ...)", "(..., None)"])
def test_numpy_scalar_indexed(index: str) -> None:
    verify(f"s = x[0]\nt = s[{index}] * x[1]\ns = s * 2.0\nreturn np.sum(t) + s")


@pytest.mark.parametrize(
    ("number", "error"), [("x[0]", "IndexError"), ("float(x[0])", "TypeError")]
)
def test_element_of_a_number(number: str, error: str) -> None:
    verify(f"s = {number}\ntry:\n    s = s[1]\nexcept {error}:\n    s = s * x[1]\nreturn s + x[2]")


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_complex_of_numpy_scalars_is_complex() -> None:
    verify("""
        z = complex(x[0], x[1])
        return abs(z)
    """)


@pytest.mark.parametrize("call", ["np.modf(3.0 * x, out=(a, b))", "np.divmod(x, 0.3, out=(a, b))"])
def test_two_outputs(call: str) -> None:
    verify(f"a, b = np.zeros(5), np.zeros(5)\n{call}\nreturn np.sum(x)")


def test_sum_of_constants_into_integers() -> None:
    verify("""
        i = np.zeros(3, int)
        np.sum(np.ones((2, 3)), axis=0, out=i)
        return np.sum(x[:3] * i)
    """)


@pytest.mark.parametrize("elements", ["np.asarray(x.flat)", "np.ravel(x.flat)", "x.flat.copy()"])
def test_elements_of_flat(elements: str) -> None:
    verify(f"y = {elements}\ny *= 2.0\nx[0] *= y[1]\nreturn np.sum(x * x) + np.sum(y)")


def test_float_array_as_condition() -> None:
    verify("return np.sum(np.where(x, x * x, 2.0))")


def test_failed_write_to_a_read_only_array() -> None:
    verify("""
        x.flags.writeable = False
        try:
            x[0] = 2.0
        except ValueError:
            pass
        x.flags.writeable = True
        return np.sum(x * x)
    """)


# Right from the beginning, and near to what was wrong.


@pytest.mark.parametrize("body", [
    "p = np.ones(5)\ny = p[1:] * x[1:]\np[:] *= 0.7\nreturn np.sum(y)",
    ("p = np.linspace(1, 2, 5)\ns = 0.0\nfor k in range(3):\n    y = p * x\n    p[:] = p[::-1]\n"
     "    p[k] = 0.1\n    s += np.sum(y * p)\nreturn s"),
    ("ix = np.array([0, 1, 2])\nfor k in range(3):\n    x[ix] *= x[0]\n    ix += 1\n    ix %= 5\n"
     "return np.sum(x)"),
    ("m = np.array([True, False, True, True, False])\nfor k in range(2):\n    x[m] *= x[0]\n"
     "    m[0] = False\n    m[1:] = ~m[1:]\nreturn np.sum(x)"),
    "a = x.copy()\nfor _ in range(4):\n    a, x = x, a\n    x[1:] += 0.1 * a[:-1]\nreturn a @ x",
    "it = iter(x)\na = next(it)\nx[1] = a * a\nreturn a * next(it)",
    "def i():\n    x[1] *= 3\n    return 1\nx[i()] += x[1]\nreturn np.sum(x * x)",
    "def v():\n    x[1:] *= 3\n    return x[0]\nx[1:] += v()\nreturn np.sum(x * x)",
])  # fmt: skip
def test_near_misses(body: str) -> None:
    verify(body)


# Arguments that share memory.


@pytest.mark.parametrize("other", ["m0", "m0[1:]", "m0[::-1]", "m0[::2]"])
def test_arguments_that_share_memory(other: str) -> None:
    source = "def f(x, y):\n    x[1:] += x[:-1]\n    y *= y[0]\n    return np.sum(x * x) + y[-1]\n"
    finding = check(Program(source, {"m0": VECTOR}, ("m0", other), (0, 1)))
    assert finding is None, str(finding)
