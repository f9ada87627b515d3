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
from mooncake_py.compiler.regions.ir import Alloc, ForAll, Grow, Length, Statement
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
    """Prints IR with loops over all elements and new arrays."""

    def text_of(self, block: tuple[Statement, ...]) -> str:
        return "\n".join(self.block(block))

    def lines(self, s: Statement) -> list[str]:
        if isinstance(s, ForAll):
            pairs = zip(s.counters, map(self.text, s.extents), strict=True)
            heads = [f"{counter} < {extent}" for counter, extent in pairs]
            return [f"for all {', '.join(heads)}:", *self.block(s.body)]
        if isinstance(s, Alloc):
            how = "zeros" if s.zero else "empty"
            return [f"{s.name} = {how}({', '.join(map(self.text, s.shape))}, {s.kind})"]
        if isinstance(s, Grow):
            return [f"grow({s.name}, {self.text(s.least)})"]
        return super().lines(s)

    def text(self, e: object) -> str:
        if isinstance(e, Length):
            return f"size({e.array}, {e.axis})"
        return super().text(e)  # type: ignore[arg-type]
