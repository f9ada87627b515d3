"""Sources become the same functions at both levels; wrong ones are refused."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.machine import built as machine_built
from mooncake_py.compiler.native.machine import library
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.machine.built import built, require_compiler
from mooncake_py.compiler.native.machine.levels import BEST, QUICK, Level, object_code
from mooncake_py.compiler.native.machine.trial import text_of_trial
from mooncake_py.compiler.native.regions.refused import CannotCompile, NoCompiler
from tests.compiler.native.machine.texts import HEAD, SCALED, scaled

WRONG = {
    "no text": "define",
    "no end": "define i32 @f() {\n  %a = add i32 1, 2\n}",
    "another kind": "define double @f(double %x) {\n  ret i32 0\n}",
    "no name": "define double @f() {\n  ret double %x\n}",
    "bound twice": "define i32 @f() {\n  %a = add i32 1, 2\n  %a = add i32 1, 2\n  ret i32 %a\n}",
    "before it is bound": """define i32 @f(i1 %c) {
      br i1 %c, label %a, label %b
    a:
      %x = add i32 1, 2
      br label %b
    b:
      ret i32 %x
    }""",
    "a phi without a side": """define i32 @f(i1 %c) {
      br i1 %c, label %a, label %b
    a:
      br label %b
    b:
      %x = phi i32 [ 1, %a ]
      ret i32 %x
    }""",
    "no block": "define i32 @f() {\n  br label %a\n}",
    "two of a name": "define i32 @f() {\n  ret i32 0\n}\ndefine i32 @f() {\n  ret i32 1\n}",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_wrong_texts_are_refused(text: str) -> None:
    with pytest.raises(CannotCompile, match="LLVM refuses the text: "):
        object_code(text, QUICK)


def test_texts_without_a_line_are_refused_or_mean_the_same() -> None:
    lines = SCALED.splitlines()
    x = np.arange(5.0)
    refused = 0
    for k, line in enumerate(lines):
        if line.startswith("  ") and "=" in line:
            text = scaled()
            text.text = HEAD + "\n".join([*lines[:k], *lines[k + 1 :]])
            with pytest.raises(CannotCompile):
                built(text, QUICK)["reverse"](x, 2.0)
            refused += 1
    assert refused > 15


@pytest.mark.parametrize("level", [QUICK, BEST])
def test_unknown_functions_are_refused(level: Level) -> None:
    text = scaled()
    text.text = text.text.replace("@tan(", "@mc_unknown(")
    with pytest.raises(CannotCompile, match="there is no function mc_unknown"):
        built(text, level)


def test_functions_that_are_not_there_are_refused() -> None:
    text = scaled()
    text.text = text.text.replace("define i32 @mc_reverse", "define i32 @mc_other")
    with pytest.raises(CannotCompile, match="has not the functions"):
        built(text)


def test_declared_names_are_found() -> None:
    _, names = object_code(HEAD + SCALED, QUICK)
    assert set(names) == {"mc_malloc", "mc_free", "tan"}


def test_texts_that_would_take_minutes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    built(scaled())
    monkeypatch.setattr(machine_built, "MOST", 10)
    with pytest.raises(CannotCompile, match="lines of LLVM, more than 10"):
        built(SimpleNamespace(**{**vars(scaled()), "text": scaled().text + "\n"}))  # not kept yet


def test_levels_give_the_same() -> None:
    x = np.linspace(0.0, 1.0, 37)
    found = [built(scaled(), level)["reverse"](x, 0.7)[0] for level in (QUICK, BEST)]
    np.testing.assert_array_equal(*found)


def test_without_llvmlite_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> Any:
        raise ImportError("none")

    WORKER.wait()
    monkeypatch.setattr(library, "import_module", fail)
    library.llvm.cache_clear()
    with pytest.raises(CannotCompile, match="llvmlite cannot be imported"):
        built(scaled())


def test_old_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    WORKER.wait()
    monkeypatch.setattr(library, "version", lambda: "0.43.0")
    library.llvm.cache_clear()
    with pytest.raises(CannotCompile, match=r"llvmlite 0\.43\.0 is older than 0\.45"):
        built(scaled())
    library.llvm.cache_clear()


def test_what_computes_something_else_is_no_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path))
    right = text_of_trial()
    trial = SimpleNamespace(
        text=right.text.replace("fmul double", "fadd double"), functions=right.functions,
        foreign=right.foreign, is_lasting=True,
    )  # fmt: skip
    monkeypatch.setattr(machine_built, "text_of_trial", lambda: trial)
    require_compiler.cache_clear()
    with pytest.raises(NoCompiler, match="computes something else"):
        built(scaled())
    monkeypatch.undo()
    built(scaled())


def test_eight_threads_compile_at_once() -> None:
    found: list[Any] = []

    def run(k: int) -> None:
        x = np.arange(20.0)
        for n in range(3):
            text = scaled()
            text.text += f"; {k} {n}\n"  # another text, which is not kept
            y, _ = built(text)["reverse"](x, float(k))
            found.append(np.array_equal(y, k * x))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 24
