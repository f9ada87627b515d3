"""Checks that arguments match an example in types, shapes, dtypes and structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy import dtype, ndarray

from mooncake_py.boundary.arguments import describe
from mooncake_py.errors import InvalidTangentError, PreparedArgumentsError
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.contents import elements_of, plain_dict
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.words import with_article

__all__ = ["Example"]

ALIKE: dict[type, type] = {np.float64: float, np.int64: int}
"""Types of numbers that are taken for others."""
NUMBERS = frozenset({float, int, complex, bool})
MANY = 8  # keys that a message names


class Form(NamedTuple):
    """A description of an argument, or of a part of one.

    Attributes
    ----------
    type : type
    shape : tuple of int or None
    dtype : dtype or None
        Of an array.
    parts : dict of str to Form
        By what names them in messages.
    """

    type: type
    shape: tuple[int, ...] | None = None
    dtype: dtype[Any] | None = None
    parts: Mapping[str, Form] | None = None

    def __str__(self) -> str:
        if self.shape is not None:
            return f"an array of shape {self.shape} and dtype {self.dtype}"
        if self.parts is not None and issubclass(self.type, (list, tuple, dict)):
            keys = f" ({', '.join(list(self.parts)[:MANY])})" if self.type is dict else ""
            return f"{with_article(self.type.__name__)} of {len(self.parts)}{keys}"
        return f"a value of type {self.type.__name__}"


class Example:
    """A description of the arguments of a call.

    Parameters
    ----------
    name : str
        Of what is called, for messages.
    f : callable
        Whose arguments they are.
    """

    def __init__(self, name: str, f: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.name = name
        self.f = f
        self.positional = [form_of(a, ()) for a in args]
        self.keywords = {key: form_of(a, ()) for key, a in kwargs.items()}

    def require(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raise if arguments are not like those of the example.

        Raises
        ------
        PreparedArgumentsError
        """
        if len(args) != len(self.positional) or kwargs.keys() != self.keywords.keys():
            expected, got = said(len(self.positional), self.keywords), said(len(args), kwargs)
            raise self.misfit("other arguments", expected, got)
        for i, (form, a) in enumerate(zip(self.positional, args, strict=True)):
            if not fits(form, a):
                self.refuse(i, form, a)
        for key, form in self.keywords.items():
            if not fits(form, kwargs[key]):
                self.refuse(key, form, kwargs[key])

    def refuse(self, key: int | str, form: Form, a: Any) -> None:
        """Raise if an argument does not match the example, and name the part that differs."""
        different = difference(form, form_of(a, ()), "")
        if different is not None:
            path, expected, got = different
            at = f" at {path}" if path else ""
            raise self.misfit(f"another {describe(self.f, key)}{at}", str(expected), str(got))

    def misfit(self, what: str, expected: str, got: str) -> PreparedArgumentsError:
        """Return the error for something that is not like that of the example."""
        return PreparedArgumentsError(
            f"{self.name} was prepared for {what}: expected {expected}, got {got}",
            why="a prepared derivative keeps memory that fits the arguments of its example",
            fix="prepare another one for these arguments, or call the derivative without "
            "preparing it",
        )


def said(positional: int, keywords: Mapping[str, Any]) -> str:
    """Return how many arguments there are, and which keywords."""
    return f"{positional} by position and the keywords {sorted(keywords)}"


def fits(form: Form, a: Any) -> bool:
    """Return True if a number or an array surely is like that of the example."""
    t = type(a)
    if form.shape is not None:
        return t is form.type and a.shape == form.shape and a.dtype == form.dtype
    return t is form.type and form.parts is None


def form_of(value: Any, above: tuple[int, ...]) -> Form:
    """Return the description of a value; `above` are the ids of the values that contain it."""
    t = type(value)
    if issubclass(type(value), ndarray):
        return Form(t, value.shape, value.dtype)
    if t in INERT or t in ALIKE or t in NUMBERS or id(value) in above:
        return Form(ALIKE.get(t, t))
    above = (*above, id(value))
    if issubclass(type(value), (list, tuple)):
        named: dict[str, Any] = {f"[{i}]": part for i, part in enumerate(elements_of(value))}
    elif issubclass(type(value), dict):
        named = {f"[{key!r}]": part for key, part in plain_dict(value).items()}
    else:
        try:
            fields = spec_of(value).fields(value)
        except InvalidTangentError:  # the derivative says what is wrong with it
            fields = None
        if fields is None:
            return Form(t)
        named = {f".{key}": part for key, part in fields.items()}
    return Form(t, parts={name: form_of(part, above) for name, part in named.items()})


def difference(expected: Form, got: Form, path: str) -> tuple[str, Form, Form] | None:
    """Return the first part that differs, with its path; None if there is none."""
    if (expected.type, expected.shape, expected.dtype) != (got.type, got.shape, got.dtype):
        return path, expected, got
    if expected.parts is None or got.parts is None:
        return None if expected.parts is got.parts else (path, expected, got)
    if expected.parts.keys() != got.parts.keys():
        return path, expected, got
    for name, part in expected.parts.items():
        found = difference(part, got.parts[name], path + name)
        if found is not None:
            return found
    return None
