"""Python builtins that run natively, with values passed by reference."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import heapq
import inspect
import itertools
import operator
import sys
import typing
import warnings
from collections.abc import Iterable
from contextvars import ContextVar
from types import FunctionType, GeneratorType, MappingProxyType, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import call_seen, run_seen
from mooncake_py.containers import containers, effects, hooks, mappings
from mooncake_py.containers.holders import restore_attributes
from mooncake_py.containers.state import (
    note_exception,
    note_partial,
    note_raised,
    old_attribute,
    restore_attribute,
)
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.errors import MooncakeError
from mooncake_py.language import (
    array_attributes,
    calling_iterators,
    conversions,
    copies,
    heaps,
    iterating,
    iteration,
    operators,
    promotion,
    raising,
    reductions,
    texts,
)
from mooncake_py.language.class_statements import new_class
from mooncake_py.language.comparisons import COMPARISONS
from mooncake_py.modules import module_of
from mooncake_py.rules.bisection import IN_PYTHON
from mooncake_py.rules.declare import not_implemented
from mooncake_py.rules.local import local_rules
from mooncake_py.rules.python_builtins import (
    divmod_of_others,
    special_method,
)
from mooncake_py.rules.stand_ins import StandIn, class_of, standing_for
from mooncake_py.runtime import drops, frames
from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.identities import given, identity_of, original_of
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.operators import BINARY, DIVMOD, UNARY
from mooncake_py.runtime.sites import DECLINED
from mooncake_py.runtime.users_code import is_written_in_python
from mooncake_py.runtime.values import INEXACT_SCALARS, NUMBERS
from mooncake_py.tangents.contents import elements_of
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]

CLASSES = frozenset({type})

# Handlers: (context, function, args, kwargs) -> result.


def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run natively; values pass by reference."""
    return f(*args, **kwargs)


def run_on_primals(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run on numbers: printing, hashing, conversion to int."""
    return call_seen(ctx, f, tuple(map(unwrapped, args)), unwrapped(kwargs))


def run_on_inactive(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that keeps bytes only."""
    ctx.refuse_if_active(f, args)
    return call_seen(ctx, f, args, kwargs)


def run_add_note(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``error.add_note(text)``, which makes a list of notes if there is none."""
    notes = own_attributes(args[0]).get("__notes__")
    if type(notes) is list:
        containers.snapshot(ctx, notes)
    else:
        note(ctx, restore_attributes, args[0], own_attributes(args[0]))
    f(*args, **kwargs)


def run_with_traceback(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``error.with_traceback(traceback)``."""
    note_raised(ctx, args[0])
    return f(*args, **kwargs)


def run_set_state(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``o.__setstate__(state)`` of an exception or of a partial function."""
    if issubclass(type(args[0]), functools.partial):
        note_partial(ctx, args[0])
    else:
        note_exception(ctx, args[0])
        note(ctx, restore_attributes, args[0], own_attributes(args[0]))
    return f(*args, **kwargs)


def run_update_wrapper(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``functools.update_wrapper(...)``, which sets attributes of a function or an object."""
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    wrapper = given["wrapper"]
    for name in given.get("updated", functools.WRAPPER_UPDATES):
        containers.snapshot(ctx, getattr(wrapper, name, None))
    for name in (*given.get("assigned", functools.WRAPPER_ASSIGNMENTS), "__wrapped__"):
        note(ctx, restore_attribute, wrapper, name, old_attribute(wrapper, name))
    return f(*args, **kwargs)


def run_setting(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that may change when NumPy raises, which it keeps in a context variable."""
    ctx.refuse_if_active(f, args)
    try:
        y = f(*args, **kwargs)
        ctx.heed_settings()
    except MooncakeError:  # of what NumPy would call
        if f is np.errstate.__enter__:
            np.errstate.__exit__(args[0], *sys.exc_info())
        raise
    return y


def run_block(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the beginning or the end of a block of rules, and go by the rules that hold then."""
    result = f(*args, **kwargs)
    ctx.load_handlers()
    return result


def run_warning(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``warnings.warn``, which calls a function that the user may have put there."""
    args, kwargs = with_instance(ctx, args, kwargs)
    run = functools.partial(frames.run_warn, ctx, f, args, kwargs)
    run_seen(ctx, f, (warnings.showwarning, *args, *kwargs.values()), run)


def with_instance(ctx: Mode, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of ``warnings.warn`` with the warning made, if that runs Python code.

    It is what C makes of the class and the message before it does anything else.
    """
    given = dict(zip(("message", "category"), args, strict=False)) | kwargs
    category, message = given.get("category"), given.get("message")
    if isinstance(message, Warning) or "message" not in given or not isinstance(category, type):
        return args, kwargs
    if not (issubclass(category, Warning) and is_written_in_python(category)):
        return args, kwargs
    made = ctx.call(category, message)
    return ((made, *args[1:]), kwargs) if args else (args, {**kwargs, "message": made})


def run_converting(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function whose result is an integer."""
    effects.refuse_writers(ctx, args, effects.CONVERTING)
    y = run_on_primals(ctx, f, args, kwargs)
    return drops.whole(ctx, y, args) if type(y) is int else y


def run_rounding(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a type of ints of NumPy."""
    y = run_on_primals(ctx, f, args, kwargs)
    return drops.whole(ctx, y, args) if ctx.contains_active(args) else y


def run_striding(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that returns a view of an array, or of what is made one before."""
    if args and type(args[0]) is not ndarray:
        args = (ctx.call(np.asanyarray, args[0]), *args[1:])
    elif "x" in kwargs and type(kwargs["x"]) is not ndarray:
        kwargs = {**kwargs, "x": ctx.call(np.asanyarray, kwargs["x"])}
    return f(*args, **kwargs)


def run_broadcasting(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that returns views of its arguments, or of the arrays made of them before."""
    array = np.asanyarray if kwargs.get("subok") else np.asarray
    return f(*[a if type(a) is ndarray else ctx.call(array, a) for a in args], **kwargs)


def run_new(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    return f(args[0], *map(ctx.iter, args[1:]), **kwargs)


def run_type(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs:
        t = type(args[0])
        if t is GeneratorType:
            return class_of(args[0])
        return args[0].__class__ if t is Active or issubclass(t, StandIn) else t
    if len(args) == 3 and isinstance(args[2], dict) and "__module__" not in args[2]:
        module = frames.user_frame().f_globals.get("__name__", "builtins")
        args = (*args[:2], {**args[2], "__module__": module})  # Python asks the frame for it
    return new_class(ctx, type, args, kwargs)


def run_id(ctx: Mode, f: Any, args: Any, kwargs: Any) -> int:
    """Run ``id(...)``: a copy of an argument has the identity of what it stands for."""
    if len(args) == 1 and not kwargs:
        return identity_of(given(ctx, *args))
    return id(*args, **kwargs)


def run_isinstance(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``isinstance`` or ``issubclass``, which a metaclass may answer."""
    value, classes = args
    t, meta = type(value), type(classes)
    if f is isinstance and t is classes:
        return True  # as in Python, without hooks
    if t is not GeneratorType and (meta is type or (meta is tuple and are_plain(classes))):
        if t is not Active:
            return f(value, classes)  # without hooks
        if f is isinstance:
            return issubclass(plain_class(value), classes)
    if meta is tuple:
        return any(run_isinstance(ctx, f, (value, cls), {}) for cls in classes)
    check = getattr(meta, "__instancecheck__" if f is isinstance else "__subclasscheck__", None)
    if type(check) is FunctionType and not is_native_module(module_of(check)):
        return bool(ctx.truth(ctx.call(check, classes, value)))
    if type(value) is GeneratorType and (cls := class_of(value)) is not GeneratorType:
        return f is isinstance and issubclass(cls, classes)
    value = unwrapped(value) if type(value) is Active else value
    hook = getattr(classes, "__subclasshook__", None)
    if type(hook) is MethodType:
        hooks.refuse_if_changing(ctx, hook.__func__)  # Python calls it once, and remembers
    return f(value, classes)  # a protocol may ask


def are_plain(classes: tuple[Any, ...]) -> bool:
    """Return whether no metaclass has a say in what is an instance of some classes."""
    return CLASSES.issuperset(map(type, classes))


def run_getattr(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    if len(args) > 3:
        return f(*args)  # raises
    try:
        return ctx.getattr(args[0], args[1])
    except AttributeError:
        if len(args) == 3:
            return args[2]
        raise


def run_hasattr(ctx: Mode, f: Any, args: Any, kwargs: Any) -> bool:
    o, name = args
    try:
        ctx.getattr(o, name)
    except AttributeError:
        return False
    return True


def run_hash(ctx: Mode, f: Any, args: Any, kwargs: Any) -> int:
    method = derivable(args[0], "__hash__")
    if method is None:
        return hash(original_of(ctx.key(*args)))
    number = ctx.call(method, *args)
    if not isinstance(number, int):
        raise TypeError("__hash__ method should return an integer")
    return hash(number)


def by_position(handler: Handler) -> Handler:
    """Return the handler of a function that takes no arguments by name."""

    def run_by_position(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs) if kwargs else handler(ctx, f, args, kwargs)  # which raises

    return run_by_position


def run_special_method(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    return operators.call_special(ctx, *args)


def run_divmod(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    a, b = args
    arrays = type(a) is ndarray or type(b) is ndarray
    if arrays and all(type(v) in NUMBERS or type(v) in (ndarray, Active) for v in args):
        return ctx.call(np.divmod, a, b)
    return operators.binary(ctx, DIVMOD, a, b)


def run_bool(ctx: Mode, f: Any, args: Any, kwargs: Any) -> bool:
    return bool(*map(ctx.truth, args))


def run_testing(ctx: Mode, f: Any, args: Any, kwargs: Any) -> bool:
    return f(map(ctx.truth, ctx.iter(*args)))


def run_hashing(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that makes a set or a dict of what it iterates over."""
    return f(*[hashed(ctx, a) for a in args], **kwargs)


def hashed(ctx: Mode, items: Any) -> Any:
    """Return items of which each is about to be hashed; an iterator is read one by one."""
    kept = (dict, set, frozenset)  # the order of a copy is another than if filled one by one
    t = type(items)
    iterates = issubclass(t, dict) and derivable(items, "__iter__") is not None
    if t is list or t is tuple or (issubclass(t, kept) and not iterates):
        held = elements_of(items)
        if not INERT.issuperset(map(type, held)):
            effects.refuse_writers(ctx, held, effects.HASHING)
        return items
    return map(ctx.key, ctx.iter(items))


def run_counter(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``Counter(mapping or items)``; there may be none."""
    return f(*[a if a is None else hashed(ctx, counted(ctx, a)) for a in args], **kwargs)


def counted(ctx: Mode, a: Any) -> Any:
    """Return the items that a counter reads: it iterates over sets too."""
    iterates = issubclass(type(a), (set, frozenset)) and derivable(a, "__iter__") is not None
    return ctx.iter(a) if iterates else ctx.mapping(a)


def run_rearranging(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that compares the elements of a list and moves them."""
    if f in IN_PYTHON and (kwargs.get("key") is not None or iteration.has_own_items(*args[:1])):
        return ctx.call_function(IN_PYTHON[f], args, kwargs)
    effects.refuse_writers(ctx, args, effects.COMPARING)
    containers.snapshot(ctx, args[0])
    return f(*args, **kwargs)


def run_on_heap(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``heappush`` or ``heappop``."""
    move, count = heaps.MOVES[f]
    y = move(ctx, *args) if len(args) == count and not kwargs else DECLINED
    return run_rearranging(ctx, f, args, kwargs) if y is DECLINED else y


def run_call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    return ctx.call(*args, **kwargs)


def by_name(name: str) -> Handler:
    """Return the handler that runs the method of this name of a context."""
    return lambda ctx, f, args, kwargs: getattr(ctx, name)(*args)


def existing(names: Iterable[str]) -> list[Any]:
    """Return the functions of `heapq` that this version of Python has."""
    return [getattr(heapq, name) for name in names if hasattr(heapq, name)]


AS_THEY_ARE = (
    callable, slice, object, super, property, staticmethod, classmethod, globals, vars,
    functools.wraps, functools.partial, typing.NewType.__call__,
    itertools.count, MethodType, MappingProxyType, SimpleNamespace,
    type(functools.lru_cache(len)), object.__new__, object.__init__,
    BaseException.__reduce__,
    inspect.getattr_static, np.frompyfunc, ContextVar.get,
    standing_for,
    not_implemented,  # in rules whose pullback is itself differentiated
    *(part for t in (operator.itemgetter, operator.attrgetter, operator.methodcaller)
      for part in (t, t.__reduce__)),
)  # fmt: skip
ON_PRIMALS = (
    ord, np.bool_, np.int8, np.int16, np.uint8, np.uint16, np.dtype,
)  # fmt: skip
OF_MANY_BITS = (np.int32, np.int64, np.uint32, np.uint64)
SETTINGS = (
    np.seterr, np.errstate.__enter__, np.errstate.__exit__,
)  # fmt: skip
HEAPS = ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")
REARRANGING = (
    *existing(HEAPS), *existing(f"_{name}_max" for name in HEAPS),
    *existing(f"{name}_max" for name in HEAPS),  # public from Python 3.14 on
    *IN_PYTHON,
)  # fmt: skip
OPERATORS = (
    *BINARY, *(f"i{name.rstrip('_')}" for name in BINARY), *UNARY, *COMPARISONS,
    "getitem", "setitem", "delitem",
)  # fmt: skip

HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(AS_THEY_ARE, run),
    BaseException.add_note: run_add_note,
    BaseException.with_traceback: run_with_traceback,
    BaseException.__setstate__: run_set_state,
    functools.partial.__setstate__: run_set_state,  # pyright: ignore[reportAttributeAccessIssue]
    functools.update_wrapper: run_update_wrapper,
    **dict.fromkeys((dir, input), call_seen),
    **dict.fromkeys((isinstance, issubclass), run_isinstance),
    **dict.fromkeys(
        (np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view), run_striding
    ),
    np.broadcast_arrays: run_broadcasting,
    **dict.fromkeys((int, operator.index, chr, bin, hex, oct), run_converting),
    **dict.fromkeys((bytes, bytearray), run_on_inactive),
    **dict.fromkeys(SETTINGS, run_setting),
    **dict.fromkeys((local_rules.__enter__, local_rules.__exit__), run_block),
    **dict.fromkeys(ON_PRIMALS, run_on_primals),
    **dict.fromkeys(OF_MANY_BITS, run_rounding),
    **iterating.HANDLERS,
    **calling_iterators.HANDLERS,
    **reductions.HANDLERS,
    **dict.fromkeys((set, frozenset), run_hashing),
    collections.Counter: run_counter,
    **dict.fromkeys((str, repr, ascii), texts.run_text),
    format: texts.run_format,
    print: texts.run_print,
    **dict.fromkeys((bool, operator.truth), run_bool),
    **dict.fromkeys((any, all), run_testing),
    hash: run_hash,
    id: run_id,
    special_method: run_special_method,
    operator.length_hint: iteration.run_length_hint,
    divmod_of_others: run_divmod,
    hasattr: run_hasattr,
    getattr: run_getattr,
    setattr: by_name("setattr"),
    delattr: by_name("delattr"),
    len: by_name("len"),
    range: by_name("range_of"),
    type: run_type,
    type.__new__: new_class,
    **dict.fromkeys((dict, collections.OrderedDict), mappings.run_dict),
    collections.defaultdict: mappings.run_defaultdict,
    **dict.fromkeys((t.__new__ for t in (tuple, list, dict, set, frozenset)), run_new),
    **dict.fromkeys((GeneratorType.send, GeneratorType.close), iteration.run_generator_method),
    GeneratorType.throw: raising.run_throw,
    reversed: iteration.run_reversed,
    next: iteration.run_next,
    iter: iteration.run_iter,
    **dict.fromkeys(INEXACT_SCALARS, conversions.run_number),
    **frames.HANDLERS,
    warnings.warn: run_warning,
    ndarray.setflags: array_attributes.run_setflags,
    **promotion.HANDLERS,
    **dict.fromkeys(REARRANGING, run_rearranging),
    **dict.fromkeys(heaps.MOVES, run_on_heap),
    copy.deepcopy: copies.run_deepcopy,
    copy.copy: copies.run_copy,
    dataclasses.replace: copies.run_replace,
    **{getattr(operator, name): by_name(name) for name in OPERATORS},
    operator.concat: by_name("add"),
    operator.iconcat: by_name("iadd"),
    operator.call: run_call,
    operator.is_: by_name("identical"),
    operator.is_not: by_name("not_identical"),
    operator.contains: lambda ctx, f, args, kwargs: ctx.contained(args[1], args[0]),
    operator.not_: lambda ctx, f, args, kwargs: not ctx.truth(*args),
}

HANDLERS |= {
    f: by_position(HANDLERS[f])
    for f in (len, range, bool, any, all, hash, reversed, iter, next, set, frozenset)
}
