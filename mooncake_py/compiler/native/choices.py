"""The choices that were made for each function, in this process and before."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.fingerprint import fingerprint
from mooncake_py.compiler.native.machine import notes
from mooncake_py.compiler.sites.choice import Choice, sizes_of
from mooncake_py.remembered import Table

__all__ = ["choice_of", "takes_notes"]

MOST = 64  # kinds of arguments of one function that are told apart

Key = tuple[Hashable, ...]
_choices: dict[str, Table[dict[Key, Choice]]] = {}


def choice_of(kind: str, f: Any, args: Any) -> Choice | None:
    """Return which way derivatives of a function go for such arguments.

    None where it is not chosen: the callee may not be a Python function, say.

    Parameters
    ----------
    kind : str
        Of derivative.
    """
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType:
        return None
    table = _choices.setdefault(kind, Table())
    code = function.__code__
    known = table.found.get(id(code))
    if known is None:
        known = {}
        table.set(code, known)
    key = sizes_of(args)
    own = known.get(key)
    if own is None and len(known) < MOST:
        own = known.setdefault(key, remembered_choice(kind, function, key))
    return own


def remembered_choice(kind: str, f: FunctionType, key: Key) -> Choice:
    """Return a choice that begins with what another process has found out."""
    if not takes_notes():
        return Choice()
    name = notes.digest("choice", kind, fingerprint(f), key)
    before = notes.noted(name)
    return Choice(before if isinstance(before, bool) else None, partial(notes.note, name))


def takes_notes() -> bool:
    """Return whether LLVM compiles, whose times and refusals are those of later processes."""
    return form.COMPILER is form.LLVM
