"""Statements and expressions on arrays as one entry: ``u[1:-1] = a * u[2:] + v``.

Operation by operation, each slice would cost a view that the engine must register, and each
operation an entry with its temporaries.  Here one generated function reads the slices, computes
natively, keeps the operands that the adjoint reads, and records one entry.  Each pattern of kinds,
broadcast shapes and activity has its own form.

Measured, gradient over primal: see the tables in docs/explanation/performance.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Call, Expr, Let, Name, Op, parts_of
from mooncake_py.compiler.regions.simplify import inlined
from mooncake_py.compiler.statements.array_pull import PullWriter, described
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.dtypes import NAMES, SCOPES
from mooncake_py.compiler.statements.kinds import ANY, ARRAYS, ELEMENT, NDIMS, PART, Kinds
from mooncake_py.compiler.statements.lines import (
    CHOOSE,
    OTHERWISE,
    attempt,
    choosing,
    function,
    indented,
)
from mooncake_py.compiler.statements.nodes import look_up, no_nodes
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.statement import Statement, is_operand
from mooncake_py.compiler.statements.views import through, views_in
from mooncake_py.diagnostics.warned import may_be_caught
from mooncake_py.rules import registry
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.pulls import reads

__all__ = ["Way", "array_form", "bases_of"]

Way = Callable[[Any, Any, Any], Any]
Activity = tuple[tuple[int, bool], ...]
OTHER_KINDS = {
    ELEMENT: "type({0}) is not float64",
    PART: "type({0}) is not ndarray or not {0}.ndim",
    ANY: "type({0}) is not ndarray or not {0}.ndim",
    **{kind: f"type({{0}}) is not ndarray or {{0}}.ndim != {n}" for kind, n in NDIMS.items()},
}
"""For the kinds that may be read from an array the test whether something else was."""
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}


class ArrayForm:
    """Prints the form of a statement for one pattern.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names = plan.statement.names
        self.bases = bases_of(plan.statement)
        self.indices = tuple(dict.fromkeys(index for _, index in plan.statement.pairs))
        self.scope = {**SCOPES[plan.dtype], "may_be_caught": may_be_caught}
        self.scope |= {f"f{i}": f for i, f in enumerate(plan.core.functions)}
        self.scope |= views_in(plan.layout, plan.core.functions)
        self.pull = PullWriter(plan, self.scope) if plan.records else None
        self.text = ArrayText(self.scope, (), plan.arrays_of_float64, plan.axes, plan.int_names)
        named = {p: f"v{k}" for k, p in self.names.items() if plan.kinds[k] is not Active}
        self.at = [named.get(p, f"a{p}") for p in range(plan.statement.passed)]

    def printed(self) -> tuple[str, dict[str, Any]]:
        """Return the text of the form, and what it reads besides `choose` and `otherwise`."""
        lines = [*self.guards(), *self.nodes(), *self.active_numbers()]
        lines += [*self.computation(), "return otherwise(C, F, V)"]
        text = ("" if self.pull is None else self.pull.text) + function("run", "C, F, V", lines)
        return text, {**self.scope, **self.text.scope}

    # Before the computation.

    def guards(self) -> list[str]:
        """Return the lines that name the values, and see that they fit.

        An operand that is a value is called v0, v1, ...; what is indexed, an index or an active
        number a0, a1, ..., by its position.
        """
        plan = self.plan
        at = self.at
        fits = ["C.fuses", *plan.core.once(plan.core.statement)]
        if plan.on:
            arrays = [at[p] for p in plan.on]
            fits += same([f"type({a})" for a in arrays], "ndarray")
            dtypes: dict[str, list[str]] = {}
            for p in plan.on:
                dtypes.setdefault(NAMES[plan.dtype_at(p)], []).append(f"{at[p]}.dtype")
            for name, found in dtypes.items():
                fits += same(found, name)
        for p in self.indices:
            if p not in plan.statement.certain:
                fits.append(self.fits_as_index(p))
        kinds: dict[str, list[str]] = {}
        for k, p in self.names.items():
            if p not in plan.on:
                kind = plan.kinds[k]
                name = "Active" if kind is Active else kind.__name__
                kinds.setdefault(name, []).append(f"type({at[p]})")
        for name, types in kinds.items():
            fits += same(types, name)
        fits += [f"F[{i}] is f{i}" for i in range(len(plan.core.functions))]
        constants = [at[p] for p, active in plan.on.items() if not active]
        fits += [no_nodes(constants)] if constants else []
        return [f"{', '.join(at)}, = V", f"if not ({' and '.join(fits)}):", CHOOSE]

    def fits_as_index(self, p: int) -> str:
        """Return the test whether an index is of the kind that is expected."""
        plan = self.plan
        written = plan.statement.written
        if p not in plan.gathers:
            return f"is_basic(a{p})"
        if p in plan.same:
            return f"a{p} is a{plan.index(p)}"
        if written is not None and p == written[1]:
            return f"is_mask(a{p}, a{written[0]})"
        # The same mask has a form of its own: sums would depend on which one ran before.
        other = f" and a{p} is not a{written[1]}" if plan.by_mask and written is not None else ""
        return f"is_gather(a{p}){other}"

    def nodes(self) -> list[str]:
        """Return the lines that look up the nodes n0, n1, ... of the arrays."""
        on, at = self.plan.on, self.at
        active = [p for p in on if on[p]]
        lines = ["known = C.known"] if active or self.pull is not None else []
        lines += look_up([(f"n{p}", at[p]) for p in active]) if active else []
        blocks = [p for p in active if p in self.bases or p == self.plan.owner]
        if blocks:
            lines += [f"if {' or '.join([f'n{p}.overlaps' for p in blocks])}:", OTHERWISE]
        for p in blocks:
            lines += [
                f"m{p} = n{p} if type(n{p}) is Memory else n{p}.memory",
                f"if m{p}.shape is None:",
                f"    C.registry.activate({at[p]})",
            ]
        return lines

    def active_numbers(self) -> list[str]:
        """Return the lines that see that active numbers are floats, and read them."""
        lines = []
        for k, p in self.names.items():
            if self.plan.kinds[k] is Active:
                numpy = "" if self.plan.is_single else f" and type(v{k}) is not float64"
                lines += [
                    f"v{k} = a{p}.primal",
                    f"if type(v{k}) is not float{numpy}:",
                    OTHERWISE,
                ]
        return lines

    def reads(self) -> list[str]:
        """Return the lines that read elements and slices."""
        plan = self.plan
        lines = [
            f"v{k} = {through(part, f'a{part[0]}[a{part[1]}]')}"
            for k, part in enumerate(plan.layout)
            if isinstance(part, tuple)
        ]
        if isinstance(plan.target, tuple) and not plan.augments:
            read = [f"v{k}" for k, part in enumerate(plan.layout) if part == plan.target]
            read += [] if plan.old is None else [f"v{plan.old}"]
            again = f"a{plan.target[0]}[a{plan.target[1]}]"
            lines.append(f"slot = {read[0] if read else again}")
        elif plan.target is not None and not plan.augments:
            lines.append(f"slot = a{plan.target}")
        return lines

    def checks_of_shapes(self) -> tuple[list[str], list[str]]:
        """Return a line that names the shape, and tests whether operands are of other kinds."""
        plan = self.plan
        wrong = self.other_kinds()
        if plan.whole is None:
            read_as_element = plan.target is None or plan.old is not None
            return [], wrong + ([] if read_as_element else ["type(slot) is not float64"])
        full = plan.full
        if plan.target is not None:
            shape = "v0.shape" if plan.augments else "slot.shape"
            full = full[1:] if plan.augments else full
        elif full and not plan.broadcast:
            shape = f"v{full[0]}.shape"
            full = full[1:]
        else:
            return [], wrong
        return [f"shape = {shape}"], ["not shape", *wrong, *self.misshapen(full)]

    def other_kinds(self) -> list[str]:
        """Return the tests whether an operand is of another kind than expected."""
        kinds = enumerate(self.plan.kinds)
        return [OTHER_KINDS[kind].format(f"v{k}") for k, kind in kinds if kind in OTHER_KINDS]

    def misshapen(self, full: list[int]) -> list[str]:
        """Return the tests whether an operand is not of the shape of the result as expected."""
        return [
            *(f"v{k}.shape != shape" for k in full),
            *(f"v{k}.shape == shape" for k in self.plan.broadcast),
        ]

    # The computation, and what follows it.

    def computation(self) -> list[str]:
        """Return the lines that read, compute, store and record.

        Errors are left to the reference.  What was read is of other kinds than expected if the
        value is not computed, as `wrong` says.
        """
        lines, value = self.value_lines()
        shape, wrong = self.checks_of_shapes()
        tried = [*self.reads(), *shape]
        after = [*self.plan.nonzero(self.saved), *self.checks_of_value(value)]
        if wrong and lines:
            tried += [f"wrong = {' or '.join(wrong)}", "if not wrong:", *indented(lines)]
            after = [*choosing(["wrong"]), *after]
        else:
            tried += lines
            after = [*choosing(wrong), *after]
        if self.plan.target is not None:
            after += self.store(value)
        elif self.plan.whole is None:
            after += self.give_number(value)
        else:
            after += self.give(value)
        return [*attempt(tried), *indented(after)] if tried else after

    def value_lines(self) -> tuple[list[str], Expr]:
        """Return the lines of the value, and what it is called.

        What an augmented assignment does to its target is left out: it is done in place.  So is
        what writes by ``out=`` itself.
        """
        plan = self.plan
        lets = plan.core.lets
        last = lets[-1] if plan.by_operator or plan.statement.into else None
        root = plan.value
        named = {*self.saved, *map(described, self.saved), *plan.consumed, *self.reductions}
        if plan.whole is None:
            named |= {part.name for let in plan.core.sums for part in operands_of(let)}
        if plan.statement.into:
            named |= {part.name for part in operands_of(lets[-1])}
        elif isinstance(root, Name):
            named.add(root.name)
        block: list[Let] = []
        for let in lets:
            block += self.masks.get(let.name, [])
            block += [let] if let is not last else []
        kept = inlined(tuple(block), {let.name for let in lets} - named)
        return [line for s in kept for line in self.text.lines(s)], root

    @property
    def saved(self) -> list[str]:
        """The values that the adjoint reads."""
        return [] if self.pull is None else self.pull.saved

    @property
    def reductions(self) -> list[str]:
        """The results of reductions along axes."""
        return [let.name for let in self.plan.core.reductions]

    @property
    def masks(self) -> dict[str, list[Let]]:
        """The shares to be computed, by the operation that they precede."""
        return {} if self.pull is None else self.pull.masks

    def checks_of_value(self, value: Expr) -> list[str]:
        """Return the lines that see that the value has the shape that was expected."""
        plan = self.plan
        products = [f"{name}.shape != shape" for name in plan.consumed]
        if plan.whole is None:
            return self.checks_of_number(self.text.operand(value))
        if plan.statement.into:
            return choosing(products)
        if not plan.is_array(value):
            return []
        text = self.text.operand(value)
        numbers = choosing([f"type({name}) is not ndarray" for name in self.reductions])
        if self.pull is not None and (plan.is_single or plan.is_mixed):
            name = NAMES[plan.dtype_of(value)]
            numbers = [f"if {text}.dtype is not {name}:", OTHERWISE]
        return [*numbers, *self.checks_of_array(text, products)]

    def checks_of_array(self, text: str, products: list[str]) -> list[str]:
        """Return the lines that see that an array has the shape that was expected."""
        plan = self.plan
        if plan.target is None:
            # The shape is that of the value: what else has it was compared with others at most.
            wrong = products + (self.misshapen(plan.full) if products or plan.broadcast else [])
            return [f"shape = {text}.shape", *choosing(wrong)] if wrong else []
        if plan.whole:
            own = plan.broadcast or plan.core.contractions or plan.core.reductions
            wrong = [f"{text}.shape != shape"] if own else []
            return choosing(list(dict.fromkeys([*wrong, *products])))
        return [
            f"if {text}.shape == shape:", CHOOSE,
            f"if {text}.ndim > len(shape):", OTHERWISE,
        ]  # fmt: skip

    def checks_of_number(self, value: str) -> list[str]:
        """Return the lines that see that what was summed has one shape, and the value's type."""
        lines = [
            f"if type({value}) is not float64 and type({value}) is not float:",
            OTHERWISE,
            *choosing([f"type({name}) is not ndarray" for name in self.reductions]),
        ]
        sums = [part.name for let in self.plan.core.sums for part in operands_of(let)]
        if not sums:
            return lines
        first, *others = sums
        wrong = ["not shape", *(f"{name}.shape != shape" for name in others if name != first)]
        wrong += [f"{name}.shape != shape" for name in self.plan.consumed if name != first]
        wrong += self.misshapen([k for k in self.plan.full if f"v{k}" != first])
        return [*lines, f"shape = {first}.shape", *choosing(wrong)]

    # The results.

    def give(self, value: Expr) -> list[str]:
        """Return the lines that register and return the value of an expression."""
        text = self.text.operand(value)
        if self.pull is None:
            return [f"return {text}"]
        return [
            *self.keep(), "out = Memory()", f"out.ref = ref({text})",
            "out.grad = out.shape = None", "out.pinned = out.protected = False",
            *(["out.protected = True"] if text in self.saved else []),
            f"known[id({text})] = out",
            f"C.record(({', '.join(self.pull.entry())}))", f"return {text}",
        ]  # fmt: skip

    def give_number(self, value: Expr) -> list[str]:
        """Return the lines that make the active number: see `active_number`."""
        text = self.text.operand(value)
        if self.pull is None:
            return [f"return {text}"]
        return [
            *self.keep(), "y = Active()", f"y.primal = {text}", "y.grad = 0.0", "y.context = C",
            f"C.record(({', '.join(self.pull.entry())}))", "return y",
        ]  # fmt: skip

    # The writes.

    def store(self, value: Expr) -> list[str]:
        """Return the lines that write, and record what is undone and the adjoint.

        The old contents are restored before the adjoint runs: it may read them.  As a write can
        raise, its adjoint is recorded after it, below what undoes it.
        """
        target, o = self.plan.target, self.plan.owner
        assert o is not None
        owner = self.at[o]
        where = f"{owner}, a{target[1]}" if isinstance(target, tuple) else f"{owner}, Ellipsis"
        log = [f"if m{o}.protected:", f"    C.log_write(m{o}, {where})"]
        result = f"return {owner}" if type(target) is int else "return None"
        write = self.write(self.text.operand(value))
        if self.pull is None:
            return [f"m{o} = C.registry.memory_of({owner})", *log, *write, result]
        lines = self.unless_crossing(value, where)
        if not self.plan.on[o]:
            lines += [
                f"n{o} = C.registry.activate({owner})", f"m{o} = n{o}.memory",
                f"if n{o}.overlaps:", OTHERWISE,
            ]  # fmt: skip
        lines += self.keep()
        if not self.pull.delivers:
            return [*lines, *log, *write, result]
        write, after = self.plan.watched(write)
        return [
            *lines,
            f"logged = m{o}.protected and {self.logging(f'm{o}, {where}')}",
            *write,
            f"(C.record_below if logged else C.record)(({', '.join(self.pull.entry())}))",
            *after,
            result,
        ]

    def logging(self, place: str) -> str:
        """Return the call that logs what is overwritten."""
        if self.plan.whole is None:
            return f"C.log_element({place}, slot)"
        if not self.plan.by_mask:
            return f"C.log_write({place})"
        return f"C.log_masked({place}, slot, {f'v{self.plan.old}' in self.saved})"

    def unless_crossing(self, value: Expr, where: str) -> list[str]:
        """Return the lines that see that what is copied is not written in another order."""
        plan = self.plan
        is_copied = not (plan.augments or plan.statement.into) and is_operand(value)
        if not is_copied or not plan.is_array(value):
            return []
        name = self.text.operand(value)
        told = f"{name}.strides != slot.strides and crosses(slot, {name})"
        return [f"if {f'crosses_at({where}, {name})' if plan.by_mask else told}:", OTHERWISE]

    def write(self, value: str) -> list[str]:
        """Return the lines that write the value; what the adjoint reads of a result is copied."""
        plan = self.plan
        if plan.statement.into:
            slot = "v0" if plan.augments else "slot"
            last = plan.core.lets[-1]
            assert isinstance(last.value, Call)
            args = [*map(self.text.text, last.value.args), f"out={slot}"]
            call = f"{self.text.name_of(last.value.function)}({', '.join(args)})"
            copy = [f"{last.name} = {slot}.copy()"] if last.name in self.saved else []
            return [call, *copy]
        if plan.augments:
            assert isinstance(plan.statement.value, Op)
            return [f"v0 {SYMBOLS[plan.statement.value.op]}= {value}"]
        assert isinstance(plan.target, tuple)
        return [f"a{plan.target[0]}[a{plan.target[1]}] = {value}"]

    def keep(self) -> list[str]:
        """Return the lines that keep the arrays that the adjoint reads, active ones as k0, ..."""
        plan = self.plan
        held = [] if self.pull is None else self.pull.held()
        lines = [f"a{p} = frozen(C, a{p})" for p in sorted(plan.gathers) if f"a{p}" in held]
        for k, part in enumerate(plan.layout):
            if f"v{k}" not in self.saved or plan.kinds[k] not in ARRAYS or plan.is_gathered(part):
                continue  # numbers cannot be overwritten, and what was gathered is a copy
            p = part[0] if isinstance(part, tuple) else part
            if not plan.keeps(k):
                lines.append(f"C.registry.protect({self.at[p]})")
            elif isinstance(part, tuple):
                lines.append(f"k{k} = m{p}.keep_part(v{k}, a{p}, a{part[1]})")
            else:
                lines.append(f"k{k} = n{p}.keep(v{k})")
        return lines


def array_form(
    core: Core,
    kinds: Kinds,
    on: Activity,
    choose: Way,
    otherwise: Way,
) -> Way | None:
    """Return the form for one pattern, None if there is none.

    Parameters
    ----------
    core : Core
    kinds : Kinds
    on : tuple of (int, bool)
        Which arrays are active, by their positions among the values.
    choose, otherwise : callable
        The way that finds the form for other kinds, and the one that always works.
    """
    found = printed(core, kinds, on, registry.version())
    if found is None:
        return None
    text, scope, only_reads = found
    scope = define(text, {**scope, "choose": choose, "otherwise": otherwise})
    form = scope["run"]
    form.text = text  # for those who want to see it
    if only_reads:
        reads(scope["pull"])
    return form


@lru_cache(maxsize=1024)
def printed(
    core: Core, kinds: Kinds, on: Activity, rules: int
) -> tuple[str, dict[str, Any], bool] | None:
    """Return the text of a form, what it reads, and whether its adjoint only reads the cotangent.

    The same statement may stand in many places; `rules` counts what has been declared.
    """
    plan = Plan(core, kinds, dict(on))
    if not plan.can_be_written():
        return None
    text, scope = ArrayForm(plan).printed()
    return text, scope, plan.target is None and plan.records and plan.whole is not None


def bases_of(statement: Statement) -> tuple[int, ...]:
    """Return the positions of what is indexed, and of what is written as a whole."""
    target = statement.target
    outputs = [target] if statement.into and isinstance(target, int) else []
    return tuple(dict.fromkeys([*(base for base, _ in statement.pairs), *outputs]))


def operands_of(let: Let) -> list[Name]:
    """Return the operands of an operation other than literal numbers."""
    return [part for part in parts_of(let.value) if isinstance(part, Name)]


def same(values: list[str], expected: str) -> list[str]:
    """Return the test whether some values are the same as what is expected."""
    return [" is ".join([*values, expected])]
