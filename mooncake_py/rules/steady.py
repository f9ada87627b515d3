"""The functions that rules call, as they were when the rules were loaded.

A program may replace a function of NumPy, for example ``np.sin = np.cos``, or by a mock in a test.
This changes the program's calls, but the derivative of the cosine must still use the sine: a rule
that looked ``np.sin`` up in NumPy at run time would find the replacement. So rules, and the reader
of compiled functions, look functions up in copies of the libraries.
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

__all__ = ["hold_functions", "is_replaced"]

HELD = (
    "mooncake_py.rules.", "mooncake_py.integrations.", "mooncake_py.compiler.native.building.",
    "mooncake_py.compiler.native.functions.", "mooncake_py.compiler.native.reading.",
)  # fmt: skip
LIBRARIES = frozenset({"cmath", "math", "numpy", "scipy", "statistics"})
_copies: dict[str, ModuleType] = {}
_held: set[str] = set()
_lock = threading.RLock()  # nothing is imported while it is held


def hold_functions() -> None:
    """Let the modules of rules read since the last call look functions up in the copies."""
    with _lock:
        for name, module in list(sys.modules.items()):
            if name in _held or not name.startswith(HELD):
                continue
            if module is None or is_being_read(module):  # None forbids to import a module
                continue
            scope = vars(module)
            scope.update(
                {
                    key: copy_of(value)
                    for key, value in list(scope.items())  # other threads import
                    if type(value) is ModuleType and is_of_library(value)
                }
            )
            _held.add(name)


def is_being_read(module: ModuleType) -> bool:
    """Return whether a thread imports a module now, which then lets it look functions up."""
    return getattr(module.__spec__, "_initializing", False)


def is_replaced() -> bool:
    """Return True if a library has other functions by now than those that rules look up."""
    return any(
        type(value) is not ModuleType and vars(sys.modules[name]).get(key, value) is not value
        for name, copy in list(_copies.items())
        if name in sys.modules
        for key, value in list(vars(copy).items())
        if not key.startswith("__")
    )


def is_of_library(module: ModuleType) -> bool:
    """Return whether a module is one in which functions are looked up."""
    return module.__name__.partition(".")[0] in LIBRARIES


def copy_of(module: ModuleType) -> ModuleType:
    """Return the copy of a module, in which there are copies of the modules within it."""
    known = _copies.get(module.__name__)
    if known is not None:
        return known
    copy = _copies[module.__name__] = ModuleType(module.__name__, module.__doc__)

    def __getattr__(name: str) -> Any:  # what is imported when it is asked for
        value = getattr(module, name)
        value = copy_of(value) if is_within(module, value) else value
        setattr(copy, name, value)
        return value

    scope = vars(copy)
    scope.update(vars(module), __getattr__=__getattr__)
    scope.update(
        {
            key: copy_of(value)
            for key, value in list(scope.items())  # other threads import
            if type(value) is ModuleType and is_within(module, value)
        }
    )
    return copy


def is_within(module: ModuleType, value: Any) -> bool:
    """Return whether a value is a public module within another one."""
    return type(value) is ModuleType and (
        value.__name__.startswith(f"{module.__name__}.") and "._" not in value.__name__
    )
