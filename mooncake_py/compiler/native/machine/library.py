"""LLVM, as llvmlite brings it: imported where something is compiled, or loaded from disk."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib import import_module
from threading import RLock
from typing import Any

from mooncake_py.compiler.native.machine import background
from mooncake_py.compiler.native.regions.refused import NoCompiler
from mooncake_py.runtime.compilation import is_older

__all__ = ["LOCK", "host", "llvm", "target_machine", "unlocked", "version"]

LOCK = RLock()
"""Held while names get addresses, which are those of the whole process."""


@cache
def llvm() -> Any:
    """Return llvmlite's binding, ready to compile for this machine.

    Raises
    ------
    NoCompiler
        It is not there, is too old, or may not make code here.
    """
    try:
        binding = import_module("llvmlite.binding")
    except (ImportError, OSError) as error:
        raise NoCompiler(f"llvmlite cannot be imported: {error}") from None
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        raise NoCompiler("addresses here have 32 bits")
    old = is_older(version())
    if old:
        raise NoCompiler(old)
    try:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        binding.check_jit_execution()
    except (OSError, RuntimeError) as error:
        raise NoCompiler(f"LLVM does not run here: {error}") from None
    hold_at_forks(binding.ffi.lib)
    return binding


def hold_at_forks(lib: Any) -> None:
    """Have nobody hold a lock as a process begins another one, where it would be held for ever."""
    if not hasattr(os, "register_at_fork"):
        return
    held: list[Any] = [LOCK]
    own = getattr(getattr(lib, "_lock", None), "_lock", None)  # llvmlite's
    if hasattr(own, "acquire"):
        held.append(own)

    def acquire() -> None:
        background.pause()  # first: the threads take these locks
        for lock in held:
            lock.acquire()

    def release() -> None:
        for lock in reversed(held):
            lock.release()

    def release_in_parent() -> None:
        release()
        background.resume()

    os.register_at_fork(before=acquire, after_in_parent=release_in_parent, after_in_child=release)


def version() -> str:
    """Return the version of llvmlite."""
    return import_module("llvmlite").__version__


@cache
def host() -> tuple[str, str, str]:
    """Return the triple of this machine, its CPU, and what that CPU has."""
    binding = llvm()
    features = binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


def target_machine(code: int) -> Any:
    """Return a code generator for this machine, for one thread at a time.

    Parameters
    ----------
    code : int
        How much is done for good code, up to 3.
    """
    triple, cpu, features = host()
    target = llvm().Target.from_triple(triple)
    return target.create_target_machine(
        cpu=cpu, features=features, opt=code, reloc="default", codemodel="jitdefault", jit=True
    )


def unlocked(name: str) -> Any:
    """Return a function of llvmlite's library that other threads need not wait for.

    LLVM lets threads work on different contexts at once; llvmlite has one lock for all it does.
    """
    f = getattr(llvm().ffi.lib, name)
    return getattr(f, "_cfn", f)
