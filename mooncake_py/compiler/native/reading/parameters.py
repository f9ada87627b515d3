"""Arguments of calls, by the parameters that take them: Python's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.values import Dictionary, Tuple, Unfit, Value

__all__ = ["Parameters", "defaults_of", "parameters_of"]

STARRED, KEYWORDS = 0x04, 0x08  # flags of code that has `*args`, `**kwargs`


class Parameters(NamedTuple):
    """The parameters of a function.

    Attributes
    ----------
    positional : tuple of str
        Those that take arguments by position.
    only : int
        How many of these take none by name.
    by_name : tuple of str
        Those that take arguments by name only.
    starred, keywords : str
        The names of ``*args`` and ``**kwargs``, empty if there are none.
    names : tuple of str
        All, in the order in which code has them.
    """

    positional: tuple[str, ...]
    only: int
    by_name: tuple[str, ...]
    starred: str
    keywords: str
    names: tuple[str, ...]

    def taken(self, args: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of a call by the names of the parameters, without defaults.

        None where Python raises a TypeError.
        """
        found = dict(zip(self.positional, args, strict=False))
        rest = args[len(self.positional) :]
        takes = {*self.positional[self.only :], *self.by_name}
        named = {name: value for name, value in given.items() if name in takes}
        others = {name: value for name, value in given.items() if name not in takes}
        if (rest and not self.starred) or (others and not self.keywords):
            return None
        if found.keys() & named.keys():
            return None
        found |= named
        if self.starred:
            found[self.starred] = tuple(rest)
        if self.keywords:
            found[self.keywords] = others
        return found

    def arranged(
        self, f: FunctionType, args: Sequence[Any], given: Mapping[str, Any]
    ) -> Sequence[Any] | None:
        """Return the arguments of a call of a function in order, None where they do not fit."""
        if len(args) == len(self.positional) == len(self.names) and not given:
            return args
        found = self.taken(args, given)
        if found is None:
            return None
        found = defaults_of(f) | found
        names = self.names
        return [found[name] for name in names] if len(found) == len(names) else None

    def bound(self, args: Sequence[Value], given: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values of arguments by the names of the parameters, without defaults.

        Raises
        ------
        Unfit
            Where Python raises a TypeError.
        """
        found = self.taken(args, given)
        if found is None:
            raise Unfit("a call with arguments that do not fit")
        if self.starred:
            found[self.starred] = Tuple(found[self.starred])
        if self.keywords:
            rest = found[self.keywords]
            found[self.keywords] = Dictionary(tuple(rest), tuple(rest.values()))
        return found


def parameters_of(code: CodeType) -> Parameters:
    """Return the parameters of a function of some code."""
    names, count = code.co_varnames, code.co_argcount
    after = count + code.co_kwonlyargcount
    rest = list(names[after:])
    starred = rest.pop(0) if code.co_flags & STARRED else ""
    keywords = rest.pop(0) if code.co_flags & KEYWORDS else ""
    only = code.co_posonlyargcount
    every = names[: after + bool(starred) + bool(keywords)]
    return Parameters(names[:count], only, names[count:after], starred, keywords, every)


def defaults_of(f: FunctionType) -> dict[str, Any]:
    """Return the defaults of a function by the names of its parameters."""
    positional = f.__code__.co_varnames[: f.__code__.co_argcount]
    pairs = zip(positional[::-1], (f.__defaults__ or ())[::-1], strict=False)
    return dict(pairs) | (f.__kwdefaults__ or {})
