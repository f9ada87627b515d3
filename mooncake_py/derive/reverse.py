"""Reverse mode: what each operation of rewritten code means when cotangents are wanted.

Operators and indexing are here; the application of rules is in `apply`, the language (calls,
attributes, iteration) in `context`.  An operation on constants runs as it is.  One on active
data also records a tape entry; a view records nothing, for its shadow is a view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.derive import pulls
from mooncake_py.derive.active import REAL_SCALARS, Active, primal_of
from mooncake_py.derive.context import Context
from mooncake_py.derive.fused_code import specialise
from mooncake_py.derive.memory import IndexView, Memory, Registry, View, undo_assign
from mooncake_py.derive.operators import BINARY, UNARY, BinaryOperator
from mooncake_py.errors import DerivativeDropError
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import AtOnce

__all__ = ["ReverseContext", "evaluated_at_once"]

Node = Memory | View | Active

NUMBERS = frozenset({
    int, float, complex, bool, np.bool_, np.float16, np.float32, np.float64, np.longdouble,
    np.complex64, np.complex128, np.clongdouble, np.int8, np.int16, np.int32, np.int64, np.uint8,
    np.uint16, np.uint32, np.uint64, np.longlong, np.ulonglong,
})
INEXACT_SCALARS = frozenset({
    float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64,
    np.complex128, np.clongdouble,
})

_ADD, _SUB, _MUL, _DIV = BINARY["add"], BINARY["sub"], BINARY["mul"], BINARY["truediv"]
_MATMUL = BINARY["matmul"]
FLOAT64 = np.dtype(np.float64)
_scalar_one, _scalar_two = pulls.pull_scalar_one, pulls.pull_scalar_two
_quotient = pulls.pull_quotient
pull_element = pulls.pull_element


class ReverseContext(Context):
    """One reverse-mode call: its tape, and the memory it knows.

    Attributes
    ----------
    tape : list of tuple
        Entries ``(pull, ...)`` in the order of execution.
    record : callable
        ``tape.append``.
    registry : Registry
        Blocks of memory and their shadows.
    fuses : bool
        Whether expressions may be recorded as one entry; tests compare with the general way.
    """

    fuses = True
    specialise = staticmethod(specialise)
    numbers = NUMBERS | {Active}

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[tuple[Any, ...]] = []
        self.record = self.tape.append
        self.registry = Registry()
        self.known = self.registry.known
        self.find = self.registry.find

    # The reverse pass.

    def run_backwards(self) -> None:
        """Reverse the tape: undo every change to primal state and apply every adjoint."""
        tape = self.tape
        with np.errstate(all="ignore"):
            while tape:
                entry = tape.pop()
                entry[0](entry)

    def roll_back(self) -> None:
        """Undo every change to primal state, without derivatives."""
        tape = self.tape
        while tape:
            entry = tape.pop()
            if entry[0] in pulls.UNDOES:
                entry[0](entry)

    # The four operators of arithmetic, quick for floats.

    def add(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                y = a.primal + b.primal
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_two, y, a, 1.0, b, 1.0))
                    return y
            elif tb in REAL_SCALARS or tb is int:
                y = a.primal + b
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_one, y, a, 1.0))
                    return y
        elif tb is Active and (ta in REAL_SCALARS or ta is int):
            y = a + b.primal
            if type(y) in REAL_SCALARS:
                y = Active(y, self)
                self.record((_scalar_one, y, b, 1.0))
                return y
        if (ta is ndarray and (tb is ndarray or tb is float)) or (tb is ndarray and ta is float):
            return self.array_operator(_ADD, a, b)
        return self.binary(_ADD, a, b)

    def sub(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                y = a.primal - b.primal
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_two, y, a, 1.0, b, -1.0))
                    return y
            elif tb in REAL_SCALARS or tb is int:
                y = a.primal - b
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_one, y, a, 1.0))
                    return y
        elif tb is Active and (ta in REAL_SCALARS or ta is int):
            y = a - b.primal
            if type(y) in REAL_SCALARS:
                y = Active(y, self)
                self.record((_scalar_one, y, b, -1.0))
                return y
        if (ta is ndarray and (tb is ndarray or tb is float)) or (tb is ndarray and ta is float):
            return self.array_operator(_SUB, a, b)
        return self.binary(_SUB, a, b)

    def mul(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                p, q = a.primal, b.primal
                y = p * q
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_two, y, a, q, b, p))
                    return y
            elif tb in REAL_SCALARS or tb is int:
                y = a.primal * b
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_scalar_one, y, a, b))
                    return y
        elif tb is Active and (ta in REAL_SCALARS or ta is int):
            y = a * b.primal
            if type(y) in REAL_SCALARS:
                y = Active(y, self)
                self.record((_scalar_one, y, b, a))
                return y
        if (ta is ndarray and (tb is ndarray or tb is float)) or (tb is ndarray and ta is float):
            return self.array_operator(_MUL, a, b)
        return self.binary(_MUL, a, b)

    def truediv(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                y = a.primal / b.primal
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_quotient, y, a, b, b.primal))
                    return y
            elif tb in REAL_SCALARS or tb is int:
                y = a.primal / b
                if type(y) in REAL_SCALARS:
                    y = Active(y, self)
                    self.record((_quotient, y, a, None, b))
                    return y
        elif tb is Active and (ta in REAL_SCALARS or ta is int):
            y = a / b.primal
            if type(y) in REAL_SCALARS:
                y = Active(y, self)
                self.record((_quotient, y, None, b, b.primal))
                return y
        if (ta is ndarray and (tb is ndarray or tb is float)) or (tb is ndarray and ta is float):
            return self.array_operator(_DIV, a, b)
        return self.binary(_DIV, a, b)

    # Operators in general.

    def binary(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run a binary operator on values of any type."""
        ta, tb = type(a), type(b)
        if ta is ndarray or tb is ndarray:
            if (ta is ndarray or ta is Active or ta in NUMBERS) and (
                tb is ndarray or tb is Active or tb in NUMBERS
            ):
                return self.array_operator(op, a, b)
            if ta is list or ta is tuple or tb is list or tb is tuple:
                return self.array_operator(op, self.as_operand(a), self.as_operand(b))
        elif (ta is Active or tb is Active) and (
            (ta is Active or ta in NUMBERS) and (tb is Active or tb in NUMBERS)
        ):
            return self.scalar_operation(op.scalar_rule, op.function, (a, b))
        return self.operator_of_objects(op, a, b)

    def array_operator(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run an operator of which an operand is an array, the other one or a number."""
        na = nb = None
        if type(a) is ndarray:
            na = self.known.get(id(a))
            if na is None or na.ref() is not a:
                na = None if a.base is None else self.find(a)
        elif type(a) is Active:
            na, a = a, a.primal
        if type(b) is ndarray:
            nb = self.known.get(id(b))
            if nb is None or nb.ref() is not b:
                nb = None if b.base is None else self.find(b)
        elif type(b) is Active:
            nb, b = b, b.primal
        if na is None and nb is None:
            return op.function(a, b)
        if op is _MATMUL:
            return self.call(
                np.matmul,
                na if type(na) is Active else a,
                nb if type(nb) is Active else b,
            )
        return self.record_two(op.array_rule, op.function(a, b), a, b, na, nb)

    def unary(self, name: str, a: Any) -> Any:
        """Run a unary operator."""
        function, ufunc, method = UNARY[name]
        t = type(a)
        if t is ndarray:
            node = self.find(a)
            if node is None:
                return function(a)
            return self.call(ufunc, a)
        if t is Active:
            return self.scalar_operation(registry.find(function), function, (a,))
        return self.unary_of_objects(function, method, a)

    def scalar_operation(
        self, rule: Any, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        """Run a function of numbers of which at least one is active."""
        y = function(*map(primal_of, args))
        if rule is None:
            return y
        nodes = tuple(a if type(a) is Active else None for a in args)
        return self.record_elementwise(rule, y, tuple(map(primal_of, args)), nodes)

    def record_elementwise(
        self, rule: Any, y: Any, args: tuple[Any, ...], nodes: tuple[Node | None, ...]
    ) -> Any:
        """Record ``y = f(*args)`` for an elementwise rule; return `y`, active.

        Parameters
        ----------
        rule : ElementwiseRule
            With the partial derivatives.
        y : array or number
            The output.
        args : tuple of arrays and numbers
            The primal inputs.
        nodes : tuple of node or None
            One for each input; None where it is constant.
        """
        if not is_inexact(y):
            return y
        plan = self.plan(rule, nodes)
        if plan is None:
            return y
        positions, partials, keep = plan
        saved = self.saved_operands(args, nodes, keep)
        if type(y) is ndarray:
            node = self.registry.fresh(y)
            if keep[-1]:
                node.protect()
                saved.append(y)
            else:
                saved.append(None)
            result = y
        else:
            saved.append(y if keep[-1] else None)
            result = node = Active(y, self)
        partials = evaluated_at_once(partials, args, y)
        fits = [fit_to(args[i], y) for i in positions]
        targets = [nodes[i] for i in positions]
        self.record((pulls.pull_elementwise, node, partials, targets, fits, saved))
        return result

    def record_one(self, rule: Any, y: Any, x: Any, node: Any) -> Any:
        """Record ``y = f(x)``; the same as `record_elementwise`, at half the cost."""
        plan = rule.plan_for_one
        if plan is False:
            plan = rule.plan_one()
        if plan is None or not is_inexact(y):
            return y
        partial, keep_x, keep_y = plan
        spec = None
        if type(y) is ndarray:
            out = self.known[id(y)] = Memory(ref(y))  # a ufunc's output owns its memory
            result = y
            if keep_y:
                out.protected = True
            if type(x) is not ndarray or x.dtype is not y.dtype or x.shape != y.shape:
                spec = fit_to(x, y)
        else:
            out = result = Active(y, self)
            spec = fit_to(x, y)
        if keep_x:
            x = node.keep(x)
        if type(partial) is AtOnce:
            partial = partial.partial(x, y)
        self.record((
            pulls.pull_one, out, node, partial, spec,
            x if keep_x else None, y if keep_y else None,
        ))
        return result

    def record_two(self, rule: Any, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any:
        """Record ``y = f(a, b)``; the same as `record_elementwise`, at half the cost."""
        if (type(y) is not ndarray or y.dtype is not FLOAT64) and not is_inexact(y):
            return y
        plan = rule.plans_for_two[(na is not None) + 2 * (nb is not None)]
        if plan is False:
            plan = rule.plan_two(na is not None, nb is not None)
        if plan is None:
            return y
        pa, pb, keep_a, keep_b, keep_y = plan
        if type(y) is ndarray:
            out = self.known[id(y)] = Memory(ref(y))
            result = y
            if keep_y:
                out.protected = True
        else:
            out = result = Active(y, self)
        if keep_a:
            if na is not None:
                a = na.keep(a)
            elif type(a) is ndarray:
                self.registry.protect(a)
        if keep_b:
            if nb is not None:
                b = nb.keep(b)
            elif type(b) is ndarray:
                self.registry.protect(b)
        spec_a = spec_b = None
        if pa is None:
            na = None
        else:
            if type(a) is not ndarray or a.dtype is not y.dtype or a.shape != y.shape:
                spec_a = fit_to(a, y)
            if type(pa) is AtOnce:
                pa = pa.partial(a, b, y)
        if pb is None:
            nb = None
        else:
            if type(b) is not ndarray or b.dtype is not y.dtype or b.shape != y.shape:
                spec_b = fit_to(b, y)
            if type(pb) is AtOnce:
                pb = pb.partial(a, b, y)
        saved = (a if keep_a else None, b if keep_b else None, y if keep_y else None)
        self.record((pulls.pull_two, out, na, pa, spec_a, nb, pb, spec_b, saved))
        return result

    def plan(self, rule: Any, nodes: tuple[Node | None, ...]) -> Any:
        """Return which partials are wanted and which operands they read, for this activity."""
        activity = tuple([node is not None for node in nodes])
        try:
            return rule.plans[activity]
        except KeyError:
            plan = rule.make_plan(activity)
            return plan

    def saved_operands(self, args: Any, nodes: Any, keep: Any) -> list[Any]:
        """Return the operands that the adjoint reads, protected against being overwritten."""
        saved: list[Any] = []
        for arg, node, kept in zip(args, nodes, keep, strict=False):
            if not kept:
                saved.append(None)
                continue
            if node is not None:
                arg = node.keep(arg)
            elif type(arg) is ndarray:
                self.registry.protect(arg)
            saved.append(arg)
        return saved

    # Reading and writing elements.

    def getitem(self, o: Any, i: Any) -> Any:
        if type(o) is not ndarray:
            return self.item_of_object(o, i)
        y = o[i]
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
            if y is not o:
                self.known[id(y)] = IndexView(ref(y), node.memory, node, i)
        elif t in INEXACT_SCALARS:
            y = Active(y, self)
            self.record((pull_element, y, node, i if type(i) is int else self.frozen_index(i)))
        return y

    def gather(self, o: ndarray, node: Node, index: Any, y: ndarray) -> ndarray:
        """Record a read by index arrays or masks, which copies."""
        index = self.frozen_index(index)
        boolean = type(index) is ndarray and index.dtype.kind == "b"
        y_node = self.registry.fresh(y)
        self.record((pulls.pull_gather, y_node, node, index, boolean))
        return y

    def frozen_index(self, index: Any) -> Any:
        """Return an index that later writes do not change: lists copied, arrays protected."""
        if type(index) is tuple:
            for i in index:
                if type(i) is list or type(i) is ndarray:
                    return tuple(self.frozen_index(i) for i in index)
            return index
        if type(index) is list:
            return np.array(index) if index else np.array(index, dtype=np.intp)
        if type(index) is ndarray:
            self.registry.protect(index)
        return index

    def setitem(self, o: Any, i: Any, v: Any) -> None:
        if type(o) is ndarray:
            self.assign(o, i, v)
        else:
            self.set_item_of_object(o, i, v)

    def assign(self, o: ndarray, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for an array."""
        tv = type(v)
        if tv is ndarray:
            value = self.find(v)
        elif tv is Active:
            value, v = v, v.primal
        elif tv is list or tv is tuple:
            v = self.as_operand(v)
            value = self.find(v) if type(v) is ndarray else None
        else:
            value = None
        node = self.find(o)
        if node is None:
            memory = self.registry.memory_of(o)
            if value is not None:
                if self.can_be_active(o):
                    node = self.registry.activate(o)
                else:
                    value = None  # a write into integers rounds: the derivative is zero
        else:
            memory = node.memory
        if memory.protected:
            if type(i) is int and o.ndim == 1:
                self.log_element(memory, o, i, o[i])
            else:
                self.log_write(memory, o, i)
        o[i] = v
        if node is not None:
            if memory.shape is None:
                self.registry.activate(o)
            if type(i) is not int:
                i = self.frozen_index(i)
            if type(v) is ndarray:
                self.record((pulls.pull_assign, node, i, value, (v.shape, v.dtype)))
            else:
                self.record((pulls.pull_assign, node, i, value, None))

    def log_write(self, memory: Memory, o: ndarray, i: Any) -> None:
        """Record what a write to ``o[i]`` is about to overwrite."""
        self.record(self.overwritten(memory, o, i))

    def overwritten(self, memory: Memory, o: ndarray, i: Any) -> tuple[Any, ...]:
        """Save what a write to ``o[i]`` will overwrite, or once the whole block if that is less.

        When as many bytes were logged as the block has, a full copy serves as a restore point:
        from there on nothing needs to be logged until the tape refers to the block again.
        """
        old = o[i]
        size = old.nbytes
        owner = memory.ref()
        memory.logged = logged = getattr(memory, "logged", 0) + size
        if type(owner) is ndarray and logged >= owner.nbytes > 0:
            memory.protected = False
            memory.rewritten = True
            memory.logged = 0
            return undo_assign, owner, Ellipsis, owner.copy()
        if type(old) is ndarray and old.base is not None:
            old = old.copy()
        return undo_assign, o, self.frozen_index(i), old

    def convert_scalar(self, y: Active, x: Active) -> None:
        """Record that `y` is `x` in another type."""
        self.record((_scalar_one, y, x, 1.0))

    def can_be_active(self, o: ndarray) -> bool:
        """Tell whether an array may hold a derivative; objects cannot be decided and raise."""
        kind = o.dtype.kind
        if kind in "OV":
            raise self.failed(
                DerivativeDropError(
                    f"an active value was written into an array of dtype {o.dtype}",
                    where=self.user_location(),
                    why="only float and complex arrays hold derivatives",
                    mend="use an array of dtype float, or a list",
                )
            )
        return kind in "fc"

    # In-place operators.

    def inplace(self, op: BinaryOperator, x: Any, v: Any) -> Any:
        """Run ``x op= v`` and return what the name is bound to afterwards."""
        if type(x) is ndarray:
            self.inplace_array(op, x, v)
            return x
        return self.inplace_of_objects(op, x, v)

    def inplace_array(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run an in-place operator on an array."""
        tv = type(v)
        if tv is list or tv is tuple:
            v = self.as_operand(v)
            tv = type(v)
        value: Node | None = self.find(v) if tv is ndarray else v if tv is Active else None
        node = self.find(x)
        if node is None and value is None:
            memory = self.registry.memory_of(x)
            if memory.protected:
                self.log_write(memory, x, Ellipsis)
            op.inplace(x, v)
        elif op is _ADD or op is _SUB:
            self.inplace_linear(op, x, v, node, value)
        elif value is None and (op is _MUL or op is _DIV) and (tv in NUMBERS or tv is ndarray):
            self.inplace_scale(op, x, v, node)
        elif tv is Active and node is not None and (op is _MUL or op is _DIV) and (
            x.dtype is FLOAT64 and type(v.primal) in REAL_SCALARS
        ):
            self.inplace_scale_active(op, x, v, node)
        else:
            self.call(op.ufunc, x, v, out=x)

    def inplace_linear(
        self, op: BinaryOperator, x: ndarray, v: Any, node: Any, value: Node | None
    ) -> None:
        """Run ``x += v`` or ``x -= v`` with active `x` or `v`."""
        memory = self.registry.memory_of(x) if node is None else node.memory
        if memory.protected:
            self.log_write(memory, x, Ellipsis)
        op.inplace(x, primal_of(v))
        if value is not None:
            if node is None and not self.can_be_active(x):
                return
            if node is None or memory.shape is None:
                node = self.registry.activate(x)
            spec = 0 if type(value) is Active else fit_to(v, x)
            sign = 1 if op is _ADD else -1
            self.record((pulls.pull_inplace_linear, node, value, sign, spec))

    def inplace_scale(self, op: BinaryOperator, x: ndarray, v: Any, node: Any) -> None:
        """Run ``x *= c`` or ``x /= c`` with active `x` and a constant."""
        memory = node.memory
        if memory.protected:
            self.log_write(memory, x, Ellipsis)
        op.inplace(x, v)
        if memory.shape is None:
            memory.describe(x)
        if type(v) is ndarray:
            self.registry.protect(v)
        if op is _MUL:
            self.record((pulls.pull_inplace_scale, node, v))
        else:
            self.record((pulls.pull_inplace_scale, node, lambda one: one / v))

    def inplace_scale_active(self, op: BinaryOperator, x: ndarray, v: Active, node: Any) -> None:
        """Run ``x *= s`` or ``x /= s`` with active `x` and an active number."""
        memory = node.memory
        if memory.shape is None:
            self.registry.activate(x)
        # The adjoint reads the old x for a product, the new x for a quotient.
        kept = x.copy() if op is _MUL else None
        if memory.protected:
            self.log_write(memory, x, Ellipsis)
        op.inplace(x, v.primal)
        if kept is None:
            kept = x.copy()
        self.record((pulls.pull_inplace_scale_active, node, kept, v, v.primal, op is _MUL))

    def augitem(self, name: str, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] op= v``, where `v` has no side effects."""
        op = BINARY_INPLACE[name]
        if type(o) is ndarray:
            slot = o[i]
            if type(slot) is ndarray:
                base = slot.base
                if base is not None and (base is o or base is o.base):
                    node = self.find(o)
                    if node is not None:
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

    def add_to_element(
        self, op: BinaryOperator, o: ndarray, i: Any, slot: Any, v: Active
    ) -> None:
        """Run ``o[i] += v`` for one element and an active number."""
        node = self.find(o)
        if node is None:
            node = self.registry.activate(o)
        memory = node.memory
        if memory.shape is None:
            self.registry.activate(o)
        if memory.protected:
            self.log_element(memory, o, i, slot)
        o[i] = op.function(slot, v.primal)
        sign = 1 if op is _ADD else -1
        if type(i) is not int:
            i = self.frozen_index(i)
        self.record((pulls.pull_inplace_element, node, i, v, sign))

    def log_element(self, memory: Memory, o: ndarray, i: Any, old: Any) -> None:
        """Record one element that is about to be overwritten."""
        memory.logged = logged = getattr(memory, "logged", 0) + 8
        owner = memory.ref()
        if type(owner) is ndarray and logged >= owner.nbytes:
            self.log_write(memory, o, i)
        else:
            self.record((undo_assign, o, i if type(i) is int else self.frozen_index(i), old))

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        """Finish ``o[i] op= v``: a view was changed in place and need not be stored."""
        if type(o) is ndarray and type(v) is ndarray and v.base is not None:
            node = self.known.get(id(v))
            if type(node) is IndexView and node.ref() is v and node.index is i:
                return
            slot = o[i]
            if same_view(slot, v):
                return
        self.setitem(o, i, v)

    def as_operand(self, value: Any) -> Any:
        """Return a list or tuple with active parts as an array; anything else unchanged."""
        if (type(value) is list or type(value) is tuple) and self.contains_active(value):
            return self.call(np.array, value)
        return value

    def node_of(self, value: Any) -> Any:
        """Return the node of an array or scalar, a list of nodes for a sequence, or None."""
        t = type(value)
        if t is ndarray:
            return self.find(value)
        if t is Active:
            return value
        if t is list or t is tuple:
            nodes = [self.node_of(v) for v in value]
            return nodes if any(node is not None for node in nodes) else None
        return None

    def fresh_output(self, y: Any) -> tuple[Any, Any]:
        """Register a new output; return it as the user sees it, and its node."""
        if type(y) is ndarray:
            y = self.registry.independent(y)
            return y, self.registry.fresh(y)
        node = Active(y, self)
        return node, node


def evaluated_at_once(partials: Any, args: Any, y: Any) -> Any:
    """Return the partials, with the values of those that are to be kept instead of operands."""
    if any(type(p) is AtOnce for p in partials):
        return [p.partial(*args, y) if type(p) is AtOnce else p for p in partials]
    return partials


def is_inexact(y: Any) -> bool:
    """Tell whether a value can carry a derivative: a float or complex array or scalar."""
    if type(y) is ndarray:
        return y.dtype.kind in "fc"
    return type(y) in INEXACT_SCALARS


def fit_to(arg: Any, y: Any) -> Any:
    """Return how a cotangent like `y` must be fitted to `arg`: None if it is like it already."""
    if type(arg) is not ndarray:
        return 0
    shape, dtype = arg.shape, arg.dtype
    if type(y) is ndarray and y.shape == shape and y.dtype is dtype:
        return None
    return shape, dtype


def same_view(a: Any, b: ndarray) -> bool:
    """Tell whether two arrays are the same view of the same memory."""
    return (
        type(a) is ndarray
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
        and a.__array_interface__["data"] == b.__array_interface__["data"]
    )


BINARY_INPLACE = {f"i{name.rstrip('_')}": op for name, op in BINARY.items()}


def _define_operators() -> None:
    """Define the operators that have no quick path of their own, and the in-place ones."""

    def make_binary(op: BinaryOperator) -> Callable[..., Any]:
        return lambda self, a, b: self.binary(op, a, b)

    def make_inplace(op: BinaryOperator, binary: Callable[..., Any]) -> Callable[..., Any]:
        def inplace(self: ReverseContext, x: Any, v: Any) -> Any:
            t = type(x)
            if t is Active or t in NUMBERS:
                return binary(self, x, v)
            return self.inplace(op, x, v)

        return inplace

    def make_unary(name: str) -> Callable[..., Any]:
        return lambda self, a: self.unary(name, a)

    for name, op in BINARY.items():
        if name not in ReverseContext.__dict__:
            setattr(ReverseContext, name, make_binary(op))
        binary = getattr(ReverseContext, name)
        setattr(ReverseContext, f"i{name.rstrip('_')}", make_inplace(op, binary))
    for name in UNARY:
        setattr(ReverseContext, name, make_unary(name))


_define_operators()
