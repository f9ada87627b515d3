"""Loops that are one entry, in the rewritten code, on the tape and in the profile."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import profile_gradient, rewritten, show, tape_of, value_and_grad

X = np.linspace(0.5, 1.0, 8)


def smoothed(x, a):
    s = 0.0
    for i in range(1, len(x)):
        x[i] += a * x[i - 1]
        for j in range(i):
            s += x[j]
    while s > 1.0:
        s *= a
    return s


def test_rewritten_code_shows_the_loops_as_they_stand():
    lines = [line for line in rewritten(smoothed).splitlines() if "#" not in line]
    assert lines == [
        "def smoothed(x, a, *, C):",
        "    s = 0.0",
        "    for i in C.fused_loop(range(1, C.len(x))):",
        "        C.fused_store(x[i], x[i] + a * x[i - 1])",
        "        for j in C.fused_loop(range(i)):",
        "            s = C.fused(s + x[j])",
        "    while C.fused_loop(C.truth(C.gt(s, 1.0))):",
        "        s = C.imul(s, a)",
        "    return s",
    ]


@pytest.mark.plain
def test_forms_are_shown_once_they_are_made(capsys):
    value_and_grad(smoothed)(X.copy(), 0.5)
    show(smoothed, rewritten=True)
    text = capsys.readouterr().out
    assert (
        "# for i in range(1, len(x)), as a whole\ndef forward(S, u1_a, u1_s_before, u1_x):" in text
    )
    assert "# while s > 1.0, as a whole\n" in text


@pytest.mark.plain
def test_a_loop_is_one_entry_of_the_tape():
    tape = tape_of(smoothed, X.copy(), 0.5)
    first = smoothed.__code__.co_firstlineno
    found = [(e.operation, e.where and e.where.line - first, e.source) for e in tape.entries]
    assert found == [
        ("undo: overwritten elements", 2, "range(1, len(x))"),
        ("loop", 2, "range(1, len(x))"),
        ("loop", 6, "s > 1.0"),
    ]
    assert tape.entries[0].nbytes == X.nbytes
    assert tape.entries[2].nbytes > 0


@pytest.mark.plain
def test_the_profile_counts_a_loop_with_its_line():
    profile = profile_gradient(smoothed, X.copy(), 0.5)
    first = smoothed.__code__.co_firstlineno
    entries = {line.line - first: line.entries for line in profile.lines if line.entries}
    assert entries == {2: 2, 6: 1}
    assert profile.value == smoothed(X.copy(), 0.5)


@pytest.mark.plain
def test_loops_are_called_by_their_first_lines():
    def dot(x):
        s = 0.0
        for a, b in zip(x, x):  # noqa: B905
            s += a * b
        for k, v in enumerate(x):
            s += v * k
        return s

    value_and_grad(dot)(X.copy())
    assert "# for a, b in zip(x, x), as a whole\n" in rewritten(dot)
    assert "# for k, v in enumerate(x), as a whole\n" in rewritten(dot)
