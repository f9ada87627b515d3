"""Arguments on their way into a differentiated call, and their gradients on the way out.

Arrays enter as they are: their memory becomes active.  A float enters as an active scalar; in a
list, a dict or an object it replaces the float in place, so that every name for that container
sees it, and the tape puts the float back.
"""

from __future__ import annotations

import dataclasses
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive import state
from mooncake_py.derive.active import Active
from mooncake_py.derive.memory import Memory, View
from mooncake_py.errors import NonDifferentiableArgumentError
from mooncake_py.tangents import MutableTangent, NoTangent

__all__ = ["Lifter", "ObjectMirror", "gradient_of", "is_differentiable", "scalar_gradient"]

SCALARS = frozenset({
    float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64,
    np.complex128, np.clongdouble,
})


class ObjectMirror:
    """Nodes of the fields of an object, by name."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}


class Lifter:
    """Makes values active; the same container met twice is lifted once.

    Parameters
    ----------
    ctx : ReverseContext
        The call that the values enter.
    """

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        self._memo: dict[int, tuple[Any, Any, Any]] = {}

    def lift(self, value: Any) -> tuple[Any, Any]:
        """Return the active form of a value, and its mirror: nodes in the same structure.

        A mirror is a node, None for a constant, or a list, dict, tuple or
        :class:`ObjectMirror` of mirrors.
        """
        t = type(value)
        if t in SCALARS:
            node = Active(value, self.ctx)
            return node, node
        if isinstance(value, ndarray):
            return self._lift_array(value)
        if id(value) in self._memo:
            _, lifted, mirror = self._memo[id(value)]
            return lifted, mirror
        if isinstance(value, tuple):
            return self._lift_tuple(value)
        if isinstance(value, list):
            return self._lift_list(value)
        if isinstance(value, dict):
            return self._lift_dict(value)
        if isinstance(value, (FunctionType, MethodType)):
            return self._lift_function(value)
        if has_fields(value):
            return self._lift_object(value)
        return value, None

    def _lift_array(self, value: ndarray) -> tuple[Any, Any]:
        if value.dtype.kind in "OV":
            raise NonDifferentiableArgumentError(
                f"cannot differentiate with respect to an array of dtype {value.dtype}",
                why="its elements are objects, not numbers in one block of memory",
                mend="use an array of dtype float, or a list of floats",
            )
        if value.dtype.kind not in "fc":
            return value, None
        if type(value) is not ndarray and not isinstance(value, np.memmap):
            raise NonDifferentiableArgumentError(
                f"cannot differentiate with respect to a {type(value).__name__}",
                why="subclasses of ndarray change what operations mean",
                mend="pass a plain array: np.asarray(x)",
            )
        if type(value) is not ndarray:
            value = value.view(ndarray)
        return value, self.ctx.registry.activate(value)

    def _lift_tuple(self, value: tuple[Any, ...]) -> tuple[Any, Any]:
        pairs = [self.lift(v) for v in value]
        mirror = tuple(m for _, m in pairs)
        if all(new is old for (new, _), old in zip(pairs, value, strict=True)):
            return value, mirror
        parts = [new for new, _ in pairs]
        lifted = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return lifted, mirror

    def _lift_list(self, value: list[Any]) -> tuple[Any, Any]:
        mirror: list[Any] = []
        self._memo[id(value)] = (value, value, mirror)
        old = list(value)
        state.note(self.ctx, state.restore_sequence, value, old)
        for i, v in enumerate(old):
            value[i], node = self.lift(v)
            mirror.append(node)
        return value, mirror

    def _lift_dict(self, value: dict[Any, Any]) -> tuple[Any, Any]:
        mirror: dict[Any, Any] = {}
        self._memo[id(value)] = (value, value, mirror)
        old = dict(value)
        state.note(self.ctx, state.restore_dict, value, old)
        for key, v in old.items():
            lifted, mirror[key] = self.lift(v)
            if lifted is not v:
                dict.__setitem__(value, key, lifted)
        return value, mirror

    def _lift_object(self, value: Any) -> tuple[Any, Any]:
        mirror = ObjectMirror()
        frozen = is_frozen(value)
        lifted_object = value
        self._memo[id(value)] = (value, value, mirror)
        for name, v in fields_of(value):
            lifted, mirror.fields[name] = self.lift(v)
            if lifted is v:
                continue
            if frozen and lifted_object is value:
                lifted_object = shallow_copy(value)
                self._memo[id(value)] = (value, lifted_object, mirror)
            object.__setattr__(lifted_object, name, lifted)
            if not frozen:
                state.note(self.ctx, state.restore_attribute, value, name, v)
        return lifted_object, mirror

    def _lift_function(self, value: Any) -> tuple[Any, Any]:
        mirror = ObjectMirror()
        if isinstance(value, MethodType):
            receiver, mirror.fields["__self__"] = self.lift(value.__self__)
            if receiver is not value.__self__:
                value = MethodType(value.__func__, receiver)
            return value, mirror
        self._memo[id(value)] = (value, value, mirror)
        names = value.__code__.co_freevars
        for name, cell in zip(names, value.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            if content is value:
                continue
            lifted, mirror.fields[name] = self.lift(content)
            if lifted is not content:
                cell.cell_contents = lifted
                state.note(self.ctx, state.restore_cell, cell, content)
        return value, mirror


def has_fields(value: Any) -> bool:
    """Tell whether a value is an object with data of its own."""
    if isinstance(value, type) or type(value).__module__ in ("builtins", "numpy", "numpy.random"):
        return False
    return hasattr(value, "__dict__") or any("__slots__" in k.__dict__ for k in type(value).__mro__)


def fields_of(value: Any) -> list[tuple[str, Any]]:
    """Return names and values of the attributes that an object holds."""
    found = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return list(found.items())


def is_frozen(value: Any) -> bool:
    """Tell whether an object is identified by value: a frozen dataclass."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and parameters.frozen


def shallow_copy(value: Any) -> Any:
    """Return a new object of the same class with the same fields."""
    new = object.__new__(type(value))
    for name, v in fields_of(value):
        object.__setattr__(new, name, v)
    return new


# Gradients.


def is_differentiable(mirror: Any, seen: set[int] | None = None) -> bool:
    """Tell whether a mirror has a node anywhere."""
    if mirror is None:
        return False
    if isinstance(mirror, (Memory, View)) or type(mirror) is Active:
        return True
    seen = set() if seen is None else seen
    if id(mirror) in seen:
        return False
    seen.add(id(mirror))
    if isinstance(mirror, ObjectMirror):
        parts = mirror.fields.values()
    else:
        parts = mirror.values() if isinstance(mirror, dict) else mirror
    return any(is_differentiable(part, seen) for part in parts)


def gradient_of(value: Any, mirror: Any, memo: dict[int, Any]) -> Any:
    """Return the gradient of a value in its own structure, after the reverse pass.

    Parts without a derivative give ``NoTangent()``.  Arrays are new.
    """
    if mirror is None:
        return NoTangent()
    if type(mirror) is Active:
        return scalar_gradient(mirror)
    if isinstance(mirror, (Memory, View)):
        return array_gradient(value, mirror)
    if id(mirror) in memo and type(mirror) is not tuple:
        return memo[id(mirror)]
    if type(mirror) is tuple:
        parts = [gradient_of(v, m, memo) for v, m in zip(value, mirror, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(mirror) is list:
        result: Any = []
        memo[id(mirror)] = result
        result.extend(gradient_of(v, m, memo) for v, m in zip(value, mirror, strict=True))
        return result
    if type(mirror) is dict:
        result = memo[id(mirror)] = {}
        result.update((k, gradient_of(value[k], m, memo)) for k, m in mirror.items())
        return result
    return object_gradient(value, mirror, memo)


def object_gradient(value: Any, mirror: ObjectMirror, memo: dict[int, Any]) -> Any:
    """Return the gradient of an object: the same dataclass, or a MutableTangent."""
    if dataclasses.is_dataclass(value):
        result = memo[id(mirror)] = object.__new__(type(value))
        for name, m in mirror.fields.items():
            object.__setattr__(result, name, gradient_of(getattr(value, name), m, memo))
        return result
    contents = field_values(value)
    parts: dict[str, Any] = {}
    result = memo[id(mirror)] = MutableTangent(parts)
    for name, m in mirror.fields.items():
        result[name] = gradient_of(contents[name], m, memo)
    return result


def field_values(value: Any) -> dict[str, Any]:
    """Return the data that an object, function or bound method holds, by name."""
    if isinstance(value, MethodType):
        return {"__self__": value.__self__}
    if isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        return {name: cell.cell_contents for name, cell in cells}
    return dict(fields_of(value))


def scalar_gradient(node: Active) -> Any:
    """Return the cotangent of an active scalar in the type of the scalar."""
    t = type(node.primal)
    g = node.grad
    if isinstance(g, (complex, np.complexfloating)) and not issubclass(
        t, (complex, np.complexfloating)
    ):
        g = g.real
    return t(g)


def array_gradient(value: ndarray, node: Any) -> ndarray:
    """Return the cotangent of an array as a new array of its shape and dtype."""
    if node.memory.grad is None:
        return np.zeros(value.shape, value.dtype)
    if isinstance(node, View):
        return node.shadow().copy()
    g = node.grad
    return g if g.flags.owndata and not node.pinned and g.flags.c_contiguous else np.array(
        g, order="C"
    )
