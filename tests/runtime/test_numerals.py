"""A number read back from text made from an active one is refused, however it went."""
# What looks like bad style is the point of the programs.
# ruff: noqa: UP031, UP032

from __future__ import annotations

import ast
import decimal
import fractions
import io
import re
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import Program, Programs

READ_BACK = Programs()
UNRELATED = Programs()
X = np.array([1.5, -0.25, 2.0 / 3.0])


@READ_BACK(2.25)
def from_str(x):
    return float(str(x)) * x


@READ_BACK(2.25)
def from_repr(x):
    return float(repr(x))


@READ_BACK(1 / 3)
def from_f_string(x):
    return float(f"{x:.12f}")


@READ_BACK(1 / 3)
def from_part_of_f_string(x):
    return float(f"x = {x!r:>30}, y = {2 * x:e}".split("=")[-1])


@READ_BACK(2.0)
def from_general_format_of_whole_number(x):
    return float(f"{x:g}")


@READ_BACK(1 / 3)
def from_percent(x):
    return float("%.10f" % x)


@READ_BACK(1 / 3)
def from_percent_of_dict(x):
    return float("%(a)r" % {"a": x})


@READ_BACK(1 / 3)
def from_str_format(x):
    return float("{[0]:.8f}".format([x]))


@READ_BACK(1 / 3)
def from_format_map(x):
    return float("{a}".format_map({"a": x}))


@READ_BACK(1 / 3)
def from_builtin_format(x):
    return float(format(x, ".9f"))


@READ_BACK(0.7)
def from_hex(x):
    return float.fromhex(x.hex())


@READ_BACK(0.7)
def from_bytes(x):
    return float(str(x).encode())


@READ_BACK(0.7)
def from_percent_of_bytes(x):
    return float(b"%f" % x)


@READ_BACK(0.7)
def as_complex(x):
    return complex(str(x * 1j)).imag


@READ_BACK(0.7)
def as_numpy_scalar(x):
    return np.float64(str(x)) + np.float32(str(x))


@READ_BACK(0.7)
def as_literal(x):
    return ast.literal_eval(str([x, 1]))[0]


@READ_BACK(0.7)
def as_decimal(x):
    return float(decimal.Decimal(str(x)))


@READ_BACK(0.7)
def as_fraction(x):
    return float(fractions.Fraction(str(x)))


@READ_BACK(0.7)
def by_map(x):
    return sum(map(float, f"{x} {x * x}".split()))


@READ_BACK(0.7)
def by_regular_expression(x):
    found = re.search(r"[\d.]+", f"v={x};")
    assert found is not None
    return float(found.group())


@READ_BACK(1 / 3)
def cut_text(x):
    return float(str(x)[:12])


@READ_BACK(0.7)
def of_an_exception(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return float(str(error))


@READ_BACK(0.7)
def by_printing_to_a_file(x):
    file = io.StringIO()
    print(x, file=file)
    return float(file.getvalue())


@READ_BACK(X)
def array_as_text_type(a):
    return a.astype(str).astype(float).sum()


@READ_BACK(X)
def array_of_texts(a):
    return np.array([str(v) for v in a], dtype=float).sum()


@READ_BACK(X)
def asarray_of_texts(a):
    return np.asarray([f"{v}" for v in a], float).sum()


@READ_BACK(X)
def text_of_array(a):
    return float(str(a)[1:-1].split()[2])


@READ_BACK(X)
def repr_of_array(a):
    return sum(float(part) for part in repr(a)[7:-2].split(","))


@READ_BACK(X)
def array_in_f_string(a):
    return float(f"{a}"[1:-1].split()[0])


@READ_BACK(X)
def array2string(a):
    return float(np.array2string(a)[1:-1].split()[0])


@READ_BACK(X)
def text_of_list(a):
    return sum(float(part) for part in str(a.tolist()).strip("[]").split(","))


@READ_BACK(X)
def from_string(a):
    return np.fromstring(" ".join(map(str, a)), sep=" ").sum()


@READ_BACK(X)
def save_and_load_text(a):
    file = io.StringIO()
    np.savetxt(file, a)
    file.seek(0)
    return np.loadtxt(file).sum()


@READ_BACK(X)
def load_text_of_lines(a):
    return np.loadtxt([str(v) for v in a]).sum()


@READ_BACK(X)
def genfromtxt(a):
    return np.genfromtxt([str(v) for v in a]).sum()


@READ_BACK(0.7)
def text_into_element(x):
    a = np.zeros(2)
    a[0] = str(x)
    return a.sum()


@READ_BACK(X)
def texts_into_slice(a):
    b = np.zeros(3)
    b[:] = [str(v) for v in a]
    return b.sum()


@READ_BACK(0.7)
def full_of_text(x):
    return np.full(2, str(x), dtype=float).sum()


@READ_BACK(0.7)
def of_positional_format(x):
    return float(np.format_float_positional(x))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", READ_BACK, ids=str)
def test_refused(program: Program) -> None:
    before = program.args[0].copy() if isinstance(program.args[0], np.ndarray) else None
    program.f(*program.args)  # runs
    with pytest.raises(DerivativeDropError, match="from text made from an active") as caught:
        value_and_grad(program.f)(*program.args)
    where = caught.value.where
    assert where is not None
    assert where.file == __file__
    if before is not None:
        np.testing.assert_array_equal(program.args[0], before)


@UNRELATED(0.7)
def text_that_is_not_read(x):
    lines = [f"{x:.3f}", f"{x!r}", str(x), "%g" % x, "{}".format(x), x.hex()]
    return x * all(lines)


@UNRELATED(0.7)
def other_numbers_are_read(x):
    note = f"at {x:.3f} after 12 steps"
    rate, *rest = ["0.5", "1e-3", "12"]
    scale = np.array(rest, float).sum() * np.float64("2.5")
    return float(rate) * x * scale * bool(note)


@UNRELATED(0.7)
def printing_does_not_count(x):
    print(x, [x], np.array([x]))
    return x * float("0.7")


@UNRELATED(X)
def whole_numbers_within_text(a):
    note = "%d values, the first is %.6f" % (len(a), a[0])
    return a.sum() * float("3") * bool(note)


@UNRELATED(0.7)
def rounded_to_int(x):
    return x * int(f"{x:.0f}")


@UNRELATED(0.7)
def keys_of_text(x):
    d: dict[str, Any] = {f"k{i}": x * i for i in range(3)}
    return d["k1"] * d["k2"]


@pytest.mark.parametrize("program", UNRELATED, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()


def test_an_error_that_is_caught_is_raised_again():
    def hides(x):
        try:
            return float(str(x))
        except DerivativeDropError:
            return x

    with pytest.raises(DerivativeDropError):
        value_and_grad(hides)(0.7)


def test_calls_do_not_share_what_they_have_written():
    def writes(x):
        return x * len(str(x))

    assert value_and_grad(writes)(0.7) == (0.7 * 3, 3.0)
    assert value_and_grad(lambda x: x * float("0.7"))(0.7)[1] == 0.7


def test_an_inner_derivative_knows_what_was_written_outside():
    def f(x):
        text = str(x)
        return grad(lambda z: z * float(text))(2.0)

    with pytest.raises(DerivativeDropError, match="made from an active number"):
        grad(f)(0.7)
    with pytest.raises(DerivativeDropError, match="made from an active number"):
        jvp(f, (0.7,), (1.0,))


def test_an_outer_derivative_knows_what_was_written_inside():
    def f(x):
        slope, text = grad(lambda z: (z * z, str(x)), has_aux=True)(2.0)
        return slope * float(text)

    with pytest.raises(DerivativeDropError, match="made from an active number"):
        grad(f)(0.7)


def test_what_is_printed_inside_another_derivative_is_not_remembered():
    def f(x):
        print(x, [x])
        return x * float("0.7") * x

    np.testing.assert_allclose(jvp(grad(f), (0.7,), (1.0,)), (0.98, 1.4))
    np.testing.assert_allclose(grad(grad(f))(0.7), 1.4)
