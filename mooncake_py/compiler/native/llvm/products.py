"""Products of matrices: by BLAS where they are large, and parts of arrays that have their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.compiler.native.llvm.numbers import REGISTER, SUFFIX, constant
from mooncake_py.compiler.native.llvm.saved import sized
from mooncake_py.compiler.native.regions.contractions import Contraction, Window
from mooncake_py.compiler.native.regions.helpers import LARGE
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import INT

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.expressions import Expressions

__all__ = ["product_by_blas"]


def product_by_blas(to: Expressions, c: Contraction, end: str) -> None:
    """Write what computes a product and goes to a label; what is written next is done if not."""
    writer = to.writer
    if not writer.module.has_blas():
        return
    look, call, loops = (writer.fresh(hint) for hint in ("look", "blas", "loops"))
    sizes = {counter: to.as_kind(c.extents[counter], INT) for counter in c.order}
    many = to.as_kind(sized(1, tuple([c.extents[counter] for counter in c.order])), INT)
    writer.branch(writer.do(f"icmp sgt i64 {many}, {LARGE}"), look, loops)
    writer.begin(look)
    parts: list[str] = []
    fits = "true"
    for w in c.windows:
        fits = matrix(to, w, sizes, parts, fits)
    writer.branch(fits, call, loops)
    writer.begin(call)
    kind = to.arrays.kind(c.target.array)
    parts += [f"i64 {n}" for n in sizes.values()]
    parts.append(f"{REGISTER[kind]} {constant(-1.0 if c.is_negative else 1.0, kind)}")
    parts.append(f"i1 {'true' if c.is_guarded else 'false'}")
    done = writer.helper(f"mc_add_product_{SUFFIX[kind]}", "i1", *parts)
    writer.branch(done, end, loops)
    writer.begin(loops)


def matrix(to: Expressions, w: Window, sizes: dict[str, str], parts: list[str], fits: str) -> str:
    """Write where a part of an array begins, and the distances of its rows and columns.

    Returns
    -------
    str
        Whether the matrices until this one are within their arrays.
    """
    do, arrays = to.writer.do, to.arrays
    place = "0"
    steps: dict[str, str] = {}
    for axis, part in enumerate(w.axes):
        first, counter = part if isinstance(part, tuple) else (part, None)
        begin = to.as_kind(first, INT)
        step = "1" if axis == len(w.axes) - 1 else arrays.stride(w.array, axis)
        if counter is not None:
            steps[counter] = step
            end = do(f"add i64 {begin}, {sizes[counter]}")
            tests = [f"icmp sle i64 {end}, {arrays.length(w.array, axis)}"]
            if first != ZERO:
                tests.append(f"icmp sge i64 {begin}, 0")
            for test in tests:
                fits = do(f"and i1 {fits}, {do(test)}")
        place = do(f"add i64 {place}, {do(f'mul i64 {begin}, {step}')}")
    counters = [part[1] for part in w.axes if isinstance(part, tuple)]
    row, column = reversed(counters) if w.is_transposed else counters
    parts += [f"ptr {arrays.element(w.array, place)}", f"i64 {steps[row]}", f"i64 {steps[column]}"]
    return fits
