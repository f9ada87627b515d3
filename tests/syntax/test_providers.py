"""Text of code without a file is believed only if it compiles to the code that runs."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from mooncake_py import SourceUnavailableError, grad
from mooncake_py.syntax import source

TEXT = "def f(x):\n    return x * x\n"


def made_by_exec(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        (TEXT, True),
        ("\n" + TEXT, False),
        (TEXT.replace("* x", "+ x"), False),
        ("x = 1", False),
        ("def (", False),
    ],
)
def test_only_the_text_that_runs_is_accepted(
    monkeypatch: pytest.MonkeyPatch, text: str, accepted: bool
) -> None:
    monkeypatch.setattr(source, "provided_texts", lambda code: iter([text]))
    f = made_by_exec(TEXT)
    if accepted:
        assert grad(f)(3.0) == 6.0
    else:
        with pytest.raises(SourceUnavailableError, match="no Python source for f"):
            grad(f)(3.0)


SCRIPT = """
import numpy as np
from mooncake_py import grad
def f(x):
    return x * scale(x)
scale = lambda x: 3.0 * x
print(grad(f)(2.0))
"""


def run(*arguments: str, **how: Any) -> Any:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [("-c", SCRIPT), ("-Wd", f"-c{SCRIPT}", "rest")])
def test_commands_have_source(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.stdout == "12.0\n", done.stderr


@pytest.mark.slow
def test_scripts_from_standard_input_have_source_if_they_can_be_read_again(tmp_path: Any) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    with open(tmp_path / "script.py") as script:
        done = run(stdin=script)
    assert done.stdout == "12.0\n", done.stderr
    piped = run(input=SCRIPT)
    assert "no Python source for f" in piped.stderr
    assert "a script that comes through a pipe" in piped.stderr


@pytest.mark.slow
def test_text_that_a_function_carries_is_found_when_it_is_that_of_the_code() -> None:
    f = made_by_exec(TEXT)
    f._code = TEXT.replace("* x", "+ x")
    with pytest.raises(SourceUnavailableError, match="no Python source for f"):
        grad(f)(3.0)
    f._code = TEXT
    assert grad(f)(3.0) == 6.0


@pytest.mark.parametrize(
    ("cell", "file", "measured"),
    [
        ("%%time\ndef f(x):\n    return x * x\n", "<timed exec>", TEXT),
        ("y = 1\n  %time f = lambda x: x * x", "<timed exec>", "f = lambda x: x * x"),
    ],
)
def test_what_a_notebook_measures_has_source(
    monkeypatch: pytest.MonkeyPatch, cell: str, file: str, measured: str
) -> None:
    history = SimpleNamespace(input_hist_raw=["", cell, "%%time\nf = 1", "2"])
    shell = SimpleNamespace(history_manager=history, transform_cell=lambda text: text)
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    names: dict[str, Any] = {}
    exec(compile(measured, file, "exec", dont_inherit=True), names)
    assert grad(names["f"])(3.0) == 6.0


def test_what_is_measured_elsewhere_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    names: dict[str, Any] = {}
    exec(compile(TEXT, "<timed exec>", "exec", dont_inherit=True), names)
    with pytest.raises(SourceUnavailableError, match="no Python source for f"):
        grad(names["f"])(3.0)


@pytest.mark.slow
def test_what_timeit_measures_has_none_and_the_message_says_so() -> None:
    names: dict[str, Any] = {}
    exec(compile(TEXT, "<magic-timeit>", "exec", dont_inherit=True), names)
    with pytest.raises(SourceUnavailableError, match="in a cell of its own, without %timeit"):
        grad(names["f"])(3.0)


def test_decorators_of_networkx_are_derived_from_the_first_call_on() -> None:
    nx = pytest.importorskip("networkx")

    def shortest(weights: Any) -> Any:
        graph = nx.Graph()
        for nodes, weight in zip([(0, 1), (1, 2), (0, 2)], weights, strict=True):
            graph.add_edge(*nodes, weight=weight)
        return nx.shortest_path_length(graph, 0, 2, weight="weight")

    assert grad(shortest)([1.0, 2.0, 4.0]) == [1.0, 1.0, 0.0]
