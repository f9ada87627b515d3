"""The results of functions, made of the numbers and arrays that a region returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.passed import numbers_in
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.rules.complex_parts import complex_number
from mooncake_py.runtime.active import Active

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["TYPES", "given_back", "parts_given", "types_in"]

TYPES: dict[str, type] = {
    "float": float, "float64": np.float64, "float32": np.float32, "int": int, "int64": np.int64,
    "bool": bool, "bool_": np.bool_,
}  # fmt: skip


def types_in(output: Output) -> list[tuple[str, type | str]]:
    """Return the types of the numbers in a result, or what tells them, by their names."""
    if output.kind in ("number", "floats"):
        return [(output.name, output.rank or TYPES[output.type])]
    return [pair for item in output.items for pair in types_in(item)]


def given_back(output: Output, found: dict[str, Any], ctx: Mode | None = None) -> Any:
    """Return a result as the function would give it back."""
    match output.kind:
        case "known":
            return output.value
        case "tuple":
            return tuple([given_back(item, found, ctx) for item in output.items])
        case "list":
            return [given_back(item, found, ctx) for item in output.items]
        case "dict":
            items = [given_back(item, found, ctx) for item in output.items]
            return dict(zip(output.value, items, strict=True))
        case "floats":
            y = found[output.name]
            return y if type(y) is list else numbers_in(y, TYPES[output.type])
        case "complex":
            return complex_of(ctx, *[found[part.name] for part in output.items])
    return found[output.name]


def parts_given(output: Output, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names of the parts of a result in a region, with what the program has for them.

    Complex numbers are left out: their parts are none of the program's values.
    """
    if output.kind in ("tuple", "list", "dict"):
        parts = [*value.values()] if output.kind == "dict" else value
        for item, part in zip(output.items, parts, strict=True):
            yield from parts_given(item, part)
    elif output.kind not in ("known", "complex"):
        yield output.name, value


def complex_of(ctx: Mode | None, re: Any, im: Any) -> Any:
    """Return a complex number of Python or of NumPy, as its parts are."""
    made = re.primal if type(re) is Active else re
    dtype = None if type(made) is float else np.result_type(made, 1j).type
    if ctx is None:
        y = complex(re, im)
        return y if dtype is None else dtype(y)
    y = ctx.call(complex_number, re, im)
    return y if dtype is None else ctx.call(dtype, y)
