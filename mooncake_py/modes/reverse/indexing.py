"""Reverse mode: reads and writes of elements of arrays.

A view records nothing, because its shadow is a view.  A write saves the overwritten elements, if
they may be needed again; its adjoint moves the cotangent of the slot to the value.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

from numpy import ndarray

from mooncake_py.containers.sequences import SUBSCRIPTS, plain_subscript
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language import records
from mooncake_py.modes.reverse.tape import Node, Tape
from mooncake_py.runtime import drops, numerals, overlapping, pulls
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.index_errors import index_error
from mooncake_py.runtime.late_errors import has_assigned
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.values import INEXACT_SCALARS, NUMBERS
from mooncake_py.runtime.views import IndexView, View
from mooncake_py.tangents.memory import is_same_view

__all__ = ["Indexing"]

pull_element = pulls.pull_element


class Indexing(Tape):
    """Elements, slices, index arrays and masks."""

    def getitem(self, o: Any, i: Any) -> Any:
        """Run ``o[i]``."""
        t = type(o)
        if t is not ndarray:
            if type(i) is int and (t is list or t is tuple or t is dict):
                return o[i]
            if type(i) is str and t is dict:
                return o[i]
            return self.item_of_other(o, i)
        if type(i) not in SUBSCRIPTS:
            i = plain_subscript(self, i)
        try:
            y = o[i]
        except DerivativeDropError as error:
            raise index_error(error, o, i) from None
        node = self.known.get(id(o))
        if node is None or node.ref() is not o:
            node = None if o.base is None else self.find(o)
            if node is None:
                return y
        if type(node) is Memory and node.shape is None:
            self.registry.activate(o)
        t = type(y)
        if t is ndarray:
            base = y.base
            if base is None or (base is not o and base is not o.base):
                return self.gather(o, node, i, y)
            if type(node) is View and node.overlaps:
                self.find(y)  # knows it by its own geometry
            elif y is not o and not (type(i) is str and y.dtype.kind not in "fcV"):
                self.known[id(y)] = IndexView(ref(y), node.memory, node, i)
        elif t in INEXACT_SCALARS:
            y = active_number(y, self)
            self.record((pull_element, y, node, i if type(i) is int else self.frozen_index(i)))
        else:
            return records.found(self, o, i, y)
        return y

    def gather(self, o: ndarray, node: Node, index: Any, y: ndarray) -> ndarray:
        """Record a read by index arrays or masks, which copies."""
        if y.dtype.kind not in "fc":
            return records.found(self, o, index, y)
        index = self.frozen_index(index)
        boolean = type(index) is ndarray and index.dtype.kind == "b"
        y_node = self.registry.fresh(y)
        self.record((pulls.pull_gather, y_node, node, index, boolean))
        return y

    def assign(self, o: ndarray, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for an array."""
        tv = type(v)
        given = v
        if tv is ndarray:
            value = self.find(v)
            if self.numerals is not None:
                numerals.refuse_assigned(self, o, v)
        elif tv is Active:
            value, v = v, v.primal
        elif tv is list or tv is tuple:
            if self.numerals is not None:
                numerals.refuse_assigned(self, o, v)
            if overlapping.holds_part_of(o, v) and overlapping.assign_parts(self, o, i, v):
                return
            v = self.sequence_for(o, i, v)
            value = self.find(v) if type(v) is ndarray else None
        elif tv in NUMBERS:
            value = None
        else:
            if self.numerals is not None:
                numerals.refuse_assigned(self, o, v)
            v = self.as_value(o, i, v)
            value = self.find(v) if type(v) is ndarray else None
        node = self.find(o)
        if node is None:
            memory = self.registry.memory_of(o)
            if value is not None:
                if type(i) is str:  # a field
                    self.assign(o[i], Ellipsis, value if type(value) is Active else v)
                    return
                if drops.holds(self, o, v):
                    node = self.registry.activate(o)
                else:
                    value = None  # a write into integers rounds: the derivative is zero
        else:
            memory = node.memory
        if node is not None and node.overlaps:
            overlapping.assign(self, o, node, i, value if type(value) is Active else v)
            return
        within = value is not None and type(v) is ndarray and value.memory is memory
        if within and overlapping.crosses_at(o, i, v):
            overlapping.copy_in_turn(self, o, v, partial(copy_to, i=i))
            return
        if memory.protected:
            if type(i) is int and o.ndim == 1:
                self.log_element(memory, o, i, o[i])
            else:
                try:
                    self.log_write(memory, o, i)
                except IndexError:  # the values may be what NumPy finds wrong first
                    o.copy()[i] = v
                    raise
        written = node is not None
        try:
            o[i] = v
        except BaseException as error:
            written = written and has_assigned(self, error, o, i, given)
            raise
        finally:
            if written:
                if memory.shape is None:
                    self.registry.activate(o)
                if type(i) is not int:
                    i = self.frozen_index(i)
                spec = (v.shape, v.dtype) if type(v) is ndarray else None
                self.record((pulls.pull_assign, node, i, value, spec))

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        """Finish ``o[i] op= v``: a view was changed in place and need not be stored."""
        if type(o) is ndarray and type(v) is ndarray and v.base is not None:
            node = self.known.get(id(v))
            if type(node) is IndexView and node.ref() is v and node.index is i:
                return
            slot = o[i]
            if type(slot) is ndarray and is_same_view(slot, v):
                return
        self.setitem(o, i, v)


def copy_to(into: ndarray, of: ndarray, i: Any) -> None:
    """Run ``into[i] = of``."""
    into[i] = of
