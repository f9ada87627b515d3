"""Running a loop as one entry, where its values are such that it can be.

A loop is tried: where something is unusual (another dtype, an index out of range, a value that is
not finite) the arrays that it wrote are put back, nothing is recorded, and it runs statement by
statement as it is written, which is the reference.

Measured, gradient over primal: see the table in docs/explanation/performance.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.forms.contractions import is_contraction
from mooncake_py.forms.fusion import Elsewhere
from mooncake_py.forms.loops.analysis import FLOAT, FLOAT64, INT, active_parts
from mooncake_py.forms.loops.code import FLAGS, LoopForm, write
from mooncake_py.forms.loops.program import Program, Repeat, While
from mooncake_py.forms.number_functions import slopes_of
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.memory import has_overlaps, owner_of
from mooncake_py.runtime.values import FLOAT64 as DOUBLE

__all__ = ["Loop", "bytes_kept", "pull_loop"]

UNUSUAL = ArithmeticError, LookupError, NameError, TypeError, ValueError, Warning
"""What numbers and elements raise; anything else comes from outside, such as from a signal."""
MISSES = 3  # in a row, after which a loop is not tried any more
FEW = 3  # passes, for which the way in and out costs more than it saves
BYTES = 256  # to be copied for each pass, at most: what the log of an element takes
TYPES: dict[type, str] = {float: FLOAT, np.float64: FLOAT64, int: INT}
MAKE: dict[str, Any] = {INT: lambda v: v, FLOAT: lambda v: v, FLOAT64: np.float64}
SMALL = 1 << 14  # bytes that may be copied where nothing tells how often a loop runs
FLOAT_BYTES = sys.getsizeof(1.0)
FLAGGED = {flag: MAKE[kind] for kind, flag in FLAGS.items()}


class Loop:
    """A loop that is tried as a whole.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bases = list(program.bases)
        written = program.written()
        self.written = [base for base in program.bases if base in written]
        nested = any(isinstance(item, Repeat | While) for item in program.loop.body)
        self.fewest = 1 if nested else FEW
        self.misses = 0
        self._forms: dict[Any, LoopForm | None] = {}

    def __repr__(self) -> str:
        return f"Loop({self.program.loop!r})"

    def forms(self) -> Iterator[str]:
        """Yield the texts of the forms made so far."""
        for form in self._forms.values():
            if form is not None:
                yield form.text

    def run(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Run the loop and return what it binds, or `Elsewhere` if it must run as it is written.

        Parameters
        ----------
        values : tuple
            The range, None for other loops, and the inputs.
        """
        if not ctx.fuses or not ctx.tries_loops or self.misses >= MISSES:
            return Elsewhere
        if ctx.rehearsal is not None:
            return Elsewhere
        steps, *rest = values
        if steps is not None and len(steps) < self.fewest:
            return Elsewhere
        inputs = dict(zip(self.program.inputs, rest, strict=True))
        try:
            key = self.key(ctx, functions, inputs)
        except TypeError:  # a function that cannot be a key
            return Elsewhere
        if key is None:
            return Elsewhere
        if key not in self._forms:
            self._forms[key] = self.make(*key)
        form = self._forms[key]
        if form is None:
            return Elsewhere
        lengths = self.extents(inputs)
        if any(lengths[name] != lengths[first] for first, *rest in self.program.equal
               for name in rest):
            return Elsewhere
        if self.program.steps is not None:
            steps = eval(self.program.steps, {}, lengths)
        if not self.is_worth(steps, inputs, lengths):
            return Elsewhere
        self.misses += 1
        result = self.attempt(ctx, form, steps, inputs, lengths)
        if result is not Elsewhere:
            self.misses = 0
        return result

    def key(self, ctx: Any, functions: Any, inputs: dict[str, Any]) -> Any:
        """Return what decides on the form: kinds and activity; None where none can serve."""
        arrays = [inputs[base] for base in self.bases]
        for a, ndim in zip(arrays, self.program.bases.values(), strict=True):
            if type(a) is not ndarray or a.dtype is not DOUBLE or a.ndim != ndim:
                return None
            if not a.flags.aligned:
                return None  # of which there are no memory views
        for base in self.written:
            if not inputs[base].flags.writeable:
                return None
        kinds: list[tuple[str, bool]] = []
        for name, value in inputs.items():
            if name in self.program.bases:
                continue
            on = type(value) is Active
            kind = TYPES.get(type(value.primal if on else value))
            if kind is None or (on and kind is INT):
                return None
            kinds.append((kind, on))
        active = tuple([ctx.find(a) is not None for a in arrays])
        if len(arrays) == 1:
            return functions, tuple(kinds), active, (0,)
        owners = [id(a if a.base is None else owner_of(a)) for a in arrays]
        return functions, tuple(kinds), active, tuple(map(owners.index, owners))

    def make(self, functions: Any, kinds: Any, on: Any, owners: Any) -> LoopForm | None:
        """Write the form for one pattern of kinds and activity, or None if there is none."""
        program = self.program
        steps = [step for a in program.assignments() for step in a.steps]
        if any(map(is_contraction, steps)):
            return None
        counts = {step[1]: len(step) - 2 for step in steps if step[0] == "call"}
        slopes = [slopes_of(f, counts[i]) for i, f in enumerate(functions)]
        if None in slopes:
            return None
        numbers = [name for name in program.inputs if name not in program.bases]
        types = {name: kind for name, (kind, _) in zip(numbers, kinds, strict=True)}
        active_inputs = {name for name, (_, a) in zip(numbers, kinds, strict=True) if a}
        active_inputs |= {base for base, a in zip(self.bases, on, strict=True) if a}
        groups = dict(zip(self.bases, owners, strict=True))
        active = active_parts(program, active_inputs, groups)
        if not active:
            return None
        return write(program, functions, slopes, types, active_inputs, active)

    def is_worth(
        self, steps: range | None, inputs: dict[str, Any], lengths: dict[str, int]
    ) -> bool:
        """Tell whether the arrays that are written, and copied before, are not far too large."""
        nbytes = sum([inputs[base].nbytes for base in self.written])
        if steps is None:
            return nbytes <= SMALL
        return nbytes <= BYTES * len(steps) or nbytes <= BYTES * self.passes(steps, inputs, lengths)

    def passes(self, steps: range, inputs: dict[str, Any], lengths: dict[str, int]) -> int:
        """Estimate how often the innermost loop runs, from the middle of each range."""
        scope = {name: v for name, v in inputs.items() if type(v) is int} | lengths

        def count(loop: Any, found: range) -> int:
            if not found:
                return 0
            scope[loop.name] = found[len(found) // 2]
            inner = [item for item in loop.body if isinstance(item, Repeat)]
            each = 1
            for item in inner:
                with suppress(Exception):  # where it depends on what is computed within
                    each += count(item, eval(item.text, {}, scope))
            return len(found) * each

        return count(self.program.loop, steps)

    def extents(self, inputs: dict[str, Any]) -> dict[str, int]:
        """Return the lengths of arrays that are read."""
        return {
            name: inputs[base].shape[axis] for name, (base, axis) in self.program.extents.items()
        }

    def attempt(
        self, ctx: Any, form: LoopForm, steps: range | None, inputs: dict[str, Any],
        lengths: dict[str, int],
    ) -> Any:
        """Run the forward sweep, and record the loop if all went well."""
        numbers = {
            name: plain(v) for name, v in inputs.items() if name not in self.program.bases
        }
        numbers |= lengths
        before = {base: inputs[base].copy("K") for base in self.written}
        slopes: list[float] = []
        ints: list[Any] = []
        results: Any = None
        try:
            results = self.swept(form, (slopes, ints, steps), inputs, numbers)
        finally:
            if results is None:
                put_back(inputs, before)
        if results is None:
            return Elsewhere
        nodes = [ctx.registry.activate(inputs[base]) for base in form.shadows]
        for base, old in before.items():
            ctx.log_whole(inputs[base], old)
        bound = dict(zip(form.results, results, strict=False))
        state = [numbers[name] for name in form.steady] + [bound[name] for name in form.counts]
        outputs = typed(form, bound, results[len(bound):])
        active = [active_number(outputs[name], ctx) for name in form.outputs]
        ctx.record((
            pull_loop, form, slopes, ints, steps, state, nodes, active,
            [inputs[name] for name in form.leaves],
        ))
        for name, y in zip(form.outputs, active, strict=True):
            if type(y.primal) is not int:  # else nothing was added to a sum, say
                outputs[name] = y
        return tuple([outputs[name] for name in self.program.bound])

    def swept(
        self, form: LoopForm, kept: tuple[list[float], list[Any], range | None],
        inputs: dict[str, Any], numbers: dict[str, Any],
    ) -> list[Any] | None:
        """Run the forward sweep; None where something is unusual."""
        slopes, ints, steps = kept
        given = [
            memoryview(v) if name in self.program.bases else numbers[name]
            for name, v in inputs.items()
        ]
        given += [numbers[name] for name in self.program.extents]
        try:
            z, *results = form.forward(slopes.append, ints.append, steps, *given)
            finite = z == 0.0 and math.isfinite(sum(slopes))
        except UNUSUAL:
            return None  # the reference raises it again
        unbound = any(v is None for v in results)
        overlaps = any(has_overlaps(inputs[base]) for base in form.shadows)
        return results if finite and not unbound and not overlaps else None


def put_back(arrays: dict[str, Any], before: dict[str, ndarray]) -> None:
    """Put back what arrays held before a trial."""
    for base, old in before.items():
        arrays[base][...] = old


def typed(form: LoopForm, bound: dict[str, Any], flags: list[int]) -> dict[str, Any]:
    """Return what a loop binds, of the types that the user's code would see."""
    known = dict(zip(form.flagged, flags, strict=True))
    return {
        name: (FLAGGED[known[name]] if name in known else MAKE[kind])(bound[name])
        for name, kind in zip(form.results, form.types, strict=True)
    }


def plain(value: Any) -> Any:
    """Return a number as Python's: quicker, and it never warns."""
    if type(value) is Active:
        value = value.primal
    return float(value) if type(value) is np.float64 else value


def bytes_kept(entry: tuple[Any, ...]) -> int:
    """Return about how many bytes the slopes and ints in an entry take."""
    _, _, slopes, ints, *_ = entry
    return len(slopes) * (FLOAT_BYTES + 8) + len(ints) * 8


def cells_of(shadow: Any) -> Any:
    """Return what gives the elements of a shadow by their indices, as Python's floats if it can.

    The bytes of an owner may lie elsewhere in the words of the machine than those of its shadow.
    """
    return memoryview(shadow) if shadow.flags.aligned else shadow


def pull_loop(entry: tuple[Any, ...]) -> None:
    """Reverse of a loop: give the cotangents of what it wrote and bound to what it read."""
    _, form, slopes, ints, steps, state, nodes, outputs, leaves = entry
    if not any(y.grad for y in outputs) and all(node.grad is None for node in nodes):
        return
    for node in nodes:
        node.shadow()  # may lay out anew what another one shares
    cells = [cells_of(node.shadow()) for node in nodes]
    grads = [y.grad for y in outputs]
    found = form.reverse(slopes.pop, ints.pop, steps, *state, *cells, *grads)
    for leaf, grad in zip(leaves, found, strict=True):
        leaf.grad += grad
