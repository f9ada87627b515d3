"""Derivatives along a direction, and products with Hessians, called again in the same way.

As gradients (`modes.reverse.whole_again`), by a printed function that asks what can have changed.
`jvp` and `hvp` leave no object behind: the function is kept with the compiled one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mooncake_py.boundary.arguments import choose_arguments
from mooncake_py.modes.forward.whole import WholeTangent, moving, product_for
from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.modes.reverse.entry import entry_for, kept
from mooncake_py.modes.reverse.whole import SIMPLE
from mooncake_py.modes.reverse.whole_arguments import parts_of_one

__all__ = ["PRODUCT", "PUSH", "product_again", "push_again"]

PUSH = "derivative along a direction"
PRODUCT = "product with the Hessian"
Push = CalledAgain[[Any, tuple[Any, ...], Any], tuple[Any, Any]]
Product = CalledAgain[[Any, tuple[Any, ...], Any], Any]


def push_again(f: Any) -> Push | None:
    """Return the derivative of a function along directions, None if it is not kept."""
    return kept(f, PUSH, pushed)


def product_again(f: Any, argnums: Any) -> Product | None:
    """Return the products with the Hessian of a function, None if they are not kept."""
    chosen = argnums if type(argnums) is tuple else (argnums,)
    if any(type(k) is not int for k in chosen):
        return None
    return kept(f, (PRODUCT, argnums), partial(product, argnums))


def pushed(f: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """Return the printed function of ``f``, ``args`` and ``tangents``, None if there is none."""
    chosen = moving(tangents)
    entry = entry_for(PUSH, f, args) if are_simple(args, chosen) else None
    if entry is None:
        return None
    whole = WholeTangent.known(entry.site, entry.reading, chosen)
    if whole is None or (entry.reading.captured and parts_of_one(whole.moving.values())):
        return None
    missing = [f"tangents[{k}] is {'not ' * (k not in chosen)}None" for k in range(len(args))]
    entry.refuse(f"type(tangents) is not tuple or len(tangents) != {len(args)}")
    entry.refuse(" or ".join(missing))
    entry.scope["run"] = whole.run
    return entry.define("f, args, tangents", ["return run(found, tangents)"])


def are_simple(args: tuple[Any, ...], chosen: Sequence[Any]) -> bool:
    """Return True if arguments that move are numbers and arrays; others may be objects."""
    return SIMPLE.issuperset([type(args[k]) for k in chosen])


def product(argnums: int | tuple[int, ...], f: Any, args: tuple[Any, ...], v: Any) -> Any:
    """Return the printed function of ``f``, ``args`` and ``v``, None if there is none."""
    chosen = choose_arguments(f, argnums, args, {})
    entry = entry_for(PRODUCT, f, args) if are_simple(args, chosen) else None
    if entry is None or len(set(chosen)) < len(chosen):
        return None
    found = product_for(entry.site, entry.reading, chosen, with_gradient=False)
    if found is None or (entry.reading.captured and parts_of_one(found.arguments)):
        return None
    several = isinstance(argnums, tuple)
    if several:
        entry.refuse(f"type(v) is not tuple or len(v) != {len(chosen)}")
    entry.scope["run"] = found.run
    lines = [
        "try:",
        f"    result = run(found, {'v' if several else '(v,)'})",
        "except LeftOnTheWayBack:",
        "    return None",
        f"return None if result is None else result[1]{f'[:{len(chosen)}]' if several else '[0]'}",
    ]
    return entry.define("f, args, v", lines)
