"""From object code to the addresses of functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mooncake_py.compiler.native.machine.library import LOCK, llvm, target_machine
from mooncake_py.compiler.native.machine.symbols import address_of
from mooncake_py.compiler.native.regions.refused import CannotCompile

__all__ = ["Linked", "linked"]

MADE = (
    "memcpy", "memset", "memmove", "sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10",
    "pow", "fmod", "ldexp", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "fma",
)  # fmt: skip
"""Functions that LLVM calls on its own."""


@dataclass(frozen=True)
class Linked:
    """Code in memory, which is there as long as this is.

    Attributes
    ----------
    addresses : dict of str to int
    held : object
        What it calls.
    """

    addresses: dict[str, int]
    _engine: Any
    held: Any = None


def linked(
    code: bytes, names: Iterable[str], symbols: Mapping[str, int], held: Any = None
) -> Linked:
    """Return functions of object code.

    Parameters
    ----------
    names : iterable of str
        Of the functions that are wanted.
    symbols : mapping of str to int
        The addresses of what the code calls.
    held : object, optional
        What must be there as long as the code is.
    """
    binding = llvm()
    with LOCK:
        for name, address in (made_by_llvm() | dict(symbols)).items():
            binding.add_symbol(name, address)
        machine = target_machine(2)
        # Of the context that is never freed: cycles are freed in any order, a context of its own
        # perhaps before the engine.
        empty = binding.parse_assembly("")
        empty.triple = machine.triple
        engine = binding.create_mcjit_compiler(empty, machine)
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        found = {name: engine.get_function_address(name) for name in names}
    if not all(found.values()):
        raise CannotCompile("the code has not the functions that it should have")
    return Linked(found, engine, held)


def made_by_llvm() -> dict[str, int]:
    """Return the addresses of what LLVM calls of its own."""
    found = {name: address_of(name) for base in MADE for name in (base, f"{base}f")}
    return {name: address for name, address in found.items() if address is not None}
