"""Addresses of Python functions that compiled code calls: compiled as others are, or by Numba."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.llvm.module import are_numbers
from mooncake_py.compiler.native.llvm.signature import Foreign
from mooncake_py.compiler.native.machine import objects
from mooncake_py.compiler.native.machine.by_numba import function_of_c
from mooncake_py.compiler.native.machine.levels import Level, object_code
from mooncake_py.compiler.native.machine.linking import linked
from mooncake_py.compiler.native.machine.outside import outside_address
from mooncake_py.compiler.native.machine.read_functions import ENTRY, printed_alone
from mooncake_py.compiler.native.machine.symbols import addresses
from mooncake_py.compiler.native.nodes.node import Outside
from mooncake_py.compiler.native.regions.refused import CannotCompile

__all__ = ["foreign_address"]


@dataclass(frozen=True)
class Made:
    """A function of C, which is there as long as this is."""

    address: int
    code: Any


MADE: dict[tuple[Foreign, Level | None], Made] = {}
"""Code compiled at a level or by Numba, which is kept as long as the process runs."""


def foreign_address(foreign: Foreign, level: Level) -> int:
    """Return the address of a function of Python, compiled.

    Raises
    ------
    CannotCompile
        It cannot be read, and Numba is not there or does not compile it.
    """
    if isinstance(foreign.function, Outside):
        return outside_address(foreign)
    found = MADE.get((foreign, level)) or MADE.get((foreign, None))
    if found is None:  # other threads may do the same meanwhile
        try:
            found = MADE.setdefault((foreign, level), by_llvm(foreign, level))
        except Unfit as error:
            if not are_numbers(foreign.kinds):
                raise CannotCompile(f"{foreign.function.__name__}: {error.why}") from error
            code = function_of_c(foreign)
            found = MADE.setdefault((foreign, None), Made(code.address, code))
    return found.address


def by_llvm(foreign: Foreign, level: Level) -> Made:
    """Return a function that is read, compiled once for all that call it.

    Raises
    ------
    Unfit
        It cannot be read.
    """
    text, printer = printed_alone(foreign)
    others = {name: foreign_address(f, level) for name, f in printer.foreign.items()}
    key = objects.key_of(text, level) if printer.is_lasting else None
    found = None if key is None else objects.kept(key)
    if found is None:
        found = object_code(text, level)
        if key is not None:
            objects.keep(key, found)
    code, named = found
    ready = linked(code, [ENTRY], addresses(named, others))
    return Made(ready.addresses[ENTRY], ready)
