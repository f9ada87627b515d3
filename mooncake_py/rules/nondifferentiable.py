"""Functions without a derivative: steps, integers, indices, and predicates.

They run natively on primals, and record nothing.
"""

from __future__ import annotations

import cmath
import math
import time

import numpy as np

from mooncake_py.rules.declare import not_implemented, refused, zero_derivative

__all__: list[str] = []

# Piecewise constant.

zero_derivative(
    np.floor, np.ceil, np.rint, np.trunc, np.round, np.around, np.ndarray.round,
    np.floor_divide, np.spacing,
    math.floor, math.ceil, math.trunc, math.ulp,
    because="piecewise constant",
)  # fmt: skip

zero_derivative(not_implemented, because="a marker")  # in rules that are differentiated again

# Questions about values.

zero_derivative(
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.isfinite, np.isinf, np.isnan, np.isnat, np.isneginf, np.isposinf, np.signbit,
    np.iscomplex, np.isreal, np.isclose, np.allclose, np.array_equal, np.array_equiv,
    np.all, np.any, np.ndarray.all, np.ndarray.any, np.isin,
    math.isfinite, math.isinf, math.isnan, math.isclose,
    cmath.isfinite, cmath.isinf, cmath.isnan, cmath.isclose,
    float.is_integer,
    because="true or false",
)  # fmt: skip

# Integers and bits.

zero_derivative(
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    np.bitwise_count, np.gcd, np.lcm, np.packbits, np.unpackbits,
    math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt,
    because="integers",
)  # fmt: skip

refused(
    float.as_integer_ratio,
    why="the two integers carry no derivative",
    fix="compute with the value itself, without fractions",
)

# Indices and counts.

zero_derivative(
    np.argmax, np.argmin, np.argsort, np.argpartition, np.nanargmax, np.nanargmin,
    np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort, np.ndarray.argpartition,
    np.searchsorted, np.ndarray.searchsorted, np.digitize, np.lexsort,
    np.nonzero, np.ndarray.nonzero, np.flatnonzero, np.argwhere, np.count_nonzero,
    np.unravel_index, np.ravel_multi_index, np.indices, np.mask_indices,
    np.diag_indices, np.diag_indices_from,
    np.tril_indices, np.tril_indices_from, np.triu_indices, np.triu_indices_from,
    because="returns indices",
)  # fmt: skip

# Shapes, memory and types.

zero_derivative(
    np.shape, np.ndim, np.size, np.broadcast_shapes, np.iterable, np.isscalar,
    np.iscomplexobj, np.isrealobj, np.isfortran, np.shares_memory, np.may_share_memory,
    np.result_type, np.can_cast, np.promote_types, np.min_scalar_type, np.common_type,
    np.mintypecode, np.issubdtype, np.isdtype, np.finfo, np.iinfo,
    because="does not depend on values",
)  # fmt: skip

# Deprecated since NumPy 2.5; a later one may lack them.

for deprecated, because in (("fix", "piecewise constant"), ("typename", "of types, not values")):
    if hasattr(np, deprecated):
        zero_derivative(getattr(np, deprecated), because=because)

# Text, clocks and settings that are only read.

zero_derivative(
    np.array2string, np.array_repr, np.array_str, np.base_repr, np.binary_repr,
    np.format_float_positional, np.format_float_scientific,
    np.get_printoptions, np.geterr, np.getbufsize, float.hex,
    because="returns text or settings",
)  # fmt: skip
zero_derivative(
    time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic,
    time.monotonic_ns, time.process_time, time.process_time_ns, time.thread_time,
    time.thread_time_ns, time.sleep,
    because="changes no values",
)  # fmt: skip
