"""Run printed text: kernels called through ctypes, with memory that is watched.

What is made is filled with odd bytes, and stands between guards, which are looked at when it is
freed; pieces that nobody freed are counted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.llvm.signature import Signature, Slot

__all__ = ["Memory", "compiled", "kernels", "kernels_of"]

Kernel = Callable[..., Any]
DTYPES: dict[str, Any] = {
    "float": np.float64, "float32": np.float32, "int": np.int64, "bool": np.bool_,
}  # fmt: skip
NUMBERS: dict[str, Any] = {
    "float": ctypes.c_double, "float32": ctypes.c_float, "int": ctypes.c_int64,
    "bool": ctypes.c_int64,
}  # fmt: skip
GUARD = 64
ODD = 0xAB
MOST = 2**30
"""Bytes of a piece, of which there are no larger ones."""


class Memory:
    """An allocator that finds what is written outside of pieces, freed twice, or not at all.

    Attributes
    ----------
    left : int or None
        How many pieces it gives before there is no memory; None for any number.
    pieces : dict of int to int
        The sizes of those that are not freed, by their addresses.
    faults : list of str
    """

    def __init__(self) -> None:
        self.left: int | None = None
        self.given = 0
        self.pieces: dict[int, int] = {}
        self.faults: list[str] = []
        self._buffers: dict[int, Any] = {}
        self.malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(self._malloc)
        self.free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._free)

    def _malloc(self, size: int) -> int | None:
        if size <= 0:
            self.faults.append(f"{size} bytes are asked for")
        self.given += 1
        if size > MOST or (self.left is not None and self.given > self.left):
            return None
        buffer = (ctypes.c_ubyte * (size + 2 * GUARD))()
        ctypes.memset(buffer, ODD, size + 2 * GUARD)
        address = ctypes.addressof(buffer) + GUARD
        self.pieces[address], self._buffers[address] = size, buffer
        return address

    def _free(self, address: int | None) -> None:
        if address is None:
            return
        if address not in self.pieces:
            self.faults.append("what is freed is not there")
            return
        size = self.pieces.pop(address)
        buffer = bytes(self._buffers.pop(address))
        if set(buffer[:GUARD] + buffer[GUARD + size :]) != {ODD}:
            self.faults.append(f"written outside of {size} bytes")

    def check(self) -> None:
        """Check that nothing was done wrong, and nothing is left."""
        assert not self.faults
        assert not self.pieces


def compiled(text: str, memory: Memory, level: int = 2) -> Any:
    """Return an engine that has the functions of a text.

    Parameters
    ----------
    level : int
        How much LLVM does for good code.
    """
    binding = pytest.importorskip("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.load_library_permanently("")
    for name, function in (("malloc", memory.malloc), ("free", memory.free)):
        own = f"watched_{name}_{id(memory)}"
        binding.add_symbol(own, ctypes.cast(function, ctypes.c_void_p).value)
        text = text.replace(f"@mc_{name}(", f"@{own}(")
    module = binding.parse_assembly(text)
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(opt=level, codemodel="jitdefault", jit=True)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    options = binding.create_pipeline_tuning_options(level)
    options.loop_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def kernels(printer: Printer, memory: Memory | None = None, level: int = 2) -> dict[str, Kernel]:
    """Return the functions that were printed, as those of Python.

    ``forward(S, *inputs) -> (ok, S, p, *results)``: not ok, `p` is the code.
    """
    return kernels_of(printer.text, printer.functions, memory or Memory(), level)


def kernels_of(
    text: str, functions: dict[str, Signature], memory: Memory, level: int
) -> dict[str, Kernel]:
    """Return the functions of a text."""
    engine = compiled(text, memory, level)
    found: dict[str, Kernel] = {}
    for name, signature in functions.items():
        address = engine.get_function_address(signature.symbol)
        found[name] = entered(address, signature, memory, engine)
    return found


def entered(address: int, signature: Signature, memory: Memory, engine: Any) -> Kernel:
    """Return a kernel of an engine as a function of Python."""
    kernel = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(address)

    def call(*args: Any) -> Any:
        given, found = space(signature.inputs), space(signature.outputs)
        for slot, arg in zip(signature.inputs, args, strict=True):
            put(given, slot, arg)
        assert engine is not None  # which is there as long as this function
        code = kernel(ctypes.addressof(given), ctypes.addressof(found))
        is_forward = signature.symbol == "mc_forward"
        if code:
            if not is_forward:
                raise ArithmeticError(code)
            stack = taken(found, signature.outputs[0], args, memory)
            return (False, stack, code, *[None] * (len(signature.outputs) - 2))
        results = [taken(found, slot, args, memory) for slot in signature.outputs]
        return (True, *results) if is_forward else tuple(results)

    return call


def space(slots: tuple[Slot, ...]) -> Any:
    """Return slots."""
    return (ctypes.c_int64 * (1 + sum(1 + (slot.axes or 0) for slot in slots)))()


def put(slots: Any, slot: Slot, value: Any) -> None:
    """Write what is passed."""
    if slot.axes is None:
        NUMBERS[slot.kind].from_buffer(slots, 8 * slot.place).value = value
        return
    assert value.dtype == DTYPES[slot.kind]
    assert value.ndim == slot.axes
    assert value.flags.c_contiguous
    slots[slot.place] = value.ctypes.data
    for axis, n in enumerate(value.shape):
        slots[slot.place + 1 + axis] = n


def taken(slots: Any, slot: Slot, args: tuple[Any, ...], memory: Memory) -> Any:
    """Return the results; memory that is ours now is freed."""
    if slot.axes is None:
        value = NUMBERS[slot.kind].from_buffer(slots, 8 * slot.place).value
        return bool(value) if slot.kind == "bool" else value
    shape = tuple(slots[slot.place + 1 + axis] for axis in range(slot.axes))
    address = slots[slot.place]
    if not address:
        assert slot.source is not None
        assert args[slot.source].shape == shape
        return args[slot.source]
    dtype = np.dtype(DTYPES[slot.kind])
    size = dtype.itemsize * int(np.prod(shape))
    assert size <= memory.pieces[address]
    found = np.frombuffer(ctypes.string_at(address, size), dtype).reshape(shape).copy()
    memory.free(address)
    return found
