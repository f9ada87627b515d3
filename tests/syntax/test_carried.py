"""Copies of functions whose code does not name its file find their text by what it compiles to."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from mooncake_py import MissingRuleError, MooncakeError, from_vjp, grad, jvp
from mooncake_py.pickling import luggage
from mooncake_py.rules.elsewhere import copied_mark
from mooncake_py.syntax import carried
from mooncake_py.syntax.carried import carry

pytestmark = pytest.mark.without_modes("copies of code have no source in the other modes")

TEXT = """
def f(x):
    def inner(y):
        return y * x
    return inner(x) + 1.0

def refused(x):
    return eval("x") * x
"""
OTHER = TEXT.replace("y * x", "y + x")


@pytest.fixture(autouse=True)
def _no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried, "_carried", {})


def nameless(code: CodeType) -> CodeType:
    """Return a code object as cloudpickle copies it from release 3.1.3 on."""
    constants = [nameless(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_filename="<dynamic-code>", co_consts=tuple(constants))


def copies(text: str, file: str = "gone.py", **names: Any) -> dict[str, Any]:
    """Return the functions of a text, as their copies arrive in another process."""
    exec(nameless(compile(text, file, "exec")), names)
    return names


@pytest.mark.parametrize("names", [("a.py", "b.py"), ("a.py", "a.py")])
def test_the_text_that_compiles_to_the_copy_is_its_text(names: tuple[str, str]) -> None:
    for file, text in zip(names, (TEXT, OTHER), strict=True):
        carry(file, text.splitlines(True))
    assert grad(copies(TEXT)["f"])(3.0) == 6.0
    assert jvp(copies(OTHER)["f"], (3.0,), (1.0,))[1] == 2.0


def test_without_a_text_it_is_refused() -> None:
    carry("a.py", OTHER.splitlines(True))
    with pytest.raises(MooncakeError, match="no Python source for f"):
        grad(copies(TEXT)["f"])(3.0)


def test_workers_with_the_script_read_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TEXT)
    assert grad(copies(TEXT, __file__=str(script))["f"])(3.0) == 6.0


def test_a_copy_is_sent_on_with_its_text() -> None:
    carry("a.py", TEXT.splitlines(True))
    texts = luggage(copies(TEXT, __name__="__main__")["f"]).texts
    assert texts == {"a.py": TEXT.splitlines(True)}


def test_messages_name_the_file_that_was_written() -> None:
    carry("a.py", TEXT.splitlines(True))
    with pytest.raises(MooncakeError, match=r"(?s)where: a\.py:8.*return eval"):
        grad(copies(TEXT)["refused"])(3.0)


def ruled(x: float) -> float:
    return x


@from_vjp(ruled)
def _(x: float) -> Any:
    return ruled(x), lambda dy: (5.0 * dy,)


def test_rules_of_the_original_are_missed() -> None:
    copy = FunctionType(nameless(ruled.__code__), globals())
    copy.__dict__.update(ruled.__dict__)
    assert copied_mark(copy) is not None
    with pytest.raises(MissingRuleError, match="is not in this process"):
        grad(copy)(2.0)


def test_cloudpickle_here_and_back() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    a = 2.0
    derivative = pickle.loads(cloudpickle.dumps(grad(lambda x: a * x * x)))
    assert derivative(3.0) == 12.0
