"""Items and operators of objects other than numbers and arrays."""

from __future__ import annotations

import re
from array import array
from collections import deque
from functools import partial
from types import MappingProxyType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import run_seen
from mooncake_py.containers import containers, dicts
from mooncake_py.containers.keys import refuse_other_key
from mooncake_py.containers.positions import position
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import (
    array_attributes,
    iteration,
    operators,
    records,
)
from mooncake_py.language.core import Core
from mooncake_py.runtime import activity, buffers
from mooncake_py.runtime.active import Active, innermost, plain_class
from mooncake_py.runtime.attribute_lookup import MISSING, PROXIES, in_class, mapping_of, referent
from mooncake_py.runtime.methods import python_method
from mooncake_py.runtime.sites import NO_SITE
from mooncake_py.runtime.slots import is_in_c

__all__ = ["Objects", "is_inert_key", "word_in_place"]


class Objects(Core):
    """Containers and instances of classes; special methods written in Python run derived."""

    # Items.

    def item_of_dict(self, d: dict[Any, Any], key: Any) -> Any:
        """Run ``d[key]``."""
        if is_inert_key(key):
            return d[key]
        refuse_other_key(self, d, key)
        return d[self.key(key)]

    def item_of_object(self, o: Any, i: Any) -> Any:
        """Run ``o[i]`` for anything but an array."""
        t = type(o)
        if t is list or t is tuple or t is str or t is range or t is bytes:
            i = position(self, i)
            return o[i] if type(i) is not Active else o[i.primal]  # raises
        if t is dict:
            return self.item_of_dict(o, i)
        if t is np.flatiter:
            return iteration.read_flat(self, o, i)
        if t is Active:
            activity.unwrapped(o)[i]  # raises what the number itself raises
            return self.getitem(self.call(np.asarray, o), i)
        if records.is_record(o):
            return records.item(self, o, i)
        method, way = self.special(o, "__getitem__")
        if way is not None:
            return way.call2(NO_SITE, self, method, o, i)
        method = python_method(t, "__getitem__")
        if method is not None:
            return self.call(method, o, i)
        by_class = getattr(o, "__class_getitem__", None) if issubclass(t, type) else None
        if type(by_class) is MethodType:
            return self.call(by_class, i)
        if issubclass(type(o), dict):
            return dicts.read_key(self, o, i)
        if issubclass(type(o), ndarray):
            self.refuse_if_active(ndarray.__getitem__, (o,))
            return run_seen(self, ndarray.__getitem__, (o,), partial(ndarray.__getitem__, o, i))
        elif issubclass(t, buffers.BUFFERS):
            buffers.refuse_read(self, o)
        elif t in PROXIES:
            return self.getitem(referent(o), i)
        elif t is MappingProxyType:
            return self.getitem(mapping_of(o), i)
        return o[i]

    def set_item_of_object(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for anything but an array."""
        t = type(o)
        if t is list or t is dict:  # whose methods no program can replace
            containers.set_item(self, o, i, v)
            return
        if t is Active:
            innermost(o)[i] = v  # raises
        if t is np.flatiter:
            iteration.assign_flat(self, o.base, i, v)
            return
        method, way = self.special(o, "__setitem__")
        if way is not None:
            way.call3(NO_SITE, self, method, o, i, v)
            return
        method = python_method(t, "__setitem__")
        if method is not None:
            self.call(method, o, i, v)
            return
        if t is array_attributes.FLAGS and array_attributes.set_flag_item(self, o, i, v):
            return
        if records.is_record(o):
            records.set_item(self, o, i, v)
            return
        if issubclass(type(o), memoryview):
            raise dropped(
                self,
                "a write through a memoryview cannot be undone",
                why="it changes memory that the reverse pass may refer to",
                fix="write through an array: np.frombuffer(view)[i] = value",
            )
        if issubclass(t, buffers.BUFFERS):
            buffers.refuse_write(self, o)
        if isinstance(o, ndarray):
            self.setitem(o.view(ndarray), i, v)  # a memory map, a matrix
            return
        containers.set_item(self, o, self.position_in(o, i), v)

    def position_in(self, o: Any, i: Any) -> Any:
        """Return a position in a sequence, a key of anything else as it is."""
        return position(self, i) if issubclass(type(o), SEQUENCES) else i

    def delitem(self, o: Any, i: Any) -> None:
        """Run ``del o[i]``."""
        t = type(o)
        if t is Active:
            del innermost(o)[i]  # raises
        method = python_method(t, "__delitem__")
        if method is not None:
            self.call(method, o, i)
            return
        containers.delete_item(self, o, self.position_in(o, i))

    # Operators.

    def operator_of_objects(self, op: Any, a: Any, b: Any) -> Any:
        """Run a binary operator for operands that are not numbers or arrays."""
        ta, tb = type(a), type(b)
        if self.gate is not None:
            found = self.ways.get((op.name, id(ta), id(tb))) or self.way_of_operator(op, ta, tb)
            method, way, reflected = found[0]
            if method is None:
                pass
            elif not reflected and in_class(ta, op.method) is method:
                y = way.call2(NO_SITE, self, method, a, b)
                return operators.binary(self, op, a, b, True) if y is NotImplemented else y
            elif reflected and in_class(tb, op.reflected) is method and is_of_python(a):
                y = way.call2(NO_SITE, self, method, b, a)
                if y is NotImplemented:
                    raise operators.unsupported(op.symbol, a, b)
                return y
        if ta in OF_PYTHON and tb in OF_PYTHON and op.name != "mod":
            return op.function(a, b)
        return operators.binary(self, op, a, b)

    def way_of_operator(self, op: Any, a: type, b: type) -> Any:
        """Return the method to be called first, its way, and whether the right operand has it.

        The classes of the operands are with it, as their ids are the key.
        """
        method, reflected = operators.is_asked_first(op, a, b), False
        if method is None:
            method, reflected = operators.is_reflected(op, a, b), True
        found = method, method and self.way_of(method), reflected
        return self.remember((op.name, id(a), id(b)), (found, a, b))

    def unary_of_objects(self, function: Any, method: str, a: Any) -> Any:
        """Run a unary operator for an operand that is not a number or an array."""
        special, way = self.special(a, method)
        if way is not None:
            return way.call1(NO_SITE, self, special, a)
        special = in_class(type(a), method)
        if special is MISSING or is_in_c(type(a), method, special):
            return function(a)
        return operators.call_special(self, a, method)

    def inplace_of_objects(self, op: Any, x: Any, v: Any) -> Any:
        """Run ``x op= v`` for anything but an array."""
        method, way = self.special(x, op.inplace_method)
        if way is None:
            return operators.inplace(self, op, x, v)
        y = way.call2(NO_SITE, self, method, x, v)
        return operators.inplace(self, op, x, v, True) if y is NotImplemented else y


SEQUENCES = (list, deque, bytearray, array)
OF_PYTHON = frozenset({int, float, bool, complex, str, tuple, list})
"""Types of operands of which no method in Python has a say, nor has NumPy."""


def is_inert_key(key: Any) -> bool:
    """Return whether hashing and comparing a key runs no code of the program."""
    t = type(key)
    return t in activity.INERT or (t is tuple and activity.INERT.issuperset(map(type, key)))


def is_of_python(a: Any) -> bool:
    """Return whether a number is one of Python's, or active with such a value."""
    t = type(a)
    return t is float or t is int or (t is Active and type(a.primal) is float)


def word_in_place(error: TypeError, op: Any, x: Any, v: Any) -> None:
    """Word Python's error for the operands of ``x op v`` as the one for ``x op= v``.

    Where NumPy computes, the error is its own, and that of other code names other operands.
    """
    kinds = plain_class(x), plain_class(v)
    names = " and ".join(rf"'(?:\w+\.)*{kind.__name__}'" for kind in kinds)
    before = f"unsupported operand type(s) for {op.symbol}: "
    if re.fullmatch(re.escape(before) + names, str(error)):
        error.args = (str(error).replace(op.symbol, op.inplace_symbol, 1),)
