"""Reverse mode: operators that change an array in place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.language.array_language import PLAIN
from mooncake_py.modes.reverse.arithmetic import Arithmetic
from mooncake_py.modes.reverse.indexing import Indexing
from mooncake_py.modes.reverse.tape import Node
from mooncake_py.runtime import drops, overlapping, pulls
from mooncake_py.runtime.active import REAL_SCALARS, Active, primal_of
from mooncake_py.runtime.late_errors import has_assigned, has_written
from mooncake_py.runtime.memory import Memory, undo_assign
from mooncake_py.runtime.operators import BINARY, BinaryOperator
from mooncake_py.runtime.values import FLOAT64, NUMBERS, fit_to
from mooncake_py.runtime.views import IndexView
from mooncake_py.tangents.memory import has_overlaps, is_writeable

__all__ = ["InPlace"]

_ADD, _SUB, _MUL, _DIV = BINARY["add"], BINARY["sub"], BINARY["mul"], BINARY["truediv"]
_POW, _MATMUL = BINARY["pow"], BINARY["matmul"]
# NumPy's replacements of powers: the last bit may differ.
POWERS: dict[float, np.ufunc] = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal, 1: np.positive}


@lru_cache(maxsize=256)
def is_run_by(function: np.ufunc, kind: type, exponent: float, dtype: np.dtype[Any]) -> bool:
    """Return whether NumPy runs a function for ``x **= exponent``: its versions choose otherwise.

    `kind` is the type of the exponent: 2 and 2.0 are one key of a cache, and two to NumPy.
    """
    x = (np.linspace(0.1, 7.3, 16) * (1.0 + 0.3j if dtype.kind == "c" else 1.0)).astype(dtype)
    y = x.copy()
    y **= kind(exponent)
    return bool(np.array_equal(y, function(x)))


BINARY_INPLACE = {f"i{name.rstrip('_')}": op for name, op in BINARY.items()}


class InPlace(Arithmetic, Indexing):
    """Record ``x op= v`` for names and for elements."""

    def inplace_array(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run an in-place operator on an array."""
        tv = type(v)
        if tv is list or tv is tuple:
            v = self.as_operand(v)
            tv = type(v)
        elif tv is not ndarray and tv is not Active and tv not in NUMBERS:
            v = self.as_value(x, ..., v)
            tv = type(v)
        value: Node | None = self.find(v) if tv is ndarray else v if tv is Active else None
        node = self.find(x)
        if node is None and value is not None and has_overlaps(x) and drops.holds(self, x):
            node = self.registry.activate(x)
        if node is not None and node.overlaps:
            self.inplace_overlapping(op, x, v, node)
        elif node is None and value is None:
            if x.dtype.kind == "O":  # methods of its objects run unseen
                self.refuse_if_active(op.inplace, (x, v))
            memory = self.registry.memory_of(x)
            if memory.protected:
                self.log_in_place(op, memory, x, v)
            op.inplace(x, v)
        elif op is _ADD or op is _SUB:
            self.inplace_linear(op, x, v, node, value)
        elif value is None and (op is _MUL or op is _DIV) and (tv in NUMBERS or tv is ndarray):
            self.inplace_scale(op, x, v, node)
        elif (
            tv is Active
            and node is not None
            and (op is _MUL or op is _DIV)
            and (x.dtype is FLOAT64 and type(v.primal) in REAL_SCALARS)
        ):
            self.inplace_scale_active(op, x, v, node)
        elif (
            op is _POW
            and (tv is int or tv is float)
            and x.dtype.kind in "fc"
            and (v in POWERS and is_run_by(POWERS[v], tv, v, x.dtype))
        ):
            self.call(POWERS[v], x, out=x)
        elif op is _MATMUL and np.ndim(primal_of(v)) < 2:
            op.inplace(x, primal_of(v))  # raises; the ufunc would write a product with a vector
        else:
            self.call(op.ufunc, x, v, out=x)

    def log_in_place(self, op: BinaryOperator, memory: Memory, x: ndarray, v: Any) -> None:
        """Record the elements that ``x op= v`` overwrites."""
        if not is_writeable(x):
            op.inplace(x, primal_of(v))  # raises, in words for operators
        self.log_write(memory, x, Ellipsis)

    def inplace_overlapping(self, op: BinaryOperator, x: ndarray, v: Any, node: Any) -> None:
        """Run ``x op= v`` for active `x` with several elements in the same memory."""

        def native(w: ndarray) -> None:
            op.inplace(w, w if v is x else primal_of(v))

        with overlapping.watched(self, x, native):
            y = getattr(self, op.name)(x, v)
            overlapping.write(self, x, node, Ellipsis, y, native)

    def inplace_linear(
        self, op: BinaryOperator, x: ndarray, v: Any, node: Any, value: Node | None
    ) -> None:
        """Run ``x += v`` or ``x -= v`` with active `x` or `v`."""
        memory = self.registry.memory_of(x) if node is None else node.memory
        if memory.protected:
            self.log_in_place(op, memory, x, v)
        written = True
        try:
            op.inplace(x, primal_of(v))
        except BaseException as error:
            written = has_written(self, error, x, v)
            raise
        finally:
            if written and value is not None and (node is not None or drops.holds(self, x)):
                if node is None or memory.shape is None:
                    node = self.registry.activate(x)
                spec = 0 if type(value) is Active else fit_to(v, x)
                sign = 1 if op is _ADD else -1
                self.record((pulls.pull_inplace_linear, node, value, sign, spec))

    def inplace_scale(self, op: BinaryOperator, x: ndarray, v: Any, node: Any) -> None:
        """Run ``x *= c`` or ``x /= c`` with active `x` and a constant."""
        memory = node.memory
        if memory.protected:
            self.log_in_place(op, memory, x, v)
        written = True
        try:
            op.inplace(x, v)
        except BaseException as error:
            written = has_written(self, error, x, v)
            raise
        finally:
            if written:
                if memory.shape is None:
                    memory.describe(x)
                if type(v) is ndarray:
                    self.registry.protect(v)
                scale = v if op is _MUL else lambda one: one / v
                self.record((pulls.pull_inplace_scale, node, scale))

    def inplace_scale_active(self, op: BinaryOperator, x: ndarray, v: Active, node: Any) -> None:
        """Run ``x *= s`` or ``x /= s`` with active `x` and an active number."""
        memory = node.memory
        if memory.shape is None:
            self.registry.activate(x)
        # The adjoint reads the old x for a product, the new x for a quotient.
        kept = x.copy() if op is _MUL else None
        if memory.protected:
            self.log_in_place(op, memory, x, v)
        written = True
        try:
            op.inplace(x, v.primal)
        except BaseException as error:
            written = has_written(self, error, x, v)
            raise
        finally:
            if written:
                kept = x.copy() if kept is None else kept
                self.record((pulls.pull_inplace_scale_active, node, kept, v, v.primal, op is _MUL))

    def augitem(self, name: str, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] op= v``, where `v` has no side effects."""
        op = BINARY_INPLACE[name]
        if type(o) is ndarray and type(v) in PLAIN:
            slot = o[i]
            if type(slot) is ndarray:
                base = slot.base
                if base is not None and (base is o or base is o.base):
                    node = self.find(o)
                    if node is not None and not node.overlaps:
                        memory = node.memory
                        if memory.shape is None:
                            self.registry.activate(o)
                        self.known[id(slot)] = IndexView(ref(slot), memory, node, i)
                    self.inplace_array(op, slot, v)
                    return
            elif type(v) is Active and (op is _ADD or op is _SUB) and o.dtype.kind in "fc":
                self.add_to_element(op, o, i, slot, v)
                return
        self.setitem(o, i, self.inplace(op, self.getitem(o, i), v))

    def add_to_element(self, op: BinaryOperator, o: ndarray, i: Any, slot: Any, v: Active) -> None:
        """Run ``o[i] += v`` for one element and an active number."""
        node = self.find(o)
        if node is None:
            node = self.registry.activate(o)
        memory = node.memory
        if memory.shape is None:
            self.registry.activate(o)
        if memory.protected:
            self.log_element(memory, o, i, slot)
        y = op.function(slot, v.primal)
        written = True
        try:
            o[i] = y
        except BaseException as error:
            written = has_assigned(self, error, o, i, y)
            raise
        finally:
            if written:
                sign = 1 if op is _ADD else -1
                if type(i) is not int:
                    i = self.frozen_index(i)
                self.record((pulls.pull_inplace_element, node, i, v, sign))

    # Regions, which write unseen.

    def before_whole(self, o: ndarray) -> ndarray:
        """Return a copy of an array all of which is about to be overwritten, in a trial perhaps.

        A rehearsal keeps each place once, as it was at first: it has to look before.
        """
        if self.rehearsal is not None:
            memory = self.registry.memory_of(o)
            if memory.protected:
                self.log_write(memory, o, Ellipsis)
        return o.copy("K")

    def log_whole(self, o: ndarray, old: ndarray) -> None:
        """Record that all of `o` was overwritten, of which `old` is what `before_whole` gave."""
        memory = self.registry.memory_of(o)
        if not memory.protected or memory.was_logged(o) or self.rehearsal is not None:
            return
        if memory.ref() is o:
            memory.note_all_logged()
        else:
            memory.note_logged(o)
        self.record((undo_assign, o, Ellipsis, old, memory))
