"""Libraries whose objects hold constants, such as pandas: their code runs natively, and only reads.

Their objects keep data in compiled classes, in which the engine can follow neither a derivative nor
a write.  So it reads constants natively, and refuses active data and callbacks by name, and writes
except to objects that the differentiated call has made.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.out_argument import signature_of
from mooncake_py.diagnostics.native_modules import data_taken_out, is_constant_library
from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.errors import MissingRuleError
from mooncake_py.language.compiled_code import Watch
from mooncake_py.modules import module_of, package_of
from mooncake_py.runtime import activity
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.operators import BINARY
from mooncake_py.runtime.referents import Reached

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = ["answer", "asks", "make", "run"]

WRITES = frozenset({
    "__setitem__", "__delitem__", "__setattr__", "__delattr__", "__setstate__", "insert",
    "isetitem", "pop", "update", *(op.inplace_method for op in BINARY.values()),
})  # fmt: skip
WRITES_IF = "inplace"  # the name of the argument that makes other methods write
EVALUATING = frozenset({"eval", "query"})
GETTERS = frozenset({"__getitem__", "__getattr__", "get", "xs"})
PLAIN = activity.INERT | {ndarray}


def run(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run one of their functions on constants, or ask about types of whatever values."""
    values = (*args, *kwargs.values())
    if asks(f):
        return answer(f, args, kwargs)
    if writes(f, args, kwargs):
        return write(ctx, f, args, kwargs)
    if reads_names(f, args, kwargs):
        raise refusal(ctx, f, "it reads variables of its caller by their names, in a text")
    refuse_unseen(ctx, f, values)
    y = f(*args, **kwargs)
    if f.__name__ not in GETTERS or getattr(y, "ndim", 0) == 2:  # a table keeps its columns
        note_made(ctx, y, values)
    return y


def make(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create one of their objects from constants."""
    refuse_unseen(ctx, cls, (*args, *kwargs.values()))
    y = cls(*args, **kwargs)
    note_made(ctx, y, args)
    return y


def note_made(ctx: Mode, y: Any, values: Any) -> None:
    """Remember an object that the call has made, whose changes have no external effect."""
    is_new = is_constant_library(module_of(type(y))) and not any(y is v for v in values)
    if is_new and type(y).__weakrefoffset__:
        ctx.made[id(y)] = weakref.ref(y)


def write(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Change an object that the call has made; of its arrays others may be views."""
    of_indexer = hasattr(type(args[0]), "obj")
    changed = outputs(kwargs) or (args[0].obj if of_indexer else args[0],)
    known = (ctx.made.get(id(o)) for o in changed)
    is_made = all(m is not None and m() is o for m, o in zip(known, changed, strict=True))
    if not is_made or ctx.rehearsal is not None:
        raise refusal(ctx, f, "it changes an object in a way that cannot be undone")
    refuse_unseen(ctx, f, (*args, *kwargs.values()))
    reached = Reached()
    reached.arrays = [a for a in held_within(changed) if issubclass(type(a), ndarray)]
    watch = Watch(ctx, reached)
    try:
        y = f(*args, **kwargs)
    finally:
        watch.record_writes()
    note_made(ctx, y, args)
    return y


def outputs(kwargs: Any) -> tuple[Any, ...]:
    """Return the arrays given as `out`."""
    out = kwargs.get("out")
    return tuple(o for o in (out if type(out) is tuple else (out,)) if o is not None)


def refuse_unseen(ctx: Tracking, f: Any, values: Any) -> None:
    """Raise if active data or user code would reach code that the engine cannot see."""
    if any(ctx.contains_active(v) or is_active_within(ctx, v) for v in values):
        raise refusal(ctx, f, "its objects cannot hold a derivative")
    if any(map(is_users_code, values)):
        raise refusal(ctx, f, "it calls Python code, which the engine could not see")
    if ctx.numerals is not None and any(hasattr(v, "read") for v in values):
        raise refusal(ctx, f, "it may read numbers from text made from active numbers")


def asks(f: Any) -> bool:
    """Return whether a function is a predicate on types or missing values."""
    name = getattr(f, "__qualname__", "")
    return name.startswith("is") and "." not in name and is_constant_library(module_of(f))


def answer(f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that asks, with plain numbers for active ones."""
    return f(*map(activity.unwrapped, args), **activity.unwrapped(kwargs))


def reads_names(f: FunctionType, args: Any, kwargs: Any) -> bool:
    """Return whether a function evaluates a text with variables of the code that calls it."""
    if f.__name__ not in EVALUATING or "local_dict" in kwargs:
        return False
    texts = [v for v in (*args, *kwargs.values()) if isinstance(v, str)]
    return f.__qualname__ == f.__name__ or any("@" in text for text in texts)


def writes(f: FunctionType, args: Any, kwargs: Any) -> bool:
    """Return whether a call changes one of its arguments."""
    if f.__name__ in WRITES or outputs(kwargs):
        return True
    signature = signature_of(f)
    if signature is None or WRITES_IF not in signature.parameters:
        return bool(kwargs.get(WRITES_IF))
    try:
        return bool(signature.bind(*args, **kwargs).arguments.get(WRITES_IF))
    except TypeError:
        return False  # the call is about to say so


def is_users_code(value: Any) -> bool:
    """Return whether an argument is a function that was not made by an installed library."""
    return (
        callable(value)
        and not issubclass(type(value), type)
        and not is_constant_library(module_of(type(value)))
        and not module_of(value).startswith(("numpy", "builtins"))
    )


def is_active_within(ctx: Reporting, value: Any) -> bool:
    """Return whether an object of these libraries shares active memory or holds active numbers."""
    if not is_constant_library(module_of(type(value))):
        return False
    return any(
        type(part) is Active or (issubclass(type(part), ndarray) and ctx.contains_active(part))
        for part in held_within(value)
    )


def held_within(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers that an object holds, those of compiled classes too."""
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        if type(part) is Active or issubclass(type(part), ndarray):
            yield part
        if not issubclass(type(part), (type, ModuleType, FunctionType)) and type(part) not in PLAIN:
            todo += gc.get_referents(part)


def refusal(ctx: Reporting, f: Any, why: str) -> MissingRuleError:
    """Return the error for a call that cannot be differentiated."""
    package = package_of(f)
    return unsupported(
        ctx,
        f"{package}.{f.__qualname__} cannot be differentiated",
        why=why,
        fix=with_page(data_taken_out(package), package),
    )
