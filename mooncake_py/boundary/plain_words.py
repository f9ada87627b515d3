"""Messages of exceptions in which CPython names the class of a number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mooncake_py.runtime.active import Active

__all__ = ["name_numbers"]

NAME = r"(?<=')float(?=')|\bfloat(?= object)|(?<=not )float\b|(?<=\")float(?=\")"
OF_OPERATORS = re.compile(r"unsupported operand type|not supported between instances")


def name_numbers(error: Exception) -> None:
    """Name the class of the plain number where CPython took an active one for a float.

    An active number is of a class called "float", whatever its number is.  What the innermost
    frame holds tells which number was meant, unless it holds numbers of several classes.
    """
    if not isinstance(error, (TypeError, AttributeError)) or not names_float(error):
        return
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return
    held = numbers_in(traceback.tb_frame.f_locals.values())
    kinds = {value.__class__ for value in held if type(value) is Active}
    if len(kinds) == 1 and float not in map(type, held):
        error.args = (re.sub(NAME, full_name(kinds.pop()), error.args[0]), *error.args[1:])


def names_float(error: Exception) -> bool:
    """Return whether a text may name the class of an active number; operators run on numbers."""
    text = error.args[0] if error.args else None
    return isinstance(text, str) and "float" in text and not OF_OPERATORS.search(text)


def numbers_in(values: Iterable[Any]) -> list[Any]:
    """Return the numbers among values; if there are none, those in tuples, as of arguments."""
    values = list(values)
    found = [value for value in values if type(value) is Active or type(value) is float]
    return found or [n for value in values if type(value) is tuple for n in numbers_in(value)]


def full_name(kind: type) -> str:
    """Return how CPython names a class of numbers."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
