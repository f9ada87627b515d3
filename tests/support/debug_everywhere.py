"""A plugin of pytest that runs each test in debug mode: ``-p tests.support.debug_everywhere``.

Infinite derivatives are allowed, since some tests are about them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooncake_py import debug_mode


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with debug_mode(check_finite=False):
        yield
