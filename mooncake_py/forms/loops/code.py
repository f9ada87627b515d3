"""The two sweeps of a loop that is one entry: forward, keeping slopes, and backwards.

    for i in range(1, n):             def forward(push, push_int, r0, m_x, m_a):
        x[i] += a[i] * x[i - 1]           z = 0.0
                                          for u_i in r0:
                                              v0 = m_x[u_i]; v1 = m_a[u_i]; v2 = m_x[u_i - 1]
                                              t1 = v0 + v1 * v2
                                              z += t1 * 0.0
                                              push(v2); push(v1)
                                              m_x[u_i] = t1
                                          return z, u_i

                                      def reverse(pop, pop_int, r0, d_x, d_a):
                                          for u_i in reversed(r0):
                                              s1 = pop(); s0 = pop()
                                              g = d_x[u_i]
                                              d_a[u_i] += g * s0
                                              d_x[u_i - 1] += g * s1

Arrays are memory views, whose elements are Python's floats at half the price of NumPy's; ``z`` is
nan in the end if any value was not finite.  The ints that indices are made of are put back on the
way, so that the same indices can be worked out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mooncake_py.forms.adjoint_text import identifiers
from mooncake_py.forms.fused_code import (
    Writer,
    kept_slopes,
    plus_g,
    scalar_times,
    times_g,
)
from mooncake_py.forms.fusion import Fused, define
from mooncake_py.forms.loops.analysis import FLOAT, FLOAT64, INT, MIXED, Kinds
from mooncake_py.forms.loops.program import (
    Assign,
    Block,
    Branch,
    Count,
    Item,
    Program,
    Repeat,
    Stop,
    While,
)

__all__ = ["FLAGS", "LoopForm", "write"]

FLAGS = {INT: 0, FLOAT: 1, FLOAT64: 2}
Lines = list[str]


class LoopForm(NamedTuple):
    """The sweeps of a loop for given inputs.

    Attributes
    ----------
    forward, reverse : callable
    text : str
    results : tuple of str
        What `forward` returns after ``z``: the names that the loop binds.
    types : tuple of str
        Their types; `MIXED` where a flag is returned behind them that tells.
    flagged : tuple of str
        The names that have a flag.
    steady : tuple of str
        The numbers among the inputs that `reverse` needs.
    counts : tuple of str
        The bound ints that `reverse` needs, as they are in the end.
    shadows : tuple of str
        The active arrays.
    outputs, leaves : tuple of str
        The active names that the loop binds, and those among its inputs.
    """

    forward: Any
    reverse: Any
    text: str
    results: tuple[str, ...]
    types: tuple[str, ...]
    flagged: tuple[str, ...]
    steady: tuple[str, ...]
    counts: tuple[str, ...]
    shadows: tuple[str, ...]
    outputs: tuple[str, ...]
    leaves: tuple[str, ...]


def write(
    program: Program, functions: Sequence[Any], slopes: Sequence[Any], kinds: dict[str, str],
    active_inputs: set[str], active: set[str],
) -> LoopForm | None:
    """Write the sweeps, or return None where there are none.

    Parameters
    ----------
    slopes : sequence of callable
        The derivatives of the functions.
    kinds : dict of str to str
        The types of the inputs that are numbers.
    active_inputs, active : set of str
        The active inputs, and all that is active somewhere.
    """
    writer = _LoopWriter(program, functions, slopes, kinds, active)
    return None if writer.unsure else writer.form(active_inputs)


class _LoopWriter:
    def __init__(
        self, program: Program, functions: Sequence[Any], slopes: Sequence[Any],
        kinds: dict[str, str], active: set[str],
    ) -> None:
        self.program = program
        self.functions = functions
        self.slopes = slopes
        self.kinds = kinds
        self.active = active
        found = Kinds(program, functions, kinds)
        self.results = found.results
        self.after = found.after
        self.positions = found.positions
        self.flagged = sorted(name for name in program.bound if self.after[name] == MIXED)
        self.unsure = found.makes_ints or any(
            self.results[self.positions[id(a)]] == MIXED
            for a in program.assignments() if a.target in self.flagged
        )
        self.scope: dict[str, Any] = {}
        self.sides: list[bool] = []  # of the branches round a statement, within its loop
        self.counted_loops = 0

    def form(self, active_inputs: set[str]) -> LoopForm:
        """Return both sweeps."""
        program = self.program
        forward, reverse = self.block([program.loop])
        bound = tuple(sorted(program.bound))
        numbers = [name for name in program.inputs if name not in program.bases]
        numbers += program.extents
        steady = [name for name in numbers if name not in program.bound]
        counts = tuple(sorted(program.counts & program.steered))
        shadows = tuple(base for base in program.bases if base in self.active)
        outputs = tuple(name for name in bound if name in self.active)
        leaves = tuple(name for name in numbers if name in active_inputs)
        loose = [name for name in program.counts if name not in program.inputs]
        first = [
            "z = 0.0", *(f"{name} = None" for name in sorted(loose)),
            *(f"k{name} = {FLAGS[self.kinds[name]]}" for name in self.flagged
              if name in self.kinds),
        ]
        inputs = [f"m_{name}" if name in program.bases else name for name in program.inputs]
        inputs += program.extents
        last = ["z", *bound, *(f"k{name}" for name in self.flagged)]
        text = function("forward", ["push", "push_int", "r0", *inputs],
                        [*first, *forward, f"return {', '.join(last)}"])
        grads = sorted({name for name in self.active if name not in program.bases} - {*outputs})
        back = [
            *(f"g{name} = 0.0" for name in grads), *reverse,
            f"return {''.join(f'g{name}, ' for name in leaves) or '()'}",
        ]
        needed = set(identifiers("\n".join(back)))
        steady = [name for name in steady if name in needed]
        counts = tuple(name for name in counts if name in needed)
        parameters = [
            "pop", "pop_int", "r0", *steady, *counts, *(f"d_{base}" for base in shadows),
            *(f"g{name}" for name in outputs),
        ]
        text += function("reverse", parameters, back)
        made = define(text, self.scope)
        return LoopForm(
            made["forward"], made["reverse"], text, bound,
            tuple(self.after[name] for name in bound), tuple(self.flagged), tuple(steady), counts,
            shadows, outputs, leaves,
        )

    # Statements: the lines forward, and the lines back in the order in which they run.

    def block(self, items: Block) -> tuple[Lines, Lines]:
        """Return the lines of a block."""
        forward: Lines = []
        reverse: Lines = []
        for item in items:
            if isinstance(item, Assign):
                ahead, back = self.assigned(item)
            elif isinstance(item, Count):
                ahead, back = self.counted(item)
            elif isinstance(item, Branch):
                ahead, back = self.branched(item)
            elif isinstance(item, Stop):
                # The branches that it leaves note their sides first.
                ahead, back = [*(f"push_int({side})" for side in self.sides[::-1]), "break"], []
            else:
                ahead, back = self.repeated(item)
            forward += ahead
            reverse = back + reverse
        return forward, reverse

    def repeated(self, loop: Repeat | While) -> tuple[Lines, Lines]:
        """Return the lines of a loop; the way back goes through the same range backwards.

        Where the range does not tell how often it runs, the passes are counted.
        """
        outer, self.sides = self.sides, []
        forward, reverse = self.block(loop.body)
        self.sides = outer
        if isinstance(loop, While):
            head, steps = f"while {loop.test}:", "range(pop_int())"
        else:
            head, steps = f"for {loop.name} in {loop.text}:", loop.text
        if not reverse:
            return [head, *indented(forward or ["pass"])], []
        if isinstance(loop, Repeat) and not stops(loop.body):
            back = [f"for {loop.name} in reversed({steps}):", *indented(reverse)]
            return [head, *indented(forward)], back
        passes = f"c{self.counted_loops}"
        self.counted_loops += 1
        ahead = [
            f"{passes} = 0", head, *indented([f"{passes} += 1", *forward]), f"push_int({passes})",
        ]
        if isinstance(loop, While):
            return ahead, [f"for _ in {steps}:", *indented(reverse)]
        back = [f"for {loop.name} in reversed({steps}[:pop_int()]):", *indented(reverse)]
        return ahead, back

    def branched(self, branch: Branch) -> tuple[Lines, Lines]:
        """Return the lines of a branch, which remembers the way that it took."""
        sides: list[Lines] = []
        backs: list[Lines] = []
        for side, block in ((True, branch.body), (False, branch.orelse)):
            self.sides.append(side)
            ahead, back = self.block(block)
            self.sides.pop()
            sides.append(ahead)
            backs.append(back)
        body_back, orelse_back = backs
        matters = bool(body_back or orelse_back or stops([branch]))
        if matters:
            for side, lines in zip((True, False), sides, strict=True):
                if not lines or lines[-1] != "break":
                    lines.append(f"push_int({side})")
        ahead = [f"if {branch.test}:", *indented(sides[0] or ["pass"])]
        if sides[1]:
            ahead += ["else:", *indented(sides[1])]
        if not matters:
            return ahead, []
        back = ["if pop_int():", *indented(body_back or ["pass"])]
        if orelse_back:
            back += ["else:", *indented(orelse_back)]
        return ahead, back

    def counted(self, item: Count) -> tuple[Lines, Lines]:
        """Return the lines that bind an int; an index of a later statement needs the old one."""
        if item.name not in self.program.steered:
            return [f"{item.name} = {item.text}"], []
        ahead = [f"push_int({item.name})", f"{item.name} = {item.text}"]
        return ahead, [f"{item.name} = pop_int()"]

    def assigned(self, a: Assign) -> tuple[Lines, Lines]:
        """Return the lines of an assignment."""
        expression = _Expression(a, self.functions, self.slopes)
        self.scope |= expression.scope
        on = {k for k, operand in enumerate(a.operands) if self.is_active(operand)}
        adjoint, totals = expression.adjoint_lines(on, "1.0", scalar_times)
        kept = [s for s in kept_slopes(totals.values()) if not self.is_steady(s)]
        words = identifiers("\n".join([*adjoint, *kept]))
        ahead, value, is_new = expression.value(words)
        ahead += [*adjoint, *(f"push({slope})" for slope in kept)]
        if is_new:
            ahead.append(f"z += {value} * 0.0")
        target = a.target
        if isinstance(target, Item):
            ahead.append(f"{target.of('m')} = {value}")
        else:
            ahead.append(f"{target} = {value}")
            if target in self.flagged:
                ahead.append(f"k{target} = {FLAGS[self.results[self.positions[id(a)]]]}")
        if not self.is_active(target):
            return ahead, []
        slopes = {k: slope_name(totals[k]) if totals[k] in kept else totals[k] for k in totals}
        pops = [f"{slope_name(slope)} = pop()" for slope in reversed(kept)]
        return ahead, [*pops, *self.delivered(a, slopes)]

    def delivered(self, a: Assign, slopes: dict[int, str]) -> Lines:
        """Return the lines that give the cotangent of the target to the operands."""
        slot = cotangent(a.target)
        own = 0 if a.augments else None
        if own is None and isinstance(a.target, str):
            own = next((k for k in sorted(slopes) if a.operands[k] == a.target), None)
        lines = [f"g = {slot}"]
        if own is None or own not in slopes:
            lines.append(f"{slot} = 0.0")
        elif slopes[own] != "1.0":
            lines.append(f"{slot} = {times_g(slopes[own])}")
        for k in sorted(slopes):
            if k != own:
                lines.append(f"{cotangent(a.operands[k])} {plus_g(slopes[k])}")
        return lines if len(lines) > 1 else []

    def is_active(self, operand: Any) -> bool:
        return (operand.base if isinstance(operand, Item) else operand) in self.active

    def is_steady(self, name: str) -> bool:
        """Tell whether a slope is an input that the loop does not bind."""
        return name in self.program.inputs and name not in self.program.bound


class _Expression(Writer):
    """Writes the value and the slopes of one assignment."""

    def __init__(self, a: Assign, functions: Sequence[Any], slopes: Sequence[Any]) -> None:
        count = len(a.operands)
        super().__init__(Fused(a.steps, count), functions, slopes, (float,) * count)
        self.floats = True
        self.operands = a.operands

    def operand(self, reference: Any) -> str:
        """Return the text of an operand."""
        kind, which = reference
        if kind == "v" and isinstance(self.operands[which], str):
            return self.operands[which]
        return super().operand(reference)

    def value(self, words: list[str]) -> tuple[Lines, str, bool]:
        """Return the lines of the value, its text, and whether it was computed."""
        lines = [
            f"v{k} = {operand.of('m')}" for k, operand in enumerate(self.operands)
            if isinstance(operand, Item)
        ]
        if self.fused.steps[-1][0] == "pos":
            return lines, self.operand(self.fused.steps[-1][1]), False
        return [*lines, *self.forward_lines(words)], f"t{len(self.fused.steps) - 1}", True


def stops(block: Block) -> bool:
    """Tell whether a block has a ``break`` that leaves the loop it is in."""
    return any(
        isinstance(item, Stop) or (isinstance(item, Branch) and stops([*item.body, *item.orelse]))
        for item in block
    )


def slope_name(slope: str) -> str:
    """Return the name of a slope on the way back, where names of the user mean cotangents."""
    return f"s_{slope}"


def cotangent(operand: Any) -> str:
    """Return the text of the cotangent of an operand."""
    return operand.of("d") if isinstance(operand, Item) else f"g{operand}"


def indented(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


def function(name: str, parameters: Lines, body: Lines) -> str:
    """Return the text of a function."""
    return "\n".join([f"def {name}({', '.join(parameters)}):", *indented(body)]) + "\n"
