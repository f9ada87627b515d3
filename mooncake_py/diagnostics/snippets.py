"""Snippets that declare a missing rule; the user pastes them and fills in the dots."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["by_partials", "by_replacement", "by_vjp", "by_wrapper"]

NAMES = "xyzuvw"


def by_partials(name: str, count: int) -> str:
    """Return the declaration of an elementwise function of some operands."""
    operands = ", ".join(operand_names(count))
    partials = ", ".join([f"lambda {operands}, out: ..."] * count)
    return indented(*imports(name, "elementwise"), f"elementwise({name}, {partials})")


def by_vjp(name: str, active: Sequence[bool] | None, has_options: bool) -> str:
    """Return a rule for a function; `active` tells its positional arguments apart, if known."""
    operands = operand_names(len(active)) if active is not None else ["*args"]
    given = ", ".join([*operands, *options(has_options or active is None)])
    cotangents = [("dy * ..." if on else "None") for on in active or [True]]
    return indented(
        *imports(name, "from_vjp", "zero_derivative"),
        f"@from_vjp({name})",
        f"def rule({given}):",
        f"    return {name}({given}), lambda dy: ({', '.join(cotangents)},)",
    )


def by_replacement(name: str, count: int, has_options: bool) -> str:
    """Return an overlay for a function."""
    given = ", ".join([*operand_names(count), *options(has_options)])
    return indented(
        *imports(name, "overlay", "zero_derivative"),
        f"@overlay({name})",
        f"def replacement({given}):",
        "    return ...",
    )


def by_wrapper(active: Sequence[bool], has_options: bool) -> str:
    """Return a Python function around one that cannot have a rule, with its rule."""
    given = ", ".join([*operand_names(len(active)), *options(has_options)])
    wrapper = indented(f"def call({given}):", "    return ...")
    return f"{wrapper}\n{by_vjp('call', active, has_options)}"


def operand_names(count: int) -> list[str]:
    return list(NAMES[:count]) if count <= len(NAMES) else [f"x{i}" for i in range(count)]


def options(present: bool) -> list[str]:
    """Return the placeholder of keyword arguments, if there are any."""
    return ["**options"] if present else []


def imports(name: str, *declarations: str) -> list[str]:
    """Return the lines that import a function's module and the declarations."""
    parts = name.split(".")[:-1]
    while parts and ".".join(parts) not in sys.modules:
        parts.pop()  # a class
    module = [f"import {'.'.join(parts)}"] if parts else []
    return [*module, f"from mooncake_py import {', '.join(declarations)}"]


def indented(*lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines)
