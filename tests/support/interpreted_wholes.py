"""Operations on whole arrays as NumPy has them, for the interpreter of regions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Const, Load, Name, Places, Reduce, walk

__all__ = ["places", "reduction"]

VALUE = Name(".value")
REDUCTIONS: dict[str, Any] = {
    "max": np.max, "min": np.min, "prod": np.prod, "any": np.any, "all": np.all,
    "count": np.count_nonzero,
}  # fmt: skip


def reduction(interpreter: Any, s: Reduce) -> Any:
    """Return a function that runs an operation along axes."""
    extents = [interpreter.as_kind(n, INT) for n in s.extents]
    value = interpreter.value(s.value)
    store = interpreter.store(s.target, VALUE)
    axes = tuple([s.counters.index(k) for k in s.along])
    kept = [k for k in range(len(s.counters)) if k not in axes]
    known = [part.name for part in walk(s.target) if isinstance(part, Name)]
    assert isinstance(s.target, Name) or not set(s.along) & {*known} or s.op.startswith("cum")
    assert isinstance(s.target, Load | Name)

    def run(scope: Any) -> None:
        lengths = [n(scope) for n in extents]
        every = []
        for at in product(*map(range, lengths)):
            scope.update(zip(s.counters, at, strict=True))
            every.append(value(scope))
        numbers = np.array(every).reshape(lengths)
        found, loops = reduced(s.op, numbers, axes), kept
        if s.op.startswith("cum"):
            loops = range(len(lengths))
        for at in product(*[range(lengths[k]) for k in loops]):
            scope.update(zip([s.counters[k] for k in loops], at, strict=True))
            scope[VALUE.name] = found[at].item()
            store(scope)

    return run


def reduced(op: str, numbers: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return the result of an operation on numbers along axes."""
    if op in ("cumsum", "cumprod"):
        return getattr(np, op)(numbers, axis=axes[0]) if axes else numbers
    if op in ("argmax", "argmin"):
        moved = np.moveaxis(numbers, axes, range(numbers.ndim - len(axes), numbers.ndim))
        kept = moved.shape[: numbers.ndim - len(axes)]
        return np.asarray(getattr(moved.reshape(*kept, -1), op)(axis=-1))
    if axes or op in REDUCTIONS:
        return np.asarray(REDUCTIONS.get(op, np.sum)(numbers, axis=axes))
    return numbers


def places(interpreter: Any, s: Places) -> Any:
    """Return a function that finds where a test holds."""
    extents = [interpreter.as_kind(n, INT) for n in s.extents]
    test = interpreter.value(s.test)
    notes = [
        interpreter.store(Load(array, (Name(s.count),)), i)
        for array, i in zip(s.arrays, s.index, strict=True)
    ]
    start = interpreter.store(Name(s.count), Const(0))

    def run(scope: Any) -> None:
        start(scope)
        for at in product(*[range(n(scope)) for n in extents]):
            scope.update(zip(s.counters, at, strict=True))
            if test(scope):
                for note in notes:
                    note(scope)
                scope[s.count] += 1

    return run
