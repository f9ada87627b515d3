"""Methods in C of containers that run Python code of their subclasses: it runs derived.

Some make another container by a call of the class, whose ``__init__`` may be in Python, and may set
its items by ``__setitem__``.  To read an item of a dict may run ``__missing__`` or a factory.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import deques, dicts
from mooncake_py.runtime.active import primal_of
from mooncake_py.tangents.contents import FACTORY, MAXLEN

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["NAMES", "by_class", "is_remade", "method_of"]

OF_LIBRARY = frozenset({OrderedDict, defaultdict, deque})

Method = Callable[..., Any]


def method_of(t: type, name: str) -> Method | None:
    """Return a function that runs a method in C of a class other than Python's own containers."""
    if name == "__getitem__" and issubclass(t, dict):
        return dicts.read_key
    if t in OF_LIBRARY:
        return None
    return next((table.get(name) for base, table in METHODS.items() if issubclass(t, base)), None)


def is_remade(value: Any) -> bool:
    """Return whether operators of a container in C call its class, which may be in Python."""
    t = type(value)
    if t is dict or t in OF_LIBRARY or not issubclass(t, (dict, deque)):
        return False
    return issubclass(t, (OrderedDict, defaultdict, deque)) or t.__iter__ is not dict.__iter__


def by_class(ctx: Mode, cls: type, name: str, o: Any, *args: Any) -> Any:
    """Run a method of a class in C that returns another container, of an instance."""
    return METHODS[cls][name](ctx, o, *args)


# Deques.


def copied_deque(ctx: Mode, d: Any) -> Any:
    cls, maxlen = type(d), MAXLEN.__get__(d)
    made = ctx.call(cls, d, *(() if maxlen is None else (maxlen,)))
    if not isinstance(made, deque):
        name = type(made).__name__
        raise TypeError(f"{cls.__name__}() must return a deque, not {name}")
    return made


def joined(ctx: Mode, d: Any, other: Any) -> Any:
    if not issubclass(type(other), deque):
        return deque.__add__(d, other)  # raises
    made = copied_deque(ctx, d)
    deques.extend(ctx, made, other)
    return made


def repeated(ctx: Mode, d: Any, times: Any) -> Any:
    if not hasattr(type(primal_of(times)), "__index__"):
        return deque.__mul__(d, times)  # raises
    made = copied_deque(ctx, d)
    return deques.repeat(ctx, made, operator.index(primal_of(times)))


# Dicts.


def copied_dict(ctx: Mode, d: Any, source: Any = None) -> Any:
    return dict(ctx.mapping(d if source is None else source))


def copied_ordered(ctx: Mode, d: Any) -> Any:
    made = ctx.call(type(d))
    for key in list(OrderedDict.__iter__(d)):
        ctx.setitem(made, key, ctx.getitem(d, key))
    return made


def with_factory(ctx: Mode, d: Any, source: Any = None) -> Any:
    return ctx.call(type(d), FACTORY.__get__(d), d if source is None else source)


def of_class(ctx: Mode, d: Any, source: Any) -> Any:
    return ctx.call(type(d), source)


def merging(make: Method, is_reflected: bool) -> Method:
    """Return a function that runs ``a | b`` by the class of `d`, one of the operands."""

    def merged(ctx: Mode, d: Any, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        left, right = (other, d) if is_reflected else (d, other)
        made = make(ctx, d, left)
        dicts.update(ctx, made, right)
        return made

    return merged


METHODS: dict[Any, dict[str, Method]] = {
    deque: {
        "copy": copied_deque, "__copy__": copied_deque, "__add__": joined, "__mul__": repeated,
        "__rmul__": repeated,
    },
    OrderedDict: {
        "copy": copied_ordered, "__or__": merging(of_class, False),
        "__ror__": merging(of_class, True),
    },
    defaultdict: {
        "copy": with_factory, "__copy__": with_factory, "__or__": merging(with_factory, False),
        "__ror__": merging(with_factory, True),
    },
    dict: {
        "copy": copied_dict, "__or__": merging(copied_dict, False),
        "__ror__": merging(copied_dict, True),
    },
}  # fmt: skip
NAMES = frozenset({"__getitem__"}).union(*METHODS.values())
"""The names of all of these."""
