"""What the language means while a function is being differentiated: calls, attributes, loops.

Rewritten code sends every operation here.  Values flow by reference as Python passes them; the
context sees to it that Python code which would run unseen (properties, special methods,
iterators, context managers) is derived as well, and that changes to objects are undone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive import dispatch, natives, state
from mooncake_py.derive.active import Active, primal_of
from mooncake_py.derive.load import derive, instantiate
from mooncake_py.errors import DerivativeDropError, Location, MooncakeError

__all__ = ["Context"]

_MISSING = object()

EXPOSES_MEMORY = frozenset({"data", "ctypes", "__array_interface__", "__array_struct__"})


class Context:
    """The part of a differentiated call that does not depend on the mode.

    Attributes
    ----------
    failure : MooncakeError or None
        The first error that the engine raised.  User code that catches everything must not turn
        it into a wrong answer, so it is raised again at the end.
    """

    record: Callable[[tuple[Any, ...]], None]
    find: Callable[[ndarray], Any]

    def __init__(self) -> None:
        self.failure: MooncakeError | None = None
        self.handlers = dispatch.handlers()
        self.unary_handlers = dispatch.unary_handlers()

    # Errors.

    def failed(self, error: MooncakeError) -> MooncakeError:
        """Remember an error of the engine and return it, to be raised."""
        if self.failure is None:
            self.failure = error
        return error

    def user_location(self) -> Location | None:
        """Return the place in the user's source that is being run."""
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if "_mk_ctx" in code.co_varnames or "_mk_ctx" in code.co_freevars:
                positions = list(code.co_positions())[frame.f_lasti // 2]
                line, end_line, column, end_column = positions
                if end_line != line:
                    end_column = None
                return Location(
                    code.co_filename, line or frame.f_lineno, code.co_qualname, column, end_column
                )
            frame = frame.f_back
        return None

    # Calls.

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)``."""
        try:
            handler = self.handlers.get(f)
        except TypeError:  # a callable that cannot be hashed
            handler = None
        if handler is not None:
            return handler(self, f, args, kwargs)
        return dispatch.call_unregistered(self, f, args, kwargs)

    def call_one(self, f: Any, x: Any, /) -> Any:
        """Run ``f(x)``; functions of one number or array go straight to their rule."""
        try:
            handler = self.unary_handlers.get(f)
        except TypeError:
            handler = None
        return self.call(f, x) if handler is None else handler(self, x)

    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """Run a Python function by its derived form."""
        try:
            derived = derive(f.__code__, f.__globals__)
        except MooncakeError as error:
            raise self.failed(error) from None
        if derived.stored_globals or derived.stored_free:
            state.log_names(self, derived, f)
        return instantiate(derived, f)(*args, **kwargs, _mk_ctx=self)

    def method(self, o: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``o.name(*args, **kwargs)``."""
        t = type(o)
        if t is ndarray:
            descriptor = getattr(ndarray, name, None)
            handler = self.handlers.get(descriptor)
            if handler is not None:
                return handler(self, descriptor, (o, *args), kwargs)
            return dispatch.call_array_method(self, o, name, args, kwargs)
        if t is Active:
            return dispatch.call_scalar_method(self, o, name, args, kwargs)
        mutators = state.MUTATORS.get(t)
        if mutators is not None:
            return state.call_container_method(self, o, name, args, kwargs)
        return self.call(self.getattr(o, name), *args, **kwargs)

    # Attributes.

    def getattr(self, o: Any, name: str) -> Any:
        """Run ``o.name``."""
        t = type(o)
        if t is ndarray:
            if name in EXPOSES_MEMORY and self.find(o) is not None:
                raise self.failed(
                    DerivativeDropError(
                        f"the attribute {name!r} of an active array gives access to its memory",
                        where=self.user_location(),
                        why="reads and writes through it cannot be seen",
                        mend="use indexing, or register a rule for the function that needs it",
                    )
                )
            return getattr(o, name)
        if t is ModuleType or t is Active or isinstance(o, type):
            return getattr(o, name)
        attribute = getattr(t, name, _MISSING)
        kind = type(attribute)
        if kind is property:
            if attribute.fget is None:
                return getattr(o, name)
            return self.call(attribute.fget, o)
        if kind is FunctionType or attribute is _MISSING:
            return self.plain_attribute(o, t, name)
        getter = getattr(kind, "__get__", None)
        if type(getter) is FunctionType:
            if name in getattr(o, "__dict__", ()) and not hasattr(kind, "__set__"):
                return getattr(o, name)
            return self.call_descriptor(attribute, getter, o, t)
        return self.plain_attribute(o, t, name)

    def call_descriptor(self, attribute: Any, getter: Any, o: Any, t: type) -> Any:
        """Read an attribute through a descriptor written in Python."""
        if type(attribute).__name__ == "cached_property":
            value = self.call(attribute.func, o)
            state.set_attribute(self, o, attribute.attrname, value)
            return value
        return self.call(getter, attribute, o, t)

    def plain_attribute(self, o: Any, t: type, name: str) -> Any:
        """Read an attribute, through ``__getattribute__`` or ``__getattr__`` if there is one."""
        if t.__getattribute__ is not object.__getattribute__:
            custom = t.__getattribute__
            if type(custom) is FunctionType:
                return self.call(custom, o, name)
            return getattr(o, name)
        fallback = getattr(t, "__getattr__", None)
        if type(fallback) is FunctionType:
            try:
                return object.__getattribute__(o, name)
            except AttributeError:
                return self.call(fallback, o, name)
        return getattr(o, name)

    def setattr(self, o: Any, name: str, v: Any) -> None:
        """Run ``o.name = v``."""
        t = type(o)
        if t is ndarray:
            self.set_array_attribute(o, name, v)
            return
        attribute = getattr(t, name, _MISSING)
        if type(attribute) is property and attribute.fset is not None:
            self.call(attribute.fset, o, v)
            return
        setter = getattr(type(attribute), "__set__", None)
        if type(setter) is FunctionType:
            self.call(setter, attribute, o, v)
            return
        custom = t.__setattr__
        if type(custom) is FunctionType and custom.__module__ != "dataclasses":
            if getattr(custom, "__code__", None) and custom.__code__.co_filename != "<string>":
                self.call(custom, o, name, v)
                return
        state.set_attribute(self, o, name, v)

    def set_array_attribute(self, o: ndarray, name: str, v: Any) -> None:
        """Run ``array.real = v`` and the like."""
        if name in ("real", "imag"):
            self.setitem(getattr(o, name), Ellipsis, v)
        elif name == "flat":
            natives.assign_flat(self, o, slice(None), v)
        else:
            natives.refuse_metadata_write(self, name)

    def delattr(self, o: Any, name: str) -> None:
        """Run ``del o.name``."""
        t = type(o)
        attribute = getattr(t, name, _MISSING)
        if type(attribute) is property and attribute.fdel is not None:
            self.call(attribute.fdel, o)
            return
        custom = t.__delattr__
        if type(custom) is FunctionType and custom.__code__.co_filename != "<string>":
            self.call(custom, o, name)
            return
        state.delete_attribute(self, o, name)

    # Items of objects that are not arrays.

    def setitem(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v``; the mode says what it means for arrays."""
        raise NotImplementedError

    def item_of_object(self, o: Any, i: Any) -> Any:
        """Run ``o[i]`` for anything but an array."""
        t = type(o)
        if t is list or t is tuple or t is dict or t is str:
            return o[i]
        if t is np.flatiter:
            return natives.read_flat(self, o, i)
        method = getattr(t, "__getitem__", None)
        if type(method) is FunctionType:
            return self.call(method, o, i)
        if isinstance(o, dict):
            return state.read_dict(self, o, i)
        if t is Active:
            return self.call(np.asarray, o)[i] if o.primal[i] is None else o
        return o[i]

    def set_item_of_object(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for anything but an array."""
        t = type(o)
        if t is np.flatiter:
            natives.assign_flat(self, o.base, i, v)
            return
        method = getattr(t, "__setitem__", None)
        if type(method) is FunctionType:
            self.call(method, o, i, v)
            return
        state.set_item(self, o, i, v)

    def delitem(self, o: Any, i: Any) -> None:
        """Run ``del o[i]``."""
        method = getattr(type(o), "__delitem__", None)
        if type(method) is FunctionType:
            self.call(method, o, i)
            return
        state.delete_item(self, o, i)

    def augattr(self, name: str, o: Any, attribute: str, v: Any) -> None:
        """Run ``o.attribute op= v``, where `v` has no side effects."""
        old = self.getattr(o, attribute)
        new = getattr(self, name)(old, v)
        if type(o) is ndarray and new is old and attribute in ("real", "imag", "flat", "T"):
            return
        self.setattr(o, attribute, new)

    # Operators on objects of user-defined types.

    def operator_of_objects(self, op: Any, a: Any, b: Any) -> Any:
        """Run a binary operator for operands that are not numbers or arrays."""
        ta, tb = type(a), type(b)
        left = getattr(ta, op.method, None) if ta is not Active else None
        right = getattr(tb, op.reflected, None) if tb is not Active else None
        left_python = type(left) is FunctionType
        right_python = type(right) is FunctionType
        if left_python or right_python:
            return self.special_methods(op, a, b, left, right, left_python, right_python)
        if op.name == "mod" and isinstance(a, (str, bytes)):
            return op.function(a, natives.unwrapped(b))
        if ta is ndarray or tb is ndarray:
            # An operand of another type: the array's own operator decides, unseen by the tape.
            self.refuse_if_active(op.function, (a, b))
        return op.function(primal_of(a), primal_of(b))

    def special_methods(
        self, op: Any, a: Any, b: Any, left: Any, right: Any, left_python: bool, right_python: bool
    ) -> Any:
        """Try ``a.__op__(b)`` and ``b.__rop__(a)`` in Python's order, deriving each."""
        ta, tb = type(a), type(b)
        attempts = [(left, a, b, left_python), (right, b, a, right_python)]
        if ta is tb:
            attempts.pop()
        elif issubclass(tb, ta) and right is not getattr(ta, op.reflected, None):
            attempts.reverse()
        for function, first, second, python in attempts:
            if function is None:
                continue
            if type(first) is ndarray and getattr(type(second), "__array_ufunc__", 0) is None:
                continue
            result = self.call(function, first, second) if python else function(
                primal_of(first), second
            )
            if result is not NotImplemented:
                return result
        return op.function(primal_of(a), primal_of(b)) if not (
            left_python or right_python
        ) else natives.unsupported_operands(op, ta, tb)

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
        if special is None or t is Active or type(v) is ndarray:
            return getattr(self, op.name)(x, v)
        if type(special) is FunctionType:
            result = self.call(special, x, v)
            return getattr(self, op.name)(x, v) if result is NotImplemented else result
        return state.inplace_container(self, op, x, v)

    # Iteration.

    def iter(self, iterable: Any, pattern: Any = None) -> Iterable[Any]:
        """Return what a loop over `iterable` runs over, with active elements active."""
        t = type(iterable)
        if t is ndarray:
            found = self.iterate_array(iterable)
        elif t is list or t is tuple or t is dict or t is range or t is str or t is zip:
            found = iterable
        else:
            found = natives.iterate_object(self, iterable)
        if pattern is None:
            return found
        return self.unpacked(found, pattern)

    def iterate_array(self, a: ndarray) -> Iterable[Any]:
        """Iterate over the first axis; elements of an active vector are active."""
        if a.ndim != 1 or self.find(a) is None:
            return a
        return self.iterate_elements(a)

    def iterate_elements(self, a: ndarray) -> Iterator[Any]:
        """Yield the elements of a vector one by one, as a loop over it would read them."""
        i = 0
        while i < len(a):
            yield self.getitem(a, i)
            i += 1

    def getitem(self, o: Any, i: Any) -> Any:
        """Run ``o[i]``; the mode says what it means for arrays."""
        raise NotImplementedError

    def unpacked(self, items: Iterable[Any], pattern: Any) -> Iterator[Any]:
        """Yield each item unpacked for the targets of a loop."""
        for item in items:
            yield self.unpack(item, pattern)

    def unpack(self, value: Any, pattern: Any) -> Any:
        """Prepare a value for assignment to a tuple of targets.

        `pattern` is a tuple with None for a target, "*" for a starred one and a tuple for a
        nested one.
        """
        t = type(value)
        if t is not tuple and t is not list:
            value = self.iter(value)
        if all(part is None or part == "*" for part in pattern):
            return value
        star = pattern.index("*") if "*" in pattern else None
        items = list(value)
        if star is not None:
            spread = len(items) - len(pattern) + 1
            pattern = (*pattern[:star], *[None] * spread, *pattern[star + 1:])
        return [
            self.unpack(item, part) if type(part) is tuple else item
            for item, part in zip(items, pattern, strict=False)
        ] + items[len(pattern):]

    def delegate(self, iterable: Any) -> Any:
        """Return what ``yield from`` delegates to."""
        return iterable if hasattr(iterable, "send") else self.iter(iterable)

    # With statements and decorators.

    def manager(self, manager: Any) -> Any:
        """Return a context manager whose Python code is derived."""
        return natives.derived_manager(self, manager)

    def decorator(self, decorator: Any) -> Callable[[Any], Any]:
        """Return a function that applies a decorator by a derived call."""
        return lambda function: self.call(decorator, function)

    # Activity of values of any kind.

    def contains_active(self, value: Any) -> bool:
        """Tell whether a value is active or is a container with active parts."""
        return natives.contains_active(self, value, set())

    def refuse_if_active(self, f: Any, args: Iterable[Any]) -> None:
        """Raise if a function without a rule would receive active data."""
        if any(self.contains_active(a) for a in args):
            raise dispatch.missing_rule(self, f, tuple(args))

    def scalar_attribute(self, value: Active, name: str) -> Any:
        """Return an attribute of an active scalar."""
        return dispatch.scalar_attribute(self, value, name)

    def bound(self, f: Any) -> Any:
        """Return the function and receiver of a bound Python method."""
        return (f.__func__, f.__self__) if type(f) is MethodType else (f, None)
