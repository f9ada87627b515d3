"""Rules of functions in the process that pickled them, which this process may lack.

Functions of ``__main__`` and of notebooks are pickled by value: a copy arrives, which has no rule
in this process.  Functions of modules are pickled by name: a rule that another module declares for
them is here only if that module is imported.  A derivative of their source would differ without an
error; so the registry checks here whenever it has no rule.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mooncake_py.by_identity import answers_itself
from mooncake_py.errors import MissingRuleError
from mooncake_py.modules import held_by_module
from mooncake_py.rules import epoch, local
from mooncake_py.rules.kinds import Rule, function_name

__all__ = ["Declaration", "declaration", "expect", "expected", "look_for", "mark"]

MARK = "__mooncake_rule__"
"""The attribute of a function with a rule of the user's, which travels with a copy."""


class Declaration(NamedTuple):
    """Where another process has a rule from.

    The key holds the first line of the function, as names alone are not unique.
    """

    key: tuple[str, int]
    module: str | None
    place: str


_expected: dict[tuple[str, int], Declaration] = {}


def mark(function: Any, rule: Rule) -> None:
    """Write down on a function of Python that the user has declared a rule for it."""
    if type(function) is FunctionType and rule.by_user:
        setattr(function, MARK, (*identity(function.__code__), str(rule.origin)))


def declaration(function: Any, rule: Rule) -> Declaration:
    """Return the declaration of a rule, to be sent to another process."""
    return Declaration(key_of(function), module_of(rule.origin.file), str(rule.origin))


def expect(declarations: Iterable[Declaration]) -> None:
    """Note the rules that the sender of a derivative has."""
    _expected.update({found.key: found for found in declarations})
    epoch.advance()


def expected() -> tuple[Declaration, ...]:
    """Return the rules that senders have, for a process that the derivative is passed on to."""
    return tuple(_expected.values())


def look_for(function: Any, rules: Mapping[Any, Rule]) -> bool:
    """Import the module that declares the rule of the sender; return whether there is one.

    Parameters
    ----------
    function : callable
        Has no rule where this is asked.
    rules : mapping
        The rules of this process, by function; in a block some of them do not hold.

    Raises
    ------
    MissingRuleError
        If the sender has a rule that cannot be had here.
    """
    place = copied_mark(function) if type(function) is FunctionType else None
    is_sought = bool(_expected) and is_named(function)
    found = _expected.get(key_of(function)) if is_sought else None
    if (found is None and place is None) or function in rules:
        return False
    if found is None or found.module is None or found.module in sys.modules:
        raise missing(function, place if found is None else found.place)
    with local.using(None):
        importlib.import_module(found.module)
    return True


def copied_mark(function: FunctionType) -> str | None:
    """Return where a rule was declared for the function that this one is a copy of."""
    marked = function.__dict__.get(MARK)
    if marked is None:
        return None
    *marked_code, place = marked
    # Otherwise it is that of a function that this one wraps.
    return place if tuple(marked_code) == identity(function.__code__) else None


def identity(code: CodeType) -> tuple[Any, ...]:
    """Return a key that identifies a function and its copies: pickles may omit the file's name."""
    return code.co_qualname, code.co_firstlineno, code.co_names, code.co_code


def missing(function: Any, place: str | None) -> MissingRuleError:
    """Return the error for a rule that is in another process only."""
    return MissingRuleError(
        f"the rule of {function_name(function)} is not in this process",
        why=f"it was declared at {place}, in the process that sent the function:\n"
        "functions pickled by value arrive without rules",
        fix="put function and rule into a module that both processes import",
    )


def is_named(function: Any) -> bool:
    """Return whether a function has a name, which can be read without running Python code."""
    return not answers_itself(function, "__getattribute__", "__getattr__") and (
        hasattr(function, "__qualname__") or hasattr(function, "__name__")
    )


def key_of(function: Any) -> tuple[str, int]:
    """Return name and first line of a function."""
    line = function.__code__.co_firstlineno if type(function) is FunctionType else 0
    return function_name(function), line


def module_of(file: str) -> str | None:
    """Return the name under which another process can import a file, None if there is none."""
    for name, module in list(sys.modules.items()):
        if held_by_module(module, "__file__") == file and name not in ("__main__", "__mp_main__"):
            return name
    return None
