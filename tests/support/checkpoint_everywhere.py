"""A plugin of pytest that checkpoints calls: ``-p tests.support.checkpoint_everywhere``.

Every function of a test that is called within differentiated code runs without record, and again
on the reverse pass.  Generators do not: how far they have run cannot be restored.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from mooncake_py.diagnostics.places import is_library
from mooncake_py.language.core import Core

recorded = Core.call_function


def run_again(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function by its derived form, without record."""
    code = f.__code__
    if code.co_flags & inspect.CO_GENERATOR or is_library(code.co_filename):
        return recorded(ctx, f, args, kwargs)
    return ctx.repeatable(lambda: recorded(ctx, f, args, kwargs))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Core, "call_function", run_again)
        yield
