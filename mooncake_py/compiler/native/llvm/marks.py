"""Hints on a loop for the passes of LLVM that vectorize and unroll."""

from __future__ import annotations

from enum import Enum

from mooncake_py.compiler.native.llvm.module import Module
from mooncake_py.compiler.native.llvm.nests import FAR, parts_read, step, targets
from mooncake_py.compiler.regions.ir import Assign, Block, Bump, Let, Load

__all__ = ["Passes", "are_apart", "marks"]


class Passes(Enum):
    """How the passes of a loop are done."""

    FREELY = "as suits the machine"
    SINGLY = "one after another"
    AT_ONCE = "all at once: there are few, and their number is written down"


PARTS = {
    Passes.FREELY: (),
    Passes.SINGLY: ("unroll.disable", "isvectorized"),
    Passes.AT_ONCE: ("unroll.disable", "followup"),
}
"""The hints; loops that are not vectorized must not become longer."""
TEXTS = {
    "unroll.disable": '!{!"llvm.loop.unroll.disable"}',
    "isvectorized": '!{!"llvm.loop.isvectorized", i32 1}',
    "unroll.full": '!{!"llvm.loop.unroll.full"}',
}


def marks(module: Module, how: Passes, group: int | None) -> str:
    """Return the metadata written after the branch back to the head of a loop.

    Parameters
    ----------
    group : int or None
        Of accesses to memory that no other pass changes.
    """
    parts = [mark(module, name) for name in PARTS[how]]
    if group is not None:
        text = f'!{{!"llvm.loop.parallel_accesses", !{group}}}'
        parts.append(module.node(lambda _: text))
    if not parts:
        return ""
    listed = ", ".join([f"!{part}" for part in parts])
    return f", !llvm.loop !{module.node(lambda own: f'distinct !{{!{own}, {listed}}}')}"


def mark(module: Module, name: str) -> int:
    """Return the number of one of the nodes."""
    if name == "followup":
        after = ", ".join([f"!{mark(module, other)}" for other in ("isvectorized", "unroll.full")])
        return module.shared(f'!{{!"llvm.loop.vectorize.followup_vectorized", {after}}}')
    return module.shared(TEXTS[name])


def are_apart(body: Block, counter: str) -> bool:
    """Return True if no pass of a loop in any order writes what another one reads or writes.

    Its passes do not depend on one another but by sums: here each adds to an element of its own.
    """
    lines = [s for s in body if isinstance(s, Assign | Bump | Let)]
    if len(lines) < len(body):
        return False
    bound = {s.name for s in lines if isinstance(s, Let)}
    written: dict[str, Load] = {}
    for target in targets(lines):
        if isinstance(target, Load) and written.setdefault(target.array, target) != target:
            return False
    return all(moves(target, counter, bound) for target in written.values())


def moves(target: Load, counter: str, bound: set[str]) -> bool:
    """Return True if an element is another one in each pass."""
    steps = [step(e, counter) for e in target.index]
    return any(0 < abs(found) < FAR for found in steps) and not parts_read(target) & bound
