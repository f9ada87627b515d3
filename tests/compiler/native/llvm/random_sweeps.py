"""Both sweeps of random regions, by any printer."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.native.sweeps.adjoint import adjoint
from tests.compiler.native.random_regions import SIZE, random_values

__all__ = ["printed", "run"]

EMPTY = np.empty(0)


def printed(printer: Any, found: NativeRegion, active: set[str]) -> tuple[Any, Any]:
    """Return both sweeps of a region, printed."""
    sweeps = adjoint(found, active)
    made = [n for n in sweeps.values if n not in (*found.inputs, *found.results)]
    printer = printer(sweeps.kinds, sweeps.arrays)
    if sweeps.size is not None:
        printer.count(sweeps.size, found.inputs)
    printer.forward(sweeps.forward, found.inputs, [*found.results, *made])
    printer.reverse(sweeps.reverse, [*sweeps.values, *sweeps.cotangents], sweeps.gives)
    return printer, sweeps


def run(
    made: Any,
    found: NativeRegion,
    sweeps: Any,
    seed: int,
    length: int = SIZE,
    *,
    odd: bool = False,
    values: dict[str, Any] | None = None,
) -> list[Any]:
    """Return all that both sweeps compute, of random values if none are given."""
    if values is None:
        values = random_values(seed, length, odd=odd)
    given = {n: np.array(v) if np.ndim(v) else v for n, v in values.items()}
    scope = {n: given[n] for n in found.inputs}
    ok, stack, top, *results = made["forward"](EMPTY, *scope.values())
    if not ok:
        return [ok, top]  # the code
    others = [n for n in sweeps.values if n not in (*found.inputs, *found.results)]
    scope |= dict(zip([*found.results, *others], results, strict=True))
    after = [np.array(scope[n]) for n in (*found.inputs, *found.results)]
    rng = np.random.default_rng(seed)
    names = [d.removeprefix("d_") for d in sweeps.cotangents]
    ds = [rng.normal(size=np.shape(scope[n])) for n in names]
    ds = [d if np.ndim(d) else float(d) for d in ds]
    gives = made["reverse"](stack, top, *(scope[n] for n in sweeps.values), *ds)
    return [ok, top, *after, *gives, *ds]
