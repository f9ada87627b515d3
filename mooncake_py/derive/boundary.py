"""A derived rule seen from outside: CoDuals in, a CoDual and a pullback out.

The fdata of the arguments are the shadows that the tape works on, so cotangents of mutated
arguments enter and leave through them.  Fdata that do not share memory as their primals do are
copied in and out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.active import Active
from mooncake_py.derive.codual_call import ArrayCoDual
from mooncake_py.derive.collector import collector_paused
from mooncake_py.derive.lift import Lifter, ObjectMirror, scalar_gradient
from mooncake_py.derive.memory import Memory, View
from mooncake_py.derive.notes import noting
from mooncake_py.derive.reverse import ReverseContext
from mooncake_py.errors import PullbackReuseError
from mooncake_py.tangents import (
    CoDual,
    NoFData,
    NoRData,
    fdata,
    zero_rdata,
    zero_tangent,
)
from mooncake_py.tangents.memory import owner as owner_of

__all__ = ["derived_rule"]

Pullback = Callable[[Any], tuple[Any, ...]]


def derived_rule(f: CoDual, *args: CoDual, **kwargs: Any) -> tuple[CoDual, Pullback]:
    """Run a function forward on CoDuals, by rules and derived code.

    Parameters
    ----------
    f, *args : CoDual
        The function and its arguments with their fdata.
    **kwargs
        Keyword arguments, constant.

    Returns
    -------
    output : CoDual
    pullback : callable
        From the rdata of the output to those of `f` and of each argument.  It can be called
        once; a second call raises `PullbackReuseError`.
    """
    return _Call(f, args, kwargs).forward()


class _Call:
    """One forward and one reverse pass of a derived rule."""

    def __init__(self, f: CoDual, args: tuple[CoDual, ...], kwargs: dict[str, Any]) -> None:
        self.inputs = (f, *args)
        self.kwargs = kwargs
        self.ctx = ReverseContext()
        self.copies: list[tuple[Any, ndarray]] = []  # nodes with fdata that are copied
        self.lists: list[tuple[Any, Any, Any]] = []  # fdata of containers: (fdata, entry, mirror)
        self.exits: list[tuple[Any, Any, Any]] = []  # (container of fdata, key, node) at the exit
        self.done = False

    def forward(self) -> tuple[CoDual, Pullback]:
        ctx = self.ctx
        lifter = Lifter(ctx)
        with collector_paused(), noting(ctx):
            lifted = [self.admit(lifter, codual) for codual in self.inputs]
            self.mirrors = [mirror for _, mirror in lifted]
            try:
                y = ctx.call(*(value for value, _ in lifted), **self.kwargs)
                if ctx.failure is not None:
                    raise ctx.failure
            except BaseException:
                ctx.roll_back()
                raise
            out = self.expose(y)
            for (value, _), codual in zip(lifted, self.inputs, strict=True):
                self.settle(value, codual.fdata, set())
        return out, self.pullback

    def admit(self, lifter: Lifter, codual: CoDual) -> tuple[Any, Any]:
        """Lift an argument; ``NoFData()`` for the fdata of an array leaves it constant."""
        primal = codual.primal
        if type(primal) is ndarray and type(codual.fdata) is NoFData:
            return primal, None
        value, mirror = lifter.lift(primal)
        self.attach(primal, mirror, codual.fdata, set())
        return value, mirror

    def attach(self, primal: Any, mirror: Any, data: Any, seen: set[int]) -> None:
        """Make the given fdata the shadows of the nodes of an argument."""
        if mirror is None or type(data) is NoFData or type(mirror) is Active:
            return
        if isinstance(mirror, (Memory, View)):
            self.attach_array(primal, mirror, data)
            return
        if type(mirror) is not tuple:
            if id(mirror) in seen:
                return
            seen.add(id(mirror))
        if type(mirror) is list or type(mirror) is dict:
            self.lists.append((data, data.copy(), mirror))
        elif isinstance(mirror, ObjectMirror):
            self.lists.append((data, None, mirror))
        for key, part in parts_of(mirror):
            self.attach(original_part(primal, key), part, data[key], seen)

    def attach_array(self, primal: ndarray, node: Any, data: ndarray) -> None:
        """Use an array of fdata as shadow, or arrange for copying if its layout differs."""
        owner, shadow = owner_of(primal), owner_of(data)
        memory = node.memory
        if memory.grad is shadow:
            return
        fits = (
            memory.grad is None
            and shadow.shape == owner.shape
            and shadow.strides == owner.strides
            and shadow.dtype == owner.dtype
            and offset(primal, owner) == offset(data, shadow)
        )
        if fits and shadow.flags.writeable:
            memory.grad = shadow
            memory.pinned = True
        else:
            self.copies.append((node, data))

    # The exit of the forward pass.

    def expose(self, y: Any) -> CoDual:
        """Return the output as a CoDual; its fdata are zero, or the arguments' where it aliases."""
        self.output = y
        if type(y) is Active:
            return CoDual(y.primal, NoFData())
        if type(y) is ndarray and y.dtype.kind in "fc":
            node = self.ctx.find(y)
            if node is None:
                return CoDual(y, np.zeros_like(y))
            memory = node.memory
            if memory.shape is None:
                self.ctx.registry.activate(y)
            return ArrayCoDual(y, node)
        if type(y) is tuple:
            parts = [_expose_part(self, v) for v in y]
            primal = tuple(part.primal for part in parts)
            return CoDual(primal, _collapsed(tuple(part.fdata for part in parts)))
        data = self.settle_new(y)
        return CoDual(y, data)

    def settle_new(self, y: Any) -> Any:
        """Return fdata for an output container, and replace its active scalars by numbers."""
        known = [data for codual, data in ((c, c.fdata) for c in self.inputs) if codual.primal is y]
        if known:
            return known[0]  # an argument itself; settled with the arguments
        active = collect_scalars(y)
        for container, key, node in active:
            put(container, key, node.primal)
        data = fdata(zero_tangent(y))
        self.link(y, data, {(id(c), k): n for c, k, n in active}, set())
        return data

    def settle(self, value: Any, data: Any, seen: set[int]) -> None:
        """Bring an argument's containers to plain values and their fdata to the same structure."""
        if type(data) is NoFData or type(value) not in (list, dict) and not _is_object(value):
            if type(value) is tuple and type(data) is tuple:
                for v, d in zip(value, data, strict=True):
                    self.settle(v, d, seen)
            return
        if id(value) in seen:
            return
        seen.add(id(value))
        for key, v in list(items_of(value)):
            if type(v) is Active:
                put(value, key, v.primal)
                put_data(data, key, zero_rdata(v.primal))
                self.exits.append((data, key, v))
            elif type(v) is ndarray and v.dtype.kind in "fc":
                node = self.ctx.find(v)
                if node is None:
                    put_data(data, key, np.zeros_like(v))
                else:
                    if node.memory.shape is None:
                        self.ctx.registry.activate(v)
                    present = get_data(data, key)
                    if not any(present is d for _, d in self.copies):
                        put_data(data, key, node.pin())
            elif type(v) in (list, dict, tuple) or _is_object(v):
                present = get_data(data, key)
                if present is None or type(present) is NoFData:
                    put_data(data, key, self.settle_new(v))
                else:
                    self.settle(v, present, seen)
            else:
                put_data(data, key, fdata_or_tangent(v))
        trim(data, value)

    def link(self, value: Any, data: Any, active: dict[Any, Any], seen: set[int]) -> None:
        """Connect the fdata of new containers with the nodes they stand for."""
        if id(value) in seen:
            return
        seen.add(id(value))
        if type(value) is ndarray:
            return
        for key, v in list(items_of(value)):
            node = active.get((id(value), key))
            if node is not None:
                self.exits.append((data, key, node))
            elif type(v) is ndarray and v.dtype.kind in "fc":
                node = self.ctx.find(v)
                if node is not None:
                    if node.memory.shape is None:
                        self.ctx.registry.activate(v)
                    put_data(data, key, node.pin())
            elif type(v) in (list, dict) or _is_object(v):
                self.link(v, get_data(data, key), active, seen)

    # The reverse pass.

    def pullback(self, dy: Any) -> tuple[Any, ...]:
        """Undo, apply the adjoint, and return the rdata of the function and its arguments."""
        if self.done:
            raise PullbackReuseError(
                "this pullback was called before",
                why="it undid the forward pass, which changed state that it refers to",
                mend="run the rule forward again",
            )
        self.done = True
        ctx = self.ctx
        with collector_paused(), noting(ctx):
            for node, data in self.copies:
                node.add(data)
                data[...] = 0
            for data, key, node in self.exits:
                node.add(get_data(data, key))
            seed(self.output, dy)
            try:
                ctx.run_backwards()
            except BaseException:
                ctx.roll_back()
                raise
        for node, data in self.copies:
            if node.memory.grad is not None:
                shadow = node.shadow()
                data += shadow
                shadow[...] = 0
        for data, entry, mirror in self.lists:
            restore_data(data, entry, mirror)
        return tuple(
            rdata_of(codual.primal, mirror)
            for codual, mirror in zip(self.inputs, self.mirrors, strict=True)
        )


def _expose_part(call: _Call, value: Any) -> CoDual:
    output = call.output
    exposed = call.expose(value)
    call.output = output
    return exposed


def _collapsed(parts: tuple[Any, ...]) -> Any:
    return NoFData() if all(type(part) is NoFData for part in parts) else parts


def seed(y: Any, dy: Any) -> None:
    """Give the rdata of the output to its active scalars."""
    if type(y) is Active:
        if type(dy) is not NoRData:
            y.add(dy)
    elif type(y) is tuple and type(dy) is tuple:
        for part, d in zip(y, dy, strict=True):
            seed(part, d)


def rdata_of(primal: Any, mirror: Any) -> Any:
    """Return the rdata of an argument after the reverse pass."""
    if type(mirror) is Active:
        return scalar_gradient(mirror)
    if type(mirror) is tuple:
        parts = tuple(rdata_of(p, m) for p, m in zip(primal, mirror, strict=True))
        if all(type(part) is NoRData for part in parts):
            return NoRData()
        zero = zero_rdata(primal)
        return parts if type(zero) is tuple else type(zero)(
            **dict(zip(primal._fields, parts, strict=True))
        )
    if isinstance(mirror, ObjectMirror):
        zero = zero_rdata(primal)
        if type(zero) is NoRData:
            return zero
        return type(zero)(
            **{name: rdata_of(getattr(primal, name), m) for name, m in mirror.fields.items()}
        )
    return zero_rdata(primal)


def offset(a: ndarray, owner: ndarray) -> int:
    """Return the distance in bytes of an array from the start of its owner."""
    return a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]


# Containers and the fdata that belong to them.


def _is_object(value: Any) -> bool:
    from mooncake_py.derive.lift import has_fields

    return type(value).__module__ != "builtins" and has_fields(value)


def items_of(value: Any) -> Any:
    """Return keys and values of a container or an object."""
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if isinstance(value, dict):
        return value.items()
    from mooncake_py.derive.lift import fields_of

    return fields_of(value) if _is_object(value) else ()


def parts_of(mirror: Any) -> Any:
    """Return keys and parts of a mirror."""
    if isinstance(mirror, ObjectMirror):
        return mirror.fields.items()
    return mirror.items() if isinstance(mirror, dict) else enumerate(mirror)


def original_part(primal: Any, key: Any) -> Any:
    """Return the part of a container or object under a key."""
    if isinstance(primal, (list, tuple, dict)):
        return primal[key]
    from mooncake_py.derive.lift import field_values

    return field_values(primal)[key]


def collect_scalars(value: Any, seen: set[int] | None = None) -> list[tuple[Any, Any, Any]]:
    """Return container, key and node of each active scalar in containers at any depth."""
    seen = set() if seen is None else seen
    if id(value) in seen or type(value) is ndarray:
        return []
    seen.add(id(value))
    found: list[tuple[Any, Any, Any]] = []
    for key, v in list(items_of(value)):
        if type(v) is Active:
            found.append((value, key, v))
        else:
            found.extend(collect_scalars(v, seen))
    return found


def put(container: Any, key: Any, v: Any) -> None:
    """Store natively, in a list, a dict or an object."""
    if isinstance(container, (list, dict)):
        container[key] = v
    else:
        object.__setattr__(container, key, v)


def get_data(data: Any, key: Any) -> Any:
    """Return the fdata under a key, or None if there is none yet."""
    try:
        return data[key]
    except (LookupError, AttributeError):
        return None


def put_data(data: Any, key: Any, v: Any) -> None:
    """Store into the fdata of a container, which grows with it."""
    if type(data) is list and key == len(data):
        data.append(v)
    else:
        data[key] = v


def trim(data: Any, value: Any) -> None:
    """Drop fdata of elements that a container no longer has."""
    if type(data) is list:
        del data[len(value):]
    elif type(data) is dict:
        for key in [key for key in data if key not in value]:
            del data[key]


def fdata_or_tangent(value: Any) -> Any:
    """Return the zero tangent of a value that a container holds."""
    return zero_tangent(value)


def restore_data(data: Any, entry: Any, mirror: Any) -> None:
    """Bring fdata of a container back to their structure at entry, and add the cotangents."""
    if type(data) is list:
        data[:] = entry
    elif type(data) is dict:
        data.clear()
        data.update(entry)
    for key, node in parts_of(mirror):
        if type(node) is Active:
            data[key] = type(data[key])(data[key] + scalar_gradient(node)) if entry is None else (
                entry[key] * 0 + scalar_gradient(node)
            )
