"""The possible effects of a function's code besides computing: found once for each code."""

from __future__ import annotations

import dis
import operator
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from mooncake_py.containers import beyond
from mooncake_py.containers.reach import names_read
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import DRAWING
from mooncake_py.remembered import remembered

__all__ = ["WRITERS", "Effects", "effects_of"]

BY_NAME = beyond.OF_INTERPRETER | {"getattr", "setattr", "delattr", "print"}
RUNS_LATER = 0x20 | 0x80 | 0x200
"""Flags of the code of generators and coroutines."""
REBIND = frozenset({
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME", "STORE_ATTR", "DELETE_ATTR",
    "IMPORT_NAME", "LOAD_BUILD_CLASS",
})  # fmt: skip
REBIND_CAPTURED = frozenset({"STORE_DEREF", "DELETE_DEREF"})
STORE = frozenset({"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"})
NAMES = """
    add append appendleft at base byteswap clear copyto ctypes delitem discard extend fill
    fill_diagonal heapify heappop heappush heapreplace iconcat insert itemset nan_to_num nditer
    out partition place pop popitem popleft put put_along_axis putmask remove resize reverse
    rotate setdefault setfield setflags setitem shuffle sort update
"""
IN_PLACE = {name.strip("_") for name in dir(operator) if name.startswith("__i")} - {
    "index", "inv", "invert"
}  # fmt: skip
SPECIAL = {f"__{name}__" for name in ("setitem", "delitem", *IN_PLACE)}
WRITERS = frozenset({*NAMES.split(), *IN_PLACE, *SPECIAL})
"""Methods and functions that change what they are given, or may."""


class Effects(NamedTuple):
    """The possible effects of a function's code besides computing."""

    rebinds: bool  # variables, attributes; or it finds objects by their names, or draws
    writes: bool  # into what it is given
    names: tuple[str, ...]


@remembered
def effects_of(code: CodeType) -> Effects:
    """Return the possible effects of code, including nested functions."""
    names = beyond.names_in(code)
    rebinds = bool(names.introspects or names.imported or BY_NAME & names.variables)
    rebinds |= bool(code.co_flags & RUNS_LATER) or is_library(code.co_filename)
    found = names_read(code)
    rebinds |= names.sets_others or not DRAWING.isdisjoint(found)
    writes = not WRITERS.isdisjoint(found)
    for inner in codes(code):
        # Among these are the names of keywords.
        texts = [p for c in inner.co_consts for p in (c if type(c) is tuple else (c,))]
        writes |= any(map(is_writing_option, texts))
        classes = 0  # that are named other than for `super()`
        for instruction in dis.get_instructions(inner):
            name = instruction.opname
            classes += name == "LOAD_DEREF" and instruction.argval == "__class__"
            classes -= name == "LOAD_SUPER_ATTR"
            if name in REBIND:
                rebinds = True
            elif name in REBIND_CAPTURED:
                rebinds |= instruction.argval in inner.co_freevars
            elif name in STORE or (name == "BINARY_OP" and instruction.argrepr.endswith("=")):
                writes = True
        rebinds |= classes > 0
    return Effects(rebinds, writes, tuple(found))


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and that of the functions within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def is_writing_option(name: Any) -> bool:
    """Return whether a keyword lets a function write into an argument."""
    return isinstance(name, str) and (name in ("out", "copy") or name.startswith("overwrite"))
