"""Comparisons, containment and truth: special methods of classes run derived."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from numbers import Number
from types import FunctionType, MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import call_checked
from mooncake_py.containers import effects
from mooncake_py.containers.equality import FILLED, compared_parts
from mooncake_py.containers.state import note_raised
from mooncake_py.language import import_hooks, numpy_operators, operators, raising, texts
from mooncake_py.language.attributes import Attributes
from mooncake_py.language.class_statements import ClassStatement
from mooncake_py.language.elements import as_array
from mooncake_py.language.matching import Matching
from mooncake_py.language.subclass_operators import takes_part
from mooncake_py.modules import package_of
from mooncake_py.runtime.active import Active, innermost, plain_class
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING, in_class, mapping_of
from mooncake_py.runtime.identities import are_same, given, have_copies, original_of
from mooncake_py.runtime.methods import COMPILED, derivable, is_generated, python_method
from mooncake_py.runtime.sites import NO_SITE
from mooncake_py.runtime.slots import type_name

__all__ = ["COMPARISONS", "Comparisons"]

COMPARED = frozenset({
    int, float, bool, complex, str, bytes, type(None), type, ndarray, np.bool_, np.float64,
    np.float32, np.int64, np.int32, np.uint8, np.complex128, np.dtype, range, slice,
})  # fmt: skip
QUIET = COMPARED - {ndarray}
TESTED = COMPARED | {tuple, list, dict, set, frozenset, deque, FunctionType}
HASHED = (dict, set, frozenset, type({}.keys()), type({}.items()))
LISTED = (list, tuple, deque)
ORDERED = (list, tuple)
PLAIN = COMPARED | {Active}
DEEP = 8
EQUALITY = ("==", "!=")
UNCOPIED = INERT | {Active}


class Comparison(NamedTuple):
    """A comparison: how Python runs it on values, and the special methods behind it."""

    function: Callable[[Any, Any], Any]
    symbol: str
    method: str
    reflected: str


COMPARISONS = {
    name: Comparison(getattr(operator, name), symbol, f"__{name}__", f"__{reflected}__")
    for name, symbol, reflected in [
        ("lt", "<", "gt"), ("le", "<=", "ge"), ("eq", "==", "eq"),
        ("ne", "!=", "ne"), ("gt", ">", "lt"), ("ge", ">=", "le"),
    ]
}  # fmt: skip


class Comparisons(Attributes):
    """The operations of the language on values, other than computing with them."""

    eq: ClassVar[Callable[[Any, Any, Any], Any]]  # defined below, with the others

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Any = None
        self.linked: Any = None

    # Comparisons.

    def compare(self, comparison: Comparison, a: Any, b: Any) -> Any:
        """Run a comparison of which an operand is neither a number nor an array."""
        if type(a) in ORDERED and type(b) in ORDERED and holds_quiet(a) and holds_quiet(b):
            return comparison.function(a, b)
        if comparison.symbol in EQUALITY and is_itself(type(a)) and is_itself(type(b)):
            return self.identical(a, b) is (comparison.symbol == "==")
        left: Any = None
        method, way = self.special(a, comparison.method)
        if way is not None and is_asked_first(type(a), type(b)):
            result = way.call2(NO_SITE, self, method, a, b)
            if result is not NotImplemented:
                return result
            left = unanswered
        left = left or derived_comparison(self, a, comparison.method)
        right = derived_comparison(self, b, comparison.reflected)
        if left is None and right is None:
            if takes_part(a) or takes_part(b):
                self.watches = True
                return self.compare_derived(comparison, a, b, left, right)
            if type(b) is type(a):
                found = self.compare_alike(comparison, a, b)
                if found is not MISSING:
                    return found
            effects.refuse_writers(self, (a, b), effects.COMPARING)
            if issubclass(plain_class(b), (ndarray, np.generic)) and type(a) in ORDERED:
                comparison, a, b = COMPARISONS[comparison.reflected[2:-2]], b, a
            if issubclass(plain_class(a), (ndarray, np.generic)):
                b = as_array(self, b)
            return call_checked(self, comparison.function, innermost(a), innermost(b))
        return self.compare_derived(comparison, a, b, left, right)

    def compare_alike(self, comparison: Comparison, a: Any, b: Any) -> Any:
        """Compare objects of one class by their parts; MISSING if Python is to do it."""
        if comparison.symbol not in EQUALITY:
            by_parts = type(a) in ORDERED and not (are_plain(a) and are_plain(b))
            return self.order_of_parts(comparison, a, b) if by_parts else MISSING
        if are_same(a, b):
            b = original_of(b)
            effects.refuse_writers(self, (b,), effects.COMPARING)
            return call_checked(self, comparison.function, b, b)
        if not self.compares_by_parts(a, b):
            return MISSING
        equal = self.equal_parts(compared_parts(a), compared_parts(b))
        return equal is (comparison.symbol == "==")

    def order_of_parts(self, comparison: Comparison, a: Any, b: Any) -> Any:
        """Run ``a < b`` and the like for two lists or tuples: their first parts that differ decide.

        It returns whatever the comparison of these returns.
        """
        for x, y in zip(a, b, strict=False):
            if not (self.identical(x, y) or self.truth(self.eq(x, y))):
                return getattr(self, comparison.function.__name__)(x, y)
        return comparison.function(len(a), len(b))

    def compares_by_parts(self, a: Any, b: Any) -> bool:
        """Return whether the parts of two containers must be compared here, one by one."""
        if type(a) in FILLED:
            return have_copies() or not (are_plain(a) and are_plain(b))
        parts = compared_parts(a)
        return parts is not None and (have_copies() or not are_plain(parts))

    def equal_parts(self, a: Any, b: Any) -> bool:
        """Run ``a == b`` for two lists, tuples or dicts, part by part as Python does."""
        if len(a) != len(b):
            return False
        if type(a) is not dict:
            return all(
                self.identical(x, y) or self.truth(self.eq(x, y)) for x, y in zip(a, b, strict=True)
            )
        effects.refuse_writers(self, (*a, *b), effects.HASHING)
        return all(
            key in b and (self.identical(x, b[key]) or self.truth(self.eq(x, b[key])))
            for key, x in a.items()
        )

    def compare_derived(self, comparison: Comparison, a: Any, b: Any, left: Any, right: Any) -> Any:
        """Try ``a.__op__(b)`` and the reflected method of `b` in Python's order."""
        ta, tb = plain_class(a), plain_class(b)
        attempts = [(left, comparison.method, a, b), (right, comparison.reflected, b, a)]
        if ta is not tb and issubclass(tb, ta):
            attempts.reverse()
        for function, name, first, second in attempts:
            if function is None:
                kind = plain_class(first)
                if issubclass(kind, (np.generic, ndarray)):  # which ask the other
                    result = numpy_operators.compare(self, name, first, second)
                else:
                    native = getattr(kind, name, None)
                    plain = innermost(first), innermost(second)
                    result = NotImplemented if native is None else native(*plain)
            else:
                result = function(first, second)
            if result is not NotImplemented:
                return result
        if comparison.symbol in ("==", "!="):
            return self.identical(a, b) is (comparison.symbol == "==")
        raise TypeError(
            f"{comparison.symbol!r} not supported between instances of "
            f"{type_name(plain_class(a))!r} and {type_name(plain_class(b))!r}"
        )

    def identical(self, a: Any, b: Any) -> bool:
        """Run ``a is b``, where copies of arguments stand for these."""
        t = type(a)
        return a is b or (t is type(b) and t not in UNCOPIED and self.are_one(a, b))

    def not_identical(self, a: Any, b: Any) -> bool:
        """Run ``a is not b``."""
        t = type(a)
        return a is not b and (t is not type(b) or t in UNCOPIED or not self.are_one(a, b))

    def are_one(self, a: Any, b: Any) -> bool:
        """Return whether two objects are, or stand for, one."""
        return are_same(given(self, a), given(self, b))

    def link(self, name: str, a: Any, b: Any) -> Any:
        """Run one comparison of a chain, and keep its right operand for the next one."""
        result = getattr(self, name)(a, b)
        self.linked = b
        return result

    # Containment.

    def contained(self, item: Any, container: Any) -> bool:
        """Run ``item in container``."""
        t = type(container)
        if t is str or t is ndarray or t is range or t is bytes or t is Active:
            return innermost(item) in innermost(container)
        if issubclass(t, HASHED) and derivable(container, "__contains__") is None:
            return self.key(item) in container
        method, way = self.special(container, "__contains__")
        if way is not None:
            return bool(self.truth(way.call2(NO_SITE, self, method, container, item)))
        method = python_method(t, "__contains__")
        if method is not None and not (type(method) is FunctionType and is_generated(method)):
            return bool(self.truth(self.call(method, container, item)))
        if t in LISTED and COMPARED.issuperset(map(type, (item, *container))):
            return item in container
        by_iteration = in_class(t, "__contains__") is MISSING
        if t in LISTED or (by_iteration and not issubclass(type(container), type)):
            if t not in LISTED and not iterates(t):
                return item in container  # raises
            items = container if t in LISTED else self.iter(container)
            return any(self.identical(x, item) or self.truth(self.eq(x, item)) for x in items)
        if t is MappingProxyType:
            return self.contained(item, mapping_of(container))
        effects.refuse_writers(self, (item, container), effects.COMPARING)
        return call_checked(self, operator.contains, container, innermost(item))

    def not_contained(self, item: Any, container: Any) -> bool:
        """Run ``item not in container``."""
        return not self.contained(item, container)

    def key(self, value: Any) -> Any:
        """Return a value that Python is about to hash, if nothing is missed by that."""
        if type(value) not in COMPARED:
            effects.refuse_writers(self, (value,), effects.HASHING)
        return value

    # Truth and size.

    def truth(self, value: Any) -> Any:
        """Return something native whose truth is that of a value."""
        t = type(value)
        if t in TESTED:
            return value
        if t is Active:
            return value.primal
        return self.truth_of_object(value)

    def truth_of_object(self, value: Any) -> Any:
        """Run ``bool(value)`` for an instance of any class."""
        method, way = self.special(value, "__bool__")
        if method is None:
            method = derivable(value, "__bool__")
        if method is not None:
            result = way.call1(NO_SITE, self, method, value) if way else self.call(method, value)
            if type(result) is not bool:
                raise TypeError(f"__bool__ should return bool, returned {type_name(type(result))}")
            return result
        if getattr(type(value), "__bool__", None) is None and derivable(value, "__len__"):
            return self.len(value) > 0
        if type(value) is MappingProxyType:
            return self.len(value) > 0
        return bool(value)

    def choose(self, value: Any) -> Any:
        """Return the truth of a value, which is kept as `chosen`."""
        truth = self.truth(value)
        self.chosen = value
        return truth

    def len(self, value: Any) -> int:
        """Run ``len(value)``."""
        if type(value) in TESTED:
            return len(value)
        method, way = self.special(value, "__len__")
        if way is not None:
            n = operator.index(way.call1(NO_SITE, self, method, value))
        else:
            method = derivable(value, "__len__")
            if method is None and type(value) is MappingProxyType:
                return self.len(mapping_of(value))
            if method is None:
                return len(innermost(value))
            n = operator.index(self.call(method, value))
        if n < 0:
            raise ValueError("__len__() should return >= 0")
        return n

    def mapping(self, value: Any) -> Any:
        """Return the mapping that ``**value`` unpacks."""
        t = type(value)
        is_shown = t is MappingProxyType and type(mapping_of(value)) is not dict
        asked = ("keys", "__iter__", "__getitem__") if asks_methods(t) else ("keys",)
        if t is dict or not (is_shown or any(derivable(value, name) for name in asked)):
            return innermost(value)
        if issubclass(t, dict) and t.__iter__ is dict.__iter__:  # then Python reads what is stored
            return dict(dict.items(value))
        keys = self.iter(self.method(value, "keys"))
        return {key: self.getitem(value, key) for key in keys}

    def class_statement(self, *bases: Any, **keywords: Any) -> ClassStatement:
        """Return the callable that makes the class of a ``class`` statement, not its metaclass."""
        return ClassStatement(self, bases, keywords)

    @property
    def importing(self) -> AbstractContextManager[None]:
        """The block around an ``import`` statement."""
        return import_hooks.seen(self)

    def module_with_code(self, own: Any, module: tuple[str, int], names: tuple[str, ...]) -> Any:
        """Return the module of ``from module import names`` if it runs code for a name."""
        return import_hooks.module_with_code(self, own, module, names)

    def imported(self, module: Any, name: str) -> Any:
        """Return the value that ``from module import name`` binds."""
        return import_hooks.imported(self, module, name)

    def unbound(self, error: NameError, names: tuple[str, ...]) -> None:
        """Raise the error for a local variable that is not bound, if it is one of these."""
        raising.require_bound(error, names)

    def splitting(self: Any, types: Any) -> Any:
        """Return the types of ``except*``, which is about to split a group."""
        return raising.splitting(self, types)

    def raised(self, error: Any, *causes: Any) -> Any:
        """Return the exception that ``raise error`` or ``raise error from cause`` will raise.

        Python sets a traceback and a context: of an exception that has just been made, no one sees
        it.
        """
        if issubclass(type(error), BaseException) and sys.getrefcount(error) > AS_ARGUMENT:
            note_raised(self, error)
        return raising.raised(self, error, *causes)

    def matching(self, subject: Any) -> Matching:
        """Begin a ``match`` statement."""
        return Matching(self, subject)

    def format(self, value: Any, conversion: str, spec: str) -> str:
        """Run ``f"{value!conversion:spec}"``."""
        if conversion:
            value = texts.text_of(self, texts.CONVERSIONS[conversion], value)
        return texts.formatted(self, value, spec)


def asks_methods(t: type) -> bool:
    """Return whether C reads a dict of a class by its methods, as the iterator is another one."""
    return issubclass(t, dict) and t.__iter__ is not dict.__iter__


def are_plain(container: Any, depth: int = 0) -> bool:
    """Return whether the equality of what a container holds runs no code of the user's.

    What an object's equality returns may have a truth of its own, which may change something.
    """
    parts = container.values() if type(container) is dict else container
    others = set(map(type, parts)) - PLAIN
    if not others:
        return True
    return (
        depth < DEEP
        and others.issubset(FILLED)
        and all(are_plain(part, depth + 1) for part in parts if type(part) in FILLED)
    )


class _Counting:
    """Finds out how many references there are to an argument that nothing else refers to."""

    def count(self, value: Any) -> int:
        return sys.getrefcount(value)


AS_ARGUMENT = _Counting().count(object())


def holds_quiet(items: Any) -> bool:
    """Return whether comparing items runs nothing but Python's own code, to a truth value."""
    return QUIET.issuperset(map(type, items))


def is_itself(cls: type) -> bool:
    """Return whether objects of a class are equal to nothing but themselves, which runs no code."""
    return in_class(cls, "__eq__") is object.__eq__ and in_class(cls, "__ne__") is object.__ne__


def is_asked_first(a: type, b: type) -> bool:
    """Return whether the left operand is asked first, and no library compares it."""
    return not is_number_of_library(a) and (a is b or not issubclass(b, a))


def unanswered(first: Any, second: Any) -> Any:
    """Return that a method does not know the other operand."""
    return NotImplemented


def derived_comparison(ctx: Comparisons, value: Any, name: str) -> Callable[[Any, Any], Any] | None:
    """Return the method of a comparison written in Python, or None."""
    if is_number_of_library(type(value)):
        return None
    method = derivable(value, name)
    if method is not None:
        return partial(ctx.call, method)
    if is_callable_object(type(value), name):
        return lambda first, second: operators.call_special(ctx, first, name, second)
    equal = derivable(value, "__eq__") if name == "__ne__" else None
    if equal is None or type(value).__ne__ is not object.__ne__:
        return None

    def unequal(first: Any, second: Any) -> Any:  # Python makes it of __eq__
        result = ctx.call(equal, first, second)
        return result if result is NotImplemented else not ctx.truth(result)

    return unequal


def is_number_of_library(cls: type) -> bool:
    """Return whether a class is one of Python's library for numbers, such as fractions.

    Their comparisons take numbers apart, and the answer has no derivative.
    """
    library = package_of(cls) in sys.stdlib_module_names
    return library and cls is not Active and issubclass(cls, Number)


def is_callable_object(cls: type, name: str) -> bool:
    """Return whether a class has something else than a function for a special method."""
    if cls is Active:
        return False
    method = in_class(cls, name)
    return method is not MISSING and not isinstance(method, (FunctionType, *COMPILED))


def iterates(t: type) -> bool:
    """Return whether containment may be found by iteration."""
    iterate = in_class(t, "__iter__")
    return hasattr(t, "__getitem__") if iterate is MISSING else iterate is not None


def _define_comparisons() -> None:
    def make(comparison: Comparison) -> Callable[[Any, Any, Any], Any]:
        native = comparison.function

        def compare(self: Comparisons, a: Any, b: Any) -> Any:
            ta, tb = type(a), type(b)
            if ta is Active:
                if tb in COMPARED:
                    return native(a.primal, b)
                if tb is Active:
                    return native(a.primal, b.primal)
            elif ta in COMPARED:
                if tb in COMPARED and ta is not ndarray and tb is not ndarray:
                    return native(a, b)
                if tb is Active:
                    return native(a, b.primal)
                if tb in COMPARED:  # arrays, of objects perhaps
                    return call_checked(self, native, a, b)
            return self.compare(comparison, a, b)

        return compare

    for name, comparison in COMPARISONS.items():
        setattr(Comparisons, name, make(comparison))


_define_comparisons()
