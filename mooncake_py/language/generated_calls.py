"""Calls of methods that ``dataclass`` and ``namedtuple`` generate, of which there is no source.

For the ``__init__`` of a dataclass the engine writes one that does the same in sight of a context.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.printing.text import define
from mooncake_py.containers.attribute_sites import AttributeSite
from mooncake_py.diagnostics.notes import without_context
from mooncake_py.runtime.generated import is_of_tuple

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling

__all__ = ["call_generated", "initializer"]


def call_generated(ctx: Calling, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call such a method; all but a dataclass's ``__init__`` compare, describe or refuse."""
    run = initializer(f, type(args[0])) if f.__code__.co_name == "__init__" and args else None
    if run is not None:
        try:
            return run(*args, **kwargs, _mk_ctx=ctx)
        except TypeError as error:
            without_context(error)
            raise
    if f.__code__.co_name == "__setattr__" and is_of_tuple(f) and len(args) == 3:
        return set_beside_items(ctx, *args)
    return f(*args, **kwargs)


def set_beside_items(ctx: Calling, made: Any, name: str, value: Any) -> None:
    """Set an attribute of a result of SciPy, in the dict that its properties read."""
    if name in made._fields:
        raise AttributeError(f"can't set attribute {name!r} of class {type(made).__name__!r}")
    ctx.setitem(made.__dict__, name, value)


# Dataclasses.


def initializer(init: FunctionType, cls: Any) -> FunctionType | None:
    """Return a function equivalent to a generated ``__init__`` of a dataclass or one of its bases.

    It takes the context as `_mk_ctx`.  None if `init` is of a named tuple.
    """
    owner = None
    if not is_of_tuple(init):
        owner = next((base for base in cls.__mro__ if base.__dict__.get("__init__") is init), None)
    if owner is None:
        return None
    code = init.__code__
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    me, *names = code.co_varnames[:count]
    own = ", ".join([me, *names, "*", *code.co_varnames[count:total], "_mk_ctx"])
    scope: dict[str, Any] = {"_mk_set": object.__setattr__}
    lines = statements(owner, me, scope)
    new = define("\n    ".join([f"def __init__({own}):", *lines, "pass"]), scope)["__init__"]
    new.__defaults__, new.__kwdefaults__ = init.__defaults__, init.__kwdefaults__
    new.__qualname__ = init.__qualname__
    return new


def statements(cls: Any, me: str, scope: dict[str, Any]) -> list[str]:
    """Return the statements that initialize the fields, which find in a scope what they name."""
    import dataclasses  # not needed by who has none

    scope["_mk_default"] = vars(dataclasses)["_HAS_DEFAULT_FACTORY"]
    missing = dataclasses.MISSING
    lines: list[str] = []
    passed = ""
    for k, (name, field) in enumerate(cls.__dataclass_fields__.items()):
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        value, made = name, f"_mk_ctx.call(_mk_factory{k})"
        scope[f"_mk_factory{k}"] = field.default_factory
        if field.init and field.default_factory is not missing:
            lines.append(f"if {name} is _mk_default: {name} = {made}")
        elif not field.init and field.default_factory is not missing:
            value = made
        elif not field.init:
            if field.default is missing or "__slots__" not in cls.__dict__:
                continue  # the default stays in the class, or __post_init__ sets it
            value = f"_mk_taken{k}"  # which `dataclass(slots=True)` took away from the class
            scope[value] = field.default
        if kind == "_FIELD_INITVAR":
            passed += f", {value}"
        elif cls.__dataclass_params__.frozen:
            lines.append(f"_mk_ctx.set_own_attribute(_mk_set, {me}, {name!r}, {value})")
        else:
            scope[f"_mk_site{k}"] = AttributeSite(name)
            lines.append(f"_mk_site{k}.set(_mk_ctx, {me}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(f"_mk_ctx.method({me}, '__post_init__'{passed})")
    return lines
