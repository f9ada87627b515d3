"""Dispatch of a call: to a rule, a native handler, a derived function, or an error."""

from __future__ import annotations

import functools
import gc
import io
import operator
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping
from enum import EnumMeta
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.application import seen_calls
from mooncake_py.application.apply import handler
from mooncake_py.application.foreign import meet
from mooncake_py.application.native_writes import refuse_other_writes
from mooncake_py.application.out_argument import named_out, signature_of
from mooncake_py.application.rule_ways import RuleWays, ways_of
from mooncake_py.application.shortcut_calls import recorded, shortcut_handlers
from mooncake_py.by_identity import ByIdentity
from mooncake_py.containers import containers, effects, foreign_memory
from mooncake_py.containers.reach import LRU_WRAPPER
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.jitted import is_of_numba
from mooncake_py.language import (
    array_protocols,
    array_subclasses,
    caches,
    callbacks,
    checkpoints,
    compiled_code,
    constant_libraries,
    construct,
    copies,
    descriptor_calls,
    domains,
    import_hooks,
    imported_later,
    intrinsics,
    moved,
    muted_streams,
    native_calls,
    object_arrays,
    python_calls,
    records,
    scalars,
    shared_memory,
    special,
    stored_files,
    texts,
    waiting,
    weak_references,
)
from mooncake_py.language.draws import noting
from mooncake_py.language.foreign_operands import run_constant
from mooncake_py.language.subclass_instances import is_array_class, new_array, viewed
from mooncake_py.language.subclass_protocols import MAKING_LIKE, ask_function, with_like
from mooncake_py.modules import DISPATCHER, package_of
from mooncake_py.remembered import remembered
from mooncake_py.rules import local, registry
from mooncake_py.runtime import activity, numerals, scatter, silence
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.attribute_lookup import in_class, mapping_of
from mooncake_py.runtime.methods import DESCRIPTORS, Bound, python_method
from mooncake_py.runtime.numpy_operands import MISSING
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["Handlers", "call_array_method", "call_opaque", "call_unregistered", "handlers",
           "has_rules", "language_handlers", "table_of"]  # fmt: skip


class Handlers(NamedTuple):
    """How functions with a rule are called, by function."""

    version: tuple[int, tuple[str, ...]]  # of the registry, and what the program has imported
    general: ByIdentity[Handler]
    ways: RuleWays  # quick ways of common calls, by the ids of functions


_handlers = Handlers((-1, ()), ByIdentity(), RuleWays())

CONTAINERS = tuple(containers.CONTAINERS)
READ_ONLY = (tuple, frozenset, MappingProxyType, type({}.keys()), type({}.values()),
             type({}.items()))  # fmt: skip
CALL = "__call__"
OF_CLASSES = frozenset({"__init_subclass__", "__prepare__", "mro"})
"""Methods in C of classes that run no code of the program."""
NUMBA = "numba"
COMPUTING = (BuiltinFunctionType, np.ufunc)
MOVING = frozenset({"read", "read1", "readall", "readline", "readlines", "seek", "tell"})
"""Methods by which files are read, or moved on; none of these writes into an argument."""
CALLERS = frozenset({
    FunctionType, MethodType, functools.partial, LRU_WRAPPER, operator.methodcaller,
    operator.attrgetter, operator.itemgetter,
})  # fmt: skip


def handlers() -> Handlers:
    """Return the tables of handlers, up to date with the registered rules."""
    global _handlers
    version = registry.version(), imported_later.imported()
    block = local.current()
    if block is not None:
        found = block.handlers.get("reverse")
        if found is None or found.version != version:
            found = block.handlers["reverse"] = make_handlers(version, block.rules)
        return found
    if _handlers.version != version:
        # At once: another thread sees the old or the new ones.
        _handlers = make_handlers(version, {})
    return _handlers


def make_handlers(version: tuple[int, tuple[str, ...]], replaced: Mapping[Any, Any]) -> Handlers:
    """Return the tables for the rules that are registered now, some of them within a block."""
    general = table_of(handler, replaced, scatter.HANDLERS, shortcut_handlers(recorded))
    return Handlers(version, general, ways_of(general, registry.registered(), intrinsics.HANDLERS))


def table_of(
    handler: Callable[[Any], Handler],
    replaced: Mapping[Any, Any],
    own: dict[Any, Callable[[Handler], Handler]],
    shortcuts: dict[Any, Callable[[Handler], Handler]],
) -> ByIdentity[Handler]:
    """Return a table of handlers, the same for each mode except in what it makes of a rule.

    Rules that hold within a block replace others; what is the mode's `own` makes handlers that are
    quicker than those of this package's rules, which they are given for other arguments.  Those of
    `shortcuts` may be of functions without a rule.
    """
    within = domains.within(handler, call_unregistered)
    rules = list(registry.registered())
    table = ByIdentity((f, noting(rule, within(rule))) for f, rule in rules)
    for f, quicker in own.items():
        rule = registry.find(f)
        if rule is not None and rule.built_in:
            table[f] = quicker(table[f])
    if registry.are_first():  # what runs in their place may call functions whose rules are replaced
        table.update((f, short(table.get(f, call_unregistered))) for f, short in shortcuts.items())
    table.update(language_handlers(imported_later.imported()))
    table.update((f, noting(rule, within(rule))) for f, rule in rules if rule.by_user)
    table.update((f, within(rule)) for f, rule in replaced.items() if rule is not None)
    table.update((f, with_like(table.get(f, call_unregistered))) for f in MAKING_LIKE)
    return table


@functools.cache
def language_handlers(imported: tuple[str, ...]) -> ByIdentity[Handler]:
    """Return the handlers other than rules, the same for each mode; they precede rules.

    Parameters
    ----------
    imported : tuple of str
        The modules that :func:`imported_later.imported` names.
    """
    table = dict(intrinsics.HANDLERS)
    own = object_arrays, callbacks, caches, checkpoints, stored_files, native_calls, import_hooks
    for module in (*own, muted_streams, records, shared_memory, waiting, weak_references):
        table.update(module.HANDLERS)
    table |= imported_later.handlers(imported)
    return ByIdentity(
        (f, asking(run) if type(f) is DISPATCHER else run) for f, run in table.items()
    )


def asking(run: Handler) -> Handler:
    """Return the handler of a function of NumPy that first looks for foreign operands."""

    def run_or_meet(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        meet(f, args, kwargs)
        return run(ctx, f, args, kwargs)

    return run_or_meet


def has_rules(table: ByIdentity[Handler], cls: type) -> bool:
    """Return whether something of a class has a handler in a table."""
    return id(cls) in kinds_in(table)


@remembered
def kinds_in(table: ByIdentity[Handler]) -> frozenset[int]:
    """Return the ids of the classes of what has a handler in a table, which is complete."""
    return frozenset(id(type(f)) for f in table)


def call_unregistered(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call something for which neither rule nor native handler is registered."""
    if handlers().version is not ctx.rules_version:  # the program has imported more
        ctx.load_handlers()
        return ctx.call(f, *args, **kwargs)
    if registry.arrives(f):
        return ctx.call(f, *args, **kwargs)
    t = type(f)
    if t is FunctionType:
        return python_calls.call(ctx, f, args, kwargs)
    if t is MethodType:
        if scalars.is_named_method(f):
            return ctx.method(f.__self__, f.__name__, *args, **kwargs)
        if type(f.__self__) is Active and getattr(Active, f.__name__, None) is f.__func__:
            return f(*args, **kwargs)
        return type(ctx).call(ctx, f.__func__, f.__self__, *args, **kwargs)
    if NUMBA in sys.modules and (is_of_numba(t) or (issubclass(t, type) and is_of_numba(f))):
        return of_numba().call(ctx, f, args, kwargs)
    if issubclass(t, type):
        return construct.instance(ctx, f, args, kwargs)
    if issubclass(t, BuiltinFunctionType):  # the types of some bound methods are subclasses
        return call_builtin(ctx, f, args, kwargs)
    if t in DESCRIPTORS:
        return descriptor_calls.call_descriptor(ctx, f, args, kwargs)
    if t is functools.partial:
        return ctx.call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
    if t is LRU_WRAPPER:
        return caches.call_cached(ctx, f, args, kwargs)
    if t is DISPATCHER:
        return call_numpy(ctx, f, args, kwargs)
    if t is np.ufunc:
        refuse_made_of_python(ctx, f, args)
        return call_opaque(ctx, f, args, kwargs)
    if t is Bound:
        return ctx.call(f.to(ctx, args[0]), *args[1:], **kwargs)
    if t is GenericAlias:
        return construct.of_alias(ctx, f, args, kwargs)
    if not callable(f):
        return innermost(f)(*args, **kwargs)  # raises
    method, native = python_method(t, CALL), in_class(t, CALL)
    if method is None and native in ctx.handlers:
        method = native
    if method is not None:
        return type(ctx).call(ctx, method, f, *args, **kwargs)
    if issubclass(t, (functools.partial, staticmethod)):
        return descriptor_calls.call_receiver(ctx, native, f, args, kwargs)
    return call_opaque(ctx, f, args, kwargs)


def of_numba() -> Any:
    """Return the module for calls of Numba's objects, which few programs need."""
    from mooncake_py.language import numba_calls

    return numba_calls


def call_builtin(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call a compiled function, or a method of a compiled type that is bound."""
    receiver: Any = f.__self__
    if receiver is None or type(receiver) is ModuleType:
        return call_opaque(ctx, f, args, kwargs)
    if type(receiver) is np.ufunc:
        refuse_made_of_python(ctx, receiver, args)
    if f.__name__ == "__reduce_ex__" and type(receiver).__reduce_ex__ is object.__reduce_ex__:
        return copies.reduced(ctx, receiver, *args)
    if type(receiver) is ndarray:
        return ctx.method(receiver, f.__name__, *args, **kwargs)
    if is_instance(receiver):
        ctx.watches = True
        return array_subclasses.call_method(ctx, receiver, f.__name__, args, kwargs)
    if receiver is ndarray and f.__name__ == "__new__":
        return new_array(ctx, *args, **kwargs)
    if issubclass(type(receiver), CONTAINERS) or containers.seeks(receiver, f.__name__):
        return containers.call_method(ctx, receiver, f.__name__, args, kwargs, f)
    if isinstance(receiver, type):
        if f.__name__ == "__new__" and issubclass(receiver, (BaseException, *construct.KEEPING)):
            return f(*args, **kwargs)
        if f.__name__ in OF_CLASSES:
            return f(*args, **kwargs)
        if f.__name__ == "fromkeys" and issubclass(receiver, dict) and receiver is not dict:
            return construct.from_keys(ctx, receiver, *args, **kwargs)
        generic = ctx.handlers.get(getattr(receiver, f.__name__, None))
        return generic(ctx, f, args, kwargs) if generic else call_opaque(ctx, f, args, kwargs)
    if type(receiver) is MappingProxyType and type(mapping_of(receiver)) is not dict:
        return ctx.method(mapping_of(receiver), f.__name__, *args, **kwargs)
    if issubclass(type(receiver), (property, *READ_ONLY)):
        return f(*args, **kwargs)
    if isinstance(receiver, (str, bytes)):
        values = (*args, *kwargs.values())
        effects.refuse_writers(ctx, values, effects.PRINTING)
        if f.__name__ in texts.CODING:
            values = (*values, *texts.error_handlers(values))
        run = partial(f, *map(activity.unwrapped, args), **activity.unwrapped(kwargs))
        y = seen_calls.run_seen(ctx, f, values, run)
        return numerals.remembered(ctx, y, (args, kwargs)) if args or kwargs else y
    descriptor = getattr(type(receiver), f.__name__, None)
    known = ctx.handlers.get(descriptor)
    if known is not None:
        return known(ctx, descriptor, (receiver, *args), kwargs)
    return call_opaque(ctx, f, args, kwargs)


def call_numpy(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call a NumPy function without a rule: derive its Python source if that is needed."""
    values = (*args, *kwargs.values())
    constant = not any(ctx.contains_active(v) for v in values)
    if constant and not writes(f, args, kwargs) and not any(map(calls_back, values)):
        return run_constant(ctx, f, args, kwargs)
    effects.refuse_writers(ctx, values, effects.READING)  # NumPy reads them to choose who runs it
    y = MISSING if constant else ask_function(ctx, f, args, kwargs)
    if y is not MISSING:
        return y
    source = getattr(f, "__wrapped__", None)
    if type(source) is FunctionType:
        require_operands(source, args, kwargs)
        return ctx.call_function(source, args, kwargs)
    raise missing_rule(ctx, f, values, keywords=kwargs)


def require_operands(source: FunctionType, args: Any, kwargs: Any) -> None:
    """Raise what NumPy raises where it looks for the operands of a function before it runs it."""
    find = source.__globals__.get(f"_{source.__name__}_dispatcher")
    if type(find) is not FunctionType:
        return
    found = find(*args, **kwargs)
    if type(found) is GeneratorType:
        deque(found, maxlen=0)
    elif type(found) is not tuple:
        try:
            iter(activity.unwrapped(found))
        except TypeError:
            raise TypeError(
                "dispatcher for __array_function__ did not return an iterable"
            ) from None


def writes(f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a NumPy function is asked to write into one of its arguments."""
    signature = signature_of(f)
    if signature is None or not WRITING.intersection(signature.parameters):
        return False
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return False  # as NumPy is about to say
    return given.get("out") is not None or bool(given.get("overwrite_input"))


WRITING = frozenset({"out", "overwrite_input"})


def call_array_method(ctx: Mode, o: ndarray, name: str, args: Any, kwargs: Any) -> Any:
    """Call a method of an array that has no rule."""
    if name in special.OPERATIONS:
        return special.run(ctx, o, name, args)
    if (y := records.use_field(ctx, o, name, args, kwargs)) is not NotImplemented:
        return y
    method = getattr(o, name)
    if not callable(method):
        return method(*args, **kwargs)  # raises
    if name == "__array_namespace__" or (name in OF_MEMORY and ctx.find(o) is None):
        return method(*args, **kwargs)
    values = (o, *args, *kwargs.values())
    if name == "view" and any(map(is_array_class, (*args, *kwargs.values()))):
        return viewed(ctx, o, args, kwargs)
    if name == "view":
        effects.refuse_writers(ctx, values[1:], effects.MEASURING)
        y = method(*args, **kwargs)
        if type(y) is ndarray and y.dtype.kind in "fc" and np.real(y).dtype == np.real(o).dtype:
            return y  # the shadow of a complex block reads as floats in the same way
    if name in ("view", "resize", "setfield") or any(map(ctx.contains_active, values)):
        raise missing_rule(ctx, getattr(ndarray, name), values, keywords=kwargs)
    return method(*args, **kwargs)


OF_MEMORY = frozenset({
    "setflags", "byteswap", "tofile", "dump", "dumps", "tobytes", "getfield", "view",
})  # fmt: skip


# Compiled functions without a rule.


def refuse_made_of_python(ctx: Reporting, f: np.ufunc, args: Any) -> None:
    """Raise if a ufunc was made by ``np.frompyfunc``: what it calls would run unseen."""
    if f.__name__.endswith("(vectorized)") and not all(map(is_plain, gc.get_referents(f))):
        why = "it calls Python code unseen, for each element, and returns an array of objects"
        raise missing_rule(ctx, np.frompyfunc, args, why)


def is_plain(part: Any) -> bool:
    """Return whether what a ufunc refers to is its own dict or a function of a C module."""
    return type(part) is dict or (
        type(part) is BuiltinFunctionType and type(part.__self__) is ModuleType
    )


def call_opaque(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a compiled function without a rule if it can neither drop a derivative nor write."""
    values = (*args, *kwargs.values())
    if NUMBA in sys.modules and any(map(of_numba().is_holder, values)):
        return of_numba().read_attribute(ctx, f, values)
    if stored_files.stores_files(ctx):
        stored_files.refuse_reading(ctx, f, values)
    receiver = getattr(f := silence.beside(f), "__self__", None)
    if f is os.write and silence.is_muted_descriptor(args[0]):
        return len(args[1])
    if receiver is not None and type(receiver) is not ModuleType:
        values = (receiver, *values)
        if issubclass(type(receiver), io.IOBase):
            if silence.is_muted(receiver):
                return muted_streams.use(ctx, f, args, kwargs)
            if f.__name__ in ("write", "writelines"):
                silence.hear(receiver)
            elif f.__name__ in MOVING and moved.are_noted() and stored_files.runs_no_code(receiver):
                return moved.read(ctx, f, args, kwargs)
        file = stored_files.written_file(f, args)
        if file is not None:
            return stored_files.run_writer(ctx, file, f, args, kwargs)
    if any(ctx.contains_active(v) for v in values):
        if constant_libraries.asks(f):
            return constant_libraries.answer(f, args, kwargs)
        raise missing_rule(ctx, f, values, keywords=kwargs)
    if ctx.held:
        compiled_code.refuse_held(ctx, f, values, kwargs)
    root = module_root(f)
    if any(map(calls_back, values)) and not isinstance(receiver, EnumMeta):
        why = "it may call back Python code, which the engine could not see"
        raise missing_rule(ctx, f, values, why, kwargs)
    if root == "numpy":
        args, kwargs = named_out(f, args, kwargs)
        out = kwargs.get("out")
        if out is None or out is Ellipsis:
            y = array_protocols.watch_array(ctx, seen_calls.call_seen(ctx, f, args, kwargs))
            return numerals.checked(ctx, f, values, y)
        try:
            others = {name: v for name, v in kwargs.items() if name != "out"}
            y = seen_calls.call_seen(ctx, f, args, others)
        except Exception as error:
            refuse_other_writes(ctx, error, f, args, kwargs)
            raise
        ctx.assign(out[0] if type(out) is tuple else out, Ellipsis, y)
        return out
    if (any(map(can_be_written, values)) or compiled_code.keeps_data(f)) and (
        root not in sys.stdlib_module_names
        or any(issubclass(type(v), (ndarray, memoryview, np.flatiter)) for v in values)
    ):
        y = compiled_code.run(ctx, f, values, args, kwargs)
        return numerals.checked(ctx, f, values, y)
    if issubclass(type(f), foreign_memory.FOREIGN):
        foreign_memory.before_call(ctx, f, args)
    for value in values:
        containers.snapshot(ctx, value)
    seen = (f, *values) if compiled_code.keeps_data(f) else values
    y = seen_calls.run_seen(ctx, f, seen, partial(f, *args, **kwargs))
    return numerals.checked(ctx, f, values, y)


def module_root(f: Any) -> str:
    """Return the top-level package that a compiled function belongs to."""
    if type(f) is functools.partial:
        f = f.func
    receiver = getattr(f, "__self__", None)
    return package_of(f) or package_of(type(f if receiver is None else receiver))


def calls_back(value: Any) -> bool:
    """Return whether a value is or holds Python code that compiled code could call."""
    t = type(value)
    if t in activity.INERT or t is ndarray or t is Active:
        return False
    if t in CALLERS:
        return True
    if issubclass(t, BuiltinFunctionType):
        return issubclass(type(value.__self__), CONTAINERS)
    if t is list or t is tuple:
        return any(map(calls_back, value))
    if hasattr(t, "send"):
        return True
    method = python_method(t, CALL)
    if type(method) is Bound and type(method.found) in COMPUTING:
        return calls_back(method.found)
    return method is not None and not issubclass(type(value), type)


def can_be_written(value: Any) -> bool:
    """Return whether compiled code could change a value in place."""
    t = type(value)
    if t in activity.INERT or t is Active:
        return False
    if t is tuple:
        return any(map(can_be_written, value))
    return t.__module__ != "builtins" or t in (list, dict, set, bytearray, memoryview)
