"""The pages that messages name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, MooncakeWarning, grad
from mooncake_py.diagnostics.pages import PAGES, with_page_about
from mooncake_py.runtime import compilation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", PAGES.values())
def test_pages_exist(text: str) -> None:
    (page,) = re.findall(r"docs/\w+\.md", text)
    assert (ROOT / page).exists()


def test_the_package_of_a_function_or_a_value_counts() -> None:
    class Column:
        pass

    Column.__module__ = "pandas.core"
    assert with_page_about("fix it", 1.0, Column()).startswith("fix it;\ndocs/packages.md says")
    assert with_page_about("fix it", Column).startswith("fix it;\ndocs/packages.md says")
    assert with_page_about("fix it", np.sin, 1.0, None) == "fix it"


def message_of(f: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(MooncakeError) as caught:
        grad(f)(*args)
    return str(caught.value)


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series([1.0, 2.0])
    assert "docs/packages.md" in message_of(lambda s: s.sum(), series)
    assert "docs/packages.md" in message_of(lambda x: (x * series).sum(), 2.0)
    assert "docs/packages.md" in message_of(lambda x: pd.Series([x]).sum(), 2.0)


def test_numba() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def noise(x):
        return x * np.random.normal()  # noqa: NPY002

    @numba.njit
    def collected(x):
        numbers = numba.typed.List()
        numbers.append(x)
        return numbers[0]

    @numba.njit("int64(int64)")
    def doubled(x):
        return 2 * x

    for f in (noise, collected, doubled):
        assert "docs/numba.md" in message_of(f, 2.0)


def test_compilation_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_why", None)
    with pytest.warns(MooncakeWarning, match=r"docs/compiled\.md"):
        compilation.tell("llvmlite is not installed")
