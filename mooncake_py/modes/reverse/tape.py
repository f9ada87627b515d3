"""The tape of a reverse-mode call, and methods that record operations on it.

An operation on constants is not recorded.  An operation on active data records an entry: the
function that reverses it, the nodes of inputs and output, and the data that its adjoint reads.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import marshalling
from mooncake_py.containers import state
from mooncake_py.containers.undo import note
from mooncake_py.language.array_language import ArrayLanguage
from mooncake_py.modes.reverse.reverse_pass import ReversePass
from mooncake_py.overriding import override
from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.rules.kinds import AtOnce
from mooncake_py.rules.precision import WIDE, at_precision_of
from mooncake_py.runtime import drops, pulls, rule_pulls
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import INERT, are_numbers, parts
from mooncake_py.runtime.compilation import Compile, compiles
from mooncake_py.runtime.memory import Memory, objects_overwritten, undo_assign
from mooncake_py.runtime.quiet import silently
from mooncake_py.runtime.registry import Registry
from mooncake_py.runtime.values import FLOAT64, fit_to, is_inexact, like, spec_of
from mooncake_py.runtime.views import View
from mooncake_py.tangents.memory import WRITEABLE, is_writeable

__all__ = ["Node", "Tape"]

Node = Memory | View | Active

ENTRY_BYTES = 128  # of an entry that undoes one element
LARGE = 1 << 16  # bytes of a part of a block of which it pays to note that it was logged


class Tape(ArrayLanguage, ReversePass):
    """One reverse-mode call: its tape of entries ``(pull, ...)``, and the memory it knows."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = get_ident()
        self.compiles: Compile = compiles()
        self.tape: list[tuple[Any, ...]] = []
        self.record = self.tape.append
        self.registry: Registry = Registry(drops.reporter(self))
        self.known = self.registry.known
        self.find = self.registry.find

    # The call as a whole.

    def forget(self) -> None:
        """Drop the tape of a call that will not be reversed.

        Its numbers refer to the call and the call to them: without this they would stay until the
        cyclic garbage collector comes by.
        """
        self.tape.clear()

    @override
    def repeatable(self, run: Callable[[], Any]) -> Any:
        if self.rehearsal is not None:
            return run()
        # Only programs that save memory need it.
        from mooncake_py.recomputation.replay import run_unrecorded

        return run_unrecorded(self, run)

    @override
    def run_again(self, body: Callable[[Any], Any], names: Any, items: Any, slots: int = 10) -> Any:
        from mooncake_py.recomputation.loop import run_body

        return run_body(self, body, names, items, slots)

    @override
    def run_passes(self, body: Callable[..., Any], names: Any, kind: str, items: Any) -> Any:
        if not self.watches_passes:
            return super().run_passes(body, names, kind, items)
        from mooncake_py.recomputation.passes import run_within_budget

        return run_within_budget(self, body, names, kind, items)

    # Recording.

    def record_elementwise(
        self,
        rule: Any,
        y: Any,
        args: tuple[Any, ...],
        nodes: tuple[Node | None, ...],
        where: Any = None,
    ) -> Any:
        """Record ``y = f(*args)`` for an elementwise rule; return `y`, active.

        There is a node for each input, None where it is constant.  `where` are the elements that
        were computed, all by default.
        """
        if not is_inexact(y):
            return drops.output(self, rule, y, args)
        plan = self.plan(rule, nodes)
        if plan is None:
            return y
        positions, partials, keep = plan
        partials = at_precision_of(y, rule, partials, args)
        saved = self.saved_operands(args, nodes, keep)
        if type(y) is ndarray:
            if y.base is not None or any(y is a for a in args):
                y = laid_out_copy(y)
            node = self.registry.fresh(y)
            if keep[-1]:
                node.protect()
                saved.append(y)
            else:
                saved.append(None)
            result = y
        else:
            saved.append(y if keep[-1] else None)
            result = node = active_number(y, self)
        partials = evaluated_at_once(partials, args, y)
        fits = [fit_to(args[i], y) for i in positions]
        targets = [nodes[i] for i in positions]
        if where is None or type(y) is not ndarray:
            self.record((pulls.pull_elementwise, node, partials, targets, fits, saved))
        else:
            where = np.asarray(where, bool)
            self.registry.protect(where)
            self.record((pulls.pull_elementwise_out, node, where, partials, targets, fits, saved))
        return result

    def record_one(self, rule: Any, y: Any, x: Any, node: Any) -> Any:
        """Record ``y = f(x)``; the same as `record_elementwise`, at half the cost."""
        plan = rule.plan_for_one
        if plan is False:
            plan = rule.plan_one()
        if plan is None or not is_inexact(y):
            return y if plan is None else drops.output(self, rule, y, (x,))
        partial, keep_x, keep_y = plan
        spec = None
        if type(y) is ndarray:
            if y.base is not None or y is x:  # not a ufunc, but a function declared elementwise
                y = laid_out_copy(y)
                out = self.registry.fresh(y)
            else:
                out = self.known[id(y)] = Memory.of(y)
            result = y
            if keep_y:
                out.memory.protected = True
            if type(x) is not ndarray or x.dtype is not y.dtype or x.shape != y.shape:
                spec = fit_to(x, y)
        else:
            out = result = active_number(y, self)
            spec = fit_to(x, y)
        if keep_x:
            x = node.keep(x)
        if type(partial) is AtOnce:
            partial = silently(partial.partial, x, y)
        self.record((
            pulls.pull_one, out, node, partial, spec,
            x if keep_x else None, y if keep_y else None,
        ))  # fmt: skip
        return result

    def record_two(self, rule: Any, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any:
        """Record ``y = f(a, b)``; the same as `record_elementwise`, at half the cost."""
        if (type(y) is not ndarray or y.dtype is not FLOAT64) and not is_inexact(y):
            return drops.output(self, rule, y, (a, b))
        plan = rule.plans_for_two[(na is not None) + 2 * (nb is not None)]
        if plan is False:
            plan = rule.plan_two(na is not None, nb is not None)
        if plan is None:
            return y
        pa, pb, keep_a, keep_b, keep_y = plan
        if type(y) is ndarray:
            out = self.known[id(y)] = Memory.of(y)
            result = y
            if keep_y:
                out.protected = True
        else:
            out = result = active_number(y, self)
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
        if (keep_a and (a.dtype is not y.dtype if type(a) is ndarray else type(a) not in WIDE)) or (
            keep_b and (b.dtype is not y.dtype if type(b) is ndarray else type(b) not in WIDE)
        ):
            pa, pb = at_precision_of(y, rule, (pa, pb), (a, b))
        spec_a = spec_b = None
        shape = y.shape if type(y) is ndarray else None  # numbers get cotangents of other types
        if type(pa) is AtOnce is type(pb) and pa.both is not None:
            pa, pb = silently(pa.both, a, b)
            pb = ~pa if pb is None else pb
        if pa is None:
            na = None
        else:
            if type(a) is not ndarray or a.dtype is not y.dtype or a.shape != shape:
                spec_a = fit_to(a, y)
            if type(pa) is AtOnce:
                pa = silently(pa.partial, a, b, y)
        if pb is None:
            nb = None
        else:
            if type(b) is not ndarray or b.dtype is not y.dtype or b.shape != shape:
                spec_b = fit_to(b, y)
            if type(pb) is AtOnce:
                pb = silently(pb.partial, a, b, y)
        saved = (a if keep_a else None, b if keep_b else None, y if keep_y else None)
        self.record((pulls.pull_two, out, na, pa, spec_a, nb, pb, spec_b, saved))
        return result

    def record_bilinear(
        self, rule: Any, y: Any, a: Any, b: Any, nodes: Any, rest: Any, kwargs: Any
    ) -> Any:
        """Record ``y = f(a, b, *rest)``, linear in a and in b; return `y`, active."""
        if not is_inexact(y):
            return drops.output(self, rule, y, (a, b))
        saved: list[Any] = [None, None]
        if nodes[0] is not None:
            saved[0] = (like(a), *self.saved_operands((b,), (nodes[1],), (True,)), *rest)
        if nodes[1] is not None:
            saved[1] = (*self.saved_operands((a,), (nodes[0],), (True,)), like(b), *rest)
        if rest or kwargs:
            self.protect_all((rest, kwargs))
        result, node = self.fresh_output(y)
        fits = (spec_of(a), spec_of(b))
        pull = rule_pulls.pull_bilinear
        self.record((pull, node, rule, rule.adjoints, nodes, fits, saved, kwargs))
        return result

    def plan(self, rule: Any, nodes: tuple[Node | None, ...]) -> Any:
        """Return which partials are wanted and which operands they read, for this activity."""
        activity = tuple([node is not None for node in nodes])
        try:
            return rule.plans[activity]
        except KeyError:
            pass  # what is raised below has nothing to do with it
        return rule.make_plan(activity)

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

    def protect_all(self, value: Any) -> None:
        """Protect the arrays in arguments, at any depth, that an adjoint may read."""
        t = type(value)
        if t is ndarray:
            self.registry.protect(value)
        elif t is tuple or t is list:
            if not are_numbers(value):
                for part in value:
                    self.protect_all(part)
        elif t not in INERT and t is not Active:
            self.protect_within(value, set())

    def protect_within(self, value: Any, seen: set[int]) -> None:
        """Protect the arrays that a dict, an object or a function holds."""
        if issubclass(type(value), ndarray):
            self.registry.protect(value)
        elif type(value) not in INERT and type(value) is not Active and id(value) not in seen:
            seen.add(id(value))
            for part in parts(value):
                self.protect_within(part, seen)

    def node_of(self, value: Any) -> Any:
        """Return the node of an array or scalar; nodes in the structure of anything else.

        A list for a list or a tuple, a `TangentTree` for another container or an object, None where
        nothing is active.
        """
        t = type(value)
        if t is ndarray:
            return self.find(value)
        if t is Active:
            return value
        if t is list or t is tuple:
            nodes = [self.node_of(v) for v in value]
            return nodes if any(node is not None for node in nodes) else None
        return marshalling.tree_of(self, value) if self.contains_active(value) else None

    def fresh_output(self, y: Any) -> tuple[Any, Any]:
        """Register a new output; return it as the user sees it, and its node."""
        if type(y) is ndarray:
            y = self.registry.independent(y)
            return y, self.registry.fresh(y)
        node = active_number(y, self)
        return node, node

    def change_shape(self, o: ndarray, shape: Any) -> None:
        """Run ``o.shape = shape``."""
        old = o.shape
        if self.rehearsal is not None:
            self.rehearsal.before_shape(o)
        note(self, state.restore_shape, o, old, self.registry)
        self.registry.change_shape(o, shape)

    # The log of writes.

    def frozen_index(self, index: Any, written: ndarray | None = None) -> Any:
        """Return an index that later writes do not change: lists copied, arrays protected.

        So is what the write itself changes that is about to happen: an index in the memory that is
        `written` is copied.
        """
        if type(index) is tuple:
            for i in index:
                if type(i) is list or type(i) is ndarray:
                    return tuple(self.frozen_index(i, written) for i in index)
            return index
        if type(index) is list:
            return np.array(index) if index else np.array(index, dtype=np.intp)
        if type(index) is ndarray:
            if written is not None and np.may_share_memory(index, written):
                return index.copy()
            self.registry.protect(index)
        return index

    def log_write(self, memory: Memory, o: ndarray, i: Any) -> bool:
        """Record the elements that a write to ``o[i]`` overwrites; return whether it was needed."""
        entry = self.overwritten(memory, o, i)
        if entry is None:
            return False
        self.record(entry)
        return True

    def overwritten(self, memory: Memory, o: ndarray, i: Any) -> tuple[Any, ...] | None:
        """Save the elements that a write to ``o[i]`` will overwrite, or the block if smaller.

        When as many bytes were logged as the block has, a full copy becomes the restore point:
        from there on nothing needs to be logged until the tape refers to the block again.
        Until then no large part needs to be logged twice; None if it was logged, or is apart from
        what the tape refers to.
        """
        if not o.flags.num & WRITEABLE:  # is_writeable(o), without the call
            raise ValueError("assignment destination is read-only")  # as NumPy is about to say
        if self.rehearsal is not None:
            return self.rehearsal.overwritten(memory, o, i)
        if o.dtype.kind in "OV":
            return objects_overwritten(o, self.frozen_index(i, o))
        if memory.is_apart(o, i):
            return None
        old = o[i]
        size = old.nbytes
        owner = memory.ref()
        large = size >= LARGE and type(old) is ndarray and old.base is not None
        if large and memory.was_logged(old):
            return None
        memory.logged = logged = getattr(memory, "logged", 0) + size
        if type(owner) is ndarray and logged >= owner.nbytes > 0:
            memory.note_all_logged()
            return undo_assign, owner, Ellipsis, owner.copy(), memory
        if large:
            memory.note_logged(old)
            return undo_assign, o, self.frozen_index(i, o), old.copy(), memory
        if type(old) is ndarray and old.base is not None:
            old = old.copy()
        return undo_assign, o, self.frozen_index(i, o), old

    def record_below(self, entry: tuple[Any, ...]) -> None:
        """Record the adjoint of a write below the entry that undoes the write, the last one."""
        if self.rehearsal is None:
            self.record(entry)
            tape = self.tape
            tape[-1], tape[-2] = tape[-2], tape[-1]

    def log_element(self, memory: Memory, o: ndarray, i: Any, old: Any) -> bool:
        """Record one element that is about to be overwritten; tell whether it was needed.

        Its entry takes the memory of many elements, so a full copy comes early.  Measured on
        loops over elements, gradient over primal: a recurrence 10 -> 7.4, Thomas 11.4 -> 9.6.
        """
        if not o.flags.num & WRITEABLE:  # is_writeable(o), without the call
            raise ValueError("assignment destination is read-only")
        memory.logged = logged = getattr(memory, "logged", 0) + ENTRY_BYTES
        owner = memory.ref()
        if (
            self.rehearsal is not None
            or (type(owner) is ndarray and logged >= owner.nbytes)
            or (o.dtype.kind in "OV")
        ):
            return self.log_write(memory, o, i)
        self.record((undo_assign, o, i if type(i) is int else self.frozen_index(i, o), old))
        return True

    def log_masked(self, memory: Memory, o: ndarray, i: ndarray, old: ndarray, kept: bool) -> bool:
        """Record what a mask picks that is about to be overwritten; `kept` if the tape has it.

        The mask is frozen.
        """
        owner = memory.ref()
        logged = getattr(memory, "logged", 0) + old.nbytes
        full = not kept and type(owner) is ndarray and logged >= owner.nbytes
        if full or self.rehearsal is not None or not is_writeable(o):
            return self.log_write(memory, o, i)
        if not kept:
            memory.logged = logged
        self.record((undo_assign, o, i, old))
        return True

    def converted(self, f: Any, x: Active) -> Any:
        """Run ``float(x)`` and similar for an active number."""
        y = f(x.primal)
        if type(y) is x.__class__:
            return x
        y = active_number(y, self)
        self.record((pulls.pull_conversion, y, x))
        return y


def evaluated_at_once(partials: Any, args: Any, y: Any) -> Any:
    """Return the partials, with the values of those that are to be kept instead of operands."""
    if any(type(p) is AtOnce for p in partials):
        return [silently(p.partial, *args, y) if type(p) is AtOnce else p for p in partials]
    return partials
