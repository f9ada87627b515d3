"""Subclasses of ndarray: an instance is an array with a class and attributes.

The engine derives the methods that the class defines in Python (``__array_ufunc__``,
``__array_finalize__``, operators).  Other operations run on the plain array, and the result becomes
an instance as in NumPy.  If nothing is active, NumPy itself runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MethodWrapperType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from numpy._core import _methods

from mooncake_py.application.foreign import (
    asks,
    computes_otherwise,
    flat,
    is_dispatching,
    is_mask,
    is_other,
    may_write,
    ufunc_of,
)
from mooncake_py.application.native_writes import WRITERS
from mooncake_py.application.out_argument import AVERAGES, named_out
from mooncake_py.containers import effects
from mooncake_py.diagnostics.reporting import Reporting
from mooncake_py.language import (
    array_attributes,
    numpy_operators,
    operators,
    records,
    special,
    subclass_operators,
)
from mooncake_py.language.array_attributes import run_setflags
from mooncake_py.language.elements import as_element
from mooncake_py.language.foreign_operands import (
    as_input,
    as_inputs,
    is_constant,
    is_users,
    refusal,
    require_known,
    run_constant,
)
from mooncake_py.language.iteration import ask_length
from mooncake_py.language.plain_comparison import compared
from mooncake_py.language.subclass_instances import dressed, viewed, wrapped, wrapping
from mooncake_py.language.subclass_protocols import (
    apply_ufunc,
    ask_function,
    ask_like,
    call_ufunc,
    overriding,
)
from mooncake_py.language.subclass_results import (
    asks_within,
    no_meaning,
    require_plain_form,
    run_on_plain,
)
from mooncake_py.modules import DISPATCHER, module_of, package_of
from mooncake_py.runtime import activity
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.numpy_operands import MISSING, Conversion, sight_of, takes_over
from mooncake_py.tangents.subclasses import is_instance, named, plain, plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["answer", "attribute", "call", "call_method", "refuse", "takes"]

VECTORIZED = np.vectorize.__call__
PLAIN = activity.INERT | {ndarray, Active}
TAKE_PLAIN = frozenset({
    np.einsum, np.interp, np.convolve, np.correlate, np.choose, np.broadcast_to, np.insert,
    np.delete, np.place, np.put_along_axis, np.fill_diagonal,
})  # fmt: skip
"""Functions with Python source that compute with plain arrays, whatever they are given."""
ON_ARRAYS = ("numpy.linalg", "numpy.fft")
OF_SCIPY = ("scipy.linalg", "scipy.signal", "scipy.fft", "scipy.interpolate", "scipy.ndimage")
IN_PYTHON = frozenset({"sum", "prod", "any", "all", "mean", "var", "std", "clip"})
RENAMED = {"max": "_amax", "min": "_amin"}
NEUTRAL = frozenset({
    "__array_finalize__", "__array_function__", "__class_getitem__", "__dir__", "__doc__",
    "__format__", "__init__", "__new__", "__reduce__", "__repr__", "__setstate__", "__str__",
})  # fmt: skip


def refuse(ctx: Reporting, values: Any) -> None:
    """Raise because an instance meets active data where no one knows what its class means."""
    raise no_meaning(ctx, "this operation", values)


# Calls.


def answer(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a call in which a rule has met an operand that NumPy would ask first."""
    values = (*args, *kwargs.values())
    if not ctx.watches and any(named(v) for v in values if type(v) not in PLAIN):
        ctx.watches = True  # a constant of a subclass of ndarray, the first one
        return ctx.call(f, *args, **kwargs)
    if is_constant(ctx, f, args, kwargs):
        return run_constant(ctx, f, args, kwargs)
    if f is not np.fromiter and effects.would_write(values, effects.READING):
        return call_reading(ctx, f, args, kwargs)
    return call(ctx, f, args, kwargs)


def call_reading(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy on an object whose methods change something when they are read.

    A ufunc reads each operand once, as the engine does; another function as often as it likes.
    """
    values = (*args, *kwargs.values())
    if isinstance(f, np.ufunc):
        effects.refuse_writers(ctx, values, effects.MEASURING)
        return call(ctx, f, args, kwargs)
    writes = f in WRITERS or named_out(f, args, kwargs)[1].get("out") is not None
    if writes or any(map(ctx.contains_active, values)):
        effects.refuse_writers(ctx, values, effects.READING)
    return run_constant(ctx, f, args, kwargs)


def takes(ctx: Mode, f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a call is of a function of NumPy, and active data meets a class of arrays."""
    if issubclass(type(f), type):
        return False
    if f is VECTORIZED:
        if overriding(args, "__array_ufunc__"):
            refuse(ctx, args)
        return args[0].signature is None and any(map(is_instance, operands_of(*args, **kwargs)))
    values = (*args, *kwargs.values())
    if not any(has_part(v) for v in values if type(v) not in PLAIN):
        return False
    known = is_numpy(f) or (
        f is abs and is_instance(args[0]) and derivable(args[0], "__abs__") is None
    )
    if type(f) is FunctionType and f not in ctx.handlers:  # it is derived
        return False
    return known and (f in WRITERS or any(map(ctx.contains_active, values)))


def has_part(value: Any) -> bool:
    """Return whether a value has a class that NumPy asks, or an item of a sequence has."""
    t = type(value)
    if t is list or t is tuple:
        return any(has_part(v) for v in value if type(v) not in PLAIN)
    return is_instance(value) or takes_over(value)


def is_numpy(f: Any) -> bool:
    """Return whether a callable is of NumPy, or of those parts of SciPy that take plain arrays."""
    if type(f) is FunctionType:
        return module_of(f).startswith(OF_SCIPY)
    if isinstance(f, np.ufunc) or type(f) is DISPATCHER or of_ufunc(f) is not None:
        return True
    if is_method(f):
        return True
    return type(f) is BuiltinFunctionType and package_of(f) == "numpy"


def is_method(f: Any) -> bool:
    """Return whether a callable is a method of ndarray itself that is not bound."""
    return type(f) is not MethodWrapperType and getattr(f, "__objclass__", None) is ndarray


def of_ufunc(f: Any) -> np.ufunc | None:
    """Return the ufunc that a function is a method of."""
    owner = getattr(f, "__self__", None)
    return owner if isinstance(owner, np.ufunc) else None


def call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy as the classes of its operands have it."""
    if f is VECTORIZED:
        return call_vectorized(ctx, args, kwargs)
    if kwargs and kwargs.get("like") is not None:
        return ask_like(ctx, f, args, kwargs)
    method = derivable(args[0], "__abs__") if f is abs else None
    if method is not None:
        return ctx.call(method, *args)
    if f in PRODUCTS and len(args) == 2 and not kwargs and any(map(holds_exact, args)):
        y = multiplied(ctx, f, args)
        if y is not MISSING:
            return y
    if isinstance(f, np.ufunc) or f is abs:
        return call_ufunc(ctx, np.absolute if f is abs else f, "__call__", args, kwargs)
    ufunc, method, operands = ufunc_of(f, args)
    if ufunc is not None:
        return call_ufunc(ctx, ufunc, method, operands, kwargs)
    if type(f) is FunctionType or is_dispatching(f):
        given = args, kwargs
        options = {name: plain_parts(as_input(ctx, f, v)) for name, v in kwargs.items()}
        args = plain_parts(as_inputs(ctx, f, args))
        require_known(ctx, f, (*args, *options.values()))
        run = partial(run_converted, ctx, f, args, options)
        y = compared(ctx, f, given, (args, options), run)
        require_plain_form(ctx, f, given, y)
        return y
    if f is np.fromiter:
        return call_fromiter(ctx, *args, **kwargs)
    if is_method(f):
        if not isinstance(args[0], ndarray):
            return f(*map(activity.unwrapped, args), **activity.unwrapped(kwargs))  # raises
        return call_method(ctx, args[0], f.__name__, args[1:], kwargs)
    if type(f) is DISPATCHER:
        y = ask_function(ctx, f, args, kwargs)
        if y is not MISSING:
            return y
    if may_write(f):
        asked = (v for v in flat((*args, *kwargs.values())) if asks(f, v) or is_instance(v))
        raise refusal(ctx, f, next(asked))
    return call_implementation(ctx, f, args, kwargs)


ELEMENT_BY_ELEMENT = frozenset({np.dot, ndarray.dot, np.inner})  # if one is a number
PRODUCTS = ELEMENT_BY_ELEMENT | {np.matmul, np.vdot}


def holds_exact(value: Any) -> bool:
    """Return whether a value is a number that NumPy keeps as an object, or a sequence with one."""
    if type(value) is list or type(value) is tuple:
        return any(map(holds_exact, value))
    if not isinstance(value, Number) or not is_other(value):
        return False
    return sight_of(value).conversion is Conversion.OBJECT and not is_users(value)


def multiplied(ctx: Mode, f: Any, args: Any) -> Any:
    """Return a product with arrays of objects, as NumPy makes them of lists of such numbers."""
    listed = (list, tuple)
    operands = [
        ctx.call(np.array, v, object) if type(v) in listed and holds_exact(v) else v for v in args
    ]
    if f in ELEMENT_BY_ELEMENT and not all(np.ndim(activity.unwrapped(v)) for v in operands):
        return ctx.call(np.multiply, *operands)
    return MISSING if any(map(holds_exact, operands)) else ctx.call(f, *operands)


def call_vectorized(ctx: Mode, args: Any, kwargs: Any) -> Any:
    """Run an instance of `np.vectorize`, a ufunc: results are of a class of the operands."""
    self, *operands = args
    plains = [v if i in self.excluded else plain_parts(v) for i, v in enumerate(operands)]
    named = {name: v if name in self.excluded else plain_parts(v) for name, v in kwargs.items()}
    y = ctx.call(VECTORIZED, self, *plains, **named)
    given = tuple(operands_of(*args, **kwargs))
    x, several = wrapping(given), type(y) is tuple
    ufunc = np.frompyfunc(self.pyfunc, len(given), len(y) if several else 1)
    made = [wrapped(ctx, x, v, (ufunc, given, i)) for i, v in enumerate(y if several else (y,))]
    return tuple(made) if several else made[0]


def operands_of(self: np.vectorize, *args: Any, **kwargs: Any) -> list[Any]:
    """Return the arguments that a function is called for each element of."""
    found = [v for i, v in enumerate(args) if i not in self.excluded]
    return found + [v for name, v in kwargs.items() if name not in self.excluded]


def run_converted(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function in Python by its rule, which takes objects that no array is made of too."""
    handler = ctx.handlers.get(f)
    if handler is None or not any(has_part(v) for v in (*args, *kwargs.values())):
        return ctx.call(f, *args, **kwargs)
    return handler(ctx, f, args, kwargs)


def call_fromiter(ctx: Mode, items: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """Run ``np.fromiter``, which stores one item after the other."""
    iterator: Any = ctx.iter(items)
    count = args[0] if args else kwargs.get("count", -1)
    if type(count) is int and count < 0:
        ask_length(ctx, items)

    def elements() -> Iterator[Any]:
        for item in iterator:
            v = as_element(ctx, np.dtype(dtype), item)
            if has_part(v) or is_other(v):
                raise refusal(ctx, np.fromiter, v)
            yield v

    return ctx.call(np.fromiter, elements(), dtype, *args, **kwargs)


def call_implementation(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run what NumPy itself does: its Python source where it matters what a class overrides."""
    source = getattr(f, "__wrapped__", None)
    values = (*args, *kwargs.values())
    takes_plain = f in TAKE_PLAIN and not (f in WRITERS and overrides_operations(values))
    if type(source) is FunctionType:
        counts = f in AVERAGES and not is_mask(kwargs.get("where", True))
        if counts or asks_within(source, args, kwargs):
            return ctx.call_function(source, args, kwargs)
    if type(source) is FunctionType and not takes_plain:
        if not module_of(source).startswith(ON_ARRAYS):
            if overrides_operations(values) or any(map(is_asked, flat(values))):
                return ctx.call_function(source, args, kwargs)
        else:
            wrapping = next((v for v in flat(values) if wraps(v)), MISSING)
            if wrapping is not MISSING:
                raise refusal(ctx, f, wrapping)
    return run_on_plain(ctx, f, args, kwargs)


def is_asked(value: Any) -> bool:
    """Return whether NumPy's Python code may run methods of an operand that is not an array."""
    if not is_other(value):
        return False
    names = ("__getattr__", "__array_wrap__", *OF_ARRAYS)
    return (
        takes_over(value)
        or (isinstance(value, (float, complex, int)) and computes_otherwise(value))
        or any(hasattr(type(value), name) for name in names)
        or sight_of(value).conversion is Conversion.OBJECT
    )


def wraps(value: Any) -> bool:
    """Return whether an operand makes results of its own class, by code in Python."""
    method = getattr(type(value), "__array_wrap__", None)
    return method is not None and (is_other(value) or type(method) is FunctionType)


def overrides_operations(values: Any) -> bool:
    """Return whether a class among the operands changes what operations mean."""
    for value in values:
        t = type(value)
        if t is list or t is tuple:
            if overrides_operations(value):
                return True
        elif is_instance(value) and any(map(changes_operation, t.__mro__)):
            return True
    return False


def changes_operation(cls: type) -> bool:
    """Return whether a class itself defines something that arrays have."""
    if cls is ndarray or cls is object:
        return False
    return any(name in OPERATIONS for name in cls.__dict__)


OPERATIONS = frozenset(dir(ndarray)) - frozenset(dir(object)) - NEUTRAL | {
    "__getattribute__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
}  # fmt: skip
OF_ARRAYS = tuple(name for name in dir(ndarray) if not name.startswith("_"))


# Methods and attributes, as they are in C.


def call_method(ctx: Mode, o: ndarray, name: str, args: Any, kwargs: Any) -> Any:
    """Run a method of ndarray, not one of the subclass, on an instance."""
    if name in PROTOCOLS:
        return PROTOCOLS[name](ctx, o, *args, **kwargs)
    if name == "view":
        return viewed(ctx, o, args, kwargs)
    if name == "setflags":  # of the instance, not of a view
        return run_setflags(ctx, ndarray.setflags, (o, *args), kwargs)
    if name == "_set_shape":  # what np.matrix calls from NumPy 2.5 on
        return ctx.change_shape(o, *args)
    if name in operators.BY_NAME:
        return operators.by_name(ctx, name, ndarray, o, *args)
    if name in operators.IN_PLACE:
        return numpy_operators.inplace(ctx, operators.IN_PLACE[name], o, *args)
    if name in subclass_operators.METHODS:
        return subclass_operators.METHODS[name](ctx, o, *args)
    if name in special.OPERATIONS:
        return special.run(ctx, plain(o), name, args)
    if (y := records.use_field(ctx, o, name, args, kwargs)) is not NotImplemented:
        return y
    if name in ACCUMULATING or name in CONJUGATING:
        return run_as_ufunc(ctx, o, name, *args, **kwargs)
    if name == "fill" and args:
        args = (as_element(ctx, o.dtype, args[0]), *args[1:])
    source: Any = getattr(_methods, RENAMED.get(name, f"_{name}"), None)
    given = (o, *args, *kwargs.values())
    asked = overrides_operations(given) or any(map(is_asked, flat(given)))
    asked = asked or not is_mask(kwargs.get("where", True))
    if (name in IN_PYTHON or name in RENAMED) and asked:
        return ctx.call_function(source, (o, *args), kwargs)
    f = getattr(ndarray, name)
    if "out" not in kwargs and is_constant(ctx, f, given, {}):
        return run_constant(ctx, f, (o, *args), kwargs)
    return run_on_plain(ctx, f, (o, *args), kwargs)


def run_as_ufunc(ctx: Mode, o: Any, name: str, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Run a method that is a ufunc, or one of its methods, along an axis or over all elements."""
    if name in CONJUGATING:
        if axis is None and not kwargs and o.dtype.kind not in "cO":
            return o
        out = {} if axis is None else {"out": axis}
        return call_ufunc(ctx, np.conjugate, "__call__", (o,), out | kwargs)
    if axis is None and o.ndim != 1:
        o = call_method(ctx, o, "ravel", (), {})
    if axis is None:
        axis = o.ndim - 1  # a class may keep two axes
    return call_ufunc(ctx, ACCUMULATING[name], "accumulate", (o, axis, *args), kwargs)


ACCUMULATING: dict[str, Any] = {"cumsum": np.add, "cumprod": np.multiply}
CONJUGATING = frozenset({"conj", "conjugate"})


def run_ufunc_protocol(
    ctx: Mode, o: ndarray, f: np.ufunc, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    """Run ``ndarray.__array_ufunc__``."""
    return apply_ufunc(ctx, f, method, inputs, kwargs)


def run_function_protocol(ctx: Mode, o: ndarray, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Run ``ndarray.__array_function__``, which leaves what it does not know to others."""
    for cls in types:
        if not issubclass(cls, ndarray):
            return NotImplemented
    return call_implementation(ctx, f, args, kwargs)


def run_wrap_protocol(ctx: Mode, o: ndarray, a: Any, *context: Any) -> Any:
    """Run ``ndarray.__array_wrap__``."""
    return dressed(ctx, plain(a), type(o), o)


PROTOCOLS: dict[str, Any] = {
    "__array_ufunc__": run_ufunc_protocol,
    "__array_function__": run_function_protocol,
    "__array_wrap__": run_wrap_protocol,
    "__array_finalize__": lambda ctx, o, template: None,
    "__array__": lambda ctx, o, *args, **kwargs: ctx.call(np.asarray, plain(o), *args, **kwargs),
    "__copy__": lambda ctx, o: ctx.method(o, "copy", "K"),
    "__deepcopy__": lambda ctx, o, memo: dressed(
        ctx, ctx.call(ndarray.copy, plain(o), "K"), type(o), o
    ),
}


def attribute(ctx: Mode, o: ndarray, name: str) -> Any:
    """Read an attribute that arrays have themselves, as it is of an instance."""
    if name in array_attributes.GUARDED:
        return array_attributes.read_guarded(ctx, o, name)
    if not is_instance(o):
        return getattr(o, name)
    if name not in ARRAYS:
        return getattr(ndarray, name).__get__(o)
    y = ctx.getattr(plain(o), name)
    return dressed(ctx, y, type(o), o) if type(y) is ndarray else y


ARRAYS = frozenset({"T", "mT", "real", "imag"})
