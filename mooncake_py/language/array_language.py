"""Operators and subscripts of arrays and numbers, in any mode: the dispatch of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.rule_ways import of_operator
from mooncake_py.application.seen_calls import call_seen
from mooncake_py.compiler.printing.text import define
from mooncake_py.containers import effects
from mooncake_py.containers.dicts import restore_key
from mooncake_py.containers.lists import truncate
from mooncake_py.containers.sequences import SUBSCRIPTS, plain_subscript, readable
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language import object_arrays, records, subclass_operators
from mooncake_py.language.array_protocols import as_array
from mooncake_py.language.context import Context
from mooncake_py.language.elements import as_element, is_element, require_number
from mooncake_py.language.objects import is_inert_key, word_in_place
from mooncake_py.rules import registry
from mooncake_py.runtime import drops, objects
from mooncake_py.runtime.active import REAL_SCALARS, Active
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.index_errors import index_error
from mooncake_py.runtime.late_errors import refuse_part
from mooncake_py.runtime.objects import OBJECT, is_seen, meet_objects
from mooncake_py.runtime.operators import BINARY, UNARY, BinaryOperator
from mooncake_py.runtime.pulls import pull_appended, pull_item, pull_key
from mooncake_py.runtime.quiet import Unheard
from mooncake_py.runtime.sites import DECLINED
from mooncake_py.runtime.values import NUMBERS, SEQUENCES
from mooncake_py.tangents.subclasses import is_instance, plain_parts

__all__ = ["PLAIN", "ArrayLanguage"]

PLAIN = INERT | {ndarray, Active, list, tuple}
PLAIN_NUMBERS = frozenset({float, int, np.float64, np.int64})
SERVED: dict[str, Callable[..., Any]] = {}
"""Handlers of operators of two numbers, by their names; no rule of these is ever replaced."""


class ArrayLanguage(Context):
    """Operators and elements by the types of the operands; the mode computes."""

    # Operators.

    def binary(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run a binary operator on values of any type."""
        ta, tb = type(a), type(b)
        if ta in PLAIN_NUMBERS and tb in PLAIN_NUMBERS:  # only Python and NumPy have a say
            return op.function(a, b)
        if ta is ndarray or tb is ndarray:
            if (ta is ndarray or ta is Active or ta in NUMBERS) and (
                tb is ndarray or tb is Active or tb in NUMBERS
            ):
                if meet_objects(self, a, b):
                    return object_arrays.binary(self, op.name, a, b)
                return self.array_operator(op, a, b)
            if ta in SEQUENCES or tb in SEQUENCES:
                # An array in any case: an adjoint may read it, and a list may be changed before.
                a, b = (self.call(np.array, v) if type(v) in SEQUENCES else v for v in (a, b))
                if meet_objects(self, a, b):
                    return object_arrays.binary(self, op.name, a, b)
                return self.array_operator(op, a, b)
        elif ta is Active or tb is Active:
            if (ta is Active or ta in NUMBERS) and (tb is Active or tb in NUMBERS):
                return self.operation_of_numbers(op, a, b)
            if is_sequence_beside_numpy_scalar(a, b) or is_sequence_beside_numpy_scalar(b, a):
                # NumPy's scalars make an array of a sequence, Python's floats refuse it.
                if op.name in ("mul", "matmul"):
                    op.function(unwrapped(a), unwrapped(b))  # raises, except for a range times it
                array = self.call(np.asarray, a if tb is Active else b)
                return self.array_operator(op, *((array, b) if tb is Active else (a, array)))
        return self.operator_of_objects(op, a, b)

    def operation_of_numbers(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run a binary operator on numbers of which one is active."""
        rule = op.scalar_rule
        if rule is not None and self.rules is not None:
            serve = SERVED.get(op.name)
            if serve is None:
                serve = SERVED[op.name] = of_operator(rule, op.function)
            y = serve(self, a, b)
            if y is not DECLINED:
                return y
        return self.scalar_operation(rule, op.function, (a, b))

    def unary(self, name: str, a: Any) -> Any:
        """Run a unary operator."""
        function, ufunc, method = UNARY[name]
        t = type(a)
        if t is ndarray:
            if a.dtype is OBJECT and is_seen(self, a):
                return object_arrays.unary(self, name, a)
            return self.unary_array(function, ufunc, a)
        if t is Active:
            if name == "neg" and a.context is self and self.rules is not None:
                y = -a.primal
                if type(y) in REAL_SCALARS:
                    return self.record_slope(y, a, -1.0)
            return self.scalar_operation(registry.find(function), function, (a,))
        if issubclass(t, np.memmap):
            return self.unary_array(function, ufunc, a.view(ndarray))
        if is_instance(a) and type(getattr(t, method)) is not FunctionType:
            self.watches = True
            return self.call(ufunc, a)
        return self.unary_of_objects(function, method, a)

    def inplace(self, op: BinaryOperator, x: Any, v: Any) -> Any:
        """Run ``x op= v`` and return what the name is bound to afterwards."""
        if type(x) is type(v) is list and op.name == "add":
            self.record((pull_appended, truncate, x, len(x)))
            x.extend(v)
            return x
        if type(x) is ndarray:
            if type(v) not in PLAIN:
                return self.inplace_of_objects(op, x, v)
            self.inplace_plainly(op, x, v)
            return x
        if issubclass(type(x), np.memmap) and type(v) in PLAIN:
            self.inplace_array(op, x.view(ndarray), v)
            return x
        return self.inplace_of_objects(op, x, v)

    def inplace_plainly(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run ``x op= v`` for an array that takes the operation itself."""
        if type(x) is not ndarray:
            self.inplace_array(op, x.view(ndarray), v)
        elif x.dtype is OBJECT and (is_seen(self, x) or is_seen(self, v)):
            objects.store(self, x, Ellipsis, getattr(self, op.name)(x, v))
        else:
            object_arrays.require_castable(self, op, x, v)
            self.inplace_array(op, x, v)

    # Elements.

    def item_of_other(self, o: Any, i: Any) -> Any:
        """Run ``o[i]`` for anything other than a plain array."""
        t = type(o)
        if t is defaultdict and type(i) is str and i in o:
            return o[i]
        if t is dict or (t is defaultdict and is_inert_key(i) and i in o):
            return self.item_of_dict(o, i)
        if issubclass(type(o), np.memmap) and self.contains_active(o):
            return self.getitem(o.view(ndarray), i)
        native = is_instance(o) and type(type(o).__getitem__) is not FunctionType
        if native and self.contains_active(o):
            return subclass_operators.item(self, o, i)
        return self.item_of_object(o, i)

    def setitem(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v``."""
        t = type(o)
        if (t is dict or t is defaultdict) and (type(i) is str or is_inert_key(i)):
            self.record((pull_key, restore_key, o, i, o.get(i, MISSING)))
            o[i] = v
        elif t is list and type(i) is int and -len(o) <= i < len(o):
            i = i if i >= 0 else i + len(o)
            self.record((pull_item, list.__setitem__, o, i, o[i]))
            o[i] = v
        elif t is ndarray:
            if type(i) not in SUBSCRIPTS:
                i = plain_subscript(self, i)
            if o.dtype is OBJECT and self.contains_active(v):
                objects.store(self, o, i, v)
            elif o.dtype.names is not None and records.is_names(i):
                self.setitem(self.getitem(o, i), Ellipsis, v)
            elif o.dtype.names is not None and records.stores(o, i, v) and self.contains_active(v):
                records.store(self, o, i, v)
            else:
                try:
                    self.assign(o, i, object_arrays.convertible(self, o, v))
                except DerivativeDropError as error:
                    raise index_error(error, o, i) from None
        elif issubclass(t, np.memmap):
            self.setitem(o.view(ndarray), i, v)
        elif issubclass(t, ndarray):
            method = type(o).__setitem__
            if type(method) is FunctionType:
                self.call(method, o, i, v)
            else:
                subclass_operators.set_item(self, o, i, v)
        else:
            self.set_item_of_object(o, i, v)

    def as_value(self, o: ndarray, i: Any, v: Any) -> Any:
        """Return an object that is written to ``o[i]`` as the number or array it stands for."""
        if is_element(o, i):
            number = as_element(self, o.dtype, v)
            if number is not v:
                return self.call(np.asarray, number)
            require_number(o.dtype, v)
        v = self.as_operand(readable(self, np.array, as_array(self, plain_parts(v))))
        if type(v) not in PLAIN and effects.would_write((v,), effects.READING):
            self.refuse_if_active(ndarray.__setitem__, (v,))
            v = call_seen(self, np.asarray, (v, o.dtype), {})
        if type(v) is not ndarray and self.contains_active(v):
            raise dropped(
                self,
                f"an active {type(v).__name__} was written into an array",
                why="NumPy converts it in compiled code, where its derivative would be lost",
                fix="convert it before: np.asarray(list(v)), or write its parts",
            )
        return v

    def sequence_for(self, o: ndarray, i: Any, value: Any) -> Any:
        """Return a list or tuple written to ``o[i]``, as an array if it has active parts."""
        if o.dtype.kind in "OV" and self.contains_active(value):
            drops.holds(self, o)  # raises
        try:
            array = self.as_operand(value)
        except Exception as error:
            refuse_part(self, error, o, i, unwrapped(value))
            assign_alone(o, i, value)  # raises what NumPy says, which knows of the place
            raise
        if type(array) is ndarray and array.ndim > np.ndim(o[i]):
            assign_alone(o, i, value)  # a list may not be nested deeper, though an array may
        return array

    def as_operand(self, value: Any) -> Any:
        """Return a list or tuple with active parts as an array; anything else unchanged."""
        if (type(value) is list or type(value) is tuple) and self.contains_active(value):
            return self.call(np.array, value)
        return value


def assign_alone(o: ndarray, i: Any, value: Any) -> None:
    """Run ``o[i] = value`` for plain numbers, in a copy."""
    copy = o.copy("K")
    with Unheard():  # the write itself may warn
        copy[i] = unwrapped(value)


def is_sequence_beside_numpy_scalar(a: Any, b: Any) -> bool:
    """Return whether `a` is a list, tuple or range, and `b` an active scalar of a NumPy type."""
    return type(a) in SEQUENCES and type(b) is Active and isinstance(b.primal, np.generic)


INPLACE = """
def inplace(self, x, v):
    if type(x) in FLOATS and type(v) in FLOATS:
        return self.{name}(x, v)
    return of_others(self, x, v)
"""
"""An in-place operator, which makes a new number of two as the operator does."""
OF_FLOATS = frozenset({"add", "sub", "mul", "truediv"})


def _define_operators() -> None:
    """Define the methods for operators, such as ``add``, ``iadd`` and ``neg``."""

    def make_binary(op: BinaryOperator) -> Callable[..., Any]:
        return lambda self, a, b: self.binary(op, a, b)

    def make_inplace(op: BinaryOperator) -> Callable[..., Any]:
        def of_others(self: ArrayLanguage, x: Any, v: Any) -> Any:
            t = type(x)
            if (t is not Active and t not in NUMBERS) or type(v) not in PLAIN:
                return self.inplace(op, x, v)
            try:  # what is bound to the name where nothing is changed
                return getattr(self, op.name)(x, v)
            except TypeError as error:
                word_in_place(error, op, x, v)
                raise

        if op.name not in OF_FLOATS:
            return of_others
        scope = {"FLOATS": frozenset({Active, float}), "of_others": of_others}
        return define(INPLACE.format(name=op.name), scope)["inplace"]

    def make_unary(name: str) -> Callable[..., Any]:
        return lambda self, a: self.unary(name, a)

    for name, op in BINARY.items():
        setattr(ArrayLanguage, name, make_binary(op))
        setattr(ArrayLanguage, f"i{name.rstrip('_')}", make_inplace(op))
    for name in UNARY:
        setattr(ArrayLanguage, name, make_unary(name))


_define_operators()
