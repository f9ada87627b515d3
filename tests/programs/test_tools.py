"""The hunt itself: it must find what is wrong, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.programs import checking, mask_sabotage, sabotage, statement_sabotage
from tests.programs.breaking import Change
from tests.programs.checking import Finding, check
from tests.programs.generator import random_program
from tests.programs.hunt import hunt
from tests.programs.overlapping import with_sources_copied
from tests.programs.program import Program, defined
from tests.programs.second import check_second
from tests.programs.shrinking import shrink
from tests.programs.truth import Untestable, difference

POLYNOMIAL = "def f(x, y):\n    x[1:] *= y\n    return np.sum(x * x)\n"
BASES = {"m0": np.array([0.5, 0.2, -0.4]), "c0": 0.7}


def program(source: str, arguments: tuple[str, ...] = ("m0", "c0")) -> Program:
    return Program(source, BASES, arguments, tuple(range(len(arguments))))


def wrong(change: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Return a `value_and_grad` whose results go through `change(value, gradients, arguments)`."""

    def wrong_value_and_grad(f: Any, argnums: Any) -> Any:
        right = value_and_grad(f, argnums)
        return lambda *args: change(*right(*args), args)

    return wrong_value_and_grad


def scaled(value: Any, gradients: Any, args: Any) -> Any:
    return value, (gradients[0] * 1.001, *gradients[1:])


def shifted(value: Any, gradients: Any, args: Any) -> Any:
    return value + 1e-15, gradients


def changing(value: Any, gradients: Any, args: Any) -> Any:
    args[0][0] = np.nextafter(args[0][0], 1.0)
    return value, gradients


def failing(value: Any, gradients: Any, args: Any) -> Any:
    raise ZeroDivisionError


def not_a_number(value: Any, gradients: Any, args: Any) -> Any:
    return value, (gradients[0], np.nan)


class Drifting:
    """Gives another gradient each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, value: Any, gradients: Any, args: Any) -> Any:
        self.count += 1
        return value, (gradients[0] * (1 + 1e-10 * self.count), *gradients[1:])


@pytest.mark.parametrize(("change", "kind"), [
    (scaled, "wrong gradient"), (shifted, "wrong value"), (changing, "not restored"),
    (failing, "spurious error"), (not_a_number, "wrong gradient"), (Drifting(), "unsteady"),
])  # fmt: skip
def test_check_finds(monkeypatch: pytest.MonkeyPatch, change: Any, kind: str) -> None:
    monkeypatch.setattr(checking, "value_and_grad", wrong(change))
    finding = check(program(POLYNOMIAL))
    assert finding is not None
    assert finding.kind == kind


def test_check_accepts_a_right_derivative() -> None:
    assert check(program(POLYNOMIAL)) is None


def test_check_wants_one_cotangent_for_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f(x, y):\n    y *= 0.5\n    return np.sum(x)\n"
    shared = Program(source, {"m0": BASES["m0"]}, ("m0", "m0[1:]"), (0, 1))
    assert check(shared) is None
    monkeypatch.setattr(
        checking,
        "value_and_grad",
        wrong(lambda value, gradients, args: (value, ((gradients[0][0], gradients[0][1] * 2),))),
    )
    finding = check(shared)
    assert finding is not None
    assert finding.kind == "wrong gradient"


@pytest.mark.parametrize(
    "body",
    [
        "return abs(y - 0.7)",
        "return 1.0 if y > 0.7 else 2.0",
        "return np.sum(np.empty(3)) + y",
        "return 1e9 * y",
        "return y / 0.0",
        "return x",
        "raise ValueError",
    ],
)
def test_check_leaves_alone_what_has_no_derivative(body: str) -> None:
    with pytest.raises(Untestable):
        check(program(f"def f(x, y):\n    {body}\n"))


def test_sources_copied_before_they_are_assigned() -> None:
    source = "def f(x):\n    x[::2] = x[:3]\n    np.copyto(x[1:], x[:-1])\n    return x\n"
    with defined(with_sources_copied(source)) as f:
        np.testing.assert_array_equal(f(np.arange(5.0)), [0.0, 0.0, 1.0, 1.0, 3.0])


def test_difference_is_accurate() -> None:
    slope, error = difference(program(POLYNOMIAL), {"c0": 1.0})
    x, y = BASES["m0"], BASES["c0"]
    assert slope == pytest.approx(2 * y * np.sum(x[1:] ** 2), rel=1e-11)
    assert error < 1e-9


def test_shrink_keeps_what_shows_the_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n".join([
        "def helper(u):", "    u += 1.0", "    return u", "def f(x, y):", "    x[0] = y * y",
        "    for i in range(2):", "        x[i] += 0.3", "        helper(x[1:])",
        "    if y > 0.1:", "        x[:2] = np.cos(x[1:]) + 0.1 * x[0]",
        "    return np.sum(x) * y", ""])  # fmt: skip
    differentiate = value_and_grad

    def marked(f: Any, argnums: Any) -> Any:
        uses_cosine = "cos" in f.__code__.co_names
        right = differentiate(f, argnums)

        def run(*args: Any) -> Any:
            value, gradients = right(*args)
            return value, (gradients[0] * (1.1 if uses_cosine else 1.0), *gradients[1:])

        return run

    monkeypatch.setattr(checking, "value_and_grad", marked)
    finding = check(program(source))
    assert finding is not None
    small = shrink(finding).program.source
    assert "cos" in small
    assert "helper" not in small
    assert "for" not in small
    assert len(small.splitlines()) <= 4


def test_shrink_stops_programs_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "value_and_grad", wrong(scaled))
    source = (
        "def f(x, y):\n    q = 1.0\n    while q > 0.5:\n        q = 0.4 * q\n"
        "    return np.sum(x) * y\n"
    )
    finding = check(program(source))
    assert finding is not None
    assert "while" not in shrink(finding).program.source


# The generator.


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_program() -> None:
    code = (
        "from random import Random\n"
        "from tests.programs.generator import random_program\n"
        "print(*[random_program(Random(s), 12) for s in range(20)])\n"
    )
    root = Path(__file__).parents[2]
    texts = {
        subprocess.run([sys.executable, "-c", code], cwd=root, check=True, text=True,
                       capture_output=True,
                       env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"}).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(texts) == 1
    assert "def f(" in texts.pop()


@pytest.mark.parametrize("feature", [
    "out=", "where=", "[::-1]", ".T", ".reshape", "np.copyto", ".sort()", ".fill(", "np.put(",
    "np.add.at", "np.empty", "while ", "for ", "yield", "nonlocal", "try:", "finally:", "break",
    "F32", "1j", ".imag", "lambda", "class Box", "del ", ".append(", ".pop(", "m0[1:]", "m0.T",
    "[m2, c1, m2]", "return np.sum", "SCRATCH", "> -0.2] *=", "np.matmul", "range(2, -1, -1)",
])  # fmt: skip
def test_the_generator_uses(feature: str, texts: str) -> None:
    assert feature in texts


@pytest.fixture(scope="module")
def texts() -> str:
    return "\n".join(str(random_program(Random(seed), 10)) for seed in range(150))


@pytest.mark.thorough
def test_kinds_of_statements_can_be_left_out() -> None:
    texts = [random_program(Random(s), 10, without=("new_object",)).source for s in range(60)]
    assert "class Box" not in "\n".join(texts)


def test_a_finding_prints_a_program_that_runs() -> None:
    text = str(Finding("wrong gradient", "1", "2", program(POLYNOMIAL)).program)
    namespace: dict[str, Any] = {"np": np, "value_and_grad": lambda f, argnums: f}
    exec(text, namespace)
    assert namespace["c0"] == BASES["c0"]


@pytest.mark.thorough
def test_hunt_counts_and_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt(0, 5, 2).total() == 5
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(checking, "value_and_grad", wrong(shifted))
    assert hunt(0, 2, 1)["wrong value"] > 0
    assert "value_and_grad(f, (" in capsys.readouterr().out


def test_a_kink_that_is_touched_is_no_finding():
    bases = {"m0": np.zeros(2), "c0": 0.7}
    touching = "def f(x, y):\n    return {}(x @ x) * y\n"
    with pytest.raises(Untestable, match="a kink is touched"):
        check_second(Program(touching.format("abs"), bases, ("m0", "c0"), (0, 1)))
    assert check_second(Program(touching.format("np.exp"), bases, ("m0", "c0"), (0, 1))) is None


@pytest.mark.parametrize(
    "breaks",
    [
        mask_sabotage.BREAKS,
        sabotage.BREAKS,
        sabotage.SECOND_BREAKS,
        statement_sabotage.BREAKS,
    ],
    ids=["masks", "programs", "second derivatives", "statements"],
)
def test_breaks_change_what_there_is(breaks: dict[str, Change]) -> None:
    for change in breaks.values():
        with pytest.MonkeyPatch.context() as patch:
            change(patch)
