"""The user's source with marks that say how it runs."""

from __future__ import annotations

import math
import os
import re
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpointed, show, zero_derivative
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.reflecting import marked_text
from tests.frontend.all_programs import CASES

pytestmark = pytest.mark.without_modes("shows what runs where nothing is compiled", "compiled")


def helper(u):
    return u * 2.0


def steps_of(u):
    return len(u)


zero_derivative(steps_of)


def simulate(u, rate, change, count):
    """Have a docstring,

    of several lines.
    """
    total = 0.0
    for _ in range(count):
        u[1:-1] += rate * (u[2:] - u[:-2])
        u = helper(u)
    for i in range(len(u)):
        total += u[i] * u[i]
        if total > 1e6:
            break
    while total > 1.0:
        total *= 0.5

    def shifted(x):
        return x + rate

    u = (
        np.sin(u)
        * rate
    )  # fmt: skip
    for _ in checkpointed(range(steps_of(u))):
        u += math.sin(rate)
    os.getpid()
    return shifted(np.sum(change(u)))


MARKS = """
     def simulate(u, rate, change, count):
         total = 0.0
[        for _ in range(count):
|            u[1:-1] += rate * (u[2:] - u[:-2])
|>           u = helper(u)
[        for i in range(len(u)):
|            total += u[i] * u[i]
|            if total > 1e6:
|                break
[        while total > 1.0:
|            total *= 0.5

         def shifted(x):
=            return x + rate

=        u = (
=            np.sin(u)
=            * rate
=        )  # fmt: skip
~0       for _ in checkpointed(range(steps_of(u))):
=            u += math.sin(rate)
-!       os.getpid()
->?      return shifted(np.sum(change(u)))

[ |  a loop that runs as one entry, where its values allow it
=    one entry, if an operand is active
-    operations not fused: an entry for each, if an operand is active
~    a loop whose steps run again on the way back
>    calls a function derived from its own source: helper, shifted
0    calls a function without a derivative, its result is constant: steps_of
!    calls a function that is refused on active values: os.getpid
?    calls a function that is known only at run time: change
"""


def without_numbers(lines: list[str]) -> list[str]:
    return [re.sub(r"^(.{5}) *\d+(?:  |$)", r"\1", line).rstrip() for line in lines]


def marks(f: Any) -> dict[str, str]:
    """Return the marks of the lines of a function that have any, by the text of the line."""
    lines = marked_text(f).split("\n\n", 1)[1].rpartition("\n\n")[0].splitlines()
    found = [re.fullmatch(r"(\S*) *\d+ *(.*)", line) for line in lines]
    return {match[2]: match[1] for match in found if match is not None and match[1]}


def test_each_kind_of_line_has_its_mark() -> None:
    head, _, *lines = marked_text(simulate).splitlines()
    assert head.startswith(f"{__name__}.simulate: derived from its source, defined at ")
    assert without_numbers(lines) == MARKS.strip("\n").splitlines()
    first = simulate.__code__.co_firstlineno
    assert lines[0].split()[0] == str(first)
    assert lines[1].split()[0] == str(first + 5)  # after the docstring


def test_methods_of_the_instance_are_known() -> None:
    class Model:
        def __init__(self, k):
            self.k = k * k

        def flow(self, x):
            return x * self.k

        def __call__(self, x):
            y = self.flow(x)
            return y.copy()

        @classmethod
        def made(cls, k):
            return cls.of(k)

        @staticmethod
        def of(k):
            return k

    assert marks(Model) == {"self.k = k * k": "="}
    assert marks(Model(2.0)) == {"y = self.flow(x)": "->", "return y.copy()": "-"}
    assert marks(Model(2.0).__call__)["y = self.flow(x)"] == "->"
    assert marks(Model(2.0).flow) == {"return x * self.k": "="}
    assert marks(Model.made) == {"return cls.of(k)": "-"}


def test_several_entries_on_a_line_are_not_one() -> None:
    def pair(x, y):
        a, b = x * 2.0 + 1.0, y * 3.0 - x
        return a + np.sin(helper(b)) + 1.0

    assert marks(pair) == {
        "a, b = x * 2.0 + 1.0, y * 3.0 - x": "-",
        "return a + np.sin(helper(b)) + 1.0": "->",
    }


def test_lambdas_and_functions_of_numpy() -> None:
    assert list(marks(lambda x: x * x + 1).values()) == ["="]
    assert "derived from its source" in marked_text(np.average)
    assert marked_text(np.exp).count("\n") == 0
    assert "a rule by partial derivatives, declared at" in marked_text(np.exp)


def test_a_nested_function_that_is_refused_does_not_hide_the_others() -> None:
    def f(x):
        async def later():
            return await x

        return x * 2.0

    assert marks(f) == {"return x * 2.0": "="}


def test_what_decorates_a_function_is_not_called_by_it() -> None:
    def decorated_by(text):
        return lambda f: f

    @decorated_by("text")
    def f(x, y):
        return x * y

    assert marks(f) == {"return x * y": "="}


def test_names_that_are_bound_here_are_not_looked_up_elsewhere() -> None:
    def f(helper, x):
        return helper(x)

    assert marks(f) == {"return helper(x)": "-?"}


def test_a_captured_name_that_is_not_bound_yet() -> None:
    def f(x):
        return later(x)

    assert marks(f) == {"return later(x)": "-?"}
    later = helper
    assert marks(f) == {"return later(x)": "->"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [f for f, _ in CASES], ids=lambda f: f.__name__)
def test_any_function_can_be_shown(f: Any) -> None:
    text = marked_text(f)
    assert text == marked_text(f)
    assert str(f.__code__.co_firstlineno) in text


def test_show_prints(capsys: pytest.CaptureFixture[str]) -> None:
    show(simulate)
    assert capsys.readouterr().out == marked_text(simulate) + "\n"


def test_without_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x): return x", scope)
    with pytest.raises(SourceUnavailableError):
        show(scope["f"])
