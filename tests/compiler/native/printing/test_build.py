"""Compiled functions are the printed ones, and come from disk the second time."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.printing import disk
from mooncake_py.compiler.native.printing.build import CannotCompile, built, interpreted, key_of
from mooncake_py.compiler.native.printing.emit import Printer
from tests.compiler.native.ir_text import written
from tests.compiler.native.printing.test_emit import BACK, EXPRESSIONS, KINDS, SIZES, SWEEP, rule

pytest.importorskip("numba")

EMPTY = np.empty(0)
HELPED = 2.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache directory of the test's own."""
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def printed(text: str, inputs: str, results: str, **functions: Any) -> Printer:
    printer = Printer(KINDS, {"x": 1, "c": 1})
    printer.forward(written(text, KINDS, functions), inputs.split(), results.split())
    return printer


def small() -> Printer:
    """Return what compiles quickly."""
    return printed("s = a * 2.0", "a", "s")


def test_sweeps() -> None:
    printer = Printer(KINDS, {"x": 2, "y": 2, "d_x": 2, "d_y": 2})
    printer.count(written(SIZES), ["x", "a"])
    printer.forward(written(SWEEP, KINDS), ["x", "a"], ["s", "k", "y"])
    printer.reverse(written(BACK), ["x", "y", "a", "d_x", "d_y"], ["d_a"])
    x = np.random.default_rng(0).random((5, 6))
    found = []
    for made in (interpreted(printer), built(printer)):
        ok, S, p, s, k, y = made["forward"](EMPTY, x, 2.0)
        d_x, d_y = np.ones((5, 6)), np.full((5, 6), 3.0)
        failed = made["forward"](EMPTY, np.ones((7, 6)), 2.0)
        grads = made["reverse"](S, p, x, y, 2.0, d_x, d_y)
        found.append([ok, S.size, p, s, k, y, grads, d_x, failed[0], failed[-1]])
    for plain, compiled in zip(*found, strict=True):
        assert type(plain) is type(compiled) or isinstance(plain, float | np.bool_)
        assert np.allclose(plain, compiled, rtol=1e-15, atol=0)


@pytest.mark.thorough
def test_expressions() -> None:
    names = [f"s{k}" for k in range(len(EXPRESSIONS))]
    text = "\n".join(f"{name} = {e}" for name, e in zip(names, EXPRESSIONS, strict=True))
    text += "\ns = np.maximum(a, b)\nt = np.minimum(a, b)\nu = min(a, b)\nv = max(a, b)"
    printer = printed(text, "a b", " ".join([*names, "s", "t", "u", "v"]), rule=rule)
    plain, compiled = interpreted(printer)["forward"], built(printer)["forward"]
    pairs = [(0.25, 1.5), (-1.25, -0.5), (3.5, 2.0), (0.0, -0.0), (-7.0, 2.5), (-7.5, -2.5)]
    pairs += [(np.nan, 1.0), (1.0, np.nan)]
    for a, b in pairs:
        if a != a or b != b:  # ints of these are errors
            found = [plain_choices(a, b), compiled(EMPTY, a, b)[-4:]]
        else:
            with np.errstate(all="ignore"):
                found = [f(EMPTY, np.float64(a), np.float64(b))[3:] for f in (plain, compiled)]
        assert np.allclose(*found, rtol=4e-16, atol=0, equal_nan=True)


def plain_choices(a: float, b: float) -> tuple[float, ...]:
    return np.maximum(a, b), np.minimum(a, b), min(a, b), max(a, b)


def test_division_by_zero_is_that_of_numpy() -> None:
    made = built(
        printed(
            "s = a / b\nt = a % b\nu = np.log(b)\nv = b ** -1 + np.power(b, -2) + b ** -int(a)",
            "a b",
            "s t u v",
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        *_, s, t, u, v = made["forward"](EMPTY, 1.0, 0.0)
    assert (s, u, v) == (np.inf, -np.inf, np.inf)
    assert np.isnan(t)


def refused(x: float) -> float:
    """Do what Numba does not."""
    return float(str(x).__format__(""))


def helped(x: float) -> float:
    """Read what may change."""
    return HELPED * x


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s = f(a)", "."),
        ("s = g(a)", "helped reads the global variable HELPED"),
        ("s = a[0]", "getitem"),
    ],
)
def test_what_cannot_be_compiled(text: str, why: str) -> None:
    printer = printed(text, "a", "s", f=refused, g=helped)
    with pytest.raises(CannotCompile, match=why) as caught:
        built(printer)
    assert "\n" not in str(caught.value)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(CannotCompile, match="numba"):
        built(small())


def test_machine_code_is_kept(folder: Path) -> None:
    built(small())
    (text,) = folder.glob("*.py")
    assert "s = a * 2.0" in text.read_text()
    before = {path: path.stat().st_mtime_ns for path in disk.files()}
    assert [path.suffix for path in before] == [".py", ".nbc", ".nbi"]
    assert built(small())["forward"](EMPTY, 2.0)[-1] == 4.0
    assert {path: path.stat().st_mtime_ns for path in disk.files()} == before


@pytest.mark.thorough
def test_what_cannot_be_read_is_compiled_again(folder: Path) -> None:
    built(small())
    for path in (folder / "__pycache__").iterdir():
        path.write_bytes(b"not machine code")
    assert built(small())["forward"](EMPTY, 2.0)[-1] == 4.0


def as_file(folder: Path) -> None:
    folder.write_text("")


def as_file_in_the_way(folder: Path) -> None:
    folder.mkdir()
    (folder / "__pycache__").write_text("")


@pytest.mark.parametrize("spoil", [as_file, as_file_in_the_way])
def test_a_directory_that_cannot_be_written(folder: Path, spoil: Callable[[Path], None]) -> None:
    spoil(folder)
    assert built(small())["forward"](EMPTY, 2.0)[-1] == 4.0


@pytest.mark.slow
def test_two_processes_write_at_once(folder: Path) -> None:
    code = "from tests.compiler.native.printing.test_build import *\n"
    code += "print(built(small())['forward'](EMPTY, 2.0)[-1])"
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == ["4.0", "4.0"]
    assert not list(folder.glob("*.tmp"))
    before = {path: path.stat().st_mtime_ns for path in disk.files()}
    assert subprocess.check_output(command, text=True).strip() == "4.0"
    assert {path: path.stat().st_mtime_ns for path in disk.files()} == before


IN_A_PROCESS = """
import sys
import numpy as np
from mooncake_py.compiler.native.printing import build
from tests.compiler.native.printing.test_build import EMPTY, printed, rule

compiled = build.compiled

def with_files(printer, called, path):
    assert path is not None, "what is on disk could not be read"
    return compiled(printer, called, path)

build.compiled = with_files
for text in sys.argv[1:]:
    forward = build.built(printed(text, "x c a", "s", f=rule))["forward"]
    print(forward(EMPTY, np.arange(5.0), np.arange(3), 2.0)[-1])
"""


def in_a_process(*texts: str) -> list[str]:
    """Return what forward sweeps give in a process of their own."""
    command = [sys.executable, "-c", IN_A_PROCESS, *texts]
    return subprocess.check_output(command, text=True).split()


@pytest.mark.slow
def test_machine_code_of_other_processes(folder: Path) -> None:
    """Two processes give functions the same symbols, unless their names differ."""
    one = "for i in all(len(x, 0)):\n    s += x[i] * a\npush(s)\ns += f(a, 1.0)"
    two = one.replace("x[i] * a", "x[i] * 3.0")
    assert in_a_process(one) == ["26.0"]
    assert in_a_process(two) == ["36.0"]
    before = {path: path.stat().st_mtime_ns for path in disk.files()}
    assert in_a_process(one, two) == ["26.0", "36.0"]
    assert {path: path.stat().st_mtime_ns for path in disk.files()} == before


def first(x: float) -> float:
    return x + 1.0


def second(x: float) -> float:
    return x + 2.0


def nested(x: float) -> float:
    return first(x)


def test_names_of_texts_differ_with_what_they_call(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [key_of(printed("s = f(a)", "a", "s", f=f), "1") for f in (first, second, nested)]
    keys.append(key_of(printed("s = f(a)", "a", "s", f=first), "2"))
    same = key_of(printed("s = f(a)", "a", "s", f=first), "1")
    monkeypatch.setitem(nested.__globals__, "first", second)
    keys.append(key_of(printed("s = f(a)", "a", "s", f=nested), "1"))
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert same == keys[0]


def test_what_cannot_be_named_is_not_kept() -> None:
    o = object()

    def f(x: float) -> float:
        return x if o else 0.0

    assert key_of(printed("s = f(a)", "a", "s", f=f), "1") is None
