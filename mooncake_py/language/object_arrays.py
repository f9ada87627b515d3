"""Operators and NumPy functions on arrays of objects with active elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy import ndarray
from numpy._core import fromnumeric

from mooncake_py.application.foreign import flat, is_other
from mooncake_py.application.out_argument import like
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.errors import MooncakeError
from mooncake_py.language.boxes import Copies, leaves, unboxed
from mooncake_py.language.foreign_operands import is_users, refusal
from mooncake_py.modules import DISPATCHER, module_of, package_of
from mooncake_py.rules import creation, registry
from mooncake_py.runtime import objects
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.numpy_operands import Conversion, sight_of
from mooncake_py.runtime.objects import (
    OBJECT,
    PLAIN,
    as_objects,
    as_operand,
    holds_numbers,
    is_of_objects,
)
from mooncake_py.runtime.operators import BINARY, UNARY, BinaryOperator
from mooncake_py.runtime.quiet import Unheard

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS", "binary", "call", "convertible", "holds_active", "require_castable", "unary"]

OPERATORS = {
    **{op.ufunc: op.name for op in BINARY.values() if op.name != "matmul"},
    **{ufunc: name for name, (_, ufunc, _) in UNARY.items()},
}
CONVERTING = {
    np.ndarray.astype: (1, "dtype"), np.asarray: (1, "dtype"), np.array: (1, "dtype"),
    np.asanyarray: (1, "dtype"), np.astype: (1, "dtype"),
}  # fmt: skip
OF_SEQUENCES = frozenset({
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.linalg.multi_dot,
    getattr(np, "row_stack", np.vstack),
})  # fmt: skip
"""Functions of a sequence of arrays, which is what an array of arrays is to them."""


def holds_active(ctx: Mode, value: Any) -> bool:
    """Return whether a value is an array of objects, some of them active, or a list with one."""
    if type(value) in (list, tuple):
        return any(holds_active(ctx, part) for part in value)
    return is_of_objects(value) and ctx.contains_active(value)


# Operators.


def binary(ctx: Mode, name: str, a: Any, b: Any) -> Any:
    """Run a binary operator of which an operand is an array of objects."""
    objects.mark(ctx)
    if name == "matmul":
        y = call(ctx, np.matmul, (a, b), {})
        if y is not NotImplemented:
            return y
        if not ctx.contains_active((a, b)):
            return ctx.call(np.matmul, a, b)
        return product(ctx, np.matmul, a, b)
    return elementwise(ctx, getattr(ctx, name), (a, b))


def unary(ctx: Mode, name: str, a: ndarray) -> Any:
    """Run a unary operator on an array of objects."""
    return elementwise(ctx, lambda v: ctx.unary(name, v), (a,))


def elementwise(ctx: Mode, run: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Return an array of what a function gives for the elements of operands, broadcast."""
    arrays = [as_operand(ctx, v) for v in operands]
    y = output_for(arrays)
    shape = y.shape
    columns = [np.broadcast_to(a, shape).ravel().tolist() for a in arrays]
    for index, parts in zip(np.ndindex(shape), zip(*columns, strict=True), strict=True):
        y[index] = run(*parts)
    return y if shape else y[()]


def output_for(arrays: list[ndarray]) -> ndarray:
    """Return the array that a ufunc makes for its result: laid out as its operands are."""
    flags = [*[["readonly"]] * len(arrays), ["writeonly", "allocate"]]
    with np.nditer([*arrays, None], ["refs_ok", "zerosize_ok"], flags) as it:  # type: ignore[arg-type]
        return it.operands[-1]


PRODUCTS = (np.matmul, np.dot)  # of two operands, the same for vectors and matrices


def product(ctx: Mode, f: Any, a: Any, b: Any) -> Any:
    """Return the product of vectors and matrices, sums of products in the order of NumPy."""
    left, right = as_operand(ctx, a), as_operand(ctx, b)
    if not (left.ndim in (1, 2) and right.ndim in (1, 2) and left.size and right.size):
        raise missing_rule(ctx, f, (a, b), "it calls methods of objects unseen")
    shape = np.matmul(np.empty(left.shape), np.empty(right.shape)).shape
    rows, columns = left.reshape(-1, left.shape[-1]), right.reshape(len(right), -1).T
    times, plus = (getattr(ctx, OPERATORS[f]) for f in (np.multiply, np.add))
    y = np.empty((len(rows), len(columns)), OBJECT)
    for i, j in np.ndindex(y.shape):
        terms = (times(p, q) for p, q in zip(rows[i], columns[j], strict=True))
        y[i, j] = functools.reduce(plus, terms)
    return y.reshape(shape) if shape else y[0, 0]


# Functions.


def call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy on such arrays; NotImplemented if `f` is none, or there are none."""
    values = (*args, *kwargs.values())
    known = is_of_numpy(f) and f is not ndarray.fill  # which stores one object
    if not (known or is_of_scipy(f)) or not any(holds_active(ctx, v) for v in values):
        return NotImplemented
    if f in CONVERTING and not makes_objects(f, args, kwargs):
        y = converted(ctx, f, args, kwargs)
        if y is not NotImplemented:
            return y
    if f in OPERATORS and not kwargs and len(args) == f.nin:
        return elementwise(ctx, getattr(ctx, OPERATORS[f]), args)
    if f in (abs, np.absolute) and not kwargs and len(args) == 1:
        return elementwise(ctx, lambda v: ctx.call(abs, v), args)
    if f in OF_SEQUENCES and args and is_of_objects(args[0]) and args[0].ndim:
        return ctx.call(f, list(args[0]), *args[1:], **kwargs)
    if not known:
        return run_plainly(ctx, f, args, kwargs)
    if not all(map(holds_operands, arrays_of_objects(values))):
        if f in PRODUCTS and not kwargs and len(args) == len(PRODUCTS):
            return product(ctx, f, *args)
        return NotImplemented
    return with_boxes(ctx, f, args, kwargs)


def run_plainly(ctx: Mode, f: Any, args: Any, kwargs: Any) -> NoReturn:
    """Raise what the plain call raises, or that the rule of a function takes no objects."""
    values = (*args, *kwargs.values())
    if not any(map(callable, values)) and all(map(holds_operands, arrays_of_objects(values))):
        given = Copies(ctx, boxes=False)
        f(*map(given.of, args), **{name: given.of(v) for name, v in kwargs.items()})
    raise missing_rule(ctx, f, values, CONVERTS, kwargs)


def arrays_of_objects(values: Any) -> list[ndarray]:
    """Return the arrays of objects among values, and in lists and tuples."""
    return [v for v in leaves(values) if is_of_objects(v)]


def holds_operands(a: ndarray) -> bool:
    """Return whether an array of objects holds only numbers and plain arrays."""
    return all(type(v) is ndarray or isinstance(v, PLAIN) for v in a.ravel().tolist())


def with_boxes(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy on boxes, and compare the result with that of the plain call."""
    values = (*args, *kwargs.values())
    given = Copies(ctx, boxes=False)
    try:
        expected = f(*map(given.of, args), **{name: given.of(v) for name, v in kwargs.items()})
    except Exception:
        if given.changed():
            raise missing_rule(ctx, f, values, WRITES, kwargs) from None
        raise
    if type(expected) is str:
        return NotImplemented
    if given.are_seen(expected) and not given.changed():
        return moved(ctx, f, args, kwargs)
    boxes = Copies(ctx, boxes=True)
    new = [boxes.of(v) for v in args]
    try:
        with Unheard(), np.errstate(all="ignore"):  # the plain call has said it
            y = f(*new, **{name: boxes.of(v) for name, v in kwargs.items()})
    except MooncakeError:
        raise
    except Exception:
        raise missing_rule(ctx, f, values, CONVERTS, kwargs) from None
    whole = boxes.original(y)
    if whole is None:
        y = unboxed(ctx, y, boxes)
    if whole is not given.original(expected) or not (whole is not None or is_same(y, expected)):
        raise missing_rule(ctx, f, values, CONVERTS, kwargs)
    store_changes(ctx, f, values, given, boxes)
    if ctx.contains_active(y):
        objects.mark(ctx)
    return y if whole is None else whole


CONVERTS = "its result for an array of objects is not that of their operators"
WRITES = "it writes to an array of objects"


def moved(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that returns views of its arguments, and computes nothing."""
    values = (*args, *kwargs.values())
    arrays = [v for v in leaves(values) if isinstance(v, ndarray)]
    known = {id(v) for a in arrays if is_of_objects(a) for v in a.ravel().tolist()}
    y = f(*args, **kwargs)
    for leaf in leaves(y):
        if isinstance(leaf, ndarray) and any(np.may_share_memory(leaf, a) for a in arrays):
            continue
        if not (type(leaf) is ndarray and known.issuperset(map(id, leaf.ravel().tolist()))):
            raise missing_rule(ctx, f, values, CONVERTS, kwargs)
    return y


def is_same(y: Any, expected: Any) -> bool:
    """Return whether a result is that of the plain call, except for its active parts."""
    y = unwrapped(y) if type(y) is Active else y
    if type(y) is not type(expected):
        return False
    if isinstance(y, (list, tuple)):
        return len(y) == len(expected) and all(map(is_same, y, expected))
    if not isinstance(y, ndarray):
        return bool(y is expected or y == expected or (y != y and expected != expected))
    if y.dtype != expected.dtype or y.shape != expected.shape:
        return False
    if y.dtype == OBJECT:
        return all(map(is_same, y.ravel().tolist(), expected.ravel().tolist()))
    if y.dtype.kind not in "fc":
        return bool((y == expected).all())
    return np.allclose(y, expected, 1e-9, 0.0, equal_nan=True)


def store_changes(ctx: Mode, f: Any, values: Any, given: Copies, boxes: Copies) -> None:
    """Write to the arguments what a function has written to their copies."""
    expected = {id(a): copy for a, copy in given.changed()}
    changes = [(a, unboxed(ctx, copy.copy(), boxes)) for a, copy in boxes.changed()]
    for a, new in changes:
        known = id(a) in expected and is_same(new, expected.pop(id(a)))
        if not known or not is_of_objects(a) or a.shape != new.shape:
            raise missing_rule(ctx, f, values, WRITES)
    if expected:
        raise missing_rule(ctx, f, values, WRITES)
    for a, new in changes:
        objects.store(ctx, a, Ellipsis, new)


def is_of_scipy(f: Any) -> bool:
    """Return whether a function is one of SciPy that has a rule, which is not for objects."""
    return package_of(f) == "scipy" and registry.find(f) is not None


def is_of_numpy(f: Any) -> bool:
    """Return whether a function is one of NumPy, a method of an array or of a ufunc, or ``abs``."""
    if isinstance(f, BuiltinFunctionType):
        if f is abs or isinstance(f.__self__, (np.ufunc, ndarray)):
            return True
        return module_of(f).startswith("numpy")
    if isinstance(f, MethodDescriptorType):
        return f.__objclass__ in (ndarray, np.ufunc)
    return isinstance(f, (DISPATCHER, np.ufunc))


def makes_objects(f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a function that converts arrays leaves their elements objects."""
    position, name = CONVERTING[f]
    dtype = args[position] if len(args) > position else kwargs.get(name)
    return dtype is None or np.dtype(dtype) is OBJECT


def converted(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Return the elements of an array of objects in an array of floats, say."""
    position, name = CONVERTING[f]
    dtype = args[position] if len(args) > position else kwargs.get(name)
    if not is_of_objects(args[0]) or not holds_numbers(args[0]) or np.dtype(dtype).shape:
        return NotImplemented
    flat = ctx.call(np.array, args[0].ravel().tolist(), dtype)
    model = f(np.zeros_like(args[0]), *args[1:], **kwargs)
    return like(ctx, ctx.call(np.reshape, flat, args[0].shape), model)


def convertible(ctx: Mode, o: ndarray, value: Any) -> Any:
    """Return an array of objects that is written into one of numbers as one of numbers."""
    if not is_of_objects(value) or o.dtype is OBJECT or not ctx.contains_active(value):
        return value
    y = converted(ctx, np.asarray, (value, o.dtype), {})
    if y is NotImplemented:
        Copies(ctx, boxes=False).of(value).astype(o.dtype)  # raises
        raise missing_rule(ctx, ndarray.__setitem__, (o, value), CONVERTS)
    return y


def require_castable(ctx: Mode, op: BinaryOperator, x: ndarray, value: Any) -> None:
    """Raise if an array of numbers is updated by an array of objects, which NumPy casts to none."""
    if is_of_objects(value) and x.dtype is not OBJECT and ctx.contains_active(value):
        given = Copies(ctx, boxes=False)
        op.inplace(given.of(x), given.of(value))  # raises
        raise missing_rule(ctx, op.inplace, (x, value), CONVERTS)


# Handlers.


def run_objects(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``np.array(items, dtype=object)``."""
    items, ndmin, order = args
    if not ctx.contains_active(items):
        return f(*args, **kwargs)
    for value in flat(items):
        if is_other(value) and is_users(value) and reads_items(value):
            raise refusal(ctx, np.array, value)
    objects.mark(ctx)
    return np.array(as_objects(ctx, items), copy=None, order=order, ndmin=ndmin)


def reads_items(value: Any) -> bool:
    """Return whether NumPy looks for items in an object, by methods that it runs itself."""
    return sight_of(value).conversion in (Conversion.SEQUENCE, Conversion.INTERFACE)


def run_method_of_array(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of arrays, as NumPy does for what has no such method, a deque for example."""
    value, name, *rest = args
    if hasattr(type(value), "__array_wrap__"):
        return ctx.call_function(f, args, kwargs)
    return ctx.method(ctx.call(np.asarray, value), name, *rest, **kwargs)


HANDLERS = {
    creation.array_of_objects: run_objects,
    fromnumeric._wrapit: run_method_of_array,  # type: ignore[attr-defined]
}
