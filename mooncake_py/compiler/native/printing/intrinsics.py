"""Helpers as instructions of the machine: arithmetic without branches, and calls of BLAS."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

from mooncake_py.compiler.native.printing.tanh import emit_tanh
from mooncake_py.compiler.native.regions import helpers

__all__ = ["INTRINSIC", "intrinsic"]


def intrinsic(f: FunctionType) -> Any:
    """Return what Numba compiles in the place of one of our functions.  Imports Numba."""
    typed = MATRIX[f] if f in MATRIX else arithmetic(f)
    return import_module("numba.extending").intrinsic(typed)


def arithmetic(f: FunctionType) -> Callable[..., Any]:
    """Return how a function of floats is compiled.

    Sums may be taken in any order; nothing else is reordered.
    """
    flags = ("reassoc", "contract")

    def plus(builder: Any, total: Any, e: Any) -> Any:
        return builder.fadd(total, e, flags=flags)

    def plus_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
        return builder.fadd(total, builder.fmul(a, b, flags=flags), flags=flags)

    def guarded(builder: Any, d: Any, product: Any) -> Any:
        zero = d.type(0.0)
        return builder.select(builder.fcmp_ordered("==", d, zero), zero, product)

    def times(builder: Any, d: Any, p: Any) -> Any:
        return guarded(builder, d, builder.fmul(d, p))

    def over(builder: Any, d: Any, p: Any) -> Any:
        return guarded(builder, d, builder.fdiv(d, p))

    emits: dict[Any, Callable[..., Any]] = {
        helpers.plus: plus, helpers.plus_product: plus_product, helpers.times: times,
        helpers.over: over, helpers.tanh: emit_tanh,
    }  # fmt: skip
    types = import_module("numba.core.types")
    real, whole = types.float64, types.int64

    def emit(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        return emits[f](builder, *args)

    def one(typing: Any, x: Any) -> Any:
        kind = x if x in types.real_domain else real
        return kind(kind), emit

    def other_kind(typing: Any, x: Any) -> Any:
        to, of = (real, whole) if f is helpers.as_bits else (whole, real)

        def emit_cast(target: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], target.get_value_type(to))

        return to(of), emit_cast

    def two(typing: Any, a: Any, b: Any) -> Any:
        return real(real, real), emit

    def three(typing: Any, a: Any, b: Any, c: Any) -> Any:
        return real(real, real, real), emit

    typed: dict[Any, Callable[..., Any]] = {
        helpers.plus_product: three, helpers.tanh: one, helpers.as_bits: other_kind,
        helpers.as_int: other_kind,
    }  # fmt: skip
    return typed.get(f, two)


# Products of matrices.


def strided(typing: Any, x: Any) -> Any:
    """Return how an array becomes one of which the order is not known."""

    def emit(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        new_reference = import_module("numba.core.imputils").impl_ret_borrowed
        return new_reference(target, builder, signature.return_type, args[0])

    return x.copy(layout="A")(x), emit


def multiply(typing: Any, z: Any, x: Any, y: Any) -> Any:
    """Return how a product of matrices is computed, by the BLAS that SciPy has.

    It counts in columns: its product of the transposes is the transpose of ours.  Numba's own
    `dot` takes half a second to compile for each order of operands, and copies parts of arrays.
    """
    types = import_module("numba.core.types")
    linalg = import_module("numba.np.linalg")
    linalg.ensure_blas()
    ir = import_module("llvmlite.ir")
    size = ir.IntType(64)

    def emit(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        item = target.get_abi_sizeof(target.get_data_type(z.dtype))
        make_array = import_module("numba.np.arrayobj").make_array
        cgutils = import_module("numba.core.cgutils")

        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.icmp_signed(">", a, b), a, b)

        def operand(type_: Any, value: Any) -> tuple[Any, Any, Any, Any]:
            """Return whether it is transposed, the distance of its rows, data and shape."""
            array = make_array(type_)(target, builder, value)
            rows, columns = cgutils.unpack_tuple(builder, array.shape, 2)
            by_row, by_column = cgutils.unpack_tuple(builder, array.strides, 2)
            is_plain = builder.icmp_signed("==", by_column, size(item))
            step = builder.sdiv(builder.select(is_plain, by_row, by_column), size(item))
            distance = larger(larger(step, builder.select(is_plain, columns, rows)), size(1))
            letter = builder.select(is_plain, byte(ord("n")), byte(ord("t")))
            return letter, distance, builder.bitcast(array.data, byte.as_pointer()), array.shape

        _, distance, data, shape = operand(z, args[0])
        letter_x, distance_x, data_x, shape_x = operand(x, args[1])
        letter_y, distance_y, data_y, _ = operand(y, args[2])
        one, zero = (
            builder.bitcast(
                linalg.make_constant_slot(target, builder, z.dtype, value), byte.as_pointer()
            )
            for value in (1.0, 0.0)
        )
        parts = [
            byte(ord(linalg.get_blas_kind(z.dtype))), letter_y, letter_x,
            builder.extract_value(shape, 1), builder.extract_value(shape, 0),
            builder.extract_value(shape_x, 1), one, data_y, distance_y, data_x, distance_x, zero,
            data, distance,
        ]  # fmt: skip
        made = ir.FunctionType(ir.IntType(32), [part.type for part in parts])
        gemm = cgutils.get_or_insert_function(builder.module, made, "numba_xxgemm")
        linalg.check_blas_return(target, builder, builder.call(gemm, parts))
        return target.get_dummy_value()

    return types.none(z, x, y), emit


MATRIX: dict[Any, Callable[..., Any]] = {helpers.strided: strided, helpers.multiply: multiply}
INTRINSIC = frozenset(
    {
        helpers.plus, helpers.plus_product, helpers.times, helpers.over, helpers.tanh,
        helpers.as_bits, helpers.as_int, *MATRIX,
    }
)  # fmt: skip
"""The functions that `intrinsic` takes."""
