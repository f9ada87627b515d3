"""Methods that ``dataclass`` and ``namedtuple`` write: they have no source, but a known meaning.

The results of SciPy's functions (``make_tuple_bunch``) are written in the way of ``namedtuple``.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling

__all__ = ["call_generated", "has_no_source", "is_of_tuple"]


def has_no_source(f: FunctionType) -> bool:
    """Return whether a method was written by ``dataclass`` or ``namedtuple``."""
    inner = getattr(f, "__wrapped__", f)  # the repr of a dataclass guards against recursion
    code = getattr(inner, "__code__", f.__code__)
    if code.co_filename != "<string>":
        return False
    return code.co_qualname.startswith("__create_fn__.") or is_of_tuple(f)


def call_generated(ctx: Calling, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call such a method; all but a dataclass's ``__init__`` compare, describe or refuse."""
    name = f.__code__.co_name
    owner = owner_of(f, args[0]) if name == "__init__" and args else None
    if owner is not None:
        return initialize_dataclass(ctx, owner, f, args, kwargs)
    if name == "__setattr__" and is_of_tuple(f) and len(args) == 3:
        return set_beside_items(ctx, *args)
    return f(*args, **kwargs)


def owner_of(init: FunctionType, made: Any) -> Any:
    """Return the dataclass for which an ``__init__`` was written; None if it was for a tuple."""
    if is_of_tuple(init):
        return None
    return next((b for b in type(made).__mro__ if b.__dict__.get("__init__") is init), None)


def is_of_tuple(f: FunctionType) -> bool:
    """Return whether a method was written for a class of tuples with names."""
    return f.__globals__.get("__name__", "").startswith("namedtuple_")


def set_beside_items(ctx: Calling, made: Any, name: str, value: Any) -> None:
    """Set an attribute of a result of SciPy, in the dict that its properties read."""
    if name in made._fields:
        raise AttributeError(f"can't set attribute {name!r} of class {type(made).__name__!r}")
    ctx.setitem(made.__dict__, name, value)


def initialize_dataclass(
    ctx: Calling, cls: Any, init: FunctionType, args: Any, kwargs: Any
) -> None:
    """Do what the generated ``__init__`` does, with all code of the user's derived."""
    from dataclasses import MISSING  # not needed by who has no dataclass

    bound = inspect.signature(init).bind(*args, **kwargs)
    bound.apply_defaults()
    made, values = args[0], bound.arguments
    init_only: list[Any] = []
    for name, field in cls.__dataclass_fields__.items():
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if field.init and type(values[name]).__name__ != "_HAS_DEFAULT_FACTORY_CLASS":
            value = values[name]
        elif field.default_factory is not MISSING:
            value = ctx.call(field.default_factory)
        elif field.default is not MISSING and "__slots__" in cls.__dict__:
            value = field.default  # which `dataclass(slots=True)` took away from the class
        else:
            continue  # the default stays in the class, or __post_init__ sets it
        if kind == "_FIELD_INITVAR":
            init_only.append(value)
        elif cls.__dataclass_params__.frozen:
            ctx.set_own_attribute(object.__setattr__, made, name, value)
        else:
            ctx.setattr(made, name, value)
    if hasattr(cls, "__post_init__"):
        ctx.method(made, "__post_init__", *init_only)
