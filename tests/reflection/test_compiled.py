"""What is shown of compiled functions."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import numpy as np
import pytest

from mooncake_py import compile_mode, profile_gradient, show, tape_of
from mooncake_py.compiler.native import shares, site
from mooncake_py.compiler.native.outcome import Outcome
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.reflection import gain
from mooncake_py.reflection import profile as profiles
from mooncake_py.reflection.gain import described, with_advice
from mooncake_py.reflection.profile import LineProfile
from mooncake_py.runtime import compilation

pytestmark = pytest.mark.plain

X = np.array([1.0, 2.0])
OUTCOMES = [
    Outcome("energy (f.py:1)", "compiled"),
    Outcome("energy (f.py:1)", "left to its derived form"),
    Outcome("energy, loop at line 3 (f.py:3)", "not compiled", "the function sort", 4),
    Outcome("helper (f.py:9)", "not compiled", "an argument: a value of type str"),
    Outcome("other (f.py:12)", "not compiled", "the function sort", 12),
]
LINES = [
    "not compiled: the function sort",
    "    energy, loop at line 3 (f.py:3), line 4",
    "    other (f.py:12), line 12",
    "not compiled: an argument: a value of type str",
    "    helper (f.py:9)",
    "left to its derived form",
    "    energy (f.py:1)",
    "compiled",
    "    energy (f.py:1)",
    "",
]


def energy(x):
    return np.sum(x * x)


@pytest.fixture(autouse=True)
def _compiled_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests begin without the setting, whatever the environment says."""
    monkeypatch.setattr(compilation, "can_compile", lambda: True)
    monkeypatch.setattr(compilation, "by_default", lambda: False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the functions that were to be compiled."""
    names: list[str] = []
    monkeypatch.setattr(gain, "gain_lines", lambda *_: ["What it gains.", ""])

    def call(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        names.append(f.__name__)
        return Elsewhere

    monkeypatch.setattr(site, "call", call)
    monkeypatch.setattr(site, "report", lambda f: OUTCOMES if f is energy else [])
    return names


def test_show_says_it_above_the_tape(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    show(energy, X)
    plain = capsys.readouterr().out
    assert asked == []
    show(energy, X, compile=True)
    found = capsys.readouterr().out.splitlines()
    assert found == ["What it gains.", "", *LINES, *plain.splitlines()]
    assert asked == ["energy"]
    with compile_mode():
        show(energy, X, compile=False)
    assert capsys.readouterr().out == plain


def test_show_says_it_above_the_code(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    show(energy)
    plain = capsys.readouterr().out
    show(energy, compile=True)
    assert capsys.readouterr().out.splitlines() == [*LINES, *plain.splitlines()]


def test_a_profile_says_it(asked: list[str]) -> None:
    assert profile_gradient(energy, X).compiled == []
    assert asked == []
    profile = profile_gradient(energy, X, compile=True)
    assert profile.compiled == OUTCOMES
    assert str(profile).splitlines()[: len(LINES)] == LINES
    assert asked == ["energy", "energy"]


# What really runs.


def smooth(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def labelled(u):
    steps = {2}
    (count,) = steps  # a set has no known order: `labelled` is not compiled
    return smooth(u, count)


def place(f: Any) -> str:
    return f"{f.__qualname__} ({__file__}:{f.__code__.co_firstlineno})"


def line_of(f: Any) -> int:
    return f.__code__.co_firstlineno


@pytest.fixture
def _compiler() -> None:
    pytest.importorskip("llvmlite")


@pytest.mark.thorough
@pytest.mark.usefixtures("_compiler")
def test_a_function_that_is_compiled_whole_is_one_operation() -> None:
    with compile_mode():
        tape = tape_of(smooth, X.copy(), 2)
    assert [(e.operation, e.where and e.where.line, e.source) for e in tape.entries][-1:] == [
        ("compiled function", line_of(smooth), "def smooth(u, steps):")
    ]
    assert tape.compiled == [Outcome(place(smooth), "compiled")]
    assert str(tape).splitlines()[:2] == ["compiled", f"    {place(smooth)}"]


@pytest.mark.usefixtures("_compiler")
def test_what_stopped_it_is_told_of_each_function() -> None:
    with compile_mode():
        tape = tape_of(labelled, X.copy())
    stopped, compiled = tape.compiled
    line = line_of(labelled) + 2
    assert str(stopped).startswith(f"{place(labelled)}: not compiled: line {line}: ")
    assert compiled == Outcome(place(smooth), "compiled")
    assert "compiled function" in [e.operation for e in tape.entries]


@pytest.mark.usefixtures("_compiler")
def test_a_profile_gives_the_time_to_the_definition() -> None:
    profile = profile_gradient(smooth, X.copy(), 2, compile=True)
    (line,) = profile.lines
    assert (line.file, line.line) == (__file__, line_of(smooth))
    assert line.forward > 0
    assert line.reverse > 0
    assert profile.entries >= 1
    assert profile.compiled == [Outcome(place(smooth), "compiled")]
    profile = profile_gradient(labelled, X.copy(), compile=True)
    assert len(profile.lines) > 1
    assert len(profile.compiled) == 2


def test_what_has_no_line_of_its_own_is_shown() -> None:
    (entry,) = tape_of(np.sin, X).entries
    assert entry.operation == "elementwise"


# What it gains.


@pytest.mark.usefixtures("_compiler")
def test_show_begins_with_what_it_gains(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "clock", map(float, count()).__next__)  # each line takes as long
    printed: list[int] = []

    def program(u):
        printed.append(1)  # is not compiled
        return smooth(u, 20)

    show(program, np.linspace(0.0, 1.0, 50), compile=True)
    first, *rest = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"Compiled code runs (\d+)% of the call, by its time without: the derivative takes "
        r"[\d.e+-]+ times as long as that\.",
        first,
    )
    assert int(first.split("%")[0].split()[-1]) > 50
    assert rest[0] in ("Lines that are not compiled and cost most:", "")


def test_three_lines_are_named_with_their_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    span = shares.Span("a/f.py", 1, 20)
    loop = shares.Span("a/f.py", 8, 9)
    reasons = [
        shares.Reason(loop, "the function sort", 9),
        shares.Reason(span, "a set: write a list", 3),
    ]
    monkeypatch.setattr(shares, "reasons", lambda _: reasons)
    monkeypatch.setattr(shares, "compiled_spans", lambda _: [shares.Span("a/f.py", 12, 14)])
    times = {3: 0.1, 9: 0.2, 10: 0.05, 13: 0.6, 16: 0.049, 17: 0.001}
    profile = [LineProfile("a/f.py", k, f"line {k}", t) for k, t in times.items()]
    first, head, *lines, empty = described(profile, [], 0.25)
    assert first == (
        "Compiled code runs 60% of the call, by its time without: the derivative takes 0.25 times "
        "as long as that."
    )
    assert head == "Lines that are not compiled and cost most:"
    assert lines == [
        "     20%  f.py:9  line 9",
        f"          {with_advice('the function sort')}",
        "     10%  f.py:3  line 3",
        "          a set: write a list",
        "      5%  f.py:10  line 10",
        "          line 3: a set: write a list",
    ]
    assert empty == ""


def test_nothing_is_named_where_all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "reasons", lambda _: [])
    monkeypatch.setattr(shares, "compiled_spans", lambda _: [shares.Span("f.py", 1, 9)])
    profile = [LineProfile("f.py", 2, "y = x", 0.5)]
    text = "Compiled code runs 100% of the call, by its time without."
    assert described(profile, [], None) == [text, ""]
