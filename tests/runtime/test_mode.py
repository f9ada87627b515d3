"""What modes promise they have: type checkers see signatures, these tests see names."""

from __future__ import annotations

from collections.abc import Callable
from inspect import get_annotations
from typing import Any

import pytest

from mooncake_py.contexts import Context
from mooncake_py.modes.debug.context import DebugContext, InnerDebugContext
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.inner import InnerContext
from mooncake_py.modes.reverse.settings import Settings
from mooncake_py.runtime.forward_mode import ForwardMode
from mooncake_py.runtime.mode import Calling, Computing, Language, Mode, Recording, Tracking
from mooncake_py.runtime.operators import BINARY, UNARY
from mooncake_py.runtime.reverse_mode import ReverseMode

MODES: dict[str, Callable[[], Any]] = {
    "reverse": ReverseContext,
    "inner": lambda: InnerContext(ReverseContext()),
    "forward": lambda: ForwardContext(ReverseContext(), plain=True),
    "forward over inner": lambda: ForwardContext(InnerContext(ReverseContext()), plain=False),
    "debug": lambda: DebugContext(Settings(), None, (), {}),
    "inner debug": lambda: InnerDebugContext(Settings(), None, (), {}, ReverseContext()),
}
OPERATORS = {
    *BINARY, *(f"i{name.rstrip('_')}" for name in BINARY), *UNARY,
    "eq", "ne", "lt", "le", "gt", "ge",
}  # fmt: skip


def promised(protocol: type) -> set[str]:
    """Return the names that a protocol and those it is made of promise."""
    parts = [part for part in protocol.__mro__ if part.__module__.startswith("mooncake_py.")]
    names = {name for part in parts for name in (*vars(part), *get_annotations(part))}
    return {name for name in names if not name.startswith("_")}


def missing(names: set[str], context: Any) -> set[str]:
    """Return the names that a context does not have."""
    return {name for name in names if not hasattr(context, name)}


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_has_all_that_modes_promise(mode: str) -> None:
    assert missing(promised(Mode) | OPERATORS, MODES[mode]()) == set()


@pytest.mark.parametrize("mode", MODES)
def test_reverse_and_forward_mode_have_all_that_they_promise(mode: str) -> None:
    protocol = ForwardMode if mode.startswith("forward") else ReverseMode
    assert missing(promised(protocol), MODES[mode]()) == set()


def test_contexts_of_users_have_all_that_rewritten_code_asks() -> None:
    assert missing(promised(Language) | OPERATORS, Context()) == set()


def test_a_mode_is_made_of_protocols_of_one_concern() -> None:
    parts = (Recording, Tracking, Calling, Computing)
    assert promised(Mode) == set().union(*map(promised, parts))
    assert {"record", "failed", "find", "call", "getitem", "assign"} <= promised(Mode)
    assert not promised(Recording) & promised(Calling)


@pytest.mark.parametrize("mode", MODES)
def test_no_protocol_is_a_class_of_a_mode_that_runs(mode: str) -> None:
    """A search for methods through them would take time."""
    classes = type(MODES[mode]()).__mro__
    assert not [cls for cls in classes if cls.__module__.startswith("mooncake_py.runtime")]
