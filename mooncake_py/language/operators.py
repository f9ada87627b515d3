"""Which operand's method an operator runs: CPython's rules.

Behind an operator stands a function in C, the slot of a class.  A class that defines the operator
in Python has the one slot that calls its methods; any other class has that of the base which
defines it.  Python asks the slots of both operands, that of the right one first if its class is a
subclass of the other's; then sequences are concatenated or repeated.  The engine derives the
methods in Python; numbers and arrays run as operations of the context, once it is certain that no
other method has a say (`numpy_operators`).

Operands here are those that no quicker way of the mode takes.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from types import FunctionType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import call_seen, run_seen
from mooncake_py.containers import containers, effects
from mooncake_py.containers.remaking import by_class, is_remade
from mooncake_py.language import numpy_operators
from mooncake_py.language.numpy_operators import compute
from mooncake_py.runtime import activity, numerals
from mooncake_py.runtime.active import Active, innermost, plain_class
from mooncake_py.runtime.attribute_lookup import MISSING, PROXIES, in_class, referent
from mooncake_py.runtime.exact_numbers import number_of_python
from mooncake_py.runtime.methods import Bound
from mooncake_py.runtime.operators import BINARY, DIVMOD, BinaryOperator
from mooncake_py.runtime.slots import (
    GENERIC,
    is_class_in_c,
    is_in_c,
    is_of_sequences,
    owner_of_sequence,
    slot_of,
    type_name,
)

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "BY_NAME", "IN_PLACE", "binary", "by_name", "call_special", "inplace", "is_asked_first",
    "is_of_numbers", "is_reflected", "unsupported",
]  # fmt: skip

ACCEPTED: dict[type, tuple[type, ...]] = {
    bool: (int,), int: (int,), float: (float, int), complex: (complex, float, int),
}  # fmt: skip
OF_PYTHON = frozenset({float, int, Active})
"""Numbers of Python; an active one may also be another."""
WITHOUT_A_TANGENT = (float, complex, np.inexact, np.timedelta64, timedelta, ndarray)
"""Results of operators of unknown classes that would be numbers without a derivative."""


def binary(ctx: Mode, op: BinaryOperator, a: Any, b: Any, asked: bool = False) -> Any:
    """Run ``a op b``, where the method of the left operand may have been asked already."""
    y = by_slots(ctx, op, a, b, asked)
    if y is NotImplemented:
        y = of_sequences(ctx, op, a, b)
    if y is NotImplemented:
        raise unsupported(op.symbol, a, b)
    return y


def inplace(ctx: Mode, op: BinaryOperator, x: Any, v: Any, asked: bool = False) -> Any:
    """Run ``x op= v``, return what the name is bound to; the method may have been asked already."""
    method = in_class(plain_class(x), op.inplace_method)
    of_sequence = is_sequence_in_place(plain_class(x), op, method)
    if method is not MISSING and not of_sequence and not asked:
        y = inplace_method(ctx, op, method, x, v)
        if y is not NotImplemented:
            return y
    y = by_slots(ctx, op, x, v)
    if y is NotImplemented and of_sequence:
        refuse_count(op, v)
        return containers.inplace_operator(ctx, op, x, v)
    if y is NotImplemented:
        y = of_sequences(ctx, op, x, v, in_place=True)
    if y is NotImplemented:
        raise unsupported(op.inplace_symbol, x, v)
    return y


def is_sequence_in_place(cls: type, op: BinaryOperator, method: Any) -> bool:
    """Return whether a sequence is changed by its own slot, for which others are asked before.

    Subclasses of lists are extended by a slot of numbers.
    """
    if not is_in_c(cls, op.inplace_method, method) or not is_of_sequences(method.__objclass__, op):
        return False
    return op.name == "mul" or cls is method.__objclass__


def inplace_method(ctx: Mode, op: BinaryOperator, method: Any, x: Any, v: Any) -> Any:
    """Ask the method of a class that changes its instances."""
    if not is_in_c(plain_class(x), op.inplace_method, method):
        return call_special(ctx, x, op.inplace_method, v)
    if method.__objclass__ is ndarray:
        return numpy_operators.inplace(ctx, op, x, v)
    return containers.inplace_operator(ctx, op, x, v)


# The slots of two classes.


def is_asked_first(op: BinaryOperator, a: type, b: type) -> FunctionType | None:
    """Return the method in Python of the left operand, if it is asked first whatever the values.

    The classes are those of the operands.
    """
    if a is Active or slot_of(a, op) is not GENERIC or (a is not b and a in b.__mro__):
        return None
    method = in_class(a, op.method)
    return method if type(method) is FunctionType else None


def is_reflected(op: BinaryOperator, a: type, b: type) -> FunctionType | None:
    """Return the reflected method in Python that is asked alone, of numbers of Python on the left.

    The right operand is of no class in C, with which numbers would compute.
    """
    if a not in OF_PYTHON or slot_of(b, op) is not GENERIC:
        return None
    if any(is_class_in_c(base) for base in b.__mro__[:-1]):
        return None
    method = in_class(b, op.reflected)
    return method if type(method) is FunctionType else None


def by_slots(ctx: Mode, op: BinaryOperator, a: Any, b: Any, asked: bool = False) -> Any:
    """Ask the slots of both operands in Python's order."""
    ta, tb = plain_class(a), plain_class(b)
    left = slot_of(ta, op)
    right = reflecting = None if tb is ta else slot_of(tb, op)
    if right is left:
        right = None
    right_first = left is not None and right is not None and issubclass(tb, ta)
    for slot in (right, left) if right_first else (left, right):
        if slot is GENERIC:
            y = by_methods(ctx, op, a, b, left is GENERIC and not asked, reflecting is GENERIC)
        elif slot is not None:
            y = natively(ctx, op, slot, a, b)
        else:
            continue
        if y is not NotImplemented:
            return y
    return NotImplemented


def by_methods(ctx: Mode, op: BinaryOperator, a: Any, b: Any, defines: bool, reflects: bool) -> Any:
    """Ask the methods of those operands whose classes define the operator in Python."""
    if defines:
        if reflects and is_reflected_first(op, plain_class(a), plain_class(b)):
            y = call_special(ctx, b, op.reflected, a)
            if y is not NotImplemented:
                return y
            reflects = False
        y = call_special(ctx, a, op.method, b)
        if y is not NotImplemented:
            return y
    return call_special(ctx, b, op.reflected, a) if reflects else NotImplemented


def is_reflected_first(op: BinaryOperator, base: type, cls: type) -> bool:
    """Return whether a class is a subclass of another one, and reflects an operator otherwise."""
    if not issubclass(cls, base):
        return False
    method = in_class(cls, op.reflected)
    return method is not MISSING and method is not in_class(base, op.reflected)


def call_special(ctx: Mode, receiver: Any, name: str, *args: Any) -> Any:
    """Call a special method of the class of an object; NotImplemented if it has none."""
    cls = plain_class(receiver)
    method = in_class(cls, name)
    if method is MISSING:
        return NotImplemented
    if type(method) is FunctionType:
        return ctx.call(method, receiver, *args)
    if name in BY_NAME and is_in_c(cls, name, method) and len(args) == 1:
        return by_name(ctx, name, method.__objclass__, receiver, *args)
    return ctx.call(Bound(method).to(ctx, receiver), *args)


# Slots in C.


def natively(ctx: Mode, op: BinaryOperator, owner: type, a: Any, b: Any) -> Any:
    """Ask the slot of a class in C."""
    if owner in ACCEPTED:
        return of_numbers(ctx, op, owner, a, b)
    if owner is ndarray:
        return numpy_operators.of_arrays(ctx, op, a, b)
    if issubclass(owner, np.generic):
        return numpy_operators.of_scalars(ctx, op, owner, a, b)
    if owner in PROXIES:
        a, b = (referent(v) if type(v) in PROXIES else v for v in (a, b))
        return compute(ctx, op, a, b)
    if op.name == "mod" and owner in (str, bytes, bytearray):
        effects.refuse_writers(ctx, (b,), effects.PRINTING)
        run = partial(called, op, owner, a, formatted_from(ctx, a, b))
        return numerals.remembered(ctx, run_seen(ctx, op.function, (a, b), run), b)
    if op.name == "or_" and issubclass(owner, dict):
        o, other, name = (a, b, op.method) if isinstance(a, owner) else (b, a, op.reflected)
        if is_remade(o) or is_remade(other):
            return by_class(ctx, owner, name, o, other)
    y = run_seen(ctx, op.function, (a, b), partial(called, op, owner, innermost(a), innermost(b)))
    if (type(a) is Active or type(b) is Active) and issubclass(type(y), WITHOUT_A_TANGENT):
        ctx.refuse_if_active(op.function, (a, b))
    return y


def formatted_from(ctx: Mode, form: Any, values: Any) -> Any:
    """Return the values that ``form % values`` reads as plain numbers, also from any mapping."""
    named: Any = "%(" if isinstance(form, str) else b"%("
    if named in form and type(values) not in READ_IN_C and hasattr(type(values), "__getitem__"):
        return Named(ctx, values)
    return activity.unwrapped(values)


READ_IN_C = frozenset({dict, list, tuple, str, bytes, ndarray, Active})


class Named:
    """A mapping whose values are those of another one, as plain numbers."""

    def __init__(self, ctx: Mode, mapping: Any) -> None:
        self.ctx, self.mapping = ctx, mapping

    def __getitem__(self, key: Any) -> Any:
        """Run the method of the mapping."""
        return activity.unwrapped(self.ctx.getitem(self.mapping, key))


def called(op: BinaryOperator, owner: type, a: Any, b: Any) -> Any:
    """Ask the slot of a class in C itself."""
    if issubclass(type(a), owner):
        return owner.__dict__[op.method](a, b)
    return owner.__dict__[op.reflected](b, a)


def of_numbers(ctx: Mode, op: BinaryOperator, owner: type, a: Any, b: Any) -> Any:
    """Ask the slot of a number of Python, which takes instances of subclasses for their numbers."""
    accepted = ACCEPTED[owner]
    if not (issubclass(plain_class(a), accepted) and issubclass(plain_class(b), accepted)):
        return NotImplemented
    if owner is bool and not (type(a) is bool and type(b) is bool):
        owner = int
    return compute(ctx, op, number_of_python(ctx, a), number_of_python(ctx, b))


# Sequences.


def of_sequences(ctx: Mode, op: BinaryOperator, a: Any, b: Any, *, in_place: bool = False) -> Any:
    """Concatenate or repeat a sequence; NotImplemented if there is none.

    In place Python looks at the right operand only if the class of the other is in C.
    """
    if op.name == "add":
        owner = owner_of_sequence(plain_class(a), op, op.method)
        if owner is not None and is_remade(a):
            return containers.call_method(ctx, a, op.method, (b,), {})
        return NotImplemented if owner is None else owner.__dict__[op.method](a, innermost(b))
    if op.name != "mul":
        return NotImplemented
    swapped = [] if in_place and not is_class_in_c(plain_class(a)) else [(b, a)]
    for sequence, count in [(a, b), *swapped]:
        owner = owner_of_sequence(plain_class(sequence), op, op.method, op.reflected)
        if owner is not None:
            refuse_count(op, count)
            if is_remade(sequence):
                return containers.call_method(ctx, sequence, op.method, (count,), {})
            return call_seen(ctx, owner.__dict__[op.method], (sequence, innermost(count)), {})
    return NotImplemented


def refuse_count(op: BinaryOperator, count: Any) -> None:
    """Raise if a sequence is repeated by something else than an int."""
    if op.name == "mul" and in_class(plain_class(count), "__index__") is MISSING:
        name = type_name(plain_class(count))
        raise TypeError(f"can't multiply sequence by non-int of type {name!r}")


# Methods called by their names.


def by_name(ctx: Mode, name: str, owner: type, receiver: Any, other: Any) -> Any:
    """Run a method of a class in C, such as ``float.__radd__(x, y)``; it may not be implemented."""
    op, is_reflected = BY_NAME[name]
    if not issubclass(plain_class(receiver), owner):
        owner.__dict__[name](innermost(receiver), innermost(other))  # raises
    if is_of_sequences(owner, op):
        if is_remade(receiver):
            return containers.call_method(ctx, receiver, name, (other,), {})
        return owner.__dict__[name](receiver, innermost(other))
    a, b = (other, receiver) if is_reflected else (receiver, other)
    return natively(ctx, op, owner, a, b)


BY_NAME: dict[str, tuple[BinaryOperator, bool]] = {
    name: (op, name == op.reflected)
    for op in (*BINARY.values(), DIVMOD)
    for name in (op.method, op.reflected)
}
IN_PLACE = {op.inplace_method: op for op in BINARY.values()}


def is_of_numbers(native: Any) -> bool:
    """Return whether a method is one of these of numbers or arrays."""
    owner: Any = getattr(native, "__objclass__", None)
    return (
        type(native) is WrapperDescriptorType
        and native.__name__ in BY_NAME
        and (owner in ACCEPTED or owner is ndarray or issubclass(owner, np.generic))
    )


# Errors.


def unsupported(symbol: str, a: Any, b: Any) -> TypeError:
    """Return the error for two operands neither of which knows the other."""
    names = " and ".join(repr(type_name(plain_class(v))) for v in (a, b))
    return TypeError(f"unsupported operand type(s) for {symbol}: {names}")
