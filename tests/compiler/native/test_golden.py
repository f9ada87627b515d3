"""The sweeps and tangents of some regions, as IR in files: a change is seen in review.

``pytest tests/compiler/native --update-golden`` rewrites the files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.native.sweeps.adjoint import NativeSweeps, adjoint
from mooncake_py.compiler.native.sweeps.tangent import tangent
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.ir import (
    FLOATS,
    Alloc,
    Assign,
    Block,
    Break,
    Bump,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Length,
    Load,
    Op,
    Pop,
    Push,
    Statement,
    While,
)
from tests.compiler.native.texts_of_regions import REGIONS
from tests.compiler.native.writing import region

FOLDER = Path(__file__).parent / "golden" / "sweeps"
SHOWN = (
    "recurrence", "product", "elementwise", "sums", "stencil", "products_with_temporaries",
    "array_result", "while_with_break", "counter_read_after", "range_that_changes",
    "ints_bound_again", "ints_of_arrays", "masks", "results_reused_and_killed", "inactive_floats",
    "branches_of_ints", "constants", "lu", "growing",
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SHOWN)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    text, inputs, results, active = REGIONS[name]
    found = region(text, inputs, results)
    moved, names = tangent(found, active_parts(found.body, set(active.split()), {}))
    both = {*active.split(), *(names[n] for n in active.split())}
    parts = {
        "the region": Shown().text_of(found.body),
        "its sweeps": sweeps_of(found, set(active.split())),
        "its tangent": Shown().text_of(moved.body),
        "the sweeps of the tangent": sweeps_of(moved, both),
    }
    golden(FOLDER / f"{name}.txt", "\n\n".join(f"# {t}\n\n{body}" for t, body in parts.items()))


def sweeps_of(found: NativeRegion, active: set[str]) -> str:
    """Return both sweeps as text, with what they take and give back."""
    sweeps = adjoint(found, active_parts(found.body, active, {}))
    shown = Shown()
    return "\n".join(
        [
            f"forward({', '.join(found.inputs)})",
            shown.text_of(sweeps.forward),
            "",
            f"reverse({taken(sweeps)}) -> {', '.join(sweeps.gives)}",
            shown.text_of(sweeps.reverse),
        ]
    )


def taken(sweeps: NativeSweeps) -> str:
    """Return the inputs of the reverse sweep."""
    return ", ".join([*sweeps.values, *sweeps.cotangents])


class Shown(Emitter):
    """Prints IR: a statement a line."""

    def text_of(self, block: Block) -> str:
        return "\n".join(self.block(block))

    def block(self, block: Block) -> list[str]:
        return [f"    {line}" for s in block for line in self.lines(s)] or ["    pass"]

    def lines(self, s: Statement) -> list[str]:
        match s:
            case ForAll(counters=counters, extents=extents, body=body):
                heads = [f"{c} < {self.text(n)}" for c, n in zip(counters, extents, strict=True)]
                return [f"for all {', '.join(heads)}:", *self.block(body)]
            case For(name=name, range=steps, body=body):
                return [f"for {name} in {self.text(steps)}:", *self.block(body)]
            case While(test=test, body=body):
                return [f"while {self.text(test)}:", *self.block(body)]
            case If(test=test, body=body, orelse=orelse):
                other = ["else:", *self.block(orelse)] if orelse else []
                return [f"if {self.text(test)}:", *self.block(body), *other]
            case Alloc(name=name, shape=shape, kind=kind, zero=zero):
                how = "zeros" if zero else "empty"
                return [f"{name} = {how}({', '.join(map(self.text, shape))}, {kind})"]
            case Grow(name=name, least=least):
                return [f"grow({name}, {self.text(least)})"]
            case Assign(target=target, value=value):
                return [f"{self.text(target)} = {self.text(value)}"]
            case Count(name=name, value=value):
                return [f"{name} = {self.text(value)}"]
            case Bump(target=target, value=Op(op="neg", args=(value,))):
                return [f"{self.text(target)} -= {self.text(value)}"]
            case Bump(target=target, value=value):
                return [f"{self.text(target)} += {self.text(value)}"]
            case Push(stack=stack, value=value):
                return [f"{'push' if stack == FLOATS else 'push_int'}({self.text(value)})"]
            case Break():
                return ["break"]
        return super().lines(s)

    def text(self, e: Expr) -> str:
        match e:
            case Length(array=array, axis=axis):
                return f"size({array}, {axis})"
            case Load(array=array, index=index):
                return f"{array}[{', '.join(map(self.text, index))}]"
            case Pop(stack=stack):
                return "pop()" if stack == FLOATS else "pop_int()"
        return super().text(e)
