"""Rules that hold within a block."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import mooncake_py
from mooncake_py import (
    DuplicateRuleError,
    OperatorRuleError,
    build_rrule,
    debug_mode,
    elementwise,
    from_vjp,
    grad,
    hvp,
    jvp,
    local_rules,
    overlay,
    value_and_grad,
    vjp,
)
from mooncake_py.rules import registry
from mooncake_py.testing import test_rule


def cube(x):
    return x**3


elementwise(cube, 100.0)  # wrong on purpose: shows which rule was used


def newton_root(a):
    x = a
    for _ in range(50):
        x = 0.5 * (x + a / x)
    return x


@from_vjp(newton_root)
def newton_root_rule(a):
    return newton_root(a), lambda dy: -1000.0


def test_without_a_rule_the_source_is_derived() -> None:
    assert grad(cube)(2.0) == 100.0
    with local_rules(without=cube):
        assert grad(cube)(2.0) == 12.0
        test_rule(cube, 2.0)
    with local_rules(without=(cube, newton_root)):
        assert grad(lambda a: newton_root(a) * cube(2.0))(4.0) == pytest.approx(2.0)
    assert grad(cube)(2.0) == 100.0
    assert grad(newton_root)(4.0) == -1000.0


def test_declarations_hold_in_the_block_only() -> None:
    with local_rules():
        elementwise(cube, lambda x, y: -x)
        assert grad(cube)(2.0) == -2.0
        with local_rules():
            elementwise(cube, lambda x, y: -2 * x)
            assert grad(cube)(2.0) == -4.0
            with local_rules(without=[cube]):
                assert grad(cube)(2.0) == 12.0
            assert grad(cube)(2.0) == -4.0
        assert grad(cube)(2.0) == -2.0
    assert grad(cube)(2.0) == 100.0


def test_block_ends_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), local_rules(without=cube):
        raise ZeroDivisionError
    assert grad(cube)(2.0) == 100.0


def test_two_declarations_in_one_block_are_an_error() -> None:
    with local_rules():
        elementwise(cube, 1.0)
        with pytest.raises(DuplicateRuleError):
            elementwise(cube, 2.0)
        elementwise(cube, 3.0, replace=True)
        assert grad(cube)(2.0) == 3.0


@pytest.mark.parametrize("function", [np.sin, math.sin], ids=["numpy", "math"])
def test_expressions_recorded_as_one_entry_obey(function) -> None:
    def f(x):
        return 2.0 * function(x) + x

    expected = grad(f)(0.5)
    for _ in range(2):
        with local_rules():
            elementwise(function, 10.0)
            assert grad(f)(0.5) == 21.0
        assert grad(f)(0.5) == expected


def test_other_kinds_of_rule() -> None:
    with local_rules():

        @overlay(np.sort)
        def no_sort(a):
            return 3.0 * a

        assert grad(lambda v: np.sort(v)[0])(np.array([2.0, 1.0])).tolist() == [3.0, 0.0]

        @from_vjp(max)  # has a handler of its own outside
        def first(*values):
            return values[0], lambda dy: (7.0 * dy, 0.0)

        assert grad(lambda x: max(x, 3.0))(4.0) == 7.0
    assert grad(lambda v: np.sort(v)[0])(np.array([2.0, 1.0])).tolist() == [0.0, 1.0]
    assert grad(lambda x: max(x, 3.0))(4.0) == 1.0


def test_functions_behind_operators_are_refused() -> None:
    with local_rules(), pytest.raises(OperatorRuleError, match="multiply"):
        elementwise(np.multiply, 1.0, 1.0)
    with pytest.raises(OperatorRuleError, match="multiply"), local_rules(without=np.multiply):
        pass
    assert grad(lambda x: x * x)(3.0) == 6.0


def test_pullbacks_and_rules_go_by_the_block_they_were_made_in() -> None:
    with local_rules(without=cube):
        _, pullback = vjp(cube, 2.0)
    assert pullback(1.0) == (12.0,)
    assert pullback(1.0) == (12.0,)  # runs forward again
    rule = build_rrule(cube, 2.0)
    with local_rules(without=cube):
        test_rule(cube, 2.0, rule=rule)


def test_other_threads_do_not_see_the_block() -> None:
    found = []
    with local_rules(without=cube):
        thread = threading.Thread(target=lambda: found.append(grad(cube)(2.0)))
        thread.start()
        thread.join()
    assert found == [100.0]


def test_debug_mode_goes_by_the_block() -> None:
    with debug_mode(), local_rules(without=cube):
        assert grad(cube)(2.0) == 12.0
    with local_rules(), debug_mode():
        elementwise(cube, 5.0)
        assert grad(cube)(2.0) == 5.0


def test_block_within_differentiated_code() -> None:
    def f(x):
        before = cube(x)
        with local_rules(without=cube):
            within = cube(x)
        return before + within + cube(x)

    assert grad(f)(2.0) == 212.0
    assert grad(f)(2.0) == 212.0
    assert jvp(value_and_grad(f), (2.0,), (1.0,)) == ((24.0, 212.0), (212.0, 12.0))
    assert hvp(f, (2.0,), 1.0) == 12.0


def test_rules_of_modules_that_are_imported_meanwhile_stay() -> None:
    with local_rules():
        import statistics

        assert registry.find(statistics.mean) is not None
    assert registry.find(statistics.mean) is not None


def test_rule_replaced_for_good_is_used_in_expressions_too(tmp_path: Path) -> None:
    program = """
import math
import numpy as np
from mooncake_py import elementwise, grad, OperatorRuleError

def f(x):
    return 2.0 * math.sin(x) + x

assert grad(f)(0.5) == 2 * math.cos(0.5) + 1
elementwise(math.sin, 10.0, replace=True)
assert grad(f)(0.5) == 21.0
try:
    elementwise(np.multiply, 1.0, 1.0, replace=True)
except OperatorRuleError:
    print("refused")
"""
    assert output_of(program, tmp_path) == "refused\n"


@pytest.mark.thorough
def test_rule_of_the_user_for_a_builtin_is_used_in_expressions_too(tmp_path: Path) -> None:
    program = """
from types import SimpleNamespace
from mooncake_py import elementwise, grad

def f(x):
    o = SimpleNamespace(a=x)
    y = 2.0 * max(o.a, 0.5) + o.a
    return y + 2.0 * max(o.a, 0.5) + o.a

assert grad(f)(1.5) == 6.0
elementwise(max, lambda a, b, y: 10.0, lambda a, b, y: 10.0)
assert grad(f)(1.5) == 42.0
print("done")
"""
    assert output_of(program, tmp_path) == "done\n"


def test_rules_of_users_go_before_what_the_language_knows(tmp_path: Path) -> None:
    program = """
import copy, heapq
import numpy as np
from mooncake_py import OperatorRuleError, grad, jvp, overlay

def adds(x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 1]), x[:2])
    return y.sum()

def copies(x):
    return copy.copy(x).sum()

def truncates(x):
    return 2.0 * int(x[0]) + x[1]

def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 2).sum()

def smallest(x):
    return heapq.heappop(list(x))

def both(f):
    x = np.ones(3)
    return grad(f)(x).tolist(), float(jvp(f, (x,), (x,))[1])

programs = adds, copies, truncates, windows, smallest
before = [both(f) for f in programs]

@overlay(np.add.at, replace=True)
def added_twice(a, i, b):
    a[i] += 2 * b

overlay(copy.copy)(lambda x: 3 * x)
overlay(int)(lambda x: 5 * x)
overlay(np.lib.stride_tricks.sliding_window_view)(lambda x, n: x[:1])
overlay(heapq.heappop)(lambda items: 7 * items[0])
assert [both(f) for f in programs] == [
    ([2, 2, 0], 4), ([3, 3, 3], 9), ([10, 1, 0], 11), ([1, 0, 0], 1), ([7, 0, 0], 7),
], [both(f) for f in programs]
assert [g for g, _ in before] == [[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 2, 1], [1, 0, 0]], before
for f in (range, len, globals):
    try:
        overlay(f)(lambda *args: 1)
    except OperatorRuleError:
        print("refused", f.__name__)
"""
    expected = "refused range\nrefused len\nrefused globals\n"
    assert output_of(program, tmp_path) == expected


@pytest.mark.thorough
def test_rules_of_modules_that_are_imported_in_a_block_hold_after_it(tmp_path: Path) -> None:
    program = """
import numpy as np
from mooncake_py import grad, jvp, local_rules, vjp

def f(x):
    return np.sum(x**3)

x = np.ones(2)
with local_rules():
    jvp(f, (x,), (x,))  # imports forward mode
print(grad(lambda x: np.sum(vjp(f, x)[1](1.0)[0]))(x))
"""
    assert output_of(program, tmp_path) == "[6. 6.]\n"


@pytest.mark.thorough
def test_forward_rule_declared_for_good_is_used_in_expressions_too(tmp_path: Path) -> None:
    program = """
import numpy as np
from mooncake_py import Dual, frule, jvp

def f(x):
    y = np.sinh(x) * 2.0 + x
    return y

x = np.ones(3)
np.testing.assert_allclose(jvp(f, (x,), (x,))[1], 2.0 * np.cosh(1.0) + 1.0)
frule.register(np.sinh, mutates=())(lambda _, x: Dual(np.sinh(x.primal), 7.0 * x.tangent))
print(jvp(f, (x,), (x,))[1])
"""
    assert output_of(program, tmp_path) == "[15. 15. 15.]\n"


def output_of(program: str, folder: Path) -> str:
    """Return the output of a program that runs in a process of its own."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    root = Path(mooncake_py.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    return done.stdout or done.stderr
