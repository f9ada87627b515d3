"""Interrupts within long loops: kernels look for signals as they go.

Loops that hold loops look, and loops that run while a test holds.  Others are over soon, and a loop
that looks cannot be vectorized.  A clock is read in the passes 1, 2, 4, ..., 64, 128, 192, ...: a
signal is seen within a second, or as long again as the kernel has run.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.llvm.texts import Helper
from mooncake_py.compiler.regions.ir import Count, For, ForAll, While, statements

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.writer import Writer

__all__ = ["BEFORE_CALL", "INTERRUPTED", "IN_CALL", "LOOK", "listen", "listens"]

INTERRUPTED = -2
"""Returned by a function that was left for a signal, whose exception is set."""
TIME = "_time64" if sys.platform == "win32" else "time"
"""The function of C that gives seconds."""
HIDDEN = "nounwind memory(inaccessiblemem: readwrite)"
TEXT = f"""\
define internal i32 @mc_look(ptr %last) noinline cold nounwind {{
  %now = call i64 @{TIME}(ptr null)
  %before = load i64, ptr %last
  store i64 %now, ptr %last
  %first = icmp eq i64 %before, 0
  %same = icmp eq i64 %before, %now
  %early = or i1 %first, %same
  br i1 %early, label %on, label %ask
on:
  ret i32 0
ask:
  %held = call i32 @PyGILState_Ensure()
  %found = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %held)
  ret i32 %found
}}
"""
LOOK = Helper(
    TEXT,
    {
        TIME: f"declare i64 @{TIME}(ptr) {HIDDEN}",
        "PyGILState_Ensure": f"declare i32 @PyGILState_Ensure() {HIDDEN}",
        "PyErr_CheckSignals": f"declare i32 @PyErr_CheckSignals() {HIDDEN}",
        "PyGILState_Release": f"declare void @PyGILState_Release(i32) {HIDDEN}",
    },
)
CALLED = f"""\
define internal i32 @mc_interrupted(i8 %done) noinline cold nounwind {{
  %so = icmp eq i8 %done, {INTERRUPTED}
  br i1 %so, label %again, label %on
on:
  ret i32 0
again:
  %held = call i32 @PyGILState_Ensure()
  call void @PyErr_SetInterrupt()
  %found = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %held)
  ret i32 %found
}}
"""
ASKED = """\
define internal i32 @mc_signals() noinline cold nounwind {
  %held = call i32 @PyGILState_Ensure()
  %found = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %held)
  ret i32 %found
}
"""
BEFORE_CALL = Helper(ASKED, LOOK.declares)
"""Before Python is called: there an exception of a signal at the very beginning would be lost."""
IN_CALL = Helper(
    CALLED, {**LOOK.declares, "PyErr_SetInterrupt": "declare void @PyErr_SetInterrupt()"}
)
"""Where a function of Python was interrupted: the exception is raised again, from compiled code."""
OFTEN = 63


def listens(s: For | While, *, is_outermost: bool) -> bool:
    """Return whether a loop looks for signals."""
    within = list(statements(s.body))
    if isinstance(s, While) and not all(isinstance(inner, Count) for inner in within):
        return True
    loops = [inner for inner in within if isinstance(inner, For | ForAll | While)]
    deep = [inner for inner in loops if isinstance(inner, For | While)]
    return bool(loops) and (is_outermost or any(map(holds_loops, deep)))


def holds_loops(s: For | While) -> bool:
    """Return True for a loop around others."""
    return any(isinstance(inner, For | ForAll | While) for inner in statements(s.body))


def listen(writer: Writer) -> None:
    """Write what leaves the function if a signal has come whose handler raises."""
    do = writer.do
    before = writer.read("passes", "i64", "0")
    now = do(f"add i64 {before}, 1")
    writer.write("passes", "i64", "0", now)
    some, power = do(f"and i64 {now}, {OFTEN}"), do(f"and i64 {now}, {before}")
    looks = do(f"or i1 {do(f'icmp eq i64 {some}, 0')}, {do(f'icmp eq i64 {power}, 0')}")
    look, on = writer.fresh("look"), writer.fresh("on")
    writer.branch(looks, look, on, writer.module.rare)
    writer.begin(look)
    found = writer.helper("mc_look", "i32", f"ptr {writer.slot('clock', 'i64', '0')}")
    writer.leave_unless(do(f"icmp sge i32 {found}, 0"), INTERRUPTED)
    writer.go(on)
    writer.begin(on)
