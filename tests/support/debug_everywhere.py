"""A plugin of pytest that runs each test in debug mode: ``-p tests.support.debug_everywhere``.

Infinite derivatives are allowed, since some tests are about them.  Tests marked `plain` are about
ways that debug mode does not go, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooncake_py import debug_mode


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if item.get_closest_marker("plain") is None]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with debug_mode(check_finite=False):
        yield
