"""The benchmark against JAX and autograd: what is measured, refused, wrong, and written."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import peers, peers_documents
from benchmarks.autograd_peer import Peer
from benchmarks.jax_peer import as_given, lines_of
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.peers import PeerTimes, measure_peers, peer_times
from benchmarks.peers_report import (
    conditions,
    digits,
    full_table,
    means,
    row,
    summaries,
    summary_table,
)

BY_NAME = {kernel.name: kernel for kernel in KERNELS}

MEASURED = [
    PeerTimes(
        "lu", 50, 1e-3, {"compiled": 0.5, "plain": 4.0, "jax": 2.0}, {"autograd": "TypeError"},
        {"compiled": 1.0, "jax": 0.5}, (3, 6),
    ),
    PeerTimes(
        "lu", 200, 4e-3, {"compiled": 2.0, "plain": 4.0, "jax": 8.0}, {"autograd": "TypeError"},
        {"compiled": 0.01, "jax": 0.6}, (3, 6),
    ),
    PeerTimes(
        "pendulum", 9, 1e-3, {"compiled": 0.25, "plain": 4.0, "jax": 0.5, "functional": 100.0},
        {"autograd": "WRONG"}, {"compiled": 2.0, "jax": 0.7}, (0, 4),
    ),
]  # fmt: skip


def slope(x: Any) -> Any:
    return np.cos(x)


def calls_its_module(x: Any) -> Any:
    """Have a helper, an annotation and a docstring."""
    return np.sum(slope(x)) + math.pi


def of_vectors(function: Any) -> Kernel:
    return Kernel("k", "vector", function, lambda size: (np.linspace(0.1, 1.0, size),), (3,))


def test_jax_has_one_thread() -> None:
    assert os.environ["NPROC"] == "1"
    assert "--xla_cpu_multi_thread_eigen=false" in os.environ["XLA_FLAGS"]


@pytest.mark.slow
def test_what_autograd_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("autograd")
    monkeypatch.setattr(peers, "compiled_runs", lambda *_: {})
    times = peer_times(BY_NAME["recurrence"], 5, 0.0)
    assert times.refused == {"autograd": "TypeError"}
    assert set(times.ratios) == {"plain", "functional"}


def test_a_wrong_gradient_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = of_vectors(lambda x: np.sum(x * x))
    wrong = Peer(lambda x: (np.sum(x * x), (x,)), modified=False)
    monkeypatch.setattr(peers, "compiled_runs", lambda *_: {})
    monkeypatch.setattr(peers, "candidate_peers", lambda _: [wrong])
    assert peer_times(kernel, 3, 0.0).refused == {"autograd": "WRONG"}


def test_a_wrong_compiled_gradient_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = of_vectors(lambda x: np.sum(x * x))
    monkeypatch.setattr(
        peers, "compiled_runs", lambda *_: {"compiled": lambda x: (np.sum(x * x), (x,))}
    )
    with pytest.raises(ArithmeticError, match="k at size 3: compiled and plain"):
        peer_times(kernel, 3, 0.0)


@pytest.mark.slow
def test_first_calls_count_where_anything_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = of_vectors(lambda x: np.sum(x * x))
    runs = {"compiled": lambda x: (np.sum(x * x), (2.0 * x,))}
    monkeypatch.setattr(peers, "compiled_runs", lambda *_: runs)
    (times,) = measure_peers([kernel], "k", quick=True, budget=0.0)
    assert {"compiled", "plain"} <= set(times.ratios)
    assert times.first == {}
    assert list(measure_peers([kernel], "other", quick=True, budget=0.0)) == []


def test_lists_of_floats_come_back() -> None:
    kernel = Kernel("k", "items", sum, lambda size: ([1.0] * size, np.ones(size)), (2,), (0, 1))
    result = 2.0, (np.ones(2), np.ones(2))
    _, (first, second) = as_given(result, kernel, kernel.make_arguments(2))
    assert first == [1.0, 1.0]
    assert isinstance(second, np.ndarray)


def test_lines_are_those_of_the_code() -> None:
    assert lines_of(calls_its_module) == [
        "def calls_its_module(x):", "return np.sum(slope(x)) + np.pi",
        "def slope(x):", "return np.cos(x)",
    ]  # fmt: skip


def test_rows() -> None:
    first = row(MEASURED[0]).split()
    assert first[:10] == ["lu", "50", "1.00", "ms", "0.50", "4.0", "2.0", "no", "TypeError", "-"]
    assert first[10:] == ["1.00", "s", "0.50", "s", "3", "of", "6"]
    assert row(MEASURED[2]).split()[4:9] == ["0.25", "4.0", "0.50", "WRONG", "100"]
    assert [digits(r) for r in (0.0123, 0.123, 1.23, 12.3, None)] == [
        "0.012", "0.12", "1.2", "12", "-",
    ]  # fmt: skip


def test_summaries() -> None:
    ours, plain, jax, autograd = summaries(MEASURED)
    assert ours.over_all == pytest.approx(0.25 ** (1 / 3))
    assert ours.over_common == 0.25  # autograd's functional variant counts
    assert (ours.kernels, autograd.kernels) == (2, 1)
    assert (ours.first, plain.first) == (1.5, None)
    assert ours.rewritten == "nothing"
    assert jax.rewritten == "30 % of the lines"
    assert autograd.rewritten == "1 of them"
    assert len(means(MEASURED)) == 5


def test_tables() -> None:
    table = summary_table(MEASURED).splitlines()
    assert "kernels, of 2" in table[0]
    assert table[2].startswith("| mooncake_py, `compile=True` | 2 | nothing | 0.63 | 0.25 | 1.50 s")
    lu, pendulum = full_table(MEASURED).splitlines()[2:]
    assert lu.startswith("| `lu`, 50 / 200 | 1.00 ms / 4.00 ms | 0.50 / 2.0 | 4.0 | 2.0 / 8.0 |")
    assert "| no TypeError | 1.00 s | 0.50 s | 3 of 6 |" in lu
    assert "| WRONG; functional 100 |" in pendulum


def test_conditions_have_versions() -> None:
    assert f"numpy {np.__version__}" in conditions()


def test_documents_are_written_and_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("a\n<!-- peers: conditions -->\nold\n<!-- end of conditions -->\nb\n")
    monkeypatch.setattr(peers_documents, "NUMBERS", tmp_path / "numbers.json")
    monkeypatch.setattr(peers_documents, "DOCUMENTS", (document,))
    monkeypatch.setattr(peers_documents, "draw", lambda *_: None)
    peers_documents.write("here", MEASURED)
    assert peers_documents.read() == ("here", MEASURED)
    expected = "a\n<!-- peers: conditions -->\nhere\n<!-- end of conditions -->\nb\n"
    assert document.read_text() == expected
    peers_documents.write("here", MEASURED)
    assert document.read_text() == expected


@pytest.mark.parametrize("document", peers_documents.DOCUMENTS, ids=lambda path: path.name)
def test_documents_have_what_was_measured(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert "<!-- peers: summary -->" in text
    assert peers_documents.filled(text, *peers_documents.read()) == text


@pytest.mark.slow
def test_picture_has_each_kernel(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.peers_picture import draw, largest

    assert [t.size for t in largest(MEASURED)] == [9, 200]
    draw(MEASURED, tmp_path / "peers.svg")
    text = (tmp_path / "peers.svg").read_text()
    assert all(f">{name}<" in text for name in ("lu", "pendulum", "mooncake_py", "autograd"))


@pytest.mark.slow
def test_command_prints_a_table() -> None:
    command = [sys.executable, "-m", "benchmarks.peers", "--quick", "--filter", "pendulum"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "pendulum" in printed
    assert "JAX, jitted" in printed
