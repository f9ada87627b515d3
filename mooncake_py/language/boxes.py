"""Stand-ins for active numbers and arrays in arrays of objects while NumPy computes with them.

NumPy runs the operators and methods of the elements.  Those of an array would not be seen, so each
active element is put in a box, whose operators are the context's.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from numpy.lib.stride_tricks import as_strided

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.objects import as_objects, as_operand, is_of_objects
from mooncake_py.runtime.operators import BINARY
from mooncake_py.tangents.memory import address, is_writeable, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Box", "Copies", "leaves", "unboxed"]


class Box:
    """An active number or array, whose operators are recorded, as an element of an array."""

    __slots__ = ("ctx", "value")
    __hash__ = None  # type: ignore[assignment]  # an array has none either

    def __init__(self, ctx: Mode, value: Any) -> None:
        self.ctx = ctx
        self.value = value

    def called(self, f: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function for the value."""
        return boxed(self.ctx, self.ctx.call(f, *map(contents, args)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Run a ufunc for this element among arrays of elements, or for its value."""
        if any(map(is_of_objects, inputs)):
            elements = [as_element(v) if type(v) is Box else v for v in inputs]
            return getattr(ufunc, method)(*elements, **options)
        f = ufunc if method == "__call__" else getattr(ufunc, method)
        return boxed(self.ctx, self.ctx.call(f, *map(contents, inputs), **options))

    def __bool__(self) -> bool:
        return bool(self.ctx.truth(self.value))

    def __neg__(self) -> Any:
        return boxed(self.ctx, self.ctx.unary("neg", self.value))

    def __pos__(self) -> Any:
        return boxed(self.ctx, self.ctx.unary("pos", self.value))

    def __abs__(self) -> Any:
        return self.called(abs, self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.called(copy.deepcopy, self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("active values are not pickled")

    def conjugate(self) -> Any:
        """Return the conjugate, by the method that arrays and numbers have."""
        return boxed(self.ctx, self.ctx.method(self.value, "conjugate"))


def add_operators() -> None:
    """Give boxes the operators and comparisons."""
    for name, op in BINARY.items():
        setattr(Box, op.method, forward(name))
        setattr(Box, op.reflected, reflected(name))
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        setattr(Box, f"__{name}__", comparison(getattr(operator, name)))


def forward(name: str) -> Callable[..., Any]:
    """Return the method of a binary operator; powers are given a modulus too, which is None."""

    def run(self: Box, other: Any, *modulus: Any) -> Any:
        if type(other) is ndarray and is_of_objects(other):
            return NotImplemented
        return boxed(self.ctx, getattr(self.ctx, name)(self.value, contents(other)))

    return run


def reflected(name: str) -> Callable[..., Any]:
    """Return the method for a second operand."""

    def run(self: Box, other: Any, *modulus: Any) -> Any:
        return boxed(self.ctx, getattr(self.ctx, name)(other, self.value))

    return run


def comparison(compare: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Return the method of a comparison."""

    def run(self: Box, other: Any) -> Any:
        return self.called(compare, self, other)

    return run


add_operators()


def contents(value: Any) -> Any:
    """Return the contents of a box; any other value unchanged."""
    return value.value if type(value) is Box else value


def boxed(ctx: Mode, value: Any) -> Any:
    """Return an active number or array in a box, another value as it is."""
    if type(value) is Active or (type(value) is ndarray and ctx.contains_active(value)):
        return Box(ctx, value)
    return value


def as_element(value: Any) -> ndarray:
    """Return an array without axes that holds one object."""
    element = np.empty((), object)
    set_element(element, (), value)
    return element


def set_element(a: ndarray, index: tuple[int, ...], value: Any) -> None:
    """Write one element, of whose parts NumPy would make several in an array without axes."""
    if index:
        a[index] = value
    else:
        a.reshape(1)[0] = value


class Copies:
    """Arguments of a call with copies of their arrays, which have memory in common as these do.

    They are those of the plain call, or have boxes, in arrays of objects, for all that is active.
    """

    def __init__(self, ctx: Mode, boxes: bool) -> None:
        self.ctx = ctx
        self.boxes = boxes
        self.owners: dict[int, ndarray] = {}
        self.made: dict[int, tuple[ndarray, ndarray, State]] = {}

    def of(self, value: Any) -> Any:
        """Return an argument with copies for the arrays in it."""
        t = type(value)
        if t is ndarray:
            return self.array(value)
        if t in (list, tuple) and any(isinstance(v, ndarray) for v in leaves(value)):
            return t(map(self.of, value))
        if not self.boxes:
            return unwrapped(value)
        if t is Active:
            return self.copied(as_operand(self.ctx, value))
        if t in (list, tuple) and self.ctx.contains_active(value):
            return self.copied(as_objects(self.ctx, value))
        return value

    def element(self, value: Any) -> Any:
        """Return the stand-in for an element."""
        if self.boxes:
            return boxed(self.ctx, value)
        return value.copy() if type(value) is ndarray else unwrapped(value)

    def array(self, a: ndarray) -> ndarray:
        """Return the copy of an array."""
        known = self.made.get(id(a))
        if known is None:
            new = self.view_of(a)
            known = self.made[id(a)] = a, new, State(new)
        return known[1]

    def view_of(self, a: ndarray) -> ndarray:
        """Return a copy as the view that the array is of its memory."""
        root = owner(a)
        if self.boxes and not is_of_objects(a) and self.ctx.contains_active(a):
            return self.copied(as_objects(self.ctx, a))
        if type(root) is not ndarray or root.dtype != a.dtype or not root.flags.forc or not a.size:
            return self.copied(a)
        if id(root) not in self.owners:
            self.owners[id(root)] = self.copied(root)
        whole = self.owners[id(root)]
        if a is root:
            return whole
        start = (address(a) - address(root)) // a.itemsize
        new = as_strided(whole.ravel("K")[start:], a.shape, a.strides)
        if not is_writeable(a):
            new.flags.writeable = False
        return new

    def copied(self, a: ndarray) -> ndarray:
        """Return a copy of an array alone."""
        new = a.copy("K")
        if is_of_objects(a):
            for index in np.ndindex(a.shape):
                set_element(new, index, self.element(a[index]))
        if not is_writeable(a):
            new.flags.writeable = False
        return new

    def changed(self) -> list[tuple[ndarray, ndarray]]:
        """Return the arrays, each with its copy, that the call has written to."""
        return [(a, new) for a, new, before in self.made.values() if before.differs(new)]

    def are_seen(self, y: Any) -> bool:
        """Return whether a result has memory in common with an argument."""
        arrays = [v for v in leaves(y) if isinstance(v, ndarray)]
        return any(np.may_share_memory(v, new) for v in arrays for _, new, _ in self.made.values())

    def original(self, y: Any) -> Any:
        """Return the array that a result is the copy of; None if it is none."""
        return next((a for a, new, _ in self.made.values() if new is y), None)


class State:
    """The shape and the contents of an array at one time."""

    def __init__(self, a: ndarray) -> None:
        self.shape = a.shape
        self.elements = a.ravel().tolist() if a.dtype.hasobject else None
        self.bytes = b"" if a.dtype.hasobject else a.tobytes()

    def differs(self, a: ndarray) -> bool:
        """Return whether an array has another shape, or holds something else by now."""
        if self.elements is None:
            return a.shape != self.shape or a.tobytes() != self.bytes
        now = a.ravel().tolist()
        return a.shape != self.shape or any(map(operator.is_not, now, self.elements))


def leaves(value: Any) -> list[Any]:
    """Return a value, or those in lists and tuples at any depth."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def unboxed(ctx: Mode, y: Any, copies: Copies) -> Any:
    """Return a result with active values for boxes, and the arguments for their copies."""
    if type(y) is Box:
        return y.value
    if isinstance(y, (list, tuple)):
        parts = [unboxed(ctx, part, copies) for part in y]
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    if type(y) is ndarray and is_of_objects(y) and copies.original(y) is None:
        for index in np.ndindex(y.shape):
            if type(y[index]) is Box:
                set_element(y, index, contents(y[index]))
    return y
