"""Items and operators of objects other than numbers and arrays."""

from __future__ import annotations

import re
from collections import deque
from datetime import timedelta
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import containers, dicts, effects
from mooncake_py.containers.keys import refuse_other_key
from mooncake_py.containers.sequences import readable
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import (
    array_attributes,
    array_protocols,
    iteration,
    records,
    subclass_operators,
)
from mooncake_py.language.core import Core
from mooncake_py.runtime import activity, buffers, numerals
from mooncake_py.runtime.active import Active, plain_class, primal_of
from mooncake_py.runtime.attribute_lookup import MISSING, PROXIES, in_class, referent
from mooncake_py.runtime.methods import is_other
from mooncake_py.tangents.subclasses import is_instance

__all__ = ["Objects"]


NUMBERS = (int, float, complex)


class Objects(Core):
    """Containers and instances of classes; special methods written in Python run derived."""

    # Items.

    def item_of_object(self, o: Any, i: Any) -> Any:
        """Run ``o[i]`` for anything but an array."""
        t = type(o)
        if t is list or t is tuple or t is str:
            return o[i] if type(i) is not Active else o[i.primal]  # raises
        if t is dict:
            if type(i) in activity.INERT:
                return o[i]
            refuse_other_key(self, o, i)
            return o[self.key(i)]
        if t is np.flatiter:
            return iteration.read_flat(self, o, i)
        if t is Active:
            activity.unwrapped(o)[i]  # raises what the number itself raises
            return self.getitem(self.call(np.asarray, o), i)
        if records.is_record(o):
            return records.item(self, o, i)
        method = getattr(t, "__getitem__", None)
        if type(method) is FunctionType or is_other(method, "__getitem__"):
            return self.call(method, o, i)
        by_class = getattr(o, "__class_getitem__", None) if issubclass(t, type) else None
        if type(by_class) is MethodType:
            return self.call(by_class, i)
        if issubclass(type(o), dict):
            return dicts.read_key(self, o, i)
        if issubclass(type(o), ndarray):
            self.refuse_if_active(ndarray.__getitem__, (o,))
        elif issubclass(t, buffers.BUFFERS):
            buffers.refuse_read(self, o)
        elif t in PROXIES:
            return self.getitem(referent(o), i)
        return o[i]

    def set_item_of_object(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for anything but an array."""
        t = type(o)
        if t is np.flatiter:
            iteration.assign_flat(self, o.base, i, v)
            return
        method = getattr(t, "__setitem__", None)
        if type(method) is FunctionType or is_other(method, "__setitem__"):
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
        if isinstance(o, buffers.BUFFERS):
            buffers.refuse_write(self, o)
        if isinstance(o, ndarray):
            self.setitem(o.view(ndarray), i, v)  # a memory map, a matrix
            return
        containers.set_item(self, o, i, v)

    def delitem(self, o: Any, i: Any) -> None:
        """Run ``del o[i]``."""
        method = getattr(type(o), "__delitem__", None)
        if type(method) is FunctionType or is_other(method, "__delitem__"):
            self.call(method, o, i)
            return
        containers.delete_item(self, o, i)

    # Operators.

    def operator_of_objects(self, op: Any, a: Any, b: Any) -> Any:
        """Run a binary operator for operands that are not numbers or arrays."""
        ta, tb = type(a), type(b)
        left, right = special_method(ta, op.method), special_method(tb, op.reflected)
        if type(left) is FunctionType or type(right) is FunctionType or overrides(a, b):
            return self.special_methods(op, a, b, left, right)
        if op.name == "mod" and isinstance(a, (str, bytes)):
            effects.refuse_writers(self, (b,), effects.PRINTING)
            return numerals.remembered(self, op.function(a, activity.unwrapped(b)), b)
        if issubclass(type(a), np.memmap) or issubclass(type(b), np.memmap):
            return getattr(self, op.name)(readable(self, op.ufunc, a), readable(self, op.ufunc, b))
        if is_instance(a) or is_instance(b):
            self.watches = True
            if self.contains_active(a) or self.contains_active(b):
                return subclass_operators.operate(self, op, a, b)
        if ta is ndarray or ta is Active or tb is ndarray or tb is Active:
            p, q = plain_number(a, b), plain_number(b, a)
            if p is not a or q is not b:
                return getattr(self, op.name)(p, q)
        if ta is ndarray or tb is ndarray:
            p, q = array_protocols.as_array(self, a), array_protocols.as_array(self, b)
            if type(p) is ndarray and type(q) is ndarray and not wraps_results(a, b):
                return getattr(self, op.name)(p, q)
            # An operand of another type: the array's own operator decides, unseen by the tape.
            if self.contains_active(a) or self.contains_active(b):
                op.function(primal_of(a), primal_of(b))  # raises if it takes no such operand
                self.refuse(op.function, (a, b), "")
        y = op.function(primal_of(a), primal_of(b))
        if (ta is Active or tb is Active) and isinstance(y, WITHOUT_A_TANGENT):
            self.refuse_if_active(op.function, (a, b))
        return y

    def special_methods(self, op: Any, a: Any, b: Any, left: Any, right: Any) -> Any:
        """Try ``a.__op__(b)`` and ``b.__rop__(a)`` in Python's order, deriving those in Python."""
        ta, tb = type(a), type(b)
        if type(right) is FunctionType and asks_as_python(op, a, b):
            if is_made_array(b):
                return getattr(self, op.name)(a, self.call(np.array, list(self.iter(b))))
            a, left = self.method(a, "item") if ta is Active else a.item(), None
        attempts = [(left, a, b), (right, b, a)]
        if ta is tb:
            attempts.pop()
        elif concatenates(op, a) or (
            issubclass(tb, ta) and right is not getattr(ta, op.reflected, None)
        ):
            attempts.reverse()
        for function, first, second in attempts:
            kind = plain_class(first)
            scalar = issubclass(kind, np.generic)  # which NumPy takes for an array
            if function is None and not (scalar and subclass_operators.takes_part(second)):
                continue
            if type(first) is ndarray and getattr(type(second), "__array_ufunc__", 0) is None:
                continue
            if type(function) is FunctionType:
                result = self.call(function, first, second)
            elif (
                function is None
                or subclass_operators.takes_part(first)
                or (
                    issubclass(kind, (np.generic, ndarray))
                    and subclass_operators.takes_part(second)
                )
            ):
                if subclass_operators.defers(first, second):
                    continue
                self.watches = True
                return subclass_operators.operate(self, op, a, b)
            else:
                result = function(primal_of(first), second)
            if result is NotImplemented:
                continue
            if type(first) is ndarray:  # NumPy has asked the other operand, once for each element
                self.refuse_if_active(op.function, (a, b))
            return result
        if type(b) is Active and asks_as_python(op, b, a) and not is_made_array(a):
            number = self.method(b, "item")
            if plain_class(number) is not plain_class(b):
                return getattr(self, op.name)(a, number)
        raise TypeError(
            f"unsupported operand type(s) for {op.symbol}: {plain_class(a).__name__!r} and "
            f"{plain_class(b).__name__!r}"
        )

    def unary_of_objects(self, function: Any, method: str, a: Any) -> Any:
        """Run a unary operator for an operand that is not a number or an array."""
        special = getattr(type(a), method, None)
        if type(special) is FunctionType:
            return self.call(special, a)
        return function(a)

    def inplace_of_objects(self, op: Any, x: Any, v: Any) -> Any:
        """Run ``x op= v`` for anything but an array."""
        t = type(x)
        special = getattr(t, op.inplace_method, None)
        if type(special) is FunctionType and t is not Active:
            result = self.call(special, x, v)
            return self.computed_anew(op, x, v) if result is NotImplemented else result
        if special is None or t is Active or type(v) is ndarray:  # an array goes before a list
            return self.computed_anew(op, x, v)
        reflected = getattr(type(v), op.reflected, None)
        if (
            type(reflected) is FunctionType
            and concatenates(op, x)
            and plain_class(v) not in NUMBERS  # active ones of Python have no say
        ):
            result = self.call(reflected, v, x)
            if result is not NotImplemented:
                return result
        return containers.inplace_operator(self, op, x, v)

    def computed_anew(self, op: Any, x: Any, v: Any) -> Any:
        """Run ``x op v``, which is what ``x op= v`` binds a name to where nothing is changed."""
        try:
            return getattr(self, op.name)(x, v)
        except TypeError as error:
            word_in_place(error, op, x, v)
            raise


WITHOUT_A_TANGENT = (float, complex, np.inexact, np.timedelta64, timedelta, ndarray)
"""Results of operators of unknown classes that would be numbers without a derivative."""


def asks_as_python(op: Any, number: Any, other: Any) -> bool:
    """Return whether a number of NumPy asks the other operand as a number of Python would.

    NumPy makes an array of objects of that one, unless it says that it knows arrays, and asks it
    in compiled code, with Python's number for its own.
    """
    kind = plain_class(number)
    without = ("mod", "floordiv", "matmul") if issubclass(kind, np.complexfloating) else ("matmul",)
    if not issubclass(kind, np.generic) or op.name in without:  # Python asks, as of any number
        return False
    knows = ("__array_ufunc__", "__array_priority__", "__array__")
    return not any(hasattr(type(other), name) for name in knows)


def is_made_array(o: Any) -> bool:
    """Return whether NumPy makes an array of the items of an object that does not know arrays."""
    is_sequence = hasattr(type(o), "__len__") and hasattr(type(o), "__getitem__")
    return is_sequence and not issubclass(type(o), dict)


SEQUENCES = (list, tuple, str, bytes, bytearray, deque)


def concatenates(op: Any, a: Any) -> bool:
    """Return whether an operand is a sequence, which Python asks after the other operand."""
    return op.name in ("add", "mul") and issubclass(type(a), SEQUENCES)


def word_in_place(error: TypeError, op: Any, x: Any, v: Any) -> None:
    """Word Python's error for the operands of ``x op v`` as the one for ``x op= v``.

    Where NumPy computes, the error is its own, and that of other code names other operands.
    """
    kinds = plain_class(x), plain_class(v)
    if op.name != "matmul" and any(issubclass(kind, np.generic) for kind in kinds):
        return
    names = " and ".join(rf"'(?:\w+\.)*{kind.__name__}'" for kind in kinds)
    before = f"unsupported operand type(s) for {op.symbol}: "
    if re.fullmatch(re.escape(before) + names, str(error)):
        error.args = (str(error).replace(op.symbol, op.inplace_symbol, 1),)


def wraps_results(*operands: Any) -> bool:
    """Return whether one of these has ``__array_wrap__``, by which NumPy wraps its results."""
    return any(type(v) is not ndarray and hasattr(type(v), "__array_wrap__") for v in operands)


def special_method(cls: type, name: str) -> Any:
    """Return the operator of a class, not that of its metaclass; None if it has none.

    ``int | float`` is an operator of `type`, and no operator of ints.
    """
    if cls is Active:
        return None
    method = in_class(cls, name)
    return None if method is MISSING else method


def overrides(a: Any, b: Any) -> bool:
    """Return whether NumPy's operator runs ``__array_ufunc__`` of the other operand."""
    kinds = plain_class(a), plain_class(b)
    return any(issubclass(kind, (ndarray, np.generic)) for kind in kinds) and any(
        type(getattr(kind, "__array_ufunc__", None)) is FunctionType for kind in kinds
    )


def plain_number(value: Any, other: Any) -> Any:
    """Return a member of an enumeration of numbers, or the like, as a plain number.

    Beside NumPy's values it has its own precision, as numbers of Python's own have not.
    """
    if type(value) is Active or type(value) in NUMBERS or isinstance(value, np.generic):
        return value
    kind: Any = next((k for k in NUMBERS if isinstance(value, k)), None)
    if kind is None:
        return value
    if type(other) is ndarray or isinstance(other, np.generic):
        return np.asarray(kind(value))[()]
    return kind(value)
