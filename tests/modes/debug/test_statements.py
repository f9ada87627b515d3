"""Debug mode runs statements both ways, and finds where one way is wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, debug_mode, grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements import array_forms, array_pull, forward_forms, scalars
from mooncake_py.errors import DifferentResultError
from mooncake_py.modes.debug.context import DebugContext
from mooncake_py.modes.debug.statements import StatementBeside
from mooncake_py.runtime.memory import Memory
from tests.programs.statement_sabotage import BREAKS
from tests.support.gradients import Program, Programs

pytestmark = pytest.mark.plain
programs = Programs()
X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
OFF = 1.0 + 1e-9
ROUNDED = 1.0 + 1e-14


@programs(X, 0.5)
def an_expression(x, a):
    y = a * np.sin(x) * x + 1.0
    return np.sum(y * x)


@programs(X, 0.5)
def numbers(x, a):
    s = a * x[0] + x[1]
    s += x[2] * s
    return s * a - x[3]


@programs(X)
def slices(x):
    x[1:] = 0.5 * x[:-1] * x[1:]
    x[:-1] += x[1:] * x[:-1]
    x *= 2.0 * x
    return np.sum(x * x)


@programs(X)
def elements(x):
    x[1] = x[0] * x[1]
    x[2] += x[1] * x[0]
    return x[2] * x[1]


@programs(X, np.array([[0.3, -0.2], [0.5, 0.9]]))
def products(x, m):
    y = m @ x[:2] * x[1:3] - np.sum(x * x)
    return np.sum(np.outer(y, x) * 0.5) + y @ y


@programs(X)
def parts_and_views(x):
    columns = np.array([3, 0, 0])
    y = x[columns] * x[:3] + np.flip(x[2:])
    y += x[x > 0.0] * 0.5
    m = np.outer(x, y) * 2.0
    return np.sum(m.T * x + m[1] @ y)


@programs(X)
def on_several_lines(x):
    y = (
        x * x
        - 0.5 * x
    )  # fmt: skip
    return (
        np.sum(y * x)
        + y[0] * x[1]
    )  # fmt: skip


@programs(X)
def written_by_out(x):
    y = x * 1.0
    np.multiply(x, y + 1.0, out=y)
    np.sin(y, out=y)
    np.add(y[1:], x[1:] * 2.0, out=y[1:])
    return np.sum(y * x)


class Body:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.w = v


@programs(X)
def attributes(x):
    body = Body(x)
    body.w = body.v * x - 0.5 * body.v
    body.w += body.v * body.v
    return np.sum(body.w * body.v)


@programs(X)
def an_array_that_becomes_active(x):
    y = np.zeros(5)
    y[1:] = x[1:] * x[:-1]
    y[0] = x[0] * 2.0 + x[1]
    return np.sum(y * y)


@programs(X)
def in_a_checkpoint(x):
    return checkpoint(slices, x * 1.0) * checkpoint(numbers, x, x[0])


@programs(X)
def with_constants(x):
    c = np.arange(5.0) * 2.0 + 1.0
    c[1:] -= 0.5 * c[:-1]
    return np.sum(c * x + c)


@programs(np.array([0.5, -0.25]), 1.5)
def terms_that_cancel(x, a):
    b = a + 1e-13
    s = x[0] * a - x[0] * b + x[1]
    y = x * a - x * b + 1e-8 * x
    return s * np.sum(y * x)


@pytest.fixture(autouse=True)
def new_forms() -> Iterator[None]:
    """Let nobody else have forms that are broken here."""
    array_forms.printed.cache_clear()
    yield
    array_forms.printed.cache_clear()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[StatementBeside]:
    """The statements that were compared."""
    found: list[StatementBeside] = []
    compare = StatementBeside.compare

    def noted(self: StatementBeside) -> None:
        compare(self)
        if self.quick.y is not Elsewhere:
            found.append(self)

    monkeypatch.setattr(StatementBeside, "compare", noted)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_both_ways_agree(program: Program, compared: list[StatementBeside]) -> None:
    with debug_mode():
        program.check()
    assert compared


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_tangents_agree(program: Program, compared: list[StatementBeside]) -> None:
    args = copy.deepcopy(program.args)
    expected = jvp(program.f, args, args)
    with debug_mode():
        value, tangent = jvp(program.f, args, args)
    assert value == expected[0]
    assert_allclose(tangent, expected[1], rtol=1e-9)
    assert any(beside.levels for beside in compared)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_products_with_the_hessian_agree(program: Program, compared: list[StatementBeside]) -> None:
    x, *others = copy.deepcopy(program.args)
    expected = hvp(program.f, (x, *others), np.ones(len(x)))
    with debug_mode():
        found = hvp(program.f, (x, *others), np.ones(len(x)))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
    assert any(beside.levels and beside.seeds for beside in compared), "with cotangents"


def test_values_stored_in_lists() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        held = [0.0, 1.0]
        held[0] = y[1] * y[2]
        return np.sum(held[0] * y)

    expected = grad(f)(X)
    for _ in range(2):
        with debug_mode():
            assert_allclose(grad(f)(X), expected)


def test_inside_another_derivative(compared: list[StatementBeside]) -> None:
    def f(x):
        return np.sum(grad(slices)(x * 1.0) * x)

    expected = grad(f)(X)
    with debug_mode():
        assert_allclose(grad(f)(X), expected, rtol=1e-12)
    assert compared


def test_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, compared: list[StatementBeside]
) -> None:
    def f(x):
        y = x * x + 1.0
        y[1:] *= 2.0 * x[:-1]
        return np.sum(y)

    def entries(x: Any, **options: Any) -> list[Any]:
        found: list[Any] = []
        run = DebugContext.run_backwards

        def run_backwards(self: DebugContext) -> None:
            found.extend(record.operation for record in self.records)
            run(self)

        with monkeypatch.context() as patch, debug_mode(**options):
            patch.setattr(DebugContext, "run_backwards", run_backwards)
            return [*grad(f)(x), *found]

    x = X.copy()
    assert entries(x) == entries(x, compare_fused=False)
    assert_array_equal(x, X)
    assert compared


def test_statements_of_loops_that_run_as_one_entry_are_not(
    compared: list[StatementBeside],
) -> None:
    def f(x):
        s = 0.0
        for i in range(5):
            s = s + x[i] * x[i] * 0.5
        return s

    grad(f, debug=True)(X)
    assert compared == []


def test_functions_that_may_do_anything_run_once(
    monkeypatch: pytest.MonkeyPatch, compared: list[StatementBeside]
) -> None:
    def f(x):
        return np.sum(np.sin(x) * x + 1.0)

    grad(f, debug=True)(X)
    assert compared
    compared.clear()
    monkeypatch.setattr(np, "sin", lambda x: x * 2.0)
    assert_allclose(grad(f, debug=True)(X), 4.0 * X)
    assert compared == []


def test_numbers_whose_squares_overflow_are_no_difference() -> None:
    def f(x, z):
        y = 2.0 / (np.log(np.outer(z, x)) + 3.0)
        return np.sum(y)

    z = np.array([1e200, 0.7, 0.3])
    with debug_mode():
        hvp(f, (np.abs(X), z), X)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, [("a", float), ("b", int)]])
def test_arrays_of_other_types_are_not(dtype: Any, compared: list[StatementBeside]) -> None:
    def f(x):
        y = np.zeros(5, dtype)
        field: Any = "a" if y.dtype.names else ...
        part = y[field]
        part[1:] += (x * x)[1:]
        if y.dtype.names:
            y[field] += part * 0.5
        return np.sum(part).real

    with debug_mode():
        expected = 2.0 * X * (1.5 if type(dtype) is list else 1.0) * (np.arange(5) > 0)
        assert_allclose(grad(f)(X), expected, rtol=1e-6)
        assert_allclose(jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-6)


# What is broken on purpose.

EXPRESSION = """
import numpy as np
def f(x, a):
    y = a * x * x - x
    return y[3]
"""
NUMBERS = """
def f(x, a):
    return a * x[0] * x[0] - x[1]
"""
STORE = """
def f(x, a):
    x[1:] = a * x[:-1] * x[:-1]
    return x[3]
"""
ELEMENT = """
def f(x, a):
    x[1] = a * x[0] * x[0]
    return x[1]
"""
CHANGE = """
def f(x, a):
    x[1:] += a * x[:-1]
    return x[3]
"""


def repeated(text: str) -> str:
    """Return a text with its statements several times: some is broken half of the time."""
    *head, statement, end = text.splitlines(keepends=True)
    return "".join([*head, *[statement] * 6, end])


def rewrite(monkeypatch: pytest.MonkeyPatch, pattern: str, replacement: str) -> None:
    """Change the text of forms that are made from now on."""
    for module in (array_forms, scalars, forward_forms):
        define = module.define

        def rewritten(text: str, scope: Any, define: Any = define) -> Any:
            return define(re.sub(pattern, replacement, text), scope)

        monkeypatch.setattr(module, "define", rewritten)


def cotangents_times(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    rewrite(monkeypatch, r"\bg \* ", f"g * {factor!r} * ")


Define = Callable[[str], Any]


@pytest.mark.parametrize(
    ("text", "operand"),
    [(EXPRESSION, "[xa]"), (NUMBERS, "[xa]"), (STORE, "[xa]"), (ELEMENT, "[xa]"), (CHANGE, "[xa]")],
)
def test_a_wrong_cotangent(
    text: str, operand: str, define: Define, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = define(text)
    cotangents_times(monkeypatch, OFF)
    with pytest.raises(DifferentResultError, match=f"gives {operand}.* another cotangent") as e:
        grad(f, (0, 1), debug=True)(X, 0.5)
    assert f"{f.__code__.co_filename}:{text.splitlines().index('def f(x, a):') + 2}:" in str(
        e.value
    )
    numbers = re.findall(r"(?:expected|got): +(\S+)", str(e.value))
    assert abs(float(numbers[1]) / float(numbers[0]) - 1.0) < 1e-6


@pytest.mark.parametrize("text", [EXPRESSION, NUMBERS, STORE, ELEMENT, CHANGE])
def test_rounding_is_no_difference(
    text: str, define: Define, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = define(text)
    cotangents_times(monkeypatch, ROUNDED)
    grad(f, (0, 1), debug=True)(X, 0.5)


def test_a_wrong_value(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(NUMBERS)
    rewrite(monkeypatch, r"y\.primal = ", "y.primal = (1.0 + 2.3e-16) * ")
    with pytest.raises(DifferentResultError, match="gives its result another value"):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_a_wrong_type(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(NUMBERS)
    rewrite(monkeypatch, r" \* (scale|one)\b", "")
    with pytest.raises(DifferentResultError, match="gives its result another type"):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_a_wrong_write(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(STORE)
    rewrite(monkeypatch, r"(?m)^( +)return None", r"\1slot[2] += 1e-15; return None")
    with pytest.raises(DifferentResultError, match=r"gives x\[3\] another value"):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_a_write_that_is_not_undone(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(repeated(STORE))
    rewrite(monkeypatch, r"if m\d\.protected:\n +C\.log_write\(.*\)", "pass")
    rewrite(monkeypatch, r"logged = .*", "logged = False")
    with pytest.raises(DifferentResultError):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_an_adjoint_that_reads_what_may_be_overwritten(
    define: Define, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = define(repeated(EXPRESSION))
    monkeypatch.setattr(Memory, "keep", lambda self, a: a)
    rewrite(monkeypatch, r"(n\d)\.protected = True", r"\1")
    with pytest.raises(DifferentResultError, match="another cotangent"):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_cotangents_of_one_memory(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define("""
import numpy as np
def f(x, y):
    a = x + y + 1.0
    b = x + y + 2.0
    c = x + y + 3.0
    d = x + y + 4.0
    return np.sum(a * b + c * d)
""")
    BREAKS["cotangents_that_are_shared_are_handed_over"](monkeypatch)
    with pytest.raises(DifferentResultError, match="memory of the cotangent of x"):
        grad(f, (0, 1), debug=True)(X, X.copy())


def test_a_derivative_that_is_missing(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(EXPRESSION)
    monkeypatch.setattr(array_pull.PullWriter, "deliveries", lambda *args: ["pass"])
    with pytest.raises(DifferentResultError, match="another cotangent"):
        grad(f, (0, 1), debug=True)(X, 0.5)


def test_a_form_that_raises(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(EXPRESSION)
    rewrite(monkeypatch, r"if not \(C\.fuses", "1 / 0\n    if not (C.fuses")
    with pytest.raises(DifferentResultError, match="gives its result another value") as e:
        grad(f, (0, 1), debug=True)(X, 0.5)
    assert "ZeroDivisionError" in str(e.value)


def test_a_form_that_does_not_raise(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define("""
def f(x, i):
    return x[i] * x[0] + 1.0
""")
    rewrite(monkeypatch, r"a0\.item\(a(\d)\)", r"a0.item(a\1 % 5)")
    with pytest.raises(DifferentResultError, match="comes to its end, and its operations raise"):
        grad(f, debug=True)(X, 7)


def test_statements_that_raise_both_ways(define: Define) -> None:
    f = define("""
def f(x, i):
    try:
        return x[i] * x[0] + 1.0
    except IndexError:
        return x[1] * x[0]
""")
    assert_array_equal(grad(f, debug=True)(X, 7), grad(f)(X, 7))


def test_it_can_be_switched_off(
    define: Define, monkeypatch: pytest.MonkeyPatch, compared: list[StatementBeside]
) -> None:
    f = define(EXPRESSION)
    cotangents_times(monkeypatch, 2.0)
    with debug_mode(compare_fused=False):
        assert grad(f)(X, 0.5)[3] == X[3] - 1.0
    assert compared == []


def test_settings_of_numpy_under_which_no_form_serves(compared: list[StatementBeside]) -> None:
    with np.errstate(all="raise"):
        grad(an_expression_of_its_own, debug=True)(X)
    assert compared == []


def an_expression_of_its_own(x: Any) -> Any:
    return np.sum(x * x + 1.0)


# Forward mode.


def tangents_times(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    rewrite(monkeypatch, r"(?m)^( +t = )(?!exactly)(.*)$", rf"\1({factor!r}) * (\2)")


@pytest.mark.parametrize("text", [EXPRESSION, NUMBERS, STORE, ELEMENT, CHANGE])
def test_a_wrong_tangent(text: str, define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    f = define(text)
    tangents_times(monkeypatch, OFF)
    with debug_mode(), pytest.raises(DifferentResultError, match="another tangent") as e:
        jvp(f, (X, 0.5), (X, 1.0))
    assert f"{f.__code__.co_filename}:" in str(e.value)


@pytest.mark.parametrize("text", [EXPRESSION, NUMBERS, STORE, ELEMENT, CHANGE])
def test_rounding_of_a_tangent_is_no_difference(
    text: str, define: Define, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = define(text)
    tangents_times(monkeypatch, ROUNDED)
    with debug_mode():
        jvp(f, (X, 0.5), (X, 1.0))


@pytest.mark.parametrize("text", [EXPRESSION, STORE, CHANGE])
def test_a_wrong_cotangent_at_second_order(
    text: str, define: Define, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = define(text)
    cotangents_times(monkeypatch, OFF)
    with debug_mode(), pytest.raises(DifferentResultError, match="another cotangent"):
        hvp(f, (X, 0.5), X)


def test_value_and_gradient_are_those_without(compared: list[StatementBeside]) -> None:
    for program in programs:
        args = copy.deepcopy(program.args)
        value, g = value_and_grad(program.f, debug=True)(*args)
        expected, reference = value_and_grad(program.f)(*args)
        assert value == expected
        assert_allclose(g, reference, rtol=1e-9, atol=1e-15)
