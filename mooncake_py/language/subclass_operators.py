"""Operators, comparisons and elements of instances of subclasses, as ndarray defines them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.sequences import plain_subscript
from mooncake_py.language.elements import as_array, as_element, is_element
from mooncake_py.language.subclass_instances import dressed, wrapped, wrapping
from mooncake_py.language.subclass_protocols import call_ufunc, overriding, wraps_itself
from mooncake_py.runtime.active import innermost
from mooncake_py.runtime.exact_numbers import exact
from mooncake_py.runtime.operators import UNARY, BinaryOperator
from mooncake_py.tangents.subclasses import is_instance, plain, plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["COMPARING", "METHODS", "compare", "inplace", "item", "items", "operate", "set_item",
           "takes_part"]  # fmt: skip

Method = Callable[..., Any]
COMPARING = {
    "__lt__": np.less, "__le__": np.less_equal, "__eq__": np.equal, "__ne__": np.not_equal,
    "__gt__": np.greater, "__ge__": np.greater_equal,
}  # fmt: skip


def takes_part(value: Any) -> bool:
    """Return whether NumPy asks the class of an operand what an operator of arrays means."""
    return is_instance(value) or bool(overriding((value,), "__array_ufunc__"))


def operate(ctx: Mode, op: BinaryOperator, a: Any, b: Any) -> Any:
    """Run an operator of arrays, of which an operand is an instance of a subclass."""
    if op.name == "pow" and issubclass(type(a), ndarray) and type(b) in (int, float):
        ufunc = power_by(type(b), b)
        return call_ufunc(ctx, ufunc, "__call__", (a, b)[: ufunc.nin], {})
    return call_ufunc(ctx, op.ufunc, "__call__", (a, b), {})


class Asks(ndarray):
    """Arrays that return which ufunc an operator is."""

    def __array_ufunc__(self, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
        return ufunc


@functools.lru_cache(maxsize=64)
def power_by(kind: type, exponent: Any) -> np.ufunc:
    """Return the ufunc that ``a ** exponent`` is: versions of NumPy choose otherwise.

    The type of the exponent matters too: 2 and 2.0 are one key of a cache.
    """
    found: Any = np.ones(1).view(Asks) ** kind(exponent)
    return found


def inplace(ctx: Mode, op: BinaryOperator, x: ndarray, v: Any) -> Any:
    """Run ``x op= v`` and return what the name is bound to."""
    if overriding((x, v), "__array_ufunc__") or wraps_itself(x):
        return call_ufunc(ctx, op.ufunc, "__call__", (x, v), {"out": (x,)})
    ctx.inplace_array(op, plain(x), plain_parts(v))
    return x


def compare(ctx: Mode, name: str, a: Any, b: Any) -> Any:
    """Run a comparison of arrays, of which an operand's class may take it over."""
    if overriding((a, b), "__array_ufunc__"):
        return call_ufunc(ctx, COMPARING[name], "__call__", (a, b), {})
    b = as_array(ctx, b)
    y = getattr(ndarray, name)(plain(a), innermost(plain_parts(exact(b))))
    x = wrapping((a, b))
    if x is None or not isinstance(y, (ndarray, np.bool_)):
        return y
    return wrapped(ctx, x, y, (COMPARING[name], (a, b), 0))


def item(ctx: Mode, o: ndarray, i: Any) -> Any:
    """Run ``o[i]``: what is an array is of the class of `o`."""
    y = ctx.getitem(plain(o), plain_parts(i))
    return dressed(ctx, y, type(o), o) if type(y) is ndarray else y


def set_item(ctx: Mode, o: ndarray, i: Any, v: Any) -> None:
    """Run ``o[i] = v`` by the method of ndarray.

    NumPy writes to the view that the class's own ``__getitem__`` returns for slices.
    """
    if type(type(o).__getitem__) is FunctionType and takes_view(plain(o), i):
        view = ctx.getitem(o, i)
        if issubclass(type(view), ndarray):
            o, i = view, Ellipsis
    if is_element(o, i):
        v = as_element(ctx, o.dtype, v)
    ctx.assign(plain(o), plain_subscript(ctx, i), plain_parts(v))


def takes_view(a: ndarray, i: Any) -> bool:
    """Return whether an index is made of slices, and of ints for some of the axes only."""
    parts = i if type(i) is tuple else (i,)
    if i is Ellipsis or any(type(part) not in BASIC for part in parts):
        return False
    return any(type(part) not in INTS for part in parts) or len(parts) < a.ndim


INTS = frozenset({int, np.int64, np.int32})
BASIC = INTS | {slice, type(None), type(Ellipsis)}


def items(ctx: Mode, o: ndarray) -> Iterator[Any]:
    """Yield the parts of an instance along its first axis."""
    if not o.ndim:
        raise TypeError("iteration over a 0-d array")
    for i in range(len(plain(o))):
        yield ctx.getitem(o, i)


# Special methods called by their names, past those of the class.


def table() -> dict[str, Method]:
    """Return the functions that the special methods of an array run, by name."""
    found: dict[str, Method] = {"__getitem__": item, "__setitem__": set_item, "__iter__": items}
    for _, ufunc, method in UNARY.values():
        found[method] = lambda ctx, a, ufunc=ufunc: call_ufunc(ctx, ufunc, "__call__", (a,), {})
    found["__abs__"] = lambda ctx, a: call_ufunc(ctx, np.absolute, "__call__", (a,), {})
    for name, ufunc in COMPARING.items():
        found[name] = lambda ctx, a, b, ufunc=ufunc: call_ufunc(ctx, ufunc, "__call__", (a, b), {})
    return found


METHODS = table()
