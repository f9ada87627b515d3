"""Printing cotangents in the reverse pass."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import os
from typing import TYPE_CHECKING, Any, TypeVar

from mooncake_py.errors import Location, file_and_line
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.hooks import hook

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["showgrad"]

T = TypeVar("T")


def showgrad(x: T, label: str | None = None) -> T:
    """Return a copy of `x` whose cotangent is printed in the reverse pass, with the line.

    Parameters
    ----------
    x : object
        A number, an array, or lists, dicts, tuples and objects of these.
    label : str, optional
        A label to print; by default the expression for `x` in the source.

    Returns
    -------
    object
        A copy, in new memory, as with :func:`hook`.

    Notes
    -----
    The printed cotangent is that of the copy, not of other uses of `x`: zero if the copy is not
    used.  If `x` does not depend on the variables of differentiation, `showgrad` prints at once
    that it is constant.  In forward mode and in derivatives of higher order, it prints nothing.

    Examples
    --------
    >>> from mooncake_py import grad, showgrad
    >>> grad(lambda a, b: showgrad(a, "first factor") * b)(2.0, 3.0)  # doctest: +ELLIPSIS
    <doctest ...>:1: gradient of first factor: 3.0
    3.0
    """
    return plain_copy(x)


@contextual(showgrad)
def showgrad_inside(ctx: Mode, x: T, label: str | None = None) -> T:
    """Print the cotangent with a hook, inside a derivative."""
    if not isinstance(ctx, ReverseContext):
        return ctx.call(copy.deepcopy, x)
    where = ctx.user_location()
    name = label or (argument_at(where) if where else "")
    place = os.path.basename(file_and_line(where.file, where.line)) + ": " if where else ""
    text = f"{place}gradient" + (f" of {name}" if name else "")
    if not ctx.contains_active(x):
        print(f"{text}: none, it is constant")
    return ctx.call(hook, functools.partial(show, text), x)


def show(text: str, g: Any) -> None:
    """Print a cotangent after a text."""
    shown = repr(g)
    print(f"{text}:\n{shown}" if "\n" in shown else f"{text}: {shown}")


def argument_at(where: Location) -> str:
    """Return the source of the argument of `showgrad` in the call at a place; "" if not found."""
    line = linecache.getline(where.file, where.line).encode()
    call = line[where.column : where.end_column].decode(errors="replace").strip()
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError:  # the call goes on in the next line
        return ""
    if not isinstance(tree, ast.Call) or not tree.args:
        return ""
    if not ast.unparse(tree.func).endswith(showgrad.__name__):  # one that calls it back
        return ""
    return ast.get_source_segment(call, tree.args[0]) or ""
