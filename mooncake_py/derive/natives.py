"""Functions of Python itself that run as they are, with values passed by reference."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive import state
from mooncake_py.derive.active import Active, primal_of
from mooncake_py.errors import DerivativeDropError

__all__ = ["HANDLERS", "contains_active", "derived_manager", "iterate_object", "unwrapped"]

Handler = Callable[[Any, Any, Any, Any], Any]

INERT = frozenset({
    int, float, complex, bool, str, bytes, type(None), type, slice, range, type(Ellipsis),
    np.dtype, np.bool_, np.int64, np.int32, np.intp, np.float64, np.float32, np.complex128,
    type(NotImplemented), BuiltinFunctionType, np.ufunc, ModuleType,
})


def unwrapped(value: Any) -> Any:
    """Return a value with active scalars replaced by their numbers, inside containers too."""
    t = type(value)
    if t is Active:
        return value.primal
    if t is tuple or t is list:
        return t(unwrapped(v) for v in value)
    if t is dict:
        return {primal_of(k): unwrapped(v) for k, v in value.items()}
    return value


def contains_active(ctx: Any, value: Any, seen: set[int]) -> bool:
    """Tell whether a value is active, or holds something active at any depth."""
    t = type(value)
    if t in INERT:
        return False
    if t is Active:
        return True
    if isinstance(value, ndarray):
        base = value
        return ctx.find(base) is not None if t is ndarray else owner_active(ctx, value)
    if id(value) in seen:
        return False
    seen.add(id(value))
    return any(contains_active(ctx, part, seen) for part in parts(value))


def owner_active(ctx: Any, value: ndarray) -> bool:
    """Tell whether an instance of a subclass of ndarray shares active memory."""
    return value.dtype.kind in "fc" and ctx.find(value.view(ndarray)) is not None


def parts(value: Any) -> Iterable[Any]:
    """Return what a container, object or function holds."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return list(value)
    if isinstance(value, FunctionType):
        return [c.cell_contents for c in value.__closure__ or () if _filled(c)] + list(
            value.__defaults__ or ()
        )
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (type, ModuleType)):
        return ()
    if isinstance(value, GeneratorType):
        return list(value.gi_frame.f_locals.values()) if value.gi_frame is not None else ()
    fields = getattr(value, "__dict__", None)
    found = list(fields.values()) if type(fields) is dict else []
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                found.append(getattr(value, name))
    return found


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


# Iteration.


def iterate_object(ctx: Any, iterable: Any) -> Any:
    """Return what a loop over an object of any type but the common ones runs over."""
    t = type(iterable)
    if t is np.flatiter:
        return iterate_flat(ctx, iterable)
    method = getattr(t, "__iter__", None)
    if type(method) is FunctionType:
        return iterate_derived(ctx, ctx.call(method, iterable))
    if method is None and type(getattr(t, "__getitem__", None)) is FunctionType:
        return iterate_by_index(ctx, iterable)
    if type(getattr(t, "__next__", None)) is FunctionType:
        return iterate_derived(ctx, iterable)
    return iterable


def iterate_derived(ctx: Any, iterator: Any) -> Any:
    """Return an iterator whose Python ``__next__``, if it has one, is derived."""
    step = getattr(type(iterator), "__next__", None)
    if type(step) is not FunctionType:
        return iterator
    return call_until_stop(ctx, step, iterator)


def call_until_stop(ctx: Any, step: Any, iterator: Any) -> Iterator[Any]:
    """Yield what ``__next__`` returns until it raises StopIteration."""
    while True:
        try:
            item = ctx.call(step, iterator)
        except StopIteration:
            return
        yield item


def iterate_by_index(ctx: Any, sequence: Any) -> Iterator[Any]:
    """Yield ``sequence[0]``, ``sequence[1]``, ... until IndexError."""
    for i in itertools.count():
        try:
            item = ctx.getitem(sequence, i)
        except IndexError:
            return
        yield item


# array.flat


def iterate_flat(ctx: Any, flat: np.flatiter[Any]) -> Iterator[Any]:
    """Yield the elements of an array in C order."""
    for i in range(len(flat)):
        yield read_flat(ctx, flat, i)


def flat_index(base: ndarray, i: Any) -> Any:
    """Return the multi-dimensional index of ``base.flat[i]``."""
    return np.unravel_index(np.arange(base.size)[i], base.shape)


def read_flat(ctx: Any, flat: np.flatiter[Any], i: Any) -> Any:
    """Run ``array.flat[i]``: a copy, or one element."""
    base = flat.base
    return ctx.getitem(base, flat_index(base, i))


def assign_flat(ctx: Any, base: ndarray, i: Any, v: Any) -> None:
    """Run ``array.flat[i] = v``; a shorter `v` repeats."""
    index = flat_index(base, i)
    count = index[0].size if type(index[0]) is ndarray else 1
    if type(v) is ndarray or type(v) is list or type(v) is tuple:
        v = ctx.call(np.resize, ctx.call(np.ravel, v), (count,))
        if count == 1 and type(index[0]) is not ndarray:
            v = ctx.getitem(v, 0)
    ctx.assign(base, index, v)


def refuse_metadata_write(ctx: Any, name: str) -> None:
    """Refuse ``array.shape = ...`` and the like."""
    raise ctx.failed(
        DerivativeDropError(
            f"setting the attribute {name!r} of an array is not supported",
            where=ctx.user_location(),
            why="it changes the layout of memory that the reverse pass refers to",
            mend="use reshape, view or astype, which return a new array",
        )
    )


def unsupported_operands(op: Any, ta: type, tb: type) -> Any:
    """Raise the error that Python raises when neither operand knows the operator."""
    raise TypeError(
        f"unsupported operand type(s) for {op.method.strip('_')}: "
        f"{ta.__name__!r} and {tb.__name__!r}"
    )


# Context managers.


class DerivedManager:
    """A context manager whose ``__enter__`` and ``__exit__`` run derived."""

    def __init__(self, ctx: Any, manager: Any) -> None:
        self._ctx = ctx
        self._manager = manager

    def __enter__(self) -> Any:
        return self._ctx.call(type(self._manager).__enter__, self._manager)

    def __exit__(self, *details: Any) -> Any:
        return self._ctx.call(type(self._manager).__exit__, self._manager, *details)


def derived_manager(ctx: Any, manager: Any) -> Any:
    """Return a manager that runs derived if it is written in Python, else the manager itself."""
    t = type(manager)
    if type(getattr(t, "__enter__", None)) is not FunctionType or is_native_module(t.__module__):
        return manager
    return DerivedManager(ctx, manager)


# Modules whose Python code has no part in a derivative and runs as it is.

NATIVE_MODULES = frozenset("""
    abc argparse ast asyncio atexit builtins collections concurrent contextvars csv datetime
    dataclasses enum gc getpass glob hashlib importlib inspect io json linecache locale logging
    matplotlib multiprocessing numbers os pathlib pdb pickle platform posixpath pprint pytest
    _pytest queue random re reprlib selectors shutil signal socket string subprocess sys tempfile
    textwrap threading time timeit tokenize tqdm traceback typing typing_extensions unittest uuid
    warnings weakref zoneinfo
""".split())


def is_native_module(module: str | None) -> bool:
    """Tell whether Python code of a module runs as it is."""
    root = (module or "").partition(".")[0]
    return root in NATIVE_MODULES or module == "numpy._core._ufunc_config"


# Handlers: (context, function, args, kwargs) -> result.


def run(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run natively; values pass by reference."""
    return f(*args, **kwargs)


def run_on_primals(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run on numbers: printing, hashing, conversion to int."""
    return f(*map(unwrapped, args), **unwrapped(kwargs))


def run_iterating(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over its arguments; elements of vectors are active."""
    return f(*map(ctx.iter, args), **kwargs)


def run_iterating_first(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that iterates over its first argument."""
    return f(*map(ctx.iter, args[:1]), *args[1:], **kwargs)


def run_reversed(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    method = getattr(type(args[0]), "__reversed__", None)
    if type(method) is FunctionType:
        return ctx.iter(ctx.call(method, args[0]))
    if type(args[0]) is ndarray:
        return reversed(list(ctx.iter(args[0])))
    return reversed(*args)


def run_next(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    step = getattr(type(args[0]), "__next__", None)
    if type(step) is not FunctionType:
        return next(*args)
    try:
        return ctx.call(step, args[0])
    except StopIteration:
        if len(args) > 1:
            return args[1]
        raise


def run_iter(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 2:
        return iterate_calls(ctx, *args)
    return iter(ctx.iter(args[0]))


def iterate_calls(ctx: Any, function: Any, sentinel: Any) -> Iterator[Any]:
    """Yield what a function returns until it returns the sentinel."""
    while (item := ctx.call(function)) != sentinel:
        yield item


def run_type(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 1 and type(args[0]) is Active:
        return type(args[0].primal)
    return type(*args, **kwargs)


def run_getattr(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    try:
        return ctx.getattr(args[0], args[1])
    except AttributeError:
        if len(args) == 3:
            return args[2]
        raise


def run_setattr(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.setattr(*args)


def run_delattr(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.delattr(*args)


def run_object_setattr(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    o, name, v = args
    old = getattr(o, "__dict__", {}).get(name, state._MISSING)
    object.__setattr__(o, name, v)
    state.note(ctx, state.restore_attribute, o, name, old)


def run_len(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    method = getattr(type(args[0]), "__len__", None)
    return ctx.call(method, args[0]) if type(method) is FunctionType else len(*args)


def run_number(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``float(x)``, ``complex(x)``, ``np.float64(x)``: a conversion keeps the derivative."""
    x = args[0] if args else 0.0
    if type(x) is Active and len(args) == 1:
        converted = f(x.primal)
        if type(converted) is type(x.primal):
            return x
        y = Active(converted, ctx)
        ctx.convert_scalar(y, x)
        return y
    if type(x) is ndarray and ctx.find(x) is not None:
        if issubclass(f, np.generic) and x.ndim:
            return ctx.call(ndarray.astype, x, f)
        return run_number(ctx, f, (ctx.call(ndarray.item, x),), kwargs)
    if len(args) == 2 and any(type(a) is Active for a in args):  # complex(re, im)
        return ctx.add(args[0], ctx.mul(1j, args[1]))
    method = getattr(type(x), "__float__", None)
    if f is float and type(method) is FunctionType:
        return ctx.call(method, x)
    return f(*map(primal_of, args), **kwargs)


def run_getter(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.getitem(*args)


def run_setter(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.setitem(*args)


def run_deleter(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.delitem(*args)


def run_deepcopy(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return state.deep_copied(ctx, *args, **kwargs)


def run_copy(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    if type(args[0]) is ndarray:
        return ctx.call(ndarray.copy, args[0], "K")
    method = getattr(type(args[0]), "__copy__", None)
    if type(method) is FunctionType:
        return ctx.call(method, args[0])
    return copy.copy(*args)


def run_call(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.call(*args, **kwargs)


def _operator_handler(name: str) -> Handler:
    return lambda ctx, f, args, kwargs: getattr(ctx, name)(*args)


def _table() -> dict[Any, Handler]:
    table: dict[Any, Handler] = {}
    for f in (isinstance, issubclass, callable, id, slice, range, object, super, property,
              staticmethod, classmethod, globals, repr, ascii, vars, dir, open, input,
              functools.wraps, functools.update_wrapper, functools.partial, itertools.count,
              object.__new__, object.__init__, itertools.repeat, collections.namedtuple):
        table[f] = run
    for f in (hash, str, bytes, bytearray, format, print, bool, int, chr, ord, bin, hex, oct,
              np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
              np.uint64, np.dtype, operator.index):
        table[f] = run_on_primals
    for f in (list, tuple, set, frozenset, zip, any, all, itertools.chain, itertools.product,
              itertools.zip_longest, itertools.pairwise, itertools.cycle,
              itertools.chain.from_iterable, collections.Counter, collections.OrderedDict, dict):
        table[f] = run_iterating
    for f in (enumerate, itertools.islice, itertools.permutations, itertools.combinations,
              itertools.combinations_with_replacement, itertools.tee, itertools.compress,
              collections.deque, dict.fromkeys):
        table[f] = run_iterating_first
    table[collections.defaultdict] = run
    table[reversed] = run_reversed
    table[next] = run_next
    table[iter] = run_iter
    table[type] = run_type
    table[len] = run_len
    table[getattr] = run_getattr
    table[setattr] = run_setattr
    table[delattr] = run_delattr
    table[hasattr] = run
    table[object.__setattr__] = run_object_setattr
    for f in (float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64,
              np.complex128, np.clongdouble):
        table[f] = run_number
    table[operator.getitem] = run_getter
    table[operator.setitem] = run_setter
    table[operator.delitem] = run_deleter
    table[copy.deepcopy] = run_deepcopy
    table[copy.copy] = run_copy
    table[operator.call if hasattr(operator, "call") else run_call] = run_call
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
                 "rshift", "and_", "or_", "xor", "neg", "pos", "invert"):
        table[getattr(operator, name)] = _operator_handler(name)
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"):
        table[getattr(operator, name)] = _operator_handler(name)
    for f in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt,
              operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains):
        table[f] = run
    return table


HANDLERS = _table()
