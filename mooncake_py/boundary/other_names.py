"""Objects of arguments that a pullback copies, and that a function reaches by other names too.

The copies would not be found there: in a registry that the class keeps, among the keys of a
captured dict.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.application.hidden import hidden_parts
from mooncake_py.boundary.arguments import name_of
from mooncake_py.boundary.captured import captured_values
from mooncake_py.boundary.survey import parts_of
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.remembered import remembered
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.identities import Identities

__all__ = ["refuse_other_names"]

MANY = 64
WHY = (
    "vjp runs the function on copies of its arguments, which are other objects than those that\n"
    "{names} holds"
)
FIX = "use value_and_grad, which runs on the objects themselves; or look them up by a name"


def refuse_other_names(f: Callable[..., Any], identities: Identities) -> None:
    """Raise if a captured dict or set has originals as keys, which copies would not find."""
    identities.table()
    keyed = {key: old for key, old in identities.originals.items() if is_by_identity(type(old))}
    if not keyed:
        return
    for value in captured_values(f):
        parts = parts_of(value)
        for holder in (value, *(parts if len(parts) <= MANY else ())):
            if type(holder) is FunctionType:
                continue  # whose defaults are found by name
            for part in hidden_parts(holder):
                if id(part) in keyed:
                    raise found_elsewhere(f, part, with_article(type(holder).__name__))


@remembered
def is_by_identity(cls: type) -> bool:
    """Return whether a dict finds instances of a class by their identity, not by what they hold."""
    if cls.__hash__ is None or cls.__hash__ is object.__hash__:
        return cls.__hash__ is not None
    methods = (method for method in (cls.__eq__, cls.__hash__) if type(method) is FunctionType)
    return any(
        "id" in method.__code__.co_names
        or any(step.opname == "IS_OP" for step in dis.get_instructions(method.__code__))
        for method in methods
    )


def found_elsewhere(f: Any, old: Any, names: str) -> SharedArgumentsError:
    """Return the error for an object that something else than the arguments holds."""
    return SharedArgumentsError(
        f"{name_of(f)} finds an object of its arguments, {with_article(type(old).__name__)}, "
        f"in {names}",
        why=WHY.format(names=names),
        fix=FIX,
    )
