"""Source code and the origins of rules, which pickled derivatives carry with their functions.

Functions that cannot be imported are pickled by value, by cloudpickle and those who use it (joblib,
Dask): their code arrives, but not the script or the notebook that their source is read from.
"""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.jitted import captured
from mooncake_py.rules import registry
from mooncake_py.rules.elsewhere import Declaration, declaration, expect, expected
from mooncake_py.syntax.carried import carry
from mooncake_py.syntax.source import locate

__all__ = ["Remade", "luggage", "remade"]

P = ParamSpec("P")
Given = TypeVar("Given")


class Luggage(NamedTuple):
    """The data that accompanies a function to another process."""

    texts: dict[str, list[str]]
    rules: tuple[Declaration, ...]


class Remade(Generic[P, Given]):
    """A function that is pickled as the call that made it.

    Parameters
    ----------
    function : callable
    maker : callable
        Returned it.
    f, *options
        What that was called with.
    """

    def __init__(
        self, function: Callable[P, Given], maker: Callable[..., Any], f: Any, *options: Any
    ) -> None:
        self.function = function
        self.__wrapped__ = f  # whose signature and name it has
        self.making = maker, (f, *options)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Given:
        """Run the function."""
        with boundary:
            return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        maker, arguments = self.making
        return remade, (maker, arguments, luggage(arguments[0]))


def luggage(f: Any) -> Luggage:
    """Return the data that accompanies a derivative of `f`."""
    return Luggage(texts_of(f), (*expected(), *declarations_of(registry.version())))


def remade(maker: Callable[..., Any], arguments: tuple[Any, ...], carried: Luggage) -> Any:
    """Make an object again, in another process."""
    expect(carried.rules)
    for file, lines in carried.texts.items():
        carry(file, lines)
    return maker(*arguments)


@functools.lru_cache(1)
def declarations_of(version: int) -> tuple[Declaration, ...]:
    """Return where the user's rules are from; they are the same in one version of the registry."""
    return tuple([declaration(f, rule) for f, rule in registry.registered() if rule.by_user])


def texts_of(f: Any) -> dict[str, list[str]]:
    """Return the files of functions that are pickled by value with `f`, with their lines.

    These are `f` itself, the variables it captures, and its neighbours in a script or a notebook.
    """
    found: dict[str, list[str]] = {}
    todo = list(functions_of(f))
    seen: set[FunctionType] = set()
    for function in todo:
        if function in seen or is_importable(function):
            continue
        seen.add(function)
        file = file_of(function)
        found[file] = linecache.getlines(file)
        for value in reached(function):
            todo += functions_of(value)
    return {file: lines for file, lines in found.items() if lines}


def file_of(function: FunctionType) -> str:
    """Return the file of a function, also of a copy that does not name it."""
    code = function.__code__
    if linecache.getlines(code.co_filename):
        return code.co_filename
    try:
        return locate(code, function.__globals__).file
    except SourceUnavailableError:
        return code.co_filename


def functions_of(value: Any) -> Iterator[FunctionType]:
    """Yield the functions of Python that a call of `value` may run first."""
    while isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, MethodType):
        yield from functions_of(value.__func__)
        yield from functions_of(type(value.__self__))
    else:
        cls = value if isinstance(value, type) else type(value)
        if cls.__module__ == "__main__":
            yield from [member for member in vars(cls).values() if type(member) is FunctionType]


def reached(function: FunctionType) -> Iterator[Any]:
    """Yield the captured variables of a function and, in a script or notebook, its globals."""
    yield from dict(captured(function)).values()
    if function.__module__ == "__main__":
        yield from list(function.__globals__.values())


def is_importable(function: FunctionType) -> bool:
    """Return whether another process finds a function by its name."""
    if function.__module__ == "__main__":
        return False
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function
