"""Functions made by ``numba.vectorize`` and ``numba.guvectorize``: derived, or run on constants."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.jitted import effects
from mooncake_py.language.numba_functions import refuse_difference
from mooncake_py.rules.jitted_ufuncs import bound_to, elementwise_loop, generalized_loop
from mooncake_py.rules.steady import hold_functions
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.numerals import checked

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call_elementwise", "call_generalized"]

hold_functions()  # rules that are read when Numba is there

WEAK = (int, float, complex)  # NumPy takes the dtypes of the others
_loops: WeakKeyDictionary[Any, FunctionType] = WeakKeyDictionary()


def call_elementwise(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call what ``numba.vectorize`` made."""
    operands, outputs = parted(ctx, f, args, kwargs)
    y = f(*unwrapped(operands))  # says which dtype the result has
    if is_derived(ctx, f, operands):
        operands = converted(f, operands)
        if issubclass(type(y), ndarray):
            loop = loop_of(f, elementwise_loop(f.ufunc.nin))
            y = ctx.call_function(loop, (y.shape, y.dtype, *operands), {})
        else:
            number = ctx.call(f._dispatcher.py_func, *(taken_out(ctx, a) for a in operands))
            y = ctx.call(type(y), number)
    return handed_out(ctx, f, args, [y], outputs)


def call_generalized(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call what ``numba.guvectorize`` made: it writes into its last arguments."""
    operands, outputs = parted(ctx, f, args, kwargs)
    ys = [y.copy() for y in outputs]
    made = f(*unwrapped(operands), *ys)
    if not outputs:
        ys = [np.asarray(y) for y in (made if issubclass(type(made), tuple) else (made,))]
    if is_derived(ctx, f, operands):
        ys = [y.copy() for y in outputs] or [np.empty_like(y) for y in ys]
        run_generalized(ctx, f, converted(f, operands), ys)
    return handed_out(ctx, f, args, [taken_out(ctx, y) for y in ys], outputs)


def parted(ctx: Mode, f: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the operands, and the arrays that the ufunc is to write into."""
    count = f.ufunc.nin
    out = kwargs.get("out", args[count:])
    if kwargs.keys() - {"out"}:
        why = "of its options only `out` is known where its Python runs"
        raise missing_rule(ctx, f, (*args, *kwargs.values()), why, kwargs)
    return args[:count], out if issubclass(type(out), tuple) else (out,)


def is_derived(ctx: Mode, f: Any, operands: Any) -> bool:
    """Return True if a ufunc is to run as Python, which then means what was compiled."""
    compiled = f._dispatcher
    if not any(effects(compiled)) and not ctx.contains_active((compiled.py_func, *operands)):
        return False
    refuse_difference(ctx, compiled, f.__name__)
    return True


def converted(f: Any, operands: Any) -> list[Any]:
    """Return the operands, ints among them as floats where it is these that are compiled for."""
    types = [kind_of(a) for a in operands]
    dtypes = f.ufunc.resolve_dtypes((*types, *[None] * f.ufunc.nout))
    return [
        np.asarray(a, to) if np.dtype(t).kind in "biu" and to.kind in "fc" else a
        for a, t, to in zip(operands, types, dtypes, strict=False)
    ]


def kind_of(a: Any) -> Any:
    """Return the dtype of an operand, or the class of a number of Python."""
    a = unwrapped(a)
    return type(a) if type(a) in WEAK else np.asarray(a).dtype


def loop_of(f: Any, loop: FunctionType) -> FunctionType:
    """Return a loop that calls the Python function of a ufunc, the same each time."""
    if f not in _loops:
        _loops[f] = bound_to(f._dispatcher.py_func, loop)
    return _loops[f]


def run_generalized(ctx: Mode, f: Any, operands: list[Any], ys: list[ndarray]) -> None:
    """Run the Python of a generalized ufunc for each place of the dimensions it loops over."""
    cores, made = f.expected_ndims()
    types = next(iter(f.gufunc_builder._cres)).args  # what is passed for a number differs
    place = ys[0].shape[: ys[0].ndim - made[0]]
    shapes = []
    for i, (a, core, type_) in enumerate(zip(operands, cores, types, strict=False)):
        own: tuple[int, ...] = np.shape(unwrapped(a))
        if core == 0 and getattr(type_, "ndim", 0):
            operands[i] = ctx.call(np.expand_dims, a, -1)
            own, core = (*own, 1), 1
        shapes.append((*place, *own[len(own) - core :]))
    parts = [y if core else y[..., None] for y, core in zip(ys, made, strict=True)]
    loop = loop_of(f, generalized_loop)
    ctx.call_function(loop, (place, shapes, operands, parts), {})


def taken_out(ctx: Mode, a: Any) -> Any:
    """Return an operand, the number in an array without dimensions."""
    return ctx.getitem(a, ()) if issubclass(type(a), ndarray) and not a.ndim else a


def handed_out(ctx: Mode, f: Any, args: Any, ys: list[Any], outputs: tuple[Any, ...]) -> Any:
    """Return the results, or the outputs after writing the results into them."""
    for y, out in zip(ys, outputs, strict=False):
        ctx.setitem(out, Ellipsis, y)
    parts: tuple[Any, ...] = outputs or tuple(checked(ctx, f, args, y) for y in ys)
    return parts[0] if len(parts) == 1 else parts
