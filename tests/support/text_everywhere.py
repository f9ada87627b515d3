"""A plugin of pytest by which functions run as text of NumPy: ``-p tests.support.text_everywhere``.

Text is made at the first call, and each of its results is compared with that of the general way,
which must be the same: values to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.modes.text import printing

counts: Counter[str] = Counter()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with printing(counts):
        yield


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell how often text ran."""
    for key, n in sorted(counts.items()):
        terminalreporter.write_line(f"{key}: {n}")
