"""NumPy's protocols: the operand class whose method a NumPy function calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import flat, is_other
from mooncake_py.application.out_argument import named_out
from mooncake_py.diagnostics.native_modules import is_constant_library
from mooncake_py.language import ufuncs_of_objects
from mooncake_py.language.foreign_operands import as_inputs, as_options, refusal, require_known
from mooncake_py.language.subclass_instances import wrapped, wrapped_output, wrapping
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.numpy_operands import MISSING, is_foreign_class, own
from mooncake_py.runtime.quiet import Quiet
from mooncake_py.tangents.subclasses import is_instance, plain_operands, plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = [
    "MAKING_LIKE", "MISSING", "apply_ufunc", "ask_function", "ask_like", "call_ufunc",
    "overriding", "with_like", "wraps_itself",
]  # fmt: skip

BY_POSITION = {
    "reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("axis", "dtype", "out"),
    "reduceat": ("indices", "axis", "dtype", "out"),
}


def overriding(operands: Any, name: str) -> list[Any]:
    """Return one operand of each class with its own protocol, in the order NumPy asks them.

    It goes from left to right, but asks a subclass before a class that it is derived from.
    """
    found: list[Any] = []
    native = getattr(ndarray, name)
    for x in operands:
        t = type(x)
        if t is ndarray or t is Active or any(type(other) is t for other in found):
            continue
        method = getattr(t, name, MISSING)
        if method is MISSING or method is native:
            continue
        at = next((i for i, o in enumerate(found) if issubclass(t, type(o))), len(found))
        found.insert(at, x)
    return found


def run_override(ctx: Mode, x: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Run the method of an operand's class that takes a call over."""
    method = getattr(type(x), name)
    if type(method) is FunctionType:
        return ctx.call(method, x, *args, **kwargs)
    return ctx.call(method.__get__(x) if hasattr(method, "__get__") else method, *args, **kwargs)


# Ufuncs.


def call_ufunc(ctx: Mode, f: np.ufunc, method: str, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args)``, or another method of a ufunc, as the classes of its operands have it."""
    inputs, kwargs = normalized(f, method, args, kwargs)
    asked = overriding(operands_of(inputs, kwargs), "__array_ufunc__")
    for x in asked:
        override = type(x).__array_ufunc__
        if override is None:
            raise TypeError(
                f"operand '{type(x).__name__}' does not support ufuncs (__array_ufunc__=None)"
            )
        if is_constant_library(module_of(type(x))):  # it would name its own code
            raise refusal(ctx, f, x)
        y = run_override(ctx, x, "__array_ufunc__", f, method, *inputs, **kwargs)
        if y is not NotImplemented:
            return y
    if asked:
        names = ", ".join(repr(type(x).__name__) for x in inputs)
        raise TypeError(
            "operand type(s) all returned NotImplemented from "
            f"__array_ufunc__({f!r}, {method!r}, ...): {names}"
        )
    return apply_ufunc(ctx, f, method, inputs, kwargs)


def operands_of(inputs: Any, kwargs: Any) -> tuple[Any, ...]:
    """Return the operands of a ufunc whose classes NumPy asks, in its order."""
    return (*inputs, *kwargs.get("out", ()), kwargs.get("where", True))


def normalized(f: np.ufunc, method: str, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Return the operands of a ufunc, and the rest by keyword, with a tuple of outputs."""
    if method == "__call__":
        args, kwargs = named_out(f, args, kwargs)
    elif method in BY_POSITION:
        first = 2 if method == "reduceat" else 1
        names = BY_POSITION[method][first - 1 :]
        given = dict(zip(names, args[first:], strict=False))
        args, kwargs = args[:first], given | kwargs
    kwargs = {name: v for name, v in kwargs.items() if v is not np._NoValue}
    out = kwargs.pop("out", None)
    if out is not None and out is not Ellipsis:
        out = out if type(out) is tuple else (out,)
        if any(part is not None for part in out):
            kwargs["out"] = out
    return args, kwargs


def apply_ufunc(ctx: Mode, f: np.ufunc, method: str, inputs: Any, kwargs: Any) -> Any:
    """Run a ufunc on the plain arrays of its operands, and wrap what it returns.

    That is what ``ndarray.__array_ufunc__`` does.
    """
    if overriding(operands_of(inputs, kwargs), "__array_ufunc__"):
        return NotImplemented
    if method == "at" and not isinstance(inputs[0], ndarray):
        raise TypeError("first operand must be array")
    given, inputs = inputs, as_inputs(ctx, f, inputs)
    if method == "outer" and any(map(is_instance, inputs)):
        return outer_of_instances(ctx, f, inputs, kwargs)
    if ufuncs_of_objects.has_objects(inputs):
        return ufuncs_of_objects.run(ctx, f, method, inputs, kwargs)
    kwargs = as_options(ctx, f, kwargs)
    require_known(ctx, f, [v for name, v in kwargs.items() if name not in ("out", "dtype")])
    out = kwargs.get("out")
    if out is not None and not all(v is None or isinstance(v, ndarray) for v in out):
        raise TypeError("return arrays must be of ArrayType")
    function = f if method == "__call__" else getattr(f, method)
    options = {name: plain_parts(v) for name, v in kwargs.items()}
    y = ctx.call(function, *plain_operands(inputs), **options)
    if out is not None:
        return written(ctx, y, out, (f, tuple(given)), wraps=method in ("__call__", "outer"))
    if method == "at" or kwargs.get("subok") is False:
        return y
    if method == "outer":  # it makes arrays of the operands first
        return y
    x = wrapping(given if method == "__call__" else given[:1])
    if x is None:
        return y
    if type(y) is tuple:
        return tuple(wrapped(ctx, x, v, (f, tuple(given), i)) for i, v in enumerate(y))
    return wrapped(ctx, x, y, (f, tuple(given), 0) if method == "__call__" else None)


def written(ctx: Mode, y: Any, out: Any, of: Any, *, wraps: bool) -> Any:
    """Return the arrays that a ufunc has written to, each as its class has it."""
    results = y if len(out) > 1 else (y,)
    made = [
        result
        if given is None
        else wrapped_output(ctx, given, (*of, i))
        if wraps and wraps_itself(given)
        else given
        for i, (given, result) in enumerate(zip(out, results, strict=True))
    ]
    return tuple(made) if len(out) > 1 else made[0]


def wraps_itself(value: Any) -> bool:
    """Return whether an instance's class has ``__array_wrap__`` in Python."""
    return is_instance(value) and type(type(value).__array_wrap__) is FunctionType


def outer_of_instances(ctx: Mode, f: np.ufunc, inputs: Any, kwargs: Any) -> Any:
    """Run ``f.outer`` as NumPy does: ``f`` itself, with more axes of the first operand."""
    a, b = inputs
    if any(isinstance(v, np.matrix) for v in inputs):
        return f.outer(*unwrapped(tuple(inputs)), **unwrapped(kwargs))  # raises
    a = a if isinstance(a, ndarray) else ctx.call(np.asarray, a)
    shape = a.shape + (1,) * np.ndim(unwrapped(b))
    return apply_ufunc(ctx, f, "__call__", (ctx.method(a, "reshape", shape), b), kwargs)


# Other functions.


def ask_function(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Ask the classes of the arguments to run a function of NumPy; `MISSING` if none is asked."""
    require_iterables(f, args, kwargs)
    if not overriding(flat((*args, *kwargs.values())), "__array_function__"):
        return MISSING
    asked, types = asked_by(f, args, kwargs)
    for x in asked:
        y = run_override(ctx, x, "__array_function__", f, types, args, kwargs)
        if y is not NotImplemented:
            return y
    if asked:
        raise no_implementation(f, types)
    return MISSING


def no_implementation(f: Any, types: Any) -> TypeError:
    """Return the error for a function that no class runs which NumPy asks."""
    return TypeError(
        f"no implementation found for 'numpy.{f.__name__}' on types that implement "
        f"__array_function__: {list(types)}"
    )


def ask_like(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that makes an array as the class of its argument `like` has it."""
    options = dict(kwargs)
    like = options.pop("like")
    given = Template()
    asked = hasattr(type(like), "__array_function__") and type(like) is not Active
    f(*args, **options, like=given if asked else unwrapped(like))
    if given.call is None or own(type(like), "__array_function__") is MISSING:
        return ctx.call(f, *args, **options)
    types = (type(like),)
    y = run_override(ctx, like, "__array_function__", f, types, *given.call)
    if y is NotImplemented:
        raise no_implementation(f, types)
    return y


class Template:
    """Stands for an argument `like`, and keeps the arguments that its class is told."""

    call: tuple[Any, Any] | None = None

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> None:
        self.call = args, kwargs


def takes_like(f: Any) -> bool:
    """Return whether a function of NumPy has an argument `like`."""
    if type(f) is FunctionType:
        return "like" in f.__kwdefaults__ if f.__kwdefaults__ else False
    return type(f) is BuiltinFunctionType and "like : array_like" in (f.__doc__ or "")


MAKING_LIKE = tuple(f for f in vars(np).values() if takes_like(f))
"""The functions that make an array as the class of their argument `like` has it."""


def with_like(run: Handler) -> Handler:
    """Return the handler of a function that makes arrays, which asks the class of `like` first."""

    def run_or_ask(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        if kwargs and kwargs.get("like") is not None:
            return ask_like(ctx, f, args, kwargs)
        return run(ctx, f, args, kwargs)

    asking: Any = run_or_ask
    asking.applies = getattr(run, "applies", None)  # of arguments by position it does no more
    return asking


class Stopping:
    """Stands for an object without items; NumPy asks it before it runs a function."""

    def __array_function__(self, *given: Any) -> None:
        return None


class WithItems(Stopping):
    """Stands for an array."""

    shape = (0,)

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def require_iterables(f: Any, args: Any, kwargs: Any) -> None:
    """Raise what NumPy raises where it looks for operands among the items of what has none."""
    if any(map(is_without_items, (*args, *kwargs.values()))):
        try:
            f(*map(stopping, args), **{name: stopping(v) for name, v in kwargs.items()})
        except Exception as error:
            if is_of_dispatcher(error):
                raise


def is_without_items(value: Any) -> bool:
    """Return whether an operand is neither a number nor an array, and has no items."""
    if not is_other(value) or isinstance(value, (str, bytes, float, complex, int)):
        return False
    return not any(hasattr(value, name) for name in ("__iter__", "__getitem__", "shape"))


def stopping(value: Any) -> Any:
    """Return a stand-in for an argument where only the operands of a function are looked for."""
    if is_without_items(value):
        return type(type(value).__name__, (Stopping,), {})()
    return WithItems() if isinstance(value, ndarray) else unwrapped(value)


def is_of_dispatcher(error: Exception) -> bool:
    """Return whether an error is from the search for operands, not from the function itself."""
    if str(error).startswith("dispatcher for"):
        return True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_code.co_name.endswith("_dispatcher")


class Within(Exception):
    """A function that another one calls asks the classes of its own arguments."""


def asked_by(f: Any, args: Any, kwargs: Any) -> tuple[list[Any], tuple[type, ...]]:
    """Return the arguments that NumPy asks, in its order, and the classes that it names.

    Only some parameters count, which is known in compiled code: so NumPy is called with an object
    in the place of each candidate that notes when it is asked.  It runs the function itself where
    none of these counts, and the functions that this one calls ask others.
    """
    asked: list[Any] = []
    types: list[type] = []
    classes: dict[type, type] = {ndarray: ndarray}

    def note(probe: Any, func: Any, given: Any, *rest: Any) -> Any:
        if func is not f:
            raise Within
        asked.append(probe.stands_for)
        types[:] = [kind for kind, made in classes.items() if made in given]
        return NotImplemented

    def class_for(kind: type) -> type:
        if kind not in classes:
            bases = tuple([made for other, made in classes.items() if issubclass(kind, other)])
            bases = tuple([made for made in bases[-1:] if made is not ndarray])
            classes[kind] = type(kind.__name__, bases, {"__array_function__": note})
        return classes[kind]

    def probe(value: Any) -> Any:
        t = type(value)
        if t is list or t is tuple:
            return t(map(probe, value))
        if t is ndarray:
            return np.empty(0)
        if t is Active or not is_foreign_class(t):
            return unwrapped(value)
        if own(t, "__array_function__") is MISSING:
            return ndarray.view(np.empty(0), t) if is_instance(value) else None
        made: Any = class_for(t)()
        made.stands_for = value
        return made

    candidates = [type(v) for v in flat((*args, *kwargs.values()))]
    for kind in sorted(set(candidates), key=lambda kind: len(kind.__mro__)):
        if is_foreign_class(kind) and own(kind, "__array_function__") is not MISSING:
            class_for(kind)
    with Quiet(), suppress(Exception):
        f(*map(probe, args), **{name: probe(v) for name, v in kwargs.items()})
    return asked, tuple(types)
