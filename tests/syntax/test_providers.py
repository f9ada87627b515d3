"""Text of code without a file is believed only if it compiles to the code that runs."""

from __future__ import annotations

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
    [(TEXT, True), ("\n" + TEXT, False), (TEXT.replace("* x", "+ x"), False), ("x = 1", False)],
)
def test_only_the_text_that_runs_is_accepted(
    monkeypatch: pytest.MonkeyPatch, text: str, accepted: bool
) -> None:
    monkeypatch.setattr(source, "provided_text", lambda code: text)
    f = made_by_exec(TEXT)
    if accepted:
        assert grad(f)(3.0) == 6.0
    else:
        with pytest.raises(SourceUnavailableError, match="no Python source for f"):
            grad(f)(3.0)
