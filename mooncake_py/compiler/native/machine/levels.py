"""How much is done for good code: the quick level, and the best one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import string_at
from dataclasses import dataclass
from functools import cache
from typing import Any

from mooncake_py.compiler.native.llvm.loops import BODY
from mooncake_py.compiler.native.machine.library import llvm, target_machine, unlocked
from mooncake_py.compiler.native.regions.refused import CannotCompile

__all__ = ["BEST", "QUICK", "Level", "object_code", "symbols_in"]


@dataclass(frozen=True)
class Level:
    """The passes that run over a module.

    Attributes
    ----------
    name : str
    passes : tuple of str or None
        The passes that are run, as llvmlite names them; None for all those of LLVM's third level.
    code : int
        How much is done for good code afterwards, up to 3.
    """

    name: str
    passes: tuple[str, ...] | None
    code: int


QUICK = Level(
    "quick",
    ("always_inliner", "sroa", "simplify_cfg", "instruction_combine", "simplify_cfg"),
    1,
)
"""Without NewGVN, which ends the process in long functions."""

BEST = Level("best", None, 3)

MANY_LOOPS = 100
"""Modules with more loops are taken apart."""


@contextmanager
def parsed(text: str) -> Iterator[Any]:
    """Yield the module of a text, in a context of its own.

    Raises
    ------
    CannotCompile
        The text is wrong.
    """
    binding = llvm()
    context = binding.create_context()
    try:
        module = binding.parse_assembly(text, context)
    except RuntimeError as error:
        raise CannotCompile(refused(error)) from None
    with module:
        try:
            module.verify()
        except RuntimeError as error:
            raise CannotCompile(refused(error)) from None
        yield module


def refused(error: Exception) -> str:
    """Return in one line what LLVM says of a text."""
    return " ".join(["LLVM refuses the text:", *str(error).split()])[:400]


def object_code(text: str, level: Level) -> tuple[bytes, tuple[str, ...]]:
    """Return the code of a text, and the names of the functions that it declares.

    Other threads may do the same meanwhile.

    Raises
    ------
    CannotCompile
        The text is wrong.
    """
    with parsed(text) as module:
        machine = target_machine(level.code)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        named = symbols_in(module)
        if level is BEST and loops_in(text) > MANY_LOOPS and can_take_apart():
            take_apart(module, machine)
        optimise(module, machine, level)
        return emitted(module, machine), named


def loops_in(text: str) -> int:
    """Return how many loops a text has."""
    return text.count(f"\n{BODY}")


@cache
def can_take_apart() -> bool:
    """Return whether functions can be kept apart: llvmlite 0.45 marks what they return instead."""
    text = "define ptr @f() {\n  ret ptr null\n}"
    try:
        with parsed(text) as module:
            (function,) = module.functions
            function.add_function_attribute("noinline")
            module.verify()
            passes = llvm().create_new_module_pass_manager()
    except RuntimeError:
        return False
    return hasattr(passes, "add_loop_extract_pass")


def take_apart(module: Any, machine: Any) -> None:
    """Make each loop that is in no other one a function of its own.

    LLVM looks through the whole function after each loop that it has changed, and keeps what it
    knows of all arrays: the time that it takes grows with the square of the length of functions.
    """
    optimise(module, machine, QUICK)  # until numbers are in registers, which can be passed
    passes = llvm().create_new_module_pass_manager()
    passes.add_loop_simplify_pass()
    passes.add_loop_extract_pass()
    run(passes, module, machine)
    for function in module.functions:
        if BODY in function.name and not function.is_declaration:
            function.add_function_attribute("noinline")


def symbols_in(module: Any) -> tuple[str, ...]:
    """Return the names of the functions and variables that a module only declares."""
    found = [*module.functions, *module.global_variables]
    named = [part.name for part in found if part.is_declaration]
    return tuple(name for name in named if not name.startswith("llvm."))


def optimise(module: Any, machine: Any, level: Level) -> None:
    """Run the passes of a level."""
    if level.passes is None:
        run(None, module, machine)
        return
    passes = llvm().create_new_module_pass_manager()
    for name in level.passes:
        getattr(passes, f"add_{name}_pass")()
    run(passes, module, machine)


def run(passes: Any, module: Any, machine: Any) -> None:
    """Run passes, or all those of LLVM's third level."""
    binding = llvm()
    options = binding.create_pipeline_tuning_options(3)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = False
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager() if passes is None else passes
    unlocked("LLVMPY_RunNewModulePassManager")(passes, module, builder)


def emitted(module: Any, machine: Any) -> bytes:
    """Return the code of a module."""
    lib = llvm().ffi
    with lib.OutputString() as problem:
        made = unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, 1, problem)
        if not made:
            raise CannotCompile(f"LLVM makes no code: {problem}")
    try:
        start, size = lib.lib.LLVMPY_GetBufferStart(made), lib.lib.LLVMPY_GetBufferSize(made)
        return string_at(start, size)
    finally:
        lib.lib.LLVMPY_DisposeMemoryBuffer(made)
